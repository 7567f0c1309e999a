//! Condition: a guarded value that threads wait on with a cancellation test.

use crate::control::lock;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Interval of cancellation tests.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Guarded value with a condition variable.
#[derive(Default)]
pub struct Condition<T> {
    pub now: Mutex<T>,
    pub changed: Condvar,
}

impl<T> Condition<T> {
    /// Waits until `found` returns a value or `cancelled` returns true.
    pub fn wait<R>(
        &self,
        mut now: MutexGuard<'_, T>,
        cancelled: &mut dyn FnMut() -> bool,
        mut found: impl FnMut(&mut T) -> Option<R>,
    ) -> Option<R> {
        loop {
            let seen = found(&mut now);
            if seen.is_some() || cancelled() {
                return seen;
            }
            now = self.changed.wait_timeout(now, LOOK_AGAIN).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Updates the value and wakes all waiters.
    pub fn change<R>(&self, how: impl FnOnce(&mut T) -> R) -> R {
        let done = how(&mut lock(&self.now));
        self.changed.notify_all();
        done
    }
}
