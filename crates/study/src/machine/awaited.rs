//! Something that threads wait for, until it comes or they give up.

use crate::control::lock;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long somebody who waits sleeps until he looks again whether he is still to wait.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Something that threads wait for.
#[derive(Default)]
pub struct Awaited<T> {
    pub now: Mutex<T>,
    pub changed: Condvar,
}

impl<T> Awaited<T> {
    /// Waits until `found` finds what is looked for, or `given_up` says to wait no longer.
    pub fn wait<R>(
        &self,
        mut now: MutexGuard<'_, T>,
        given_up: &mut dyn FnMut() -> bool,
        mut found: impl FnMut(&mut T) -> Option<R>,
    ) -> Option<R> {
        loop {
            let seen = found(&mut now);
            if seen.is_some() || given_up() {
                return seen;
            }
            now = self.changed.wait_timeout(now, LOOK_AGAIN).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Changes it, and wakes those who wait.
    pub fn change<R>(&self, how: impl FnOnce(&mut T) -> R) -> R {
        let done = how(&mut lock(&self.now));
        self.changed.notify_all();
        done
    }
}
