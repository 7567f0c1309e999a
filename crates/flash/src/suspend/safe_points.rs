//! `safe-points`: SSR of B. Kim, G. Seo and M. Kim (Journal of KICS 50(9), 2025). A loop has several safe points: its pulse is
//! divided into equal parts, and the train stops at the end of the current part; from the last part on, at the end of the loop.
//! The pulse continues from there, so nothing is lost. The abstract does not print the number of points.

use super::{Stop, StopRequest, SuspendScheme};
use interpulse_engine::Duration;
use interpulse_settings::{default, keys};

keys! {
    /// Stop at the next of several points in a loop.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct SafePoints, pub(super) fn read(s) {
        /// safe points of a loop, its end included, at equal distances in the pulse
        pub points: u32 = ["safe-points"] u32(default(SafePoints::DEFAULT.points).within(1..=1000)),
    }
}

impl SafePoints {
    /// Seven: every 0.5 ms of a loop of 3.5 ms, the step of the same authors' AERO.
    pub const DEFAULT: SafePoints = SafePoints { points: 7 };
}

impl SuspendScheme for SafePoints {
    #[inline]
    fn stop(&self, request: &StopRequest) -> Option<Stop> {
        let op = request.op;
        let start = op.train.loop_start(op.elapsed);
        let end = start + op.train.loop_length(op.elapsed);
        let pulse = end - (op.train.reset + op.train.verify) - start;
        // Rounded up, so that so many parts cover the pulse.
        let part = pulse.as_ns().div_ceil(u64::from(self.points)).max(1);
        let into = (op.elapsed - start).as_ns();
        if into.is_multiple_of(part) && into < pulse.as_ns() && !op.committed {
            return Some(request.stop_after(Duration::ZERO));
        }
        let next = start + Duration::from_ns((into / part + 1) * part);
        let next = if next < start + pulse { next } else { end };
        Some(request.stop_after(next - op.elapsed))
    }
}
