//! Runner: runs the cases of a plan and returns the result as JSON.
//!
//! Cases with the same initial state share one preconditioning; up to `jobs` cases or preconditionings run at a
//! time, each on its own thread. Results do not depend on concurrency.

mod scheduler;

use crate::case::{notes, scale};
use crate::config::Case;
use crate::control::Control;
use crate::initial_state::kept_state::KeptState;
use crate::initial_state::{InitialState, SnapshotCache, load_or_build};
use crate::machine::memory_admission::{admit, demand};
use crate::machine::{Core, MachineShare};
use crate::plan::Plan;
use crate::record::{RecordSpec, Recorder};
use crate::run::RunFailure;
use crate::{case, report};
use interpulse_drive::memory::OutOfMemory;
use scheduler::Limits;
use serde_json::Value;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Options of a run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Concurrent cases.
    pub jobs: usize,
    /// Snapshot folder; `None` stores none.
    pub cache_dir: Option<PathBuf>,
    /// Size limit of the snapshots in bytes.
    pub cache_limit: u64,
    /// Disables snapshots.
    pub no_cache: bool,
}

/// Kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunErrorKind {
    /// The user can correct it.
    User,
    /// A bug in interpulse.
    Internal,
}

/// Failure of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunError {
    /// Kind.
    pub kind: RunErrorKind,
    /// Message.
    pub message: String,
    /// Result of the cases that completed, if any.
    pub partial: Option<String>,
}

impl RunError {
    fn new(kind: RunErrorKind, message: String) -> RunError {
        RunError { kind, message, partial: None }
    }

    /// Error of a panic: out of memory, or a bug.
    pub fn of_panic(panic: &(dyn Any + Send)) -> RunError {
        if let Some(short) = panic.downcast_ref::<OutOfMemory>() {
            return RunError::new(
                RunErrorKind::User,
                format!("{short}: use fewer --jobs or a smaller drive"),
            );
        }
        let text =
            panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        let message = format!("the simulator stopped on a bug: {}", text.unwrap_or("no message"));
        RunError::new(RunErrorKind::Internal, message)
    }

    /// Adds the name of the case if there are several.
    fn of(mut self, plan: &Plan, index: usize) -> RunError {
        if plan.cases().len() > 1 {
            self.message = format!("case \"{}\": {}", plan.cases()[index].name, self.message);
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

/// Outcome of one case.
type Outcome = Result<Value, RunError>;

/// Outcome of an initial state; `None` if the run was stopped.
type Prepared = Result<Option<InitialState>, RunError>;

/// Runs all cases of a plan. The result is one JSON object with all cases ([`report::document`]). A stopped run has
/// `interrupted`. If a case fails, the others still run and their results are in the error.
pub fn run(plan: &Plan, options: &RunOptions, control: &Control) -> Result<String, RunError> {
    run_shared(plan, options, control, &MachineShare::exclusive(options.jobs))
}

/// As [`run`], on a machine shared with other runs that has `options.jobs` cores.
pub fn run_shared<'a>(
    plan: &Plan,
    options: &RunOptions,
    control: &Control,
    share: &'a MachineShare,
) -> Result<String, RunError> {
    let cases = plan.cases();
    let demand = demand(cases, options.jobs);
    let reservation = share.reserve_memory(demand.bytes(cases.len()), control);
    let admission = admit(cases, options.jobs);
    let (hashes, cases_of) = states(cases, admission.as_ref().is_ok_and(|admission| admission.apart));
    // Groups of notes: one for parts and traces, one per state, one per result.
    let results = 1 + hashes.len();
    control.begin(cases.iter().map(|c| c.name.as_str()), results + cases.len());
    let mut assumed: Vec<String> = cases.iter().filter_map(notes::assumed_figures).collect();
    assumed.dedup();
    assumed.into_iter().for_each(|line| control.note(0, line));
    // Trace errors appear before minutes of preconditioning.
    let core = share.core(control, &|| false);
    let checked = cases.iter().map(case::check_traces).collect::<Result<Vec<_>, _>>()?;
    drop(core);
    checked.iter().flat_map(|of| &of.notes).for_each(|line| control.note(0, line.clone()));
    for line in scale::together(cases.iter().zip(checked.iter().map(|each| each.traces.as_slice()))) {
        control.note(0, line);
    }
    let admission = admission.map_err(|m| RunError::new(RunErrorKind::User, m))?;
    admission.note.into_iter().for_each(|line| control.note(0, line));
    control.close(0);
    let limits = Limits { jobs: admission.jobs, states: admission.states };
    let folder = options.cache_dir.as_deref().filter(|_| !options.no_cache);
    let cache = folder.map(|folder| SnapshotCache { folder, limit: options.cache_limit });
    let prepare = |state: usize, core: Option<Core<'a>>| -> Prepared {
        // If another run builds the state, this one loads its snapshot.
        let held = match cache {
            Some(_) => share.claim(&hashes[state], core, control),
            None => (core, None),
        };
        let group = &cases_of[state];
        let progress = |phase: &str, done: u64, total: u64, unit: &str| {
            group.iter().for_each(|&i| control.publish(i, phase, done, total, unit));
            !control.stopped()
        };
        let note = |line| control.note(1 + state, line);
        if let Some(path) = &cases[group[0]].state_files.start {
            note(format!("the drive starts with the state {}, not with [precondition]", path.display()));
            control.close(1 + state);
            return catch_panic(|| kept_start(&cases[group[0]], path).map(Some));
        }
        let (case, hash) = (&cases[group[0]], &hashes[state]);
        let made =
            catch_panic(|| Ok(load_or_build(case, hash, group.len(), cache.as_ref(), &progress, &note)));
        control.close(1 + state);
        drop(held);
        made
    };
    let run_case = |index: usize, state: Prepared| -> Outcome {
        let Some(state) = state?.filter(|_| !control.stopped()) else {
            return Ok(report::not_run(&cases[index]));
        };
        let progress = |phase: &str, done: u64, total: u64, unit: &str| {
            control.publish(index, phase, done, total, unit);
            !control.stopped()
        };
        let record = control.records.get(index).filter(|spec| **spec != RecordSpec::default());
        let recorder = record.map(|spec| Recorder::new(spec, &cases[index], index, &control.rows));
        let ended = catch_panic(|| {
            let state = state.state().map_err(|e| RunError::new(RunErrorKind::User, e.to_string()))?;
            Ok(case::run(&cases[index], &checked[index], state, recorder, &progress)?)
        });
        if let Ok(result) = &ended {
            control.end(index, result.to_string());
        }
        ended
    };
    let left = AtomicUsize::new(cases.len());
    let run = |index: usize, state: Prepared, core: Option<Core<'a>>| -> Outcome {
        let outcome = run_case(index, state);
        for line in outcome.iter().flat_map(|result| notes::result_notes(&cases[index], result)) {
            let name =
                if cases.len() > 1 { format!("case \"{}\": ", cases[index].name) } else { String::new() };
            control.note(results + index, name + &line);
        }
        control.close(results + index);
        let left = left.fetch_sub(1, Ordering::Relaxed) - 1;
        reservation.iter().for_each(|reservation| reservation.shrink(demand.bytes(left)));
        drop(core);
        outcome
    };
    let core = |given_up: &dyn Fn() -> bool| share.core(control, given_up);
    combine(plan, scheduler::run_cases(&cases_of, limits, core, prepare, run))
}

/// Initial state of a case that starts with a kept one.
fn kept_start(case: &Case, path: &Path) -> Result<InitialState, RunError> {
    let opened = KeptState::open(case, path);
    let (_, snapshot) = opened.map_err(|error| RunError::new(RunErrorKind::User, error.to_string()))?;
    Ok(InitialState::Stored(Arc::new(snapshot)))
}

/// Hashes of the initial states in order of use, and the cases of each. `apart`: one state per case.
fn states(cases: &[Case], apart: bool) -> (Vec<String>, Vec<Vec<usize>>) {
    let (mut hashes, mut cases_of) = (Vec::new(), Vec::<Vec<usize>>::new());
    for (index, case) in cases.iter().enumerate() {
        let hash = case.state_hash();
        match hashes.iter().position(|known| *known == hash) {
            Some(state) if !apart => cases_of[state].push(index),
            _ => {
                hashes.push(hash);
                cases_of.push(vec![index]);
            }
        }
    }
    (hashes, cases_of)
}

/// Combines the outcomes of all cases into one text, or the first failure with the other results.
fn combine(plan: &Plan, outcomes: Vec<Outcome>) -> Result<String, RunError> {
    let ended = outcomes.iter().any(|o| matches!(o, Ok(v) if v.get("iops").is_some()));
    let failure =
        outcomes.iter().enumerate().find_map(|(i, o)| o.as_ref().err().map(|e| e.clone().of(plan, i)));
    let results: Vec<Value> = outcomes
        .into_iter()
        .zip(plan.cases())
        .map(|(outcome, case)| outcome.unwrap_or_else(|error| report::failed(case, &error.message)))
        .collect();
    let top = report::document(plan, results);
    match failure {
        None => Ok(top.to_string()),
        Some(error) => Err(RunError { partial: ended.then(|| top.to_string()), ..error }),
    }
}

/// Runs `work` and turns a panic into an error. State that a panic leaves inconsistent is dropped with the closure.
fn catch_panic<T>(work: impl FnOnce() -> Result<T, RunError>) -> Result<T, RunError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(RunError::of_panic(panic.as_ref())))
}

#[cfg(test)]
mod tests;
