//! Checked rows, one after the other: what both passes over a trace share.

use super::device::Devices;
use super::format::Format;
use super::input::Input;
use super::lines::Lines;
use super::packing::Packing;
use super::problem::{RowFault, TraceProblem};
use super::row::SPAN_NS_MAX;
use super::spec::{Reorder, TracePacing, TraceSpec};
use interpulse_engine::Op;

/// A good row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Row {
    /// Line in the file, from 1.
    pub line: u64,
    /// Time since the first good row, not yet divided by the speed; never decreases.
    pub at_ns: u64,
    /// Whether `at_ns` had to be lifted to that of an earlier row.
    pub late: bool,
    /// Index of the device in order of first appearance.
    pub device: u32,
    pub op: Op,
    pub sector: u64,
    pub sectors: u32,
}

/// Bad rows that were skipped.
#[derive(Clone, Default, Debug)]
pub(super) struct BadRows {
    pub count: u64,
    /// The first ten messages, with line numbers.
    pub first: Vec<String>,
}

impl BadRows {
    /// An error unless there is a good row.
    pub fn some_good(&self, good: u64) -> Result<(), TraceProblem> {
        match (good, self.first.first()) {
            (0, Some(first)) => Err(TraceProblem::AllBad { bad_rows: self.count, first: first.clone() }),
            (0, None) => Err(TraceProblem::Empty),
            _ => Ok(()),
        }
    }
}

const BAD_ROWS_KEPT: usize = 10;

/// Reads, parses and checks rows; counts or refuses the bad ones.
pub(super) struct RowStream {
    lines: Lines,
    format: Format,
    devices: Devices,
    /// Whether a device may appear that is not in `devices` yet: in the first pass only.
    devices_open: bool,
    rules: Rules,
    /// Time of the first good row.
    origin_ns: Option<u64>,
    /// Latest time so far, from the origin.
    latest_ns: u64,
    bad: BadRows,
}

/// The parts of a spec that decide which rows are good.
#[derive(Clone, Copy)]
struct Rules {
    skip_bad_rows: bool,
    clamp: bool,
    /// Speed factor of recorded pacing; `None` where times do not matter.
    speed: Option<f64>,
}

impl RowStream {
    /// A first pass: tells the format if need be and learns the devices.
    pub fn first(input: &Input, spec: &TraceSpec) -> Result<RowStream, TraceProblem> {
        let format = match spec.format {
            Format::Auto => detect_format(input)?,
            format => format,
        };
        RowStream::open(input, spec, format, Devices::default(), true)
    }

    /// A second pass over a trace of which format and devices are known.
    pub fn again(
        input: &Input,
        spec: &TraceSpec,
        format: Format,
        devices: Devices,
    ) -> Result<RowStream, TraceProblem> {
        RowStream::open(input, spec, format, devices, false)
    }

    fn open(
        input: &Input,
        spec: &TraceSpec,
        format: Format,
        devices: Devices,
        devices_open: bool,
    ) -> Result<RowStream, TraceProblem> {
        let speed = match spec.pacing {
            TracePacing::Recorded { speed } => Some(speed),
            TracePacing::Closed { .. } => None,
        };
        Ok(RowStream {
            lines: Lines::new(input.open()?),
            format,
            devices,
            devices_open,
            rules: Rules { skip_bad_rows: spec.skip_bad_rows, clamp: spec.reorder == Reorder::Clamp, speed },
            origin_ns: None,
            latest_ns: 0,
            bad: BadRows::default(),
        })
    }

    /// The next good row; `None` at the end of the trace.
    pub fn next(&mut self) -> Result<Option<Row>, TraceProblem> {
        loop {
            let parsed = match self.lines.next()? {
                None => return Ok(None),
                Some(Ok(line)) if is_blank(line) => continue,
                Some(Ok(line)) if self.origin_ns.is_none() && self.format.is_header(line) => continue,
                Some(Ok(line)) => self.format.parse(line),
                Some(Err(fault)) => Err(fault),
            };
            let checked = parsed.and_then(|parsed| {
                let (at_ns, late) = self.rules.time(
                    parsed.time_ns,
                    self.origin_ns.unwrap_or(parsed.time_ns),
                    self.latest_ns,
                )?;
                let device = match self.devices.find(parsed.host, parsed.device) {
                    Some(device) => Some(device),
                    None if self.devices_open => Some(self.devices.add(parsed.host, parsed.device)?),
                    None => None,
                };
                Ok((parsed.time_ns, at_ns, late, device, parsed.op, parsed.sector, parsed.sectors))
            });
            let line = self.lines.line();
            match checked {
                Ok((_, _, _, None, ..)) => return Err(TraceProblem::Changed { line }),
                Ok((time_ns, at_ns, late, Some(device), op, sector, sectors)) => {
                    self.origin_ns.get_or_insert(time_ns);
                    self.latest_ns = at_ns;
                    return Ok(Some(Row { line, at_ns, late, device, op, sector, sectors }));
                }
                Err(fault) if self.rules.skip_bad_rows => self.skip(line, &fault),
                Err(fault) => return Err(TraceProblem::Row { line, fault }),
            }
        }
    }

    fn skip(&mut self, line: u64, fault: &RowFault) {
        self.bad.count += 1;
        if self.bad.first.len() < BAD_ROWS_KEPT {
            self.bad.first.push(format!("line {line}: {fault}"));
        }
    }

    /// The format in use, never [`Format::Auto`].
    pub fn format(&self) -> Format {
        self.format
    }

    /// How the file is packed.
    pub fn packing(&self) -> Packing {
        self.lines.packing()
    }

    /// Number of the line read last.
    pub fn line(&self) -> u64 {
        self.lines.line()
    }

    /// The devices and the bad rows, at the end of a pass.
    pub fn into_found(self) -> (Devices, BadRows) {
        (self.devices, self.bad)
    }
}

impl Rules {
    /// The time of a row since the origin, and whether it had to be lifted to `latest_ns`.
    fn time(&self, time_ns: u64, origin_ns: u64, latest_ns: u64) -> Result<(u64, bool), RowFault> {
        let at_ns = time_ns.saturating_sub(origin_ns);
        // Compared with the origin added, not subtracted: a row before the origin is late too.
        let latest_abs_ns = origin_ns + latest_ns;
        if time_ns < latest_abs_ns {
            if self.clamp || self.speed.is_none() {
                return Ok((latest_ns, true));
            }
            return Err(RowFault::Backwards { back_ns: latest_abs_ns - time_ns });
        }
        if self.speed.is_some_and(|speed| at_ns as f64 / speed > SPAN_NS_MAX as f64) {
            let text = interpulse_engine::Duration(at_ns).to_string();
            let legal = "at most 208 days after the first row, at replay speed";
            return Err(RowFault::field("time since the first row", &text, "too long", legal));
        }
        Ok((at_ns, false))
    }
}

fn is_blank(line: &str) -> bool {
    let line = line.trim_ascii_start();
    line.is_empty() || line.starts_with('#')
}

fn detect_format(input: &Input) -> Result<Format, TraceProblem> {
    if let Some(format) = Format::of_name(input.file_name()) {
        return Ok(format);
    }
    let mut lines = Lines::new(input.open()?);
    loop {
        let fault = match lines.next()? {
            None => return Err(TraceProblem::Empty),
            Some(Ok(line)) if is_blank(line) => continue,
            Some(Ok(row)) => {
                let row = row.to_owned();
                return Format::of_row(lines.line(), &row);
            }
            Some(Err(fault)) => fault,
        };
        return Err(TraceProblem::Row { line: lines.line(), fault });
    }
}
