//! What is measured in the measurement window of a run.

use crate::account::{Account, Blame, Sums, check};
use interpulse_engine::{Duration, LatencyHistogram, counters};
use interpulse_workload::Op;

counters! {
    /// What happened at the host interface and in the cache.
    pub struct HostCounters {
        /// requests completed
        requests: "requests",
        /// bytes read by the host
        read_bytes: "bytes",
        /// bytes written by the host
        written_bytes: "bytes",
        /// units read from the write cache
        cache_read_hits: "units",
        /// units read that were never written
        unmapped_reads: "units",
        /// units overwritten in the write cache before they were programmed
        cache_overwrites: "units",
        /// writes that had to wait for a free slot of the write cache
        cache_stalls: "requests",
        /// page reads made to complete writes that cover a unit only in part
        read_modify_writes: "operations",
        /// logical units trimmed
        trimmed_units: "units",
        /// reads that took longer than host.command-timeout, those still outstanding at the end included
        command_timeouts_read: "requests",
        /// writes that took longer than host.command-timeout, those still outstanding at the end included
        command_timeouts_write: "requests",
        /// trims and flushes that took longer than host.command-timeout, likewise
        command_timeouts_other: "requests",
    }
}

/// Latencies by kind of request.
#[derive(Clone, Default)]
pub struct Latencies {
    /// Reads.
    pub read: LatencyHistogram,
    /// Writes.
    pub write: LatencyHistogram,
    /// Trims and flushes.
    pub other: LatencyHistogram,
}

impl Latencies {
    /// Records one request.
    #[inline]
    pub fn record(&mut self, op: Op, latency: Duration) {
        match op {
            Op::Read => self.read.record(latency),
            Op::Write => self.write.record(latency),
            Op::Trim | Op::Flush => self.other.record(latency),
        }
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

/// What one window measured.
#[derive(Clone, Default)]
pub struct WindowStats {
    /// Latencies of each flow.
    pub flows: Vec<Latencies>,
    /// Reads split by cause.
    pub read_blame: Blame,
    /// Writes split by cause.
    pub write_blame: Sums,
    /// Counts.
    pub counters: HostCounters,
    /// Reads that completed with an error because data could not be corrected.
    pub uncorrectable_reads: u64,
    /// As `uncorrectable_reads`: writes that had to read what they cover only in part.
    pub uncorrectable_writes: u64,
    /// Time since the submission of the read that was outstanding longest when the window ended.
    pub oldest_read: Option<Duration>,
    /// As `oldest_read`, of writes.
    pub oldest_write: Option<Duration>,
}

impl WindowStats {
    /// Empty statistics for `flows` flows.
    pub fn new(flows: usize) -> WindowStats {
        WindowStats { flows: vec![Latencies::default(); flows], ..WindowStats::default() }
    }

    /// Counts a request that took, or has been outstanding, longer than the host waits.
    #[cold]
    pub fn timed_out(&mut self, op: Op) {
        let counters = &mut self.counters;
        *match op {
            Op::Read => &mut counters.command_timeouts_read,
            Op::Write => &mut counters.command_timeouts_write,
            Op::Trim | Op::Flush => &mut counters.command_timeouts_other,
        } += 1;
    }

    /// Counts a request that completes with an error: data that it had to read could not be corrected.
    #[cold]
    pub fn uncorrectable(&mut self, op: Op) {
        match op {
            Op::Read => self.uncorrectable_reads += 1,
            _ => self.uncorrectable_writes += 1,
        }
    }

    /// Notes a request that is outstanding, for `age` so far, at the end of the window.
    pub fn outstanding(&mut self, op: Op, age: Duration) {
        let oldest = match op {
            Op::Read => &mut self.oldest_read,
            Op::Write => &mut self.oldest_write,
            Op::Trim | Op::Flush => return,
        };
        *oldest = (*oldest).max(Some(age));
    }

    /// Records a completed command of an owner. Its causes are checked and not kept: an owner's requests are several
    /// commands, and tables by cause for each of many drives would cost more time than all else that an array does.
    #[inline]
    pub fn complete_owned(&mut self, op: Op, bytes: u64, latency: Duration, account: &Account) {
        check(latency, account);
        self.counters.requests += 1;
        self.flows[0].record(op, latency);
        match op {
            Op::Read => self.counters.read_bytes += bytes,
            Op::Write => self.counters.written_bytes += bytes,
            Op::Trim | Op::Flush => {}
        }
    }

    /// Records a completed request of `flow`.
    #[inline]
    pub fn complete(&mut self, flow: usize, op: Op, bytes: u64, latency: Duration, account: &Account) {
        self.counters.requests += 1;
        self.flows[flow].record(op, latency);
        match op {
            Op::Read => {
                self.counters.read_bytes += bytes;
                self.read_blame.add(latency, account);
            }
            Op::Write => {
                self.counters.written_bytes += bytes;
                self.write_blame.add(latency, account);
            }
            Op::Trim | Op::Flush => {
                assert_eq!(account.iter().sum::<u64>(), latency.as_ns(), "account {account:?}");
            }
        }
    }
}
