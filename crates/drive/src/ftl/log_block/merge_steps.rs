//! Steps of a merge: the page reads of each program, then the program, in the queues of the die as garbage collection has them.

use super::log_block_ftl::LogBlockFtl;
use super::map::{Entry, Place};
use crate::ftl::flash::Flash;
use crate::numbers::{GcReadId, JobId, Lane, Ppu};
use crate::owner::Owner;
use interpulse_flash::nand::txn::{Kind, Txn};

impl LogBlockFtl {
    /// Continues the merge of a lane: reads ahead of the next program, submits it, or ends the merge.
    pub(super) fn continue_merge(&mut self, flash: &mut Flash, lane: Lane) {
        loop {
            let merge = self.lanes[lane.index()].merge.as_ref().expect("the lane has a merge");
            if merge.in_place.is_some() {
                return self.continue_in_place(flash, lane);
            }
            if merge.reads > 0 {
                return;
            }
            if merge.next == merge.end {
                if merge.programs == 0 {
                    self.end_merge(flash, lane);
                }
                return;
            }
            if !merge.is_read {
                self.read_next(flash, lane);
            } else if merge.programs < self.programs_per_lane {
                self.program_next(flash, lane);
            } else {
                return;
            }
        }
    }

    /// Submits the page reads of the next program: one for each page that has units of it.
    pub(super) fn read_next(&mut self, flash: &mut Flash, lane: Lane) {
        let mut merge = self.lanes[lane.index()].merge.take().expect("the lane has a merge");
        let first = merge.next * self.geometry.program;
        // The physical unit that a page read begins with, and its units.
        let mut pages: Vec<(Ppu, u32)> = Vec::new();
        for offset in first..first + self.geometry.program {
            let entry = self.map.entry(self.geometry.unit(merge.of, offset));
            let from = match entry.place() {
                Place::DataBlock => self.in_data_block(merge.of, offset),
                Place::Log(ppu) => ppu,
                Place::Nowhere | Place::Cache(_) => continue,
            };
            merge.copied[offset as usize] = entry;
            let page = |ppu: Ppu| ppu.0 / self.layout.units_per_page();
            match pages.iter_mut().find(|(other, _)| page(*other) == page(from)) {
                Some((_, units)) => *units += 1,
                None => pages.push((from, 1)),
            }
        }
        (merge.reads, merge.is_read) = (pages.len() as u32, true);
        self.lanes[lane.index()].merge = Some(merge);
        for (ppu, units) in pages {
            let at = self.sub_blocks.layout.place(ppu);
            let mut txn = Txn::new(Kind::GcRead, at.die);
            (txn.plane, txn.block, txn.page) = (at.plane as u8, at.block, at.page);
            txn.set_units(units);
            txn.set_owner(Owner::Gc(GcReadId(lane.0)).into());
            flash.submit(txn);
        }
    }

    /// Submits the next program.
    pub(super) fn program_next(&mut self, flash: &mut Flash, lane: Lane) {
        let merge = self.lanes[lane.index()].merge.as_mut().expect("the lane has a merge");
        let (to, program) = (merge.to, merge.next);
        (merge.next, merge.programs, merge.is_read) = (program + 1, merge.programs + 1, false);
        let first = (program * self.geometry.program) as usize;
        let copied = &merge.copied[first..first + self.geometry.program as usize];
        let units = copied.iter().filter(|&&of| of != Entry::NOWHERE).count() as u64;
        self.counters.gc_units += units;
        self.counters.padding_units += u64::from(self.geometry.program) - units;
        self.counters.consumed_gc_pages += u64::from(self.layout.pages_per_program * self.layout.planes);
        let owner = Owner::Repair(JobId(lane.0));
        flash.submit(self.sub_blocks.program(Kind::GcProgram, to, program, owner));
    }

    /// Completes a page read of the merge of a lane.
    pub(super) fn merge_read_done(&mut self, flash: &mut Flash, read: GcReadId) {
        let lane = Lane(read.0);
        self.lanes[lane.index()].merge.as_mut().expect("the lane has a merge").reads -= 1;
        self.continue_merge(flash, lane);
        self.destage(flash);
    }

    /// Completes a program of the merge of a lane.
    pub(super) fn merge_program_done(&mut self, flash: &mut Flash, lane: Lane) {
        self.lanes[lane.index()].merge.as_mut().expect("the lane has a merge").programs -= 1;
        self.continue_merge(flash, lane);
        self.destage(flash);
    }
}
