//! A die whose power is cut: what it was doing ends at once, wherever it stands.

use super::{Die, LongOp, State};
use crate::command::Use;
use crate::geometry::{Pages, Planes};
use crate::numbers::BlockId;
use interpulse_engine::SimTime;

/// A program or erase that the cut found with some of its pulses applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torn {
    /// Whether it is an erase.
    pub erase: bool,
    /// Its block; `None` for operations without an address.
    pub block: Option<BlockId>,
    /// Its planes.
    pub planes: Planes,
    /// Pages of a program on each plane.
    pub pages: Pages,
}

impl Die {
    /// Power is cut: the die is idle. Returns the operations that it leaves half done; the pages of a program among them
    /// hold nothing and can be written again only after an erase. Operations without a pulse so far have left no trace.
    pub(crate) fn outage(&mut self, now: SimTime) -> [Option<Torn>; 2] {
        let pulsing = matches!(self.state, State::Pulsing | State::Stopping);
        let torn = |op: LongOp| {
            (op.suspends > 0 || (pulsing && op.began < now)).then_some(Torn {
                erase: op.erases(),
                block: op.block,
                planes: op.planes,
                pages: op.pages,
            })
        };
        let operations = [self.long.take().and_then(torn), self.beneath.take().and_then(torn)];
        for program in operations.iter().flatten().filter(|op| !op.erase) {
            let Some(block) = program.block else { continue };
            for plane in program.planes.each() {
                self.blocks.set_programmed(plane, block, program.pages.end() as u16);
            }
        }
        if self.state != State::Idle {
            self.change(now, State::Idle, Use::Idle, BlockId::NONE);
        }
        operations
    }
}
