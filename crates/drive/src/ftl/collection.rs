//! What garbage collection has in hand: victims, units in controller memory, blocks to be rewritten, and whose turn it is.

use super::moved::Moved;
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
pub(super) enum Rewrite {
    /// Its data is old.
    Old(SuperBlock),
    /// It has been read often.
    Read(SuperBlock),
    /// It has been erased far less often than others.
    Young(SuperBlock),
}

/// A super block being emptied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Victim {
    pub(super) super_block: SuperBlock,
    /// Page (in units) the scan has come to.
    pub(super) next_offset: u32,
    /// Units read or being read and not yet on flash again.
    pub(super) pending: u32,
}

impl Victim {
    /// A victim of which nothing has been read.
    pub(super) fn new(super_block: SuperBlock) -> Victim {
        Victim { super_block, next_offset: 0, pending: 0 }
    }

    pub(super) fn super_block(&self) -> SuperBlock {
        self.super_block
    }
}

/// Garbage collection of one lane.
#[derive(Clone, Debug, Default)]
pub(super) struct GcLane {
    /// Victims not yet erased; only the last one is still being read.
    pub(super) victims: Vec<Victim>,
    /// Units in controller memory.
    pub(super) gathered: VecDeque<Moved>,
    pub(super) reads: u32,
    pub(super) programs: u32,
    pub(super) erasing: u32,
    /// The lane is short of free blocks and nothing could be collected; nothing is under way either, so
    /// nothing but a look at sleeping lanes will look again.
    pub(super) asleep: bool,
    /// Super blocks to be rewritten when space is not short.
    pub(super) rewrites: VecDeque<Rewrite>,
    /// A victim is rewritten: what is gathered from it goes out even if it does not fill a program.
    pub(super) rewriting: bool,
}

/// Garbage collection of all lanes.
pub(super) struct Collection {
    pub(super) lanes: Vec<GcLane>,
    /// Lanes that are asleep.
    pub(super) asleep: u32,
    /// Programs of moved data that a lane may have under way; it reads twice as many pages ahead.
    pub(super) depth: u32,
}

impl Collection {
    pub(super) fn new(lanes: u32, depth: u32) -> Collection {
        Collection { lanes: vec![GcLane::default(); lanes as usize], asleep: 0, depth }
    }

    /// Nothing is under way any more.
    pub(super) fn lose_power(&mut self) {
        self.lanes.fill(GcLane::default());
        self.asleep = 0;
    }
}

/// When garbage collection may run, if the owner says so.
#[derive(Clone, Copy, Debug, Default)]
pub struct GcTurn {
    /// The owner says when.
    pub(super) given: bool,
    /// It is not the drive's turn.
    pub(super) held: bool,
    /// Page reads, programs and erases of garbage collection submitted since the start.
    pub started: u64,
    /// Of these, those out of turn: their lane had no free block left but those that host data may not take.
    pub forced: u64,
}

impl GcTurn {
    /// Until the owner says otherwise garbage collection runs as it has to.
    pub(super) fn release(&mut self) {
        self.held = false;
    }

    /// Counts an operation of garbage collection.
    #[inline]
    pub(super) fn count(&mut self) {
        self.started += 1;
        self.forced += u64::from(self.held);
    }
}
