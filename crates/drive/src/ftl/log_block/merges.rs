//! Merges: which kind, what begins one, and what its end changes.

use super::geometry::LogicalBlock;
use super::log_block_ftl::LogBlockFtl;
use super::logs::{LogId, Merge, NO_UNIT};
use super::map::{Entry, Place};
use super::selection::Next;
use crate::ftl::block_pool::NO_BLOCK;
use crate::ftl::flash::Flash;
use crate::numbers::{Lane, SuperBlock};

/// Kind of a merge.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Switch,
    Partial,
    Full,
}

impl LogBlockFtl {
    /// Begins the merge of a log block that has the units of one logical block.
    pub(super) fn merge_log(&mut self, flash: &mut Flash, lane: Lane, log: LogId) -> Next {
        let of = self.logs.get(log);
        if of.in_flight > 0 {
            return Next::Waits;
        }
        let block = of.of.expect("its units are of one logical block");
        if !of.is_sequential {
            if !self.begin_full(flash, lane, block, Some(log)) {
                return Next::Waits;
            }
            self.counters.gc_runs += 1;
        } else {
            self.counters.gc_runs += 1;
            let (to, written) = (of.block, of.programs);
            let kind = if written == self.geometry.programs { Kind::Switch } else { Kind::Partial };
            let end = self.programs_to_copy(block, written);
            // Either way one super block is erased whole: the data block, or the log block.
            let is_partial = kind == Kind::Partial;
            if is_partial && self.begin_in_place(flash, block, Some(log), end - written, 0) {
                return if self.lanes[lane.index()].merge.is_some() { Next::Waits } else { Next::Again };
            }
            self.count(kind);
            self.begin(flash, lane, Merge::of(block, to, vec![log], [written, end], self.geometry.units));
        }
        if self.lanes[lane.index()].merge.is_some() { Next::Waits } else { Next::Again }
    }

    /// Begins the merges of the logical blocks that have their newest units in the oldest log block of a lane.
    pub(super) fn merge_oldest(&mut self, flash: &mut Flash, lane: Lane) -> Next {
        let oldest = self.lanes[lane.index()].logs[0];
        if self.logs.get(oldest).in_flight > 0 {
            return Next::Waits;
        }
        self.counters.gc_runs += 1;
        self.lanes[lane.index()].victim = Some(oldest);
        if self.valid_block_of(oldest).is_none() {
            self.counters.direct_gc_runs += 1;
            self.log_counters.empty_log_blocks += 1;
        }
        if self.continue_victim(flash, lane) { Next::Again } else { Next::Waits }
    }

    /// Merges the next logical block of the victim of a lane; true once the victim has been released.
    pub(super) fn continue_victim(&mut self, flash: &mut Flash, lane: Lane) -> bool {
        let Some(victim) = self.lanes[lane.index()].victim else { return true };
        while self.lanes[lane.index()].merge.is_none() {
            let Some(block) = self.valid_block_of(victim) else {
                self.lanes[lane.index()].victim = None;
                let block = self.close_log(lane, victim);
                self.release(flash, block);
                return true;
            };
            let stream = self.lanes[lane.index()].sequential;
            let log = stream.filter(|&log| self.logs.get(log).of == Some(block));
            if log.is_some_and(|log| self.logs.get(log).in_flight > 0)
                || !self.begin_full(flash, lane, block, log)
            {
                return false;
            }
        }
        false
    }

    /// Logical block of the first unit of a log block that is the newest version.
    fn valid_block_of(&self, log: LogId) -> Option<LogicalBlock> {
        let of = self.logs.get(log);
        let first = self.layout.first_unit(of.block);
        let is_newest =
            |&(k, &lpn): &(u32, &_)| lpn != NO_UNIT && self.map.place(lpn) == Place::Log(first + k);
        let (_, &lpn) = (0..).zip(&of.units).find(is_newest)?;
        Some(self.geometry.split(lpn).block)
    }

    /// Begins a full merge, after which `log` is erased; false if there is no erased super block.
    fn begin_full(&mut self, flash: &mut Flash, lane: Lane, of: LogicalBlock, log: Option<LogId>) -> bool {
        let end = self.programs_to_copy(of, 0);
        let logs: Vec<LogId> = log.into_iter().collect();
        if end == 0 {
            // Everything was trimmed, or is overwritten in the cache.
            self.counters.direct_gc_runs += 1;
            self.log_counters.empty_log_blocks += logs.len() as u64;
            self.begin(flash, lane, Merge::of(of, NO_BLOCK, logs, [0, 0], self.geometry.units));
            return true;
        }
        if self.begin_in_place(flash, of, log, end, 1) {
            return true;
        }
        let Some(to) = self.blocks.take(lane) else { return false };
        self.count(Kind::Full);
        self.begin(flash, lane, Merge::of(of, to, logs, [0, end], self.geometry.units));
        true
    }

    fn count(&mut self, kind: Kind) {
        let counter = match kind {
            Kind::Switch => {
                self.counters.direct_gc_runs += 1;
                &mut self.log_counters.switch_merges
            }
            Kind::Partial => &mut self.log_counters.partial_merges,
            Kind::Full => &mut self.log_counters.full_merges,
        };
        *counter += 1;
    }

    pub(super) fn begin(&mut self, flash: &mut Flash, lane: Lane, merge: Merge) {
        self.lanes[lane.index()].merge = Some(merge);
        self.continue_merge(flash, lane);
    }

    /// Programs of a logical block, counted from its first, that a merge which begins with program `from` fills: up to the last
    /// one with a unit on flash.
    fn programs_to_copy(&self, block: LogicalBlock, from: u32) -> u32 {
        let has_unit = |program: &u32| {
            let first = program * self.geometry.program;
            (first..first + self.geometry.program).any(|offset| {
                let place = self.map.place(self.geometry.unit(block, offset));
                matches!(place, Place::DataBlock | Place::Log(_))
            })
        };
        (from..self.geometry.programs).rev().find(has_unit).map_or(from, |last| last + 1)
    }

    /// Ends a merge: its super block becomes the data block, and what it replaces is erased.
    pub(super) fn end_merge(&mut self, flash: &mut Flash, lane: Lane) {
        let Merge { of, to, logs, copied, .. } =
            self.lanes[lane.index()].merge.take().expect("the lane has a merge");
        if to != NO_BLOCK {
            self.settle_units(of, to, 0, &copied);
        }
        let old = self.map.set_data(of, to);
        self.release(flash, old);
        for log in logs {
            let closed = self.close_log(lane, log);
            if closed != to {
                self.release(flash, closed);
            }
        }
        self.list(lane);
    }

    /// Maps the units of a logical block from `first` on whose newest version is in `to` to their places there.
    pub(super) fn settle_units(&mut self, of: LogicalBlock, to: SuperBlock, first: u32, copied: &[Entry]) {
        for (offset, &source) in (first..).zip(copied) {
            let lpn = self.geometry.unit(of, offset);
            let entry = self.map.entry(lpn);
            let from = match entry.place() {
                Place::DataBlock => self.in_data_block(of, offset),
                Place::Log(ppu) => ppu,
                Place::Nowhere | Place::Cache(_) => continue,
            };
            let target = self.layout.first_unit(to) + offset;
            if entry == source {
                if self.versions.follows(lpn) {
                    self.versions.moved(lpn, from, target);
                }
                self.map.set(lpn, Place::DataBlock);
            } else if from == target {
                self.map.set(lpn, Place::DataBlock);
            }
        }
    }
}

impl Merge {
    pub(super) fn of(
        of: LogicalBlock,
        to: SuperBlock,
        logs: Vec<LogId>,
        programs: [u32; 2],
        units: u32,
    ) -> Merge {
        let [next, end] = programs;
        let copied = vec![Entry::NOWHERE; units as usize];
        Merge { of, to, logs, next, end, reads: 0, programs: 0, is_read: false, copied, in_place: None }
    }
}
