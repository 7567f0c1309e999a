//! The measurement window in batches: what had been done by when, looked at every so many requests.
//!
//! A window of unknown length is cut into 20 to 40 batches of equal numbers of requests: when there are too many looks,
//! every second one is dropped.

use crate::simulated::{Done, Simulated};
use interpulse_engine::{Duration, LatencyHistogram, SimTime};
use interpulse_host::{Host, Observer, Window};

/// Requests of a batch at first.
const SMALLEST: u64 = 256;
/// Looks that are kept: from half as many to this.
const MOST: usize = 40;

/// What had been done when it was looked at; counts are cumulative.
#[derive(Clone)]
struct Look {
    at: SimTime,
    requests: u64,
    done: Done,
    read: Counts,
    write: Counts,
}

/// The buckets of a histogram that are not empty: upper end in ns, count.
type Counted = Vec<(u64, u64)>;

/// The counts of a histogram as they lie there: a look comes often and must be cheap, what came between two of them is
/// worked out at the end.
#[derive(Clone, Default)]
struct Counts {
    /// Number of the first bucket.
    first: usize,
    counts: Vec<u64>,
}

/// The batches of a window that is under way or over.
pub struct Batches {
    every: u64,
    begins: Look,
    looks: Vec<Look>,
}

/// What was done in one batch.
pub struct Batch {
    /// Requests completed.
    pub requests: u64,
    /// Its length.
    pub length: Duration,
    /// What the drives did.
    pub done: Done,
    /// Latencies of reads: upper end of a bucket in ns, count.
    pub read: Counted,
    /// Latencies of writes.
    pub write: Counted,
}

impl Batches {
    /// Those of a window that begins now.
    pub fn begin<D: Simulated, O: Observer>(host: &mut Host<D, O>, now: SimTime) -> Batches {
        let begins = Look {
            at: now,
            requests: host.device.completed(),
            done: Done::by(&mut host.device, now),
            read: Counts::default(),
            write: Counts::default(),
        };
        Batches { every: SMALLEST, begins, looks: Vec::with_capacity(MOST) }
    }

    /// Requests completed since the start of the run at which to look again.
    pub fn next(&self) -> u64 {
        let last = self.looks.last().unwrap_or(&self.begins).requests;
        last.saturating_add(self.every)
    }

    /// Looks.
    pub fn look<D: Simulated, O: Observer>(&mut self, host: &mut Host<D, O>, now: SimTime) {
        let (read, write) = counted(&host.window);
        let (requests, done) = (host.device.completed(), Done::by(&mut host.device, now));
        self.looks.push(Look { at: now, requests, done, read, write });
        if self.looks.len() == MOST {
            let mut k = 0;
            self.looks.retain(|_| {
                k += 1;
                k % 2 == 0
            });
            self.every *= 2;
        }
    }

    /// The batches in order; what came after the last look is left out.
    pub fn all(&self) -> Vec<Batch> {
        let before = std::iter::once(&self.begins).chain(&self.looks);
        before
            .zip(&self.looks)
            .map(|(before, after)| Batch {
                requests: after.requests - before.requests,
                length: after.at.since(before.at),
                done: after.done.since(&before.done),
                read: after.read.since(&before.read),
                write: after.write.since(&before.write),
            })
            .collect()
    }
}

fn counted(window: &Window) -> (Counts, Counts) {
    match &window.flows[..] {
        [one] => (Counts::of(&one.read), Counts::of(&one.write)),
        flows => {
            let (mut read, mut write) = (LatencyHistogram::new(), LatencyHistogram::new());
            for flow in flows {
                read.merge(&flow.read);
                write.merge(&flow.write);
            }
            (Counts::of(&read), Counts::of(&write))
        }
    }
}

impl Counts {
    fn of(histogram: &LatencyHistogram) -> Counts {
        let (first, counts) = histogram.counts();
        Counts { first, counts: counts.to_vec() }
    }

    /// What these count and `before` did not; no count ever falls, and no bucket is left out again.
    fn since(&self, before: &Counts) -> Counted {
        let old = |bucket: usize| {
            let at = bucket.checked_sub(before.first);
            at.and_then(|at| before.counts.get(at)).map_or(0, |&count| count)
        };
        let came = (self.first..).zip(&self.counts).map(|(bucket, &count)| (bucket, count - old(bucket)));
        let end = |bucket| LatencyHistogram::bucket_end(bucket).as_ns();
        came.filter(|&(_, count)| count > 0).map(|(bucket, count)| (end(bucket), count)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_of_counts_is_what_came_since() {
        let mut histogram = LatencyHistogram::new();
        let mut count = |latencies: &[u64]| {
            latencies.iter().for_each(|&ns| histogram.record(Duration::from_ns(ns)));
            Counts::of(&histogram)
        };
        let (none, before) = (Counts::default(), count(&[3, 7, 7]));
        assert_eq!(before.since(&none), [(3, 1), (7, 2)]);
        assert!(before.since(&before).is_empty());
        let after = count(&[1, 1, 7, 9, 1_000_000]);
        // 2^19 ns and more are counted in buckets of 2^10 ns.
        assert_eq!(after.since(&before), [(1, 2), (7, 1), (9, 1), (1_000_447, 1)]);
    }
}
