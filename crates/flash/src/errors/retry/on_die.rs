//! `on-die`: the die predicts from the sensed data whether decoding will fail, and senses again before any data moves (RiF,
//! Chun et al., HPCA'24).
//!
//! The engine is on the die: a sensing that it takes for uncorrectable costs neither channel nor decoder. Only the first
//! sensings of a read are judged; retry steps of the controller, which follow a failed decode, are not.

use super::RetrySteps;
use interpulse_engine::Duration;

pub use super::prediction::OnDie;

impl RetrySteps for OnDie {
    fn cancel_time(&self) -> Option<Duration> {
        None
    }

    fn on_die(&self) -> Option<&OnDie> {
        Some(self)
    }
}
