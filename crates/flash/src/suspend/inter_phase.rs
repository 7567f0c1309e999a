//! `inter-phase`: each pulse and each verify is atomic; the train stops in the interval after the current one
//! and loses nothing (Wu and He, FAST'12, slide 14: Inter-Phase Suspension).

use super::{Ask, Stop, SuspendScheme};
use interpulse_engine::Duration;

/// Stop at the end of the current phase.
pub struct InterPhase;

impl SuspendScheme for InterPhase {
    #[inline]
    fn stop(&self, ask: &Ask) -> Option<Stop> {
        let phase = ask.at.train.phase_at(ask.at.elapsed);
        let between = phase.start == ask.at.elapsed && !ask.at.committed;
        Some(ask.run_on(if between { Duration::ZERO } else { phase.end - ask.at.elapsed }))
    }
}
