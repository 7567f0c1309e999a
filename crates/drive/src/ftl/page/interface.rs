//! FTL interface of the page-mapped family.

use super::PageFtl;
use super::gc::state::{GcWindow, Rewritten};
use super::mapping::residency::Residency;
use super::placement::counters::PlacementCounters;
use super::power_loss::metadata_region::MetadataWritten;
use super::power_loss::outage::{Fates, Recovered};
use super::slc::SlcCache;
use super::wear::health::Health;
use crate::cache::{Cache, CacheUse};
use crate::ftl::layout::Layout;
use crate::ftl::{Admitted, Flash, Ftl, FtlCounters, LookupResult, Outcome, SpareSeen, Wear};
use crate::numbers::{GcReadId, Lane, Lpn, SuperBlock, TranslationPage};
use crate::spec::FaultKind;
use interpulse_engine::{Duration, RequestId, SimTime, Status};
use interpulse_flash::DieId;
use interpulse_flash::die::outage::Torn;
use interpulse_flash::ids::BlockId;
use interpulse_flash::nand::txn::{Owner, Txn};

/// Forwards interface methods to methods of the same name.
macro_rules! forward {
    ($(fn $name:ident(&mut self $(, $arg:ident: $type:ty)*) $(-> $out:ty)?;)*) => {
        $(#[inline(always)]
        fn $name(&mut self $(, $arg: $type)*) $(-> $out)? {
            PageFtl::$name(self $(, $arg)*)
        })*
    };
}

macro_rules! forward_shared {
    ($(fn $name:ident(&self $(, $arg:ident: $type:ty)*) $(-> $out:ty)?;)*) => {
        $(#[inline(always)]
        fn $name(&self $(, $arg: $type)*) $(-> $out)? {
            PageFtl::$name(self $(, $arg)*)
        })*
    };
}

impl Ftl for PageFtl {
    forward! {
        fn start(&mut self, flash: &mut Flash);
        fn close(&mut self);
        fn next_outcome(&mut self) -> Option<Outcome>;
        fn patrol(&mut self, flash: &mut Flash);
        fn checkpoint(&mut self, flash: &mut Flash);
        fn idle_timer(&mut self, flash: &mut Flash, outstanding: bool);
        fn map_entries(&mut self, flash: &mut Flash, tag: RequestId, queue: u16, lpn: Lpn, units: u32) -> bool;
        fn read(&mut self, flash: &mut Flash, owner: Owner, from: Lpn, to: Lpn, early: bool) -> LookupResult;
        fn check_version(&mut self, lpn: Lpn, version: u32);
        fn admit(&mut self, tag: RequestId, lpn: Lpn, units: u32, arrived: SimTime, handle: u8) -> Admitted;
        fn destage(&mut self, flash: &mut Flash);
        fn settle_flushes(&mut self, flash: &mut Flash);
        fn trim(&mut self, tag: RequestId, from: Lpn, to: Lpn) -> u64;
        fn acknowledged(&mut self, tag: RequestId);
        fn read_done(&mut self, flash: &mut Flash, txn: &Txn) -> bool;
        fn gc_read_done(&mut self, flash: &mut Flash, read: GcReadId, txn: &Txn);
        fn map_read_done(&mut self, flash: &mut Flash, tag: RequestId, txn: &Txn);
        fn translation_page_read(&mut self, flash: &mut Flash, page: TranslationPage, txn: &Txn);
        fn program_done(&mut self, flash: &mut Flash, txn: &Txn) -> bool;
        fn hold_gc(&mut self, flash: &mut Flash, hold: bool);
        fn refill(&mut self, flash: &mut Flash);
        fn read_everything(&mut self);
        fn inject(&mut self, flash: &mut Flash, fault: FaultKind);
    }

    forward_shared! {
        fn prefetch(&self, lpn: Lpn);
        fn prefetch_older(&self, lpn: Lpn);
        fn waits_for_collection(&self, flash: &Flash, lpn: Lpn, units: u32) -> bool;
        fn writes_through(&self) -> bool;
        fn has_flushes(&self) -> bool;
        fn flushes(&self) -> usize;
        fn follows_reads(&self) -> bool;
        fn version(&self, lpn: Lpn) -> Option<u32>;
        fn version_on_flash(&self, lpn: Lpn) -> Option<u32>;
        fn audit(&self, stride: usize) -> Result<u64, String>;
        fn versions_checked(&self) -> u64;
        fn diagnosis(&self) -> String;
        fn rewritten(&self) -> Rewritten;
        fn health(&self) -> Option<Health>;
        fn metadata_written(&self) -> MetadataWritten;
    }

    #[inline(always)]
    fn page_collected(&mut self, flash: &mut Flash, read: GcReadId, _: BlockId) {
        PageFtl::page_collected(self, flash, read);
    }

    #[inline(always)]
    fn set_backpressure(&mut self, _: Lpn, waiting: bool) {
        PageFtl::set_backpressure(self, waiting);
    }

    #[inline(always)]
    fn flush(&mut self, flash: &mut Flash, tag: RequestId, _: Lpn) {
        PageFtl::flush(self, flash, tag);
    }

    fn lose_power(
        &mut self,
        flash: &Flash,
        torn: Vec<(DieId, Torn)>,
        protected: bool,
        decode: Duration,
    ) -> (Recovered, Fates) {
        PageFtl::lose_power(self, flash, torn, protected, decode)
    }

    #[inline(always)]
    fn accept_write(&mut self, _lpn: Lpn, _units: u32, _whole_units: bool) -> Result<(), Status> {
        self.accepts_changes()
    }

    #[inline(always)]
    fn accept_trim(&self) -> Result<(), Status> {
        self.accepts_changes()
    }

    #[inline(always)]
    fn erase_done(&mut self, flash: &mut Flash, txn: &Txn) -> bool {
        PageFtl::erase_done(self, flash, txn);
        self.formatting.is_some() && self.format_erased(txn)
    }

    fn erase_closed_blocks(&mut self, flash: &mut Flash, tag: RequestId, _: Lpn, _: Lpn) -> [u32; 2] {
        let blocks = PageFtl::erase_closed_blocks(self, flash, tag);
        [blocks, u32::from(blocks > 0)]
    }

    #[inline(always)]
    fn gc_window(&self) -> GcWindow {
        *PageFtl::gc_window(self)
    }

    fn placement(&self) -> Option<&PlacementCounters> {
        self.handles.as_ref().map(|handles| &handles.counters)
    }

    fn map_lookups_by_queue(&self) -> &[[u64; 2]] {
        match &self.residency {
            Residency::Cached(cached) => cached.lookups_by_queue(),
            _ => &[],
        }
    }

    fn cache_use(&self) -> CacheUse {
        self.cache().slots_by_use()
    }

    fn counters(&self) -> FtlCounters {
        self.blocks.counters
    }

    fn wear(&self) -> Wear {
        self.blocks.wear()
    }

    fn pe_cycles(&self, super_block: SuperBlock) -> u32 {
        self.blocks.cycles[super_block.index()]
    }

    fn spare_seen(&self) -> SpareSeen {
        self.blocks.spare_seen
    }

    fn slc(&self) -> Option<&SlcCache> {
        self.blocks.slc()
    }

    fn write_cache(&mut self) -> Option<&mut Cache> {
        Some(&mut self.blocks.units.cache)
    }

    fn layout(&self) -> &Layout {
        &self.blocks.layout
    }

    fn logical_units(&self) -> u32 {
        self.blocks.config().logical_units
    }

    fn free_pages(&self) -> u64 {
        self.blocks.free_pages()
    }

    fn free_blocks(&self, lane: Lane) -> u32 {
        self.blocks.free_blocks(lane)
    }

    fn wants_gc(&self, lane: Lane) -> bool {
        self.blocks.wants_gc(lane)
    }

    fn collects(&self) -> bool {
        !self.blocks.config().policy.imposes()
    }
}
