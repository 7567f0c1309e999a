//! Pulse train of a program or erase: loops of pulse, voltage reset (if the part has one) and verify.
//!
//! All loops of a train are alike, so a train is stored as one loop and a count. Progress is the time spent in phases that
//! count; a stopped train continues from there. The data load precedes the train, on the bus.

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
}

impl PulseTrain {
    /// The train of a command without pulses.
    pub const NONE: PulseTrain =
        PulseTrain { loops: 0, pulse: Duration::ZERO, reset: Duration::ZERO, verify: Duration::ZERO };

    /// Length of one loop.
    #[inline]
    pub fn loop_time(&self) -> Duration {
        self.pulse + self.reset + self.verify
    }

    /// Length of the whole train.
    #[inline]
    pub fn total(&self) -> Duration {
        self.loop_time() * u64::from(self.loops)
    }

    /// Time from progress `elapsed` to the end of its loop; zero at a loop boundary.
    #[inline]
    pub fn to_loop_end(&self, elapsed: Duration) -> Duration {
        let one = self.loop_time().as_ns();
        let into = elapsed.as_ns() % one;
        Duration::from_ns(if into == 0 { 0 } else { one - into })
    }

    /// Start of the loop at progress `elapsed`; at a boundary, of the later loop.
    #[inline]
    pub fn loop_start(&self, elapsed: Duration) -> Duration {
        let one = self.loop_time().as_ns();
        Duration::from_ns(elapsed.as_ns() / one * one)
    }

    /// The phase at progress `elapsed`; at a boundary, the later phase.
    #[inline]
    pub fn phase_at(&self, elapsed: Duration) -> PhaseSpan {
        let start = self.loop_start(elapsed);
        let pulsed = start + self.pulse;
        let discharged = pulsed + self.reset;
        if elapsed < pulsed {
            PhaseSpan { kind: PhaseKind::Pulse, start, end: pulsed }
        } else if elapsed < discharged {
            PhaseSpan { kind: PhaseKind::Reset, start: pulsed, end: discharged }
        } else {
            PhaseSpan { kind: PhaseKind::Verify, start: discharged, end: discharged + self.verify }
        }
    }

    /// Splits progress `elapsed` into time in pulses, voltage resets and verifies.
    #[inline]
    pub fn split(&self, elapsed: Duration) -> [Duration; 3] {
        let (one, elapsed) = (self.loop_time().as_ns(), elapsed.as_ns());
        if one == 0 {
            return [Duration::ZERO; 3];
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

    const TRAIN: PulseTrain = PulseTrain {
        loops: 16,
        pulse: Duration::from_us(35),
        reset: Duration::ZERO,
        verify: Duration::from_us(90),
    };

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
        let none =
            PulseTrain { pulse: Duration::ZERO, reset: Duration::ZERO, verify: Duration::ZERO, loops: 1 };
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
}
