//! Audit of the zoned FTL at the end of a run, and its diagnostics.

use super::area::NO_SLOT;
use super::zoned_ftl::ZonedFtl;
use crate::ftl::block_pool::NO_BLOCK;
use crate::numbers::Lpn;

impl ZonedFtl {
    /// Checks zones, cache and super blocks against each other, once no command is outstanding. Returns the units on flash.
    pub(super) fn audit(&self) -> Result<u64, String> {
        self.states.audit()?;
        self.blocks.audit(self.used_blocks())?;
        if let Some(failures) = &self.failures {
            failures.audit(&self.blocks.cycles, self.counters.erases)?;
        }
        if self.resets.live() > 0 {
            return Err(format!("{} resets wait for erases", self.resets.live()));
        }
        let (mut on_flash, mut dirty_units) = (0, 0);
        for (zone, of) in (0..).zip(&self.zones) {
            if of.area.is_some() {
                let (flash, dirty) = self.audit_area(zone)?;
                on_flash += flash;
                dirty_units += dirty;
                continue;
            }
            let written = self.states.of(zone).written;
            if of.admitted != written || of.overtaken > 0 {
                return Err(format!("zone {zone} has {written} units written: {of:?}"));
            }
            let dirty = self.cache.dirty(zone as usize);
            let programs = of.issued + of.ahead.len() as u32;
            let issued = (programs * self.geometry.program).min(written);
            if issued + dirty != written {
                return Err(format!("zone {zone} has {written} units: {issued} in programs, {dirty} dirty"));
            }
            for offset in self.offsets_in_cache(zone) {
                let (slot, lpn) = (self.slot_of(zone, offset), self.geometry.first(zone) + offset);
                if self.cache.lpn(slot) != lpn {
                    return Err(format!("the slot of unit {lpn} holds unit {}", self.cache.lpn(slot)));
                }
            }
            self.audit_blocks(zone)?;
            on_flash += u64::from(written) - self.offsets_in_cache(zone).count() as u64;
            dirty_units += dirty;
        }
        if self.cache.dirty_total() != dirty_units {
            return Err(format!("{} units are dirty, {dirty_units} of zones", self.cache.dirty_total()));
        }
        Ok(on_flash)
    }

    /// Checks a zone with a random write area; returns its units on flash and its dirty ones.
    fn audit_area(&self, zone: u32) -> Result<(u64, u32), String> {
        let (of, state) = (&self.zones[zone as usize], self.states.of(zone));
        let area = of.area.as_ref().expect("the zone has one");
        if of.overtaken > 0 || area.coming() > 0 {
            return Err(format!("zone {zone} waits for data: {of:?}"));
        }
        let held: Vec<_> = (of.issued * self.geometry.program..self.geometry.units)
            .map(|offset| (offset, area.slot(offset)))
            .filter(|&(_, slot)| slot != NO_SLOT)
            .collect();
        let dirty = self.cache.dirty(zone as usize);
        if held.len() != dirty as usize {
            return Err(format!("zone {zone} holds {} units, {dirty} are dirty", held.len()));
        }
        let end = state.written.max(state.extent);
        for (offset, slot) in held {
            let lpn = self.geometry.first(zone) + offset;
            if self.cache.lpn(slot) != lpn || offset >= end {
                return Err(format!("the slot of unit {lpn} holds unit {}", self.cache.lpn(slot)));
            }
        }
        self.audit_blocks(zone)?;
        let on_flash =
            |&offset: &u32| of.has_landed(self.geometry.program_of(offset).0) && !of.is_hole(offset);
        let on_flash = (0..self.geometry.units).filter(on_flash).count();
        Ok((on_flash as u64, dirty))
    }

    /// Checks that a zone has the super blocks of its programs.
    fn audit_blocks(&self, zone: u32) -> Result<(), String> {
        let of = &self.zones[zone as usize];
        let mut needed: Vec<bool> = self.blocks_of_programs(of.issued);
        of.ahead.iter().for_each(|&program| needed[self.geometry.place(program).block] = true);
        match (0..needed.len()).find(|&k| needed[k] != (of.blocks[k] != NO_BLOCK)) {
            Some(k) => {
                Err(format!("zone {zone} has {} programs, super block {k} is {}", of.issued, of.blocks[k]))
            }
            None => Ok(()),
        }
    }

    /// Offsets of a zone's units whose programs have not landed.
    fn offsets_in_cache(&self, zone: u32) -> impl Iterator<Item = u32> {
        let of = &self.zones[zone as usize];
        let first = (of.landed() * self.geometry.program).min(of.admitted);
        (first..of.admitted).filter(move |&offset| !of.has_landed(self.geometry.program_of(offset).0))
    }

    /// Whether each super block of a zone has one of its first `programs` programs.
    fn blocks_of_programs(&self, programs: u32) -> Vec<bool> {
        let width = self.geometry.width;
        (0..self.geometry.blocks() as u32)
            .map(|k| {
                let (row, lane) = (k / width, k % width);
                row * self.layout.programs_per_block * width + lane < programs
            })
            .collect()
    }

    /// Audits a read of every logical unit.
    pub(super) fn read_everything(&mut self) {
        for lpn in Lpn::first(self.geometry.logical_units()) {
            self.look_up(lpn);
        }
    }

    /// Zones that cannot continue, for diagnostics.
    pub(super) fn diagnosis(&self) -> String {
        let short: Vec<u32> =
            (0..self.geometry.zones).filter(|&z| self.zones[z as usize].is_starved).collect();
        match short.first() {
            None => format!("{} resets in progress, repairs: {}", self.resets.live(), self.has_repairs()),
            Some(&zone) => format!(
                "{} zones wait for an erased block, such as {zone}: {:?}",
                short.len(),
                self.zones[zone as usize]
            ),
        }
    }
}
