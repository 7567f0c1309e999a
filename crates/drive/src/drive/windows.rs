//! Predictable latency mode (NVMe Base Specification 2.0, section 8.18): the drive alternates deterministic windows (DTWIN), in which reads
//! wait for no new program or erase, and non-deterministic ones (NDWIN).
//!
//! Writes of a deterministic window stay in the write cache. The drive leaves the window early (the specification: autonomous transition)
//! when writes wait for the cache, or for a flush.

use super::Drive;
use crate::ftl::Ftl;
use interpulse_engine::{Duration, EventQueue, SimTime};

impl Drive {
    /// Moves the windows by `offset`, before the start. Does nothing without predictable latency mode.
    pub fn set_window_offset(&mut self, offset: Duration) {
        if let Some(windows) = &mut self.windows {
            windows.offset = offset;
        }
    }

    /// Whether the drive is in a deterministic window.
    #[inline]
    pub fn is_deterministic(&self) -> bool {
        self.windows.as_ref().is_some_and(|windows| windows.deterministic)
    }

    /// Counts the current window up to `now`.
    pub fn count_windows(&mut self, now: SimTime) {
        let Some(windows) = &mut self.windows else { return };
        let time = now.since(std::mem::replace(&mut windows.counted, now)).as_ns();
        let of =
            if windows.deterministic { &mut self.counters.dtwin_time } else { &mut self.counters.ndwin_time };
        *of += time;
        self.counters.dtwin_held_operations = self.nand.held_in_windows();
    }

    /// Begins the first window, if the drive has windows.
    pub(super) fn start_windows(&mut self, events: &mut EventQueue) {
        if self.windows.is_some() {
            self.on_window_timer(events);
        }
    }

    /// Begins the window that the schedule has now.
    pub(super) fn on_window_timer(&mut self, events: &mut EventQueue) {
        if self.closed {
            // Without another timer: what is held ends the run.
            return self.enter_window(events, false);
        }
        let Some(windows) = &self.windows else { return };
        let (deterministic, end) = windows.scheduled(events.now());
        self.enter_window(events, deterministic);
        if end <= events.horizon() {
            events.arm(self.place.later(Drive::window_timer_index(&self.spec)), end);
        }
        if deterministic && (!self.host.stalled.is_empty() || self.ftl.has_flushes()) {
            self.leave_deterministic_window(events);
        }
    }

    fn enter_window(&mut self, events: &mut EventQueue, deterministic: bool) {
        self.count_windows(events.now());
        if self.is_deterministic() && !deterministic {
            let cache = self.ftl.cache_use();
            self.counters.dtwin_held_units += u64::from(cache.dirty + cache.in_flight);
        }
        if let Some(windows) = &mut self.windows {
            windows.deterministic = deterministic;
            self.nand.set_deterministic(events, deterministic);
        }
    }

    /// Leaves a deterministic window before its end: a command of the host needs a program.
    #[cold]
    pub(super) fn leave_deterministic_window(&mut self, events: &mut EventQueue) {
        if self.is_deterministic() {
            self.counters.dtwin_excursions += 1;
            self.enter_window(events, false);
        }
    }
}
