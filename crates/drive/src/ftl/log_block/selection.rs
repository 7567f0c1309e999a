//! Selection of the next program of a lane: which units, to which log block.
//!
//! Programs to one log block follow one another as long as it has room and there is data for it; otherwise the programs of a lane
//! begin in the order in which their data arrived. The first one that needs a log block while there is none causes a merge and
//! waits for it, and so do those behind it.

use super::geometry::LogicalBlock;
use super::log_block_ftl::LogBlockFtl;
use super::logs::{LogId, NO_LOG};
use super::stream::Kept;
use crate::cache::Cache;
use crate::ftl::flash::Flash;
use crate::numbers::{Lane, Slot};

/// What a lane does next.
pub(super) enum Next {
    /// Nothing: no program of data has arrived.
    Nothing,
    /// It waits for a merge, an erase, or programs in flight.
    Waits,
    /// A merge has ended at once; select again.
    Again,
    /// A program of these units to a log block.
    Program(LogId, Vec<Slot>),
}

impl LogBlockFtl {
    /// Selects the next program of a lane without merges in progress.
    pub(super) fn select(&mut self, flash: &mut Flash, lane: Lane) -> Next {
        if self.by_block() { self.select_by_block(flash, lane) } else { self.select_of_lane(flash, lane) }
    }

    /// Whether a lane programs less than a program of units, with padding: for a flush, or since writes wait for slots and the
    /// lane has units that make a program only together, or the drive has no program in flight.
    fn pads(&self, lane: Lane) -> bool {
        let of = &self.lanes[lane.index()];
        let none = self.cache.in_flight() == 0;
        !self.flushes.is_empty()
            || (self.backpressure && of.in_flight == 0 && (none || of.dirty >= self.geometry.program))
    }

    // ---- block association (BAST) ---------------------------------------------------------------------------

    fn select_by_block(&mut self, flash: &mut Flash, lane: Lane) -> Next {
        let ready =
            if self.flushes.is_empty() { self.dirty.first_ready(&self.cache, lane.index()) } else { None };
        let pads = ready.is_none() && self.pads(lane);
        let group = if pads { self.dirty.first(&self.cache, lane.index()) } else { ready };
        let Some(group) = group else { return Next::Nothing };
        let block = LogicalBlock(group);
        let log = match self.log_of[block.index()] {
            NO_LOG if self.lanes[lane.index()].logs.len() < self.spec.log_blocks as usize => {
                let Some(log) = self.open_log(lane, Some(block)) else { return Next::Waits };
                self.log_of[block.index()] = log;
                self.lanes[lane.index()].logs.push(log);
                log
            }
            NO_LOG => {
                let logs = self.lanes[lane.index()].logs.iter();
                let oldest = *logs.min_by_key(|&&log| self.logs.get(log).used).expect("there is a log block");
                return self.merge_log(flash, lane, oldest);
            }
            log => log,
        };
        let of = self.logs.get(log);
        if of.programs == self.geometry.programs {
            return self.merge_log(flash, lane, log);
        }
        let (program, in_order) = (of.programs, of.is_sequential);
        let mut slots = self.spare_slots();
        if in_order && self.is_whole(block, program) {
            self.take_whole(block, program, &mut slots);
        } else {
            self.dirty.take_oldest(&mut self.cache, group, |_, _| false, &mut slots);
        }
        self.dirty.taken(&self.cache, group);
        if program + 1 == self.geometry.programs {
            self.dirty.postpone(lane.index(), group);
        }
        Next::Program(log, slots)
    }

    // ---- full association (FAST) ----------------------------------------------------------------------------

    fn select_of_lane(&mut self, flash: &mut Flash, lane: Lane) -> Next {
        let flushes = !self.flushes.is_empty();
        // A stream without end must not keep a flush waiting.
        if flushes && self.lanes[lane.index()].was_sequential {
            let kept = self.kept(lane);
            if self.cache.dirty(lane.index()) > self.dirty_kept(&kept) {
                return self.select_random(flash, lane, &kept);
            }
        }
        if let Some(next) = self.stream(lane) {
            let program = next.offset / self.geometry.program;
            if self.is_whole(next.block, program) {
                let log = self.lanes[lane.index()].sequential.expect("it has a stream");
                return self.next_of_stream(lane, log, next.block, program);
            }
        }
        if let Some(block) = self.lanes[lane.index()].starting.filter(|&block| self.is_whole(block, 0)) {
            return self.begin_stream(flash, lane, block);
        }
        let (dirty, pads) = (self.cache.dirty(lane.index()), self.pads(lane));
        if dirty < if pads { 1 } else { self.geometry.program } {
            return Next::Nothing;
        }
        let kept = self.kept(lane);
        match dirty - self.dirty_kept(&kept) {
            free if free >= self.geometry.program || (pads && free > 0) => {
                self.select_random(flash, lane, &kept)
            }
            0 if pads => self.select_random(flash, lane, &[None, None]),
            _ => Next::Nothing,
        }
    }

    /// Selects the first program of a stream.
    fn begin_stream(&mut self, flash: &mut Flash, lane: Lane, block: LogicalBlock) -> Next {
        if let Some(log) = self.lanes[lane.index()].sequential {
            return self.merge_log(flash, lane, log);
        }
        let Some(log) = self.open_log(lane, Some(block)) else { return Next::Waits };
        self.log_counters.sequential_log_blocks += 1;
        let of = &mut self.lanes[lane.index()];
        (of.sequential, of.starting) = (Some(log), None);
        self.next_of_stream(lane, log, block, 0)
    }

    fn next_of_stream(&mut self, lane: Lane, log: LogId, block: LogicalBlock, program: u32) -> Next {
        let mut slots = self.spare_slots();
        self.take_whole(block, program, &mut slots);
        self.dirty.taken(&self.cache, lane.0);
        self.lanes[lane.index()].was_sequential = true;
        Next::Program(log, slots)
    }

    /// Selects a program of units in any order, but none of those that are `kept`.
    fn select_random(&mut self, flash: &mut Flash, lane: Lane, kept: &[Option<Kept>; 2]) -> Next {
        let of = &self.lanes[lane.index()];
        let active = of.logs.last().filter(|&&log| self.logs.get(log).programs < self.geometry.programs);
        let log = match active.copied() {
            Some(log) => log,
            None if of.logs.len() < self.spec.log_blocks as usize => {
                let Some(log) = self.open_log(lane, None) else { return Next::Waits };
                self.lanes[lane.index()].logs.push(log);
                log
            }
            None => return self.merge_oldest(flash, lane),
        };
        let mut slots = self.spare_slots();
        let geometry = &self.geometry;
        let keeps = |cache: &Cache, slot: Slot| {
            let at = geometry.split(cache.lpn(slot));
            kept.iter().flatten().any(|of| of.has(at))
        };
        self.dirty.take_oldest(&mut self.cache, lane.0, keeps, &mut slots);
        self.dirty.taken(&self.cache, lane.0);
        self.lanes[lane.index()].was_sequential = false;
        Next::Program(log, slots)
    }

    /// Moves all units of a program of a logical block to flight, in its order; appends their slots.
    fn take_whole(&mut self, block: LogicalBlock, program: u32, slots: &mut Vec<Slot>) {
        let first = program * self.geometry.program;
        for offset in first..first + self.geometry.program {
            let slot = self.dirty_slot(block, offset).expect("every unit is dirty");
            self.cache.take_held(slot);
            slots.push(slot);
        }
    }
}
