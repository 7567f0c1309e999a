//! Garbage collection in simulated time, lane by lane.
//!
//! The collector reads a victim page by page (only valid units cross the bus), gathers relocated units in controller memory
//! until they fill a program operation, and erases the victim once all its units are on flash again. Each page read is a
//! separate operation in the die's queue, so that host reads pass in between.

use crate::ftl::flash::Flash;
use crate::ftl::layout::UnitAt;
use crate::ftl::page::gc::state::Victim;
use crate::ftl::page::mapping::relocation::Relocation;
use crate::ftl::page::page_ftl::PageFtl;
use crate::ftl::page::power_loss::metadata_region::Then;
use crate::ftl::page::write_back::in_flight::{GcRead, Purpose};
use crate::numbers::{GcReadId, JobId, Lane, SuperBlock};
use crate::owner::Owner;
use interpulse_flash::nand::txn::{Kind, Txn};

impl PageFtl {
    pub(crate) fn gc_diagnosis(&self, lane: Lane) -> String {
        let gc = &self.collection.lanes[lane.index()];
        format!(
            "lane {lane}: {} blocks free, {} to erase, {} page reads, {} programs and {} relocating units of garbage \
             collection, victims {:?}{}",
            self.blocks.free_blocks(lane),
            gc.erasing,
            gc.reads,
            gc.programs,
            gc.relocating.len(),
            gc.victims,
            self.destination_diagnosis(lane)
        )
    }

    /// Retries lanes without a victim, since writes and trims may have freed units. Called when host data finds no lane.
    pub(crate) fn wake_collector(&mut self, flash: &mut Flash) {
        if self.collection.asleep == 0 {
            return;
        }
        for lane in Lane::first(self.blocks.layout.lanes) {
            if self.collection.lanes[lane.index()].asleep {
                self.advance_gc(flash, lane);
            }
        }
    }

    pub(crate) fn advance_gc(&mut self, flash: &mut Flash, lane: Lane) {
        let l = lane.index();
        if std::mem::take(&mut self.collection.lanes[l].asleep) {
            self.collection.asleep -= 1;
        }
        if self.blocks.is_dead(lane) {
            return;
        }
        self.set_urgency(flash, lane);
        self.erase_reclaimable_if_short(flash, lane);
        let gc = &self.collection.lanes[l];
        let idle = gc.victims.is_empty() && gc.rewrites.is_empty();
        if idle && !self.blocks.wants_gc(lane) && !self.has_other_work(lane) {
            return;
        }
        if self.window.given {
            if self.gc_must_wait(lane) {
                return;
            }
            self.erase_waiting_victims(flash, lane);
        }
        loop {
            self.read_victim(flash, lane);
            let program = self.blocks.gc_capacity.program as usize;
            let waiting = |ftl: &PageFtl| {
                let (gc, copies) = (&ftl.collection.lanes[l], ftl.copies_waiting(lane));
                gc.relocating.len() + gc.apart.len() + copies as usize
            };
            let before = waiting(self);
            while self.collection.lanes[l].relocating.len() >= program
                && self.program_gathered(flash, lane, program)
            {}
            let copies = self.copyback.is_some() && self.program_copies(flash, lane);
            self.program_apart(flash, lane);
            let gc = &self.collection.lanes[l];
            let scanned =
                gc.victims.last().is_none_or(|v| v.next_offset == self.blocks.layout.units_per_block);
            if !scanned || copies {
                // Overwrites of waiting units made room, and no operation in flight will call this function again.
                if gc.reads == 0 && gc.programs == 0 && waiting(self) < before {
                    continue;
                }
                return;
            }
            if self.take_other_victim(flash, lane) {
                continue;
            }
            let gc = &self.collection.lanes[l];
            if self.blocks.has_enough(lane, gc.erasing) {
                if self.rewrite_next(flash, lane) {
                    continue;
                }
                return;
            }
            if let Some(victim) = self.choose_fitting_victim(lane) {
                self.collection.lanes[l].victims.push(victim);
                continue;
            }
            // Host data may wait for a rewrite that levels wear.
            if self.blocks.lanes[l].wear_limit.is_some() && self.rewrite_next(flash, lane) {
                continue;
            }
            // Nothing left to collect: program the relocating units so that their victims can be erased.
            let gc = &self.collection.lanes[l];
            if gc.reads == 0 && gc.programs == 0 && !gc.relocating.is_empty() {
                self.program_gathered(flash, lane, 1);
            }
            self.program_rest(flash, lane);
            self.erase_reclaimable(flash, lane);
            let gc = &mut self.collection.lanes[l];
            gc.asleep = gc.reads == 0 && gc.programs == 0 && gc.erasing == 0;
            self.collection.asleep += u32::from(gc.asleep);
            return;
        }
    }

    /// Next victim of `lane`, if its valid units certainly fit. Otherwise victims full of valid units could use up the last
    /// block before any victim is empty.
    fn choose_fitting_victim(&mut self, lane: Lane) -> Option<Victim> {
        let victim = self.blocks.choose_victim(lane)?;
        if !self.fits(lane, victim) {
            self.blocks.reject_victim(victim);
            return None;
        }
        self.blocks.victim_chosen(lane, victim);
        self.blocks.lanes[lane.index()].levels_wear = false;
        self.victim_chosen(victim);
        Some(self.victim(lane, victim))
    }

    /// Units of victims that are read or being read and not yet programmed, at most.
    pub(crate) fn unplaced(&self, lane: Lane) -> u32 {
        let gc = &self.collection.lanes[lane.index()];
        let copies = self.copies_waiting(lane);
        gc.relocating.len() as u32 + (gc.reads + copies) * self.blocks.layout.units_per_page()
    }

    /// Units that certainly have room besides those of earlier victims.
    pub(crate) fn room_for_moved(&self, lane: Lane) -> u32 {
        let gc = &self.collection.lanes[lane.index()];
        let mut room = self.blocks.gc_room(lane);
        // Earlier victims fit, and once they are read their units go first; host data may not take the block that they
        // free. (Reads on several planes can overtake one another.)
        let frees = |victim: &Victim| self.frees(victim.super_block);
        let coming = gc.reads == 0 && (gc.victims.iter().any(frees) || gc.erasing > 0);
        if coming && self.blocks.free_blocks(lane) < self.blocks.config().hard_free {
            room += self.blocks.gc_capacity.block;
        }
        room.saturating_sub(self.keeps_free(lane))
    }

    /// Prioritizes garbage collection over host programs on the die of `lane` while one of its lanes is short of blocks.
    fn set_urgency(&mut self, flash: &mut Flash, lane: Lane) {
        let (die, _) = self.blocks.layout.die_of(lane);
        // Unlimited programs in flight keep stale copies valid until they end: earlier collection would gain less.
        let unlimited = !self.write_back.holds_lanes;
        let yields = unlimited && self.blocks.units.keeps_stale_copies();
        // Without a free block no more of them are assigned, and what they overwrite may be all that collection can gain.
        let is_urgent = |l: Lane| {
            self.blocks.gc_is_urgent(l)
                && self.blocks.wants_gc(l)
                && !(unlimited && self.blocks.free_blocks(l) == 0)
        };
        let urgent = !yields && self.blocks.layout.lanes_of(die).any(is_urgent);
        flash.nand.set_gc_urgent(die, self.namespace, urgent);
    }

    fn read_victim(&mut self, flash: &mut Flash, lane: Lane) {
        let l = lane.index();
        let page = self.blocks.layout.units_per_page();
        let depth = self.collection.depth;
        let enough = depth * self.blocks.gc_capacity.program;
        loop {
            let gc = &self.collection.lanes[l];
            let Some(&victim) = gc.victims.last() else { return };
            let in_memory = (gc.relocating.len() + gc.apart.len()) as u32 + gc.reads * page;
            let room = gc.reads < 2 * depth && in_memory < enough;
            if victim.next_offset == self.blocks.layout.units_per_block {
                if self.copyback.is_some() {
                    self.read_last_copies(flash, lane);
                }
                self.erase_if_done(flash, lane, victim.super_block);
                return;
            }
            if !room || self.copyback.as_deref().is_some_and(|of| of.is_full(lane, depth)) {
                return;
            }
            let mask = self.blocks.map().valid_among(victim.super_block, victim.next_offset, page);
            let units = set_bits(mask);
            let last = self.collection.lanes[l].victims.last_mut().expect("the lane has a victim");
            last.next_offset += page;
            last.pending += units;
            if units > 0 {
                if self.copyback.is_some() && self.copies(lane, victim, mask) {
                    continue;
                }
                self.read_in_line(flash, lane, victim, victim.next_offset, mask);
            }
        }
    }

    /// As [`PageFtl::read_in_line`], where pages of victims are read by the way.
    #[inline(never)]
    pub(super) fn read_victim_page(
        &mut self,
        flash: &mut Flash,
        lane: Lane,
        victim: Victim,
        offset: u32,
        mask: u32,
    ) {
        self.read_in_line(flash, lane, victim, offset, mask);
    }

    /// Reads the units `mask` of the page at `offset` of a victim, to move them.
    #[inline(always)]
    fn read_in_line(&mut self, flash: &mut Flash, lane: Lane, victim: Victim, offset: u32, mask: u32) {
        let first_ppu = self.blocks.layout.first_unit(victim.super_block) + offset;
        let at = self.blocks.layout.place_in(victim.super_block, offset);
        let mut txn = Txn::new(Kind::GcRead, at.die);
        txn.plane = at.plane as u8;
        txn.block = at.block;
        txn.page = at.page;
        txn.set_units(set_bits(mask));
        txn.set_cell_mode(self.blocks.cell_mode(victim.super_block));
        let read = GcRead {
            lane,
            first_ppu,
            mask,
            purpose: if victim.apart { Purpose::CollectApart } else { Purpose::Collect },
        };
        txn.set_owner(Owner::Gc(self.jobs.reads.insert(read)).into());
        self.collection.lanes[lane.index()].reads += 1;
        self.window.count();
        flash.submit(txn);
    }

    /// Completes page read `read` for garbage collection or for a program that relocates candidate pages.
    pub fn gc_read_done(&mut self, flash: &mut Flash, read: GcReadId, txn: &Txn) {
        if txn.needs_reclaim() {
            let super_block = self.super_block_of(txn);
            self.reclaim(flash, super_block);
        }
        self.page_collected(flash, read);
    }

    /// As [`PageFtl::gc_read_done`], where reads never cause a reclaim.
    pub fn page_collected(&mut self, flash: &mut Flash, read: GcReadId) {
        let read = self.jobs.reads.remove(read);
        match read.purpose {
            Purpose::Collect => {}
            Purpose::CollectApart => return self.page_read_apart(flash, read),
            Purpose::Program(job) if self.imposed.is_some() => {
                return self.copied_page_read(flash, &read, job);
            }
            Purpose::Program(job) => return self.candidate_page_read(flash, &read, job),
        }
        let l = read.lane.index();
        self.collection.lanes[l].reads -= 1;
        let UnitAt { super_block, offset } = self.blocks.layout.split(read.first_ppu);
        let map = self.blocks.map();
        let mut valid = read.mask & map.valid_among(super_block, offset, self.blocks.layout.units_per_page());
        let overwritten = set_bits(read.mask & !valid);
        while valid != 0 {
            let source = read.first_ppu + valid.trailing_zeros();
            valid &= valid - 1;
            let lpn = map.logical(source);
            self.collection.lanes[l].relocating.push_back(Relocation { lpn, source });
        }
        self.units_settled(flash, read.lane, super_block, overwritten);
        self.advance_gc(flash, read.lane);
    }

    /// Programs relocating units if at least `least` are still valid; returns whether it did.
    pub(crate) fn program_gathered(&mut self, flash: &mut Flash, lane: Lane, least: usize) -> bool {
        let l = lane.index();
        if self.collection.lanes[l].programs >= self.collection.depth {
            return false;
        }
        let full = self.blocks.gc_capacity.program as usize;
        // Units overwritten while they waited need not be relocated.
        while let Some((k, super_block)) = self.first_overwritten(lane, full) {
            self.collection.lanes[l].relocating.remove(k);
            self.units_settled(flash, lane, super_block, 1);
        }
        let units = full.min(self.collection.lanes[l].relocating.len());
        if units < least {
            return false;
        }
        let Some(place) = self.blocks.take_address(lane, self.gc_stream(lane)) else { return false };
        if place.program == 0 {
            let first = self.collection.lanes[l].relocating.front().expect("counted above");
            let from = self.blocks.layout.block_of(first.source);
            self.blocks.units.inherit_stamp(place.super_block, from);
        }
        // A block opened before the stream's mode was set may take fewer units.
        let units = units.min(place.units(&self.blocks.layout) as usize);
        let job = self.jobs.new_program(lane, Some(place));
        let first = self.blocks.layout.first_unit(place.super_block);
        let moved = &mut self.jobs.program(job).moved;
        moved.extend(self.collection.lanes[l].relocating.drain(..units));
        for run in place.runs(&self.blocks.layout, units) {
            for (i, unit) in (run.offset..).zip(&moved[run.units]) {
                self.blocks.units.assign(first + i, unit.lpn);
            }
        }
        self.gc_program_begins(job);
        self.collection.lanes[l].programs += 1;
        self.window.count();
        self.submit_program(flash, Kind::GcProgram, lane, job);
        true
    }

    /// First of the next `full` relocating units that was overwritten since its read, and its victim.
    fn first_overwritten(&self, lane: Lane, full: usize) -> Option<(usize, SuperBlock)> {
        let next = self.collection.lanes[lane.index()].relocating.iter().take(full);
        next.enumerate().find_map(|(k, unit)| {
            let UnitAt { super_block, offset } = self.blocks.layout.split(unit.source);
            (!self.blocks.map().is_valid(super_block, offset)).then_some((k, super_block))
        })
    }

    pub(crate) fn gc_program_done(&mut self, flash: &mut Flash, id: JobId) {
        let job = self.jobs.take_program(id);
        let place = job.place.expect("moved data has a place");
        let blocks = &mut self.blocks;
        // All at once, so that the page-table walks of these prefetches overlap.
        job.moved.iter().for_each(|unit| blocks.map().prefetch(unit.lpn));
        if self.metadata.is_some() {
            blocks.units.describe_move(&blocks.layout, &job.moved, &place, 0);
        }
        self.gc_program_ended(&job);
        // Units of one victim are adjacent: settle them in one call.
        let (mut of, mut settled) = (SuperBlock(0), 0);
        for run in place.runs(&self.blocks.layout, job.moved.len()) {
            for (offset, &unit) in (run.offset..).zip(&job.moved[run.units]) {
                let to = UnitAt { super_block: place.super_block, offset };
                let from = self.blocks.layout.split(unit.source);
                if from.super_block != of {
                    self.units_settled(flash, job.lane, of, settled);
                    (of, settled) = (from.super_block, 0);
                }
                self.blocks.units.moved(&self.blocks.layout, unit, from, to);
                settled += 1;
            }
        }
        self.units_settled(flash, job.lane, of, settled);
        if job.copyback {
            self.copies_programmed(&job, &place);
        }
        let units = job.moved.len() as u64;
        self.blocks.counters.gc_units += units;
        self.blocks.counters.padding_units += u64::from(place.units(&self.blocks.layout)) - units;
        self.blocks.program_done(place.super_block);
        self.gc_program_committed(flash, &job);
        let lane = job.lane;
        self.collection.lanes[lane.index()].programs -= 1;
        self.jobs.free_program(id, job);
        self.advance_gc(flash, lane);
    }

    /// Accounts `units` of a victim as relocated or no longer needed.
    pub(crate) fn units_settled(
        &mut self,
        flash: &mut Flash,
        lane: Lane,
        super_block: SuperBlock,
        units: u32,
    ) {
        if units == 0 {
            return;
        }
        let end = self.blocks.layout.units_per_block;
        let gc = &mut self.collection.lanes[lane.index()];
        let victim = gc.victims.iter_mut().find(|v| v.super_block == super_block);
        let victim = victim.expect("a relocating unit belongs to a victim");
        victim.pending -= units;
        if victim.pending == 0 && victim.next_offset == end {
            self.erase_if_done(flash, lane, super_block);
        }
    }

    pub(crate) fn erase_if_done(&mut self, flash: &mut Flash, lane: Lane, super_block: SuperBlock) {
        let end = self.blocks.layout.units_per_block;
        let waits = self.gc_must_wait(lane);
        let gc = &mut self.collection.lanes[lane.index()];
        let done = |v: &Victim| v.super_block == super_block && v.pending == 0 && v.next_offset == end;
        let Some(at) = gc.victims.iter().position(done) else { return };
        if self.readers.get(super_block.index()).is_some_and(|&n| n > 0) || waits {
            // A read of the block may have to be repeated (its end retries this), or the GC window is closed.
            return;
        }
        self.window.count();
        gc.victims.remove(at);
        gc.rewriting &= !gc.victims.is_empty();
        self.collection.lanes[lane.index()].erasing += u32::from(self.frees(super_block));
        if self.metadata.is_some() && self.journal(flash, Then::Erase(super_block)) {
            return;
        }
        self.reclaim_block(flash, super_block);
    }

    pub(crate) fn submit_erase(&mut self, flash: &mut Flash, super_block: SuperBlock) {
        flash.submit(self.erase_of(super_block));
    }

    /// The erase of a super block.
    pub(super) fn erase_of(&self, super_block: SuperBlock) -> Txn {
        let (lane, _) = self.blocks.layout.lane_of(super_block);
        let (die, plane) = self.blocks.layout.die_of(lane);
        let mut txn = Txn::new(Kind::Erase, die);
        txn.plane = plane as u8;
        txn.planes = self.blocks.layout.planes as u8;
        txn.block = self.blocks.layout.lane_of(super_block).1;
        txn.set_owner(Owner::Erase(super_block).into());
        txn.set_cycles(self.blocks.wear_of(super_block));
        txn
    }

    /// Completes an erase.
    pub fn erase_done(&mut self, flash: &mut Flash, txn: &Txn) {
        let Owner::Erase(super_block) = Owner::of(txn) else {
            debug_assert_eq!(Owner::of(txn), Owner::Nothing, "a synthetic erase has no block");
            return;
        };
        let (lane, _) = self.blocks.layout.lane_of(super_block);
        self.blocks.erased(super_block);
        self.block_erased(flash, super_block);
        if let Some(copyback) = &mut self.copyback {
            copyback.erased(&self.blocks.layout, super_block);
        }
        if let Some(metadata) = &mut self.metadata {
            metadata.erased(super_block);
        }
        let frees = self.frees(super_block);
        self.collection.lanes[lane.index()].erasing -= u32::from(frees);
        if frees && let Some(gap) = self.wear_gap {
            self.level_wear(flash, lane, super_block, gap);
        }
        self.advance_gc(flash, lane);
        self.lane_changed(lane);
        self.space_freed(flash);
        self.destage(flash);
    }
}

/// Number of set bits of a page's mask. Most masks are zero or have at most four bits.
#[inline]
pub(super) fn set_bits(mask: u32) -> u32 {
    // Bit counts of masks 0 to 15, four bits each; mask 15 in the highest nibble.
    const OF_FOUR: u64 = 0x4332_3221_3221_2110;
    if mask < 16 { (OF_FOUR >> (4 * mask)) as u32 & 0xf } else { mask.count_ones() }
}

#[cfg(test)]
mod tests {
    use super::set_bits;

    #[test]
    fn bits_are_counted_whether_few_or_many() {
        assert!((0..1 << 12).chain([u32::MAX, 1 << 31]).all(|mask| set_bits(mask) == mask.count_ones()));
    }
}
