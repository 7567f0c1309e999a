//! What a trace is: its format, told by the rows it begins with, and the unit of its times, judged by what is plausible.

use super::columns::{is_blank, is_heading};
use super::format::{AsciiLayout, Format};
use super::input::Input;
use super::lines::{Lines, Raw};
use super::magic::foreign;
use super::place::Place;
use super::plausible::{Judged, Times};
use super::problem::{RowFault, TraceProblem, shorten};
use super::spec::TraceSpec;
use super::unit::TimeUnit;

/// Lines that tell the format.
const LINES: usize = 1024;
/// Rows whose times tell the unit: more than come at once in any burst.
const ROWS: u64 = 65_536;

/// What a trace was taken for.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    /// Never [`Format::Auto`].
    pub format: Format,
    /// The unit of its times.
    pub unit: TimeUnit,
    /// What was assumed, and how to say otherwise.
    pub assumed: String,
}

/// Tells what a trace is.
pub(super) fn tell(input: &Input, spec: &TraceSpec) -> Result<Told, TraceProblem> {
    let mut lines = Lines::new(input.open()?);
    let beginning = lines.beginning();
    let named = spec.format != Format::Auto;
    let ending = Format::of_name(input.file_name());
    let binary = Format::readers().find(|format| begins_with(format, beginning));
    if binary.is_none_or(|binary| named && binary != spec.format)
        && let Some((what, remedy)) = foreign(beginning)
    {
        return Err(TraceProblem::Foreign { what, remedy });
    }
    let (formats, certain) = match binary.or(ending.filter(|format| format.record_bytes().is_some())) {
        _ if named => {
            // What cannot be read is noticed by the pass over all rows.
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
        assumed += "; type 1 is taken for a read (--set flow.N.format=ascii --set flow.N.writes-are=1 says otherwise)";
    }
    Ok(Told { format, unit, assumed: input.addressed(&assumed) })
}

/// Whether most of the records that a file begins with have this format.
fn begins_with(format: &Format, beginning: &[u8]) -> bool {
    let Some(bytes) = format.record_bytes() else { return false };
    let records = beginning.chunks_exact(bytes);
    let all = records.len();
    let good = records.filter(|record| format.parse(Raw::Record(record)).is_ok()).count();
    all > 0 && 2 * good > all
}

/// The first lines that are neither blank nor comments.
fn sample(mut lines: Lines) -> Result<Vec<(Place, String)>, TraceProblem> {
    let mut sample = Vec::new();
    let mut fault = None;
    while sample.len() < LINES {
        match lines.next() {
            Ok(None) => break,
            Ok(Some(Ok(line))) if is_blank(line) => {}
            Ok(Some(Ok(line))) => {
                let line = line.to_owned();
                sample.push((lines.place(), line));
            }
            Ok(Some(Err(found))) => {
                let row = TraceProblem::Row { line: lines.place(), fault: found };
                fault.get_or_insert(row);
                // A file that is no text has no end of these.
                if sample.is_empty() {
                    break;
                }
            }
            // Where there are rows, the pass over them says it.
            Err(_) if !sample.is_empty() => break,
            Err(problem) => return Err(problem),
        }
    }
    if sample.is_empty() { Err(fault.unwrap_or(TraceProblem::Empty)) } else { Ok(sample) }
}

/// The formats that read these lines best, and whether there is no doubt: the file's name says so.
fn of_lines(sample: &[(Place, String)], ending: Option<Format>) -> Result<(Vec<Format>, bool), TraceProblem> {
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

/// That these rows have the columns of another format than the one that was named, if they do.
fn unlike(named: Format, sample: &[(Place, String)]) -> Option<TraceProblem> {
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

/// How many of these lines are rows of this format or of a variant of it, if at least half of them are.
fn reads(format: Format, sample: &[(Place, String)]) -> Option<(u64, Format)> {
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

/// The times of the first rows.
fn times(input: &Input, format: &Format) -> Result<Times, TraceProblem> {
    let mut lines = Lines::new(input.open()?);
    let mut times = Times::default();
    // What cannot be read is noticed by the pass over all rows.
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

/// One of the formats with the unit of its times, and why.
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
        return (of(unit), unit, format!("times in {}, as time-unit says", unit.name()));
    }
    let documented = formats[0].unit().filter(|_| formats.len() == 1);
    let judged = match documented {
        None => times.of_columns(),
        Some(unit) => times.of_format(unit),
    };
    let (judged, unit) = match (judged, documented) {
        // What a name says is done, but not without a word.
        (Judged::Rate(_), Some(unit)) if certain => (Judged::Doubtful(unit), unit),
        (Judged::Documented(unit) | Judged::Date(unit) | Judged::Rate(unit) | Judged::Doubtful(unit), _) => {
            (judged, unit)
        }
    };
    let rate = |unit| times.rate(unit).map_or("no".to_owned(), per_second);
    let name = unit.name();
    let why = match judged {
        Judged::Documented(_) if times.rate(unit).is_none() && documented.is_none() => {
            format!("times taken for {name}, though one time alone cannot tell")
        }
        Judged::Documented(_) => format!("times in {name}: {} requests per second", rate(unit)),
        Judged::Date(_) => format!("times taken for {name}, because they are as large as dates in {name}"),
        Judged::Rate(_) => {
            let usual = documented.or(formats[0].unit()).unwrap_or(TimeUnit::Ns);
            let (usual, there) = (usual.name(), rate(usual));
            format!(
                "times taken for {name}: {} requests per second; in {usual} there would be {there}",
                rate(unit)
            )
        }
        Judged::Doubtful(_) => {
            format!("times in {name}, though that makes {} requests per second", rate(unit))
        }
    };
    let other = if unit == TimeUnit::Ms { TimeUnit::Us } else { TimeUnit::Ms };
    let format = of(unit);
    (format, unit, format!("{why} (--set flow.N.time-unit={} says otherwise)", other.name()))
}

fn per_second(rate: f64) -> String {
    match rate {
        1e6.. | ..0.01 => format!("{rate:.1e}"),
        10.0.. => format!("{rate:.0}"),
        _ => format!("{rate:.2}"),
    }
}
