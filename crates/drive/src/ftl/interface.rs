//! Interface of a flash translation layer: host commands, flash completions, power loss, audit, inspection.

use super::{
    Admitted, Flash, FtlCounters, LookupResult, MetadataWritten, Outcome, Rewritten, SpareSeen, Wear,
};
use crate::cache::{Cache, CacheUse};
use crate::ftl::layout::Layout;
use crate::ftl::log_block::LogBlockFtl;
use crate::ftl::page::PageFtl;
use crate::ftl::page::gc::state::GcWindow;
use crate::ftl::page::placement::counters::PlacementCounters;
use crate::ftl::page::power_loss::outage::{Fates, Recovered};
use crate::ftl::page::slc::SlcCache;
use crate::ftl::page::wear::health::Health;
use crate::ftl::zoned::ZonedFtl;
use crate::numbers::{GcReadId, Lane, Lpn, SuperBlock, TranslationPage};
use crate::spec::FaultKind;
use enum_dispatch::enum_dispatch;
use interpulse_engine::{Duration, RequestId, SimTime, Status, VectorAction, ZoneAction};
use interpulse_flash::DieId;
use interpulse_flash::die::outage::Torn;
use interpulse_flash::ids::BlockId;
use interpulse_flash::nand::txn::{Owner, Txn};

/// Flash translation layer of a drive. Tags are opaque; the FTL never calls up: the drive drains [`Ftl::next_outcome`]
/// after each call that can produce one. Methods with a body are of services that a family may lack; the configuration
/// refuses what asks for a service that the family lacks.
#[enum_dispatch]
pub trait Ftl {
    // ---- run ----------------------------------------------------------------------------------------------
    /// Starts background work: the patrol read and checkpoints.
    fn start(&mut self, flash: &mut Flash);
    /// Ends a run: from now on only work that a request needs begins.
    fn close(&mut self);
    /// The next outcome, in order.
    fn next_outcome(&mut self) -> Option<Outcome>;
    /// Timer of the patrol read.
    fn patrol(&mut self, _flash: &mut Flash) {
        unreachable!("the family has no patrol read")
    }
    /// Timer of checkpoints.
    fn checkpoint(&mut self, _flash: &mut Flash) {
        unreachable!("the family has no checkpoints")
    }
    /// Timer of idle time; `outstanding` if commands are.
    fn idle_timer(&mut self, _flash: &mut Flash, _outstanding: bool) {
        unreachable!("the family has no work for idle time")
    }

    // ---- host commands ------------------------------------------------------------------------------------
    /// Prefetches the map entry of `lpn` into the processor's cache. Changes no result.
    fn prefetch(&self, lpn: Lpn);
    /// Prefetches the validity words that a write of `lpn` changes.
    fn prefetch_older(&self, lpn: Lpn);
    /// Whether the map entries of `units` from `lpn` are in controller memory, for a command of `queue`. If not, the FTL reads them from flash and
    /// answers [`Outcome::Mapped`] when `tag` can continue.
    #[inline]
    fn map_entries(
        &mut self,
        _flash: &mut Flash,
        _tag: RequestId,
        _queue: u16,
        _lpn: Lpn,
        _units: u32,
    ) -> bool {
        true
    }
    /// Reads the units `from..to` for `owner`, of each page read. `early` allows the only page read to report its completion ahead
    /// of time ([`Txn::complete_early`]).
    fn read(&mut self, flash: &mut Flash, owner: Owner, from: Lpn, to: Lpn, early: bool) -> LookupResult;
    /// Newest version of `lpn` if its data is on flash and nowhere else; 0 for units that the version audit does not follow.
    fn version_on_flash(&self, _lpn: Lpn) -> Option<u32> {
        unreachable!("the family has no read cache")
    }
    /// Newest version of `lpn`, as [`Ftl::version_on_flash`], wherever its data is; `None` if it has none.
    fn version(&self, _lpn: Lpn) -> Option<u32> {
        unreachable!("the family has no read cache")
    }
    /// Checks a read of `lpn` that returned a copy of `version`.
    fn check_version(&mut self, _lpn: Lpn, _version: u32) {
        unreachable!("the family has no read cache")
    }
    /// Whether a read of the units `from..to`, for which [`Ftl::read`] has found nothing, is legal.
    #[inline]
    fn accept_read(&self, _from: Lpn, _to: Lpn) -> Result<(), Status> {
        Ok(())
    }
    /// Whether a fail-fast read of `units` from `lpn` would wait now.
    fn waits_for_collection(&self, flash: &Flash, lpn: Lpn, units: u32) -> bool;
    /// Whether a write of `units` from `lpn` is legal now; `whole_units` if it covers each of them. The units of legal
    /// writes are then passed to [`Ftl::admit`] in the order of the writes.
    #[inline]
    fn accept_write(&mut self, _lpn: Lpn, _units: u32, _whole_units: bool) -> Result<(), Status> {
        Ok(())
    }
    /// Whether a trim is legal now.
    #[inline]
    fn accept_trim(&self) -> Result<(), Status> {
        Ok(())
    }
    /// Whether units of the namespace that holds `lpn` can be deallocated.
    fn deallocates(&self, _lpn: Lpn) -> bool {
        true
    }
    /// Whether the vector command `action` on `addresses` is legal now. The units of legal writes are then passed to
    /// [`Ftl::admit`], in the order of the writes and of their lists.
    fn accept_vector(&mut self, _action: VectorAction, _addresses: &[Lpn]) -> Result<(), Status> {
        Err(Status::InvalidOpcode)
    }
    /// As [`Ftl::accept_write`] for a zone append to the zone that begins at `lpn`; returns the place of its data.
    fn accept_append(&mut self, _lpn: Lpn, _units: u32, _whole_units: bool) -> Result<Lpn, Status> {
        Err(Status::InvalidOpcode)
    }
    /// Writes a unit of a write of `units` into the cache; `handle` is the placement handle of the write.
    fn admit(&mut self, tag: RequestId, lpn: Lpn, units: u32, arrived: SimTime, handle: u8) -> Admitted;
    /// Whether a write completes with its program rather than in the cache (`cache.acknowledge = "when-programmed"`).
    fn writes_through(&self) -> bool;
    /// Reports whether writes wait for cache slots, of the namespace that holds `lpn`.
    fn set_backpressure(&mut self, lpn: Lpn, waiting: bool);
    /// Starts the programs that are worth starting.
    fn destage(&mut self, flash: &mut Flash);
    /// Starts a flush of the namespace that holds `lpn`; [`Outcome::Flushed`] reports its end.
    fn flush(&mut self, flash: &mut Flash, tag: RequestId, lpn: Lpn);
    /// Whether flushes wait.
    fn has_flushes(&self) -> bool;
    /// Number of waiting flushes.
    fn flushes(&self) -> usize;
    /// Completes flushes whose data is on flash.
    fn settle_flushes(&mut self, flash: &mut Flash);
    /// Unmaps the units `from..to`; returns how many of them were mapped.
    fn trim(&mut self, tag: RequestId, from: Lpn, to: Lpn) -> u64;
    /// Erases the closed blocks of the FTLs that hold the units `from..to`, which have been trimmed. Returns the number of blocks,
    /// and of FTLs of which [`Outcome::Formatted`] reports the end.
    fn erase_closed_blocks(&mut self, _flash: &mut Flash, _tag: RequestId, _from: Lpn, _to: Lpn) -> [u32; 2] {
        unreachable!("the family is not formatted")
    }
    /// Notes that the host has the completion of `tag`.
    fn acknowledged(&mut self, tag: RequestId);
    /// Executes `action` on the zone that begins at `lpn`; false if [`Outcome::ZoneReset`] or [`Outcome::ZoneFinished`]
    /// reports its end.
    fn zone_command(
        &mut self,
        _flash: &mut Flash,
        _tag: RequestId,
        _action: ZoneAction,
        _lpn: Lpn,
    ) -> Result<bool, Status> {
        Err(Status::InvalidOpcode)
    }

    // ---- flash completions --------------------------------------------------------------------------------
    /// Whether each page read of the host has to be passed to [`Ftl::read_done`].
    fn follows_reads(&self) -> bool;
    /// Completes a page read of the host; true if its data is uncorrectable.
    fn read_done(&mut self, flash: &mut Flash, txn: &Txn) -> bool;
    /// Completes page read `read` of the FTL itself, which yields no outcome.
    fn gc_read_done(&mut self, _flash: &mut Flash, _read: GcReadId, _txn: &Txn) {
        unreachable!("the family reads no pages for itself")
    }
    /// As [`Ftl::gc_read_done`], where reads do not count towards read reclaim.
    fn page_collected(&mut self, _flash: &mut Flash, _read: GcReadId, _block: BlockId) {
        unreachable!("the family reads no pages for itself")
    }
    /// Completes the read of the translation page that `tag` waits for.
    fn map_read_done(&mut self, _flash: &mut Flash, _tag: RequestId, _txn: &Txn) {
        unreachable!("the family has no translation pages")
    }
    /// Completes a read of a translation page that no command began.
    fn translation_page_read(&mut self, _flash: &mut Flash, _page: TranslationPage, _txn: &Txn) {
        unreachable!("the family has no translation pages")
    }
    /// Completes a program; true if it freed cache slots.
    fn program_done(&mut self, flash: &mut Flash, txn: &Txn) -> bool;
    /// Completes an erase; true if that produced outcomes.
    fn erase_done(&mut self, flash: &mut Flash, txn: &Txn) -> bool;

    /// Lets a fault occur now.
    fn inject(&mut self, _flash: &mut Flash, _fault: FaultKind) {
        unreachable!("the family has no faults")
    }

    // ---- GC window ----------------------------------------------------------------------------------------
    /// Closes or opens the GC window (IODA, SOSP'21). While it is closed, only lanes at the hard threshold start a
    /// collection; operations already issued to the flash array complete.
    fn hold_gc(&mut self, _flash: &mut Flash, _hold: bool) {
        unreachable!("the family has no garbage collection")
    }
    /// Collections inside and outside the window.
    fn gc_window(&self) -> GcWindow {
        GcWindow::default()
    }

    // ---- power loss ---------------------------------------------------------------------------------------
    /// Cuts power: operations `torn` end where they are. Rebuilds the map from flash and compares it with the live one.
    /// `protected` caches survive; `decode` is the ECC latency. Returns the result and, by tag, the fate of units.
    fn lose_power(
        &mut self,
        _flash: &Flash,
        _torn: Vec<(DieId, Torn)>,
        _protected: bool,
        _decode: Duration,
    ) -> (Recovered, Fates) {
        unreachable!("the family does not recover from a loss of power")
    }
    /// Flushes the surviving cache; [`Outcome::Flushed`] with the refill tag reports the end.
    fn refill(&mut self, _flash: &mut Flash) {
        unreachable!("the family does not recover from a loss of power")
    }

    // ---- audit and inspection -----------------------------------------------------------------------------
    /// Compares map, validity and counts; `stride` > 1 checks one map entry in `stride`. Returns mapped units.
    fn audit(&self, stride: usize) -> Result<u64, String>;
    /// Reads checked by the version audit.
    fn versions_checked(&self) -> u64;
    /// Audits a read of every logical unit.
    fn read_everything(&mut self);
    /// State of lanes and queues, for a run that cannot continue.
    fn diagnosis(&self) -> String;
    /// Slots of the write cache.
    fn cache_use(&self) -> CacheUse;
    /// Counters of placement handles since the start; `None` without handles.
    fn placement(&self) -> Option<&PlacementCounters> {
        None
    }
    /// Look-ups of map entries and hits by submission queue, since the start; empty where they are not counted.
    fn map_lookups_by_queue(&self) -> &[[u64; 2]] {
        &[]
    }
    /// Counters since the start.
    fn counters(&self) -> FtlCounters;
    /// P/E cycles over all super blocks.
    fn wear(&self) -> Wear;
    /// Blocks rewritten for age or reads.
    fn rewritten(&self) -> Rewritten;
    /// Bad blocks, reserved blocks and failures; `None` if no block can fail.
    #[inline]
    fn health(&self) -> Option<Health> {
        None
    }
    /// Metadata programs and checkpoints.
    fn metadata_written(&self) -> MetadataWritten;
    /// P/E cycles of a super block.
    fn pe_cycles(&self, super_block: SuperBlock) -> u32;
    /// Spare space at the victim choices since the start.
    fn spare_seen(&self) -> SpareSeen;
    /// SLC cache, if the drive has one.
    fn slc(&self) -> Option<&SlcCache> {
        None
    }
    /// Write cache; `None` if it has several.
    fn write_cache(&mut self) -> Option<&mut Cache> {
        None
    }
    /// Address layout of super blocks and lanes.
    fn layout(&self) -> &Layout;
    /// Logical units.
    fn logical_units(&self) -> u32;
    /// Pages of all planes that hold nothing since their erase.
    fn free_pages(&self) -> u64;
    /// Free super blocks of a lane.
    fn free_blocks(&self, lane: Lane) -> u32;
    /// Whether a lane needs garbage collection.
    fn wants_gc(&self, lane: Lane) -> bool;
    /// Whether the FTL chooses victims and collects them.
    fn collects(&self) -> bool;
    /// Super blocks of a lane that are written before its collection is steady.
    fn blocks_before_steady_collection(&self) -> u32 {
        1
    }
}

/// FTL families. A family is a folder and one line here.
// With a tag of its own beside the first fields: one in the values that some field of a family leaves is far from them.
#[enum_dispatch(Ftl)]
#[repr(u8)]
#[expect(clippy::large_enum_variant, reason = "a drive has one, and a box costs an access in every call")]
pub enum FtlFamily {
    /// `page`: page-mapped, one append point per write stream and lane.
    Page(PageFtl),
    /// `zoned`: zones that the host writes in order and resets.
    Zoned(ZonedFtl),
    /// `log-block`: data blocks mapped by block, log blocks mapped by unit.
    LogBlock(LogBlockFtl),
    /// A family for each namespace.
    Namespaces(NamespacedFtl),
}

/// FTL families of a namespace: calls of [`FtlFamily`] that come back to it are not inlined.
#[enum_dispatch(Ftl)]
#[expect(clippy::large_enum_variant, reason = "as above")]
pub enum NamespaceFamily {
    /// As [`FtlFamily::Page`].
    Page(PageFtl),
    /// As [`FtlFamily::Zoned`].
    Zoned(ZonedFtl),
}

impl FtlFamily {
    /// As [`Ftl::read`], with that of the page-mapped family in line: for the call that almost every read of the host makes.
    #[inline(always)]
    pub fn read_in_line(
        &mut self,
        flash: &mut Flash,
        owner: Owner,
        from: Lpn,
        to: Lpn,
        early: bool,
    ) -> LookupResult {
        match self {
            FtlFamily::Page(ftl) => ftl.read(flash, owner, from, to, early),
            other => other.read(flash, owner, from, to, early),
        }
    }

    /// FTL of the sequential zones of a zoned drive.
    pub fn zoned(&self) -> Option<&ZonedFtl> {
        match self {
            FtlFamily::Zoned(ftl) => Some(ftl),
            FtlFamily::Namespaces(of) if of.one_namespace => of.each.iter().find_map(Namespace::zoned),
            FtlFamily::Namespaces(_) | FtlFamily::Page(_) | FtlFamily::LogBlock(_) => None,
        }
    }

    /// The FTL, if it has log blocks.
    pub fn log_block(&self) -> Option<&LogBlockFtl> {
        if let FtlFamily::LogBlock(ftl) = self { Some(ftl) } else { None }
    }

    /// FTLs of the namespaces, if there are any.
    #[inline]
    pub fn namespaces(&self) -> Option<&NamespacedFtl> {
        if let FtlFamily::Namespaces(ftl) = self { Some(ftl) } else { None }
    }
}

/// FTLs of the namespaces of a drive, or of the conventional and the sequential zones of one.
pub struct NamespacedFtl {
    pub(super) each: Vec<Namespace>,
    /// Namespace of each block of a plane.
    pub(super) owner_of_block: Vec<u8>,
    /// Blocks of the whole drive.
    pub(super) layout: Layout,
    /// All are parts of one namespace: conventional zones, then sequential ones.
    pub(super) one_namespace: bool,
}

/// One namespace.
pub struct Namespace {
    /// Its first logical unit on the drive.
    pub(super) first: Lpn,
    pub(super) units: u32,
    pub(super) ftl: NamespaceFamily,
}
