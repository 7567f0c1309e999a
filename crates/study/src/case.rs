//! One case: a function of its configuration, its seed and the state it starts from.

use crate::config::Case;
use crate::control::Tell;
use crate::record::{Recorder, Recording};
use crate::report;
use crate::run::{self, Measured, RunFailure, Stage};
use crate::simulated::Simulated;
use crate::warmup::Warmup;
use interpulse_array::array::Array;
use interpulse_drive::drive::Drive;
use interpulse_drive::drive::PreconditionedState;
use interpulse_engine::{Device, Duration, ResourceId, Streams};
use interpulse_host::{FreeRunning, Host, Stepper};
use interpulse_settings::Entry;
use interpulse_workload::{FirstReading, Flow, FlowSpec, Source, TraceSummary};
use serde_json::Value;
use std::path::Path;

/// What the first reading of the traces of a case found.
#[derive(Default)]
pub struct Checked {
    /// What to tell the user about each.
    pub notes: Vec<String>,
    /// Their totals, in the order of the flows.
    pub traces: Vec<TraceSummary>,
    /// The readings themselves, flow by flow.
    readings: Vec<Option<FirstReading>>,
}

/// Opens the traces of a case once, so that every fault of a file is an error before simulated time starts.
pub fn check_traces(case: &Case) -> Result<Checked, RunFailure> {
    let capacity = case.capacity_sectors();
    let streams = Streams::new(case.seed);
    let mut checked = Checked::default();
    for (i, flow) in (0..).zip(&case.flows) {
        let opened = Flow::new(flow, capacity, &streams, i).map_err(|e| RunFailure::User(e.to_string()))?;
        if let (Source::Trace(spec), Some(summary)) = (&flow.source, opened.trace_summary()) {
            checked.notes.push(about_trace(&spec.path, summary, capacity));
            checked.traces.push(summary.clone());
        }
        checked.readings.push(opened.first_reading().cloned());
    }
    Ok(checked)
}

/// What the part of a case does not have from a data sheet or a publication, as the source of each figure says;
/// `None` if there is nothing of that kind. What entering and leaving a suspension takes is named with its value.
pub fn assumed(case: &Case) -> Option<String> {
    let is_assumed = |e: &&Entry| e.origin.source().is_some_and(|source| source.starts_with("assumed"));
    let all: Vec<&Entry> = case.resolution.entries().iter().filter(is_assumed).collect();
    let keys = [
        "part.program-suspend-entry",
        "part.program-resume",
        "part.erase-suspend-entry",
        "part.erase-resume",
    ];
    let named: Vec<String> = all
        .iter()
        .filter(|e| keys.contains(&e.path.as_str()))
        .map(|e| format!("{} = {}", e.path.trim_start_matches("part."), e.display))
        .collect();
    let others = all.len() - named.len();
    let more = (others > 0).then(|| format!("{others} other figure(s)"));
    let what = named.into_iter().chain(more).collect::<Vec<_>>().join(", ");
    let name = &case.drive.part.name;
    (!all.is_empty()).then(|| format!("part {name}: assumed, and not from a data sheet: {what}"))
}

/// What a trace was taken for, which rows were left out, what was assumed about its times, and how far it reaches on a
/// device of `capacity` sectors.
fn about_trace(path: &Path, found: &TraceSummary, capacity: u64) -> String {
    let mut text = format!("trace {}: read as {}, {} rows", path.display(), found.format, found.rows);
    if found.bad_rows > 0 {
        let shown = found.first_bad_rows.join("; ");
        let more = if found.bad_rows > found.first_bad_rows.len() as u64 { "; ..." } else { "" };
        text += &format!("; {} bad row(s) skipped: {shown}{more}", found.bad_rows);
    }
    if found.other_rows > 0 {
        text += &format!("; {} row(s) that are no reads or writes left out", found.other_rows);
    }
    if found.late_rows > 0 {
        text += &format!("; {} row(s) whose time goes back moved to the time before", found.late_rows);
    }
    let (end, capacity) = (sold(found.end_sector()), sold(capacity));
    text + &format!("; addresses up to {end} on a capacity of {capacity}; {}", found.assumed)
}

/// So many sectors as capacities are sold: in powers of ten, rounded.
fn sold(sectors: u64) -> String {
    let bytes = sectors as f64 * 512.0;
    let unit = if bytes >= 1e12 {
        (1e12, "TB")
    } else if bytes >= 1e9 {
        (1e9, "GB")
    } else {
        (1e6, "MB")
    };
    format!("{:.2} {}", bytes / unit.0, unit.1)
}

/// The drive of a case, and its host, which offers `flows`.
pub fn drive(
    case: &Case,
    flows: &[FlowSpec],
    state: PreconditionedState,
) -> Result<Stepper<Drive>, RunFailure> {
    stepper(case, flows, &[], device_of_one(case, flows, state), ())
}

fn device_of_one(case: &Case, flows: &[FlowSpec], state: PreconditionedState) -> Drive {
    Drive::new(case.drive.clone(), state, case.seed, ResourceId(0), flows.len() as u32)
}

/// The array of a case, and its host, which offers `flows`. All drives start from `state`, but for those that take lost ones' places, which
/// are new.
pub fn array(
    case: &Case,
    flows: &[FlowSpec],
    state: PreconditionedState,
) -> Result<Stepper<Array>, RunFailure> {
    stepper(case, flows, &[], device_of_several(case, flows, state), ())
}

fn device_of_several(case: &Case, flows: &[FlowSpec], state: PreconditionedState) -> Array {
    let spec = case.array.expect("the case has an array");
    Array::assemble(spec, &case.drive, state, case.seed, flows.len() as u32)
}

fn stepper<D: Device, O: Recording>(
    case: &Case,
    flows: &[FlowSpec],
    readings: &[Option<FirstReading>],
    device: D,
    observer: O,
) -> Result<Stepper<D, O>, RunFailure> {
    let host = Host::knowing(device, flows, readings, case.seed, observer);
    Ok(Stepper::new(host.map_err(|e| RunFailure::User(e.to_string()))?, FreeRunning))
}

/// Runs a case. Its result is that of its drive, or that of the drives of its array taken together with a section about
/// the array. `checked` has the first readings of its traces. A run that nobody records is compiled apart from one that is
/// recorded.
pub fn run(
    case: &Case,
    checked: &Checked,
    state: PreconditionedState,
    recorder: Option<Recorder>,
    tell: &Tell,
) -> Result<Value, RunFailure> {
    match recorder {
        None => observed(case, checked, state, (), tell),
        Some(mut recorder) => {
            let ended = observed(case, checked, state, &mut recorder, tell);
            let whole = ended.as_ref().is_ok_and(|result| result.get("interrupted").is_none());
            recorder.finish(whole);
            ended
        }
    }
}

fn observed<O: Recording>(
    case: &Case,
    checked: &Checked,
    mut state: PreconditionedState,
    observer: O,
    tell: &Tell,
) -> Result<Value, RunFailure> {
    state.add_pe_cycles(case.precondition.cycles);
    let warmup = Warmup::of(case, &checked.traces);
    let flows = warmup.flows(case);
    match case.array {
        None => {
            let device = device_of_one(case, &flows, state);
            result(
                case,
                &warmup,
                stepper(case, &flows, &checked.readings, device, observer)?,
                tell,
                |_, _| None,
            )
        }
        Some(_) => {
            let section = |array: &Array, m: &Measured| Some(report::array::section(array, m));
            let device = device_of_several(case, &flows, state);
            result(case, &warmup, stepper(case, &flows, &checked.readings, device, observer)?, tell, section)
        }
    }
}

/// Runs the device of a case, and tells how far it has come in what its end is stated in.
fn result<D: Simulated, O: Recording>(
    case: &Case,
    warmup: &Warmup,
    mut stepper: Stepper<D, O>,
    tell: &Tell,
    array: impl Fn(&D, &Measured) -> Option<Value>,
) -> Result<Value, RunFailure> {
    let expected = expected_requests(case, &stepper.host.trace_summaries());
    let ms = |d: Duration| d.as_ns() / 1_000_000;
    let mut progress = |stage, requests: u64, time: Duration| match (case.run.requests, case.run.time) {
        _ if stage == Stage::WarmUp => tell("warm up", requests, 0, "requests"),
        (Some(total), _) => tell("run", requests, total, "requests"),
        (None, Some(total)) => tell("run", ms(time), ms(total), "ms simulated"),
        (None, None) => tell("run", requests, expected.max(requests), "requests"),
    };
    let measured = run::run(&mut stepper, &case.run, warmup, &mut progress)?;
    let requests = measured.window.counters.requests;
    tell("done", requests, requests, "requests");
    let traces = stepper.host.trace_summaries();
    let device = &stepper.host.device;
    Ok(report::result(case, &measured, device.drives(), traces, array(device, &measured)))
}

/// How many requests a case without a stated end will complete: the rows of its traces and the requests of its
/// twins; zero if unknown.
fn expected_requests(case: &Case, traces: &[TraceSummary]) -> u64 {
    let mut traces = traces.iter();
    let mut expected = 0;
    for flow in &case.flows {
        let rows = match &flow.source {
            Source::Trace(_) => traces.next().map_or(0, |trace| trace.rows),
            Source::Twin(twin) => twin.row.requests,
            Source::Synthetic(_) => return 0,
        };
        if flow.stop.is_some() {
            return 0;
        }
        expected += rows.min(flow.limit.unwrap_or(u64::MAX));
    }
    expected
}
