//! History of a drive: what it did in earlier sessions, and the ages and reads of its blocks, beside its state.

use super::Drive;
use super::state::CHECKED;
use crate::ftl::layout::Layout;
use crate::ftl::{FtlState, InitialBlocks, PreconditionedState};
use crate::numbers::SuperBlock;
use crate::spec::DriveSpec;
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

/// What the state of a drive looks like.
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
        let layouts = layouts(&self.spec);
        let Some(reliability) = self.nand.reliability_mut() else { return };
        for ((layout, block), past) in super_blocks(&layouts).zip(&history.blocks) {
            for at in planes_of(layout, block) {
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
        let layouts = layouts(&self.spec);
        let Some(reliability) = self.nand.reliability() else { return Vec::new() };
        let past = |(layout, block)| {
            let reads = planes_of(layout, block).map(|at| reliability.block(at).reads).max();
            let age = planes_of(layout, block).map(|at| reliability.age(at, now)).max();
            BlockPast { age: age.unwrap_or_default(), reads: reads.unwrap_or(0) }
        };
        super_blocks(&layouts).map(past).collect()
    }
}

/// Layouts of the FTLs of a drive.
fn layouts(spec: &DriveSpec) -> Vec<Layout> {
    if !spec.is_divided() {
        return vec![spec.layout().expect(CHECKED)];
    }
    let each = spec.namespaces().expect(CHECKED);
    each.iter().map(|of| of.layout().expect(CHECKED)).collect()
}

/// Super blocks of these layouts.
fn super_blocks(layouts: &[Layout]) -> impl Iterator<Item = (&Layout, SuperBlock)> {
    layouts.iter().flat_map(|of| SuperBlock::first(of.super_blocks()).map(move |block| (of, block)))
}

/// Blocks of a super block.
pub(super) fn planes_of(
    layout: &Layout,
    super_block: SuperBlock,
) -> impl Iterator<Item = BlockAddress> + use<> {
    let (lane, block) = layout.lane_of(super_block);
    let (die, plane) = layout.die_of(lane);
    (plane..plane + layout.planes).map(move |plane| BlockAddress { die, plane, block })
}

impl PreconditionedState {
    /// Figures of the state.
    pub fn figures(&self) -> StateFigures {
        let each = self.blocks();
        let count = |holds: fn(u32, u32) -> bool| -> u64 {
            let of_one = |of: &InitialBlocks| {
                let full = of.layout.programs_per_block;
                of.programs_done.iter().filter(|&&done| holds(done, full)).count() as u64
            };
            each.iter().map(of_one).sum()
        };
        let cycles = || each.iter().flat_map(|of| of.cycles);
        let blocks = count(|_, _| true);
        let sum: u64 = cycles().map(|&n| u64::from(n)).sum();
        StateFigures {
            logical_units: u64::from(self.logical_units()),
            mapped_units: self.mapped_units(),
            blocks,
            free_blocks: count(|done, _| done == 0),
            open_blocks: count(|done, full| done > 0 && done < full),
            cycles: (
                cycles().copied().min().unwrap_or(0),
                cycles().copied().max().unwrap_or(0),
                sum as f64 / blocks.max(1) as f64,
            ),
        }
    }
}
