//! FTL interface of the zoned family.

use super::ZonedFtl;
use crate::cache::CacheUse;
use crate::ftl::layout::Layout;
use crate::ftl::outcome::Admitted;
use crate::ftl::reads::{LookupResult, Sources};
use crate::ftl::{Flash, Ftl, FtlCounters, MetadataWritten, Outcome, Rewritten, SpareSeen, Wear};
use crate::numbers::{Lane, Lpn, SuperBlock};
use interpulse_engine::{RequestId, SimTime, Status, ZoneAction};
use interpulse_flash::nand::txn::Txn;

impl Ftl for ZonedFtl {
    fn start(&mut self, _: &mut Flash) {}

    fn close(&mut self) {}

    #[inline]
    fn next_outcome(&mut self) -> Option<Outcome> {
        self.outcomes.pop_front()
    }

    fn prefetch(&self, _: Lpn) {}

    fn prefetch_older(&self, _: Lpn) {}

    #[inline]
    fn accept_write(&mut self, lpn: Lpn, units: u32, whole_units: bool) -> Result<(), Status> {
        ZonedFtl::accept_write(self, lpn, units, whole_units)
    }

    fn accept_append(&mut self, lpn: Lpn, units: u32, whole_units: bool) -> Result<Lpn, Status> {
        ZonedFtl::accept_append(self, lpn, units, whole_units)
    }

    fn zone_command(
        &mut self,
        flash: &mut Flash,
        tag: RequestId,
        action: ZoneAction,
        lpn: Lpn,
    ) -> Result<bool, Status> {
        ZonedFtl::zone_command(self, flash, tag, action, lpn)
    }

    #[inline]
    fn read(&mut self, flash: &mut Flash, tag: RequestId, from: Lpn, to: Lpn, early: bool) -> LookupResult {
        self.read_units(flash, tag, from, to, early)
    }

    fn waits_for_collection(&self, _: &Flash, _: Lpn, _: u32) -> bool {
        false
    }

    #[inline]
    fn admit(&mut self, _: RequestId, lpn: Lpn, _: u32, _: SimTime, _: u8) -> Admitted {
        ZonedFtl::admit(self, lpn)
    }

    fn writes_through(&self) -> bool {
        false
    }

    fn set_backpressure(&mut self, _: Lpn, _: bool) {}

    #[inline]
    fn destage(&mut self, flash: &mut Flash) {
        ZonedFtl::destage(self, flash);
    }

    /// Complete at once: the cache keeps its content.
    fn flush(&mut self, _: &mut Flash, tag: RequestId, _: Lpn) {
        self.outcomes.push_back(Outcome::Flushed(tag));
    }

    fn has_flushes(&self) -> bool {
        false
    }

    fn flushes(&self) -> usize {
        0
    }

    fn settle_flushes(&mut self, _: &mut Flash) {}

    /// Deallocation is a hint, which zones ignore: their space is freed by a reset.
    fn trim(&mut self, _: RequestId, _: Lpn, _: Lpn) -> u64 {
        0
    }

    fn acknowledged(&mut self, _: RequestId) {}

    #[inline]
    fn follows_reads(&self) -> bool {
        self.follows_reads
    }

    fn read_done(&mut self, flash: &mut Flash, txn: &Txn) -> bool {
        ZonedFtl::read_done(self, flash, txn)
    }

    #[inline]
    fn program_done(&mut self, flash: &mut Flash, txn: &Txn) -> bool {
        ZonedFtl::program_done(self, flash, txn);
        true
    }

    fn erase_done(&mut self, flash: &mut Flash, txn: &Txn) -> bool {
        ZonedFtl::erase_done(self, flash, txn);
        !self.outcomes.is_empty()
    }

    fn audit(&self, _: usize) -> Result<u64, String> {
        ZonedFtl::audit(self)
    }

    fn versions_checked(&self) -> u64 {
        self.versions.checked
    }

    fn read_everything(&mut self) {
        ZonedFtl::read_everything(self);
    }

    fn diagnosis(&self) -> String {
        ZonedFtl::diagnosis(self)
    }

    fn cache_use(&self) -> CacheUse {
        self.cache.slots_by_use()
    }

    fn counters(&self) -> FtlCounters {
        self.counters
    }

    fn wear(&self) -> Wear {
        Wear::of(&self.blocks.cycles)
    }

    fn rewritten(&self) -> Rewritten {
        Rewritten::default()
    }

    fn metadata_written(&self) -> MetadataWritten {
        MetadataWritten::default()
    }

    fn pe_cycles(&self, super_block: SuperBlock) -> u32 {
        self.blocks.cycles[super_block.index()]
    }

    fn spare_seen(&self) -> SpareSeen {
        SpareSeen::default()
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn logical_units(&self) -> u32 {
        self.geometry.logical_units()
    }

    fn free_pages(&self) -> u64 {
        let programs = u64::from(self.layout.programs_per_block);
        let erased: u64 = self.blocks.free.iter().map(|free| free.len() as u64 * programs).sum();
        let taken = self.used_blocks().count() as u64 * programs;
        let issued: u64 = self.zones.iter().map(|zone| u64::from(zone.issued)).sum();
        (erased + taken - issued) * u64::from(self.layout.pages_per_program * self.layout.planes)
    }

    fn free_blocks(&self, lane: Lane) -> u32 {
        self.blocks.free[lane.index()].len() as u32
    }

    fn wants_gc(&self, _: Lane) -> bool {
        false
    }

    fn collects(&self) -> bool {
        false
    }
}
