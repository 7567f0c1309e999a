//! Read-retry policies: overlap of a retry step with the decode of the previous step. A policy is one file in `retry/`, with
//! its own keys if any, and one line of the registry.

use interpulse_engine::Duration;
use interpulse_settings::registry;

pub use pipelined::Pipelined;

registry! {
    $ /// Overlap of a retry step with the decode of the previous step.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Retry, each_retry {
        "regular" => regular::Regular: "a retry step waits for the decode of the previous step";
        "pipelined" => pipelined::Pipelined(it): "the next step is sensed while the previous step is decoded (PR2)";
    }
}

/// A read-retry policy.
trait RetrySteps {
    /// Time to cancel a sensing that a successful decode made superfluous; `None` if steps do not overlap.
    fn cancel_time(&self) -> Option<Duration>;
}

impl Retry {
    /// Time to cancel a sensing that a successful decode made superfluous; `None` if steps do not overlap.
    pub fn cancel_time(&self) -> Option<Duration> {
        each_retry!(self, it => it.cancel_time())
    }
}
