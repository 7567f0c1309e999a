//! `inter-phase`: each pulse and each verify is atomic; the train stops in the interval after the current one
//! and loses nothing (Wu and He, FAST'12, slide 14: Inter-Phase Suspension).

use super::{Progress, Stop, SuspendCosts, SuspendScheme};
use crate::pulse::PulseTrain;

/// Stop at the end of the current phase.
pub struct InterPhase;

impl SuspendScheme for InterPhase {
    #[inline]
    fn stop(&self, train: &PulseTrain, at: Progress, costs: &SuspendCosts) -> Option<Stop> {
        let phase = train.phase_at(at.elapsed);
        let between = phase.start == at.elapsed && !at.committed;
        let after = if between { interpulse_engine::Duration::ZERO } else { phase.end - at.elapsed };
        Some(Stop { after, keeps: at.elapsed + after, entry: costs.entry, resume: costs.resume })
    }
}
