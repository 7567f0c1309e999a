//! The face of the core: run the cases of a plan, return the result as JSON.
//!
//! Cases that start from the same state share one preconditioning; up to `jobs` cases or preconditionings run at a
//! time, each on a thread of its own. Results do not depend on how many run at a time, nor on what else runs.

use crate::config::Case;
use crate::control::Control;
use crate::machine::{Core, Place};
use crate::plan::Plan;
use crate::queue::{self, Limits};
use crate::record::{RecordSpec, Recorder};
use crate::remarks::remarks;
use crate::room::{need, room};
use crate::run::RunFailure;
use crate::state::{self, Cache, Start};
use crate::{case, report};
use interpulse_drive::memory::OutOfMemory;
use serde_json::{Value, json};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

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

    /// What a panic stands for: memory that could not be had, or else a bug.
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

    /// Names the case at fault where there are several.
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

/// What came of one case.
type Outcome = Result<Value, RunError>;

/// What came of making a state; `None` if the run was stopped before.
type Prepared = Result<Option<Start>, RunError>;

/// Runs all cases of a plan. The result is one JSON object: that of the first case, with those of all cases
/// under `cases` if there are several. A run that was stopped early says `interrupted`. A case that fails
/// does not keep the others from running; their results are in the error.
pub fn run(plan: &Plan, options: &RunOptions, control: &Control) -> Result<String, RunError> {
    run_among(plan, options, control, &Place::alone(options.jobs))
}

/// As [`run`], beside other runs of the same machine, which is said to have as many cores as the options have jobs.
pub fn run_among<'a>(
    plan: &Plan,
    options: &RunOptions,
    control: &Control,
    place: &'a Place,
) -> Result<String, RunError> {
    let cases = plan.cases();
    let need = need(cases, options.jobs);
    let promise = place.begin(need.of(cases.len()), control);
    let room = room(cases, options.jobs);
    let (hashes, cases_of) = states(cases, room.as_ref().is_ok_and(|room| room.apart));
    // One chapter of notes about parts and traces, one about each state, and one about each result.
    let results = 1 + hashes.len();
    control.begin(cases.iter().map(|c| c.name.as_str()), results + cases.len());
    let mut assumed: Vec<String> = cases.iter().filter_map(case::assumed).collect();
    assumed.dedup();
    assumed.into_iter().for_each(|line| control.note(0, line));
    // Faults of a trace show before minutes of preconditioning.
    let core = place.core(control, &|| false);
    let checked = cases.iter().map(case::check_traces).collect::<Result<Vec<_>, _>>()?;
    drop(core);
    checked.iter().flat_map(|of| &of.notes).for_each(|line| control.note(0, line.clone()));
    let room = room.map_err(|m| RunError::new(RunErrorKind::User, m))?;
    room.note.into_iter().for_each(|line| control.note(0, line));
    control.close(0);
    let limits = Limits { jobs: room.jobs, states: room.states };
    let folder = options.cache_dir.as_deref().filter(|_| !options.no_cache);
    let cache = folder.map(|folder| Cache { folder, limit: options.cache_limit });
    let prepare = |state: usize, core: Option<Core<'a>>| -> Prepared {
        // Where another run makes it, this one takes what that one keeps.
        let held = match cache {
            Some(_) => place.claim(&hashes[state], core, control),
            None => (core, None),
        };
        let group = &cases_of[state];
        let tell = |phase: &str, done: u64, total: u64, unit: &str| {
            group.iter().for_each(|&i| control.publish(i, phase, done, total, unit));
            !control.stopped()
        };
        let note = |line| control.note(1 + state, line);
        let (case, hash) = (&cases[group[0]], &hashes[state]);
        let made = guarded(|| Ok(state::obtain(case, hash, group.len(), cache.as_ref(), &tell, &note)));
        control.close(1 + state);
        drop(held);
        made
    };
    let run_case = |index: usize, state: Prepared| -> Outcome {
        let Some(state) = state?.filter(|_| !control.stopped()) else {
            return Ok(report::not_run(&cases[index]));
        };
        let tell = |phase: &str, done: u64, total: u64, unit: &str| {
            control.publish(index, phase, done, total, unit);
            !control.stopped()
        };
        let record = control.records.get(index).filter(|spec| **spec != RecordSpec::default());
        let recorder = record.map(|spec| Recorder::new(spec, &cases[index], index, &control.outbox));
        let ended = guarded(|| {
            let state = state.state().map_err(|e| RunError::new(RunErrorKind::User, e.to_string()))?;
            Ok(case::run(&cases[index], &checked[index], state, recorder, &tell)?)
        });
        if let Ok(result) = &ended {
            control.end(index, result.to_string());
        }
        ended
    };
    let left = AtomicUsize::new(cases.len());
    let run = |index: usize, state: Prepared, core: Option<Core<'a>>| -> Outcome {
        let outcome = run_case(index, state);
        for line in outcome.iter().flat_map(|result| remarks(&cases[index], result)) {
            let name =
                if cases.len() > 1 { format!("case \"{}\": ", cases[index].name) } else { String::new() };
            control.note(results + index, name + &line);
        }
        control.close(results + index);
        let left = left.fetch_sub(1, Ordering::Relaxed) - 1;
        promise.iter().for_each(|promise| promise.shrink(need.of(left)));
        drop(core);
        outcome
    };
    let core = |given_up: &dyn Fn() -> bool| place.core(control, given_up);
    conclude(plan, queue::work(&cases_of, limits, core, prepare, run))
}

/// The hashes of the states that cases start from, in the order in which they are needed, and the cases of each. `apart`:
/// every case has one of its own.
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

/// One text from the outcomes of all cases, or the first failure with what the others gave.
fn conclude(plan: &Plan, outcomes: Vec<Outcome>) -> Result<String, RunError> {
    let ended = outcomes.iter().any(|o| matches!(o, Ok(v) if v.get("iops").is_some()));
    let failure =
        outcomes.iter().enumerate().find_map(|(i, o)| o.as_ref().err().map(|e| e.clone().of(plan, i)));
    let results: Vec<Value> = outcomes
        .into_iter()
        .zip(plan.cases())
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

/// What `work` gives, or the error that its panic stands for. Whatever a panic may have left half done is dropped with the
/// closure: nobody looks at it again.
fn guarded<T>(work: impl FnOnce() -> Result<T, RunError>) -> Result<T, RunError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(RunError::of_panic(panic.as_ref())))
}

#[cfg(test)]
mod tests;
