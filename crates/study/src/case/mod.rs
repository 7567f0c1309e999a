//! Case execution: builds the device of a case, runs it and formats its result.

mod decimal_size;
pub mod notes;
pub mod scale;

use crate::config::Case;
use crate::control::ProgressFn;
use crate::initial_state::kept_state;
use crate::record::{Recorder, Recording};
use crate::report;
use crate::run::warm_up::Warmup;
use crate::run::{self, Measured, RunFailure, Stage};
use crate::run_target::RunTarget;
use interpulse_array::array::Array;
use interpulse_drive::Drive;
use interpulse_drive::FtlState;
use interpulse_drive::PreconditionedState;
use interpulse_engine::{Device, Duration, ResourceId, Streams};
use interpulse_host::{FreeRunning, Host, Stepper};
use interpulse_workload::{FirstReading, Flow, FlowSpec, Source, TraceSummary};
use serde_json::Value;

/// First readings of the traces of a case.
#[derive(Default)]
pub struct CheckedTraces {
    /// What to progress the user about each.
    pub notes: Vec<String>,
    /// Trace summaries in the order of the flows.
    pub traces: Vec<TraceSummary>,
    /// First readings by flow.
    readings: Vec<Option<FirstReading>>,
}

/// Opens the traces of a case, so that file errors appear before simulated time starts.
pub fn check_traces(case: &Case) -> Result<CheckedTraces, RunFailure> {
    let streams = Streams::new(case.seed);
    let mut checked = CheckedTraces::default();
    for (i, flow) in (0..).zip(&case.flows) {
        let capacity = case.flow_sectors(flow);
        let opened = Flow::new(flow, capacity, &streams, i).map_err(|e| RunFailure::User(e.to_string()))?;
        if let (Source::Trace(spec), Some(summary)) = (&flow.source, opened.trace_summary()) {
            if case.array.is_some() && summary.discards > 0 {
                return Err(RunFailure::User(format!(
                    "trace {}: holds {} discards, which an array does not support; legal: --set \
                     flow.{i}.discards=skip, or a drive instead of the array",
                    spec.path.display(),
                    summary.discards
                )));
            }
            checked.notes.push(notes::trace_note(&spec.path, summary, capacity));
            checked.traces.push(summary.clone());
        }
        checked.readings.push(opened.first_reading().cloned());
    }
    Ok(checked)
}

/// Host and drive of a case with these flows.
pub fn drive(
    case: &Case,
    flows: &[FlowSpec],
    state: PreconditionedState,
) -> Result<Stepper<Drive>, RunFailure> {
    stepper(case, flows, &[], device_of_one(case, flows, state), ())
}

/// The drive of a case, with a timer for each of these flows.
pub fn device_of_one(case: &Case, flows: &[FlowSpec], state: PreconditionedState) -> Drive {
    let mut drive = Drive::new(case.drive.clone(), state, case.seed, ResourceId(0), flows.len() as u32);
    drive.set_history(&case.state_files.history);
    drive
}

/// Host and array of a case with these flows. All drives start from `state` except replacement drives, which are
/// new.
pub fn array(
    case: &Case,
    flows: &[FlowSpec],
    state: PreconditionedState,
) -> Result<Stepper<Array>, RunFailure> {
    stepper(case, flows, &[], device_of_several(case, flows, state), ())
}

/// The array of a case, with a timer for each of these flows. All drives start from `state` except replacement drives, which
/// are new.
pub fn device_of_several(case: &Case, flows: &[FlowSpec], state: PreconditionedState) -> Array {
    let spec = case.array.expect("the case has an array");
    Array::assemble(spec, &case.drive, state, case.seed, flows)
}

fn stepper<D: Device, O: Recording>(
    case: &Case,
    flows: &[FlowSpec],
    readings: &[Option<FirstReading>],
    device: D,
    observer: O,
) -> Result<Stepper<D, O>, RunFailure> {
    let host = Host::with_trace_readings(device, flows, readings, case.seed, observer);
    Ok(Stepper::new(host.map_err(|e| RunFailure::User(e.to_string()))?, FreeRunning))
}

/// Runs a case and returns the result of its drive, or of all drives of its array with a section about the array.
/// Runs without a recorder compile separately.
pub fn run(
    case: &Case,
    checked: &CheckedTraces,
    state: PreconditionedState,
    recorder: Option<Recorder>,
    progress: &ProgressFn,
) -> Result<Value, RunFailure> {
    match recorder {
        None => observed(case, checked, state, (), progress),
        Some(mut recorder) => {
            let ended = observed(case, checked, state, &mut recorder, progress);
            let whole = ended.as_ref().is_ok_and(|result| result.get("interrupted").is_none());
            recorder.finish(whole);
            ended
        }
    }
}

fn observed<O: Recording>(
    case: &Case,
    checked: &CheckedTraces,
    mut state: PreconditionedState,
    observer: O,
    progress: &ProgressFn,
) -> Result<Value, RunFailure> {
    state.add_pe_cycles(case.precondition.equal_cycles());
    let warmup = Warmup::of(case, &checked.traces);
    let flows = warmup.flows(case);
    match case.array {
        None => {
            let device = device_of_one(case, &flows, state);
            result(
                case,
                &warmup,
                stepper(case, &flows, &checked.readings, device, observer)?,
                progress,
                |_, _| None,
            )
        }
        Some(_) => {
            let section = |array: &Array, m: &Measured| Some(report::array::section(array, m));
            let device = device_of_several(case, &flows, state);
            result(
                case,
                &warmup,
                stepper(case, &flows, &checked.readings, device, observer)?,
                progress,
                section,
            )
        }
    }
}

/// Runs the device of a case and reports progress in the unit of its end condition.
fn result<D: RunTarget, O: Recording>(
    case: &Case,
    warmup: &Warmup,
    mut stepper: Stepper<D, O>,
    progress: &ProgressFn,
    array: impl Fn(&D, &Measured) -> Option<Value>,
) -> Result<Value, RunFailure> {
    let expected = expected_requests(case, &stepper.host.trace_summaries());
    let ms = |d: Duration| d.as_ns() / 1_000_000;
    let mut window_progress = |stage, requests: u64, time: Duration| match (case.run.requests, case.run.time)
    {
        _ if stage == Stage::WarmUp => progress("warm up", requests, 0, "requests"),
        (Some(total), _) => progress("run", requests, total, "requests"),
        (None, Some(total)) => progress("run", ms(time), ms(total), "ms simulated"),
        (None, None) => progress("run", requests, expected.max(requests), "requests"),
    };
    let measured = run::run(&mut stepper, &case.run, warmup, &mut window_progress)?;
    if let Some(path) = case.state_files.save.as_deref().filter(|_| !measured.interrupted) {
        kept_state::end_of_run::save(case, &mut stepper, path)?;
    }
    let requests = measured.window.counters.requests;
    progress("done", requests, requests, "requests");
    let traces = stepper.host.trace_summaries();
    let device = &stepper.host.device;
    Ok(report::result(case, &measured, device.drives(), traces, array(device, &measured)))
}

/// Expected requests of a case without a stated end: those of traces, pass by pass, and requests of twins; zero if unknown.
fn expected_requests(case: &Case, traces: &[TraceSummary]) -> u64 {
    let mut traces = traces.iter();
    let mut expected = 0;
    for flow in &case.flows {
        let rows = match &flow.source {
            Source::Trace(_) => {
                traces.next().map_or(0, |trace| trace.requests.saturating_mul(u64::from(trace.passes)))
            }
            Source::Twin(twin) => twin.row.requests,
            Source::Synthetic(_) | Source::Zones(_) => return 0,
        };
        if flow.stop.is_some() {
            return 0;
        }
        expected += rows.min(flow.limit.unwrap_or(u64::MAX));
    }
    expected
}
