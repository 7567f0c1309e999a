//! Collection on a drive whose blocks can fail.

use crate::ftl::flash::Flash;
use crate::ftl::page::gc::destination::Destination;
use crate::ftl::page::page_ftl::PageFtl;
use crate::numbers::{Lane, SuperBlock};

/// All moved data goes to one stream, which leaves room for failed programs; a block may fail when it is erased.
pub(crate) struct WithFailures;

impl Destination for WithFailures {
    fn keeps_free(ftl: &PageFtl, lane: Lane) -> u32 {
        let fails = ftl.bad_blocks.as_ref().is_some_and(|of| of.fails_programs());
        let keeps = fails && ftl.blocks.free_blocks(lane) >= ftl.blocks.config().hard_free;
        if keeps { ftl.blocks.gc_capacity.block } else { 0 }
    }

    fn erased(ftl: &mut PageFtl, flash: &mut Flash, super_block: SuperBlock) {
        let (lane, _) = ftl.blocks.layout.lane_of(super_block);
        if ftl.blocks.is_dead(lane) {
            ftl.blocks.lanes[lane.index()].free.clear();
        } else {
            ftl.settle_erase(flash, super_block);
        }
    }
}
