//! Writes of a zoned drive: state check, admission to the cache, programs.

use super::area::NO_SLOT;
use super::geometry::ZoneOffset;
use super::zoned_ftl::{LANDED, ZoneData, ZoneProgram, ZonedFtl};
use crate::cache::NO_FLASH_COPY;
use crate::ftl::block_pool::NO_BLOCK;
use crate::ftl::flash::Flash;
use crate::ftl::outcome::{Admitted, Outcome};
use crate::ftl::transactions::program_of;
use crate::numbers::{JobId, Lpn};
use crate::owner::Owner;
use interpulse_engine::{RequestId, Status};
use interpulse_flash::nand::txn::{Kind, Txn};

impl ZonedFtl {
    /// Takes a write of `units` from `lpn`; its data follows through [`ZonedFtl::admit`], in the order of the writes.
    pub(super) fn accept_write(&mut self, lpn: Lpn, units: u32, whole_units: bool) -> Result<(), Status> {
        if !whole_units {
            // The logical block of a zoned drive is the mapping unit.
            return Err(Status::ZoneInvalidWrite);
        }
        if self.chunks {
            return self.accept_chunk_write(lpn.until(lpn + units));
        }
        let ZoneOffset { zone, offset } = self.geometry.split(lpn);
        self.states.write(zone, offset, units)?;
        self.zone_counters.writes += 1;
        if let Some(area) = &mut self.zones[zone as usize].area {
            area.expect(offset, units);
            self.zone_counters.area_writes += 1;
        }
        Ok(())
    }

    /// Takes an append of `units` to the zone that begins at `lpn`; returns the place of its data.
    pub(super) fn accept_append(&mut self, lpn: Lpn, units: u32, whole_units: bool) -> Result<Lpn, Status> {
        let ZoneOffset { zone, offset } = self.geometry.split(lpn);
        if self.chunks {
            return Err(Status::InvalidOpcode);
        }
        if offset != 0 || !whole_units {
            return Err(Status::InvalidField);
        }
        let offset = self.states.append(zone, units)?;
        self.zone_counters.appends += 1;
        Ok(lpn + offset)
    }

    /// Puts a unit of an accepted write into the cache.
    #[inline]
    pub(super) fn admit(&mut self, tag: RequestId, lpn: Lpn) -> Admitted {
        let ZoneOffset { zone, offset } = self.geometry.split(lpn);
        let of = &mut self.zones[zone as usize];
        if of.overtaken > 0 {
            of.overtaken -= 1;
            self.zone_counters.discarded_units += 1;
            return Admitted::Absorbed;
        }
        if of.area.is_some() {
            return self.admit_to_area(tag, zone, offset, lpn);
        }
        debug_assert_eq!(offset, of.admitted, "data arrives in the order of the writes");
        let Some(slot) = self.cache.admit(lpn, zone as usize, NO_FLASH_COPY) else { return Admitted::Full };
        if self.versions.follows(lpn) {
            self.versions.written(lpn, slot);
            if self.loss.is_some() {
                self.versions.belongs(tag, lpn);
            }
        }
        of.admitted += 1;
        if self.writes_through && offset.is_multiple_of(self.geometry.program) {
            of.writers.push_back(tag);
        }
        self.note_ready(zone);
        Admitted::Slot(slot)
    }

    /// Puts a unit of a write to a zone with a random write area into the cache, or over its older data there.
    fn admit_to_area(&mut self, tag: RequestId, zone: u32, offset: u32, lpn: Lpn) -> Admitted {
        let of = &mut self.zones[zone as usize];
        let unit = of.area.as_mut().expect("the zone has one").unit_mut(offset);
        let overwrites = unit.slot != NO_SLOT;
        if !overwrites {
            let Some(slot) = self.cache.hold(lpn, zone as usize) else { return Admitted::Full };
            unit.slot = slot;
        }
        unit.coming -= 1;
        let slot = unit.slot;
        if self.versions.follows(lpn) {
            self.versions.written(lpn, slot);
            if self.loss.is_some() {
                self.versions.belongs(tag, lpn);
            }
        }
        self.note_ready(zone);
        self.zone_counters.area_overwritten_units += u64::from(overwrites);
        if overwrites { Admitted::Absorbed } else { Admitted::Slot(slot) }
    }

    /// Adds a zone to the ready ones if it has data for a program.
    #[inline]
    pub(super) fn note_ready(&mut self, zone: u32) {
        if self.has_program(zone) && !self.zones[zone as usize].is_ready {
            self.zones[zone as usize].is_ready = true;
            self.ready.push(zone);
        }
    }

    /// Whether a zone has data for a program: a whole one, or the last one of a finished zone.
    #[inline]
    fn has_program(&self, zone: u32) -> bool {
        let dirty = self.cache.dirty(zone as usize);
        let of = &self.zones[zone as usize];
        if let Some(area) = &of.area {
            let (written, first) = (self.states.of(zone).written, of.issued * self.geometry.program);
            let passed = first + self.geometry.program <= written || (of.is_finished && first < written);
            return (passed || self.has_to_fill(of)) && area.has_arrived(self.geometry.program);
        }
        let ends = of.is_finished && of.admitted == self.states.of(zone).written;
        dirty >= self.geometry.program || (ends && (dirty > 0 || self.has_to_fill(of)))
    }

    /// Whether a finished zone has programs left that padding fills.
    #[inline]
    fn has_to_fill(&self, of: &ZoneData) -> bool {
        of.is_filling && of.issued < self.geometry.programs()
    }

    /// Starts the programs that can start.
    pub(super) fn destage(&mut self, flash: &mut Flash) {
        while let Some(zone) = self.ready.pop() {
            self.zones[zone as usize].is_ready = false;
            while self.has_program(zone) && self.program(flash, zone) {}
        }
    }

    /// Submits the next program of a zone; false if it has to wait for an earlier program or an erased block.
    fn program(&mut self, flash: &mut Flash, zone: u32) -> bool {
        let depth = self.geometry.width * self.programs_per_lane;
        let of = &mut self.zones[zone as usize];
        let program = of.issued;
        if of.repairs > 0 {
            return false;
        }
        if program >= depth && !of.has_landed(program - depth) {
            return false;
        }
        let place = self.geometry.place(program);
        let lane = self.geometry.lane(zone, place.lane);
        let mut block = of.blocks[place.block];
        if block == NO_BLOCK {
            let erased = if self.lane_is_for_repairs(lane) { None } else { self.blocks.take(lane) };
            let of = &mut self.zones[zone as usize];
            let Some(erased) = erased else {
                self.zone_counters.erase_waits += u64::from(!of.is_starved);
                if !std::mem::replace(&mut of.is_starved, true) {
                    self.starved.push(zone);
                }
                return false;
            };
            (block, of.blocks[place.block]) = (erased, erased);
            if self.failures.is_some() {
                self.block_taken(zone, erased);
            }
        }
        let of = &mut self.zones[zone as usize];
        let id = self.free_programs.pop().unwrap_or_else(|| {
            self.programs.push(ZoneProgram::default());
            JobId(self.programs.len() as u32 - 1)
        });
        let job = &mut self.programs[id.index()];
        (job.zone, job.generation, job.program, job.block) = (zone, of.generation, program, block);
        job.writer = of.writers.pop_front().unwrap_or_default();
        job.fills = of.is_filling && program * self.geometry.program >= self.states.of(zone).written;
        match &mut of.area {
            None => {
                while job.slots.len() < self.geometry.program as usize {
                    let Some((slot, _)) = self.cache.take_dirty(zone as usize) else { break };
                    job.slots.push(slot);
                }
                self.cache.free_dead(zone as usize);
            }
            Some(area) => {
                let first = program * self.geometry.program;
                for offset in first..first + self.geometry.program {
                    let slot = area.take();
                    if slot == NO_SLOT {
                        let place = of.holes.partition_point(|&hole| hole < offset);
                        of.holes.insert(place, offset);
                    } else {
                        self.cache.take_held(slot);
                    }
                    job.slots.push(slot);
                }
            }
        }
        of.in_flight.push_back(id);
        of.issued += 1;
        while of.ahead.last() == Some(&of.issued) {
            of.ahead.pop();
            of.in_flight.push_back(LANDED);
            of.issued += 1;
            if let Some(area) = &mut of.area {
                (0..self.geometry.program).for_each(|_| {
                    area.take();
                });
            }
        }
        let cycles = self.blocks.cycles[block.index()];
        let owner = Owner::Program(id);
        let txn = program_of(&self.layout, Kind::HostProgram, block, place.program, cycles, owner);
        self.blocks.begin(block);
        flash.submit(txn);
        true
    }

    /// Completes a program.
    pub(super) fn program_done(&mut self, flash: &mut Flash, txn: &Txn) {
        let id = match Owner::of(txn) {
            Owner::Program(id) => id,
            Owner::Metadata(group) => return self.save_done(group),
            Owner::Repair(id) => return self.repair_program_done(flash, id),
            owner => unreachable!("a program of {owner:?}"),
        };
        let mut job = std::mem::take(&mut self.programs[id.index()]);
        let of = &mut self.zones[job.zone as usize];
        let is_current = of.generation == job.generation;
        let place = self.geometry.place(job.program);
        let mut units = 0;
        for (k, &slot) in (0..).zip(&job.slots) {
            if slot == NO_SLOT {
                continue;
            }
            units += 1;
            let lpn = self.cache.lpn(slot);
            if is_current && self.versions.follows(lpn) {
                let to = self.layout.unit(self.geometry.unit_at(job.block, place, k));
                self.versions.programmed(lpn, slot, to);
            }
            self.cache.programmed(slot);
        }
        self.counters.host_units += units;
        self.counters.padding_units += u64::from(self.geometry.program) - units;
        if job.fills {
            self.zone_counters.filling_programs += 1;
        } else {
            self.zone_counters.unwritten_units += job.slots.len() as u64 - units;
        }
        self.counters.consumed_host_pages += u64::from(self.layout.pages_per_program * self.layout.planes);
        if is_current {
            if self.loss.is_some() {
                self.describe_program(job.zone, job.generation, job.program, job.block);
            }
            let of = &mut self.zones[job.zone as usize];
            let k = (job.program - of.landed()) as usize;
            of.in_flight[k] = LANDED;
            while of.in_flight.front() == Some(&LANDED) {
                of.in_flight.pop_front();
            }
            if of.finishing.is_some() && of.landed() == self.geometry.programs() {
                self.outcomes.extend(of.finishing.take().map(Outcome::ZoneFinished));
            }
            self.note_ready(job.zone);
        }
        if self.blocks.end(job.block) {
            self.submit_erase(flash, job.block);
        }
        if self.writes_through {
            self.outcomes.extend(std::iter::repeat_n(Outcome::Landed(job.writer), units as usize));
        }
        job.slots.clear();
        self.programs[id.index()] = job;
        self.free_programs.push(id);
    }
}
