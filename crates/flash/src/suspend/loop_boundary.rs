//! `loop-boundary`: the current loop (pulse and verifies) is atomic; the train stops at its end and loses nothing (Zambelli
//! et al., Electronics 2021, Section 3.1).

use super::{StopRequest, Stop, SuspendScheme};

/// Stop at the end of the current loop.
pub struct LoopBoundary;

impl SuspendScheme for LoopBoundary {
    #[inline]
    fn stop(&self, request: &StopRequest) -> Option<Stop> {
        let to_end = request.op.train.to_loop_end(request.op.elapsed);
        Some(request.stop_after(if request.op.committed && to_end.as_ns() == 0 {
            request.op.train.loop_length(request.op.elapsed)
        } else {
            to_end
        }))
    }
}
