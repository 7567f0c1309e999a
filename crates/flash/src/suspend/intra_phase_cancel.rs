//! `intra-phase-cancel`: the current phase is cancelled at once, the word lines are discharged, and the whole
//! phase is done again on resume (Wu and He, FAST'12, slide 14: Intra-Phase Cancellation). Nothing makes a
//! train progress while reads keep cancelling the same phase.

use super::{Progress, Stop, SuspendCosts, SuspendScheme};
use crate::pulse::PulseTrain;
use interpulse_engine::Duration;

/// Cancel the current phase and redo it.
pub struct IntraPhaseCancel;

impl SuspendScheme for IntraPhaseCancel {
    #[inline]
    fn stop(&self, train: &PulseTrain, at: Progress, costs: &SuspendCosts) -> Option<Stop> {
        let keeps = train.phase_at(at.elapsed).start;
        Some(Stop { after: Duration::ZERO, keeps, entry: costs.reset + costs.entry, resume: costs.resume })
    }

    fn progresses(&self) -> bool {
        false
    }
}
