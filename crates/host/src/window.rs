//! Measurement window: latencies, attribution and counters between two instants of a run.

use crate::attribution::{AccountSums, Attribution};
use crate::backlog::Backlog;
use crate::observe::{Ended, Observer};
use interpulse_engine::account::check;
use interpulse_engine::{Duration, Latencies, Op, OpClass, Status, counters};

counters! {
    /// Requests and bytes.
    pub struct HostCounters {
        /// requests completed
        requests: "requests",
        /// bytes read by the host, or compared with data of the host
        read_bytes: "bytes",
        /// bytes written by the host
        written_bytes: "bytes",
        /// bytes compared with data of the host, which are among the bytes read
        compared_bytes: "bytes",
    }
}

/// Requests that the device refused, such as a write that is not at the write pointer of its zone, by status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// Writes and appends.
    pub writes: [u64; Status::ERRORS.len() + 1],
    /// Other requests.
    pub others: [u64; Status::ERRORS.len() + 1],
}

impl Refused {
    /// Adds those of another flow.
    pub fn add(&mut self, other: &Refused) {
        let (to, from) = ((&mut self.writes, &mut self.others), (&other.writes, &other.others));
        to.0.iter_mut().zip(from.0).for_each(|(to, from)| *to += from);
        to.1.iter_mut().zip(from.1).for_each(|(to, from)| *to += from);
    }

    /// All of them.
    pub fn count(&self) -> u64 {
        self.writes.iter().chain(&self.others).sum()
    }
}

/// Measurements of one window.
#[derive(Clone, Default)]
pub struct Window {
    /// Latencies of each flow.
    pub flows: Vec<Latencies>,
    /// Latencies of reads by cause.
    pub read_attribution: Attribution,
    /// Latencies of writes by cause.
    pub write_attribution: AccountSums,
    /// Counts.
    pub counters: HostCounters,
    /// Reads that failed because data was uncorrectable.
    pub uncorrectable_reads: u64,
    /// Writes of partial units that failed because the rest of a unit was uncorrectable.
    pub uncorrectable_writes: u64,
    /// Requests that the device refused.
    pub refused: Refused,
    /// The same by flow.
    pub refused_by_flow: Vec<Refused>,
    /// Latencies of requests that the host aborted, which are among the others.
    pub aborted: Latencies,
    /// Backlog of each flow, without arrivals where the flow is closed, and of all open flows together if there are
    /// several flows.
    pub backlogs: Vec<Backlog>,
    /// Age of the oldest outstanding read at the end of the window.
    pub oldest_read: Option<Duration>,
    /// Age of the oldest outstanding write at the end of the window.
    pub oldest_write: Option<Duration>,
}

impl Window {
    /// An empty window for `flows` flows.
    pub fn new(flows: usize) -> Window {
        Window {
            flows: (0..flows).map(|_| Latencies::default()).collect(),
            refused_by_flow: vec![Refused::default(); flows],
            ..Window::default()
        }
    }

    /// Counts a request that failed.
    #[cold]
    fn request_failed(&mut self, op: Op, status: Status, flow: usize) {
        let mut refused = Refused::default();
        match (status, op.class()) {
            (Status::UnrecoveredReadError, OpClass::Read) => self.uncorrectable_reads += 1,
            (Status::UnrecoveredReadError, _) => self.uncorrectable_writes += 1,
            (_, OpClass::Write) => refused.writes[status as usize] += 1,
            (..) => refused.others[status as usize] += 1,
        }
        self.refused.add(&refused);
        if let Some(of) = self.refused_by_flow.get_mut(flow) {
            of.add(&refused);
        }
    }

    /// Latencies of the flow of a request. Requests from outside the flows have tags above the flows' numbers.
    #[inline(always)]
    fn latencies_of(&mut self, ended: &Ended) -> Option<&mut Latencies> {
        self.flows.get_mut(ended.of.tag.index())
    }

    /// Records a request of the class of reads.
    #[inline(always)]
    fn read_ended(&mut self, ended: &Ended) {
        if let Some(flow) = self.latencies_of(ended) {
            flow.read.record(ended.latency);
        }
        self.counters.read_bytes += ended.of.bytes;
        if let Some(account) = ended.of.account {
            self.read_attribution.add(ended.latency, account);
        }
    }

    /// Records a request of the class of writes.
    #[inline(always)]
    fn write_ended(&mut self, ended: &Ended) {
        if let Some(flow) = self.latencies_of(ended) {
            flow.write.record(ended.latency);
        }
        self.counters.written_bytes += ended.of.bytes;
        if let Some(account) = ended.of.account {
            self.write_attribution.add(ended.latency, account);
        }
    }

    /// Records a request that is neither `Op::Read` nor `Op::Write`, of any class.
    #[inline(never)]
    fn other_ended(&mut self, ended: &Ended) {
        let of = &ended.of;
        if of.op == Op::Compare {
            self.counters.compared_bytes += of.bytes;
        }
        match of.op.class() {
            OpClass::Read => self.read_ended(ended),
            OpClass::Write => self.write_ended(ended),
            OpClass::Other => {
                if let Some(flow) = self.latencies_of(ended) {
                    flow.other.record(ended.latency);
                }
                if let Some(account) = of.account {
                    check(ended.latency, account);
                }
            }
        }
    }

    /// Records the age of a request that is outstanding at the end of the window.
    pub fn outstanding(&mut self, op: Op, age: Duration) {
        let oldest = match op.class() {
            OpClass::Read => &mut self.oldest_read,
            OpClass::Write => &mut self.oldest_write,
            OpClass::Other => return,
        };
        *oldest = (*oldest).max(Some(age));
    }
}

impl Observer for Window {
    #[inline(always)]
    fn request_ended(&mut self, ended: &Ended) {
        let of = &ended.of;
        self.counters.requests += 1;
        match of.op {
            Op::Read => self.read_ended(ended),
            Op::Write => self.write_ended(ended),
            _ => self.other_ended(ended),
        }
        if of.status != Status::Success {
            self.request_failed(of.op, of.status, of.tag.index());
            if of.status == Status::CommandAbortRequested {
                self.aborted.record(of.op, ended.latency);
            }
        }
    }
}
