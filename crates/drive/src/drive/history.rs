//! History of a drive: what it did in earlier sessions, and the ages and reads of its blocks, beside its state.

use super::Drive;
use super::state::CHECKED;
use crate::ftl::PreconditionedState;
use crate::ftl::layout::Layout;
use crate::numbers::SuperBlock;
use interpulse_engine::{Duration, SimTime};
use interpulse_flash::geometry::BlockAddress;

/// Past of the data of a super block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockPast {
    /// Time since the first program of its data.
    pub age: Duration,
    /// Page reads since its erase, of the plane with the most.
    pub reads: u32,
}

/// What a drive has done since it was new, without preconditioning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// Sessions and runs.
    pub sessions: u32,
    /// Simulated time of all of them, in ns.
    pub time_ns: u64,
    /// Units that hosts wrote.
    pub host_units: u64,
    /// Units programmed.
    pub programmed_units: u64,
    /// Erases.
    pub erases: u64,
    /// Past of each super block; empty for a drive without an error table, which follows no ages.
    pub blocks: Vec<BlockPast>,
}

/// What the state of a page-mapped drive looks like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StateFigures {
    /// Units that the host can address.
    pub logical_units: u64,
    /// Units with data.
    pub mapped_units: u64,
    /// Super blocks.
    pub blocks: u64,
    /// Erased super blocks.
    pub free_blocks: u64,
    /// Super blocks that are partly programmed.
    pub open_blocks: u64,
    /// Super blocks by P/E cycles: the least and the most worn one, and the mean.
    pub cycles: (u32, u32, f64),
}

impl Drive {
    /// Gives the blocks their past before the start; without an error table nothing follows from it.
    pub fn set_history(&mut self, history: &History) {
        let layout = self.spec.layout().expect(CHECKED);
        let Some(reliability) = self.nand.reliability_mut() else { return };
        for (block, past) in SuperBlock::first(layout.super_blocks()).zip(&history.blocks) {
            for at in planes_of(&layout, block) {
                reliability.set_past(at, past.age, past.reads);
            }
        }
    }

    /// History at `now` of a drive that started with history `before`.
    pub fn history_after(&self, before: &History, now: SimTime) -> History {
        let counters = self.ftl_counters();
        History {
            sessions: before.sessions.saturating_add(1),
            time_ns: before.time_ns.saturating_add(now.as_ns()),
            host_units: before.host_units.saturating_add(counters.host_units),
            programmed_units: before.programmed_units.saturating_add(counters.programmed()),
            erases: before.erases.saturating_add(counters.erases),
            blocks: self.pasts(now),
        }
    }

    fn pasts(&self, now: SimTime) -> Vec<BlockPast> {
        let layout = self.spec.layout().expect(CHECKED);
        let Some(reliability) = self.nand.reliability() else { return Vec::new() };
        let past = |block| {
            let reads = planes_of(&layout, block).map(|at| reliability.block(at).reads).max();
            let age = planes_of(&layout, block).map(|at| reliability.age(at, now)).max();
            BlockPast { age: age.unwrap_or_default(), reads: reads.unwrap_or(0) }
        };
        SuperBlock::first(layout.super_blocks()).map(past).collect()
    }
}

/// Blocks of a super block.
fn planes_of(layout: &Layout, super_block: SuperBlock) -> impl Iterator<Item = BlockAddress> + use<> {
    let (lane, block) = layout.lane_of(super_block);
    let (die, plane) = layout.die_of(lane);
    (plane..plane + layout.planes).map(move |plane| BlockAddress { die, plane, block })
}

impl PreconditionedState {
    /// Figures of a page-mapped state; panics for another.
    pub fn figures(&self) -> StateFigures {
        let blocks = self.block_manager();
        let programs = blocks.layout.programs_per_block;
        let done = blocks.programs_done();
        let wear = blocks.wear();
        let count = u64::from(blocks.layout.super_blocks());
        let each = || SuperBlock::first(blocks.layout.super_blocks());
        StateFigures {
            logical_units: u64::from(blocks.config().logical_units),
            mapped_units: each().map(|block| u64::from(blocks.map().valid_units(block))).sum(),
            blocks: count,
            free_blocks: done.iter().filter(|&&done| done == 0).count() as u64,
            open_blocks: done.iter().filter(|&&done| done > 0 && done < programs).count() as u64,
            cycles: (wear.fewest, wear.most, wear.sum as f64 / count.max(1) as f64),
        }
    }
}
