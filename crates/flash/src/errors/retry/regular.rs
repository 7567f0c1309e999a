//! `regular`: sequential retry steps.

use super::RetrySteps;
use interpulse_engine::Duration;

/// A retry step waits for the decode of the previous step.
pub struct Regular;

impl RetrySteps for Regular {
    fn cancel_time(&self) -> Option<Duration> {
        None
    }
}
