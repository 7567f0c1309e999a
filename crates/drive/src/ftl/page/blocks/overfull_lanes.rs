//! Lanes that hold more than their share of valid data: dynamic allocation gives them no host data.

use crate::ftl::page::blocks::lane_balance::ImbalanceBound;
use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::blocks::write_streams::{Stream, WritePointer};
use crate::ftl::page::mapping::table::Map;
use crate::numbers::Lane;
use interpulse_engine::vectorised;

/// Blocks per 32-bit partial sum.
const SUMMED: usize = 1 << 11;
const _: () = assert!(Map::MAX_UNITS_PER_BLOCK as usize * SUMMED <= 1 << 31);

vectorised! {
    /// Valid units of these blocks, by their weights.
    fn valid_units_of(weights: &[u32]) -> u64 => add_up
}

#[inline(always)]
fn add_up(weights: &[u32]) -> u64 {
    let sum = |blocks: &[u32]| u64::from(blocks.iter().map(|&w| w & !Map::NOT_A_CANDIDATE).sum::<u32>());
    weights.chunks(SUMMED).map(sum).sum()
}

/// Host programs per lane between counts of valid units per lane.
const COUNT_AFTER: u32 = 32;

impl BlockManager {
    /// Whether dynamic allocation should give host data to a lane. Garbage collection keeps data in its lane, so lanes
    /// drift apart; without this check a small lane can fill up with valid data.
    #[inline]
    pub fn accepts_writes(&self, lane: Lane) -> bool {
        !self.overfull[lane.index()]
    }

    /// Finds the lanes that hold more valid data than the mean by over 1/64 of a lane's spare space, or by more than chance
    /// explains if that is more.
    pub(crate) fn count_lanes(&mut self) {
        self.programs_since_count = 0;
        let (valid, most) = self.lane_weights();
        self.overfull = valid.iter().map(|&v| v > most).collect();
        if let Some(level) = &mut self.level {
            level.update(&valid, most, self.layout.units_per_program);
        }
    }

    /// Notes a host program of `units` units assigned on `lane`.
    #[inline(always)]
    pub(super) fn host_program_assigned(&mut self, lane: Lane, units: u32) {
        self.programs_since_count += 1;
        if self.programs_since_count == COUNT_AFTER * self.layout.lanes {
            self.recount_lanes();
        }
        if let Some(level) = &mut self.level {
            level.give(lane, units);
        }
    }

    /// Recounts lanes if the result may have changed.
    fn recount_lanes(&mut self) {
        if !self.is_known_balanced() {
            self.count_lanes();
            return;
        }
        self.programs_since_count = 0;
        debug_assert!(
            {
                let (valid, most) = self.lane_weights();
                valid.iter().all(|&v| v <= most)
            },
            "a lane is overfull"
        );
    }

    /// States whether every write from now on replaces a valid unit, so that the total stays constant.
    pub(crate) fn keep_total(&mut self, keep: bool) {
        self.level = keep.then(ImbalanceBound::default);
    }

    /// Whether counting lanes would certainly find none overfull.
    #[inline]
    pub(crate) fn is_known_balanced(&self) -> bool {
        self.level.as_ref().is_some_and(ImbalanceBound::is_known)
    }

    /// Valid units of each lane, and the most that a lane may hold without being overfull.
    fn lane_weights(&self) -> (Vec<u64>, u64) {
        let blocks = self.layout.blocks as usize;
        let mut valid: Vec<u64> = self.map().weight.chunks(blocks).map(valid_units_of).collect();
        let live = u64::from(self.layout.lanes - self.dead_lanes).max(1);
        valid.iter_mut().zip(&self.dead).filter(|of| *of.1).for_each(|of| *of.0 = 0);
        let mean = valid.iter().sum::<u64>() / live;
        let room = u64::from(self.layout.blocks) * u64::from(self.layout.units_per_block);
        let spare = room.saturating_sub(u64::from(self.config.mapped_units()) / live);
        // On a small drive chance alone spreads lanes further (a lane's valid count is about Poisson): calling half of them
        // overfull would leave their dies idle.
        let chance = (3 * mean.isqrt()).min(spare / 8);
        let most = match self.lanes_differ {
            false => mean + (spare / 64).max(chance).max(u64::from(self.layout.units_per_program)),
            // The host decides which lanes hold more; half of the spare space is left to garbage collection.
            true => u64::from(self.config.mapped_units()) / live + spare / 2,
        };
        (valid, most)
    }

    /// Whether no lane is or becomes overfull while lanes are written in turn, `chunk` units at a time: a lane exceeds the
    /// mean by at most `chunk`, and the overfull margin grows with the total.
    pub(crate) fn stay_balanced(&self, chunk: u32) -> bool {
        let (valid, most) = self.lane_weights();
        let ahead = valid.iter().all(|&v| v + u64::from(chunk) <= most);
        ahead && chunk <= self.layout.units_per_program && self.overfull.iter().all(|overfull| !overfull)
    }

    /// Sets the host write pointer of `lane` after `programs` programs that [kept lanes
    /// balanced](BlockManager::stay_balanced).
    pub(crate) fn programs_assigned(&mut self, lane: Lane, pointer: WritePointer, programs: u32) {
        self.lanes[lane.index()].write_pointers[Stream::HOST.index()] = pointer;
        self.counters.consumed_host_pages +=
            u64::from(programs) * u64::from(self.layout.pages_per_program * self.layout.planes);
        self.programs_since_count =
            (self.programs_since_count + programs) % (COUNT_AFTER * self.layout.lanes);
    }
}
