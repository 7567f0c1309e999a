//! Read-retry policies: where a retry step comes from, and its overlap with the decode of the previous step. A policy is one file in `retry/`, with
//! its own keys if any, and one line of the registry.

use interpulse_engine::Duration;
use interpulse_settings::registry;

mod prediction;

pub use pipelined::Pipelined;
pub use prediction::{Offsets, OnDie};

registry! {
    $ /// How reads are retried.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum Retry, each_retry {
        "regular" => regular::Regular: "a retry step waits for the decode of the previous step";
        "pipelined" => pipelined::Pipelined(it): "the next step is sensed while the previous step is decoded (PR2)";
        "on-die" => on_die::OnDie(it): "the die predicts failing decodes and senses again before data moves (RiF); later steps are regular";
    }
}

/// A read-retry policy.
trait RetrySteps {
    /// Time to cancel a sensing that a successful decode made superfluous; `None` if steps do not overlap.
    fn cancel_time(&self) -> Option<Duration>;

    /// What a die does before data moves, if anything.
    fn on_die(&self) -> Option<&OnDie> {
        None
    }
}

impl Retry {
    /// Time to cancel a sensing that a successful decode made superfluous; `None` if steps do not overlap.
    pub fn cancel_time(&self) -> Option<Duration> {
        each_retry!(self, it => it.cancel_time())
    }

    /// What a die does before data moves, if anything.
    pub fn on_die(&self) -> Option<&OnDie> {
        each_retry!(self, it => it.on_die())
    }
}
