//! Whose turn it is to collect garbage.

use interpulse_engine::{Duration, SimTime};

/// Whose turn it is to collect garbage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turns {
    /// How long each has.
    pub(crate) length: Duration,
    /// What had happened when the last turn began, and turns since it changed.
    pub(crate) seen: u64,
    pub(crate) quiet: u32,
}

impl Turns {
    pub(crate) fn new(length: Duration) -> Turns {
        Turns { length, seen: 0, quiet: 0 }
    }

    /// The number of the turn at `now`.
    pub(crate) fn number(&self, now: SimTime) -> u64 {
        now.as_ns() / self.length.as_ns()
    }
}
