//! Idle time of a drive with an SLC cache.

use crate::ftl::flash::Flash;
use interpulse_engine::{Duration, ResourceId, SimTime};

/// Idle time of a drive with an SLC cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Folding {
    /// Time without commands after which folding begins.
    pub(super) delay: Duration,
    timer: ResourceId,
    /// Start of the last command.
    pub(super) last: SimTime,
    pub(super) armed: bool,
    /// No command has started for `delay`.
    pub(super) idle: bool,
}

impl Folding {
    pub(crate) fn new(delay: Duration, timer: ResourceId) -> Folding {
        Folding { delay, timer, last: SimTime::ZERO, armed: false, idle: false }
    }

    pub(crate) fn lose_power(&mut self) {
        (self.armed, self.idle) = (false, false);
    }

    /// Sets the timer to the end of the delay after the last command.
    pub(super) fn arm(&mut self, flash: &mut Flash) {
        self.armed = true;
        let due = self.last + self.delay;
        if due <= flash.events.horizon() {
            flash.events.arm(self.timer, due);
        }
    }
}
