//! `pulse-remainder`: erase suspension of Wu and He, FAST'12 (slides 12 and 13). The current phase is cancelled and the word
//! lines are discharged before the read. A pulse resumes with its remaining time; a verify is repeated from its beginning. A
//! voltage reset in progress finishes first.

use super::{StopRequest, Stop, SuspendScheme};
use crate::pulse::PhaseKind;

/// Cancel; keep the applied part of a pulse, redo a verify.
pub struct PulseRemainder;

impl SuspendScheme for PulseRemainder {
    #[inline]
    fn stop(&self, request: &StopRequest) -> Option<Stop> {
        let phase = request.op.train.phase_at(request.op.elapsed);
        Some(match phase.kind {
            PhaseKind::Pulse => request.halt_and_reset(request.op.elapsed),
            PhaseKind::Reset => request.stop_after(phase.end - request.op.elapsed),
            PhaseKind::Verify => request.halt_and_reset(phase.start),
        })
    }

    fn guarantees_progress(&self) -> bool {
        false
    }
}
