//! Reclaimable super blocks: emptied, and kept until there are enough of their lane for a multi-block erase.
//!
//! A lane erases fewer at once when only its last block for host data is free, when nothing else can be collected, while wear is
//! levelled, and during a format. Super blocks whose erase frees no space for native data are not kept.

use crate::ftl::flash::Flash;
use crate::ftl::page::page_ftl::PageFtl;
use crate::numbers::{Lane, SuperBlock};
use interpulse_flash::nand::txn::Txn;

impl PageFtl {
    /// Erases an emptied super block, at once or together with others.
    #[inline]
    pub(crate) fn reclaim_block(&mut self, flash: &mut Flash, super_block: SuperBlock) {
        if self.collection.blocks_per_erase > 1 && self.frees(super_block) {
            self.keep_reclaimable(flash, super_block);
        } else {
            self.submit_erase(flash, super_block);
        }
    }

    #[cold]
    #[inline(never)]
    fn keep_reclaimable(&mut self, flash: &mut Flash, super_block: SuperBlock) {
        let (lane, _) = self.blocks.layout.lane_of(super_block);
        let kept = &mut self.collection.lanes[lane.index()].reclaimable;
        kept.push(super_block);
        if kept.len() as u32 >= self.collection.blocks_per_erase {
            self.erase_reclaimable(flash, lane);
        } else {
            self.erase_reclaimable_if_short(flash, lane);
        }
    }

    /// Erases the reclaimable super blocks of `lane` if it is about to run short of free ones.
    #[inline]
    pub(super) fn erase_reclaimable_if_short(&mut self, flash: &mut Flash, lane: Lane) {
        if !self.collection.lanes[lane.index()].reclaimable.is_empty() && self.is_short(lane) {
            self.erase_reclaimable(flash, lane);
        }
    }

    /// Whether reclaimable super blocks of `lane` are erased, however few they are. Static wear levelling may have nothing but
    /// them for host data.
    #[cold]
    fn is_short(&self, lane: Lane) -> bool {
        let last = self.blocks.free_blocks(lane) <= self.blocks.config().hard_free + 1;
        let levels = self.blocks.lanes[lane.index()].wear_limit.is_some();
        (last || levels || self.formatting.is_some()) && !self.gc_must_wait(lane)
    }

    /// Erases the reclaimable super blocks of `lane`.
    pub(super) fn erase_reclaimable(&mut self, flash: &mut Flash, lane: Lane) {
        let mut kept = std::mem::take(&mut self.collection.lanes[lane.index()].reclaimable);
        let erases: Vec<Txn> = kept.drain(..).map(|super_block| self.erase_of(super_block)).collect();
        flash.nand.submit_erases(flash.events, &erases);
        // Its memory serves the next ones.
        self.collection.lanes[lane.index()].reclaimable = kept;
    }
}
