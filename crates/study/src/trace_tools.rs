//! Trace tools: options of `interpulse trace convert`, `cut`, `scale`, `merge` and `anonymise`.

use crate::config::PlanError;
use crate::trace_file::{same_file, write_whole};
use crate::traces::{StatisticsRequest, as_option, section, spec};
use interpulse_engine::{Bytes, SECTOR};
use interpulse_settings::{ConfigError, Section, default, optional};
pub use interpulse_workload::Rewriting;
use interpulse_workload::{
    Cut, Fit, Format, MergeDevices, MergeTimes, Pace, Rewrite, RewriteError, Rewritten, Scramble, TraceSpec,
    Treatment, rewrite,
};
use serde_json::json;
use std::ops::RangeInclusive;
use std::path::PathBuf;

const CAPACITY: RangeInclusive<Bytes> = Bytes(4096)..=Bytes(1 << 53);
const EXTENT: RangeInclusive<Bytes> = Bytes(512)..=Bytes(1 << 40);
const SPEED: RangeInclusive<f64> = 1e-6..=1e6;
const IOPS: RangeInclusive<f64> = 1e-6..=1e9;
const ROWS: RangeInclusive<u64> = 1..=u64::MAX >> 1;

/// Traces to rewrite.
#[derive(Clone, Debug)]
pub struct RewriteRequest {
    /// Paths of the inputs, at least one.
    pub paths: Vec<PathBuf>,
    /// How they are read; its path is ignored.
    pub reading: StatisticsRequest,
    /// Output file. With `.gz` or `.zst` last it is compressed.
    pub out: PathBuf,
    /// Options with their values in TOML, named as on the command line.
    pub settings: Vec<(String, String)>,
}

/// Rewrites traces and returns what was done as a JSON object. `watch` gets the progress and returns false to stop, which gives `None` and leaves no file.
///
/// Errors: wrong options, an input that cannot be read, a request that the output cannot hold, an output that is an input.
pub fn rewrite_traces(
    request: &RewriteRequest,
    watch: &mut dyn FnMut(Rewriting) -> bool,
) -> Result<Option<String>, PlanError> {
    let name = request.out.display().to_string();
    if let Some(input) = request.paths.iter().find(|path| same_file(path, &request.out)) {
        let input = input.display();
        return Err(PlanError(format!(
            "--out: seen {name:?}, which is the input {input}; expected another file"
        )));
    }
    let plan = plan(request)?;
    let failed = |error: RewriteError| match error {
        RewriteError::Trace(error) => PlanError(error.to_string()),
        RewriteError::Refused(text) => {
            let inputs: Vec<_> = request.paths.iter().map(|path| path.display().to_string()).collect();
            PlanError(format!("trace {}: {text}", inputs.join(", ")))
        }
        RewriteError::Write(error) => PlanError(format!("trace {name}: cannot be written: {error}")),
    };
    let written = write_whole(
        &request.out,
        |error| failed(error.into()),
        |out| rewrite(&plan, out, watch).map_err(failed),
    )?;
    Ok(written.map(|written| described(&name, &written)))
}

fn described(name: &str, written: &Rewritten) -> String {
    json!({
        "trace": name,
        "format": written.format,
        "read_as": written.read_as,
        "assumed": written.assumed,
        "rows_read": written.rows_read,
        "rows_written": written.rows_written,
        "devices": written.devices,
        "notes": written.notes,
    })
    .to_string()
}

/// Format of the output: the one that is named, or that of the end of its name; `None` for that of the first input.
fn target(request: &RewriteRequest, to: Option<&str>) -> Result<Option<Format>, PlanError> {
    match to {
        None => Ok(Format::of_name(&request.out.display().to_string())),
        Some("auto") => Err(PlanError("--to: seen \"auto\"; expected the name of a format to write".into())),
        Some(name) => {
            let formats = Format::ROWS.iter().filter(|row| row.name != "auto").map(|row| (row.name, row));
            Ok(Some(ConfigError::named("--to", name, formats)?.example()))
        }
    }
}

fn plan(request: &RewriteRequest) -> Result<Rewrite, PlanError> {
    let settings: Vec<_> = request.settings.iter().collect();
    let mut settings = section(&settings)?;
    let (options, to, treatments) = options(&mut settings).map_err(as_option)?;
    let inputs: Result<Vec<_>, _> = request
        .paths
        .iter()
        .map(|path| {
            let read = spec(&StatisticsRequest { path: path.clone(), ..request.reading.clone() })?;
            Ok::<_, PlanError>(TraceSpec { discards: treatments.0, flushes: treatments.1, ..read })
        })
        .collect();
    Ok(Rewrite { inputs: inputs?, format: target(request, to.as_deref())?, ..options })
}

/// The options without inputs and format, the name of the format, and the treatment of discards and flushes.
#[expect(clippy::type_complexity, reason = "read once, above")]
fn options(s: &mut Section) -> Result<(Rewrite, Option<String>, (Treatment, Treatment)), ConfigError> {
    let discards = s.choice("discards", "treatment of discards", Some("replay"), Treatment::ALL)?;
    let flushes = s.choice("flushes", "treatment of flushes", Some("replay"), Treatment::ALL)?;
    let to = s.optional_name("to", "format of the output")?;
    let cut = Cut {
        from: s.optional_duration("start", "first time kept", optional())?,
        to: s.optional_duration("end", "first time that is not kept", optional())?,
        first_row: s.optional_u64("first-row", "first row kept", optional().within(ROWS))?,
        last_row: s.optional_u64("last-row", "last row kept", optional().within(ROWS))?,
        devices: s.list_string("device", "devices kept", Some(&[]))?,
    };
    let rewrite = Rewrite {
        inputs: Vec::new(),
        times: s.choice("times", "meaning of the times", Some("recorded"), MergeTimes::ALL)?,
        devices: s.choice("devices", "identity of the devices", Some("keep"), MergeDevices::ALL)?,
        cut,
        pace: pace(s)?,
        footprint: footprint(s)?,
        scramble: scramble(s)?,
        format: None,
    };
    s.finish()?;
    Ok((rewrite, to, (discards, flushes)))
}

fn pace(s: &mut Section) -> Result<Option<Pace>, ConfigError> {
    let speed = s.optional_f64("speed", "divisor of the times", optional().within(SPEED))?;
    let iops = s.optional_f64("iops", "mean rate in requests per second", optional().within(IOPS))?;
    s.check(speed.is_none() || iops.is_none(), "iops", "either --speed or --iops")?;
    Ok(speed.map(Pace::Speed).or(iops.map(Pace::Iops)))
}

fn footprint(s: &mut Section) -> Result<Option<(u64, Fit)>, ConfigError> {
    let capacity =
        s.optional_bytes("capacity", "capacity that holds all addresses", optional().within(CAPACITY))?;
    s.check(
        capacity.is_none_or(|capacity| capacity.get() % SECTOR.get() == 0),
        "capacity",
        "a multiple of 512 B",
    )?;
    let fit = s.choice("fit", "mapping onto the capacity", Some("scale"), Fit::ALL)?;
    s.check(fit != Fit::Error, "fit", "fold or scale")?;
    Ok(capacity.map(|capacity| (capacity.get() / SECTOR.get(), fit)))
}

fn scramble(s: &mut Section) -> Result<Option<Scramble>, ConfigError> {
    let key = s.optional_name("key", "secret")?;
    let Some(key) = key else { return Ok(None) };
    let extent = s.bytes("extent", "size of an extent", default(Bytes(1 << 20)).within(EXTENT))?;
    s.check(extent.get() % SECTOR.get() == 0, "extent", "a multiple of 512 B")?;
    let capacity = s.optional_bytes("device-capacity", "size of each device", optional().within(CAPACITY))?;
    let whole = capacity.is_none_or(|capacity| capacity.get() % SECTOR.get() == 0);
    s.check(whole, "device-capacity", "a multiple of 512 B")?;
    Ok(Some(Scramble { key, extent, capacity }))
}
