//! Firmware model: a fixed latency without contention, or cores that process one command each.

use super::fifo::Line;
use interpulse_engine::{Duration, EventQueue, RequestId, ResourceId, SimTime};

/// Commands in firmware. All take the same time and leave in order of arrival.
pub struct Firmware {
    time: Duration,
    /// Time at which each core becomes free, ascending from `next` on; empty with unlimited cores.
    cores: Box<[SimTime]>,
    next: usize,
    line: Line,
}

impl Firmware {
    /// Idle firmware with `time` per command on `cores` cores, or without contention.
    pub fn new(time: Duration, cores: Option<u32>, timer: ResourceId) -> Firmware {
        let cores = vec![SimTime::ZERO; cores.unwrap_or(0) as usize].into_boxed_slice();
        Firmware { time, cores, next: 0, line: Line::new(timer) }
    }

    /// Takes command `id`, which arrives at `at`, not before earlier commands.
    #[inline(always)]
    pub fn take(&mut self, events: &mut EventQueue, at: SimTime, id: RequestId) {
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

    /// Takes the command that leaves now.
    #[inline]
    pub fn pop(&mut self, events: &mut EventQueue) -> RequestId {
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
