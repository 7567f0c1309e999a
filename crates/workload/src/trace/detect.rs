//! Format detection: trace format from the first rows, time unit from plausible rates.

use super::columns::{is_blank, is_heading};
use super::format::{AsciiLayout, Format};
use super::input::Input;
use super::lines::{Lines, Raw};
use super::position::Position;
use super::problem::{RowFault, TraceProblem, shorten};
use super::signatures::unsupported_file;
use super::spec::TraceSpec;
use super::time_unit_inference::{Inferred, Times};
use super::unit::TimeUnit;

const LINES: usize = 1024;
/// Rows used to infer the time unit: more than any burst contains.
const ROWS: u64 = 65_536;

#[derive(Clone, Debug)]
pub(crate) struct Detected {
    /// Never [`Format::Auto`].
    pub format: Format,
    pub unit: TimeUnit,
    /// Assumptions, with the settings that override them.
    pub assumed: String,
}

pub(super) fn detect(input: &Input, spec: &TraceSpec) -> Result<Detected, TraceProblem> {
    let mut lines = Lines::new(input.open()?);
    let beginning = lines.beginning();
    let named = spec.format != Format::Auto;
    let ending = Format::of_name(input.file_name());
    let binary = Format::readers().find(|format| begins_with(format, beginning));
    if binary.is_none_or(|binary| named && binary != spec.format)
        && let Some((what, remedy)) = unsupported_file(beginning)
    {
        return Err(TraceProblem::Foreign { what, remedy });
    }
    let (formats, certain) = match binary.or(ending.filter(|format| format.record_bytes().is_some())) {
        _ if named => {
            // The pass over all rows reports read errors.
            let first = sample(Lines::new(input.open()?)).unwrap_or_default();
            unlike(spec.format, &first).map_or(Ok(()), Err)?;
            (vec![spec.format], true)
        }
        Some(binary) => (vec![binary], false),
        None => of_lines(&sample(Lines::new(input.open()?))?, ending)?,
    };
    let times = times(input, &formats[0])?;
    let (format, unit, why) = with_unit(&formats, certain, spec.time_unit, &times);
    let mut assumed = why;
    if formats.len() > 1 {
        assumed += "; type 1 is assumed to be a read (override: --set flow.N.format=ascii --set flow.N.writes-are=1)";
    }
    Ok(Detected { format, unit, assumed: input.addressed(&assumed) })
}

/// Whether most of the first records have this format.
fn begins_with(format: &Format, beginning: &[u8]) -> bool {
    let Some(bytes) = format.record_bytes() else { return false };
    let records = beginning.chunks_exact(bytes);
    let all = records.len();
    let good = records.filter(|record| format.parse(Raw::Record(record)).is_ok()).count();
    all > 0 && 2 * good > all
}

fn sample(mut lines: Lines) -> Result<Vec<(Position, String)>, TraceProblem> {
    let mut sample = Vec::new();
    let mut fault = None;
    while sample.len() < LINES {
        match lines.next() {
            Ok(None) => break,
            Ok(Some(Ok(line))) if is_blank(line) => {}
            Ok(Some(Ok(line))) => {
                let line = line.to_owned();
                sample.push((lines.position(), line));
            }
            Ok(Some(Err(found))) => {
                let row = TraceProblem::Row { line: lines.position(), fault: found };
                fault.get_or_insert(row);
                // A file that is not text has an unlimited number of these faults.
                if sample.is_empty() {
                    break;
                }
            }
            // The pass over the rows reports the problem.
            Err(_) if !sample.is_empty() => break,
            Err(problem) => return Err(problem),
        }
    }
    if sample.is_empty() { Err(fault.unwrap_or(TraceProblem::Empty)) } else { Ok(sample) }
}

/// Formats that parse most of these lines, and whether the file name confirms the choice.
fn of_lines(
    sample: &[(Position, String)],
    ending: Option<Format>,
) -> Result<(Vec<Format>, bool), TraceProblem> {
    let texts = || Format::readers().filter(|format| format.record_bytes().is_none());
    let mut read: Vec<(u64, Format)> = texts().filter_map(|format| reads(format, sample)).collect();
    if let Some(&found) = read.iter().find(|(_, format)| Some(*format) == ending) {
        return Ok((vec![found.1], true));
    }
    let most = read.iter().map(|found| found.0).max();
    read.retain(|found| Some(found.0) == most);
    match (read.is_empty(), ending) {
        (false, _) => Ok((read.into_iter().map(|found| found.1).collect(), false)),
        (true, Some(ending)) => Ok((vec![ending], true)),
        (true, None) => {
            let (line, found) = &sample[0];
            let known: Vec<_> = Format::readers().map(|format| format.name()).collect();
            Err(TraceProblem::Unknown { line: *line, found: shorten(found), known: known.join(", ") })
        }
    }
}

/// Fault of rows that do not have the columns of the specified format but those of another one.
fn unlike(named: Format, sample: &[(Position, String)]) -> Option<TraceProblem> {
    let (line, row) = sample.iter().find(|(_, line)| !is_heading(line) && !named.is_header(line))?;
    let wrong = named.record_bytes().is_none() && reads(named, sample).is_none();
    match wrong.then(|| named.parse(Raw::Line(row)))? {
        Err(fault @ RowFault::Columns { .. }) => {
            let like: Vec<_> = of_lines(sample, None).ok()?.0.iter().map(Format::name).collect();
            Some(TraceProblem::Unlike { line: *line, fault, like: like.join(" or ") })
        }
        _ => None,
    }
}

/// Number of lines parsed by this format or a variant, if at least half of them are rows.
fn reads(format: Format, sample: &[(Position, String)]) -> Option<(u64, Format)> {
    let mut tried = vec![format];
    tried.extend(format.variants());
    tried.into_iter().find_map(|format| {
        let (mut good, mut bad) = (0u64, 0u64);
        for (_, line) in sample {
            match format.parse(Raw::Line(line)) {
                _ if good == 0 && (is_heading(line) || format.is_header(line)) => {}
                Ok(Some(_)) if format.recognises(line) => good += 1,
                Ok(None) => {}
                _ => bad += 1,
            }
        }
        (good > 0 && good >= bad).then_some((good, format))
    })
}

fn times(input: &Input, format: &Format) -> Result<Times, TraceProblem> {
    let mut lines = Lines::new(input.open()?);
    let mut times = Times::default();
    // The pass over all rows reports read errors.
    while times.rows < ROWS
        && let Ok(Some(raw)) = lines.next_row(format.record_bytes())
    {
        if let Ok(raw) = raw
            && !matches!(raw, Raw::Line(line) if is_blank(line))
            && let Ok(Some(row)) = format.parse(raw)
        {
            times.count(row.time);
        }
    }
    Ok(times)
}

/// Format and time unit, with the reason.
fn with_unit(
    formats: &[Format],
    certain: bool,
    given: Option<TimeUnit>,
    times: &Times,
) -> (Format, TimeUnit, String) {
    let of = |unit| {
        let other = Format::Ascii(AsciiLayout::OF_SIMULATORS);
        let alone = (formats.len() == 1).then(|| formats[0]);
        alone.or(formats.iter().copied().find(|f| f.unit() == Some(unit))).unwrap_or(other)
    };
    if let Some(unit) = given {
        return (of(unit), unit, format!("times in {}, as set by time-unit", unit.name()));
    }
    let documented = formats[0].unit().filter(|_| formats.len() == 1);
    let inferred = match documented {
        None => times.of_columns(),
        Some(unit) => times.of_format(unit),
    };
    let (inferred, unit) = match (inferred, documented) {
        // A unit confirmed by the file name is used even if it is implausible, with a note.
        (Inferred::Rate(_), Some(unit)) if certain => (Inferred::Doubtful(unit), unit),
        (
            Inferred::Documented(unit)
            | Inferred::Date(unit)
            | Inferred::Rate(unit)
            | Inferred::Doubtful(unit),
            _,
        ) => (inferred, unit),
    };
    let rate = |unit| times.rate(unit).map_or("no".to_owned(), per_second);
    let name = unit.name();
    let why = match inferred {
        Inferred::Documented(_) if times.rate(unit).is_none() && documented.is_none() => {
            format!("times assumed to be in {name}: a single time does not determine the unit")
        }
        Inferred::Documented(_) => format!("times in {name}: {} requests per second", rate(unit)),
        Inferred::Date(_) => {
            format!("times assumed to be in {name}, because they lie in the range of dates in {name}")
        }
        Inferred::Rate(_) => {
            let usual = documented.or(formats[0].unit()).unwrap_or(TimeUnit::Ns);
            let (usual, there) = (usual.name(), rate(usual));
            format!(
                "times assumed to be in {name}: {} requests per second; {usual} would result in {there}",
                rate(unit)
            )
        }
        Inferred::Doubtful(_) => {
            format!("times in {name}, although this results in {} requests per second", rate(unit))
        }
    };
    let other = if unit == TimeUnit::Ms { TimeUnit::Us } else { TimeUnit::Ms };
    let format = of(unit);
    (format, unit, format!("{why} (override: --set flow.N.time-unit={})", other.name()))
}

fn per_second(rate: f64) -> String {
    match rate {
        1e6.. | ..0.01 => format!("{rate:.1e}"),
        10.0.. => format!("{rate:.0}"),
        _ => format!("{rate:.2}"),
    }
}
