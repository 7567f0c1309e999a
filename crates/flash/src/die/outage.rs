//! Power cut of a die: all operations end at once.

use super::{Die, LongOp, State};
use crate::cell_mode::CellMode;
use crate::command::DieActivity;
use crate::geometry::{Pages, Planes};
use crate::ids::{BlockId, WordLineId};
use crate::reprogram::Bit;
use interpulse_engine::SimTime;
use std::iter;

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
    /// Page of a reprogram.
    pub reprograms: Option<Bit>,
    /// The energy of capacitors was enough for the rest: a reprogram that is complete.
    pub completed: bool,
}

impl Die {
    /// Cuts the power: the die is idle. Returns the torn operations; pages of a torn program hold nothing and can be written
    /// again only after an erase. A torn reprogram leaves nothing of the other page of its word line either; capacitors
    /// complete it (`completes_reprograms`). Operations without a pulse so far have left no trace.
    pub(crate) fn outage(&mut self, now: SimTime, completes_reprograms: bool) -> Vec<Torn> {
        let pulsing = matches!(self.state, State::Pulsing | State::Stopping);
        let has_pulsed = |op: &LongOp| op.has_halted() || (pulsing && op.began < now);
        let completes = |op: &LongOp| completes_reprograms && op.reprograms.is_some();
        let torn = |op: LongOp| {
            has_pulsed(&op).then_some(Torn {
                erase: op.erases(),
                block: op.block,
                planes: op.planes,
                pages: op.pages,
                mode: op.mode,
                reprograms: op.reprograms,
                completed: completes(&op),
            })
        };
        let completed = self.long.filter(|op| has_pulsed(op) && completes(op));
        let long = self.long.take();
        let joined = long.iter().flat_map(|op| self.joined.iter().map(|joined| joined.alone(op)));
        let all = long.into_iter().chain(joined).chain(self.beneath.take());
        let with = &self.erased_with;
        let each = |op: LongOp| {
            let others = with.iter().filter(move |_| op.erases());
            iter::once(op).chain(others.map(move |&block| LongOp { block: Some(block), ..op }))
        };
        let operations: Vec<Torn> = all.flat_map(each).filter_map(torn).collect();
        self.joined.clear();
        self.erased_with.clear();
        if let Some(op) = completed {
            self.finish_in_mode(&op);
        }
        for program in operations.iter().filter(|op| !op.erase && !op.completed) {
            let Some(block) = program.block else { continue };
            for plane in program.planes.each() {
                self.set_programmed(program.mode, plane, block, program.pages);
                if program.mode == CellMode::Mlc {
                    let word_line = WordLineId::of_page(program.pages.first, self.pages_per_word_line);
                    self.blocks.tear(plane, block, word_line);
                }
            }
        }
        if self.state != State::Idle {
            self.change(now, State::Idle, DieActivity::Idle, BlockId::NONE);
        }
        operations
    }
}
