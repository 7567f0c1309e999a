//! `exact`: the erase suspension that Kim et al., ATC'19, compare with ("ES"). The train stops at once for the part's entry
//! cost and later continues with exactly the remaining time. With `resume-ramp` a pulse resumed midway first regains its
//! voltage.

use super::{StopRequest, Stop, SuspendScheme};

/// Stop at once and keep the exact progress.
pub struct Exact;

impl SuspendScheme for Exact {
    #[inline]
    fn stop(&self, request: &StopRequest) -> Option<Stop> {
        Some(request.halt(request.op.elapsed))
    }

    fn guarantees_progress(&self) -> bool {
        false
    }
}
