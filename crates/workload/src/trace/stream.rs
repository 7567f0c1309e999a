//! Stream of checked rows, shared by both passes over a trace.

use super::columns::is_heading;
use super::detect::{Detected, detect};
use super::device::{DeviceKey, Devices};
use super::fio_clock;
use super::format::Format;
use super::input::Input;
use super::limits::SPAN_NS_MAX;
use super::lines::{Lines, Raw};
use super::packing::Packing;
use super::position::Position;
use super::problem::{RowFault, TraceProblem, shorten};
use super::row::{Directive, ParsedRow, WithFlush};
use super::selection::{Remaps, Selection};
use super::spec::{Reorder, TracePacing, TraceSpec, Treatment};
use super::unit::TimeUnit;
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
    /// Flush of a write, unless flushes are left out.
    pub flush: WithFlush,
    /// Pause before the request, for logs without times.
    pub wait_us: u64,
}

#[derive(Clone, Default, Debug)]
pub(super) struct SkippedRows {
    pub bad: u64,
    /// Messages of the first ten bad rows, with line numbers.
    pub first_bad: Vec<String>,
    pub other: u64,
    /// Discards left out.
    pub discards: u64,
    /// Flushes left out, those of writes included.
    pub flushes: u64,
    /// Requests of upper (stacked) devices that are left out, because those of the device below are replayed.
    pub stacked: u64,
    /// Requests of devices that were not selected.
    pub unselected: u64,
    /// Names of some devices that were not selected.
    pub unselected_names: Vec<String>,
    /// First line if it was taken for a heading, with the error of parsing it as a row.
    heading: Option<(Position, RowFault)>,
}

impl SkippedRows {
    /// Returns an error if there is no good row.
    pub fn require_good_row(&self, good: u64) -> Result<(), TraceProblem> {
        match (good, self.first_bad.first(), self.heading.clone()) {
            (1.., ..) => Ok(()),
            (0, Some(first), _) => Err(TraceProblem::AllBad { bad_rows: self.bad, first: first.clone() }),
            (0, None, Some((line, fault))) if self.other == 0 => Err(TraceProblem::Row { line, fault }),
            (0, None, _) if self.unselected > 0 => {
                Err(TraceProblem::NoSuchDevice { known: self.unselected_names.join("; ") })
            }
            (0, None, _) if self.discards + self.flushes > 0 => {
                Err(TraceProblem::AllSkipped { discards: self.discards, flushes: self.flushes })
            }
            (0, None, _) => Err(TraceProblem::Empty),
        }
    }
}

const BAD_ROWS_KEPT: usize = 10;
/// Devices named when the selected one is missing.
const DEVICES_NAMED: usize = 20;
/// Rows, at most, from which the names of devices that were not selected are collected.
const ROWS_NAMED: u64 = 65_536;

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
    selection: Selection,
    remaps: Remaps,
    /// Pauses since the last request.
    wait_us: u64,
}

/// Settings that decide which rows are good.
#[derive(Clone, Copy)]
struct Rules {
    skip_bad_rows: bool,
    clamp: bool,
    skip_discards: bool,
    skip_flushes: bool,
    /// Speed factor of recorded pacing; `None` if times are ignored.
    speed: Option<f64>,
}

impl RowStream {
    /// First pass: detects the format and collects the devices.
    pub fn first(input: &Input, spec: &TraceSpec) -> Result<RowStream, TraceProblem> {
        let selection = Selection::new(spec.device.clone(), Vec::new());
        let mut detected = detect(input, spec)?;
        let format = &detected.format;
        if !format.has_times() {
            if spec.time_unit.is_some() {
                return Err(TraceProblem::NoTimeUnit { format: format.name() });
            }
            if !matches!(format, Format::Columns(_)) {
                detected.assumed =
                    "without times: the requests are issued in file order, closed loop".to_owned();
            }
        } else if *format == Format::Fio
            && spec.time_unit.is_none()
            && matches!(spec.pacing, TracePacing::Recorded { .. })
            && let Some(why) = fio_clock::doubt(input)?
        {
            return Err(TraceProblem::ImplausibleTimes { unit: TimeUnit::Us.name(), why });
        }
        RowStream::open(input, spec, detected, Devices::default(), selection, true)
    }

    /// Repeats the first pass without the upper devices whose requests a lower device has too; `None` without such devices.
    pub fn unstacked(&self, input: &Input, spec: &TraceSpec) -> Result<Option<RowStream>, TraceProblem> {
        if spec.device.is_some() || !self.selection.stacked().is_empty() {
            return Ok(None);
        }
        let has = |key: &DeviceKey| self.devices.ascending().any(|(_, known)| known == key);
        let pairs = self.remaps.stacked(has);
        if pairs.is_empty() {
            return Ok(None);
        }
        let mut detected = self.detected.clone();
        // The rate in the message counted each stacked request twice.
        if let Some((unit, rest)) = detected.assumed.split_once(": ")
            && let Some((_, rest)) = rest.split_once(" requests per second")
            && rest.starts_with(" (override")
        {
            detected.assumed = format!("{unit}{rest}");
        }
        let named: Vec<String> =
            pairs.iter().map(|(upper, lower)| format!("{} to {}", upper.name(), lower.name())).collect();
        let (shown, more) = named.split_at(named.len().min(DEVICES_NAMED));
        let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
        let example = pairs[0].0.name();
        detected.assumed += &input.addressed(&format!(
            "; requests of stacked devices are counted on the lower device only: {}{more} (override: --set \
             flow.N.device={example})",
            shown.join(", ")
        ));
        let upper = pairs.into_iter().map(|(upper, _)| upper.clone()).collect();
        let selection = Selection::new(None, upper);
        RowStream::open(input, spec, detected, Devices::default(), selection, true).map(Some)
    }

    /// Second pass with a known format, known devices and the selection of the first pass.
    pub fn again(
        input: &Input,
        spec: &TraceSpec,
        detected: Detected,
        devices: Devices,
        selection: Selection,
    ) -> Result<RowStream, TraceProblem> {
        RowStream::open(input, spec, detected, devices, selection, false)
    }

    fn open(
        input: &Input,
        spec: &TraceSpec,
        detected: Detected,
        devices: Devices,
        selection: Selection,
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
            rules: Rules {
                skip_bad_rows: spec.skip_bad_rows,
                clamp: spec.reorder == Reorder::Clamp,
                skip_discards: spec.discards == Treatment::Skip,
                skip_flushes: spec.flushes == Treatment::Skip,
                speed,
            },
            origin_ns: None,
            latest_ns: 0,
            skipped_rows: SkippedRows::default(),
            selection,
            remaps: Remaps::default(),
            wait_us: 0,
        })
    }

    pub fn next(&mut self) -> Result<Option<Row>, TraceProblem> {
        loop {
            let before = self.origin_ns.is_none();
            let format = &self.detected.format;
            let in_header = self.lines.position().number < format.header_rows();
            let raw = match self.lines.next_row(format.framing())? {
                None => return Ok(None),
                Some(_) if in_header => continue,
                Some(Ok(Raw::Line(line))) if format.skips(line) || before && format.is_header(line) => {
                    continue;
                }
                Some(Ok(Raw::Line(line))) if before && is_heading(line) => {
                    if let (None, Err(fault)) = (&self.skipped_rows.heading, format.parse(Raw::Line(line))) {
                        self.skipped_rows.heading = Some((self.lines.position(), fault));
                    }
                    continue;
                }
                Some(raw) => raw,
            };
            let parsed = match raw.and_then(|raw| Ok((raw, format.parse(raw)?))) {
                Ok((raw, None)) => match format.directive(raw) {
                    Ok(Some(Directive::Wait { us })) => {
                        self.wait_us = self.wait_us.saturating_add(us);
                        continue;
                    }
                    Ok(directive) => {
                        self.skipped_rows.other += 1;
                        if let Some(Directive::Remap { from, to }) = directive {
                            self.remaps.add(from, to);
                        }
                        continue;
                    }
                    Err(fault) => Err(fault),
                },
                Ok((_, Some(parsed))) => Ok(parsed),
                Err(fault) => Err(fault),
            };
            let scale = self.detected.scale;
            let mut placed = parsed.and_then(|row| Ok((row, scale.sectors(row.op, row.offset, row.size)?)));
            if let Ok((_, None)) = placed {
                self.skipped_rows.other += 1;
                continue;
            }
            if let Ok((row, _)) = &mut placed
                && !self.rules.keeps(row, &mut self.selection, &mut self.skipped_rows)
            {
                continue;
            }
            let checked = placed.and_then(|(parsed, extent)| {
                let (sector, sectors) = extent.unwrap_or_default();
                let time_ns = parsed.time.ns(self.detected.unit)?;
                let (at_ns, late) =
                    self.rules.time(time_ns, self.origin_ns.unwrap_or(time_ns), self.latest_ns)?;
                let device = match self.devices.find(parsed.host, parsed.device) {
                    Some(device) => Some(device),
                    None if self.devices_open => Some(self.devices.add(parsed.host, parsed.device)?),
                    None => None,
                };
                Ok((time_ns, at_ns, late, device, parsed.op, sector, sectors as u32, parsed.flush))
            });
            let line = self.lines.position();
            match checked {
                Ok((_, _, _, None, ..)) => return Err(TraceProblem::Changed { line }),
                Ok((time_ns, at_ns, late, Some(device), op, sector, sectors, flush)) => {
                    self.origin_ns.get_or_insert(time_ns);
                    self.latest_ns = at_ns;
                    let wait_us = std::mem::take(&mut self.wait_us);
                    return Ok(Some(Row { line, at_ns, late, device, op, sector, sectors, flush, wait_us }));
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

    /// Recorded time of the first good row, in ns; `None` before it.
    pub fn origin_ns(&self) -> Option<u64> {
        self.origin_ns
    }

    pub fn packing(&self) -> Packing {
        self.lines.packing()
    }

    pub fn position(&self) -> Position {
        self.lines.position()
    }

    pub fn into_found(self) -> (Detected, Devices, Selection, SkippedRows) {
        (self.detected, self.devices, self.selection, self.skipped_rows)
    }
}

impl Rules {
    /// Whether a row is replayed. Counts each row that is left out; where flushes are left out, writes lose theirs.
    fn keeps(&self, row: &mut ParsedRow, selection: &mut Selection, skipped: &mut SkippedRows) -> bool {
        if !selection.reads(row.host, row.device) {
            if selection.stacked().is_empty() {
                skipped.unselected += 1;
                if skipped.unselected <= ROWS_NAMED && skipped.unselected_names.len() < DEVICES_NAMED {
                    let name = DeviceKey { host: row.host.to_owned(), number: row.device }.name();
                    let name = shorten(&name);
                    if !skipped.unselected_names.contains(&name) {
                        skipped.unselected_names.push(name);
                    }
                }
            } else {
                skipped.stacked += 1;
            }
            return false;
        }
        if self.skip_flushes && row.flush != WithFlush::None {
            row.flush = WithFlush::None;
            skipped.flushes += 1;
        }
        let (discard, flush) =
            (self.skip_discards && row.op == Op::Trim, self.skip_flushes && row.op == Op::Flush);
        skipped.discards += u64::from(discard);
        skipped.flushes += u64::from(flush);
        !discard && !flush
    }

    /// Time of a row since the origin, and whether it was raised to `latest_ns`.
    fn time(&self, time_ns: u64, origin_ns: u64, latest_ns: u64) -> Result<(u64, bool), RowFault> {
        let at_ns = time_ns.saturating_sub(origin_ns);
        // Compares absolute times, because the relative time of a row before the origin saturates at zero.
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
