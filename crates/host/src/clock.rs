//! What simulated time is tied to.

use interpulse_engine::{Duration, SimTime};

/// The clock that a run follows.
pub trait Clock {
    /// Returns when it is `at` by this clock, or at once if that has gone by; then says how long ago it was.
    fn synchronize(&mut self, at: SimTime) -> Duration;
}

/// No clock: simulated time passes as fast as it can be computed.
#[derive(Clone, Copy, Debug, Default)]
pub struct FreeRunning;

impl Clock for FreeRunning {
    #[inline(always)]
    fn synchronize(&mut self, _at: SimTime) -> Duration {
        Duration::ZERO
    }
}
