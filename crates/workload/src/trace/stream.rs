//! Checked rows, one after the other: what both passes over a trace share.

use super::columns::{is_blank, is_heading};
use super::device::Devices;
use super::input::Input;
use super::limits::SPAN_NS_MAX;
use super::lines::{Lines, Raw};
use super::packing::Packing;
use super::place::Place;
use super::problem::{RowFault, TraceProblem};
use super::spec::{Reorder, TracePacing, TraceSpec};
use super::tell::{Told, tell};
use interpulse_engine::Op;

/// A good row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Row {
    /// Where in the file it is.
    pub line: Place,
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

/// Rows that were left out.
#[derive(Clone, Default, Debug)]
pub(super) struct LeftOut {
    pub bad: u64,
    /// The first ten messages about bad ones, with line numbers.
    pub first_bad: Vec<String>,
    /// Rows that are no reads or writes.
    pub other: u64,
    /// The first line that was taken for a heading, and why it is no row.
    heading: Option<(Place, RowFault)>,
}

impl LeftOut {
    /// An error unless there is a good row.
    pub fn some_good(&self, good: u64) -> Result<(), TraceProblem> {
        match (good, self.first_bad.first(), self.heading.clone()) {
            (1.., ..) => Ok(()),
            (0, Some(first), _) => Err(TraceProblem::AllBad { bad_rows: self.bad, first: first.clone() }),
            (0, None, Some((line, fault))) if self.other == 0 => Err(TraceProblem::Row { line, fault }),
            (0, None, _) => Err(TraceProblem::Empty),
        }
    }
}

const BAD_ROWS_KEPT: usize = 10;

/// Reads, parses and checks rows; counts or refuses the bad ones.
pub(super) struct RowStream {
    lines: Lines,
    told: Told,
    devices: Devices,
    /// Whether a device may appear that is not in `devices` yet: in the first pass only.
    devices_open: bool,
    rules: Rules,
    /// Time of the first good row.
    origin_ns: Option<u64>,
    /// Latest time so far, from the origin.
    latest_ns: u64,
    left_out: LeftOut,
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
        RowStream::open(input, spec, tell(input, spec)?, Devices::default(), true)
    }

    /// A second pass over a trace of which everything is known.
    pub fn again(
        input: &Input,
        spec: &TraceSpec,
        told: Told,
        devices: Devices,
    ) -> Result<RowStream, TraceProblem> {
        RowStream::open(input, spec, told, devices, false)
    }

    fn open(
        input: &Input,
        spec: &TraceSpec,
        told: Told,
        devices: Devices,
        devices_open: bool,
    ) -> Result<RowStream, TraceProblem> {
        let speed = match spec.pacing {
            TracePacing::Recorded { speed } => Some(speed),
            TracePacing::Closed { .. } => None,
        };
        Ok(RowStream {
            lines: Lines::new(input.open()?),
            told,
            devices,
            devices_open,
            rules: Rules { skip_bad_rows: spec.skip_bad_rows, clamp: spec.reorder == Reorder::Clamp, speed },
            origin_ns: None,
            latest_ns: 0,
            left_out: LeftOut::default(),
        })
    }

    /// The next good row; `None` at the end of the trace.
    pub fn next(&mut self) -> Result<Option<Row>, TraceProblem> {
        loop {
            let before = self.origin_ns.is_none();
            let format = &self.told.format;
            let parsed = match self.lines.next_row(format.record_bytes())? {
                None => return Ok(None),
                Some(Ok(Raw::Line(line))) if is_blank(line) || before && format.is_header(line) => continue,
                Some(Ok(Raw::Line(line))) if before && is_heading(line) => {
                    if let (None, Err(fault)) = (&self.left_out.heading, format.parse(Raw::Line(line))) {
                        self.left_out.heading = Some((self.lines.place(), fault));
                    }
                    continue;
                }
                Some(Ok(raw)) => format.parse(raw),
                Some(Err(fault)) => Err(fault),
            };
            let parsed = match parsed {
                Ok(None) => {
                    self.left_out.other += 1;
                    continue;
                }
                Ok(Some(parsed)) => Ok(parsed),
                Err(fault) => Err(fault),
            };
            let checked = parsed.and_then(|parsed| {
                let time_ns = parsed.time.ns(self.told.unit)?;
                let (at_ns, late) =
                    self.rules.time(time_ns, self.origin_ns.unwrap_or(time_ns), self.latest_ns)?;
                let device = match self.devices.find(parsed.host, parsed.device) {
                    Some(device) => Some(device),
                    None if self.devices_open => Some(self.devices.add(parsed.host, parsed.device)?),
                    None => None,
                };
                Ok((time_ns, at_ns, late, device, parsed.op, parsed.sector, parsed.sectors))
            });
            let line = self.lines.place();
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

    fn skip(&mut self, line: Place, fault: &RowFault) {
        self.left_out.bad += 1;
        if self.left_out.first_bad.len() < BAD_ROWS_KEPT {
            self.left_out.first_bad.push(format!("{line}: {fault}"));
        }
    }

    /// How the file is packed.
    pub fn packing(&self) -> Packing {
        self.lines.packing()
    }

    /// The line or record read last.
    pub fn place(&self) -> Place {
        self.lines.place()
    }

    /// The devices and what was left out, at the end of a pass.
    pub fn into_found(self) -> (Told, Devices, LeftOut) {
        (self.told, self.devices, self.left_out)
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
