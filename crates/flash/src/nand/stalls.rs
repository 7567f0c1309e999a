//! Stalls of dies and channels: when they end, and the past ones.

use interpulse_engine::{Duration, SimTime};

/// Stalls of an array: the end of the stall of each die, and the past ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Stalls {
    /// A die begins nothing before this; empty without stalls.
    pub(super) until: Vec<SimTime>,
    /// Stalls of each die, in order.
    pub(super) dies: Vec<Vec<Interval>>,
    /// Stalls of each channel, in order.
    pub(super) channels: Vec<Vec<Interval>>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Interval {
    pub(super) from: SimTime,
    pub(super) to: SimTime,
}

/// Part of `from..to` in `intervals`, which are in order.
pub(super) fn overlap(intervals: &[Interval], from: SimTime, to: SimTime) -> Duration {
    let last = intervals.iter().rev().take_while(|of| of.to > from);
    let part = |of: &Interval| of.to.min(to).as_ns().saturating_sub(of.from.max(from).as_ns());
    Duration::from_ns(last.map(part).sum())
}

impl Stalls {
    pub(super) fn new(dies: usize, channels: usize) -> Stalls {
        Stalls {
            until: vec![SimTime::ZERO; dies],
            dies: vec![Vec::new(); dies],
            channels: vec![Vec::new(); channels],
        }
    }

    /// Ends all stalls at `now`: power is cut.
    pub(super) fn end(&mut self, now: SimTime) {
        self.until.fill(SimTime::ZERO);
        let intervals = self.dies.iter_mut().chain(&mut self.channels).flatten();
        intervals.for_each(|of| of.to = of.to.min(now).max(of.from));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_are_exact() {
        let of = [(10, 20), (30, 40)].map(|(from, to)| Interval { from: SimTime(from), to: SimTime(to) });
        let part = |from, to| overlap(&of, SimTime(from), SimTime(to)).as_ns();
        assert_eq!(part(0, 10), 0);
        assert_eq!(part(0, 100), 20);
        assert_eq!(part(15, 35), 10);
        assert_eq!(part(20, 30), 0);
        assert_eq!(part(32, 33), 1);
        assert_eq!(part(40, 50), 0);
    }
}
