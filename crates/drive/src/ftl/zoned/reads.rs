//! Reads of a zoned drive: one page read for neighbours on one physical page.

use super::geometry::ZoneOffset;
use super::zoned_ftl::ZonedFtl;
use crate::ftl::flash::Flash;
use crate::ftl::page::mapping::reads::LookupResult;
use crate::numbers::{Lpn, Slot};
use crate::owner::Owner;
use interpulse_engine::RequestId;
use interpulse_flash::nand::txn::{Kind, Txn};

impl ZonedFtl {
    /// Reads the logical units `from..to`; see [`crate::ftl::Ftl::read`]. Reads may cross the end of a zone.
    pub(super) fn read(
        &mut self,
        flash: &mut Flash,
        tag: RequestId,
        from: Lpn,
        to: Lpn,
        early: bool,
    ) -> LookupResult {
        let mut found = LookupResult::default();
        let mut lpn = from;
        while lpn < to {
            let ZoneOffset { zone, offset } = self.geometry.split(lpn);
            let of = &self.zones[zone as usize];
            if offset >= of.admitted {
                self.look_up(lpn);
                found.unmapped += 1;
                lpn += 1;
                continue;
            }
            let (program, first) = self.geometry.program_of(offset);
            if !of.has_landed(program) {
                self.look_up(lpn);
                found.cached += 1;
                lpn += 1;
                continue;
            }
            let place = self.geometry.place(program);
            let block = of.blocks[place.block];
            let unit = self.geometry.unit_at(block, place, first);
            let at = self.layout.place_in(block, unit.offset);
            let count = (self.layout.units_per_page() - at.unit).min(to.0 - lpn.0).min(of.admitted - offset);
            lpn.until(lpn + count).for_each(|lpn| self.look_up(lpn));
            let mut txn = Txn::new(Kind::HostRead, at.die);
            (txn.plane, txn.block, txn.page) = (at.plane as u8, at.block, at.page);
            txn.set_units(count);
            txn.set_owner(Owner::Host(tag).into());
            lpn += count;
            found.reads += 1;
            if early && lpn == to && found.reads == 1 {
                txn.complete_early();
            }
            if self.follows_reads {
                self.blocks.begin(block);
            }
            flash.submit(txn);
        }
        found
    }

    /// Looks a unit up, which the version audit checks.
    pub(super) fn look_up(&mut self, lpn: Lpn) {
        if !self.versions.follows(lpn) {
            return;
        }
        let ZoneOffset { zone, offset } = self.geometry.split(lpn);
        let of = &self.zones[zone as usize];
        let (program, k) = self.geometry.program_of(offset);
        if offset >= of.admitted {
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

    /// Cache slot of a unit whose program has not landed.
    pub(super) fn slot_of(&self, zone: u32, offset: u32) -> Slot {
        let of = &self.zones[zone as usize];
        let (program, k) = self.geometry.program_of(offset);
        if program < of.issued {
            let job = of.in_flight[(program - of.landed()) as usize];
            return self.programs[job.index()].slots[k as usize];
        }
        let before = of.issued * self.geometry.program;
        self.cache.dirty_at(zone as usize, (offset - before) as usize).expect("the unit is in the cache")
    }

    /// Completes a page read, where reads can fail; true if its data is uncorrectable.
    pub(super) fn read_done(&mut self, flash: &mut Flash, txn: &Txn) -> bool {
        let lane = self.layout.lane_at(txn.die, u32::from(txn.plane));
        let block = self.layout.super_block(lane, txn.block);
        if self.blocks.end(block) {
            self.submit_erase(flash, block);
        }
        txn.is_uncorrectable()
    }
}
