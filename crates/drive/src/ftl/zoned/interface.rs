//! FTL interface of the zoned family.

use super::ZonedFtl;
use crate::cache::{Cache, CacheUse};
use crate::ftl::layout::Layout;
use crate::ftl::outcome::Admitted;
use crate::ftl::page::power_loss::outage::{Fates, Recovered};
use crate::ftl::page::wear::health::Health;
use crate::ftl::reads::{LookupResult, Sources};
use crate::ftl::{Flash, Ftl, FtlCounters, MetadataWritten, Outcome, Rewritten, SpareSeen, Wear};
use crate::numbers::{GcReadId, Lane, Lpn, SuperBlock};
use interpulse_engine::{Duration, RequestId, SimTime, Status, VectorAction, ZoneAction};
use interpulse_flash::DieId;
use interpulse_flash::die::outage::Torn;
use interpulse_flash::ids::BlockId;
use interpulse_flash::nand::txn::{Owner, Txn};

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

    fn accept_vector(&mut self, action: VectorAction, addresses: &[Lpn]) -> Result<(), Status> {
        ZonedFtl::accept_vector(self, action, addresses)
    }

    fn deallocates(&self, _: Lpn) -> bool {
        false
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
    fn read(&mut self, flash: &mut Flash, owner: Owner, from: Lpn, to: Lpn, early: bool) -> LookupResult {
        if self.failures.is_some() && self.accept_read(from, to).is_err() {
            // The drive asks why nothing was found.
            return LookupResult::default();
        }
        self.read_units(flash, owner, from, to, early)
    }

    #[inline]
    fn accept_read(&self, from: Lpn, to: Lpn) -> Result<(), Status> {
        match self.failures {
            None => Ok(()),
            Some(_) => self.all_online(from, to),
        }
    }

    fn waits_for_collection(&self, _: &Flash, _: Lpn, _: u32) -> bool {
        false
    }

    #[inline]
    fn admit(&mut self, tag: RequestId, lpn: Lpn, _: u32, _: SimTime, _: u8) -> Admitted {
        ZonedFtl::admit(self, tag, lpn)
    }

    fn writes_through(&self) -> bool {
        self.writes_through
    }

    fn set_backpressure(&mut self, _: Lpn, _: bool) {}

    #[inline]
    fn destage(&mut self, flash: &mut Flash) {
        ZonedFtl::destage(self, flash);
    }

    fn flush(&mut self, flash: &mut Flash, tag: RequestId, _: Lpn) {
        ZonedFtl::flush(self, flash, tag);
    }

    fn has_flushes(&self) -> bool {
        self.waits_for_durability()
    }

    fn flushes(&self) -> usize {
        self.loss.as_ref().map_or(0, |loss| loss.flushes.len())
    }

    fn settle_flushes(&mut self, _: &mut Flash) {
        ZonedFtl::settle_flushes(self);
    }

    fn gc_read_done(&mut self, flash: &mut Flash, read: GcReadId, _: &Txn) {
        self.repair_read_done(flash, read);
    }

    fn page_collected(&mut self, flash: &mut Flash, read: GcReadId, _: BlockId) {
        self.repair_read_done(flash, read);
    }

    fn lose_power(
        &mut self,
        flash: &Flash,
        torn: Vec<(DieId, Torn)>,
        protected: bool,
        decode: Duration,
    ) -> (Recovered, Fates) {
        ZonedFtl::lose_power(self, flash, &torn, protected, decode)
    }

    fn refill(&mut self, flash: &mut Flash) {
        ZonedFtl::refill(self, flash);
    }

    /// Deallocation is a hint, which zones ignore: their space is freed by a reset.
    fn trim(&mut self, _: RequestId, _: Lpn, _: Lpn) -> u64 {
        0
    }

    fn acknowledged(&mut self, tag: RequestId) {
        if self.loss.is_some() {
            self.versions.acknowledged(tag);
        }
    }

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

    fn health(&self) -> Option<Health> {
        self.failures.as_ref().map(|of| of.health())
    }

    fn rewritten(&self) -> Rewritten {
        Rewritten::default()
    }

    fn metadata_written(&self) -> MetadataWritten {
        self.loss.as_ref().map_or_else(MetadataWritten::default, |loss| loss.written)
    }

    fn pe_cycles(&self, super_block: SuperBlock) -> u32 {
        self.blocks.cycles[super_block.index()]
    }

    fn spare_seen(&self) -> SpareSeen {
        SpareSeen::default()
    }

    fn write_cache(&mut self) -> Option<&mut Cache> {
        Some(&mut self.cache)
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
