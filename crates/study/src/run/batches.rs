//! Batches of the measurement window: cumulative counts sampled every so many requests.
//!
//! A window of unknown length is cut into 20 to 40 batches of equal numbers of requests: when the samples are too
//! many, every second one is dropped.

use crate::run_target::{DeviceCounters, RunTarget};
use interpulse_engine::{Duration, LatencyHistogram, SimTime};
use interpulse_host::{Host, Observer, Window};

/// Initial requests per batch.
const FIRST_BATCH: u64 = 256;
/// Samples kept at most; at least half as many remain.
const MAX_SAMPLES: usize = 40;

/// Cumulative counts at one instant.
#[derive(Clone)]
struct Sample {
    at: SimTime,
    requests: u64,
    refused: u64,
    done: DeviceCounters,
    cached: u64,
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
    begins: Sample,
    samples: Vec<Sample>,
}

/// What was done in one batch.
pub struct Batch {
    /// Requests completed.
    pub requests: u64,
    /// Of these, requests that the device refused.
    pub refused: u64,
    /// Its length.
    pub length: Duration,
    /// What the drives did.
    pub done: DeviceCounters,
    /// Write cache slots in use at its end, of all drives.
    pub cached: u64,
    /// Latencies of reads: upper end of a bucket in ns, count.
    pub read: Counted,
    /// Latencies of writes.
    pub write: Counted,
}

impl Batches {
    /// Starts the batches of a window at `now`.
    pub fn begin<D: RunTarget, O: Observer>(host: &mut Host<D, O>, now: SimTime) -> Batches {
        let begins = Sample {
            at: now,
            requests: host.device.completed(),
            refused: 0,
            done: DeviceCounters::read(&mut host.device, now),
            cached: cached(&host.device),
            read: Counts::default(),
            write: Counts::default(),
        };
        Batches { every: FIRST_BATCH, begins, samples: Vec::with_capacity(MAX_SAMPLES) }
    }

    /// Completed requests, since the start of the run, of the next sample.
    pub fn next(&self) -> u64 {
        let last = self.samples.last().unwrap_or(&self.begins).requests;
        last.saturating_add(self.every)
    }

    /// Takes a sample.
    pub fn sample<D: RunTarget, O: Observer>(&mut self, host: &mut Host<D, O>, now: SimTime) {
        let (read, write) = counted(&host.window);
        let (requests, done) = (host.device.completed(), DeviceCounters::read(&mut host.device, now));
        let cached = cached(&host.device);
        let refused = host.window.refused.count();
        self.samples.push(Sample { at: now, requests, refused, done, cached, read, write });
        if self.samples.len() == MAX_SAMPLES {
            let mut k = 0;
            self.samples.retain(|_| {
                k += 1;
                k % 2 == 0
            });
            self.every *= 2;
        }
    }

    /// All batches in order; requests after the last sample are left out.
    pub fn all(&self) -> Vec<Batch> {
        let before = std::iter::once(&self.begins).chain(&self.samples);
        before
            .zip(&self.samples)
            .map(|(before, after)| Batch {
                requests: after.requests - before.requests,
                refused: after.refused - before.refused,
                length: after.at.since(before.at),
                done: after.done.since(&before.done),
                cached: after.cached,
                read: after.read.since(&before.read),
                write: after.write.since(&before.write),
            })
            .collect()
    }
}

fn cached<D: RunTarget>(device: &D) -> u64 {
    device.drives().iter().map(|drive| u64::from(drive.cache_used())).sum()
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

    /// Counts since `before`. Counts never fall and buckets are never removed.
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
