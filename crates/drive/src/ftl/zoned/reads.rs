//! Look-up of the units of zones. Reads may cross the end of a zone.

use super::area::NO_SLOT;
use super::geometry::ZoneOffset;
use super::zoned_ftl::ZonedFtl;
use crate::ftl::flash::Flash;
use crate::ftl::reads::{PageRead, Source, Sources};
use crate::numbers::{Lpn, Ppu, Slot};
use interpulse_flash::nand::txn::Txn;

impl Sources for ZonedFtl {
    fn find(&mut self, lpn: Lpn, to: Lpn) -> Source {
        let ZoneOffset { zone, offset } = self.geometry.split(lpn);
        let of = &self.zones[zone as usize];
        if offset >= of.admitted || (of.area.is_some() && self.is_unwritten(zone, offset)) {
            self.look_up(lpn);
            return Source::Nothing;
        }
        let (program, first) = self.geometry.program_of(offset);
        if !of.has_landed(program) {
            self.look_up(lpn);
            return Source::Cache;
        }
        let place = self.geometry.place(program);
        let unit = self.geometry.unit_at(of.blocks[place.block], place, first);
        let at = self.layout.place_in(unit.super_block, unit.offset);
        let mut count = (self.layout.units_per_page() - at.unit).min(to.0 - lpn.0).min(of.admitted - offset);
        if !of.holes.is_empty() {
            count = (1..count).find(|k| of.is_hole(offset + k)).unwrap_or(count);
        }
        lpn.until(lpn + count).for_each(|lpn| self.look_up(lpn));
        Source::Flash(PageRead { first: self.layout.unit(unit), at, count })
    }

    fn submit_read(&mut self, flash: &mut Flash, first: Ppu, txn: Txn) {
        if self.follows_reads {
            self.blocks.begin(self.layout.block_of(first));
        }
        flash.submit(txn);
    }
}

impl ZonedFtl {
    /// Looks a unit up, which the version audit checks.
    pub(super) fn look_up(&mut self, lpn: Lpn) {
        if !self.versions.follows(lpn) {
            return;
        }
        let ZoneOffset { zone, offset } = self.geometry.split(lpn);
        let of = &self.zones[zone as usize];
        let (program, k) = self.geometry.program_of(offset);
        if offset >= of.admitted || (of.area.is_some() && self.is_unwritten(zone, offset)) {
            self.versions.read_nothing(lpn);
        } else if of.has_landed(program) {
            let place = self.geometry.place(program);
            let unit = self.geometry.unit_at(of.blocks[place.block], place, k);
            self.versions.read_flash(lpn, self.layout.unit(unit));
        } else {
            let slot = self.slot_of(zone, offset);
            self.versions.read_cache(lpn, slot);
        }
    }

    /// Whether the host has not written a unit of a zone with a random write area.
    fn is_unwritten(&self, zone: u32, offset: u32) -> bool {
        let of = &self.zones[zone as usize];
        let program = self.geometry.program_of(offset).0;
        if program < of.issued || of.has_landed(program) {
            return of.is_hole(offset);
        }
        of.area.as_ref().is_some_and(|area| area.slot(offset) == NO_SLOT)
    }

    /// Cache slot of a unit whose program has not landed.
    pub(super) fn slot_of(&self, zone: u32, offset: u32) -> Slot {
        let of = &self.zones[zone as usize];
        let (program, k) = self.geometry.program_of(offset);
        if program < of.issued {
            let job = of.in_flight[(program - of.landed()) as usize];
            return self.programs[job.index()].slots[k as usize];
        }
        if let Some(area) = &of.area {
            return area.slot(offset);
        }
        let ahead = of.ahead.iter().filter(|&&landed| landed < program).count() as u32;
        let before = (of.issued + ahead) * self.geometry.program;
        self.cache.dirty_at(zone as usize, (offset - before) as usize).expect("the unit is in the cache")
    }

    /// Completes a page read, where reads can fail; true if its data is uncorrectable.
    pub(super) fn read_done(&mut self, flash: &mut Flash, txn: &Txn) -> bool {
        let block = self.layout.block_at(txn.die, txn.plane, txn.block);
        if self.blocks.end(block) {
            self.submit_erase(flash, block);
        }
        txn.is_uncorrectable()
    }
}
