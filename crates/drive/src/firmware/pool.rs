//! Pool of firmware cores: first come, first served, by the core that is free first.

use super::spec::TaskSpec;
use interpulse_engine::{Duration, EventQueue, ResourceId, SimTime};
use std::collections::VecDeque;

/// Cores of one task with the jobs that they execute or that wait for them.
pub(crate) struct Pool<T> {
    /// Time of a job for each of its operations.
    time: Duration,
    /// When each core is free.
    cores: Vec<SimTime>,
    /// End, time and job of each, in order of end; equal ends in order of arrival.
    jobs: VecDeque<(SimTime, Duration, T)>,
    timer: ResourceId,
}

impl<T> Pool<T> {
    pub(super) fn new(of: TaskSpec, timer: ResourceId) -> Pool<T> {
        Pool { time: of.time, cores: vec![SimTime::ZERO; of.cores as usize], jobs: VecDeque::new(), timer }
    }

    /// Takes a job of so many operations, which arrives now.
    pub(crate) fn take(&mut self, events: &mut EventQueue, operations: u32, job: T) {
        let takes = self.time * u64::from(operations);
        let core = self.cores.iter_mut().min().expect("a pool has a core");
        *core = events.now().max(*core) + takes;
        let end = *core;
        let place = self.jobs.iter().rposition(|of| of.0 <= end).map_or(0, |k| k + 1);
        self.jobs.insert(place, (end, takes, job));
        if place == 0 {
            events.arm(self.timer, end);
        }
    }

    /// Takes out the job that ends now, and its time.
    pub(crate) fn pop(&mut self, events: &mut EventQueue) -> (Duration, T) {
        let (_, takes, job) = self.jobs.pop_front().expect("the timer of an idle pool is not armed");
        if let Some(&(end, ..)) = self.jobs.front() {
            events.arm(self.timer, end);
        }
        (takes, job)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// End and number of jobs (arrival, operations) on `cores` cores of 10 ns an operation.
    fn ends(cores: u32, jobs: &[(u64, u32)]) -> Vec<(u64, usize)> {
        let mut events = EventQueue::new(1);
        let mut pool = Pool::new(TaskSpec { time: Duration::from_ns(10), cores }, ResourceId(0));
        let mut out = Vec::new();
        let mut leave = |events: &mut EventQueue, pool: &mut Pool<usize>, until: u64| {
            while let Some((at, _)) = events.next(SimTime(until)) {
                out.push((at.0, pool.pop(events).1));
                events.settle();
            }
        };
        for (id, &(at, operations)) in jobs.iter().enumerate() {
            leave(&mut events, &mut pool, at);
            events.advance_to(SimTime(at));
            pool.take(&mut events, operations, id);
        }
        leave(&mut events, &mut pool, 10_000);
        out
    }

    #[test]
    fn one_core_does_one_job_at_a_time() {
        assert_eq!(ends(1, &[(0, 1), (0, 3), (5, 1), (100, 2)]), [(10, 0), (40, 1), (50, 2), (120, 3)]);
    }

    /// A short job on another core ends before a longer one that came first.
    #[test]
    fn the_core_that_is_free_first_takes_the_next_job() {
        assert_eq!(ends(2, &[(0, 9), (0, 1), (1, 2), (2, 1)]), [(10, 1), (30, 2), (40, 3), (90, 0)]);
    }
}
