//! Memory that long requests of all connections share.

use std::sync::{Condvar, Mutex, PoisonError};

/// A number of bytes, shared.
pub struct Budget {
    free: Mutex<u64>,
    freed: Condvar,
}

/// Bytes taken from a budget, given back when dropped.
pub struct Share<'a> {
    of: &'a Budget,
    bytes: u64,
}

impl Budget {
    /// A budget of `bytes`.
    pub fn new(bytes: u64) -> Budget {
        Budget { free: Mutex::new(bytes), freed: Condvar::new() }
    }

    /// Takes `bytes`, at most those of the whole budget; waits for them.
    pub fn take(&self, bytes: u64) -> Share<'_> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free < bytes {
            free = self.freed.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= bytes;
        Share { of: self, bytes }
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        *self.of.free.lock().unwrap_or_else(PoisonError::into_inner) += self.bytes;
        self.of.freed.notify_all();
    }
}
