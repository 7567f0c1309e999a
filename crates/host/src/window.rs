//! What is measured in the measurement window of a run.

use crate::blame::{Blame, Sums};
use crate::observe::{Ended, Observer};
use interpulse_engine::account::check;
use interpulse_engine::{Duration, Latencies, Op, counters};

counters! {
    /// What was asked of the device.
    pub struct HostCounters {
        /// requests completed
        requests: "requests",
        /// bytes read by the host
        read_bytes: "bytes",
        /// bytes written by the host
        written_bytes: "bytes",
    }
}

/// What one window measured.
#[derive(Clone, Default)]
pub struct Window {
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

impl Window {
    /// An empty window of `flows` flows.
    pub fn new(flows: usize) -> Window {
        Window { flows: (0..flows).map(|_| Latencies::default()).collect(), ..Window::default() }
    }

    /// Counts a request that completes with an error: data that it had to read could not be corrected.
    #[cold]
    fn uncorrectable(&mut self, op: Op) {
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
}

impl Observer for Window {
    #[inline(always)]
    fn request_ended(&mut self, ended: &Ended) {
        let of = &ended.of;
        self.counters.requests += 1;
        // What did not come from a flow belongs to none.
        if let Some(flow) = self.flows.get_mut(of.tag.index()) {
            flow.record(of.op, ended.latency);
        }
        match of.op {
            Op::Read => self.counters.read_bytes += of.bytes,
            Op::Write => self.counters.written_bytes += of.bytes,
            Op::Trim | Op::Flush => {}
        }
        match (of.op, of.account) {
            (Op::Read, Some(account)) => self.read_blame.add(ended.latency, account),
            (Op::Write, Some(account)) => self.write_blame.add(ended.latency, account),
            (_, Some(account)) => check(ended.latency, account),
            (_, None) => {}
        }
        if of.failed {
            self.uncorrectable(of.op);
        }
    }
}
