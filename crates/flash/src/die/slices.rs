//! Operations in slices: the end of a slice without a suspension, and the start of the next.

use super::{Die, State};
use crate::command::DieActivity;
use crate::ids::BlockId;
use interpulse_engine::{Duration, SimTime};

impl Die {
    /// The operation on the die will be commanded in slices.
    pub(crate) fn set_sliced(&mut self) {
        self.long.as_mut().expect("an operation is on the die").sliced = true;
    }

    /// The pulses have reached the end of a slice; nothing is served before the next one, whose command takes `overhead`.
    pub(crate) fn end_slice(&mut self, now: SimTime, overhead: Duration) {
        let op = self.long.as_mut().expect("only a long operation has slices");
        (op.kept, op.between_slices) = (op.until, true);
        op.stop.resume = overhead;
        let block = op.block.unwrap_or(BlockId::NONE);
        self.go(now, State::Suspended, DieActivity::Suspended, block);
    }

    /// Whether a slice has ended and no suspension followed.
    pub(crate) fn is_between_slices(&self) -> bool {
        self.long.as_ref().is_some_and(|op| op.between_slices)
    }

    /// Starts the slice up to progress `until`, the first one too; see [`Die::start_pulses`]. Between two slices without a
    /// suspension the operation has been neither suspended nor resumed.
    pub(crate) fn start_slice(
        &mut self,
        now: SimTime,
        start: SimTime,
        ramp: Duration,
        until: Duration,
    ) -> SimTime {
        let op = self.long.as_mut().expect("only a long operation has slices");
        op.until = until;
        let seamless = std::mem::take(&mut op.between_slices);
        let before = (op.resumed, op.suspended);
        let end = self.start_pulses(now, start, ramp);
        if seamless {
            let op = self.long.as_mut().expect("it has just been started");
            (op.resumed, op.suspended) = before;
        }
        end
    }
}
