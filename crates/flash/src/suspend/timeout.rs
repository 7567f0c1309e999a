//! `timeout`: T-ES of Kim et al., ATC'19: reads win, by `immediate`, until a write has starved for `defer-after`;
//! then the erase wins, by `deferred`, one loop at least between two stops.

use super::deferred::Deferred;
use super::immediate::Immediate;
use super::{Ask, Standing, Stop, SuspendScheme};
use interpulse_engine::Duration;
use interpulse_settings::{ConfigError, Section, default};

/// Immediate, then deferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeout {
    /// Starvation after which it defers.
    pub after: Duration,
    /// Whose starvation.
    pub clock: DeferClock,
    /// How it defers.
    pub then: Deferred,
}

/// Whose starvation is watched (Kim et al., ATC'19).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeferClock {
    /// Of the operation itself, from its first suspension on (the slides).
    FirstSuspend,
    /// Of the operation itself: the time it has spent suspended (the slides, read the other way).
    SuspendedTime,
    /// Of the host write that has waited longest, on the whole drive (the authors' code).
    HostWrite,
}

impl DeferClock {
    /// Name, value and one line of documentation of each.
    pub const ALL: &'static [(&'static str, DeferClock, &'static str)] = &[
        ("first-suspend", DeferClock::FirstSuspend, "time since the operation's first suspension"),
        ("suspended-time", DeferClock::SuspendedTime, "time the operation has spent suspended"),
        (
            "host-write",
            DeferClock::HostWrite,
            "age of the oldest host write that waits for the cache, drive-wide",
        ),
    ];
}

impl Timeout {
    /// The slides' 64 ms (slide 32).
    pub const DEFAULT: Timeout = Timeout {
        after: Duration::from_ms(64),
        clock: DeferClock::FirstSuspend,
        then: Deferred::DEFAULT,
    };

    pub(super) fn read(s: &mut Section) -> Result<Timeout, ConfigError> {
        Ok(Timeout {
            after: s.duration(
                "defer-after",
                "how long a write may starve before the operation is no longer cut short",
                default(Timeout::DEFAULT.after).at_most(Duration::from_ms(100_000)),
            )?,
            clock: s.choice(
                "defer-clock",
                "whose starvation counts",
                Some("first-suspend"),
                DeferClock::ALL,
            )?,
            then: Deferred::read(s)?,
        })
    }

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
