//! Format detection: trace format from the first rows, time unit from plausible rates.

use super::address_units::Scale;
use super::columns::is_heading;
use super::format::{AddressUnit, AsciiLayout, Columns, Format};
use super::heading::Heading;
use super::input::Input;
use super::layout_inference::{Layout, Sample, complete, to_try};
use super::lines::{Framing, Lines, Raw};
use super::position::Position;
use super::problem::{RowFault, TraceProblem, shorten};
use super::signatures::unsupported_file;
use super::spec::TraceSpec;
use super::time_unit_inference::{Inferred, Times};
use super::unit::TimeUnit;
use interpulse_engine::Bytes;

const LINES: usize = 1024;
/// Rows used to infer the time unit: more than any burst contains.
const ROWS: u64 = 65_536;

#[derive(Clone, Debug)]
pub(crate) struct Detected {
    /// Never [`Format::Auto`], and with all columns.
    pub format: Format,
    pub unit: TimeUnit,
    pub scale: Scale,
    /// Assumptions, with the settings that override them.
    pub assumed: String,
}

/// Formats that read a file, and what else its lines say.
struct Chosen {
    formats: Vec<Format>,
    /// Whether a setting or the file name confirms the choice.
    certain: bool,
    /// Of the format `columns`.
    layout: Option<Layout>,
}

impl Chosen {
    fn of(formats: Vec<Format>, certain: bool) -> Chosen {
        Chosen { formats, certain, layout: None }
    }

    fn columns(layout: Layout, certain: bool) -> Chosen {
        let formats = vec![Format::Columns(layout.columns.clone())];
        Chosen { formats, certain, layout: Some(layout) }
    }
}

pub(super) fn detect(input: &Input, spec: &TraceSpec) -> Result<Detected, TraceProblem> {
    let mut lines = Lines::new(input.open()?);
    let beginning = lines.beginning();
    let named = spec.format != Format::Auto;
    let ending = Format::of_name(input.file_name());
    let binary = Format::readers().find(|format| format.is_detectable() && begins_with(format, beginning));
    if binary.as_ref().is_none_or(|binary| named && *binary != spec.format)
        && let Some((what, remedy)) = unsupported_file(beginning)
    {
        return Err(TraceProblem::Foreign { what, remedy });
    }
    let lines = || Ok(Lines::new(input.open()?));
    let ended = ending.clone().filter(|format| format.record_bytes().is_some());
    let Chosen { formats, certain, layout } = match binary.or(ended) {
        _ if let Format::Columns(given) = &spec.format => {
            Chosen::columns(complete(given, spec, &sample(lines()?, &spec.format)?)?, true)
        }
        _ if named => {
            // The pass over all rows reports read errors.
            if let Ok(first) = sample(lines()?, &spec.format) {
                unlike(&spec.format, spec, &first).map_or(Ok(()), Err)?;
            }
            Chosen::of(vec![spec.format.clone()], true)
        }
        Some(binary) if !binary.is_detectable() => {
            return Err(TraceProblem::Incomplete { format: binary.name() });
        }
        Some(binary) => Chosen::of(vec![binary], false),
        None => of_lines(&sample(lines()?, &Format::Auto)?, spec, ending)?,
    };
    let times = times(input, &formats[0])?;
    let given = spec.time_unit.or(layout.as_ref().and_then(|layout| layout.time_unit));
    let by_heading = given.filter(|_| spec.time_unit.is_none()).map(|_| "as the heading says");
    let (format, unit, mut assumed) =
        with_unit(&formats, certain, given, by_heading.unwrap_or("as set by time-unit"), &times);
    if let Format::Columns(columns) = &format
        && columns.has_no_time()
    {
        assumed = "no column holds times".to_owned();
    }
    if spec.address_unit.is_some() && format.address_unit() == AddressUnit::Fixed {
        return Err(TraceProblem::NoAddressUnit { format: format.name() });
    }
    if formats.len() > 1 {
        assumed += "; type 1 is assumed to be a read (override: --set flow.N.format=ascii --set flow.N.writes-are=1)";
    }
    let documented = format.units();
    let actual = match &layout {
        Some(layout) => layout.units,
        None => documented.with(spec.address_unit, spec.size_unit),
    };
    if let Some(layout) = &layout {
        assumed += &layout.assumed;
    } else if actual != documented {
        let (address, size) = (Bytes(actual.address), Bytes(actual.size));
        assumed += &format!("; addresses in units of {address}, sizes of {size}, as set");
    }
    Ok(Detected { format, unit, scale: Scale { documented, actual }, assumed: input.addressed(&assumed) })
}

/// Whether most of the first records have this format.
fn begins_with(format: &Format, beginning: &[u8]) -> bool {
    let Framing::Records { bytes, tail } = format.framing() else { return false };
    let (mut rest, mut all, mut good) = (beginning, 0, 0);
    while let Some((record, after)) = rest.split_at_checked(bytes) {
        all += 1;
        good += usize::from(format.parse(Raw::Record(record)).is_ok());
        rest = after.get(tail(record)..).unwrap_or_default();
    }
    2 * good > all
}

fn sample(mut lines: Lines, format: &Format) -> Result<Sample, TraceProblem> {
    let mut sample = Sample { lines: Vec::new(), heading: None };
    let mut fault = None;
    let mut rows = 0;
    while sample.lines.len() < LINES {
        let in_header = lines.position().number < format.header_rows();
        match lines.next() {
            Ok(None) => break,
            Ok(Some(Ok(line))) => {
                let line = line.to_owned();
                let heading = (rows == 0).then(|| Heading::of(lines.position(), &line)).flatten();
                let blank = format.skips(&line);
                rows += u64::from(!blank && !in_header && heading.is_none() && !is_heading(&line));
                sample.heading = heading.or(sample.heading);
                if !blank {
                    sample.lines.push((lines.position(), line));
                }
            }
            Ok(Some(Err(found))) => {
                let row = TraceProblem::Row { line: lines.position(), fault: found };
                fault.get_or_insert(row);
                // A file that is not text has an unlimited number of these faults.
                if sample.lines.is_empty() {
                    break;
                }
            }
            // The pass over the rows reports the problem.
            Err(_) if !sample.lines.is_empty() => break,
            Err(problem) => return Err(problem),
        }
    }
    if sample.lines.is_empty() { Err(fault.unwrap_or(TraceProblem::Empty)) } else { Ok(sample) }
}

/// Text formats with a fixed layout.
fn texts() -> impl Iterator<Item = Format> {
    let free = |format: &Format| matches!(format, Format::Columns(_));
    Format::readers().filter(move |format| format.record_bytes().is_none() && !free(format))
}

/// Formats that parse most of these lines and that the heading does not contradict.
fn of_lines(sample: &Sample, spec: &TraceSpec, ending: Option<Format>) -> Result<Chosen, TraceProblem> {
    let mut read: Vec<(u64, Format)> = texts().filter_map(|format| reads(&format, &sample.lines)).collect();
    let contradiction =
        |format: &Format| Some((format.name(), sample.heading.as_ref()?.contradiction(format)?));
    let contradicted = read.iter().find_map(|(_, format)| contradiction(format));
    read.retain(|(_, format)| contradiction(format).is_none());
    if let Some((_, found)) = read.iter().find(|(_, format)| Some(format) == ending.as_ref()) {
        return Ok(Chosen::of(vec![found.clone()], true));
    }
    let most = read.iter().map(|found| found.0).max();
    read.retain(|found| Some(found.0) == most);
    if !read.is_empty() {
        return Ok(Chosen::of(read.into_iter().map(|found| found.1).collect(), false));
    }
    let by_heading = sample.heading.as_ref().map(|_| complete(&Columns::of(&[]), spec, sample));
    match (by_heading, contradicted, ending) {
        (Some(Ok(layout)), ..) => Ok(Chosen::columns(layout, false)),
        (Some(Err(TraceProblem::Layout { remedy, .. })), Some((like, why)), _) => {
            let line = sample.heading.as_ref().map_or(sample.lines[0].0, |heading| heading.line);
            Err(TraceProblem::Contradicted { line, like, why, remedy })
        }
        (None | Some(Err(_)), _, Some(ending)) => Ok(Chosen::of(vec![ending], true)),
        (by_heading, ..) => {
            let (line, found) = sample.rows().next().unwrap_or(&sample.lines[0]);
            let known: Vec<_> = Format::readers().map(|format| format.name()).collect();
            let remedy = match by_heading {
                Some(Err(TraceProblem::Layout { why, remedy, .. })) => format!(": {why}; {remedy}"),
                _ => to_try(spec, sample).map(|settings| format!("; {settings}")).unwrap_or_default(),
            };
            Err(TraceProblem::Unknown { line: *line, found: shorten(found), remedy, known: known.join(", ") })
        }
    }
}

/// Fault of rows that do not have the columns of the specified format but those of another one.
fn unlike(named: &Format, spec: &TraceSpec, sample: &Sample) -> Option<TraceProblem> {
    let (line, row) = sample.lines.iter().find(|(_, line)| !is_heading(line) && !named.is_header(line))?;
    let wrong = named.record_bytes().is_none() && reads(named, &sample.lines).is_none();
    match wrong.then(|| named.parse(Raw::Line(row)))? {
        Err(fault @ RowFault::Columns { .. }) => {
            let like: Vec<_> = of_lines(sample, spec, None).ok()?.formats.iter().map(Format::name).collect();
            Some(TraceProblem::Unlike { line: *line, fault, like: like.join(" or ") })
        }
        _ => None,
    }
}

/// Number of lines parsed by this format or a variant, if at least half of them are rows.
fn reads(format: &Format, sample: &[(Position, String)]) -> Option<(u64, Format)> {
    let mut tried = vec![format.clone()];
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
    let mut number = 0;
    while times.rows < ROWS
        && let Ok(Some(raw)) = lines.next_row(format.framing())
    {
        number += 1;
        if let Ok(raw) = raw
            && number > format.header_rows()
            && !matches!(raw, Raw::Line(line) if format.skips(line))
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
    said: &str,
    times: &Times,
) -> (Format, TimeUnit, String) {
    let of = |unit| {
        let other = Format::Ascii(AsciiLayout::OF_SIMULATORS);
        let alone = (formats.len() == 1).then(|| formats[0].clone());
        alone.or(formats.iter().find(|f| f.unit() == Some(unit)).cloned()).unwrap_or(other)
    };
    if let Some(unit) = given {
        return (of(unit), unit, format!("times in {}, {said}", unit.name()));
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
            let usual = documented.unwrap_or(times.usual());
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
    let other = match inferred {
        Inferred::Doubtful(_) => times.typical(unit),
        _ => None,
    };
    let other = other.unwrap_or(if unit == TimeUnit::Ms { TimeUnit::Us } else { TimeUnit::Ms });
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
