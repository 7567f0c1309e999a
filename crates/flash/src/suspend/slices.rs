//! Slices of a program or an erase: their length, and where each ends.

use crate::pulse::PulseTrain;
use interpulse_engine::Duration;
use interpulse_settings::{default, keys, optional};

keys! {
    /// Stop at the end of a slice.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Sliced, pub(super) fn read(s) {
        /// loops of a slice
        pub loops: u32 = ["slice-loops"] u32(default(Sliced::DEFAULT.loops).within(1..=1000)),
        /// longest pulse of a slice; longer ones are divided, and each loop then ends a slice; not divided by default
        pub time: Option<Duration> =
            ["slice-time"] optional_duration(optional().at_least(Duration::from_us(1)).at_most(Duration::from_ms(1000))),
        /// time to command a slice after the first
        pub overhead: Duration =
            ["slice-overhead"] duration(default(Sliced::DEFAULT.overhead).at_most(Duration::from_ms(100))),
    }
}

impl Sliced {
    /// A loop in each slice; the 10 us are assumed.
    pub const DEFAULT: Sliced = Sliced { loops: 1, time: None, overhead: Duration::from_us(10) };

    /// End of the slice at progress `at`; at the end of one, of the next.
    pub fn end(&self, train: &PulseTrain, at: Duration) -> Duration {
        let start = train.loop_start(at);
        let end = start + train.loop_length(at);
        let pulse_end = end - (train.reset + train.verify);
        if let Some(time) = self.time.filter(|&time| start + time < pulse_end) {
            let part = time.as_ns();
            let next = start + Duration::from_ns(((at - start).as_ns() / part + 1) * part);
            return if next < pulse_end { next } else { end };
        }
        let done = train.loops_left(Duration::ZERO) - train.loops_left(at);
        let more = u64::from(self.loops) - done % u64::from(self.loops) - 1;
        let mut end = end;
        for _ in 0..more {
            if end >= train.total() {
                break;
            }
            end += train.loop_length(end);
        }
        end
    }

    /// Whether a slice ends at progress `at`.
    pub(super) fn ends_at(&self, train: &PulseTrain, at: Duration) -> bool {
        at > Duration::ZERO && self.end(train, at - Duration::from_ns(1)) == at
    }
}
