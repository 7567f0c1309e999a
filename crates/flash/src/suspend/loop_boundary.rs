//! `loop-boundary`: the current loop, pulse and verifies together, is atomic; the train stops at its end and
//! loses nothing (Zambelli et al., Electronics 2021, Section 3.1).

use super::{Ask, Stop, SuspendScheme};

/// Stop at the end of the current loop.
pub struct LoopBoundary;

impl SuspendScheme for LoopBoundary {
    #[inline]
    fn stop(&self, ask: &Ask) -> Option<Stop> {
        let to_end = ask.at.train.to_loop_end(ask.at.elapsed);
        Some(ask.run_on(if ask.at.committed && to_end.as_ns() == 0 {
            ask.at.train.loop_time()
        } else {
            to_end
        }))
    }
}
