//! Parked state of a zoned drive: zones that are neither empty nor full, and their numbers in the supplement of a snapshot.
//!
//! Open zones are closed. Written units that do not fill a program are in the write cache of the next drive.

use super::tables::{PartialZone, ZoneTables};
use super::zoned_ftl::ZonedFtl;
use crate::cache::NO_FLASH_COPY;
use crate::ftl::Supplement;
use crate::ftl::block_pool::NO_BLOCK;
use crate::numbers::SuperBlock;

impl ZonedFtl {
    /// Zones and super blocks as the start of another run.
    ///
    /// # Errors
    /// While programs or erases have to end.
    pub(crate) fn parked(&self) -> Result<ZoneTables, String> {
        let in_flight = |zone: &super::zoned_ftl::ZoneData| !zone.in_flight.is_empty();
        if self.zones.iter().any(in_flight) || self.resets.live() > 0 || self.has_repairs() {
            return Err("programs were interrupted: let the drive rest first".into());
        }
        let mut tables = ZoneTables::new(self.layout.clone(), self.geometry.clone());
        tables.cycles.clone_from(&self.blocks.cycles);
        tables.free.clone_from(&self.blocks.free);
        for (zone, of) in (0..).zip(&self.zones) {
            let state = self.states.of(zone);
            tables.written[zone as usize] = state.written;
            tables.blocks[zone as usize].clone_from(&of.blocks);
            let is_finished = of.is_finished;
            let full = state.written == self.geometry.units && of.issued == self.geometry.programs();
            let empty =
                of.blocks.iter().all(|&block| block == NO_BLOCK) && state.written == 0 && !is_finished;
            if !full && !empty {
                tables.partial.push(PartialZone { zone, issued: of.issued, is_finished });
            }
        }
        Ok(tables)
    }

    /// Puts the units of `zones` that are in no program into the cache.
    pub(super) fn hold_units_of(&mut self, zones: &[PartialZone]) {
        for &PartialZone { zone, issued, .. } in zones {
            let first = self.geometry.first(zone);
            for offset in issued * self.geometry.program..self.states.of(zone).written {
                let slot = self.cache.admit(first + offset, zone as usize, NO_FLASH_COPY);
                let slot = slot.expect("the state has been checked against the cache");
                if self.versions.follows(first + offset) {
                    self.versions.written(first + offset, slot);
                }
            }
            self.note_ready(zone);
        }
    }
}

impl ZoneTables {
    /// The tables of a snapshot: zones that it does not hold are empty, and their super blocks free.
    pub(super) fn without_partial_zones(&self) -> ZoneTables {
        let mut tables = self.clone();
        for PartialZone { zone, .. } in tables.partial.drain(..) {
            tables.written[zone as usize] = 0;
            for block in tables.blocks[zone as usize].iter_mut().filter(|block| **block != NO_BLOCK) {
                let lane = tables.layout.lane_of(*block).0;
                tables.free[lane.index()].push_back(std::mem::replace(block, NO_BLOCK));
            }
        }
        tables
    }

    /// Units of zones that are in no program.
    pub(crate) fn held_units(&self) -> u64 {
        let held = |of: &PartialZone| {
            self.written[of.zone as usize].saturating_sub(of.issued * self.geometry.program)
        };
        self.partial.iter().map(|of| u64::from(held(of))).sum()
    }

    /// Zones that take more writes: those that are closed in the next run.
    pub(crate) fn closed_zones(&self) -> u32 {
        self.partial.iter().filter(|of| !of.is_finished && self.written[of.zone as usize] > 0).count() as u32
    }

    /// Numbers of the zones that a snapshot does not hold.
    pub(super) fn partial_numbers(&self) -> Vec<u32> {
        let mut numbers = vec![self.partial.len() as u32];
        for &PartialZone { zone, issued, is_finished } in &self.partial {
            numbers.extend([zone, self.written[zone as usize], issued, u32::from(is_finished)]);
            numbers.extend(self.blocks[zone as usize].iter().map(|block| block.0));
        }
        numbers
    }

    /// Restores the zones of [`ZoneTables::partial_numbers`].
    pub(super) fn restore_partial(&mut self, from: &mut Supplement) -> Result<(), String> {
        let geometry = self.geometry.clone();
        let count = from.at_most(geometry.zones, "the number of partly written zones")?;
        for _ in 0..count {
            let zone = from.at_most(geometry.zones - 1, "a partly written zone")?;
            let wrong = |what: &str| Err(format!("zone {zone} {what}"));
            let empty = self.written[zone as usize] == 0 && self.partial.iter().all(|of| of.zone != zone);
            if !empty {
                return wrong("is full, or partly written twice");
            }
            let written = from.at_most(geometry.units, "units of a zone")?;
            let issued = from.at_most(geometry.programs(), "programs of a zone")?;
            let is_finished = from.at_most(1, "whether a zone is finished")? == 1;
            let on_flash = issued * geometry.program;
            let padded = on_flash > written.next_multiple_of(geometry.program);
            if padded && !is_finished {
                return wrong("has programs without data");
            }
            for k in 0..geometry.blocks() {
                let block = SuperBlock(from.next("a super block of a zone")?);
                if block == NO_BLOCK {
                    continue;
                }
                let lane = geometry.lane(zone, k as u32 % geometry.width);
                let free = &mut self.free[lane.index()];
                let Some(at) = free.iter().position(|&other| other == block) else {
                    return wrong(&format!("has super block {block}, which is not free on lane {lane}"));
                };
                free.remove(at);
                self.blocks[zone as usize][k] = block;
            }
            let has_block =
                |program: u32| self.blocks[zone as usize][geometry.place(program).block] != NO_BLOCK;
            if !(0..issued).all(has_block) {
                return wrong("has a program without a super block");
            }
            self.written[zone as usize] = written;
            self.partial.push(PartialZone { zone, issued, is_finished });
        }
        Ok(())
    }
}
