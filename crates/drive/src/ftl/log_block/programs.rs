//! Programs of host data to log blocks.

use super::log_block_ftl::LogBlockFtl;
use super::logs::{LogId, LogProgram, NO_UNIT};
use super::map::Place;
use super::selection::Next;
use crate::ftl::flash::Flash;
use crate::numbers::{JobId, Lane, Slot};
use crate::owner::Owner;
use interpulse_flash::nand::txn::{Kind, Txn};

impl LogBlockFtl {
    /// Starts the programs and merges that can start.
    #[inline]
    pub(super) fn destage(&mut self, flash: &mut Flash) {
        while let Some(lane) = self.listed.pop() {
            self.lanes[lane.index()].is_listed = false;
            self.advance(flash, lane);
        }
    }

    /// Starts the next programs of a lane, or what they wait for.
    fn advance(&mut self, flash: &mut Flash, lane: Lane) {
        loop {
            let of = &self.lanes[lane.index()];
            if of.merge.is_some() || (of.victim.is_some() && !self.continue_victim(flash, lane)) {
                return;
            }
            if self.lanes[lane.index()].in_flight >= self.programs_per_lane {
                return;
            }
            match self.select(flash, lane) {
                Next::Nothing => return,
                Next::Waits => {
                    let waited = std::mem::replace(&mut self.lanes[lane.index()].waits, true);
                    self.log_counters.merge_waits += u64::from(!waited);
                    return;
                }
                Next::Again => {}
                Next::Program(log, slots) => self.program(flash, lane, log, slots),
            }
        }
    }

    /// Memory for the slots of a program.
    pub(super) fn spare_slots(&mut self) -> Vec<Slot> {
        self.spare.pop().unwrap_or_else(|| Vec::with_capacity(self.geometry.program as usize))
    }

    /// Submits a program of the units in `slots` to a log block.
    fn program(&mut self, flash: &mut Flash, lane: Lane, log: LogId, slots: Vec<Slot>) {
        self.clock += 1;
        let of = self.logs.get_mut(log);
        let (block, program) = (of.block, of.programs);
        let first = program * self.geometry.program;
        for k in 0..self.geometry.program {
            let lpn = slots.get(k as usize).map_or(NO_UNIT, |&slot| self.cache.lpn(slot));
            let in_order =
                of.of.is_some_and(|block| lpn != NO_UNIT && self.geometry.unit(block, first + k) == lpn);
            of.is_sequential &= in_order;
            of.units.push(lpn);
        }
        (of.programs, of.in_flight, of.used) = (program + 1, of.in_flight + 1, self.clock);
        let taken = slots.len() as u32;
        let id = self.programs.insert(LogProgram { lane, log, program, slots });
        let state = &mut self.lanes[lane.index()];
        (state.in_flight, state.waits) = (state.in_flight + 1, false);
        state.dirty -= taken;
        flash.submit(self.sub_blocks.program(Kind::HostProgram, block, program, Owner::Program(id)));
        self.counters.consumed_host_pages += u64::from(self.layout.pages_per_program * self.layout.planes);
    }

    /// Completes a program; true if it freed cache slots.
    pub(super) fn program_done(&mut self, flash: &mut Flash, txn: &Txn) -> bool {
        let id: JobId = match Owner::of(txn) {
            Owner::Program(id) => id,
            Owner::Repair(lane) => {
                self.merge_program_done(flash, Lane(lane.0));
                return false;
            }
            owner => unreachable!("a program of {owner:?}"),
        };
        let LogProgram { lane, log, program, mut slots } = self.programs.remove(id);
        let of = self.logs.get_mut(log);
        of.in_flight -= 1;
        let block = of.block;
        let first = self.layout.first_unit(block) + program * self.geometry.program;
        for (k, &slot) in (0..).zip(&slots) {
            let lpn = self.cache.lpn(slot);
            if self.versions.follows(lpn) {
                self.versions.programmed(lpn, slot, first + k);
            }
            if self.map.place(lpn) == Place::Cache(slot) {
                self.map.set(lpn, Place::Log(first + k));
            }
            self.cache.programmed(slot);
        }
        self.counters.host_units += slots.len() as u64;
        self.counters.padding_units += u64::from(self.geometry.program) - slots.len() as u64;
        slots.clear();
        self.spare.push(slots);
        self.lanes[lane.index()].in_flight -= 1;
        self.list(lane);
        if self.backpressure && self.cache.in_flight() == 0 {
            // No lane may have a whole program.
            self.list_dirty_lanes();
        }
        true
    }
}
