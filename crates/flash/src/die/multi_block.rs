//! Blocks that a die erases in one operation.

use super::{Die, LongOp};
use crate::ids::BlockId;
use interpulse_engine::SimTime;

impl Die {
    /// The erase on the die also erases this block of the same planes.
    pub fn join_erase(&mut self, now: SimTime, block: BlockId) {
        let op = self.long.as_ref().expect("an erase has begun");
        if !op.erases() || op.block == Some(block) || self.erased_with.contains(&block) {
            self.illegal(now, &format!("erase of block {block} together with {:?}", op.block));
        }
        self.blocks.check_address(block);
        self.erased_with.push(block);
    }

    /// Blocks of each plane that the operation on the die works on.
    #[inline]
    pub fn blocks_of_operation(&self) -> u32 {
        let erases = self.long.as_ref().is_some_and(LongOp::erases);
        if erases { self.erased_with.len() as u32 + 1 } else { 1 }
    }

    /// The blocks that were erased along with `op` are empty.
    #[cold]
    #[inline(never)]
    pub(super) fn finish_erased_with(&mut self, op: &LongOp) {
        let mut all = std::mem::take(&mut self.erased_with);
        for block in all.drain(..) {
            op.planes.each().for_each(|plane| self.blocks.set_programmed(plane, block, 0));
        }
        // Its memory serves the next operation.
        self.erased_with = all;
    }

    /// Wears the blocks that are erased along with `op` by a suspension.
    #[cold]
    #[inline(never)]
    pub(super) fn stress_erased_with(&mut self, op: &LongOp, stress_ppm: u32) {
        for &block in &self.erased_with {
            op.planes.each().for_each(|plane| self.blocks.add_stress(plane, block, stress_ppm));
        }
    }
}
