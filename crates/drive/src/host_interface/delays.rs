//! Delays of commands by a distribution: firmware time beside `host.firmware` that varies from command to command.

use interpulse_engine::{Duration, EventQueue, RequestId, ResourceId, SimTime, Streams};
use interpulse_settings::{ConfigError, Section, required};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Distribution of the delays of commands: shares, ascending to 1, and the time that so many are delayed at most. Between two
/// of them, and from no delay up to the first, delays are equally likely.
#[derive(Clone, Debug, PartialEq)]
pub struct DelaySpec {
    points: Vec<(f64, Duration)>,
}

impl DelaySpec {
    /// Reads both lists; `None` without them.
    pub fn read(s: &mut Section) -> Result<Option<DelaySpec>, ConfigError> {
        let doc = "distribution of a firmware delay of commands beside host.firmware: shares of the commands, ascending to 1; \
                   no delay by default";
        let shares = s.list_f64("delay-shares", doc, Some(&[]), required().positive().at_most(1.0))?;
        let doc = "delay that so many commands have at most; between two points, and from 0s to the first, delays are equally \
                   likely";
        let times = s.list_duration("delays", doc, Some(&[]), required().at_most(Duration::from_ms(100)))?;
        s.check(shares.is_sorted_by(|a, b| a < b), "delay-shares", "shares in ascending order, none twice")?;
        s.check(shares.last().is_none_or(|last| *last == 1.0), "delay-shares", "1 as the last share")?;
        let expected = format!("as many times as delay-shares has shares: {}", shares.len());
        s.check(shares.len() == times.len(), "delays", expected)?;
        s.check(times.is_sorted(), "delays", "times in ascending order")?;
        Ok((!shares.is_empty()).then(|| DelaySpec::of(&shares, &times)))
    }

    /// Distribution with these points.
    pub fn of(shares: &[f64], times: &[Duration]) -> DelaySpec {
        DelaySpec { points: shares.iter().copied().zip(times.iter().copied()).collect() }
    }

    /// Delay that the share `at` of the commands, below 1, does not exceed.
    pub fn quantile(&self, at: f64) -> Duration {
        let mut before = (0.0, 0.0);
        for &(share, time) in &self.points {
            let time = time.as_ns() as f64;
            if at < share {
                let part = (at - before.0) / (share - before.0);
                return Duration::from_ns((before.1 + part * (time - before.1)).round() as u64);
            }
            before = (share, time);
        }
        self.points.last().map_or(Duration::ZERO, |of| of.1)
    }

    /// Mean delay in ns.
    pub fn mean_ns(&self) -> f64 {
        let mut before = (0.0, 0.0);
        let mut sum = 0.0;
        for &(share, time) in &self.points {
            let time = time.as_ns() as f64;
            sum += (share - before.0) * (before.1 + time) / 2.0;
            before = (share, time);
        }
        sum
    }
}

/// Commands in firmware whose times differ: a command may leave before earlier ones.
pub(super) struct Delays {
    spec: DelaySpec,
    streams: Streams,
    /// Commands by the instant at which they leave, then by arrival.
    entries: BinaryHeap<Reverse<(SimTime, u64, RequestId)>>,
    arrived: u64,
    timer: ResourceId,
}

impl Delays {
    pub(super) fn new(spec: &DelaySpec, streams: Streams, timer: ResourceId) -> Delays {
        Delays { spec: spec.clone(), streams, entries: BinaryHeap::new(), arrived: 0, timer }
    }

    /// Delay of command `id`, which arrives at `at`. It depends on nothing else, so that a drive that takes up a saved state
    /// has the delays of one that never stopped.
    pub(super) fn of(&self, at: SimTime, id: RequestId) -> Duration {
        let instance = at.0 ^ (id.index() as u64).rotate_right(16);
        self.spec.quantile(self.streams.stream("delays of commands", instance).unit())
    }

    /// Adds `id`, which leaves at `at`.
    pub(super) fn push(&mut self, events: &mut EventQueue, at: SimTime, id: RequestId) {
        self.arrived += 1;
        self.entries.push(Reverse((at, self.arrived, id)));
        self.arm(events);
    }

    /// Takes the command that leaves now.
    pub(super) fn pop(&mut self, events: &mut EventQueue) -> RequestId {
        let Reverse((_, _, id)) = self.entries.pop().expect("the timer without commands is not armed");
        self.arm(events);
        id
    }

    fn arm(&self, events: &mut EventQueue) {
        if let Some(Reverse((at, ..))) = self.entries.peek() {
            events.arm(self.timer, *at);
        }
    }

    /// Drops all commands.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points() -> DelaySpec {
        let us = Duration::from_us;
        DelaySpec::of(&[0.5, 0.9, 1.0], &[us(0), us(4), us(104)])
    }

    #[test]
    fn quantiles_lie_on_lines_between_the_points() {
        let us = |at| points().quantile(at).as_ns() as f64 / 1000.0;
        for (at, expected) in
            [(0.0, 0.0), (0.3, 0.0), (0.5, 0.0), (0.7, 2.0), (0.9, 4.0), (0.95, 54.0), (0.99, 94.0)]
        {
            assert!((us(at) - expected).abs() < 1e-3, "{at}: {} us", us(at));
        }
        // 0.4 of the commands are delayed by 2 us, 0.1 by 54 us, in the mean.
        assert!((points().mean_ns() - 6_200.0).abs() < 1e-6);
    }

    #[test]
    fn drawn_delays_have_the_shares_of_the_distribution() {
        let delays = Delays::new(&points(), Streams::new(1), ResourceId(0));
        let n = 40_000u32;
        let all: Vec<u64> =
            (0..n).map(|k| delays.of(SimTime(u64::from(k) * 1000), RequestId(k % 64)).as_ns()).collect();
        let share = |most| all.iter().filter(|of| **of <= most).count() as f64 / f64::from(n);
        // 5.5 sigma of a share of 0.5 is 0.014: one draw in 10^7 fails.
        for (most, expected) in [(0, 0.5), (2_000, 0.7), (4_000, 0.9), (54_000, 0.95), (104_000, 1.0)] {
            assert!((share(most) - expected).abs() < 0.014, "{most} ns: {} of {expected}", share(most));
        }
    }
}
