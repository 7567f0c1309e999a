//! Firmware model: a latency without contention, or cores that process one command each.

use super::delays::{DelaySpec, Delays};
use super::fifo::Line;
use interpulse_engine::{Duration, EventQueue, RequestId, ResourceId, SimTime, Streams};

/// Commands in firmware. All take the same time and leave in order of arrival, unless they have delays.
pub struct Firmware {
    time: Duration,
    /// Time at which each core becomes free, ascending from `next` on; empty with unlimited cores.
    cores: Box<[SimTime]>,
    next: usize,
    line: Line,
    delays: Option<Box<Delays>>,
}

impl Firmware {
    /// Idle firmware with `time` per command on `cores` cores, or without contention.
    pub fn new(time: Duration, cores: Option<u32>, timer: ResourceId) -> Firmware {
        let cores = vec![SimTime::ZERO; cores.unwrap_or(0) as usize].into_boxed_slice();
        Firmware { time, cores, next: 0, line: Line::new(timer), delays: None }
    }

    /// The same with delays drawn from `streams`.
    pub fn with_delays(mut self, spec: Option<&DelaySpec>, streams: Streams) -> Firmware {
        self.delays = spec.map(|of| Box::new(Delays::new(of, streams, self.line.timer())));
        self
    }

    /// Delays of the commands, without a command in firmware.
    pub(super) fn take_delays(&mut self) -> Option<Box<Delays>> {
        let mut delays = self.delays.take();
        if let Some(of) = &mut delays {
            of.clear();
        }
        delays
    }

    /// Uses these delays.
    pub(super) fn set_delays(&mut self, delays: Option<Box<Delays>>) {
        self.delays = delays;
    }

    /// Takes command `id`, which arrives at `at`, not before earlier commands.
    #[inline(always)]
    pub fn take(&mut self, events: &mut EventQueue, at: SimTime, id: RequestId) {
        if self.delays.is_some() {
            return self.take_delayed(events, at, id);
        }
        let end = if self.cores.is_empty() { at + self.time } else { self.on_a_core(at) };
        self.line.push_soon(events, end, id);
    }

    fn on_a_core(&mut self, at: SimTime) -> SimTime {
        let core = &mut self.cores[self.next];
        *core = at.max(*core) + self.time;
        let end = *core;
        self.next = if self.next + 1 == self.cores.len() { 0 } else { self.next + 1 };
        end
    }

    /// As [`Firmware::take`], with a time of its own: the core that is free first takes the command.
    #[inline(never)]
    fn take_delayed(&mut self, events: &mut EventQueue, at: SimTime, id: RequestId) {
        let Some(delays) = &mut self.delays else { return };
        let time = self.time + delays.of(at, id);
        let end = match self.cores.iter_mut().min() {
            Some(core) => {
                *core = at.max(*core) + time;
                *core
            }
            None => at + time,
        };
        delays.push(events, end, id);
    }

    /// Takes the command that leaves now.
    #[inline]
    pub fn pop(&mut self, events: &mut EventQueue) -> RequestId {
        if let Some(delays) = &mut self.delays {
            return delays.pop(events);
        }
        self.line.pop(events)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(cores: Option<u32>, arrivals: &[u64]) -> Vec<u64> {
        let mut events = EventQueue::new(1);
        let mut firmware = Firmware::new(Duration::from_ns(10), cores, ResourceId(0));
        for (id, at) in arrivals.iter().enumerate() {
            firmware.take(&mut events, SimTime(*at), RequestId(id as u32));
        }
        let mut leave = |id: usize| {
            let (at, _) = events.next(SimTime(1000)).expect("as many leave as came");
            assert_eq!(firmware.pop(&mut events).index(), id, "in order");
            at.0
        };
        (0..arrivals.len()).map(&mut leave).collect()
    }

    #[test]
    fn a_delayed_command_holds_up_its_core_and_no_other_command() {
        let of = |cores, delay: u64| {
            let mut events = EventQueue::new(1);
            let delays = DelaySpec::of(&[1.0], &[Duration::from_ns(2 * delay)]);
            let mut firmware = Firmware::new(Duration::from_ns(10), cores, ResourceId(0))
                .with_delays(Some(&delays), Streams::new(3));
            let mut expected = Vec::new();
            let mut free = vec![0; cores.unwrap_or(0) as usize];
            for id in 0..6 {
                let (at, id) = (SimTime(u64::from(id) * 4), RequestId(id));
                let takes = 10 + firmware.delays.as_ref().map_or(0, |of| of.of(at, id).as_ns());
                let end = match free.iter_mut().min() {
                    Some(core) => {
                        *core = at.0.max(*core) + takes;
                        *core
                    }
                    None => at.0 + takes,
                };
                expected.push((end, id.index()));
                firmware.take(&mut events, at, id);
            }
            expected.sort();
            for (end, id) in expected {
                let (at, _) = events.next(SimTime(1_000_000)).expect("as many leave as came");
                assert_eq!((at.0, firmware.pop(&mut events).index()), (end, id));
            }
        };
        for delay in [0, 3, 500] {
            of(None, delay);
            of(Some(1), delay);
            of(Some(2), delay);
        }
    }

    #[test]
    fn without_cores_it_is_a_latency() {
        assert_eq!(ends(None, &[0, 0, 3]), [10, 10, 13]);
    }

    #[test]
    fn a_core_does_one_command_at_a_time() {
        assert_eq!(ends(Some(1), &[0, 0, 50, 55]), [10, 20, 60, 70]);
        assert_eq!(ends(Some(2), &[0, 0, 3, 3, 40]), [10, 10, 20, 20, 50]);
        assert_eq!(ends(Some(3), &[0, 0, 3, 4]), [10, 10, 13, 20]);
    }
}
