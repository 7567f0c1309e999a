//! Folding of an SLC cache: when it begins, and what a lane folds next.

use crate::ftl::flash::Flash;
use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::gc::destination::Destination;
use crate::ftl::page::page_ftl::PageFtl;
use crate::ftl::page::write_back::in_flight::ProgramInFlight;
use crate::numbers::{Lane, SuperBlock};
use interpulse_flash::cell_mode::CellMode;

/// Blocks of the SLC cache are victims too; all moved data goes to one stream.
pub(crate) struct Folded;

impl Destination for Folded {
    #[inline]
    fn has_work(ftl: &PageFtl, lane: Lane) -> bool {
        ftl.may_fold(lane)
    }

    fn take_victim(ftl: &mut PageFtl, flash: &mut Flash, lane: Lane) -> bool {
        ftl.fold_next(flash, lane)
    }

    fn program_ended(ftl: &mut PageFtl, job: &ProgramInFlight) {
        ftl.blocks.count_folded(&job.moved);
    }

    #[inline]
    fn keeps_free(ftl: &PageFtl, lane: Lane) -> u32 {
        if ftl.bad_blocks.is_some() { ftl.keeps_for_failures(lane) } else { 0 }
    }

    #[inline]
    fn frees(blocks: &BlockManager, victim: SuperBlock) -> bool {
        blocks.erase_frees(victim)
    }

    #[inline]
    fn erased(ftl: &mut PageFtl, flash: &mut Flash, super_block: SuperBlock) {
        if ftl.bad_blocks.is_some() {
            ftl.block_may_fail(flash, super_block);
        }
    }
}

impl PageFtl {
    /// Notes that a command starts.
    #[inline(always)]
    pub(crate) fn command_starts(&mut self, flash: &mut Flash) {
        if self.folding.is_some() {
            self.ends_idle_time(flash);
        }
    }

    #[inline(never)]
    fn ends_idle_time(&mut self, flash: &mut Flash) {
        let folding = self.folding.as_deref_mut().expect("the caller has looked");
        folding.last = flash.now();
        folding.idle = false;
        if !folding.armed {
            folding.arm(flash);
        }
    }

    /// Timer of idle time: folding begins if no command has started for long enough and none is `outstanding`.
    #[cold]
    pub fn idle_timer(&mut self, flash: &mut Flash, outstanding: bool) {
        let folding = self.folding.as_deref_mut().expect("only an SLC cache has this timer");
        folding.armed = false;
        if self.closed {
            return;
        }
        if outstanding {
            folding.last = flash.now();
        }
        if flash.now() < folding.last + folding.delay {
            folding.arm(flash);
            return;
        }
        folding.idle = true;
        for lane in Lane::first(self.blocks.layout.lanes) {
            self.advance_gc(flash, lane);
        }
    }

    /// Whether `lane` may have something to fold though it is not short of free blocks.
    #[inline]
    pub(super) fn may_fold(&self, lane: Lane) -> bool {
        let Some(folding) = &self.folding else { return false };
        let slc = self.blocks.slc().expect("a drive that folds has an SLC cache");
        let of = &slc.lanes[lane.index()];
        !self.closed && !of.closed.is_empty() && (folding.idle || of.folding || of.may_be_empty)
    }

    /// Takes the next super block that `lane` folds, or programs the last units of the previous ones; false if it folds nothing
    /// now.
    pub(super) fn fold_next(&mut self, flash: &mut Flash, lane: Lane) -> bool {
        let Some(folding) = &self.folding else { return false };
        let (l, idle) = (lane.index(), folding.idle && !self.closed);
        let slc = self.blocks.slc().expect("a drive that folds has an SLC cache");
        let of = &slc.lanes[l];
        let short = !self.blocks.has_enough(lane, self.collection.lanes[l].erasing);
        // Borrowed blocks are folded first: their erase frees space.
        let borrowed = short && slc.owns_blocks() && slc.has_borrowed(of);
        let own = slc.owns_blocks() && !borrowed;
        if own && short && (of.folded_last || self.blocks.free_blocks(lane) <= self.blocks.config().hard_free)
        {
            // Set-aside blocks give no free ones: collection goes first, and leaves every other turn.
            self.blocks.slc_lane(lane).folded_last = false;
            return false;
        }
        let under_pressure = self.blocks.slc_folds_on(lane) && !self.closed;
        let wanted = idle || under_pressure || short && !own;
        let empties = std::mem::take(&mut self.blocks.slc_lane(lane).may_be_empty);
        if !wanted && !empties {
            return false;
        }
        if let Some(block) = self.blocks.slc_victim(lane, borrowed)
            && (wanted || self.blocks.map().valid_units(block) == 0)
            && self.fits(lane, block)
        {
            self.blocks.take_slc_victim(block);
            self.blocks.slc_lane(lane).folded_last = true;
            let victim = self.victim(lane, block);
            self.collection.lanes[l].victims.push(victim);
            return true;
        }
        let gc = &self.collection.lanes[l];
        let ended = wanted && gc.reads == 0 && gc.programs == 0;
        if ended && gc.victims.iter().any(|v| self.blocks.cell_mode(v.super_block) == CellMode::Slc) {
            if !gc.relocating.is_empty() {
                self.program_gathered(flash, lane, 1);
            }
            self.program_rest(flash, lane);
        }
        false
    }
}
