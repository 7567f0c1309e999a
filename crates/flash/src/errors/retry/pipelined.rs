//! `pipelined`: the next step is sensed while data of the previous step is transferred and decoded (PR2).

use super::RetrySteps;
use interpulse_engine::Duration;
use interpulse_settings::{default, keys};

keys! {
    /// Sensing overlaps the decode of the previous step.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Pipelined, pub(super) fn read(s) {
        /// time to cancel a superfluous sensing of a pipelined retry
        pub reset: Duration =
            ["retry-reset"] duration(default(Duration::from_us(5)).at_most(Duration::from_ms(10))),
    }
}

impl RetrySteps for Pipelined {
    fn cancel_time(&self) -> Option<Duration> {
        Some(self.reset)
    }
}
