//! Garbage collection state: victims, relocated units in controller memory, blocks to rewrite, the GC window.

use crate::ftl::page::mapping::relocation::Relocation;
use crate::numbers::SuperBlock;
use std::collections::VecDeque;

/// Blocks rewritten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rewritten {
    /// Because their data was older than `errors.refresh-after`.
    pub refreshed: u64,
    /// Because they had been read `errors.reclaim-reads` times.
    pub reclaimed: u64,
}

impl Rewritten {
    /// Adds what another drive counted.
    pub fn add(&mut self, other: &Rewritten) {
        self.refreshed += other.refreshed;
        self.reclaimed += other.reclaimed;
    }

    /// What has been counted since `before`.
    pub fn since(&self, before: &Rewritten) -> Rewritten {
        Rewritten {
            refreshed: self.refreshed - before.refreshed,
            reclaimed: self.reclaimed - before.reclaimed,
        }
    }
}

/// A block to be rewritten, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rewrite {
    /// Its data is old.
    Old(SuperBlock),
    /// It has been read often.
    Read(SuperBlock),
    /// It has been erased far less often than others.
    Young(SuperBlock),
}

/// A super block being emptied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Victim {
    pub(crate) super_block: SuperBlock,
    /// Page (in units) the scan has come to.
    pub(crate) next_offset: u32,
    /// Units read or being read and not yet on flash again.
    pub(crate) pending: u32,
}

impl Victim {
    /// A victim of which nothing has been read.
    pub(crate) fn new(super_block: SuperBlock) -> Victim {
        Victim { super_block, next_offset: 0, pending: 0 }
    }

    pub(crate) fn super_block(&self) -> SuperBlock {
        self.super_block
    }
}

/// Garbage collection of one lane.
#[derive(Clone, Debug, Default)]
pub(crate) struct GcLane {
    /// Victims not yet erased; only the last one is still being read.
    pub(crate) victims: Vec<Victim>,
    /// Units in controller memory.
    pub(crate) relocating: VecDeque<Relocation>,
    pub(crate) reads: u32,
    pub(crate) programs: u32,
    pub(crate) erasing: u32,
    /// The lane is short of free blocks and nothing could be collected; nothing is under way either, so
    /// nothing but a look at sleeping lanes will look again.
    pub(crate) asleep: bool,
    /// Super blocks to be rewritten when space is not short.
    pub(crate) rewrites: VecDeque<Rewrite>,
    /// A victim is rewritten: what is relocating from it goes out even if it does not fill a program.
    pub(crate) rewriting: bool,
}

/// Garbage collection of all lanes.
pub(crate) struct GcState {
    pub(crate) lanes: Vec<GcLane>,
    /// Lanes that are asleep.
    pub(crate) asleep: u32,
    /// Programs of moved data that a lane may have under way; it reads twice as many pages ahead.
    pub(crate) depth: u32,
}

impl GcState {
    pub(crate) fn new(lanes: u32, depth: u32) -> GcState {
        GcState { lanes: vec![GcLane::default(); lanes as usize], asleep: 0, depth }
    }

    /// Nothing is under way any more.
    pub(crate) fn lose_power(&mut self) {
        self.lanes.fill(GcLane::default());
        self.asleep = 0;
    }
}

/// When garbage collection may run, if the owner says so.
#[derive(Clone, Copy, Debug, Default)]
pub struct GcWindow {
    /// The owner says when.
    pub(crate) given: bool,
    /// It is not the drive's turn.
    pub(crate) held: bool,
    /// Page reads, programs and erases of garbage collection submitted since the start.
    pub started: u64,
    /// Of these, those out of turn: their lane had no free block left but those that host data may not take.
    pub forced: u64,
}

impl GcWindow {
    /// Until the owner says otherwise garbage collection runs as it has to.
    pub(crate) fn release(&mut self) {
        self.held = false;
    }

    /// Counts an operation of garbage collection.
    #[inline]
    pub(crate) fn count(&mut self) {
        self.started += 1;
        self.forced += u64::from(self.held);
    }
}
