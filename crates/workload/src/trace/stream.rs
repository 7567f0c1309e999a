//! Stream of checked rows, shared by both passes over a trace.

use super::columns::{is_blank, is_heading};
use super::detect::{Detected, detect};
use super::device::Devices;
use super::input::Input;
use super::limits::SPAN_NS_MAX;
use super::lines::{Lines, Raw};
use super::packing::Packing;
use super::position::Position;
use super::problem::{RowFault, TraceProblem};
use super::spec::{Reorder, TracePacing, TraceSpec};
use interpulse_engine::Op;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Row {
    pub line: Position,
    /// Time since the first good row, before the speed factor; never decreases.
    pub at_ns: u64,
    /// Whether `at_ns` was raised to that of an earlier row.
    pub late: bool,
    /// Index of the device in order of first appearance.
    pub device: u32,
    pub op: Op,
    pub sector: u64,
    pub sectors: u32,
}

#[derive(Clone, Default, Debug)]
pub(super) struct SkippedRows {
    pub bad: u64,
    /// Messages of the first ten bad rows, with line numbers.
    pub first_bad: Vec<String>,
    pub other: u64,
    /// First line assumed to be a heading, and its fault as a row.
    heading: Option<(Position, RowFault)>,
}

impl SkippedRows {
    /// Returns an error if there is no good row.
    pub fn require_good_row(&self, good: u64) -> Result<(), TraceProblem> {
        match (good, self.first_bad.first(), self.heading.clone()) {
            (1.., ..) => Ok(()),
            (0, Some(first), _) => Err(TraceProblem::AllBad { bad_rows: self.bad, first: first.clone() }),
            (0, None, Some((line, fault))) if self.other == 0 => Err(TraceProblem::Row { line, fault }),
            (0, None, _) => Err(TraceProblem::Empty),
        }
    }
}

const BAD_ROWS_KEPT: usize = 10;

/// Reads, parses and checks rows; counts or rejects bad ones.
pub(super) struct RowStream {
    lines: Lines,
    detected: Detected,
    devices: Devices,
    /// Whether devices missing in `devices` are added: in the first pass only.
    devices_open: bool,
    rules: Rules,
    origin_ns: Option<u64>,
    /// Latest time so far, from the origin.
    latest_ns: u64,
    skipped_rows: SkippedRows,
}

/// Settings that decide which rows are good.
#[derive(Clone, Copy)]
struct Rules {
    skip_bad_rows: bool,
    clamp: bool,
    /// Speed factor of recorded pacing; `None` if times are ignored.
    speed: Option<f64>,
}

impl RowStream {
    /// First pass: detects the format and collects the devices.
    pub fn first(input: &Input, spec: &TraceSpec) -> Result<RowStream, TraceProblem> {
        RowStream::open(input, spec, detect(input, spec)?, Devices::default(), true)
    }

    /// Second pass with a known format and known devices.
    pub fn again(
        input: &Input,
        spec: &TraceSpec,
        detected: Detected,
        devices: Devices,
    ) -> Result<RowStream, TraceProblem> {
        RowStream::open(input, spec, detected, devices, false)
    }

    fn open(
        input: &Input,
        spec: &TraceSpec,
        detected: Detected,
        devices: Devices,
        devices_open: bool,
    ) -> Result<RowStream, TraceProblem> {
        let speed = match spec.pacing {
            TracePacing::Recorded { speed } => Some(speed),
            TracePacing::Closed { .. } => None,
        };
        Ok(RowStream {
            lines: Lines::new(input.open()?),
            detected,
            devices,
            devices_open,
            rules: Rules { skip_bad_rows: spec.skip_bad_rows, clamp: spec.reorder == Reorder::Clamp, speed },
            origin_ns: None,
            latest_ns: 0,
            skipped_rows: SkippedRows::default(),
        })
    }

    pub fn next(&mut self) -> Result<Option<Row>, TraceProblem> {
        loop {
            let before = self.origin_ns.is_none();
            let format = &self.detected.format;
            let parsed = match self.lines.next_row(format.record_bytes())? {
                None => return Ok(None),
                Some(Ok(Raw::Line(line))) if is_blank(line) || before && format.is_header(line) => continue,
                Some(Ok(Raw::Line(line))) if before && is_heading(line) => {
                    if let (None, Err(fault)) = (&self.skipped_rows.heading, format.parse(Raw::Line(line))) {
                        self.skipped_rows.heading = Some((self.lines.position(), fault));
                    }
                    continue;
                }
                Some(Ok(raw)) => format.parse(raw),
                Some(Err(fault)) => Err(fault),
            };
            let parsed = match parsed {
                Ok(None) => {
                    self.skipped_rows.other += 1;
                    continue;
                }
                Ok(Some(parsed)) => Ok(parsed),
                Err(fault) => Err(fault),
            };
            let checked = parsed.and_then(|parsed| {
                let time_ns = parsed.time.ns(self.detected.unit)?;
                let (at_ns, late) =
                    self.rules.time(time_ns, self.origin_ns.unwrap_or(time_ns), self.latest_ns)?;
                let device = match self.devices.find(parsed.host, parsed.device) {
                    Some(device) => Some(device),
                    None if self.devices_open => Some(self.devices.add(parsed.host, parsed.device)?),
                    None => None,
                };
                Ok((time_ns, at_ns, late, device, parsed.op, parsed.sector, parsed.sectors))
            });
            let line = self.lines.position();
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

    fn skip(&mut self, line: Position, fault: &RowFault) {
        self.skipped_rows.bad += 1;
        if self.skipped_rows.first_bad.len() < BAD_ROWS_KEPT {
            self.skipped_rows.first_bad.push(format!("{line}: {fault}"));
        }
    }

    pub fn packing(&self) -> Packing {
        self.lines.packing()
    }

    pub fn position(&self) -> Position {
        self.lines.position()
    }

    pub fn into_found(self) -> (Detected, Devices, SkippedRows) {
        (self.detected, self.devices, self.skipped_rows)
    }
}

impl Rules {
    /// Time of a row since the origin, and whether it was raised to `latest_ns`.
    fn time(&self, time_ns: u64, origin_ns: u64, latest_ns: u64) -> Result<(u64, bool), RowFault> {
        let at_ns = time_ns.saturating_sub(origin_ns);
        // Adds the origin instead of subtracting it, because a row before the origin is late too.
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
