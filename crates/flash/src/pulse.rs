//! Pulse train of a program or erase: loops of pulse, voltage reset (if the part has one) and verify.
//!
//! The loops of a train are alike, so a train is stored as one loop and a count; [`Shape`] says how the first and the last of an
//! adapted erase differ. Progress is the time spent in phases that count; a stopped train continues from there. The data load
//! precedes the train, on the bus.

use interpulse_engine::Duration;

/// One phase of a train.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseKind {
    /// A program or erase pulse.
    Pulse,
    /// The discharge of the word lines after a pulse, on parts that need a separate time for it.
    Reset,
    /// The verify (all levels of one loop) after a pulse.
    Verify,
}

/// A phase with its range of progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseSpan {
    /// Kind.
    pub kind: PhaseKind,
    /// Progress at which it begins.
    pub start: Duration,
    /// Progress at which it ends.
    pub end: Duration,
}

/// Loops of an adapted erase that differ from the others, in ns; zero where none does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Part of the first loop that is a loop of its own, with its own verify.
    pub lead: u32,
    /// Time by which the last loop is shorter.
    pub cut: u32,
    /// Loop after the last one.
    pub extra: u32,
}

impl Shape {
    /// All loops are alike.
    pub const EVEN: Shape = Shape { lead: 0, cut: 0, extra: 0 };
}

/// The loops of one program or erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PulseTrain {
    /// Number of loops, at least one unless the command has no pulses.
    pub loops: u32,
    /// Length of each pulse; zero only with `long-operations = "zero"`.
    pub pulse: Duration,
    /// Length of the voltage reset between pulse and verify.
    pub reset: Duration,
    /// Length of each verify.
    pub verify: Duration,
    /// Loops that differ.
    pub shape: Shape,
}

impl PulseTrain {
    /// The train of a command without pulses.
    pub const NONE: PulseTrain = PulseTrain::even(0, Duration::ZERO, Duration::ZERO, Duration::ZERO);

    /// A train whose loops are alike.
    pub const fn even(loops: u32, pulse: Duration, reset: Duration, verify: Duration) -> PulseTrain {
        PulseTrain { loops, pulse, reset, verify, shape: Shape::EVEN }
    }

    /// Length of one loop.
    #[inline]
    pub fn loop_time(&self) -> Duration {
        self.pulse + self.reset + self.verify
    }

    /// Length of the whole train.
    #[inline]
    pub fn total(&self) -> Duration {
        let Shape { cut, extra, .. } = self.shape;
        self.loop_time() * u64::from(self.loops) - Duration::from_ns(cut.into())
            + Duration::from_ns(extra.into())
    }

    /// Start and end of the loop at progress `elapsed`; at a boundary, of the later loop.
    #[inline]
    fn loop_at(&self, elapsed: Duration) -> (Duration, Duration) {
        let one = self.loop_time();
        let start = Duration::from_ns(elapsed.as_ns() / one.as_ns() * one.as_ns());
        if self.shape == Shape::EVEN { (start, start + one) } else { self.uneven_loop_at(elapsed, start) }
    }

    /// As [`PulseTrain::loop_at`]; `start` is that of the loop if all were alike.
    #[cold]
    fn uneven_loop_at(&self, elapsed: Duration, start: Duration) -> (Duration, Duration) {
        let lead = Duration::from_ns(self.shape.lead.into());
        let before_extra = self.total() - Duration::from_ns(self.shape.extra.into());
        if elapsed < lead {
            (Duration::ZERO, lead)
        } else if elapsed >= before_extra {
            (before_extra, self.total())
        } else {
            (start.max(lead), (start + self.loop_time()).min(before_extra))
        }
    }

    /// Time from progress `elapsed` to the end of its loop; zero at a loop boundary.
    #[inline]
    pub fn to_loop_end(&self, elapsed: Duration) -> Duration {
        let (start, end) = self.loop_at(elapsed);
        if start == elapsed || elapsed >= end { Duration::ZERO } else { end - elapsed }
    }

    /// Length of the loop at progress `elapsed`; at a boundary, of the later loop.
    #[inline]
    pub fn loop_length(&self, elapsed: Duration) -> Duration {
        let (start, end) = self.loop_at(elapsed);
        end - start
    }

    /// Start of the loop at progress `elapsed`; at a boundary, of the later loop.
    #[inline]
    pub fn loop_start(&self, elapsed: Duration) -> Duration {
        self.loop_at(elapsed).0
    }

    /// Loops from progress `elapsed` on, the current one included.
    #[inline]
    pub fn loops_left(&self, elapsed: Duration) -> u64 {
        let Shape { lead, extra, .. } = self.shape;
        let one = self.loop_time().as_ns();
        if self.shape == Shape::EVEN {
            return (self.total() - elapsed).as_ns().div_ceil(one);
        }
        let before_extra = self.total().as_ns() - u64::from(extra);
        let begun = before_extra.div_ceil(one).saturating_sub(elapsed.as_ns() / one);
        let main = if elapsed.as_ns() < before_extra { begun } else { 0 };
        main + u64::from(elapsed.as_ns() < u64::from(lead)) + u64::from(extra > 0)
    }

    /// The phase at progress `elapsed`; at a boundary, the later phase.
    #[inline]
    pub fn phase_at(&self, elapsed: Duration) -> PhaseSpan {
        let (start, end) = self.loop_at(elapsed);
        let discharged = end - self.verify;
        let pulsed = discharged - self.reset;
        if elapsed < pulsed {
            PhaseSpan { kind: PhaseKind::Pulse, start, end: pulsed }
        } else if elapsed < discharged {
            PhaseSpan { kind: PhaseKind::Reset, start: pulsed, end: discharged }
        } else {
            PhaseSpan { kind: PhaseKind::Verify, start: discharged, end }
        }
    }

    /// Splits progress `elapsed` into time in pulses, voltage resets and verifies.
    #[inline]
    pub fn split(&self, elapsed: Duration) -> [Duration; 3] {
        let (one, elapsed) = (self.loop_time().as_ns(), elapsed.as_ns());
        if one == 0 {
            return [Duration::ZERO; 3];
        }
        if self.shape != Shape::EVEN {
            return self.split_uneven(Duration::from_ns(elapsed));
        }
        let (loops, into) = (elapsed / one, elapsed % one);
        let pulse = into.min(self.pulse.as_ns());
        let reset = (into - pulse).min(self.reset.as_ns());
        let verify = into - pulse - reset;
        [
            self.pulse * loops + Duration(pulse),
            self.reset * loops + Duration(reset),
            self.verify * loops + Duration(verify),
        ]
    }

    #[cold]
    fn split_uneven(&self, elapsed: Duration) -> [Duration; 3] {
        let mut split = [Duration::ZERO; 3];
        let mut at = Duration::ZERO;
        while at < elapsed {
            let phase = self.phase_at(at);
            let end = phase.end.min(elapsed);
            split[phase.kind as usize] += end - at;
            at = end;
        }
        split
    }

    /// Whether progress `elapsed` lies inside a pulse, after its start.
    #[inline]
    pub fn is_inside_pulse(&self, elapsed: Duration) -> bool {
        let phase = self.phase_at(elapsed);
        phase.kind == PhaseKind::Pulse && phase.start < elapsed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRAIN: PulseTrain =
        PulseTrain::even(16, Duration::from_us(35), Duration::ZERO, Duration::from_us(90));

    #[test]
    fn sixteen_loops_of_125_us_make_2_ms() {
        assert_eq!(TRAIN.total(), Duration::from_ms(2));
    }

    #[test]
    fn time_to_the_loop_end() {
        for (elapsed_us, left_us) in [(0, 0), (1, 124), (124, 1), (125, 0), (126, 124), (1999, 1)] {
            assert_eq!(TRAIN.to_loop_end(Duration::from_us(elapsed_us)), Duration::from_us(left_us));
        }
    }

    /// Each microsecond counts for the phase at that progress.
    #[test]
    fn split_of_progress_by_phase() {
        let train = PulseTrain { reset: Duration::from_us(4), ..TRAIN };
        let mut before = train.split(Duration::ZERO);
        assert_eq!(before, [Duration::ZERO; 3]);
        for us in 0..train.total().as_ns() / 1_000 {
            let split = train.split(Duration::from_us(us + 1));
            let grown = train.phase_at(Duration::from_us(us)).kind as usize;
            before[grown] += Duration::from_us(1);
            assert_eq!(split, before, "{us} us");
        }
        let none = PulseTrain::even(1, Duration::ZERO, Duration::ZERO, Duration::ZERO);
        assert_eq!(none.split(Duration::ZERO), [Duration::ZERO; 3]);
    }

    #[test]
    fn phase_at_a_progress() {
        let at = |us| {
            let p = TRAIN.phase_at(Duration::from_us(us));
            (p.kind, p.start.as_ns() / 1000, p.end.as_ns() / 1000)
        };
        assert_eq!(at(0), (PhaseKind::Pulse, 0, 35));
        assert_eq!(at(34), (PhaseKind::Pulse, 0, 35));
        assert_eq!(at(35), (PhaseKind::Verify, 35, 125));
        assert_eq!(at(125 + 40), (PhaseKind::Verify, 160, 250));
        assert_eq!(at(250), (PhaseKind::Pulse, 250, 285));
    }

    /// A fresh block of AERO: 1 ms, 2.5 ms less 0.5 ms, and once more 0.5 ms, each with a verify of 100 us at its end.
    const ADAPTED: PulseTrain = PulseTrain {
        loops: 1,
        pulse: Duration::from_us(3_400),
        reset: Duration::ZERO,
        verify: Duration::from_us(100),
        shape: Shape { lead: 1_000_000, cut: 500_000, extra: 500_000 },
    };

    #[test]
    fn loops_of_an_adapted_erase() {
        assert_eq!(ADAPTED.total(), Duration::from_us(3_500));
        // Progress, start of its loop, time to its end, loops left; a boundary belongs to the later loop.
        for (at, start, left, loops) in [
            (0, 0, 0, 3),
            (1, 0, 999, 3),
            (999, 0, 1, 3),
            (1_000, 1_000, 0, 2),
            (1_001, 1_000, 1_999, 2),
            (3_000, 3_000, 0, 1),
            (3_400, 3_000, 100, 1),
        ] {
            let elapsed = Duration::from_us(at);
            assert_eq!(ADAPTED.loop_start(elapsed), Duration::from_us(start), "{at} us");
            assert_eq!(ADAPTED.to_loop_end(elapsed), Duration::from_us(left), "{at} us");
            assert_eq!(ADAPTED.loops_left(elapsed), loops, "{at} us");
        }
    }

    /// Each microsecond counts for the phase at that progress: three verifies of 100 us, 3.2 ms of pulses.
    #[test]
    fn split_of_an_adapted_erase() {
        let mut before = [Duration::ZERO; 3];
        for us in 0..ADAPTED.total().as_ns() / 1_000 {
            before[ADAPTED.phase_at(Duration::from_us(us)).kind as usize] += Duration::from_us(1);
            assert_eq!(ADAPTED.split(Duration::from_us(us + 1)), before, "{us} us");
        }
        assert_eq!(before, [Duration::from_us(3_200), Duration::ZERO, Duration::from_us(300)]);
    }
}
