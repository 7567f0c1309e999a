//! One case: a function of its configuration, its seed and the state it starts from.

use crate::config::Case;
use crate::control::Tell;
use crate::report;
use crate::run::{self, Measured, RunFailure};
use interpulse_array::array::Array;
use interpulse_array::config::ArraySpec;
use interpulse_drive::drive::Drive;
use interpulse_drive::drive::build::PreconditionedState;
use interpulse_drive::simulated::Simulated;
use interpulse_engine::{Agenda, Duration, ResourceId, SimTime, Streams};
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

/// What a trace was taken for and which rows were left out.
fn about_trace(path: &Path, found: &TraceSummary) -> String {
    let mut text = format!("trace {}: read as {}, {} rows", path.display(), found.format, found.rows);
    if found.bad_rows > 0 {
        let shown = found.first_bad_rows.join("; ");
        let more = if found.bad_rows > found.first_bad_rows.len() as u64 { "; ..." } else { "" };
        text += &format!("; {} bad row(s) skipped: {shown}{more}", found.bad_rows);
    }
    if found.late_rows > 0 {
        text += &format!("; {} row(s) whose time goes back moved to the time before", found.late_rows);
    }
    text
}

/// The drive of a case, and the agenda for it.
pub fn drive(case: &Case, state: PreconditionedState) -> Result<(Drive, Agenda), RunFailure> {
    let drive = Drive::new(case.drive.clone(), state, &case.flows, case.seed, ResourceId(0));
    let agenda = Agenda::new(Drive::resources(&case.drive, case.flows.len() as u32));
    Ok((drive.map_err(|e| RunFailure::User(e.to_string()))?, agenda))
}

/// The array of a case, and the agenda for it. All drives start from `state`, but for those that take lost ones'
/// places, which are new.
pub fn array(case: &Case, state: PreconditionedState) -> Result<(Array, Agenda), RunFailure> {
    let spec = case.array.expect("the case has an array");
    let built = Array::assemble(spec, &case.drive, &case.flows, state, case.seed);
    built.map_err(|e| RunFailure::User(e.to_string()))
}

/// Runs a case. Its result is that of its drive, or that of the drives of its array taken together with a section about
/// the array.
pub fn run(case: &Case, mut state: PreconditionedState, tell: &Tell) -> Result<Value, RunFailure> {
    state.ftl.wear_all(case.precondition.cycles);
    match &case.array {
        None => {
            let (mut drive, mut agenda) = drive(case, state)?;
            let traces = drive.trace_summaries();
            let measured = measure(case, &mut drive, &mut agenda, &traces, tell)?;
            Ok(report::result(case, &measured, drive.drives(), traces, None))
        }
        Some(spec) => {
            let (mut array, mut agenda) = array(case, state)?;
            within_horizon(case, spec, &agenda)?;
            let traces = array.trace_summaries();
            let measured = measure(case, &mut array, &mut agenda, &traces, tell)?;
            let section = report::array::section(&array, &measured);
            Ok(report::result(case, &measured, array.drives(), traces, Some(section)))
        }
    }
}

/// Refuses what an array would never come to do.
fn within_horizon(case: &Case, spec: &ArraySpec, agenda: &Agenda) -> Result<(), RunFailure> {
    if let Some(failure) =
        spec.failures.into_iter().flatten().find(|f| SimTime::ZERO + f.at > agenda.horizon())
    {
        return Err(RunFailure::User(format!(
            "array.fail-at = {} is later than the {} that an array of this size can simulate",
            failure.at,
            agenda.horizon()
        )));
    }
    let cut = case.drive.power_loss.and_then(|spec| Some((spec.at?, spec.off_for)));
    if let Some((at, _)) = cut.filter(|&(at, off)| SimTime::ZERO + at + off > agenda.horizon()) {
        return Err(RunFailure::User(format!(
            "power-loss.at = {at} and off-for together are later than the {} that an array of this size can simulate",
            agenda.horizon()
        )));
    }
    Ok(())
}

/// Runs the device of a case, and tells how far it has come in what its end is stated in.
fn measure<D: Simulated>(
    case: &Case,
    device: &mut D,
    agenda: &mut Agenda,
    traces: &[TraceSummary],
    tell: &Tell,
) -> Result<Measured, RunFailure> {
    let expected = expected_requests(case, traces);
    let ms = |d: Duration| d.as_ns() / 1_000_000;
    let mut progress = |requests: u64, time: Duration| match (case.run.requests, case.run.time) {
        (Some(total), _) => tell("run", requests, total, "requests"),
        (None, Some(total)) => tell("run", ms(time), ms(total), "ms simulated"),
        (None, None) => tell("run", requests, expected.max(requests), "requests"),
    };
    let measured = run::run(device, agenda, &case.run, &mut progress)?;
    let requests = measured.window.counters.requests;
    tell("done", requests, requests, "requests");
    Ok(measured)
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
