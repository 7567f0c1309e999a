//! Power cut of a die: all operations end at once.

use super::{Die, LongOp, State};
use crate::cell_mode::CellMode;
use crate::command::DieActivity;
use crate::geometry::{Pages, Planes};
use crate::ids::BlockId;
use interpulse_engine::SimTime;

/// Program or erase interrupted after some of its pulses.
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
    /// Mode in which a program writes.
    pub mode: CellMode,
}

impl Die {
    /// Cuts the power: the die is idle. Returns the torn operations; pages of a torn program hold nothing and can be written
    /// again only after an erase. Operations without a pulse so far have left no trace.
    pub(crate) fn outage(&mut self, now: SimTime) -> Vec<Torn> {
        let pulsing = matches!(self.state, State::Pulsing | State::Stopping);
        let torn = |op: LongOp| {
            (op.has_halted() || (pulsing && op.began < now)).then_some(Torn {
                erase: op.erases(),
                block: op.block,
                planes: op.planes,
                pages: op.pages,
                mode: op.mode,
            })
        };
        let long = self.long.take();
        let joined = long.iter().flat_map(|op| self.joined.iter().map(|joined| joined.alone(op)));
        let operations: Vec<Torn> =
            long.into_iter().chain(joined).chain(self.beneath.take()).filter_map(torn).collect();
        self.joined.clear();
        for program in operations.iter().filter(|op| !op.erase) {
            let Some(block) = program.block else { continue };
            for plane in program.planes.each() {
                self.set_programmed(program.mode, plane, block, program.pages);
            }
        }
        if self.state != State::Idle {
            self.change(now, State::Idle, DieActivity::Idle, BlockId::NONE);
        }
        operations
    }
}
