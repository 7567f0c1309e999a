//! `loop-boundary`: the current loop, pulse and verifies together, is atomic; the train stops at its end and
//! loses nothing (Zambelli et al., Electronics 2021, Section 3.1).

use super::{Progress, Stop, SuspendCosts, SuspendScheme};
use crate::pulse::PulseTrain;

/// Stop at the end of the current loop.
pub struct LoopBoundary;

impl SuspendScheme for LoopBoundary {
    #[inline]
    fn stop(&self, train: &PulseTrain, at: Progress, costs: &SuspendCosts) -> Option<Stop> {
        let to_end = train.to_loop_end(at.elapsed);
        let after = if at.committed && to_end.as_ns() == 0 { train.loop_time() } else { to_end };
        Some(Stop { after, keeps: at.elapsed + after, entry: costs.entry, resume: costs.resume })
    }
}
