//! Trace files: statistics, and twins written as traces. Results are JSON text with the names of docs/TWINS.md.

use crate::config::PlanError;
use crate::config::twin::is_file_name;
use crate::report::without_nulls;
use crate::trace_file::{same_file, write_whole};
use interpulse_engine::{Bytes, Streams};
use interpulse_settings::{ConfigError, Document, Section, optional};
use interpulse_workload::generate::{Recorded, write_trace};
use interpulse_workload::trace::statistics::Measured;
use interpulse_workload::twin::{read::row_in_file, rows};
use interpulse_workload::{
    AsciiLayout, Fit, Flow, FlowSpec, Format, Reorder, TimeUnit, TracePacing, TraceSpec, TwinRow, TwinSpec,
    TypeCode, measure,
};
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// Address space of a written twin in sectors: every reader accepts it.
const SECTORS: u64 = 1 << 44;

/// Legal units of addresses and sizes, as of `address-unit` of a flow.
const UNITS: RangeInclusive<Bytes> = Bytes(1)..=Bytes(1 << 30);

/// Requests between two progress reports.
const WATCHED: u64 = 1 << 16;

/// Trace to measure and its format.
#[derive(Clone, Debug)]
pub struct StatisticsRequest {
    /// Path.
    pub path: PathBuf,
    /// Name of the format.
    pub format: String,
    /// Unit of its times; detected if left out.
    pub time_unit: Option<String>,
    /// Type code of a write, 0 or 1; for the format `ascii` only.
    pub writes_are: Option<u32>,
    /// Keys of a flow, with their values in TOML, for address and size units and the format `columns`.
    pub layout: Vec<(String, String)>,
    /// The only device that is measured; all if left out.
    pub device: Option<String>,
    /// Treatment of times that go back.
    pub reorder: String,
    /// Count unreadable rows instead of refusing the trace.
    pub skip_bad_rows: bool,
}

/// Statistics of a trace as a JSON object. `watch` gets the requests read so far and returns false to stop, which
/// gives `None`.
pub fn statistics(
    request: &StatisticsRequest,
    watch: &mut dyn FnMut(u64) -> bool,
) -> Result<Option<String>, PlanError> {
    let measured = measure(&spec(request)?, watch).map_err(|error| PlanError(error.to_string()))?;
    Ok(measured.map(|measured| measured_json(request, &measured).to_string()))
}

/// How a trace is read.
pub(crate) fn spec(request: &StatisticsRequest) -> Result<TraceSpec, PlanError> {
    let reorders = Reorder::ALL.iter().map(|&(name, reorder, _)| (name, reorder));
    let reorder = ConfigError::named("--reorder", &request.reorder, reorders)?;
    let (units, columns): (Vec<_>, Vec<_>) =
        request.layout.iter().partition(|(key, _)| matches!(key.as_str(), "address-unit" | "size-unit"));
    let mut units = section(&units)?;
    let mut unit = |key| units.optional_bytes(key, "unit", optional().within(UNITS)).map_err(as_option);
    let (address_unit, size_unit) = (unit("address-unit")?, unit("size-unit")?);
    let spec = TraceSpec {
        format: format(request, &columns)?,
        time_unit: time_unit(request)?,
        address_unit,
        size_unit,
        device: request.device.clone(),
        reorder,
        skip_bad_rows: request.skip_bad_rows,
        ..TraceSpec::new(&request.path)
    };
    match spec.wrong_address_unit() {
        Some(expected) => {
            let seen = spec.address_unit.map_or("none".to_owned(), |unit| unit.to_string());
            Err(PlanError(format!("--address-unit: seen {seen}; expected {expected}")))
        }
        None => Ok(spec),
    }
}

/// Settings of the command line as a section.
pub(crate) fn section(settings: &[&(String, String)]) -> Result<Section, PlanError> {
    let mut document = Document::empty();
    for (key, value) in settings {
        document = Document::set(key, value).map_err(as_option)?.over(document).map_err(as_option)?;
    }
    Ok(document.top())
}

/// Message about a key that is an option of the same name.
pub(crate) fn as_option(error: ConfigError) -> PlanError {
    let text = error.to_string();
    PlanError(format!("--{}", text.strip_prefix("--set: ").unwrap_or(&text)))
}

fn format(request: &StatisticsRequest, columns: &[&(String, String)]) -> Result<Format, PlanError> {
    let name = if request.format == "auto" && !columns.is_empty() { "columns" } else { &request.format };
    let has_keys = |format: &Format| matches!(format, Format::Columns(_) | Format::OracleGeneral(_));
    let keyed = Format::ROWS.iter().find(|row| row.name == name && has_keys(&row.example()));
    if let Some((key, _)) = columns.first().filter(|_| keyed.is_none()) {
        let also = if key == "operation" { " or oraclegeneral" } else { "" };
        return Err(PlanError(format!("--{key} belongs to --format columns{also}")));
    }
    if let Some(row) = keyed {
        let mut section = section(columns)?;
        let format = (row.read)(&mut section).map_err(as_option)?;
        section.finish().map_err(as_option)?;
        return Ok(format);
    }
    if request.format != "ascii" {
        if request.writes_are.is_some() {
            let message = "--writes-are belongs to --format ascii; the other formats fix it";
            return Err(PlanError(message.to_string()));
        }
        if let Some(instead) = Format::replacement_of(&request.format) {
            return Err(PlanError(format!("--format: seen \"{}\"; expected {instead}", request.format)));
        }
        let formats = Format::ROWS.iter().map(|row| (row.name, row));
        return Ok(ConfigError::named("--format", &request.format, formats)?.example());
    }
    let types = match request.writes_are {
        Some(0) => TypeCode::ZeroWrites,
        Some(1) => TypeCode::OneWrites,
        _ => {
            return Err(PlanError(
                "--writes-are: --format ascii needs the type code of a write, 0 or 1".into(),
            ));
        }
    };
    Ok(Format::Ascii(AsciiLayout { types }))
}

fn time_unit(request: &StatisticsRequest) -> Result<Option<TimeUnit>, PlanError> {
    let Some(name) = request.time_unit.as_deref() else { return Ok(None) };
    let units = TimeUnit::ALL.iter().map(|&(name, unit, _)| (name, unit));
    Ok(Some(ConfigError::named("--time-unit", name, units)?))
}

fn measured_json(request: &StatisticsRequest, measured: &Measured) -> Value {
    let (found, timed) = (&measured.statistics, measured.has_times);
    let sizes = |list: &[(Bytes, u64)], all: u64| -> Vec<Value> {
        let share = |count: u64| count as f64 / all as f64;
        list.iter().map(|&(b, n)| json!({ "bytes": b.get(), "requests": n, "share": share(n) })).collect()
    };
    without_nulls(json!({
        "trace": request.path.display().to_string(),
        "format": measured.format,
        "time_unit": measured.has_times.then_some(measured.time_unit),
        "assumed": measured.assumed,
        "packing": measured.packing.to_string(),
        "devices": measured.devices,
        "bad_rows": measured.bad_rows,
        "first_bad_rows": measured.first_bad_rows,
        "other_rows": measured.other_rows,
        "stacked_rows": (measured.stacked_rows > 0).then_some(measured.stacked_rows),
        "unselected_rows": request.device.is_some().then_some(measured.unselected_rows),
        "late_rows": measured.late_rows,
        "requests": found.requests,
        "reads": found.reads(),
        "writes": found.writes(),
        "write_share": found.write_share(),
        "mean_read_bytes": found.mean_read_bytes(),
        "mean_write_bytes": found.mean_write_bytes(),
        "read_bytes": found.read().get(),
        "written_bytes": found.written().get(),
        "unique_written_bytes": found.unique_written.get(),
        "rewritten_share": found.rewritten_share(),
        "written_pages": found.written_pages,
        "page_updates": found.page_updates,
        "update_share": found.update_share(),
        "update_skew": found.update_skew(),
        "waits": (!timed).then_some(measured.waits),
        "discards": found.discards,
        "discarded_bytes": found.discarded.get(),
        "mean_discard_bytes": found.mean_discard_bytes(),
        "flushes": found.flushes,
        "flushes_of_writes": found.flushes_of_writes,
        "span_s": timed.then(|| found.span.as_ns() as f64 / 1e9),
        "mean_gap_ms": found.mean_gap_ns.filter(|_| timed).map(|ns| ns / 1e6),
        "gap_scv": found.gap_scv,
        "burst_share": found.burst_share().filter(|_| timed),
        "read_sizes": sizes(&found.read_sizes, found.reads()),
        "write_sizes": sizes(&found.write_sizes, found.writes()),
    }))
}

/// The built-in row `name`, or the row in that file if it ends in `.toml`, scaled to `requests` if given.
fn row(name: &str, requests: Option<u64>) -> Result<TwinRow, PlanError> {
    if is_file_name(name) {
        return row_in_file(Path::new(name), requests).map_err(|error| PlanError(error.to_string()));
    }
    Ok(rows::row(name, requests)?)
}

/// Statistics that a twin of row `name` will have, under the names of [`statistics`], as a JSON object; for a
/// built-in row also every value with its source.
pub fn described(name: &str, requests: Option<u64>) -> Result<String, PlanError> {
    let row = row(name, requests)?;
    let writes = row.write_requests();
    let (some_read, some_write) = (writes < row.requests, writes > 0);
    let mut all = without_nulls(json!({
        "row": row.name,
        "requests": row.requests,
        "write_share": row.write_share,
        "mean_read_bytes": some_read.then(|| row.reads.mean_bytes()),
        "mean_write_bytes": some_write.then(|| row.writes.mean_bytes()),
        "read_bytes": row.read_bytes(),
        "written_bytes": row.written_bytes(),
        "unique_written_bytes": row.unique_written_bytes(),
        "rewritten_share": some_write.then_some(row.rewritten_share),
        "update_skew": row.update_skew,
        "mean_gap_ms": row.mean_gap.as_ns() as f64 / 1e6,
        "gap_scv": row.squared_variation,
    }));
    if !is_file_name(name) {
        let (_, resolution) = rows::described(name, requests)?;
        let shown = resolution.entries().iter().filter(|e| e.origin.source().is_some()).map(|e| {
            let key = e.path.rsplit('.').next().unwrap_or(&e.path);
            json!({ "key": key, "value": e.display, "source": e.origin.source(), "doc": e.doc })
        });
        let entries: Vec<Value> = shown.collect();
        all.as_object_mut().expect("an object").insert("entries".into(), Value::Array(entries));
    }
    Ok(all.to_string())
}

/// Twin to write and its file.
#[derive(Clone, Debug)]
pub struct TwinRequest {
    /// Name of a built-in row or of a `.toml` file.
    pub row: String,
    /// Number of requests; default: that of the row.
    pub requests: Option<u64>,
    /// Seed of the order.
    pub seed: u64,
    /// Output file. Its name selects the format (default MSR CSV) and, with `.gz` or `.zst` last, the compression.
    pub out: PathBuf,
}

/// Writes a twin as a trace with the requests of the first flow of a run with the same seed. Returns the object of
/// [`described`] with `trace` and `format` and without `entries`. `watch` as for [`statistics`]; an existing file is
/// replaced only once the trace is complete.
pub fn write_twin(
    request: &TwinRequest,
    watch: &mut dyn FnMut(u64) -> bool,
) -> Result<Option<String>, PlanError> {
    let row = row(&request.row, request.requests)?;
    let name = request.out.display().to_string();
    if same_file(&request.out, Path::new(&request.row)) {
        return Err(PlanError(format!("trace {name}: is the row itself; give the trace another name")));
    }
    let failed = |error: io::Error| PlanError(format!("trace {name}: cannot be written: {error}"));
    let spec = TwinSpec { row, bursts: None, pacing: TracePacing::Recorded { speed: 1.0 }, fit: Fit::Error };
    let flow = Flow::new(&FlowSpec::twin("twin", spec), SECTORS, &Streams::new(request.seed), 0);
    let mut flow = flow.map_err(|error| PlanError(error.to_string()))?;
    let format = Format::of_name(&name).unwrap_or(Format::Msr);
    let written = write_whole(&request.out, failed, |out| {
        write(&mut flow, out, format.clone(), watch).map_err(failed)
    })?;
    if written.is_none() {
        return Ok(None);
    }
    let mut all: Map<String, Value> =
        serde_json::from_str(&described(&request.row, request.requests)?).expect("an object was written");
    all.shift_remove("entries");
    all.insert("seed".into(), json!(request.seed));
    all.insert("trace".into(), json!(name));
    all.insert("format".into(), json!(format.name()));
    Ok(Some(Value::Object(all).to_string()))
}

/// Writes the requests of a twin; `None` if `watch` stops it.
fn write(
    flow: &mut Flow,
    out: &mut dyn Write,
    format: Format,
    watch: &mut dyn FnMut(u64) -> bool,
) -> io::Result<Option<()>> {
    let mut stopped = false;
    let requests = std::iter::from_fn(|| {
        if flow.issued().is_multiple_of(WATCHED) && !watch(flow.issued()) {
            stopped = true;
            return None;
        }
        let (at, request) = flow.next().expect("a twin cannot fail on the way")?;
        Some(Recorded { at, device: 0, request })
    });
    write_trace(out, format, requests)?;
    Ok((!stopped).then_some(()))
}
