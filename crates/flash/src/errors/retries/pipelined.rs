//! `pipelined`: the next step is sensed while the data of the one before moves out and is decoded (PR2).

use super::Steps;
use interpulse_engine::Duration;
use interpulse_settings::{ConfigError, Section, default};

/// The next step is sensed meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pipelined {
    /// Time that ends a sensing begun in vain.
    pub reset: Duration,
}

impl Pipelined {
    pub(super) fn read(s: &mut Section) -> Result<Pipelined, ConfigError> {
        let range = default(Duration::from_us(5)).at_most(Duration::from_ms(10));
        let doc = "time to cut off a sensing that a pipelined retry began in vain";
        Ok(Pipelined { reset: s.duration("retry-reset", doc, range)? })
    }
}

impl Steps for Pipelined {
    fn cut_off(&self) -> Option<Duration> {
        Some(self.reset)
    }
}
