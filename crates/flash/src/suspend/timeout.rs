//! `timeout`: T-ES of Kim et al., ATC'19. `immediate` until a write has starved for `defer-after`; from then on `deferred`,
//! with at least one loop between two stops.

use super::deferred::Deferred;
use super::immediate::Immediate;
use super::{StopRequest, LongOpStatus, Stop, SuspendScheme};
use interpulse_engine::Duration;
use interpulse_settings::{choices, default, keys};

keys! {
    /// Immediate, then deferred.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Timeout, pub(super) fn read(s) {
        /// starvation time of a write after which stops are deferred to the end of a loop
        pub after: Duration =
            ["defer-after"] duration(default(Timeout::DEFAULT.after).at_most(Duration::from_ms(100_000))),
        /// clock of the starvation time
        pub clock: DeferClock = ["defer-clock"] choice(Some("first-suspend"), DeferClock::ALL),
        /// The deferred scheme.
        pub then: Deferred => Deferred::read(s)?,
    }
}

choices! {
    /// Clock of the starvation time (Kim et al., ATC'19).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum DeferClock {
        /// time since the operation's first suspension
        FirstSuspend = "first-suspend",
        /// time the operation has spent suspended
        // An alternative reading of the slides.
        SuspendedTime = "suspended-time",
        /// age of the oldest host write that waits for the cache, drive-wide
        // The authors' simulator.
        HostWrite = "host-write",
    }
}

impl Timeout {
    /// 64 ms (slide 32).
    pub const DEFAULT: Timeout = Timeout {
        after: Duration::from_ms(64),
        clock: DeferClock::FirstSuspend,
        then: Deferred::DEFAULT,
    };

    #[inline]
    fn overdue(&self, op: &LongOpStatus) -> bool {
        let waited = match self.clock {
            DeferClock::FirstSuspend if op.suspends == 0 => Duration::ZERO,
            DeferClock::FirstSuspend => op.now.since(op.first_suspend),
            DeferClock::SuspendedTime => op.suspended,
            DeferClock::HostWrite => op.oldest_write.map_or(Duration::ZERO, |since| op.now.since(since)),
        };
        waited >= self.after
    }
}

impl SuspendScheme for Timeout {
    #[inline]
    fn stop(&self, request: &StopRequest) -> Option<Stop> {
        if self.overdue(request.op) { self.then.stop(request) } else { Immediate.stop(request) }
    }

    fn guarantees_progress(&self) -> bool {
        false
    }

    fn watches_writes(&self) -> bool {
        self.clock == DeferClock::HostWrite
    }
}
