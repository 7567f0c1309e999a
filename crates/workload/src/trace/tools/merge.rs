//! Merged rows of several traces, in order of time.

use super::super::device::{DeviceKey, Devices};
use super::super::input::Input;
use super::super::position::Position;
use super::super::problem::TraceProblem;
use super::super::row::WithFlush;
use super::super::scan::{Found, scan_watched};
use super::super::stream::{Row, RowStream};
use super::outcome::{ALIGNMENT, Overview, RewriteError};
use crate::trace::format::Format;
use crate::trace::limits::SPAN_NS_MAX;
use crate::trace::spec::TraceSpec;
use interpulse_engine::{Duration, Op};
use interpulse_settings::choices;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

choices! {
    /// Meaning of the times of several traces.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum MergeTimes {
        /// the recorded times have a common origin
        Recorded = "recorded",
        /// every trace begins at the same time
        Start = "start",
    }
}

choices! {
    /// Identity of the devices of several traces.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum MergeDevices {
        /// devices of equal name are one device
        Keep = "keep",
        /// every device of every file is a device of its own
        Separate = "separate",
        /// all devices side by side on one, each rounded up to 1 MiB
        Concatenate = "concatenate",
    }
}

/// Row of the merged traces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Merged {
    pub line: Position,
    /// From the first merged row.
    pub at_ns: u64,
    pub device: u32,
    pub op: Op,
    pub sector: u64,
    pub sectors: u32,
    pub flush: WithFlush,
    pub wait_us: u64,
}

struct Source {
    input: Input,
    found: Found,
    rows: RowStream,
    /// Device of the output and sectors before it, by device.
    target: Vec<(u32, u64)>,
    /// Row that was read ahead.
    next: Option<Row>,
    /// Recorded time of its first row.
    origin_ns: u64,
    read: u64,
}

pub(super) struct Merger {
    sources: Vec<Source>,
    /// Absolute time and index of the sources with a row.
    queue: BinaryHeap<Reverse<(u64, usize)>>,
    keys: Vec<DeviceKey>,
    /// Highest sector of each output device.
    ends: Vec<u64>,
    origin_ns: u64,
    overview: Overview,
}

impl Source {
    fn open(spec: &TraceSpec, count: &mut dyn FnMut(u64) -> bool) -> Result<Option<Source>, RewriteError> {
        let input = Input::file(&spec.path);
        let failed = |problem| RewriteError::Trace(Box::new(input.error(problem)));
        let Some(found) = scan_watched(&input, spec, count).map_err(failed)? else { return Ok(None) };
        let mut rows = found.rows(&input, spec).map_err(failed)?;
        let next = rows.next().map_err(failed)?;
        let origin_ns = rows.origin_ns().unwrap_or(0);
        let target = vec![(0, 0); found.extents.len()];
        Ok(Some(Source { input, found, rows, target, next, origin_ns, read: 0 }))
    }

    fn timed(&self) -> bool {
        self.found.detected.format.has_times()
    }

    /// The row read ahead, after reading the next one. Errors: the file has changed since the scan.
    fn take(&mut self) -> Result<Row, RewriteError> {
        let failed = |input: &Input, problem| RewriteError::Trace(Box::new(input.error(problem)));
        let row = self.next.take().expect("queued sources have a row");
        self.read += 1;
        self.next = self.rows.next().map_err(|problem| failed(&self.input, problem))?;
        let extent = &self.found.extents[row.device as usize];
        let outside = row.op != Op::Flush && row.sector + u64::from(row.sectors) > extent.end;
        if outside || self.next.is_none() != (self.read == self.found.summary.rows) {
            return Err(failed(&self.input, TraceProblem::Changed { line: row.line }));
        }
        Ok(row)
    }
}

impl Merger {
    /// Scans all inputs; `None` if `count` stops it.
    pub fn new(
        inputs: &[TraceSpec],
        times: MergeTimes,
        devices: MergeDevices,
        count: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Option<Merger>, RewriteError> {
        let mut sources = Vec::new();
        for input in inputs {
            let Some(source) = Source::open(input, count)? else { return Ok(None) };
            sources.push(source);
        }
        if sources.len() > 1
            && let Some(untimed) = sources.iter().find(|source| !source.timed())
        {
            let format = untimed.found.detected.format.name();
            let name = untimed.input.file_name().to_owned();
            return Err(RewriteError::Refused(format!(
                "trace {name}: the format {format} has no times, so it has no place in a merge; legal: `trace scale \
                 --iops` first, which gives it times"
            )));
        }
        if times == MergeTimes::Start {
            sources.iter_mut().for_each(|source| source.origin_ns = 0);
        }
        let origin_ns = sources.iter().map(|source| source.origin_ns).min().expect("at least one input");
        let end_ns = sources.iter().map(|s| s.origin_ns.saturating_add(s.found.summary.span.as_ns())).max();
        let span_ns = end_ns.expect("at least one input") - origin_ns;
        if span_ns > SPAN_NS_MAX {
            return Err(RewriteError::Refused(format!(
                "the merged trace would last {}, longer than {}; legal: --times start, if the recorded times have no \
                 common origin",
                Duration(span_ns),
                Duration(SPAN_NS_MAX)
            )));
        }
        let (keys, ends) = assign(&mut sources, devices)?;
        let overview = overview(&sources, &ends, span_ns);
        let queue =
            sources.iter().enumerate().map(|(index, source)| Reverse((source.origin_ns, index))).collect();
        Ok(Some(Merger { sources, queue, keys, ends, origin_ns, overview }))
    }

    /// Next row in order of time; rows at equal times follow the order of the inputs.
    pub fn next(&mut self) -> Result<Option<Merged>, RewriteError> {
        let Some(Reverse((_, index))) = self.queue.pop() else { return Ok(None) };
        let source = &mut self.sources[index];
        let row = source.take()?;
        if let Some(next) = &source.next {
            self.queue.push(Reverse((source.origin_ns + next.at_ns, index)));
        }
        let (device, base) = source.target[row.device as usize];
        Ok(Some(Merged {
            line: row.line,
            at_ns: source.origin_ns + row.at_ns - self.origin_ns,
            device,
            op: row.op,
            sector: row.sector + base,
            sectors: row.sectors,
            flush: row.flush,
            wait_us: row.wait_us,
        }))
    }

    pub fn overview(&self) -> Overview {
        self.overview
    }

    pub fn keys(&self) -> &[DeviceKey] {
        &self.keys
    }

    /// Highest sector of each device.
    pub fn ends(&self) -> Vec<u64> {
        self.ends.clone()
    }

    /// Names of the devices of the output, which is one if addresses are mapped onto a capacity.
    pub fn device_names(&self, mapped: bool) -> Vec<DeviceKey> {
        let one = mapped && self.keys.len() > 1;
        if one { vec![DeviceKey { host: String::new(), number: 0 }] } else { self.keys.clone() }
    }

    /// Format of the first input.
    pub fn format(&self) -> Format {
        self.sources[0].found.detected.format.clone()
    }

    pub fn read_as(&self) -> Vec<&'static str> {
        self.sources.iter().map(|source| source.found.summary.format).collect()
    }

    pub fn assumed(&self) -> Vec<String> {
        self.sources.iter().map(|source| source.found.summary.assumed.clone()).collect()
    }

    /// What was left out of the inputs.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for source in &self.sources {
            let (summary, name) = (&source.found.summary, source.input.file_name());
            for (count, what) in [
                (summary.bad_rows, "bad row(s) skipped"),
                (summary.other_rows, "row(s) that are no requests left out"),
                (summary.skipped_discards, "discard(s) left out"),
                (summary.skipped_flushes, "flush(es) left out"),
                (summary.stacked_rows, "request(s) of stacked devices left out"),
                (summary.late_rows, "row(s) moved to the time of the row before"),
            ] {
                if count > 0 {
                    notes.push(format!("{name}: {count} {what}"));
                }
            }
        }
        notes
    }
}

/// Assigns the devices of all inputs to devices of the output: their names and highest sectors.
fn assign(sources: &mut [Source], mode: MergeDevices) -> Result<(Vec<DeviceKey>, Vec<u64>), RewriteError> {
    let mut devices = Devices::default();
    let (mut ends, mut base) = (Vec::new(), 0);
    for source in sources {
        for index in 0..source.found.extents.len() {
            let own = ends.len() as u32;
            let (host, number) = match mode {
                MergeDevices::Keep => {
                    let key = source.found.key(index);
                    (key.host.clone(), key.number)
                }
                MergeDevices::Separate => (String::new(), own),
                MergeDevices::Concatenate => (String::new(), 0),
            };
            let fault = |fault: crate::trace::problem::RowFault| RewriteError::Refused(fault.to_string());
            let device = match devices.find(&host, number) {
                Some(device) => device,
                None => devices.add(&host, number).map_err(fault)?,
            };
            ends.resize(ends.len().max(device as usize + 1), 0);
            let end = source.found.extents[index].end;
            ends[device as usize] = ends[device as usize].max(base + end);
            source.target[index] = (device, base);
            if mode == MergeDevices::Concatenate {
                base += end.next_multiple_of(ALIGNMENT);
            }
        }
    }
    let mut keys: Vec<_> = devices.ascending().map(|(index, key)| (index, key.clone())).collect();
    keys.sort_by_key(|&(index, _)| index);
    Ok((keys.into_iter().map(|(_, key)| key).collect(), ends))
}

fn overview(sources: &[Source], ends: &[u64], span_ns: u64) -> Overview {
    let extents = || {
        let each = |source: &Source| {
            let extents = source.found.extents.iter().zip(&source.target);
            extents
                .map(|(extent, target)| (target.1 + extent.first, target.1 + extent.end))
                .collect::<Vec<_>>()
        };
        sources.iter().flat_map(each)
    };
    Overview {
        rows: sources.iter().map(|source| source.found.summary.rows).sum(),
        span_ns,
        timed: sources.iter().all(Source::timed),
        first_sector: extents().map(|extent| extent.0).min().unwrap_or(0),
        end_sector: ends.iter().copied().max().unwrap_or(0),
        largest_sectors: sources.iter().map(|source| source.found.largest_sectors).max().unwrap_or(0),
    }
}
