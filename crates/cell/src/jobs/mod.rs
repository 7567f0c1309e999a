//! Jobs: pieces of a characterization of about a second, JSON in and JSON out.

use serde_json::Value;
use std::fmt;

/// A request that cannot be used; the text names the key, what was seen and what is legal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobError(pub String);

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for JobError {}

/// Does the job of this kind.
pub fn run(kind: &str, _request: &Value) -> Result<Value, JobError> {
    Err(JobError(format!("no job '{kind}'")))
}
