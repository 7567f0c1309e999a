//! `sliced`: programs and erases in slices, for parts that cannot suspend (US 9,892,794, claim 1). Before each slice the
//! controller writes an instruction and trim values into the registers of the die, which applies so many pulses; reads that
//! wait at the end of a slice are served before the next one. The time of a command is not published.

use super::{Stop, StopRequest, SuspendScheme};
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
}

impl SuspendScheme for Sliced {
    #[inline]
    fn stop(&self, request: &StopRequest) -> Option<Stop> {
        let op = request.op;
        // A slice that ends at this instant has not been commanded.
        let ended = !op.committed && self.ends_at(op.train, op.elapsed);
        let after = if ended { Duration::ZERO } else { self.end(op.train, op.elapsed) - op.elapsed };
        let keeps = op.elapsed + after;
        Some(Stop { after, keeps, entry: Duration::ZERO, resume: self.overhead })
    }

    fn slices(&self) -> Option<&Sliced> {
        Some(self)
    }
}

impl Sliced {
    /// Whether a slice ends at progress `at`.
    fn ends_at(&self, train: &PulseTrain, at: Duration) -> bool {
        at > Duration::ZERO && self.end(train, at - Duration::from_ns(1)) == at
    }
}
