//! `ideal`: the lower bound on the cost of any scheme (Kim et al., ATC'19, "Ideal-ES"). The train stops at once, keeps its
//! exact progress and costs nothing, whatever the costs of the part.

use super::{StopRequest, Stop, SuspendScheme};
use interpulse_engine::Duration;

/// Stop at once, lose nothing, cost nothing.
pub struct Ideal;

impl SuspendScheme for Ideal {
    #[inline]
    fn stop(&self, request: &StopRequest) -> Option<Stop> {
        Some(Stop {
            after: Duration::ZERO,
            keeps: request.op.elapsed,
            entry: Duration::ZERO,
            resume: Duration::ZERO,
        })
    }

    fn guarantees_progress(&self) -> bool {
        false
    }

    fn has_free_resume(&self) -> bool {
        true
    }
}
