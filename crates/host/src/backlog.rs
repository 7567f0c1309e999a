//! Backlog of open flows: requests that have arrived and not completed, sampled every so many arrivals.
//!
//! Samples count arrivals instead of completions, so that they cover the time in which requests arrive, however slowly
//! an overloaded device completes them.

use interpulse_engine::SimTime;

/// Initial arrivals per sample.
const FIRST_EVERY: u64 = 16;
/// Samples kept at most; at least half as many remain.
const MAX_SAMPLES: usize = 64;

/// Backlog at one arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BacklogSample {
    /// Time of the arrival.
    pub at: SimTime,
    /// Requests that have arrived in the window.
    pub arrivals: u64,
    /// Requests outstanding.
    pub outstanding: u64,
    /// Least number of requests outstanding since the sample before.
    pub least: u64,
}

/// Backlog of one open flow, or of all of them, in a window.
#[derive(Clone, Debug, Default)]
pub struct Backlog {
    /// Requests outstanding at the start of the window.
    pub before: u64,
    /// Samples in order, each after the same number of arrivals.
    pub samples: Vec<BacklogSample>,
    every: u64,
    next: u64,
    arrivals: u64,
    outstanding: u64,
    /// Least number of requests outstanding before an arrival, since the sample before.
    least: u64,
    last_at: SimTime,
    outstanding_at_last: u64,
}

impl Backlog {
    /// Starts a window; outstanding requests stay outstanding.
    pub(crate) fn begin(&mut self) {
        let outstanding = self.outstanding;
        let (every, next) = (FIRST_EVERY, FIRST_EVERY);
        *self = Backlog {
            before: outstanding,
            every,
            next,
            outstanding,
            least: outstanding,
            ..Backlog::default()
        };
    }

    /// A request arrives.
    #[inline]
    pub(crate) fn arrived(&mut self, now: SimTime) {
        self.least = self.least.min(self.outstanding);
        self.arrivals += 1;
        self.outstanding += 1;
        (self.last_at, self.outstanding_at_last) = (now, self.outstanding);
        if self.arrivals == self.next {
            self.keep();
        }
    }

    /// State at the last arrival of the window.
    pub fn last(&self) -> Option<BacklogSample> {
        let Backlog { arrivals, last_at: at, outstanding_at_last: outstanding, least, .. } = *self;
        (arrivals > 0).then_some(BacklogSample { at, arrivals, outstanding, least })
    }

    /// A request completes.
    #[inline]
    pub(crate) fn completed(&mut self) {
        // A power loss drops requests, also one that has just completed.
        self.outstanding = self.outstanding.saturating_sub(1);
    }

    /// A power loss drops all outstanding requests.
    #[cold]
    pub(crate) fn dropped(&mut self) {
        (self.outstanding, self.least) = (0, 0);
    }

    #[cold]
    fn keep(&mut self) {
        self.samples.extend(self.last());
        self.least = self.outstanding;
        if self.samples.len() == MAX_SAMPLES {
            // A pair becomes one sample with the least backlog of both.
            let pairs = self.samples.chunks_exact(2);
            self.samples = pairs
                .map(|pair| BacklogSample { least: pair[0].least.min(pair[1].least), ..pair[1] })
                .collect();
            self.every *= 2;
        }
        self.next = self.arrivals + self.every;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A queue to which each arrival adds one request, of which `served(k)` complete before arrival k.
    fn queue(arrivals: u64, served: impl Fn(u64) -> u64) -> Backlog {
        let mut backlog = Backlog::default();
        backlog.begin();
        for k in 0..arrivals {
            (0..served(k)).for_each(|_| backlog.completed());
            backlog.arrived(SimTime(1000 * (k + 1)));
        }
        backlog
    }

    #[test]
    fn samples_are_32_to_63_with_equal_numbers_of_arrivals() {
        for arrivals in [512, 513, 1_000, 1_023, 1_024, 5_000, 100_000] {
            let of = queue(arrivals, |_| 1).samples;
            assert!((32..64).contains(&of.len()), "{arrivals}: {}", of.len());
            let every = of[0].arrivals;
            assert!(of.iter().zip(1..).all(|(sample, k)| sample.arrivals == k * every), "{arrivals}");
            assert!(of.last().unwrap().arrivals + every > arrivals, "{arrivals}: up to the end");
        }
    }

    #[test]
    fn the_least_backlog_of_merged_samples_is_the_least_of_all() {
        // The backlog grows to 700 and is worked off at once.
        let of = queue(4_000, |k| if k == 700 { 700 } else { u64::from(k > 700) });
        assert_eq!(of.samples.iter().map(|sample| sample.least).min(), Some(0));
        let at = of.samples.iter().position(|sample| sample.arrivals > 700).unwrap();
        assert_eq!(of.samples[at].least, 0, "of the sample in which it fell");
        assert_eq!(of.last().unwrap().outstanding, 1);
    }

    #[test]
    fn a_window_begins_with_what_is_outstanding() {
        let mut of = queue(1_000, |k| k % 2);
        of.begin();
        assert_eq!((of.before, of.samples.len(), of.last()), (500, 0, None));
        of.dropped();
        of.arrived(SimTime(7));
        assert_eq!(of.last().unwrap().outstanding, 1);
    }
}
