//! Garbage collection state: victims, relocated units in controller memory, blocks to rewrite, the GC window.

use crate::ftl::page::mapping::relocation::Relocation;
use crate::numbers::SuperBlock;
use std::collections::VecDeque;

/// Counts of rewritten blocks, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rewritten {
    /// Data older than `errors.refresh-after`.
    pub refreshed: u64,
    /// Blocks read `errors.reclaim-reads` times.
    pub reclaimed: u64,
}

impl Rewritten {
    /// Adds the counts of another drive.
    pub fn add(&mut self, other: &Rewritten) {
        self.refreshed += other.refreshed;
        self.reclaimed += other.reclaimed;
    }

    /// Counts since `before`.
    pub fn since(&self, before: &Rewritten) -> Rewritten {
        Rewritten {
            refreshed: self.refreshed - before.refreshed,
            reclaimed: self.reclaimed - before.reclaimed,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rewrite {
    /// Old data.
    Old(SuperBlock),
    /// Read disturb.
    Read(SuperBlock),
    /// A program of the block failed.
    Failing(SuperBlock),
    /// Static wear levelling: the block has far fewer erases than others.
    Young(SuperBlock),
    /// A format: the block holds no valid data.
    Formatted(SuperBlock),
}

/// A super block being emptied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Victim {
    pub(crate) super_block: SuperBlock,
    /// Offset (in units) of the next page to scan.
    pub(crate) next_offset: u32,
    /// Units read or being read and not yet on flash again.
    pub(crate) pending: u32,
    /// Its units are gathered apart.
    pub(crate) apart: bool,
}

impl Victim {
    pub(crate) fn new(super_block: SuperBlock, apart: bool) -> Victim {
        Victim { super_block, next_offset: 0, pending: 0, apart }
    }

    pub(crate) fn super_block(&self) -> SuperBlock {
        self.super_block
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct GcLane {
    /// Victims not yet erased; only the last one is still being read.
    pub(crate) victims: Vec<Victim>,
    pub(crate) relocating: VecDeque<Relocation>,
    /// Units of victims that are gathered apart.
    pub(crate) apart: VecDeque<Relocation>,
    pub(crate) reads: u32,
    pub(crate) programs: u32,
    pub(crate) erasing: u32,
    /// Emptied super blocks that wait to be erased in one operation with others; `erasing` counts them, too.
    pub(crate) reclaimable: Vec<SuperBlock>,
    /// The lane is short of free blocks, nothing can be collected and nothing is in flight: only `wake_collector` retries.
    pub(crate) asleep: bool,
    /// Super blocks to rewrite when space is not short.
    pub(crate) rewrites: VecDeque<Rewrite>,
    /// The current victim is a rewrite: its units are programmed even if they do not fill a program.
    pub(crate) rewriting: bool,
}

/// Feature that decides the destination of moved data. They exclude each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DestinationKind {
    OneStream,
    /// SLC cache.
    Folded,
    /// SLC cache, whose data has placement handles.
    FoldedByHandle,
    /// Placement handles.
    ByHandle,
    /// Mapping cache.
    WithTranslationPages,
    /// Blocks that can fail.
    WithFailures,
}

pub(crate) struct GcState {
    pub(crate) destination: DestinationKind,
    pub(crate) lanes: Vec<GcLane>,
    pub(crate) asleep: u32,
    /// Relocation programs in flight a lane may have; it reads twice as many pages ahead.
    pub(crate) depth: u32,
    /// Super blocks of a lane that are erased in one operation, at most.
    pub(crate) blocks_per_erase: u32,
}

impl GcState {
    pub(crate) fn new(
        lanes: u32,
        depth: u32,
        blocks_per_erase: u32,
        destination: DestinationKind,
    ) -> GcState {
        let lanes = vec![GcLane::default(); lanes as usize];
        GcState { destination, lanes, asleep: 0, depth, blocks_per_erase }
    }

    pub(crate) fn lose_power(&mut self) {
        self.lanes.fill(GcLane::default());
        self.asleep = 0;
    }
}

/// GC window of a drive, if its owner (an array) controls one.
#[derive(Clone, Copy, Debug, Default)]
pub struct GcWindow {
    /// The owner controls the window.
    pub(crate) given: bool,
    pub(crate) held: bool,
    /// Page reads, programs and erases of garbage collection submitted since the start.
    pub started: u64,
    /// Of these, operations outside the window: their lane had only the blocks that host data may not take.
    pub forced: u64,
}

impl GcWindow {
    pub(crate) fn release(&mut self) {
        self.held = false;
    }

    #[inline]
    pub(crate) fn count(&mut self) {
        self.started += 1;
        self.forced += u64::from(self.held);
    }
}
