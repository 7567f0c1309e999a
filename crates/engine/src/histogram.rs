//! Latency histograms with a bounded relative error.

use crate::time::Duration;
use histogram::Histogram;

/// 2^9 sub-buckets per power of two: a bucket is at most 0.2 % wide.
const GROUPING_POWER: u8 = 9;
/// Values up to 2^54 ns (208 days) are kept apart.
const MAX_VALUE_POWER: u8 = 54;

/// Counts latencies in log-linear buckets; count, sum, minimum and maximum are exact, any percentile is
/// within 0.2 % of the sorted value.
///
/// Only the touched pages of its 188 kB take memory, so scans are limited to the buckets between the smallest and the
/// largest latency.
pub struct LatencyHistogram {
    buckets: Histogram,
    count: u64,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

impl Clone for LatencyHistogram {
    fn clone(&self) -> Self {
        let mut copy = LatencyHistogram::new();
        copy.merge(self);
        copy
    }
}

impl Default for LatencyHistogram {
    fn default() -> Self {
        LatencyHistogram::new()
    }
}

impl LatencyHistogram {
    /// Buckets there are; see [`LatencyHistogram::bucket_of`].
    pub const BUCKETS: usize = (MAX_VALUE_POWER - GROUPING_POWER + 1) as usize * (1 << GROUPING_POWER);

    /// The number of the bucket that counts `latency`, for tables kept beside a histogram.
    #[inline]
    pub fn bucket_of(latency: Duration) -> usize {
        let ns = latency.as_ns();
        let power = 63 - (ns | 1 << GROUPING_POWER).leading_zeros();
        let shift = power - u32::from(GROUPING_POWER);
        ((shift as usize) << GROUPING_POWER) + (ns >> shift) as usize
    }

    /// The smallest latency that bucket number `bucket` counts.
    pub fn bucket_start(bucket: usize) -> Duration {
        let shift = (bucket >> GROUPING_POWER).saturating_sub(1);
        Duration(((bucket - (shift << GROUPING_POWER)) as u64) << shift)
    }

    /// An empty histogram.
    pub fn new() -> LatencyHistogram {
        let buckets = Histogram::new(GROUPING_POWER, MAX_VALUE_POWER).expect("constant parameters are valid");
        LatencyHistogram { buckets, count: 0, sum_ns: 0, min_ns: u64::MAX, max_ns: 0 }
    }

    /// Counts one latency.
    #[inline(always)]
    pub fn record(&mut self, latency: Duration) {
        let ns = latency.as_ns();
        self.count += 1;
        self.sum_ns += u128::from(ns);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
        // A table beside the histogram shares this computation of the bucket.
        let bucket = self.buckets.as_mut_slice().get_mut(LatencyHistogram::bucket_of(latency));
        *bucket.expect("latencies are below 2^54 ns") += 1;
    }

    /// Number of latencies counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Exact sum in nanoseconds.
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// Exact mean, or `None` when empty.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// Exact smallest value, or `None` when empty.
    pub fn min(&self) -> Option<Duration> {
        (self.count > 0).then_some(Duration(self.min_ns))
    }

    /// Exact largest value, or `None` when empty.
    pub fn max(&self) -> Option<Duration> {
        (self.count > 0).then_some(Duration(self.max_ns))
    }

    /// The value below or at which a share `p` (0 to 1) of the latencies lie: the smallest recorded rank
    /// `ceil(p * count)`, as the middle of its bucket, never outside [min, max]. `None` when empty.
    pub fn percentile(&self, p: f64) -> Option<Duration> {
        if self.count == 0 {
            return None;
        }
        let rank = ((p * self.count as f64).ceil() as u64).clamp(1, self.count);
        let (first, counts) = self.counts();
        let mut seen = 0;
        for (bucket, count) in (first..).zip(counts) {
            seen += count;
            if seen >= rank {
                let (start, end) = (Self::bucket_start(bucket).as_ns(), Self::bucket_end(bucket).as_ns());
                let middle = start + (end - start) / 2;
                return Some(Duration(middle.clamp(self.min_ns, self.max_ns)));
            }
        }
        unreachable!("the buckets hold every counted latency")
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &LatencyHistogram) {
        let (first, counts) = other.counts();
        let buckets = &mut self.buckets.as_mut_slice()[first..][..counts.len()];
        buckets.iter_mut().zip(counts).for_each(|(to, count)| *to += count);
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// The largest latency that bucket number `bucket` counts.
    pub fn bucket_end(bucket: usize) -> Duration {
        Duration(Self::bucket_start(bucket + 1).as_ns() - 1)
    }

    /// The counts from the bucket of the smallest latency to that of the largest, and the number of the first.
    pub fn counts(&self) -> (usize, &[u64]) {
        if self.count == 0 {
            return (0, &[]);
        }
        let (first, last) = (Self::bucket_of(Duration(self.min_ns)), Self::bucket_of(Duration(self.max_ns)));
        (first, &self.buckets.as_slice()[first..=last])
    }

    /// The non-empty buckets as (lowest value, highest value, count), in ascending order, values in ns.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        let (first, counts) = self.counts();
        let filled = (first..).zip(counts).filter(|&(_, &count)| count > 0);
        let bounds = |bucket| (Self::bucket_start(bucket).as_ns(), Self::bucket_end(bucket).as_ns());
        filled.map(move |(bucket, &count)| {
            let (start, end) = bounds(bucket);
            (start, end, count)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Streams;

    /// Percentiles up to p99.9999 agree with the sorted values within 0.5 %, on a heavy-tailed sample.
    #[test]
    fn percentiles_are_within_half_a_percent_of_the_sorted_value() {
        let mut rng = Streams::new(11).stream("histogram", 0);
        let mut h = LatencyHistogram::new();
        let mut all: Vec<u64> = (0..3_000_000)
            .map(|_| {
                let u = 1.0 - rng.unit();
                (80_000.0 * u.powf(-0.6)) as u64
            })
            .collect();
        all.iter().for_each(|&v| h.record(Duration(v)));
        all.sort_unstable();
        for p in [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999_999, 1.0] {
            let rank = ((p * all.len() as f64).ceil() as usize).clamp(1, all.len());
            let (exact, ours) = (all[rank - 1] as f64, h.percentile(p).unwrap().as_ns() as f64);
            assert!((ours / exact - 1.0).abs() < 0.005, "p{p}: {ours} against {exact}");
        }
        assert_eq!(h.max().unwrap().as_ns(), *all.last().unwrap());
        assert_eq!(h.sum_ns(), all.iter().map(|&v| u128::from(v)).sum());
    }

    /// The numbers of buckets are those of the buckets that count.
    #[test]
    fn every_bucket_has_its_number_and_start() {
        let mut rng = Streams::new(5).stream("buckets", 0);
        let edges = (0..MAX_VALUE_POWER).flat_map(|p| [(1u64 << p) - 1, 1 << p, (1 << p) + 1]);
        let drawn = (0..500).map(|_| rng.below(1 << MAX_VALUE_POWER) >> rng.below(50));
        for ns in edges.chain(drawn).chain([(1 << MAX_VALUE_POWER) - 1]) {
            let mut h = LatencyHistogram::new();
            h.record(Duration(ns));
            let (start, end, _) = h.buckets().next().unwrap();
            let bucket = LatencyHistogram::bucket_of(Duration(ns));
            assert_eq!(LatencyHistogram::bucket_start(bucket), Duration(start), "{ns}");
            assert_eq!(LatencyHistogram::bucket_start(bucket + 1), Duration(end + 1), "{ns}");
            assert!(bucket < LatencyHistogram::BUCKETS);
        }
        assert_eq!(
            LatencyHistogram::bucket_of(Duration((1 << MAX_VALUE_POWER) - 1)),
            LatencyHistogram::BUCKETS - 1
        );
    }

    #[test]
    fn empty_has_no_numbers() {
        let h = LatencyHistogram::new();
        assert!(h.mean_ns().is_none() && h.percentile(0.5).is_none() && h.max().is_none());
    }

    #[test]
    fn merging_equals_recording_together() {
        let (mut a, mut b, mut both) =
            (LatencyHistogram::new(), LatencyHistogram::new(), LatencyHistogram::new());
        for i in 0..1000u64 {
            let d = Duration(i * i + 1);
            if i % 3 == 0 { &mut a } else { &mut b }.record(d);
            both.record(d);
        }
        a.merge(&b);
        assert!(a.buckets().eq(both.buckets()));
        assert_eq!((a.count(), a.sum_ns(), a.min(), a.max()), (1000, both.sum_ns(), both.min(), both.max()));
    }
}
