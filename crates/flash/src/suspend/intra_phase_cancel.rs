//! `intra-phase-cancel`: the current phase is cancelled at once, the word lines are discharged, and the whole
//! phase is done again on resume (Wu and He, FAST'12, slide 14: Intra-Phase Cancellation). Nothing makes a
//! train progress while reads keep cancelling the same phase. A voltage reset that is under way is not
//! cancelled but awaited: it is what a cancellation would do.

use super::{Ask, Stop, SuspendScheme};
use crate::pulse::PhaseKind;

/// Cancel the current phase and redo it.
pub struct IntraPhaseCancel;

impl SuspendScheme for IntraPhaseCancel {
    #[inline]
    fn stop(&self, ask: &Ask) -> Option<Stop> {
        let phase = ask.at.train.phase_at(ask.at.elapsed);
        Some(match phase.kind {
            PhaseKind::Reset => ask.run_on(phase.end - ask.at.elapsed),
            PhaseKind::Pulse | PhaseKind::Verify => ask.cut_and_reset(phase.start),
        })
    }

    fn progresses(&self) -> bool {
        false
    }
}
