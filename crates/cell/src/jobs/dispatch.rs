//! Dispatch of jobs by name.

use super::{JobError, endurance, erase, part, reprogram, retention, suspend, table};
use serde_json::Value;

/// The function of a job.
type Job = fn(&Value) -> Result<Value, JobError>;

/// Names and functions of all jobs.
const JOBS: &[(&str, Job)] = &[
    ("endurance", endurance::run),
    ("erase", erase::run),
    ("erase-errors", erase::errors),
    ("erase-gap", erase::gap),
    ("error-table", table::whole),
    ("error-table-piece", table::piece),
    ("part", part::run),
    ("reprogram", reprogram::run),
    ("reprogram-block", reprogram::block),
    ("reprogram-table", reprogram::table),
    ("retention", retention::run),
    ("suspend", suspend::run),
    ("suspend-trace", suspend::trace),
    ("suspend-untouched", suspend::untouched),
];

/// Runs the job `kind`. Fails on an unknown kind, an unknown or missing field, or a value out of range.
pub fn run(kind: &str, request: &Value) -> Result<Value, JobError> {
    match JOBS.iter().find(|(name, _)| *name == kind) {
        Some((_, job)) => job(request),
        None => {
            let names: Vec<&str> = JOBS.iter().map(|&(name, _)| name).collect();
            Err(JobError(format!("unknown cell job '{kind}'; one of {}", names.join(", "))))
        }
    }
}
