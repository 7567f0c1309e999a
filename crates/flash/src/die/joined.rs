//! Programs that pulse together with the one on a die, each on planes of its own: a multi-plane program of several
//! transactions.

use super::operation::Joined;
use super::{Die, LongOp};
use crate::cell_mode::CellMode;
use crate::geometry::{Pages, Planes};
use crate::ids::BlockId;
use interpulse_engine::SimTime;

impl Die {
    /// The program on the die also writes these pages of other planes, in its cell mode.
    pub fn join_program(&mut self, now: SimTime, planes: Planes, block: BlockId, pages: Pages) {
        let op = *self.long.as_ref().expect("a program has begun");
        let others = self.joined.iter().map(|of| of.planes).chain([op.planes]);
        if others.into_iter().any(|of| of.each().any(|plane| planes.each().contains(&plane))) {
            self.illegal(now, &format!("two programs of planes {:?} at the same time", planes.each()));
        }
        self.check_pages(now, planes, block, pages, op.mode);
        self.joined.push(Joined { block, planes, pages });
        self.long.as_mut().expect("a program has begun").width += planes.count;
    }

    /// The programs that pulsed along with `op` are complete.
    #[cold]
    #[inline(never)]
    pub(super) fn finish_joined(&mut self, op: &LongOp) {
        let mut all = std::mem::take(&mut self.joined);
        for joined in all.drain(..) {
            if op.mode == CellMode::Native {
                let programmed = joined.pages.end() as u16;
                for plane in joined.planes.each() {
                    self.blocks.set_programmed(plane, joined.block, programmed);
                }
            } else {
                self.finish_in_mode(&joined.alone(op));
            }
        }
        // Its memory serves the next operation.
        self.joined = all;
    }
}
