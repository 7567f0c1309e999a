//! `ideal`: the bound every real scheme is measured against. The train stops at once, keeps its exact
//! progress and pays nothing, whatever the part's costs are (Kim et al., ATC'19, "Ideal-ES").

use super::{Ask, Stop, SuspendScheme};
use interpulse_engine::Duration;

/// Stop at once, lose nothing, cost nothing.
pub struct Ideal;

impl SuspendScheme for Ideal {
    #[inline]
    fn stop(&self, ask: &Ask) -> Option<Stop> {
        Some(Stop {
            after: Duration::ZERO,
            keeps: ask.at.elapsed,
            entry: Duration::ZERO,
            resume: Duration::ZERO,
        })
    }

    fn progresses(&self) -> bool {
        false
    }

    fn resumes_free(&self) -> bool {
        true
    }
}
