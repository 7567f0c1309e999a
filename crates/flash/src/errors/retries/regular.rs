//! `regular`: one step after another.

use super::Steps;
use interpulse_engine::Duration;

/// A retry step waits for the decode of the one before.
pub struct Regular;

impl Steps for Regular {
    fn cut_off(&self) -> Option<Duration> {
        None
    }
}
