//! Merges in place (PEN: Liu, Kotra, Jung and Kandemir, FAST 2018): of a data block, only the sub-blocks with newer units in log
//! blocks are erased and written again.
//!
//! The newest versions of the units of a sub-block are read into controller memory, the sub-block is erased, and they are programmed
//! in order; then follows the next sub-block. Reads of units that are in that memory alone are served from it.

use super::geometry::LogicalBlock;
use super::log_block_ftl::LogBlockFtl;
use super::logs::{InPlace, InPlaceStep as Step, LogId, Merge};
use super::map::Place;
use super::spec::MergeExtent;
use crate::ftl::block_pool::NO_BLOCK;
use crate::ftl::flash::Flash;
use crate::ftl::transactions::erase_of;
use crate::numbers::{Lane, Lpn, SuperBlock};
use std::ops::Range;

impl LogBlockFtl {
    /// Begins a merge in place of a logical block, after which `log` is erased, unless one that copies `programs` and erases `erases`
    /// super blocks is shorter; false if so.
    pub(super) fn begin_in_place(
        &mut self,
        flash: &mut Flash,
        of: LogicalBlock,
        log: Option<LogId>,
        programs: u32,
        erases: u64,
    ) -> bool {
        let data = self.map.data(of);
        if self.spec.merge == MergeExtent::Blocks || data == NO_BLOCK {
            return false;
        }
        let each: Vec<(u32, Range<u32>)> =
            (0..self.sub_blocks.count).filter_map(|k| Some((k, self.rewritten(of, k)?))).collect();
        let is_written = |&&(k, _): &&(u32, _)| self.sub_blocks.is_programmed(data, self.first_program(k));
        let apart = each.iter().filter(is_written).count() as u32;
        let costs = self.sub_blocks.costs;
        let copied = each.iter().map(|(_, programs)| u64::from(programs.end - programs.start)).sum::<u64>();
        let in_place = copied * costs.copy + u64::from(apart) * costs.apart;
        let instead = u64::from(programs) * costs.copy + erases * costs.whole;
        let most = self.spec.max_apart.unwrap_or(u32::MAX);
        if in_place >= instead || self.sub_blocks.erased_apart[data.index()] > most.saturating_sub(apart) {
            return false;
        }
        let left: Vec<u32> = each.iter().rev().map(|&(k, _)| k).collect();
        let stays = |offset: &u32| {
            let is_left = !left.contains(&(offset / self.geometry.program / self.programs_apart()));
            is_left && self.map.place(self.geometry.unit(of, *offset)) == Place::DataBlock
        };
        self.log_counters.units_left_in_place += (0..self.geometry.units).filter(stays).count() as u64;
        self.log_counters.in_place_merges += 1;
        let in_place = InPlace { left, sub_block: 0, step: Step::Select };
        let merge = Merge::of(of, data, log.into_iter().collect(), [0, 0], self.geometry.units);
        let merge = Merge { in_place: Some(in_place), ..merge };
        self.begin(flash, self.geometry.lane(of), merge);
        true
    }

    /// Programs of a sub-block.
    fn programs_apart(&self) -> u32 {
        self.sub_blocks.layout.programs_per_block
    }

    fn first_program(&self, sub_block: u32) -> u32 {
        sub_block * self.programs_apart()
    }

    /// Programs that a sub-block of a logical block is written again with: up to the last one with a unit on flash. `None` without
    /// newest units in log blocks.
    fn rewritten(&self, of: LogicalBlock, sub_block: u32) -> Option<Range<u32>> {
        let first = self.first_program(sub_block);
        let place = |offset: u32| self.map.place(self.geometry.unit(of, offset));
        let units = first * self.geometry.program..(first + self.programs_apart()) * self.geometry.program;
        let is_newer = units.clone().any(|offset| matches!(place(offset), Place::Log(_)));
        let on_flash = |&offset: &u32| matches!(place(offset), Place::DataBlock | Place::Log(_));
        let last = units.rev().find(on_flash).filter(|_| is_newer)?;
        Some(first..last / self.geometry.program + 1)
    }

    /// Whether the newest version of a unit of a data block is in the memory of a merge in place, and may be on flash no longer.
    pub(super) fn is_in_memory(&self, lpn: Lpn) -> bool {
        if self.sub_blocks.count == 1 {
            return false;
        }
        let at = self.geometry.split(lpn);
        let merge = self.lanes[self.geometry.lane(at.block).index()].merge.as_ref();
        let Some((of, in_place)) = merge.and_then(|of| Some((of.of, of.in_place.as_ref()?))) else {
            return false;
        };
        of == at.block
            && matches!(in_place.step, Step::Wait | Step::Erase | Step::Program)
            && at.offset / self.geometry.program / self.programs_apart() == in_place.sub_block
    }

    /// Continues the merge in place of a lane.
    pub(super) fn continue_in_place(&mut self, flash: &mut Flash, lane: Lane) {
        loop {
            let merge = self.lanes[lane.index()].merge.as_ref().expect("the lane has a merge");
            let in_place = merge.in_place.as_ref().expect("it is in place");
            let (step, is_last, is_read) = (in_place.step, in_place.left.is_empty(), merge.is_read);
            let (is_at_end, reads, programs) = (merge.next == merge.end, merge.reads, merge.programs);
            match step {
                Step::Select if is_last => return self.end_in_place(flash, lane),
                Step::Select => self.select_sub_block(lane),
                Step::Read if reads > 0 => return,
                Step::Read if is_read => self.next_read(lane),
                Step::Read if is_at_end => self.set_step(lane, Step::Wait),
                Step::Read => self.read_next(flash, lane),
                Step::Wait => {
                    if !self.erase_apart(flash, lane) {
                        return;
                    }
                }
                Step::Erase => return,
                Step::Program if is_at_end && programs == 0 => self.sub_block_written(lane),
                Step::Program if is_at_end || programs == self.programs_per_lane => return,
                Step::Program => self.program_next(flash, lane),
            }
        }
    }

    fn set_step(&mut self, lane: Lane, step: Step) {
        let merge = self.lanes[lane.index()].merge.as_mut().expect("the lane has a merge");
        merge.in_place.as_mut().expect("it is in place").step = step;
    }

    /// Selects the next sub-block, unless the host has overwritten or trimmed its newer units meanwhile.
    fn select_sub_block(&mut self, lane: Lane) {
        let mut merge = self.lanes[lane.index()].merge.take().expect("the lane has a merge");
        let in_place = merge.in_place.as_mut().expect("it is in place");
        in_place.sub_block = in_place.left.pop().expect("one is left");
        if let Some(programs) = self.rewritten(merge.of, in_place.sub_block) {
            in_place.step = Step::Read;
            (merge.next, merge.end, merge.is_read) = (programs.start, programs.end, false);
        }
        self.lanes[lane.index()].merge = Some(merge);
    }

    /// The pages of a program have been read.
    fn next_read(&mut self, lane: Lane) {
        let merge = self.lanes[lane.index()].merge.as_mut().expect("the lane has a merge");
        (merge.next, merge.is_read) = (merge.next + 1, false);
    }

    /// Erases the sub-block of which everything has been read; false while host reads of it may be repeated.
    fn erase_apart(&mut self, flash: &mut Flash, lane: Lane) -> bool {
        let (block, sub_block) = self.in_place_of(lane);
        let at = self.sub_blocks.of(block, sub_block);
        if self.sub_blocks.is_read(at) {
            return false;
        }
        if !self.sub_blocks.is_programmed(block, self.first_program(sub_block)) {
            self.begin_programs(lane);
            return true;
        }
        self.set_step(lane, Step::Erase);
        flash.submit(erase_of(&self.sub_blocks.layout, at, self.sub_blocks.cycles[at.index()]));
        true
    }

    /// Data block and sub-block of the merge in place of a lane.
    fn in_place_of(&self, lane: Lane) -> (SuperBlock, u32) {
        let merge = self.lanes[lane.index()].merge.as_ref().expect("the lane has a merge");
        (merge.to, merge.in_place.as_ref().expect("it is in place").sub_block)
    }

    fn begin_programs(&mut self, lane: Lane) {
        let (_, sub_block) = self.in_place_of(lane);
        let first = self.first_program(sub_block);
        let merge = self.lanes[lane.index()].merge.as_mut().expect("the lane has a merge");
        merge.next = first;
        self.set_step(lane, Step::Program);
    }

    /// The erase of a single sub-block has ended.
    pub(super) fn erased_apart(&mut self, flash: &mut Flash, lane: Lane) {
        self.log_counters.sub_block_erases += 1;
        self.begin_programs(lane);
        self.continue_merge(flash, lane);
    }

    /// All units of a sub-block are on flash again.
    fn sub_block_written(&mut self, lane: Lane) {
        let mut merge = self.lanes[lane.index()].merge.take().expect("the lane has a merge");
        let in_place = merge.in_place.as_mut().expect("it is in place");
        let first = self.first_program(in_place.sub_block) * self.geometry.program;
        let end = first + self.programs_apart() * self.geometry.program;
        in_place.step = Step::Select;
        self.settle_units(merge.of, merge.to, first, &merge.copied[first as usize..end as usize]);
        self.lanes[lane.index()].merge = Some(merge);
    }

    /// Ends a merge in place: its log block is erased.
    fn end_in_place(&mut self, flash: &mut Flash, lane: Lane) {
        let merge = self.lanes[lane.index()].merge.take().expect("the lane has a merge");
        for log in merge.logs {
            let closed = self.close_log(lane, log);
            self.release(flash, closed);
        }
        self.list(lane);
    }

    /// Continues the merge in place of the lane of a super block that waited for the last host read of a sub-block.
    pub(super) fn sub_block_unread(&mut self, flash: &mut Flash, lane: Lane) {
        let merge = self.lanes[lane.index()].merge.as_ref();
        if merge.and_then(|of| of.in_place.as_ref()).is_some_and(|of| of.step == Step::Wait) {
            self.continue_merge(flash, lane);
        }
    }
}
