//! Repairs: copies of super blocks that cannot be continued, program by program, to an erased super block of the lane.
//!
//! A lane has one repair at a time, which precedes new blocks for zones. The zone is not programmed until its repairs are
//! complete; then the copy replaces the old super block, which is erased.

use super::copies::Repair;
use super::zoned_ftl::ZonedFtl;
use crate::ftl::block_pool::NO_BLOCK;
use crate::ftl::flash::Flash;
use crate::ftl::transactions::program_of;
use crate::numbers::{GcReadId, JobId, Lane, SuperBlock};
use crate::owner::Owner;
use interpulse_flash::nand::txn::{Kind, Txn};

impl ZonedFtl {
    /// Whether repairs have not ended.
    pub(super) fn has_repairs(&self) -> bool {
        self.repairs.left > 0
    }

    /// Whether a repair waits for an erased super block of `lane`.
    #[inline]
    pub(super) fn lane_is_for_repairs(&self, lane: Lane) -> bool {
        self.repairs.waiting > 0 && {
            let waits = |repair: &Repair| repair.to == NO_BLOCK && self.layout.lane_of(repair.from).0 == lane;
            self.repairs.all.iter().flatten().any(waits)
        }
    }

    /// Super blocks that repairs fill.
    pub(super) fn blocks_of_repairs(&self) -> impl Iterator<Item = SuperBlock> {
        self.repairs.all.iter().flatten().map(|repair| repair.to).filter(|&block| block != NO_BLOCK)
    }

    /// Adds a repair of the `k`-th super block of a zone, of which `keep` programs are kept.
    pub(super) fn add_repair(&mut self, zone: u32, generation: u32, k: usize, keep: u32) {
        let of = &mut self.zones[zone as usize];
        let from = of.blocks[k];
        of.repairs += 1;
        self.blocks.begin(from);
        let repair = Repair { zone, generation, k, keep, from, to: NO_BLOCK, copied: 0, reads: 0 };
        if self.repairs.left == 0 {
            self.repairs.all.clear();
        }
        self.repairs.all.push(Some(repair));
        self.repairs.waiting += 1;
        self.repairs.left += 1;
        self.zone_counters.repairs += 1;
    }

    /// Begins the repairs whose lanes have no other and an erased super block.
    pub(super) fn begin_repairs(&mut self, flash: &mut Flash) {
        if self.repairs.waiting == 0 {
            return;
        }
        for id in 0..self.repairs.all.len() {
            let Some(repair) = &self.repairs.all[id] else { continue };
            let lane = self.layout.lane_of(repair.from).0;
            let begun = |of: &Repair| of.to != NO_BLOCK && self.layout.lane_of(of.from).0 == lane;
            if repair.to != NO_BLOCK || self.repairs.all.iter().flatten().any(begun) {
                continue;
            }
            if let Some(to) = self.blocks.take(lane) {
                self.repairs.all[id].as_mut().expect("it waits").to = to;
                self.repairs.waiting -= 1;
                self.copy_next(flash, id);
            }
        }
    }

    /// Reads the next program of a repair, or ends it.
    fn copy_next(&mut self, flash: &mut Flash, id: usize) {
        let repair = self.repairs.all[id].as_mut().expect("it has not ended");
        let current = self.zones[repair.zone as usize].generation == repair.generation;
        if repair.copied == repair.keep || !current {
            return self.end_repair(flash, id);
        }
        let first = self.layout.page_of_program(repair.copied);
        let (lane, block) = self.layout.lane_of(repair.from);
        let (die, plane) = self.layout.die_of(lane);
        repair.reads = self.layout.planes * self.layout.pages_per_program;
        for plane in plane..plane + self.layout.planes {
            for page in first..first + self.layout.pages_per_program {
                let mut txn = Txn::new(Kind::GcRead, die);
                (txn.plane, txn.block, txn.page) = (plane as u8, block, page);
                txn.set_units(self.layout.units_per_page());
                txn.set_owner(Owner::Gc(GcReadId(id as u32)).into());
                flash.submit(txn);
            }
        }
    }

    /// Completes a page read of a repair.
    pub(super) fn repair_read_done(&mut self, flash: &mut Flash, read: GcReadId) {
        let repair = self.repairs.all[read.index()].as_mut().expect("it has not ended");
        repair.reads -= 1;
        if repair.reads > 0 {
            return;
        }
        let cycles = self.blocks.cycles[repair.to.index()];
        let owner = Owner::Repair(JobId(read.0));
        let txn = program_of(&self.layout, Kind::GcProgram, repair.to, repair.copied, cycles, owner);
        flash.submit(txn);
    }

    /// Completes a program of a repair.
    pub(super) fn repair_program_done(&mut self, flash: &mut Flash, id: JobId) {
        let repair = self.repairs.all[id.index()].as_mut().expect("it has not ended");
        let (zone, k, copied, from, to) = (repair.zone, repair.k, repair.copied, repair.from, repair.to);
        let generation = repair.generation;
        repair.copied += 1;
        let program = self.program_in_block(k, copied);
        let place = self.geometry.place(program);
        let of = &self.zones[zone as usize];
        let mut units = 0;
        if of.generation == generation {
            for unit in 0..self.geometry.program {
                let offset = program * self.geometry.program + unit;
                if offset >= of.admitted || of.is_hole(offset) {
                    continue;
                }
                units += 1;
                let lpn = self.geometry.first(zone) + offset;
                if self.versions.follows(lpn) {
                    let at = |block| self.layout.unit(self.geometry.unit_at(block, place, unit));
                    self.versions.moved(lpn, at(from), at(to));
                }
            }
            self.describe_program(zone, generation, program, to);
        }
        self.counters.gc_units += units;
        self.counters.padding_units += u64::from(self.geometry.program) - units;
        self.counters.consumed_gc_pages += u64::from(self.layout.pages_per_program * self.layout.planes);
        self.copy_next(flash, id.index());
    }

    /// Number in its zone of program `program` of the `k`-th super block.
    fn program_in_block(&self, k: usize, program: u32) -> u32 {
        let (row, lane) = (k as u32 / self.geometry.width, k as u32 % self.geometry.width);
        (row * self.layout.programs_per_block + program) * self.geometry.width + lane
    }

    /// Ends a repair: its copy replaces the old super block, unless the zone was reset meanwhile.
    fn end_repair(&mut self, flash: &mut Flash, id: usize) {
        let Repair { zone, generation, k, from, to, .. } =
            self.repairs.all[id].take().expect("it has not ended");
        self.repairs.left -= 1;
        let of = &mut self.zones[zone as usize];
        let old = if of.generation == generation {
            of.repairs -= 1;
            of.blocks[k] = to;
            from
        } else {
            to
        };
        if self.blocks.end(from) {
            self.submit_erase(flash, from);
        }
        if self.blocks.release(old) {
            self.submit_erase(flash, old);
        }
        self.begin_repairs(flash);
        self.note_ready(zone);
        self.destage(flash);
    }

    /// Forgets the repairs at a loss of power.
    pub(super) fn end_repairs(&mut self) {
        for repair in std::mem::take(&mut self.repairs).all.into_iter().flatten() {
            let of = &mut self.zones[repair.zone as usize];
            of.repairs = 0;
            if repair.to != NO_BLOCK {
                self.blocks.abandon(repair.to);
            }
        }
    }
}
