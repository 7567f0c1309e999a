//! The face of the core: resolve a configuration, run its cases, return the result as JSON.
//!
//! Cases that start from the same state share one preconditioning; up to `jobs` cases run at a time, each
//! on a thread of its own. Results do not depend on how many run at a time.

use crate::array_case;
use crate::config::{self, Case, PlanRequest};
use crate::precondition::{Preconditioned, precondition};
use crate::report::{self, Context};
use crate::room::check_memory;
use crate::run::{self, RunFailure};
use crate::snapshot::{self, SnapshotError};
use interpulse_drive::drive::Drive;
use interpulse_drive::drive::build::PreconditionedState;
use interpulse_engine::{Agenda, ResourceId};
use interpulse_workload::{Source, TraceSummary};
use serde_json::{Value, json};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

pub use crate::lists::lists;
pub use config::PlanError as ConfigError;

/// What the user asked for; see [`PlanRequest`].
pub type RunRequest = PlanRequest;

/// A configuration that has been read and checked.
#[derive(Clone, Debug)]
pub struct Plan {
    cases: Vec<Case>,
}

/// One resolved value, for `interpulse show`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownEntry {
    /// Full key.
    pub key: String,
    /// Value in a readable unit.
    pub value: String,
    /// Where it comes from, with its source.
    pub origin: String,
    /// What it means.
    pub doc: String,
}

/// Reads and checks a configuration.
pub fn resolve(request: &RunRequest) -> Result<Plan, ConfigError> {
    Ok(Plan { cases: config::read_cases(request)? })
}

impl Plan {
    /// Every value of the first case with its origin.
    pub fn entries(&self) -> Vec<ShownEntry> {
        let shown = |e: &interpulse_settings::Entry| ShownEntry {
            key: e.path.clone(),
            value: e.display.clone(),
            origin: e.origin.to_string(),
            doc: e.doc.to_string(),
        };
        self.cases[0].resolution.entries().iter().map(shown).collect()
    }

    /// Hash of the resolved configuration of the first case.
    pub fn config_hash(&self) -> String {
        self.cases[0].config_hash()
    }

    /// Names of the cases, in order.
    pub fn case_names(&self) -> Vec<String> {
        self.cases.iter().map(|c| c.name.clone()).collect()
    }

    /// The cases.
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }
}

/// How far a case has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Name of the case.
    pub case: String,
    /// What it is doing.
    pub phase: String,
    /// Done, in `unit`.
    pub done: u64,
    /// To do, in `unit`; zero if unknown.
    pub total: u64,
    /// What is counted.
    pub unit: String,
}

/// Shared between a run and whoever watches it.
#[derive(Default)]
pub struct Control {
    stop: AtomicBool,
    progress: Mutex<Vec<Progress>>,
    notes: Mutex<Vec<String>>,
}

impl Control {
    /// A fresh one.
    pub fn new() -> Arc<Control> {
        Arc::new(Control::default())
    }

    /// Asks the run to end early.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the run has been asked to end early.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// How far every case has come.
    pub fn progress(&self) -> Vec<Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Lines to tell the user.
    pub fn notes(&self) -> Vec<String> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, text: String) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }

    /// As `note`, unless the same has been said: several cases may replay one trace.
    fn note_once(&self, text: String) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if !notes.contains(&text) {
            notes.push(text);
        }
    }

    /// Publishes progress of case `index`.
    fn publish(&self, index: usize, phase: &str, done: u64, total: u64, unit: &str) {
        let mut all = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = &mut all[index];
        if entry.phase != phase {
            entry.phase = phase.to_string();
            entry.unit = unit.to_string();
        }
        (entry.done, entry.total) = (done, total);
    }
}

/// How to run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Cases at a time.
    pub jobs: usize,
    /// Folder of snapshots; `None` keeps none.
    pub cache_dir: Option<PathBuf>,
    /// Bytes the snapshots may take.
    pub cache_limit: u64,
    /// Neither read nor write snapshots.
    pub no_cache: bool,
}

/// Whose fault a failure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunErrorKind {
    /// The user can mend it.
    User,
    /// A bug of interpulse.
    Internal,
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunError {
    /// Whose fault it is.
    pub kind: RunErrorKind,
    /// What went wrong.
    pub message: String,
    /// The result with the cases that did end, if any did: a failure costs nobody's work.
    pub partial: Option<String>,
}

impl RunError {
    fn new(kind: RunErrorKind, message: String) -> RunError {
        RunError { kind, message, partial: None }
    }

    /// Names the case at fault where there are several.
    fn of(mut self, plan: &Plan, index: usize) -> RunError {
        if plan.cases.len() > 1 {
            self.message = format!("case \"{}\": {}", plan.cases[index].name, self.message);
        }
        self
    }
}

impl From<RunFailure> for RunError {
    fn from(failure: RunFailure) -> RunError {
        let kind = match failure {
            RunFailure::User(_) => RunErrorKind::User,
            RunFailure::Internal(_) => RunErrorKind::Internal,
        };
        RunError::new(kind, failure.to_string())
    }
}

/// What came of one case.
type Outcome = Result<Value, RunError>;

/// Runs all cases of a plan. The result is one JSON object: that of the first case, with those of all cases
/// under `cases` if there are several. A run that was stopped early says `interrupted`. A case that fails
/// does not keep the others from running; their results are in the error.
pub fn run(plan: &Plan, options: &RunOptions, control: &Control) -> Result<String, RunError> {
    let named = |c: &Case| Progress { case: c.name.clone(), phase: "waiting".into(), ..Progress::default() };
    *control.progress.lock().unwrap_or_else(PoisonError::into_inner) = plan.cases.iter().map(named).collect();
    // Faults of a trace show before minutes of preconditioning.
    for case in &plan.cases {
        check_flows(case, control)?;
    }
    check_memory(&plan.cases, options.jobs).map_err(|m| RunError::new(RunErrorKind::User, m))?;
    let mut outcomes: Vec<Option<Outcome>> = vec![None; plan.cases.len()];
    let hashes: Vec<String> = plan.cases.iter().map(Case::state_hash).collect();
    for (first, hash) in hashes.iter().enumerate() {
        if hashes[..first].contains(hash) {
            continue;
        }
        let group: Vec<usize> = (first..hashes.len()).filter(|&i| hashes[i] == *hash).collect();
        let state = prepare(&plan.cases[first], &group, hash, options, control);
        run_group(plan, &group, state, options.jobs.max(1), control, &mut outcomes);
    }
    let outcomes: Vec<Outcome> = outcomes.into_iter().map(|o| o.expect("every case has been run")).collect();
    conclude(plan, outcomes)
}

/// One text from the outcomes of all cases, or the first failure with what the others gave.
fn conclude(plan: &Plan, outcomes: Vec<Outcome>) -> Result<String, RunError> {
    let ended = outcomes.iter().any(|o| matches!(o, Ok(v) if v.get("iops").is_some()));
    let failure =
        outcomes.iter().enumerate().find_map(|(i, o)| o.as_ref().err().map(|e| e.clone().of(plan, i)));
    let results: Vec<Value> = outcomes
        .into_iter()
        .zip(&plan.cases)
        .map(|(outcome, case)| outcome.unwrap_or_else(|error| report::failed(case, &error.message)))
        .collect();
    let mut top = results[0].clone();
    if results.len() > 1 {
        let object = top.as_object_mut().expect("a result is an object");
        if results.iter().any(|r| r.get("interrupted").is_some()) {
            object.insert("interrupted".into(), json!(true));
        }
        object.insert("cases".into(), Value::Array(results));
    }
    match failure {
        None => Ok(top.to_string()),
        Some(error) => Err(RunError { partial: ended.then(|| top.to_string()), ..error }),
    }
}

/// Opens the traces of a case once, so that every fault of a file is an error before simulated time starts.
fn check_flows(case: &Case, control: &Control) -> Result<(), RunError> {
    let capacity = case.capacity_sectors();
    let streams = interpulse_engine::Streams::new(case.seed);
    for (i, flow) in case.flows.iter().enumerate() {
        let opened = interpulse_workload::Flow::new(flow, capacity, &streams, i as u64)
            .map_err(|e| RunError::new(RunErrorKind::User, e.to_string()))?;
        if let (Source::Trace(spec), Some(found)) = (&flow.source, opened.trace_summary()) {
            note_trace(&spec.path, found, control);
        }
    }
    Ok(())
}

/// Tells the user what a trace was taken for and which rows were left out.
fn note_trace(path: &Path, found: &TraceSummary, control: &Control) {
    let mut text = format!("trace {}: read as {}, {} rows", path.display(), found.format, found.rows);
    if found.bad_rows > 0 {
        let shown = found.first_bad_rows.join("; ");
        let more = if found.bad_rows > found.first_bad_rows.len() as u64 { "; ..." } else { "" };
        text += &format!("; {} bad row(s) skipped: {shown}{more}", found.bad_rows);
    }
    if found.late_rows > 0 {
        text += &format!("; {} row(s) whose time goes back moved to the time before", found.late_rows);
    }
    control.note_once(text);
}

/// The preconditioned state of a group of cases: restored from its snapshot, or made and saved. `None` if
/// the run was stopped.
fn prepare(
    case: &Case,
    group: &[usize],
    hash: &str,
    options: &RunOptions,
    control: &Control,
) -> Option<PreconditionedState> {
    let publish = |phase: &str, done: u64, total: u64, unit: &str| {
        group.iter().for_each(|&i| control.publish(i, phase, done, total, unit));
        !control.stopped()
    };
    let folder = options.cache_dir.as_deref().filter(|_| !options.no_cache);
    if let Some(folder) = folder
        && snapshot::path_of(folder, hash).exists()
    {
        let mut progress = |done, total| publish("restore", done, total, "B");
        match snapshot::load(&case.drive, folder, hash, &mut progress) {
            Ok(state) => return Some(state),
            Err(SnapshotError::Stopped) => return None,
            Err(error) => control.note(format!("snapshot not used: {error}; preconditioning anew")),
        }
    }
    let mut progress = |done, total| publish("precondition", done, total, "pages");
    let (state, outcome) = precondition(&case.drive, &case.precondition, &mut progress)?;
    note_unsteady(&outcome, control);
    if let Some(folder) = folder {
        keep(&state, folder, hash, options.cache_limit, control, &publish);
    }
    (!control.stopped()).then_some(state)
}

fn note_unsteady(outcome: &Preconditioned, control: &Control) {
    if outcome.gave_up {
        let last: Vec<String> =
            outcome.quarters.iter().rev().take(4).rev().map(|w| format!("{w:.3}")).collect();
        control.note(format!(
            "preconditioning did not become steady within precondition.max-drive-writes; write amplification of the \
             last quarter-drives: {}",
            last.join(", ")
        ));
    }
}

/// Saves a state, tells the user where and how large, and makes room for it.
fn keep(
    state: &PreconditionedState,
    folder: &Path,
    hash: &str,
    limit: u64,
    control: &Control,
    publish: &dyn Fn(&str, u64, u64, &str) -> bool,
) {
    let path = snapshot::path_of(folder, hash);
    let bytes = state.ftl.state_bytes();
    if bytes > limit {
        control.note(format!(
            "the preconditioned state takes {} MB, more than the cache's limit of {} MB: not kept",
            bytes / 1_000_000,
            limit / 1_000_000
        ));
        return;
    }
    match snapshot::save(state, folder, hash, &mut |done, total| publish("snapshot", done, total, "B")) {
        Ok(size) => {
            let deleted = snapshot::trim(folder, limit, &path);
            let extra = match deleted.len() {
                0 => String::new(),
                n => format!("; {n} older one(s) deleted to keep within the limit"),
            };
            control.note(format!(
                "preconditioned state kept in {} ({} MB; `interpulse cache --clear` deletes it){extra}",
                path.display(),
                size.div_ceil(1_000_000)
            ));
        }
        Err(SnapshotError::Stopped) => {}
        Err(error) => control.note(format!("the preconditioned state could not be kept: {error}")),
    }
}

/// Runs the cases of a group, each on a copy of `state`.
fn run_group(
    plan: &Plan,
    group: &[usize],
    state: Option<PreconditionedState>,
    jobs: usize,
    control: &Control,
    outcomes: &mut [Option<Outcome>],
) {
    let Some(state) = state else {
        group.iter().for_each(|&i| outcomes[i] = Some(Ok(report::not_run(&plan.cases[i]))));
        return;
    };
    let next = AtomicUsize::new(0);
    // The last case to start takes the state itself, the others copies.
    let state = Mutex::new(Some(state));
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        let worker = || {
            loop {
                let k = next.fetch_add(1, Ordering::Relaxed);
                let Some(&index) = group.get(k) else { return };
                let own = {
                    let mut shared = state.lock().unwrap_or_else(PoisonError::into_inner);
                    if k + 1 == group.len() { shared.take() } else { shared.clone() }
                };
                let own = own.expect("the state is taken by the last case only");
                // Whatever a panic may have left half done is dropped with the drive: nobody looks at it again.
                let run = AssertUnwindSafe(|| run_case(&plan.cases[index], own, index, control));
                let outcome = catch_unwind(run).unwrap_or_else(|panic| Err(bug(panic.as_ref())));
                done.lock().unwrap_or_else(PoisonError::into_inner).push((index, outcome));
            }
        };
        for _ in 1..jobs.min(group.len()) {
            scope.spawn(worker);
        }
        worker();
    });
    for (index, outcome) in done.into_inner().unwrap_or_else(PoisonError::into_inner) {
        outcomes[index] = Some(outcome);
    }
}

/// The error that a panic stands for: always a bug.
fn bug(panic: &(dyn Any + Send)) -> RunError {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    let message = format!("the simulator stopped on a bug: {}", text.unwrap_or("no message"));
    RunError::new(RunErrorKind::Internal, message)
}

fn run_case(case: &Case, mut state: PreconditionedState, index: usize, control: &Control) -> Outcome {
    if control.stopped() {
        return Ok(report::not_run(case));
    }
    state.ftl.wear_all(case.precondition.cycles);
    let progress = |expected: u64, requests: u64, time: interpulse_engine::Duration| {
        let ms = |d: interpulse_engine::Duration| d.as_ns() / 1_000_000;
        match (case.run.requests, case.run.time) {
            (Some(total), _) => control.publish(index, "run", requests, total, "requests"),
            (None, Some(total)) => control.publish(index, "run", ms(time), ms(total), "ms simulated"),
            (None, None) => control.publish(index, "run", requests, expected.max(requests), "requests"),
        }
        !control.stopped()
    };
    if case.array.is_some() {
        let result = array_case::run_case(case, state, &mut |requests, time| progress(0, requests, time))?;
        let requests = result["host_requests"].as_u64().unwrap_or(0);
        control.publish(index, "done", requests, requests, "requests");
        return Ok(result);
    }
    let flows = case.flows.len() as u32;
    let drive = Drive::new(case.drive.clone(), state, &case.flows, case.seed, ResourceId(0));
    let mut drive = drive.map_err(|e| RunError::new(RunErrorKind::User, e.to_string()))?;
    let mut agenda = Agenda::new(Drive::resources(&case.drive, flows));
    let expected = expected_requests(case, &drive);
    let mut tell = |requests, time| progress(expected, requests, time);
    let measured = run::run(&mut drive, &mut agenda, &case.run, &mut tell)?;
    let context = Context {
        case,
        flows: drive.flow_names().map(str::to_string).collect(),
        effective_spare: drive.tables().effective_spare().0,
        free_pages: drive.tables().free_pages(),
        wear: drive.tables().wear(),
        super_blocks: drive.tables().layout.super_blocks(),
        traces: drive.trace_summaries(),
    };
    let requests = measured.window.counters.requests;
    control.publish(index, "done", requests, requests, "requests");
    let mut result = report::result(&measured, &context);
    if let Some(section) = report::power_loss::section(std::slice::from_ref(&drive)) {
        result["power_loss"] = section;
    }
    Ok(result)
}

/// How many requests a case without a stated end will complete: the rows of its traces and the requests of its
/// twins; zero if unknown.
fn expected_requests(case: &Case, drive: &Drive) -> u64 {
    let mut traces = drive.trace_summaries().into_iter();
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

#[cfg(test)]
mod tests;
