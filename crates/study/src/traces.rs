//! Traces as files: their statistics, and twins written out. Answers are JSON text; docs/TRACES.md defines
//! its names.

use crate::config::PlanError;
use crate::config::twin::is_file_name;
use crate::report::known;
use interpulse_engine::{Bytes, Streams};
use interpulse_settings::ConfigError;
use interpulse_workload::generate::{Recorded, write_trace};
use interpulse_workload::trace::statistics::Measured;
use interpulse_workload::twin::{read::row_in_file, rows};
use interpulse_workload::{
    AsciiLayout, Fit, Flow, FlowSpec, Format, Packing, Reorder, TimeUnit, TracePacing, TraceSpec, TwinRow,
    TwinSpec, TypeCode, measure,
};
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The address space that a written twin may take, in sectors: what every reader accepts.
const SECTORS: u64 = 1 << 44;

/// Requests between two calls of a watcher.
const WATCHED: u64 = 1 << 16;

/// Which trace is measured, and how it is read.
#[derive(Clone, Debug)]
pub struct StatisticsRequest {
    /// The file.
    pub path: PathBuf,
    /// Name of its format.
    pub format: String,
    /// Unit of its times; told if left out.
    pub time_unit: Option<String>,
    /// Type code of a write, 0 or 1; for the format `ascii` only.
    pub writes_are: Option<u32>,
    /// What becomes of a time that goes back.
    pub reorder: String,
    /// Count rows that cannot be read instead of refusing the trace.
    pub skip_bad_rows: bool,
}

/// The statistics of a trace as one JSON object. `watch` hears how many requests have been read every now and
/// then; its answer `false` ends the reading, and there is no result.
pub fn statistics(
    request: &StatisticsRequest,
    watch: &mut dyn FnMut(u64) -> bool,
) -> Result<Option<String>, PlanError> {
    let reorders = Reorder::ALL.iter().map(|&(name, reorder, _)| (name, reorder));
    let reorder = ConfigError::named("--reorder", &request.reorder, reorders)?;
    let spec = TraceSpec {
        format: format(request)?,
        time_unit: time_unit(request)?,
        reorder,
        skip_bad_rows: request.skip_bad_rows,
        ..TraceSpec::new(&request.path)
    };
    let measured = measure(&spec, watch).map_err(|error| PlanError(error.to_string()))?;
    Ok(measured.map(|measured| measured_json(&request.path, &measured).to_string()))
}

fn format(request: &StatisticsRequest) -> Result<Format, PlanError> {
    if request.format != "ascii" {
        if request.writes_are.is_some() {
            let message = "--writes-are belongs to --format ascii; the other formats fix it";
            return Err(PlanError(message.to_string()));
        }
        if let Some(instead) = Format::instead_of(&request.format) {
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

fn measured_json(path: &Path, measured: &Measured) -> Value {
    let found = &measured.statistics;
    let sizes = |list: &[(Bytes, u64)], all: u64| -> Vec<Value> {
        let share = |count: u64| count as f64 / all as f64;
        list.iter().map(|&(b, n)| json!({ "bytes": b.get(), "requests": n, "share": share(n) })).collect()
    };
    known(json!({
        "trace": path.display().to_string(),
        "format": measured.format,
        "time_unit": measured.time_unit,
        "assumed": measured.assumed,
        "packing": measured.packing.to_string(),
        "devices": measured.devices,
        "bad_rows": measured.bad_rows,
        "first_bad_rows": measured.first_bad_rows,
        "other_rows": measured.other_rows,
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
        "span_s": found.span.as_ns() as f64 / 1e9,
        "mean_gap_ms": found.mean_gap_ns.map(|ns| ns / 1e6),
        "gap_scv": found.gap_scv,
        "burst_share": found.burst_share(),
        "read_sizes": sizes(&found.read_sizes, found.reads()),
        "write_sizes": sizes(&found.write_sizes, found.writes()),
    }))
}

/// The row called `name`, or in the file of that name if it ends in `.toml`, for `requests` requests if given.
fn row(name: &str, requests: Option<u64>) -> Result<TwinRow, PlanError> {
    if is_file_name(name) {
        return row_in_file(Path::new(name), requests).map_err(|error| PlanError(error.to_string()));
    }
    Ok(rows::row(name, requests)?)
}

/// What a twin of the row called `name` will measure, under the names of [`statistics`], as one JSON object;
/// of a row that comes with the program also every value with its source.
pub fn described(name: &str, requests: Option<u64>) -> Result<String, PlanError> {
    let row = row(name, requests)?;
    let writes = row.write_requests();
    let (some_read, some_write) = (writes < row.requests, writes > 0);
    let mut all = known(json!({
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

/// The twin that is written, and where.
#[derive(Clone, Debug)]
pub struct TwinRequest {
    /// Name of a row, or of a file that ends in `.toml`.
    pub row: String,
    /// Number of requests; the row's own if not given.
    pub requests: Option<u64>,
    /// Seed of the order.
    pub seed: u64,
    /// The file. Its ending tells the format as it does when it is read (MSR CSV if it tells none) and, with
    /// `.gz` or `.zst` last, how it is packed.
    pub out: PathBuf,
}

/// Writes a twin as a trace; the same requests as those of a run's first flow with the same seed. Answers with
/// [`described`]'s object and `trace` and `format`, without its `entries`. `watch` as for [`statistics`]; what
/// is at its place stays there until the trace is whole.
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
    let mut stopped = false;
    let mut go_on = |count| {
        stopped = !watch(count);
        !stopped
    };
    if request.out.exists() && !request.out.is_file() {
        // A pipe or a device.
        let file = File::create(&request.out).map_err(failed)?;
        write(&mut flow, file, &name, format, &mut go_on).map_err(failed)?;
    } else {
        // Beside its place until it is whole: what was there before survives an interruption.
        let folder = request.out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let beside = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        let file = beside.reopen().map_err(failed)?;
        write(&mut flow, file, &name, format, &mut go_on).map_err(failed)?;
        if !stopped {
            let permissions = std::fs::metadata(&request.out).ok().map(|m| m.permissions());
            let permissions = permissions.unwrap_or_else(|| PermissionsExt::from_mode(0o644));
            beside.as_file().set_permissions(permissions).map_err(failed)?;
            beside.persist(&request.out).map_err(|e| failed(e.error))?;
        }
    }
    if stopped {
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

/// Whether both names lead to one existing file.
fn same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

fn write(
    flow: &mut Flow,
    file: File,
    name: &str,
    format: Format,
    watch: &mut dyn FnMut(u64) -> bool,
) -> io::Result<()> {
    let requests = std::iter::from_fn(|| {
        if flow.issued().is_multiple_of(WATCHED) && !watch(flow.issued()) {
            return None;
        }
        let (at, request) = flow.next().expect("a twin cannot fail on the way")?;
        Some(Recorded { at, device: 0, request })
    });
    let mut out = Packing::of_name(name).writer(BufWriter::new(file))?;
    write_trace(&mut out, format, requests)?;
    out.finish()?.flush()
}
