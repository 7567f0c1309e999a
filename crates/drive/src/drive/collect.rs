//! Garbage collection in simulated time, lane by lane.
//!
//! A victim is read page by page (only the valid units move over the bus), moved units gather in controller
//! memory until they fill a program operation, and a victim is erased when all its units are on flash again.
//! Every page is an operation of its own in the die's queue, so host reads pass in between; units that do not
//! fill a program wait for the next victim's.

use super::Drive;
use super::jobs::GcRead;
use super::refresh::Rewrite;
use crate::ftl::Stream;
use interpulse_engine::Agenda;
use interpulse_flash::nand::txn::{Kind, NONE, Txn};
use interpulse_flash::reprogram::TwoBit;
use std::collections::VecDeque;

/// A super block being emptied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Victim {
    super_block: u32,
    /// Page (in units) the scan has come to.
    next_offset: u32,
    /// Units read or being read and not yet on flash again.
    pending: u32,
}

impl Victim {
    /// A victim of which nothing has been read.
    pub(super) fn new(super_block: u32) -> Victim {
        Victim { super_block, next_offset: 0, pending: 0 }
    }

    pub(super) fn super_block(&self) -> u32 {
        self.super_block
    }
}

/// Garbage collection of one lane.
#[derive(Clone, Debug, Default)]
pub struct GcLane {
    /// Victims not yet erased; only the last one is still being read.
    pub(super) victims: Vec<Victim>,
    /// Units in controller memory: (logical unit, where it came from).
    pub(super) gathered: VecDeque<(u32, u32)>,
    pub(super) reads: u32,
    pub(super) programs: u32,
    pub(super) erasing: u32,
    /// The lane is short of free blocks and nothing could be collected; nothing is under way either, so
    /// nothing but [`Drive::wake_gc`] will look again.
    asleep: bool,
    /// Super blocks to be rewritten when space is not short.
    pub(super) rewrites: VecDeque<Rewrite>,
    /// A victim is rewritten: what is gathered from it goes out even if it does not fill a program.
    pub(super) rewriting: bool,
}

impl Drive {
    /// Where garbage collection of `lane` stands, for a diagnosis.
    pub(super) fn gc_standing(&self, lane: u32) -> String {
        let gc = &self.gc_lanes[lane as usize];
        format!(
            "lane {lane}: {} blocks free, {} to erase, {} page reads, {} programs and {} gathered units of garbage \
             collection, victims {:?}",
            self.ftl.free_blocks(lane),
            gc.erasing,
            gc.reads,
            gc.programs,
            gc.gathered.len(),
            gc.victims
        )
    }

    /// Looks again at lanes in which nothing could be collected when they were last looked at: units have been
    /// overwritten or trimmed since. Called when host data finds no lane.
    pub(super) fn wake_gc(&mut self, agenda: &mut Agenda) {
        if self.gc_asleep == 0 {
            return;
        }
        for lane in 0..self.ftl.layout.lanes {
            if self.gc_lanes[lane as usize].asleep {
                self.pump_gc(agenda, lane);
            }
        }
    }

    /// Moves garbage collection of `lane` on as far as it goes now.
    pub(super) fn pump_gc(&mut self, agenda: &mut Agenda, lane: u32) {
        let l = lane as usize;
        if std::mem::take(&mut self.gc_lanes[l].asleep) {
            self.gc_asleep -= 1;
        }
        self.set_urgency(lane);
        let gc = &self.gc_lanes[l];
        if gc.victims.is_empty() && gc.rewrites.is_empty() && !self.ftl.wants_gc(lane) {
            return;
        }
        if self.gc_turn.given {
            if self.gc_must_wait(lane) {
                return;
            }
            self.erase_what_waited(agenda, lane);
        }
        loop {
            self.read_victim(agenda, lane);
            let program = self.ftl.layout.units_per_program as usize;
            let gathered = self.gc_lanes[l].gathered.len();
            while self.gc_lanes[l].gathered.len() >= program && self.program_gathered(agenda, lane, program) {
            }
            let gc = &self.gc_lanes[l];
            let scanned = gc.victims.last().is_none_or(|v| v.next_offset == self.ftl.layout.units_per_block);
            if !scanned {
                // Units overwritten while they waited have made room, and no operation under way will bring
                // us back here.
                if gc.reads == 0 && gc.programs == 0 && gc.gathered.len() < gathered {
                    continue;
                }
                return;
            }
            if self.ftl.has_enough(lane, gc.erasing) {
                if self.rewrite_next(agenda, lane) {
                    continue;
                }
                return;
            }
            if let Some(victim) = self.choose_victim_that_fits(lane) {
                self.gc_lanes[l].victims.push(Victim::new(victim));
                continue;
            }
            // Nothing left to collect: what is in memory must go out for its victims to be erased.
            let gc = &self.gc_lanes[l];
            if gc.reads == 0 && gc.programs == 0 && !gc.gathered.is_empty() {
                self.program_gathered(agenda, lane, 1);
            }
            let gc = &mut self.gc_lanes[l];
            gc.asleep = gc.reads == 0 && gc.programs == 0 && gc.erasing == 0;
            self.gc_asleep += u32::from(gc.asleep);
            return;
        }
    }

    /// The next victim of `lane`, if there is certain to be room for what is valid in it. Without that check
    /// victims that are (nearly) full of valid units could use up the last block before one of them is empty,
    /// and then none ever would be.
    fn choose_victim_that_fits(&mut self, lane: u32) -> Option<u32> {
        let victim = self.ftl.choose_victim(lane)?;
        if !self.fits(lane, victim) {
            self.ftl.reject_victim(victim);
            return None;
        }
        Some(victim)
    }

    /// Whether there is certain to be room for what is valid in `victim`.
    pub(super) fn fits(&self, lane: u32, victim: u32) -> bool {
        let layout = &self.ftl.layout;
        let gc = &self.gc_lanes[lane as usize];
        let unplaced = gc.gathered.len() as u32 + gc.reads * layout.units_per_page();
        let units = unplaced + self.ftl.map.valid_units(victim);
        let mut room = self.ftl.gc_room(lane);
        // The victims before this one fit, and once they are read their units go first; host data may not take
        // the block that they bring. (Reads on several planes can overtake one another.)
        let coming = gc.reads == 0 && (!gc.victims.is_empty() || gc.erasing > 0);
        if coming && self.ftl.free_blocks(lane) < self.ftl.config().hard_free {
            room += layout.units_per_block;
        }
        units.next_multiple_of(layout.units_per_program) <= room
    }

    /// Puts garbage collection before host programs on the die of `lane` while one of its lanes is short.
    fn set_urgency(&mut self, lane: u32) {
        let (die, _) = self.ftl.layout.die_of(lane);
        let lanes = self.ftl.layout.lanes_per_die;
        let first = die * lanes;
        // Where the cache has any number of programs under way whose units keep their older copies until they end, collection
        // that went before them would find less and less to gain.
        let yields = self.keeps_homes && self.writes_through();
        let urgent =
            !yields && (first..first + lanes).any(|l| self.ftl.wants_gc(l) && self.ftl.gc_is_urgent(l));
        self.nand.set_gc_urgent(die, urgent);
    }

    /// Reads pages of the last victim while there is room, and erases victims that are done.
    fn read_victim(&mut self, agenda: &mut Agenda, lane: u32) {
        let l = lane as usize;
        let page = self.ftl.layout.units_per_page();
        let depth = self.spec.ftl.gc_depth;
        let enough = depth * self.ftl.layout.units_per_program;
        loop {
            let gc = &self.gc_lanes[l];
            let Some(&victim) = gc.victims.last() else { return };
            let in_memory = gc.gathered.len() as u32 + gc.reads * page;
            let room = gc.reads < 2 * depth && in_memory < enough;
            if victim.next_offset == self.ftl.layout.units_per_block {
                self.erase_if_done(agenda, lane, victim.super_block);
                return;
            }
            if !room {
                return;
            }
            let mut mask = 0;
            for u in 0..page {
                let valid = self.ftl.map.is_valid(victim.super_block, victim.next_offset + u);
                mask |= u32::from(valid) << u;
            }
            let units = mask.count_ones();
            let last = self.gc_lanes[l].victims.last_mut().expect("the victim just looked at");
            last.next_offset += page;
            last.pending += units;
            if units > 0 {
                let first_ppu = self.ftl.layout.first_unit(victim.super_block) + victim.next_offset;
                let at = self.ftl.layout.place(first_ppu);
                let mut txn = Txn::new(Kind::GcRead, at.die);
                txn.plane = at.plane as u8;
                txn.block = at.block;
                txn.page = at.page;
                txn.units = units;
                if self.ftl.reprogramming().is_some_and(|r| r.is_two_bit(victim.super_block)) {
                    txn.set_two_bit(TwoBit::Whole);
                }
                txn.owner = self.jobs.reads.insert(GcRead { lane, first_ppu, mask, program: NONE });
                self.gc_lanes[l].reads += 1;
                self.gc_turn.count();
                self.nand.submit(agenda, txn);
            }
        }
    }

    pub(super) fn gc_read_done(&mut self, agenda: &mut Agenda, txn: &Txn) {
        if txn.asks_for_reclaim() {
            let super_block = self.super_block_of(txn);
            self.reclaim(agenda, super_block);
        }
        let read = self.jobs.reads.remove(txn.owner);
        if read.program != NONE {
            self.candidate_page_read(agenda, &read);
            return;
        }
        let l = read.lane as usize;
        self.gc_lanes[l].reads -= 1;
        let (super_block, offset) = self.ftl.layout.split(read.first_ppu);
        for u in 0..self.ftl.layout.units_per_page() {
            if read.mask >> u & 1 == 0 {
                continue;
            }
            if self.ftl.map.is_valid(super_block, offset + u) {
                let ppu = read.first_ppu + u;
                let lpn = self.ftl.map.to_logical[ppu as usize];
                self.ftl.map.prefetch(lpn);
                self.gc_lanes[l].gathered.push_back((lpn, ppu));
            } else {
                self.unit_settled(agenda, read.lane, super_block);
            }
        }
        self.pump_gc(agenda, read.lane);
    }

    /// Programs gathered units if at least `least` are still valid; true if it did.
    pub(super) fn program_gathered(&mut self, agenda: &mut Agenda, lane: u32, least: usize) -> bool {
        let l = lane as usize;
        if self.gc_lanes[l].programs >= self.spec.ftl.gc_depth {
            return false;
        }
        let full = self.ftl.layout.units_per_program as usize;
        // Units overwritten while they waited need not move.
        let mut k = 0;
        while k < full.min(self.gc_lanes[l].gathered.len()) {
            let (_, source) = self.gc_lanes[l].gathered[k];
            let (super_block, offset) = self.ftl.layout.split(source);
            if self.ftl.map.is_valid(super_block, offset) {
                k += 1;
            } else {
                self.gc_lanes[l].gathered.remove(k);
                self.unit_settled(agenda, lane, super_block);
            }
        }
        if k < least {
            return false;
        }
        let Some(place) = self.ftl.take_place(lane, Stream::Gc) else { return false };
        if place.program == 0
            && let Some(hotness) = &mut self.ftl.hotness
        {
            let (_, source) = *self.gc_lanes[l].gathered.front().expect("counted above");
            hotness.inherit(place.super_block, self.ftl.layout.block_of(source));
        }
        let job = self.jobs.new_program(lane, Some(place));
        let first = self.ftl.layout.first_unit(place.super_block) + place.first_offset;
        for i in 0..k {
            let (lpn, source) = self.gc_lanes[l].gathered.pop_front().expect("counted above");
            self.ftl.map.set_logical(first + i as u32, lpn);
            let job = self.jobs.program(job);
            job.units.push(lpn);
            job.sources.push(source);
        }
        self.gc_lanes[l].programs += 1;
        self.gc_turn.count();
        self.submit_program(agenda, Kind::GcProgram, lane, job);
        true
    }

    pub(super) fn gc_program_done(&mut self, agenda: &mut Agenda, txn: &Txn) {
        if txn.owner >= super::metadata::METADATA && txn.owner != NONE {
            self.metadata_written(agenda, txn.owner);
            return;
        }
        if txn.owner == NONE {
            self.ftl.counters.imposed_units += u64::from(self.ftl.layout.units_per_program);
            return;
        }
        let job = self.jobs.take_program(txn.owner);
        let place = job.place.expect("moved data has a place");
        let first = self.ftl.layout.first_unit(place.super_block) + place.first_offset;
        if self.power.is_some() {
            self.moved_units_written(&job, first);
        }
        for (k, (&lpn, &source)) in job.units.iter().zip(&job.sources).enumerate() {
            let (super_block, offset) = self.ftl.layout.split(source);
            if self.ftl.map.is_valid(super_block, offset) {
                self.ftl.map.invalidate(super_block, offset);
                if self.keeps_homes && self.keep_moved(lpn, first + k as u32) {
                    self.ftl.map.keep(place.super_block, place.first_offset + k as u32);
                } else {
                    self.ftl.map.commit(lpn, place.super_block, place.first_offset + k as u32);
                }
                if let Some(hotness) = &mut self.ftl.hotness {
                    hotness.moved_unit(source, first + k as u32);
                }
                if self.versions.follows(lpn) {
                    self.versions.moved(lpn, source, first + k as u32);
                }
            }
            self.unit_settled(agenda, job.lane, super_block);
        }
        let units = job.units.len() as u64;
        self.ftl.counters.gc_units += units;
        self.ftl.counters.padding_units += u64::from(self.ftl.layout.units_per_program) - units;
        self.ftl.program_done(place.super_block);
        let lane = job.lane;
        self.gc_lanes[lane as usize].programs -= 1;
        self.jobs.free_program(txn.owner, job);
        self.pump_gc(agenda, lane);
    }

    /// A unit of a victim is on flash elsewhere or no longer needed.
    fn unit_settled(&mut self, agenda: &mut Agenda, lane: u32, super_block: u32) {
        let gc = &mut self.gc_lanes[lane as usize];
        let victim = gc.victims.iter_mut().find(|v| v.super_block == super_block);
        victim.expect("a unit in hand belongs to a victim").pending -= 1;
        self.erase_if_done(agenda, lane, super_block);
    }

    pub(super) fn erase_if_done(&mut self, agenda: &mut Agenda, lane: u32, super_block: u32) {
        let end = self.ftl.layout.units_per_block;
        let waits = self.gc_must_wait(lane);
        let gc = &mut self.gc_lanes[lane as usize];
        let done = |v: &Victim| v.super_block == super_block && v.pending == 0 && v.next_offset == end;
        let Some(at) = gc.victims.iter().position(done) else { return };
        if self.readers.get(super_block as usize).is_some_and(|&n| n > 0) || waits {
            // A read of it may have to be repeated, whose end looks here again, or it is not the drive's turn.
            return;
        }
        self.gc_turn.count();
        gc.victims.remove(at);
        gc.rewriting &= !gc.victims.is_empty();
        gc.erasing += 1;
        if self.power.is_some() && self.journal_before_erase(agenda, super_block) {
            return;
        }
        self.submit_erase(agenda, super_block);
    }

    pub(super) fn submit_erase(&mut self, agenda: &mut Agenda, super_block: u32) {
        let (lane, _) = self.ftl.layout.lane_of(super_block);
        let (die, plane) = self.ftl.layout.die_of(lane);
        let mut txn = Txn::new(Kind::Erase, die);
        txn.plane = plane as u8;
        txn.planes = self.ftl.layout.planes as u8;
        txn.block = self.ftl.layout.lane_of(super_block).1;
        txn.owner = super_block;
        txn.cycles = self.ftl.cycles[super_block as usize];
        self.nand.submit(agenda, txn);
    }

    pub(super) fn erase_done(&mut self, agenda: &mut Agenda, txn: &Txn) {
        let (lane, _) = self.ftl.layout.lane_of(txn.owner);
        self.ftl.erased(txn.owner);
        if self.power.is_some() {
            self.block_erased(txn.owner);
        }
        self.gc_lanes[lane as usize].erasing -= 1;
        if let Some(gap) = self.spec.ftl.wear_gap {
            self.level_wear(agenda, lane, txn.owner, gap);
        }
        self.pump_gc(agenda, lane);
        self.lane_changed(lane);
        self.destage(agenda);
    }
}
