//! `nearest`: the train stops at the nearer end of its current loop. It finishes a loop of which at most half is left, and
//! restarts another from its beginning.

use super::{Stop, StopRequest, SuspendScheme};

/// Stop at the nearer end of the current loop.
pub struct Nearest;

impl SuspendScheme for Nearest {
    fn stop(&self, request: &StopRequest) -> Option<Stop> {
        let (op, train) = (request.op, request.op.train);
        let left = train.to_loop_end(op.elapsed);
        if op.committed {
            // Reads during a resume must not starve the operation: it completes a loop first.
            return Some(request.stop_after(if left.as_ns() == 0 { train.loop_time() } else { left }));
        }
        Some(if 2 * left.as_ns() <= train.loop_time().as_ns() {
            request.stop_after(left)
        } else {
            request.halt(train.loop_start(op.elapsed))
        })
    }
}
