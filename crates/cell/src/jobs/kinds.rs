//! The kinds of pieces there are.

use super::{JobError, endurance, erase, part, reprogram, retention, suspend, table};
use serde_json::Value;

/// A kind of piece.
type Job = fn(&Value) -> Result<Value, JobError>;

/// Name and function of every kind.
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

/// Does one piece of work of the kind `kind`.
///
/// Fails on an unknown kind, an unknown or missing field, or a value out of range.
pub fn run(kind: &str, request: &Value) -> Result<Value, JobError> {
    match JOBS.iter().find(|(name, _)| *name == kind) {
        Some((_, job)) => job(request),
        None => {
            let names: Vec<&str> = JOBS.iter().map(|&(name, _)| name).collect();
            Err(JobError(format!("no kind '{kind}' of work on cells; one of {}", names.join(", "))))
        }
    }
}
