//! Windows: latencies of the last seconds of wall time.

use super::class::Class;
use super::clock::WallTime;
use interpulse_embed::Duration;
use interpulse_engine::LatencyHistogram;

/// Length of a slot in ns of wall time.
const SLOT: u64 = 1_000_000_000;
/// Slots of a window: the current one, which is not over, and those before it.
const SLOTS: usize = 6;

/// Latencies of a slot by class.
#[derive(Clone, Default)]
struct Slot {
    /// Number of the slot since the origin of wall time.
    number: u64,
    classes: [LatencyHistogram; Class::COUNT],
}

/// The last slots.
#[derive(Clone)]
pub struct Windows {
    slots: Vec<Slot>,
    current: usize,
}

impl Default for Windows {
    fn default() -> Windows {
        Windows { slots: vec![Slot::default(); SLOTS], current: 0 }
    }
}

impl Windows {
    /// Length of a window in seconds of wall time: its complete slots.
    pub const SECONDS: u64 = (SLOTS as u64 - 1) * SLOT / 1_000_000_000;

    /// Commands recorded from now on belong to the slot of `now`.
    #[inline]
    pub fn begin(&mut self, now: WallTime) {
        let number = now.0 / SLOT;
        if number > self.slots[self.current].number {
            self.begin_slot(number);
        }
    }

    #[cold]
    fn begin_slot(&mut self, number: u64) {
        self.current = number as usize % SLOTS;
        self.slots[self.current] = Slot { number, ..Slot::default() };
    }

    /// Records a command.
    #[inline]
    pub fn record(&mut self, class: Class, latency: Duration) {
        self.slots[self.current].classes[class as usize].record(latency);
    }

    /// Latencies of a class in the complete slots of the last [`Windows::SECONDS`] seconds before `now`.
    pub fn of(&self, class: Class, now: WallTime) -> LatencyHistogram {
        let (last, mut all) = (now.0 / SLOT, LatencyHistogram::new());
        for slot in &self.slots {
            if slot.number < last && slot.number + SLOTS as u64 > last {
                all.merge(&slot.classes[class as usize]);
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> WallTime {
        WallTime(ms * 1_000_000)
    }

    #[test]
    fn a_window_has_the_complete_seconds_before_an_instant() {
        let mut windows = Windows::default();
        for second in [0, 1, 2, 8, 9] {
            windows.begin(at(second * 1_000 + 500));
            (0..=second).for_each(|_| windows.record(Class::Read, Duration(1_000)));
        }
        let count = |ms| windows.of(Class::Read, at(ms)).count();
        // The slots of seconds 2 and 8 share a place.
        assert_eq!([count(9_400), count(9_999), count(10_000), count(13_999)], [9, 9, 19, 19]);
        assert_eq!([count(14_000), count(15_000), count(900_000)], [10, 0, 0]);
        assert_eq!(windows.of(Class::Write, at(10_000)).count(), 0);
    }
}
