//! `pulse-remainder`: FAST'12's erase suspension (Wu and He, slides 12 and 13). The current phase is cancelled
//! and the word lines are discharged before the read. The chip remembers how much of a pulse has been applied and
//! resumes with what is left of it; a verify is done again from its beginning. A read that arrives during a
//! voltage reset waits for its end.

use super::{Ask, Stop, SuspendScheme};
use crate::pulse::PhaseKind;

/// Cancel; keep what has been applied of a pulse, redo a verify.
pub struct PulseRemainder;

impl SuspendScheme for PulseRemainder {
    #[inline]
    fn stop(&self, ask: &Ask) -> Option<Stop> {
        let phase = ask.at.train.phase_at(ask.at.elapsed);
        Some(match phase.kind {
            PhaseKind::Pulse => ask.cut_and_reset(ask.at.elapsed),
            PhaseKind::Reset => ask.run_on(phase.end - ask.at.elapsed),
            PhaseKind::Verify => ask.cut_and_reset(phase.start),
        })
    }

    fn progresses(&self) -> bool {
        false
    }
}
