//! What `interpulse characterize` asks for, in pieces of about a second: JSON in, JSON out.
//!
//! A piece is a pure function of its request, so pieces can run on any number of cores, be stored, and be asked for again.

mod endurance;
mod erase;
mod part;
mod reprogram;
mod retention;
mod suspend;
mod table;

use crate::tester::Tester;
use interpulse_flash::suspend::Scheme;
use interpulse_settings::{ConfigError, Document};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt;

/// Why a piece could not be done; always the asker's mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobError(pub String);

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for JobError {}

impl From<ConfigError> for JobError {
    fn from(error: ConfigError) -> JobError {
        JobError(error.to_string())
    }
}

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

/// Reads a request; unknown fields are refused.
fn parse<T: DeserializeOwned>(kind: &str, request: &Value) -> Result<T, JobError> {
    T::deserialize(request).map_err(|error| JobError(format!("{kind}: {error}")))
}

/// Overrides as `--set` gives them.
fn overrides(sets: &[(String, String)]) -> Result<Document, ConfigError> {
    sets.iter().try_fold(Document::empty(), |lower, (key, value)| Document::set(key, value)?.over(lower))
}

/// The scheme called `name`.
fn scheme(name: &str) -> Result<Scheme, JobError> {
    match Scheme::ALL.iter().find(|(known, _, _)| *known == name) {
        Some(&(_, scheme, _)) => Ok(scheme),
        None => {
            let names: Vec<&str> = Scheme::ALL.iter().map(|&(known, _, _)| known).collect();
            Err(ConfigError::not_among("scheme", name, &names).into())
        }
    }
}

/// The tester of a request.
fn tester(preset: &str, sets: &[(String, String)], program: &str, erase: &str) -> Result<Tester, JobError> {
    Ok(Tester::resolve(preset, overrides(sets)?, scheme(program)?, scheme(erase)?)?)
}

/// A number of a request between two bounds.
fn within<T: PartialOrd + fmt::Display>(name: &str, value: T, from: T, to: T) -> Result<T, JobError> {
    if value < from || to < value {
        return Err(JobError(format!("{name} = {value}: from {from} to {to}")));
    }
    Ok(value)
}
