//! Collection on a drive whose blocks can fail.

use crate::ftl::flash::Flash;
use crate::ftl::page::gc::destination::Destination;
use crate::ftl::page::page_ftl::PageFtl;
use crate::numbers::{Lane, SuperBlock};

/// All moved data goes to one stream, which leaves room for failed programs; a block may fail when it is erased.
pub(crate) struct WithFailures;

impl Destination for WithFailures {
    fn keeps_free(ftl: &PageFtl, lane: Lane) -> u32 {
        ftl.keeps_for_failures(lane)
    }

    fn erased(ftl: &mut PageFtl, flash: &mut Flash, super_block: SuperBlock) {
        ftl.block_may_fail(flash, super_block);
    }
}

impl PageFtl {
    /// Units of the room of `lane` that a collection about to begin leaves to programs that fail.
    pub(crate) fn keeps_for_failures(&self, lane: Lane) -> u32 {
        let fails = self.bad_blocks.as_ref().is_some_and(|of| of.fails_programs());
        let keeps = fails && self.blocks.free_blocks(lane) >= self.blocks.config().hard_free;
        if keeps { self.blocks.gc_capacity.block } else { 0 }
    }

    /// Decides whether `super_block` has failed in the erase that has just ended; on a die that has failed it stays out of use.
    #[cold]
    pub(crate) fn block_may_fail(&mut self, flash: &mut Flash, super_block: SuperBlock) {
        let (lane, _) = self.blocks.layout.lane_of(super_block);
        if self.blocks.is_dead(lane) {
            self.blocks.take_free_blocks(lane);
        } else {
            self.settle_erase(flash, super_block);
        }
    }
}
