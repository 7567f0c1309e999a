//! `inter-phase`: Inter-Phase Suspension of Wu and He, FAST'12 (slide 14). Each pulse and each verify is atomic; the train
//! stops after the current one and loses nothing.

use super::{StopRequest, Stop, SuspendScheme};
use interpulse_engine::Duration;

/// Stop at the end of the current phase.
pub struct InterPhase;

impl SuspendScheme for InterPhase {
    #[inline]
    fn stop(&self, request: &StopRequest) -> Option<Stop> {
        let phase = request.op.train.phase_at(request.op.elapsed);
        let between = phase.start == request.op.elapsed && !request.op.committed;
        Some(request.stop_after(if between { Duration::ZERO } else { phase.end - request.op.elapsed }))
    }
}
