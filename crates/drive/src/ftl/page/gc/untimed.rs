//! Untimed garbage collection of a lane, one victim ahead as in simulated time (record 13).
//!
//! What does not fill a program waits in controller memory for units of the next victim, so a victim is erased only after the
//! next one has been read, and a drive at work has one victim in hand on each lane. A state without it would make every lane
//! move one block's data more than it has to in its first collection: with a write amplification of ten, that is ten times
//! what the host writes meanwhile.

use crate::ftl::page::blocks::layout::UnitAt;
use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::blocks::write_streams::Stream;
use crate::ftl::page::precondition::positions::Positions;
use crate::numbers::{Lane, Ppu, SuperBlock};

/// What collection of a lane has in hand.
#[derive(Default)]
pub(crate) struct Hand {
    /// Victims that are not erased.
    victims: Vec<SuperBlock>,
    /// Units of them that have not been moved.
    units: Vec<Ppu>,
}

impl Hand {
    /// Collects until the lane has enough, always with the last victim of before and the next one in hand.
    pub(crate) fn collect(&mut self, ftl: &mut BlockManager, lane: Lane, positions: &mut impl Positions) {
        if !ftl.wants_gc(lane) {
            return;
        }
        positions.expect(ftl.fetch_for_collection(lane, &self.victims));
        self.victims.iter().for_each(|&victim| positions.settle(ftl, victim));
        // What has been overwritten since need not move.
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
            // The programs of this one are under way when the next one is chosen.
            self.erase_what_is_empty(ftl);
            self.victims.push(victim);
        }
        self.erase_what_is_empty(ftl);
    }

    /// Moves units while there are at least `least`.
    fn program(&mut self, ftl: &mut BlockManager, lane: Lane, least: usize, positions: &mut impl Positions) {
        let full = ftl.layout.units_per_program;
        let mut done = 0;
        while self.units.len() - done >= least {
            if !ftl.has_room(lane, Stream::GC) {
                self.erase_what_is_empty(ftl);
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

    fn erase_what_is_empty(&mut self, ftl: &mut BlockManager) {
        self.victims.retain(|&victim| {
            let empty = ftl.map().valid_units(victim) == 0;
            if empty {
                ftl.erased(victim);
            }
            !empty
        });
    }
}
