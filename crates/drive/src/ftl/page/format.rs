//! Format: erases the blocks that held data which is deallocated.

use crate::ftl::flash::Flash;
use crate::ftl::outcome::Outcome;
use crate::ftl::page::formatting::Formatting;
use crate::ftl::page::gc::state::Rewrite;
use crate::ftl::page::page_ftl::PageFtl;
use crate::numbers::{Lane, SuperBlock};
use crate::owner::Owner;
use interpulse_engine::RequestId;
use interpulse_flash::nand::txn::Txn;

impl PageFtl {
    /// Queues all closed blocks, none of which holds valid data, to be erased; returns how many. [`Outcome::Formatted`] reports
    /// the end if there are any.
    #[cold]
    pub fn erase_closed_blocks(&mut self, flash: &mut Flash, tag: RequestId) -> u32 {
        debug_assert!(self.formatting.is_none(), "the drive refuses a second format");
        let mut waits = vec![false; self.blocks.layout.super_blocks() as usize].into_boxed_slice();
        let mut left = 0;
        for lane in Lane::first(self.blocks.layout.lanes) {
            let closed = self.blocks.layout.blocks_of(lane).filter(|&b| self.blocks.map().is_candidate(b));
            for block in closed.collect::<Vec<SuperBlock>>() {
                waits[block.index()] = true;
                left += 1;
                self.collection.lanes[lane.index()].rewrites.push_back(Rewrite::Formatted(block));
            }
        }
        self.formatting = (left > 0).then(|| Box::new(Formatting { tag, waits, left }));
        Lane::first(self.blocks.layout.lanes).for_each(|lane| self.advance_gc(flash, lane));
        left
    }

    /// Notes an erase while a format goes on; true if it was the last one of the format.
    #[cold]
    pub(crate) fn format_erased(&mut self, erase: &Txn) -> bool {
        let (Some(of), Owner::Erase(super_block)) = (&mut self.formatting, Owner::of(erase)) else {
            return false;
        };
        of.left -= u32::from(std::mem::take(&mut of.waits[super_block.index()]));
        let (tag, ends) = (of.tag, of.left == 0);
        if ends {
            self.outcomes.push_back(Outcome::Formatted(tag));
            self.formatting = None;
        }
        ends
    }
}
