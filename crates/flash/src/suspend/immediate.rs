//! `immediate`: I-ES of Kim et al., ATC'19. The train stops at once for the part's entry cost and restarts the interrupted
//! loop from its beginning, the last safe point. Reads can interrupt the same loop forever: an erase can starve, and with it
//! the writes that wait for its block.

use super::{StopRequest, Stop, SuspendScheme};

/// Stop at once and restart the interrupted loop.
pub struct Immediate;

impl SuspendScheme for Immediate {
    #[inline]
    fn stop(&self, request: &StopRequest) -> Option<Stop> {
        Some(request.halt(request.op.train.loop_start(request.op.elapsed)))
    }

    fn guarantees_progress(&self) -> bool {
        false
    }
}
