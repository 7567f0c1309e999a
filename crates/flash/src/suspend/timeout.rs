//! `timeout`: T-ES of Kim et al., ATC'19: reads win, by `immediate`, until a write has starved for `defer-after`;
//! then the erase wins, by `deferred`, one loop at least between two stops.

use super::deferred::Deferred;
use super::immediate::Immediate;
use super::{Ask, Standing, Stop, SuspendScheme};
use interpulse_engine::Duration;
use interpulse_settings::{choices, default, keys};

keys! {
    /// Immediate, then deferred.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Timeout, pub(super) fn read(s) {
        /// how long a write may starve before the operation is no longer cut short
        pub after: Duration =
            ["defer-after"] duration(default(Timeout::DEFAULT.after).at_most(Duration::from_ms(100_000))),
        /// whose starvation counts
        pub clock: DeferClock = ["defer-clock"] choice(Some("first-suspend"), DeferClock::ALL),
        /// How it defers.
        pub then: Deferred => Deferred::read(s)?,
    }
}

choices! {
    /// Whose starvation is watched (Kim et al., ATC'19).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum DeferClock {
        /// time since the operation's first suspension
        // The slides.
        FirstSuspend = "first-suspend",
        /// time the operation has spent suspended
        // The slides, read the other way.
        SuspendedTime = "suspended-time",
        /// age of the oldest host write that waits for the cache, drive-wide
        // The authors' code.
        HostWrite = "host-write",
    }
}

impl Timeout {
    /// The slides' 64 ms (slide 32).
    pub const DEFAULT: Timeout = Timeout {
        after: Duration::from_ms(64),
        clock: DeferClock::FirstSuspend,
        then: Deferred::DEFAULT,
    };

    #[inline]
    fn overdue(&self, at: &Standing) -> bool {
        let waited = match self.clock {
            DeferClock::FirstSuspend if at.suspends == 0 => Duration::ZERO,
            DeferClock::FirstSuspend => at.now.since(at.first_suspend),
            DeferClock::SuspendedTime => at.suspended,
            DeferClock::HostWrite => at.oldest_write.map_or(Duration::ZERO, |since| at.now.since(since)),
        };
        waited >= self.after
    }
}

impl SuspendScheme for Timeout {
    #[inline]
    fn stop(&self, ask: &Ask) -> Option<Stop> {
        if self.overdue(ask.at) { self.then.stop(ask) } else { Immediate.stop(ask) }
    }

    fn progresses(&self) -> bool {
        false
    }

    fn watches_writes(&self) -> bool {
        self.clock == DeferClock::HostWrite
    }
}
