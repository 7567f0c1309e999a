//! Loss of power of a zoned drive: write pointers and cached data that survive, and the blocks that cannot be continued.
//!
//! The table of zones (state, super blocks and resets of each, a few bytes) is kept in memory that survives. What a zone
//! holds is found on flash: each page has the zone's number of resets and its address in its spare bytes. A protected cache
//! keeps its content. Without protection the write pointer returns to the last unit that is on flash with all units before
//! it, or that a flush has saved ([`flushes`](super::flushes)).
//!
//! Open zones are Closed afterwards, or Empty without data. A super block whose next program was torn, or holds data behind
//! the write pointer, is replaced by a copy ([`repairs`](super::repairs)).

use super::area::{NO_SLOT, ZoneArea};
use super::durability::describe;
use super::state::ZoneState;
use super::zoned_ftl::{NO_RESET, ZonedFtl};
use crate::audit::loss::Held;
use crate::cache::Cache;
use crate::ftl::block_pool::NO_BLOCK;
use crate::ftl::flash::Flash;
use crate::ftl::outcome::Outcome;
use crate::ftl::page::blocks::program_progress::programs_begun_in;
use crate::ftl::page::power_loss::mount_time::Reads;
use crate::ftl::page::power_loss::outage::{Fates, Recovered};
use crate::ftl::page::write_back::queues::REFILL;
use crate::numbers::{Lpn, Slot, SuperBlock};
use interpulse_engine::{Duration, Slab};
use interpulse_flash::DieId;
use interpulse_flash::cell_mode::CellMode;
use interpulse_flash::die::outage::Torn;
use std::collections::HashMap;

/// Bytes of a zone in the table of zones.
const TABLE_ENTRY: u64 = 16;

/// What recovery found of a zone.
struct FoundZone {
    /// Programs on flash with all earlier ones.
    programs: u32,
    /// Later programs on flash that are kept.
    ahead: Vec<u32>,
    /// Units that survive, from the start of the zone; all of a zone with a random write area.
    end: u32,
    /// Cached units that survive, with their offsets.
    cached: Vec<(u32, Slot)>,
}

impl ZonedFtl {
    /// Notes on flash what a program holds that has just ended.
    #[cold]
    pub(super) fn describe_program(&mut self, zone: u32, generation: u32, program: u32, block: SuperBlock) {
        if let Some(loss) = &mut self.loss {
            describe(&mut loss.oob, &self.layout, &self.geometry, zone, generation, program, block);
        }
    }

    /// Notes on flash that a super block is erased.
    pub(super) fn forget_block(&mut self, block: SuperBlock) {
        if let Some(loss) = &mut self.loss {
            loss.oob.erase(self.layout.first_unit(block), self.layout.units_per_block);
        }
    }

    /// Cuts power; see [`crate::ftl::Ftl::lose_power`]. Panics if durable data is lost.
    pub(super) fn lose_power(
        &mut self,
        flash: &Flash,
        torn: &[(DieId, Torn)],
        protected: bool,
        decode: Duration,
    ) -> (Recovered, Fates) {
        let mut recovered = Recovered::default();
        for (_, operation) in torn.iter().filter(|(_, operation)| operation.block.is_some()) {
            if operation.erase {
                recovered.blocks_erased_again += 1;
            } else {
                recovered.torn_word_lines += 1;
            }
        }
        let begun = programs_begun_in(&self.layout, flash.nand.dies());
        let found: Vec<FoundZone> = (0..self.geometry.zones).map(|zone| self.find_zone(zone)).collect();
        self.mount(flash, &found, &begun, decode, &mut recovered);
        let fates = self.audit_losses(&found, protected, &mut recovered);
        self.blocks.end_operations();
        self.end_repairs();
        self.restore_cache(&found);
        for (zone, found) in (0..).zip(found) {
            self.restore_zone(zone, found, &begun);
        }
        let loss = self.loss.as_mut().expect("power may be lost");
        loss.erase.extend(self.blocks.unerased());
        loss.saves = Slab::default();
        loss.flushes.clear();
        loss.refilling = true;
        self.programs.clear();
        self.free_programs.clear();
        self.resets = Slab::default();
        self.reset_of.fill(NO_RESET);
        self.starved.clear();
        while self.ready.pop().is_some() {}
        self.outcomes.clear();
        (0..self.geometry.zones).for_each(|zone| self.note_ready(zone));
        (recovered, fates)
    }

    /// Finds out what a zone holds, and compares it with what it held.
    fn find_zone(&self, zone: u32) -> FoundZone {
        let (of, loss) = (&self.zones[zone as usize], self.loss.as_ref().expect("power may be lost"));
        let on_flash = |program: u32| {
            let place = self.geometry.place(program);
            let block = of.blocks[place.block];
            let first = self.geometry.first(zone) + program * self.geometry.program;
            block != NO_BLOCK && {
                let spare = loss.oob.read(self.layout.unit(self.geometry.unit_at(block, place, 0)));
                spare.lpn == first && spare.version == of.generation
            }
        };
        let all = self.geometry.programs();
        let programs = (0..all).find(|&program| !on_flash(program)).unwrap_or(all);
        let mut ahead: Vec<u32> = (programs..all).filter(|&program| on_flash(program)).collect();
        for program in 0..all {
            let here = program < programs || ahead.binary_search(&program).is_ok();
            assert_eq!(here, of.has_landed(program), "recovery of program {program} of zone {zone}: {of:?}");
        }
        let has_area = of.area.is_some();
        let mut end = of.admitted;
        if !loss.protected {
            end = self.durable_behind(zone, programs * self.geometry.program);
            ahead.clear();
        }
        let from = (programs * self.geometry.program).min(end);
        let in_cache = |offset: &u32| !of.has_landed(self.geometry.program_of(*offset).0);
        let cached = (from..end).filter(in_cache).map(|offset| (offset, self.slot_of(zone, offset)));
        let cached = cached.filter(|&(_, slot)| !has_area || slot != NO_SLOT).collect();
        FoundZone { programs, ahead, end, cached }
    }

    /// Counts the reads of mounting: the table of zones, the cache that was saved, and the pages of open blocks.
    fn mount(&self, flash: &Flash, found: &[FoundZone], begun: &[u32], decode: Duration, to: &mut Recovered) {
        let mut reads = Reads::new(flash.nand.geometry(), flash.nand.timing());
        let geometry = flash.nand.geometry();
        let page = u64::from(geometry.units_per_page) * geometry.unit_bytes;
        to.kept_units = found.iter().map(|zone| zone.cached.len() as u64).sum();
        to.checkpoint_pages = (TABLE_ENTRY * u64::from(self.geometry.zones)).div_ceil(page);
        to.cache_pages = to.kept_units.div_ceil(u64::from(self.layout.units_per_page()));
        reads.spread(to.checkpoint_pages + to.cache_pages);
        let whole = reads.pages();
        let active = |zone: &u32| self.states.of(*zone).state.is_active();
        for zone in (0..self.geometry.zones).filter(active) {
            for &block in self.zones[zone as usize].blocks.iter().filter(|&&block| block != NO_BLOCK) {
                if begun[block.index()] < self.layout.programs_per_block {
                    reads.scan(&self.layout, block, begun[block.index()], CellMode::Native);
                }
            }
        }
        to.oob_pages = reads.pages() - whole;
        to.mounting = reads.time(decode);
    }

    /// Compares what survives with what was acknowledged.
    fn audit_losses(&mut self, found: &[FoundZone], protected: bool, to: &mut Recovered) -> Fates {
        let slots: HashMap<Lpn, Slot> = (0..)
            .zip(found)
            .flat_map(|(zone, of)| of.cached.iter().map(move |&(offset, slot)| (zone, offset, slot)))
            .map(|(zone, offset, slot)| (self.geometry.first(zone) + offset, slot))
            .collect();
        let (zones, geometry, layout) = (&self.zones, &self.geometry, &self.layout);
        let held = |lpn: Lpn| {
            let at = geometry.split(lpn);
            let (of, found) = (&zones[at.zone as usize], &found[at.zone as usize]);
            let (program, k) = geometry.program_of(at.offset);
            let on_flash = program < found.programs || found.ahead.contains(&program);
            match slots.get(&lpn) {
                Some(&slot) => Held::Slot(slot),
                None if at.offset < found.end && on_flash && !of.is_hole(at.offset) => {
                    let place = geometry.place(program);
                    Held::Unit(layout.unit(geometry.unit_at(of.blocks[place.block], place, k)))
                }
                None => Held::Nothing,
            }
        };
        let (losses, fates) = self.versions.power_lost(held);
        to.losses = losses;
        assert_eq!(losses.flushed, 0, "a cut lost units that a flush had covered");
        assert!(!protected || losses.acknowledged == 0, "a cut lost acknowledged units: {losses:?}");
        fates
    }

    /// Empties the cache but for the units that survive.
    fn restore_cache(&mut self, found: &[FoundZone]) {
        let slots = self.cache.slots();
        let before = std::mem::replace(&mut self.cache, Cache::new(slots, self.geometry.zones));
        let mut pairs = Vec::new();
        for (zone, found) in (0..self.geometry.zones).zip(found) {
            let of = &mut self.zones[zone as usize];
            let mut area = of.area.as_ref().map(|_| ZoneArea::from(found.programs * self.geometry.program));
            for &(offset, slot) in &found.cached {
                let lpn = before.lpn(slot);
                let new = match &mut area {
                    None => self.cache.admit(lpn, zone as usize, crate::cache::NO_FLASH_COPY),
                    Some(_) => self.cache.hold(lpn, zone as usize),
                };
                let new = new.expect("the restored units fit the cache");
                if let Some(area) = &mut area {
                    area.restore(offset, new);
                }
                pairs.push((slot, new));
            }
            if let Some(area) = area {
                of.area = Some(Box::new(area));
            }
        }
        self.versions.slots_moved(&pairs);
    }

    /// Continues a zone from what was found.
    fn restore_zone(&mut self, zone: u32, found: FoundZone, begun: &[u32]) {
        let program_units = self.geometry.program;
        let FoundZone { programs, mut ahead, end, cached } = found;
        let of = &mut self.zones[zone as usize];
        let holds = |program: u32| program < programs || ahead.contains(&program);
        let geometry = &self.geometry;
        of.holes.retain(|&offset| holds(geometry.program_of(offset).0));
        let has_area = of.area.is_some();
        (of.overtaken, of.is_ready, of.is_starved) = (0, false, false);
        // The host finds the zone full. What was not filled stays erased.
        (of.is_filling, of.finishing) = (false, None);
        of.in_flight.clear();
        if !has_area {
            of.admitted = end;
        }
        self.states.lose_power(zone, (!has_area).then_some(end));
        let state = self.states.of(zone).state;
        of.is_finished |= state == ZoneState::Full && end < self.geometry.units;
        // A full zone may have programs left that only hold gaps of its random write area.
        let has_gaps = has_area && programs * program_units < self.states.of(zone).written;
        let continues = state.is_active() || !cached.is_empty() || has_gaps;
        let mut kept = vec![0; of.blocks.len()];
        let loss = self.loss.as_mut().expect("power may be lost");
        for program in 0..self.geometry.programs() {
            let place = self.geometry.place(program);
            let block = of.blocks[place.block];
            if holds(program) {
                kept[place.block] += 1;
            } else if block != NO_BLOCK {
                // From now on the table of zones says that nothing behind the write pointer counts.
                let first = self.layout.unit(self.geometry.unit_at(block, place, 0));
                loss.oob.erase(first, program_units);
            }
        }
        of.issued = programs;
        ahead.reverse();
        of.ahead = ahead;
        let landed = programs * program_units;
        loss.saved[zone as usize] =
            if !loss.protected && end > landed { vec![(landed, end)] } else { Vec::new() };
        let generation = of.generation;
        for (k, &keep) in kept.iter().enumerate() {
            let block = self.zones[zone as usize].blocks[k];
            if block == NO_BLOCK {
                continue;
            }
            if keep == 0 {
                self.zones[zone as usize].blocks[k] = NO_BLOCK;
                self.blocks.abandon(block);
            } else if begun[block.index()] > keep && continues {
                self.add_repair(zone, generation, k, keep);
            }
        }
    }

    /// Erases the blocks that need it and begins the repairs; [`Outcome::Flushed`] of [`REFILL`] reports their end.
    pub(super) fn refill(&mut self, flash: &mut Flash) {
        let erase = std::mem::take(&mut self.loss.as_mut().expect("power may be lost").erase);
        for block in erase {
            self.submit_erase(flash, block);
        }
        self.begin_repairs(flash);
    }

    /// Whether the drive recovers or flushes wait.
    pub(super) fn waits_for_durability(&self) -> bool {
        self.loss.as_ref().is_some_and(|loss| loss.refilling || !loss.flushes.is_empty())
    }

    /// Reports the end of the recovery, if that is now.
    pub(super) fn settle_refill(&mut self) {
        let repairs = self.has_repairs();
        if let Some(loss) = &mut self.loss
            && loss.refilling
            && !repairs
        {
            loss.refilling = false;
            self.outcomes.push_back(Outcome::Flushed(REFILL));
        }
    }
}
