//! Time series: one row of counters, latencies and queue depths per interval.

use super::columns::{Column, Data, NOTHING};
use super::row_batches::BatchSender;
use crate::run_target::{DeviceCounters, RunTarget};
use interpulse_drive::Drive;
use interpulse_engine::{Duration, LatencyHistogram, OpClass, SimTime};
use interpulse_flash::command::{DIE_ACTIVITIES, DieActivity};
use interpulse_host::Ended;

/// Rows per batch.
const CHUNK: usize = 1 << 12;

/// Column names of die uses.
pub const USE_NAMES: [(DieActivity, &str); DIE_ACTIVITIES] = [
    (DieActivity::Idle, "idle"),
    (DieActivity::SenseHost, "sense_host"),
    (DieActivity::SenseGc, "sense_gc"),
    (DieActivity::BusHost, "bus_host"),
    (DieActivity::BusGc, "bus_gc"),
    (DieActivity::BusProgram, "bus_program"),
    (DieActivity::PulseHost, "pulse_host"),
    (DieActivity::PulseGc, "pulse_gc"),
    (DieActivity::Erase, "erase"),
    (DieActivity::StopProgram, "stop_program"),
    (DieActivity::StopErase, "stop_erase"),
    (DieActivity::Suspended, "suspended"),
];

const PERCENTILES: [(&str, f64); 3] = [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)];

/// Requests of one kind that ended in the interval.
#[derive(Default)]
struct Kind {
    latencies: LatencyHistogram,
    bytes: u64,
}

/// Rows not sent yet and the current interval.
pub struct Series {
    length: Duration,
    /// Start of the measurement window, and of the current interval.
    start: SimTime,
    since: SimTime,
    /// End of the current interval.
    until: SimTime,
    /// Counters at the start of the interval.
    before: Option<DeviceCounters>,
    read: Kind,
    write: Kind,
    other: u64,
    /// Outstanding requests, instant of their last change, and their integral over time.
    depth: i64,
    depth_since: SimTime,
    depth_ns: u128,
    columns: Vec<Column>,
    rows: usize,
    sender: BatchSender,
}

impl Series {
    /// Series with intervals of this length.
    pub fn new(length: Duration, sender: BatchSender) -> Series {
        Series {
            length,
            start: SimTime::ZERO,
            since: SimTime::ZERO,
            until: SimTime(u64::MAX),
            before: None,
            read: Kind::default(),
            write: Kind::default(),
            other: 0,
            depth: 0,
            depth_since: SimTime::ZERO,
            depth_ns: 0,
            columns: Vec::new(),
            rows: 0,
            sender,
        }
    }

    /// End of the current interval.
    #[inline]
    pub fn next_sample(&self) -> SimTime {
        self.until
    }

    /// Changes the number of outstanding requests.
    #[inline]
    pub fn depth_changes(&mut self, at: SimTime, by: i64) {
        self.depth_ns += u128::from(at.since(self.depth_since).as_ns()) * self.depth.max(0) as u128;
        (self.depth, self.depth_since) = (self.depth + by, at);
    }

    /// Counts an ended request.
    #[inline]
    pub fn take(&mut self, ended: &Ended) {
        let kind = match ended.of.op.class() {
            OpClass::Read => &mut self.read,
            OpClass::Write => &mut self.write,
            OpClass::Other => {
                self.other += 1;
                return;
            }
        };
        kind.latencies.record(ended.latency);
        kind.bytes += ended.of.bytes;
    }

    /// Start of the measurement window.
    pub fn begin<D: RunTarget>(&mut self, device: &mut D, at: SimTime) {
        self.start = at;
        self.before = Some(DeviceCounters::read(device, at));
        self.depth_changes(at, 0);
        self.open(device, at);
    }

    /// Ends the current interval and starts the next.
    pub fn sample<D: RunTarget>(&mut self, device: &mut D, at: SimTime) {
        self.close(device, at);
        self.open(device, at);
    }

    /// End of the measurement window; ends the current interval unless it is empty.
    pub fn end<D: RunTarget>(&mut self, device: &mut D, at: SimTime) {
        if at > self.since || self.read.latencies.count() + self.write.latencies.count() + self.other > 0 {
            self.close(device, at);
        }
        self.until = SimTime(u64::MAX);
    }

    fn open<D: RunTarget>(&mut self, device: &D, at: SimTime) {
        (self.since, self.until) = (at, at + self.length);
        (self.read, self.write, self.other) = (Kind::default(), Kind::default(), 0);
        // A power loss removes requests without completion.
        (self.depth, self.depth_ns) = (device.outstanding() as i64, 0);
    }

    fn close<D: RunTarget>(&mut self, device: &mut D, at: SimTime) {
        self.depth_changes(at, 0);
        let after = DeviceCounters::read(device, at);
        let before = self.before.replace(after).expect("a window that is closed was opened");
        let DeviceCounters { ftl, nand, uses, .. } = after.since(&before);
        let length = at.since(self.since);
        let (reads, writes) = (self.read.latencies.count(), self.write.latencies.count());
        let requests = reads + writes + self.other;
        let per_ns = |n: f64| if length > Duration::ZERO { n / length.as_ns() as f64 } else { f64::NAN };
        let mut row = Filler { columns: &mut self.columns, at: 0 };
        row.whole("start_ns", self.since.since(self.start).as_ns());
        row.whole("length_ns", length.as_ns());
        row.whole("requests", requests);
        row.real("iops", per_ns(requests as f64 * 1e9));
        for (name, kind) in [("read", &self.read), ("write", &self.write)] {
            row.whole(&format!("{name}_requests"), kind.latencies.count());
            row.whole(&format!("{name}_bytes"), kind.bytes);
            row.whole(&format!("{name}_latency_sum_ns"), kind.latencies.sum_ns() as u64);
            for (p, share) in PERCENTILES {
                let value = kind.latencies.percentile(share).map(Duration::as_ns);
                row.perhaps(&format!("{name}_{p}_ns"), value);
            }
            row.perhaps(&format!("{name}_max_ns"), kind.latencies.max().map(Duration::as_ns));
        }
        row.real("queue_depth_mean", per_ns(self.depth_ns as f64));
        row.whole("queue_depth_end", device.outstanding() as u64);
        let (free, least) = free_blocks(device);
        row.whole("free_blocks", free);
        row.perhaps("free_blocks_least", least);
        row.whole("host_units", ftl.host_units);
        row.whole("programmed_units", ftl.programmed());
        row.real("waf", ftl.write_amplification().unwrap_or(f64::NAN));
        row.whole("gc_units", ftl.gc_units);
        row.whole("erases", nand.erases);
        row.whole("program_suspends", nand.program_suspends);
        row.whole("erase_suspends", nand.erase_suspends);
        row.whole("bus_busy_ns", nand.bus_time);
        for (of, name) in USE_NAMES {
            row.whole(&format!("die_{name}_ns"), uses[of as usize]);
        }
        self.rows += 1;
        if self.rows == CHUNK {
            self.flush();
        }
    }

    /// Sends the remaining rows.
    pub fn flush(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        if rows > 0 {
            self.sender.send("series", rows, std::mem::take(&mut self.columns));
        }
    }
}

/// Fills a row column by column; the first row creates the columns.
struct Filler<'a> {
    columns: &'a mut Vec<Column>,
    at: usize,
}

impl Filler<'_> {
    fn whole(&mut self, name: &str, value: u64) {
        self.perhaps(name, Some(value));
    }

    fn perhaps(&mut self, name: &str, value: Option<u64>) {
        let value = value.map_or(NOTHING, |value| value as i64);
        match self.next(name, Data::Whole(Vec::new())) {
            Data::Whole(values) => values.push(value),
            other => unreachable!("column {name} is {other:?}"),
        }
    }

    fn real(&mut self, name: &str, value: f64) {
        match self.next(name, Data::Real(Vec::new())) {
            Data::Real(values) => values.push(value),
            other => unreachable!("column {name} is {other:?}"),
        }
    }

    fn next(&mut self, name: &str, empty: Data) -> &mut Data {
        if self.at == self.columns.len() {
            self.columns.push(Column { name: name.into(), data: empty });
        }
        self.at += 1;
        &mut self.columns[self.at - 1].data
    }
}

/// Free super blocks: sum over all drives, and fewest of any lane.
fn free_blocks<D: RunTarget>(device: &D) -> (u64, Option<u64>) {
    let lanes = device.drives().iter().flat_map(Drive::free_blocks).map(u64::from);
    lanes.fold((0, None), |(sum, least), free| (sum + free, Some(least.map_or(free, |l: u64| l.min(free)))))
}
