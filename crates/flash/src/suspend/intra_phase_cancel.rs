//! `intra-phase-cancel`: Intra-Phase Cancellation of Wu and He, FAST'12 (slide 14). The current phase is cancelled at once,
//! the word lines are discharged, and the whole phase is repeated on resume. Reads can cancel the same phase forever. A
//! voltage reset in progress finishes, because a cancellation would perform the same reset.

use super::{StopRequest, Stop, SuspendScheme};
use crate::pulse::PhaseKind;

/// Cancel the current phase and redo it.
pub struct IntraPhaseCancel;

impl SuspendScheme for IntraPhaseCancel {
    #[inline]
    fn stop(&self, request: &StopRequest) -> Option<Stop> {
        let phase = request.op.train.phase_at(request.op.elapsed);
        Some(match phase.kind {
            PhaseKind::Reset => request.stop_after(phase.end - request.op.elapsed),
            PhaseKind::Pulse | PhaseKind::Verify => request.halt_and_reset(phase.start),
        })
    }

    fn guarantees_progress(&self) -> bool {
        false
    }
}
