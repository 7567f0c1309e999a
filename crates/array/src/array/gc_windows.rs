//! GC windows (IODA, H. Li et al., SOSP'21): time slots for garbage collection.

use interpulse_engine::{Duration, SimTime};

/// GC window schedule: the drives own the window in rotation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GcWindows {
    /// Length of a window.
    pub(crate) length: Duration,
    /// Activity count when the last window opened, and windows since it changed.
    pub(crate) seen: u64,
    pub(crate) quiet: u32,
}

impl GcWindows {
    pub(crate) fn new(length: Duration) -> GcWindows {
        GcWindows { length, seen: 0, quiet: 0 }
    }

    /// Number of the window at `now`.
    pub(crate) fn number(&self, now: SimTime) -> u64 {
        now.as_ns() / self.length.as_ns()
    }
}
