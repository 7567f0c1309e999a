//! `timeout`: T-ES of Kim et al., ATC'19: reads win, by `immediate`, until a write has starved for `defer-after`;
//! then the erase wins, by `deferred`, one loop at least between two stops. Whose starvation counts, and since
//! when, is the policy's ([`super::DeferClock`]).

use super::deferred::Deferred;
use super::immediate::Immediate;
use super::{Ask, Stop, SuspendScheme};

/// Immediate, then deferred.
pub struct Timeout;

impl SuspendScheme for Timeout {
    #[inline]
    fn stop(&self, ask: &Ask) -> Option<Stop> {
        if ask.overdue { Deferred.stop(ask) } else { Immediate.stop(ask) }
    }

    fn progresses(&self) -> bool {
        false
    }
}
