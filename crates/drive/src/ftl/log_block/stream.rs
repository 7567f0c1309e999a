//! The sequential stream of a lane with full association (FAST): units that wait for its log block.
//!
//! A write of the first unit of a logical block may begin a stream. Units of the next program of a stream are kept in the cache
//! until all of them have arrived. Only if writes or flushes wait for them are they programmed to a log block for data of any
//! order.

use super::geometry::{BlockOffset, LogicalBlock};
use super::log_block_ftl::LogBlockFtl;
use super::map::Place;
use crate::numbers::{Lane, Slot};
use std::ops::Range;

/// Units of a logical block that are kept for a stream.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    block: LogicalBlock,
    offsets: Range<u32>,
}

impl Kept {
    pub(super) fn has(&self, at: BlockOffset) -> bool {
        self.block == at.block && self.offsets.contains(&at.offset)
    }
}

impl LogBlockFtl {
    /// The next unit of the sequential log block of a lane, unless it is full.
    pub(super) fn stream(&self, lane: Lane) -> Option<BlockOffset> {
        let log = self.logs.get(self.lanes[lane.index()].sequential?);
        Some(BlockOffset { block: log.of?, offset: log.programs * self.geometry.program })
            .filter(|next| next.offset < self.geometry.units)
    }

    /// Units that are kept for the stream of a lane, and for one that may begin.
    pub(super) fn kept(&self, lane: Lane) -> [Option<Kept>; 2] {
        let starting = self.lanes[lane.index()].starting;
        let begins = starting.map(|block| BlockOffset { block, offset: 0 });
        [self.stream(lane).filter(|next| starting != Some(next.block)), begins]
            .map(|from| from.map(|at| self.kept_from(at)))
    }

    /// Units of a stream from `at` on: its next program, and all that have arrived without a gap.
    fn kept_from(&self, at: BlockOffset) -> Kept {
        let all = at.offset..self.geometry.units;
        let arrived = all.take_while(|&offset| self.dirty_slot(at.block, offset).is_some()).count() as u32;
        Kept { block: at.block, offsets: at.offset..at.offset + arrived.max(self.geometry.program) }
    }

    /// Dirty units among those that are kept.
    pub(super) fn dirty_kept(&self, kept: &[Option<Kept>; 2]) -> u32 {
        let dirty = |of: &Kept| {
            let is_dirty = |&offset: &u32| self.dirty_slot(of.block, offset).is_some();
            of.offsets.clone().filter(is_dirty).count() as u32
        };
        kept.iter().flatten().map(dirty).sum()
    }

    /// Slot of a unit, if it is dirty.
    #[inline]
    pub(super) fn dirty_slot(&self, block: LogicalBlock, offset: u32) -> Option<Slot> {
        match self.map.place(self.geometry.unit(block, offset)) {
            Place::Cache(slot) if self.cache.is_held(slot) => Some(slot),
            _ => None,
        }
    }

    /// Whether all units of a program of a logical block, in its order, are dirty.
    pub(super) fn is_whole(&self, block: LogicalBlock, program: u32) -> bool {
        let first = program * self.geometry.program;
        (first..first + self.geometry.program).all(|offset| self.dirty_slot(block, offset).is_some())
    }
}
