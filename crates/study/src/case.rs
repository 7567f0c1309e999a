//! One case: a function of its configuration, its seed and the state it starts from.

use crate::config::Case;
use crate::control::Tell;
use crate::report;
use crate::run::{self, Measured, RunFailure, Simulated};
use interpulse_array::array::Array;
use interpulse_drive::drive::Drive;
use interpulse_drive::drive::PreconditionedState;
use interpulse_engine::{Device, Duration, ResourceId, Streams};
use interpulse_host::{FreeRunning, Host, Stepper};
use interpulse_workload::{Flow, Source, TraceSummary};
use serde_json::Value;
use std::path::Path;

/// Opens the traces of a case once, so that every fault of a file is an error before simulated time starts. Returns
/// what to tell the user about each.
pub fn check_traces(case: &Case) -> Result<Vec<String>, RunFailure> {
    let capacity = case.capacity_sectors();
    let streams = Streams::new(case.seed);
    let mut found = Vec::new();
    for (i, flow) in (0..).zip(&case.flows) {
        let opened = Flow::new(flow, capacity, &streams, i).map_err(|e| RunFailure::User(e.to_string()))?;
        if let (Source::Trace(spec), Some(summary)) = (&flow.source, opened.trace_summary()) {
            found.push(about_trace(&spec.path, summary));
        }
    }
    Ok(found)
}

/// What a trace was taken for, which rows were left out, and what was assumed about its times.
fn about_trace(path: &Path, found: &TraceSummary) -> String {
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
    text + "; " + &found.assumed
}

/// The drive of a case, and its host.
pub fn drive(case: &Case, state: PreconditionedState) -> Result<Stepper<Drive>, RunFailure> {
    let flows = case.flows.len() as u32;
    stepper(case, Drive::new(case.drive.clone(), state, case.seed, ResourceId(0), flows))
}

/// The array of a case, and its host. All drives start from `state`, but for those that take lost ones' places, which
/// are new.
pub fn array(case: &Case, state: PreconditionedState) -> Result<Stepper<Array>, RunFailure> {
    let spec = case.array.expect("the case has an array");
    stepper(case, Array::assemble(spec, &case.drive, state, case.seed, case.flows.len() as u32))
}

fn stepper<D: Device>(case: &Case, device: D) -> Result<Stepper<D>, RunFailure> {
    let host = Host::new(device, &case.flows, case.seed, ());
    Ok(Stepper::new(host.map_err(|e| RunFailure::User(e.to_string()))?, FreeRunning))
}

/// Runs a case. Its result is that of its drive, or that of the drives of its array taken together with a section about
/// the array.
pub fn run(case: &Case, mut state: PreconditionedState, tell: &Tell) -> Result<Value, RunFailure> {
    state.ftl.wear_all(case.precondition.cycles);
    match case.array {
        None => result(case, drive(case, state)?, tell, |_, _| None),
        Some(_) => result(case, array(case, state)?, tell, |array, m| Some(report::array::section(array, m))),
    }
}

/// Runs the device of a case, and tells how far it has come in what its end is stated in.
fn result<D: Simulated>(
    case: &Case,
    mut stepper: Stepper<D>,
    tell: &Tell,
    array: impl Fn(&D, &Measured) -> Option<Value>,
) -> Result<Value, RunFailure> {
    let traces = stepper.host.trace_summaries();
    let expected = expected_requests(case, &traces);
    let ms = |d: Duration| d.as_ns() / 1_000_000;
    let mut progress = |requests: u64, time: Duration| match (case.run.requests, case.run.time) {
        (Some(total), _) => tell("run", requests, total, "requests"),
        (None, Some(total)) => tell("run", ms(time), ms(total), "ms simulated"),
        (None, None) => tell("run", requests, expected.max(requests), "requests"),
    };
    let measured = run::run(&mut stepper, &case.run, &mut progress)?;
    let requests = measured.window.counters.requests;
    tell("done", requests, requests, "requests");
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
