//! Latency histograms by kind of request.

use crate::histogram::LatencyHistogram;
use crate::request::{Op, OpClass};
use crate::time::Duration;

/// Latencies by kind of request.
#[derive(Clone, Default)]
pub struct Latencies {
    /// Reads and comparisons.
    pub read: LatencyHistogram,
    /// Writes.
    pub write: LatencyHistogram,
    /// Trims, zeros, flushes and zone management.
    pub other: LatencyHistogram,
}

impl Latencies {
    /// Records one request.
    #[inline(always)]
    pub fn record(&mut self, op: Op, latency: Duration) {
        match op.class() {
            OpClass::Read => self.read.record(latency),
            OpClass::Write => self.write.record(latency),
            OpClass::Other => self.other.record(latency),
        }
    }

    /// Adds the requests of another set.
    pub fn merge(&mut self, other: &Latencies) {
        self.read.merge(&other.read);
        self.write.merge(&other.write);
        self.other.merge(&other.other);
    }

    /// All requests together.
    pub fn all(&self) -> LatencyHistogram {
        let mut all = self.read.clone();
        all.merge(&self.write);
        all.merge(&self.other);
        all
    }

    /// Requests recorded.
    pub fn count(&self) -> u64 {
        self.read.count() + self.write.count() + self.other.count()
    }
}
