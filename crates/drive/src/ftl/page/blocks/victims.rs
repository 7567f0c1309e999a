//! Victims of garbage collection among the super blocks of a lane.

use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::gc::victim::BlockHistory;
use crate::numbers::{Lane, SuperBlock};
use interpulse_flash::cell_mode::CellMode;

impl BlockManager {
    /// Picks the next block of `lane` to empty and takes it out of the candidates; `None` if no block has anything to gain.
    ///
    /// A policy that ignores valid units may pick a full block, which is then moved like any other while some block has
    /// something to gain: FIFO would otherwise stop for ever at data that is never overwritten.
    pub fn choose_victim(&mut self, lane: Lane) -> Option<SuperBlock> {
        self.close_cleared(lane);
        self.choose_closed(lane).or_else(|| {
            // Unusable reprogramming candidates hold space that is needed now.
            if self.give_up_candidates(lane) { self.choose_closed(lane) } else { None }
        })
    }

    fn choose_closed(&mut self, lane: Lane) -> Option<SuperBlock> {
        let first = self.layout.first_block(lane);
        let of_lane = first..first + self.layout.blocks;
        let victim = self.config.policy.select(
            self.units.map(),
            BlockHistory { closed: &self.closed, clock: self.clock, cycles: &self.cycles },
            of_lane.clone(),
            self.layout.units_per_block,
            &mut self.rng,
        )?;
        // Moving what fills a super block of the destination gains nothing.
        let full = self.gc_capacity.block;
        if self.map().valid_units(victim) >= full {
            let lane = &self.map().weight[of_lane.start.index()..of_lane.end.index()];
            if lane.iter().all(|&w| w >= full) {
                return None;
            }
        }
        self.units.set_candidate(victim, false);
        self.counters.gc_runs += 1;
        self.counters.direct_gc_runs += u64::from(self.map().valid_units(victim) == 0);
        Some(victim)
    }

    /// Returns a victim just chosen that cannot be emptied now.
    pub fn reject_victim(&mut self, victim: SuperBlock) {
        self.units.set_candidate(victim, true);
        self.counters.gc_runs -= 1;
        self.counters.direct_gc_runs -= u64::from(self.map().valid_units(victim) == 0);
    }

    /// Takes `super_block` as a victim, if it is closed and not being emptied.
    pub fn take_victim(&mut self, super_block: SuperBlock) -> bool {
        let may = self.map().is_candidate(super_block);
        if may {
            self.units.set_candidate(super_block, false);
            self.counters.gc_runs += 1;
        }
        may
    }

    /// Super blocks of `lane` being emptied: written, not open, not candidates.
    pub fn being_collected(&self, lane: Lane) -> impl Iterator<Item = SuperBlock> {
        let (of, full) = (&self.lanes[lane.index()], self.layout.programs_per_block);
        let open =
            move |b: &SuperBlock| of.write_pointers.iter().any(|f| f.block == *b && f.next_program < full);
        let taken = self.layout.blocks_of(lane).filter(|&b| !self.map().is_candidate(b));
        let cached = |b| self.slc.is_some() && self.modes.of(b) == CellMode::Slc;
        taken.filter(move |&b| !cached(b) && self.erase_frees(b) && !of.free.contains(&b) && !open(&b))
    }
}
