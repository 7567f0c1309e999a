//! FTL interface of the log-block family.

use super::LogBlockFtl;
use crate::cache::{Cache, CacheUse};
use crate::ftl::layout::Layout;
use crate::ftl::outcome::Admitted;
use crate::ftl::reads::{LookupResult, Sources};
use crate::ftl::{Flash, Ftl, FtlCounters, MetadataWritten, Outcome, Rewritten, SpareSeen, Wear};
use crate::numbers::{GcReadId, Lane, Lpn, SuperBlock};
use interpulse_engine::{RequestId, SimTime};
use interpulse_flash::ids::BlockId;
use interpulse_flash::nand::txn::{self, Txn};

impl Ftl for LogBlockFtl {
    fn start(&mut self, _: &mut Flash) {}

    fn close(&mut self) {}

    #[inline]
    fn next_outcome(&mut self) -> Option<Outcome> {
        self.outcomes.pop_front()
    }

    fn prefetch(&self, _: Lpn) {}

    fn prefetch_older(&self, _: Lpn) {}

    #[inline]
    fn read(
        &mut self,
        flash: &mut Flash,
        owner: txn::Owner,
        from: Lpn,
        to: Lpn,
        early: bool,
    ) -> LookupResult {
        self.read_units(flash, owner, from, to, early)
    }

    /// Merges are not announced: only an array would make use of it.
    fn waits_for_collection(&self, _: &Flash, _: Lpn, _: u32) -> bool {
        false
    }

    #[inline]
    fn admit(&mut self, _: RequestId, lpn: Lpn, _: u32, _: SimTime, _: u8) -> Admitted {
        LogBlockFtl::admit(self, lpn)
    }

    fn writes_through(&self) -> bool {
        false
    }

    fn set_backpressure(&mut self, _: Lpn, waiting: bool) {
        LogBlockFtl::set_backpressure(self, waiting);
    }

    #[inline]
    fn destage(&mut self, flash: &mut Flash) {
        LogBlockFtl::destage(self, flash);
    }

    fn flush(&mut self, flash: &mut Flash, tag: RequestId, _: Lpn) {
        LogBlockFtl::flush(self, flash, tag);
    }

    fn has_flushes(&self) -> bool {
        !self.flushes.is_empty()
    }

    fn flushes(&self) -> usize {
        self.flushes.len()
    }

    fn settle_flushes(&mut self, _: &mut Flash) {
        LogBlockFtl::settle_flushes(self);
    }

    fn trim(&mut self, _: RequestId, from: Lpn, to: Lpn) -> u64 {
        LogBlockFtl::trim(self, from, to)
    }

    fn acknowledged(&mut self, _: RequestId) {}

    #[inline]
    fn follows_reads(&self) -> bool {
        self.follows_reads
    }

    fn read_done(&mut self, flash: &mut Flash, txn: &Txn) -> bool {
        LogBlockFtl::read_done(self, flash, txn)
    }

    fn gc_read_done(&mut self, flash: &mut Flash, read: GcReadId, _: &Txn) {
        self.merge_read_done(flash, read);
    }

    fn page_collected(&mut self, flash: &mut Flash, read: GcReadId, _: BlockId) {
        self.merge_read_done(flash, read);
    }

    #[inline]
    fn program_done(&mut self, flash: &mut Flash, txn: &Txn) -> bool {
        LogBlockFtl::program_done(self, flash, txn)
    }

    fn erase_done(&mut self, flash: &mut Flash, txn: &Txn) -> bool {
        LogBlockFtl::erase_done(self, flash, txn);
        !self.outcomes.is_empty()
    }

    fn audit(&self, _: usize) -> Result<u64, String> {
        LogBlockFtl::audit(self)
    }

    fn versions_checked(&self) -> u64 {
        self.versions.checked
    }

    fn read_everything(&mut self) {
        LogBlockFtl::read_everything(self);
    }

    fn diagnosis(&self) -> String {
        LogBlockFtl::diagnosis(self)
    }

    fn cache_use(&self) -> CacheUse {
        self.cache.slots_by_use()
    }

    fn counters(&self) -> FtlCounters {
        self.counters
    }

    fn wear(&self) -> Wear {
        Wear::of(&self.sub_blocks.cycles)
    }

    fn rewritten(&self) -> Rewritten {
        Rewritten::default()
    }

    fn metadata_written(&self) -> MetadataWritten {
        MetadataWritten::default()
    }

    fn pe_cycles(&self, super_block: SuperBlock) -> u32 {
        self.sub_blocks.cycles[super_block.index()]
    }

    fn spare_seen(&self) -> SpareSeen {
        SpareSeen::default()
    }

    fn write_cache(&mut self) -> Option<&mut Cache> {
        Some(&mut self.cache)
    }

    fn layout(&self) -> &Layout {
        &self.sub_blocks.layout
    }

    fn logical_units(&self) -> u32 {
        self.geometry.logical_units()
    }

    fn free_pages(&self) -> u64 {
        let erased = self.blocks.free.iter().flatten().copied();
        let programs: u64 =
            erased.chain(self.used_blocks()).map(|block| self.sub_blocks.programs_left(block)).sum();
        programs * u64::from(self.layout.pages_per_program * self.layout.planes)
    }

    fn free_blocks(&self, lane: Lane) -> u32 {
        self.blocks.free[lane.index()].len() as u32 * self.sub_blocks.count
    }

    fn wants_gc(&self, lane: Lane) -> bool {
        let of = &self.lanes[lane.index()];
        of.merge.is_some() || of.victim.is_some()
    }

    fn collects(&self) -> bool {
        true
    }

    /// Log blocks, all of which fill before the first merge.
    fn blocks_before_steady_collection(&self) -> u32 {
        (self.spec.blocks_of_lane() - 1) * self.sub_blocks.count
    }
}
