//! Zone management: open, close, finish, reset, and the erases that a reset causes.
//!
//! A reset takes effect at once: data of the zone in the cache is dropped, and new writes go to other blocks. Its blocks
//! are erased when the programs and reads on them have ended.

use super::area::ZoneArea;
use super::geometry::ZoneOffset;
use super::zoned_ftl::{NO_RESET, ZonedFtl};
use crate::ftl::block_pool::NO_BLOCK;
use crate::ftl::flash::Flash;
use crate::ftl::outcome::Outcome;
use crate::ftl::transactions::erase_of;
use crate::numbers::{Lpn, SuperBlock};
use crate::owner::Owner;
use interpulse_engine::{RequestId, Status, ZoneAction};
use interpulse_flash::nand::txn::Txn;

impl ZonedFtl {
    /// Executes a command on the zone that begins at `lpn`; false if [`Outcome::ZoneReset`] or [`Outcome::ZoneFinished`] reports its
    /// end.
    pub(super) fn zone_command(
        &mut self,
        flash: &mut Flash,
        tag: RequestId,
        action: ZoneAction,
        lpn: Lpn,
    ) -> Result<bool, Status> {
        let ZoneOffset { zone, offset } = self.geometry.split(lpn);
        if offset != 0 && action != ZoneAction::Commit {
            return Err(Status::InvalidField);
        }
        if self.chunks {
            self.check_chunk_command(action, lpn)?;
        }
        self.zone_counters.commands += 1;
        match action {
            ZoneAction::Open => self.states.open(zone)?,
            ZoneAction::OpenZrwa => self.open_with_area(zone)?,
            ZoneAction::Commit => self.commit(flash, zone, offset)?,
            ZoneAction::Close => self.states.close(zone)?,
            ZoneAction::Finish => return self.finish(flash, tag, zone),
            ZoneAction::Reset if self.states.of(zone).state.has_failed() => {
                return Err(Status::InvalidZoneStateTransition);
            }
            ZoneAction::Reset => return Ok(self.reset(flash, tag, zone)),
            ZoneAction::Offline => {
                let written = self.states.of(zone).written;
                self.states.give_up(zone)?;
                self.drop_data(flash, tag, zone, written, false);
            }
            ZoneAction::Report => {}
        }
        Ok(true)
    }

    fn open_with_area(&mut self, zone: u32) -> Result<(), Status> {
        self.states.open_with_area(zone)?;
        let of = &mut self.zones[zone as usize];
        debug_assert_eq!((of.admitted, of.issued), (0, 0), "an empty zone has no data");
        of.area = Some(Box::new(ZoneArea::from(0)));
        of.admitted = self.geometry.units;
        Ok(())
    }

    /// Commits the random write area of a zone up to and including the unit at offset `last`.
    fn commit(&mut self, flash: &mut Flash, zone: u32, last: u32) -> Result<(), Status> {
        self.states.commit(zone, last)?;
        self.zone_counters.explicit_commits += 1;
        self.note_ready(zone);
        self.destage(flash);
        Ok(())
    }

    /// Makes a zone full. Its last program is padded once all its data has arrived; true if the command `tag` waits for no
    /// programs.
    fn finish(&mut self, flash: &mut Flash, tag: RequestId, zone: u32) -> Result<bool, Status> {
        if !self.states.finish(zone)? {
            return Ok(true);
        }
        let of = &mut self.zones[zone as usize];
        of.is_finished = true;
        of.is_filling = self.fills;
        of.finishing = self.fills.then_some(tag);
        self.zone_counters.finishes += 1;
        self.note_ready(zone);
        self.destage(flash);
        Ok(!self.fills)
    }

    /// Makes a zone empty; true if that is complete.
    fn reset(&mut self, flash: &mut Flash, tag: RequestId, zone: u32) -> bool {
        let written = self.states.reset(zone);
        self.zone_counters.resets += u64::from(written > 0);
        self.drop_data(flash, tag, zone, written, self.resets_wait)
    }

    /// Drops the `written` units of a zone and releases its blocks; true if the command `tag`, which `waits` for their erases,
    /// is complete.
    fn drop_data(&mut self, flash: &mut Flash, tag: RequestId, zone: u32, written: u32, waits: bool) -> bool {
        let first = self.geometry.first(zone);
        for lpn in first.until(first + written) {
            if self.versions.follows(lpn) {
                self.versions.trimmed(lpn);
                if self.loss.is_some() {
                    self.versions.belongs(tag, lpn);
                }
            }
        }
        let mut dropped = 0;
        while let Some(slot) = self.cache.dirty_at(zone as usize, 0) {
            self.cache.kill_dirty(slot);
            dropped += 1;
        }
        let of = &mut self.zones[zone as usize];
        if self.writes_through {
            let writer = |unit: u32| of.writers[(unit / self.geometry.program) as usize];
            self.outcomes.extend((0..dropped).map(|unit| Outcome::Dropped(writer(unit))));
            of.writers.clear();
        }
        match of.area.take() {
            None => of.overtaken += written - of.admitted,
            Some(area) => {
                of.overtaken += area.coming();
                area.slots().for_each(|slot| self.cache.drop_held(slot));
            }
        }
        of.holes.clear();
        (of.admitted, of.issued, of.is_finished, of.is_filling) = (0, 0, false, false);
        // The programs that a finish waits for are not made.
        self.outcomes.extend(of.finishing.take().map(Outcome::ZoneFinished));
        let of = &mut self.zones[zone as usize];
        of.generation += 1;
        of.repairs = 0;
        of.in_flight.clear();
        of.ahead.clear();
        if let Some(loss) = &mut self.loss {
            loss.saved[zone as usize].clear();
        }
        let of = &mut self.zones[zone as usize];
        let erases = of.blocks.iter().filter(|&&block| block != NO_BLOCK).count() as u32;
        let waits = waits && erases > 0;
        let reset = if waits { self.resets.insert((tag, erases)) } else { NO_RESET };
        for k in 0..self.geometry.blocks() {
            let block = std::mem::replace(&mut self.zones[zone as usize].blocks[k], NO_BLOCK);
            if block == NO_BLOCK {
                continue;
            }
            self.reset_of[block.index()] = reset;
            if self.blocks.release(block) {
                self.submit_erase(flash, block);
            }
        }
        !waits
    }

    pub(super) fn submit_erase(&mut self, flash: &mut Flash, block: SuperBlock) {
        flash.submit(erase_of(&self.layout, block, self.blocks.cycles[block.index()]));
    }

    /// Completes an erase: zones that wait for a block continue, and a reset may end.
    pub(super) fn erase_done(&mut self, flash: &mut Flash, txn: &Txn) {
        let Owner::Erase(block) = Owner::of(txn) else { unreachable!("an erase of {:?}", Owner::of(txn)) };
        self.blocks.erased(&self.layout, block);
        self.forget_block(block);
        self.counters.erases += 1;
        if self.failures.is_some() {
            self.settle_erase(flash, block);
        }
        let reset = std::mem::replace(&mut self.reset_of[block.index()], NO_RESET);
        if reset != NO_RESET {
            let (tag, left) = self.resets.get_mut(reset);
            *left -= 1;
            if *left == 0 {
                self.outcomes.push_back(Outcome::ZoneReset(*tag));
                self.resets.remove(reset);
            }
        }
        self.begin_repairs(flash);
        for zone in std::mem::take(&mut self.starved) {
            self.zones[zone as usize].is_starved = false;
            self.note_ready(zone);
        }
        self.destage(flash);
    }
}
