//! The sequential stream of a lane with full association (FAST): units that wait for its log block.
//!
//! A write of the first unit of a logical block may begin a stream. The units of that logical block, and those that the
//! sequential log block has not passed, are kept in the cache until a whole program of the stream has arrived. Only if writes or
//! flushes wait for them are they programmed to a log block for data of any order.

use super::geometry::{BlockOffset, LogicalBlock};
use super::log_block_ftl::LogBlockFtl;
use super::map::Place;
use crate::numbers::{Lane, Slot};

impl LogBlockFtl {
    /// Notes a dirty unit of a lane that has just been added.
    pub(super) fn note_stream(&mut self, lane: Lane, at: BlockOffset) {
        if at.offset == 0 && self.lanes[lane.index()].starting != Some(at.block) {
            self.lanes[lane.index()].starting = Some(at.block);
            self.recount_kept(lane);
        } else if self.is_kept(lane, at) {
            self.lanes[lane.index()].kept += 1;
        }
    }

    /// Notes that a dirty unit of a lane has been taken or trimmed.
    pub(super) fn forget_of_stream(&mut self, lane: Lane, at: BlockOffset) {
        if !self.by_block() && self.is_kept(lane, at) {
            self.lanes[lane.index()].kept -= 1;
        }
    }

    /// Whether a dirty unit of a lane waits for the sequential log block.
    pub(super) fn is_kept(&self, lane: Lane, at: BlockOffset) -> bool {
        let of = &self.lanes[lane.index()];
        of.starting == Some(at.block)
            || self.stream(lane).is_some_and(|next| next.block == at.block && at.offset >= next.offset)
    }

    /// The next unit of the sequential log block of a lane.
    pub(super) fn stream(&self, lane: Lane) -> Option<BlockOffset> {
        let log = self.logs.get(self.lanes[lane.index()].sequential?);
        Some(BlockOffset { block: log.of?, offset: log.programs * self.geometry.program })
    }

    /// Counts the units that are kept, after a change of what is.
    pub(super) fn recount_kept(&mut self, lane: Lane) {
        self.lanes[lane.index()].kept = self.count_kept(lane);
    }

    /// Dirty units of a lane that wait for the sequential log block.
    pub(super) fn count_kept(&self, lane: Lane) -> u32 {
        let starting = self.lanes[lane.index()].starting;
        let dirty = |block: LogicalBlock, from: u32| {
            let units = from..self.geometry.units;
            units.filter(|&offset| self.dirty_slot(block, offset).is_some()).count() as u32
        };
        let passed = self.stream(lane).filter(|next| starting != Some(next.block));
        passed.map_or(0, |next| dirty(next.block, next.offset)) + starting.map_or(0, |block| dirty(block, 0))
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
