//! Clock: the relation of wall time to drive time.

use interpulse_embed::SimTime;
use std::str::FromStr;

/// Wall time in ns since an instant that the owner of the clock chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct WallTime(pub u64);

/// Largest dilation.
const SLOWEST: u32 = 1_000_000;

/// Pace of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// The drive runs so many times slower than life; 1 is real time.
    Dilated(u32),
    /// Every request completes as soon as the simulation allows: drive time passes only while requests are outstanding.
    Max,
}

impl Pace {
    /// Real time.
    pub const REAL: Pace = Pace::Dilated(1);

    /// Wall time over drive time; `None` at the highest pace, which has no fixed relation.
    pub fn dilation(self) -> Option<u32> {
        match self {
            Pace::Dilated(dilation) => Some(dilation),
            Pace::Max => None,
        }
    }
}

impl FromStr for Pace {
    type Err = String;

    /// Reads `real`, `max` or a dilation. The error names the text seen and what is legal.
    fn from_str(text: &str) -> Result<Pace, String> {
        match text {
            "real" => Ok(Pace::REAL),
            "max" => Ok(Pace::Max),
            number => match number.parse() {
                Ok(dilation @ 1..=SLOWEST) => Ok(Pace::Dilated(dilation)),
                _ => Err(format!(
                    "pace = \"{text}\": legal: real, max, or how many times slower than life the drive runs, a whole \
                     number from 1 to {SLOWEST}"
                )),
            },
        }
    }
}

impl std::fmt::Display for Pace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Pace::Dilated(1) => f.write_str("real"),
            Pace::Dilated(dilation) => write!(f, "{dilation}"),
            Pace::Max => f.write_str("max"),
        }
    }
}

/// Clock of a dilated drive. Drive time begins at its first request, so that a record of the requests, whose times begin
/// there too, replays exactly.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    dilation: u64,
    origin: Option<WallTime>,
    latest: SimTime,
}

impl Clock {
    /// A clock that runs `dilation` times slower than wall time.
    pub fn new(dilation: u32) -> Clock {
        Clock { dilation: u64::from(dilation.max(1)), origin: None, latest: SimTime::ZERO }
    }

    /// Starts drive time at `at`, unless it runs already.
    pub fn start(&mut self, at: WallTime) {
        self.origin.get_or_insert(at);
    }

    /// Drive time at `wall`, rounded down; zero before the start. Never earlier than any instant returned before.
    pub fn drive_time(&mut self, wall: WallTime) -> SimTime {
        let origin = self.origin.unwrap_or(wall);
        let passed = wall.0.saturating_sub(origin.0) / self.dilation;
        self.latest = self.latest.max(SimTime(passed));
        self.latest
    }

    /// First wall instant at which drive time is `at`; `None` before the start.
    pub fn due(&self, at: SimTime) -> Option<WallTime> {
        let origin = self.origin?;
        Some(WallTime(origin.0.saturating_add(at.0.saturating_mul(self.dilation))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paces_are_read_and_others_refused() {
        for (text, pace) in
            [("real", Pace::REAL), ("1", Pace::REAL), ("20", Pace::Dilated(20)), ("max", Pace::Max)]
        {
            assert_eq!(text.parse(), Ok(pace));
            assert_eq!(pace.to_string().parse(), Ok(pace));
        }
        for text in ["", "0", "-1", "1.5", "fast", "1000001", "MAX"] {
            let why = Pace::from_str(text).expect_err(text);
            assert!(why.contains(&format!("\"{text}\"")) && why.contains("real, max"), "{why}");
        }
    }

    #[test]
    fn drive_time_begins_at_the_first_request() {
        let mut clock = Clock::new(20);
        assert_eq!((clock.drive_time(WallTime(7)), clock.due(SimTime(3))), (SimTime::ZERO, None));
        clock.start(WallTime(1_000));
        clock.start(WallTime(5_000));
        assert_eq!(clock.drive_time(WallTime(1_000)), SimTime::ZERO);
        assert_eq!(clock.drive_time(WallTime(1_219)), SimTime(10));
        assert_eq!(clock.due(SimTime(10)), Some(WallTime(1_200)));
    }

    proptest! {
        #[test]
        fn drive_time_never_runs_backwards_and_reaches_each_instant_when_it_is_due(
            dilation in 1u32..=SLOWEST, origin in 0u64..1 << 40, walls in prop::collection::vec(0u64..1 << 50, 1..30)
        ) {
            let mut clock = Clock::new(dilation);
            clock.start(WallTime(origin));
            let mut before = SimTime::ZERO;
            for wall in walls {
                let now = clock.drive_time(WallTime(wall));
                prop_assert!(now >= before);
                before = now;
                let later = SimTime(now.0 + 1);
                let due = clock.due(later).expect("it runs");
                let (mut early, mut at) = (clock, clock);
                prop_assert!(early.drive_time(WallTime(due.0 - 1)) < later);
                prop_assert_eq!(at.drive_time(due), later);
            }
        }
    }
}
