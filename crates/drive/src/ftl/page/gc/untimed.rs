//! Untimed garbage collection of a lane, one victim ahead as in simulated time (record 13).
//!
//! Units that do not fill a program wait for the next victim's units, so a working drive always holds one unerased victim
//! per lane. A preconditioned state without that victim would make each lane relocate one extra block in its first
//! collection: at a write amplification of ten, ten times the host data of that period.

use crate::ftl::layout::UnitAt;
use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::blocks::write_streams::Stream;
use crate::ftl::page::precondition::positions::Positions;
use crate::numbers::{Lane, Ppu, SuperBlock};

/// Victims and units that the collection of a lane holds.
#[derive(Default)]
pub(crate) struct UntimedCollector {
    victims: Vec<SuperBlock>,
    units: Vec<Ppu>,
}

impl UntimedCollector {
    /// Collects until the lane has enough free blocks, with the last victim still held when the next one is chosen.
    pub(crate) fn collect(&mut self, ftl: &mut BlockManager, lane: Lane, positions: &mut impl Positions) {
        if !ftl.wants_gc(lane) {
            return;
        }
        positions.expect(ftl.fetch_for_collection(lane, &self.victims));
        self.victims.iter().for_each(|&victim| positions.settle(ftl, victim));
        self.units.retain(|&ppu| {
            let at = ftl.layout.split(ppu);
            ftl.map().is_valid(at.super_block, at.offset)
        });
        while ftl.wants_gc(lane) {
            let Some(victim) = ftl.choose_victim(lane) else {
                self.program(ftl, lane, 1, positions);
                break;
            };
            positions.settle(ftl, victim);
            self.units.reserve(ftl.map().valid_units(victim) as usize);
            ftl.units.each_valid(&ftl.layout, victim, |ppu| self.units.push(ppu));
            self.program(ftl, lane, ftl.layout.units_per_program as usize, positions);
            // The programs of this victim are in flight when the next one is chosen.
            self.erase_empty_victims(ftl);
            self.victims.push(victim);
        }
        self.erase_empty_victims(ftl);
    }

    fn program(&mut self, ftl: &mut BlockManager, lane: Lane, least: usize, positions: &mut impl Positions) {
        let full = ftl.layout.units_per_program;
        let mut done = 0;
        while self.units.len() - done >= least {
            if !ftl.has_room(lane, Stream::GC) {
                self.erase_empty_victims(ftl);
            }
            let place = ftl.take_address(lane, Stream::GC);
            let place = place.expect("the thresholds leave garbage collection a block to work with");
            let moved = full.min((self.units.len() - done) as u32);
            let to = UnitAt { super_block: place.super_block, offset: place.first_offset };
            positions.settle(ftl, place.super_block);
            positions.relocate(ftl, &self.units[done..], moved as usize, to);
            done += moved as usize;
            ftl.counters.gc_units += u64::from(moved);
            ftl.counters.padding_units += u64::from(full - moved);
            ftl.program_done(place.super_block);
        }
        self.units.drain(..done);
    }

    fn erase_empty_victims(&mut self, ftl: &mut BlockManager) {
        self.victims.retain(|&victim| {
            let empty = ftl.map().valid_units(victim) == 0;
            if empty {
                ftl.erased(victim);
            }
            !empty
        });
    }
}
