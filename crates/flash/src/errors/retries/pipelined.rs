//! `pipelined`: the next step is sensed while the data of the one before moves out and is decoded (PR2).

use super::Steps;
use interpulse_engine::Duration;
use interpulse_settings::{default, keys};

keys! {
    /// The next step is sensed meanwhile.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Pipelined, pub(super) fn read(s) {
        /// time to cut off a sensing that a pipelined retry began in vain
        pub reset: Duration =
            ["retry-reset"] duration(default(Duration::from_us(5)).at_most(Duration::from_ms(10))),
    }
}

impl Steps for Pipelined {
    fn cut_off(&self) -> Option<Duration> {
        Some(self.reset)
    }
}
