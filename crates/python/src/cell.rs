//! Cell jobs for Python: one job at a time, on the calling thread.

use std::panic::{AssertUnwindSafe, catch_unwind};

use interpulse_cell::jobs;
use pyo3::prelude::*;
use serde_json::Value;

use crate::error::{ConfigError, from_panic};

/// Runs one job of a characterization, about a second of work, with the interpreter lock released.
///
/// `kind` is the kind of job, `request` its JSON text; `interpulse_cell::jobs` defines input and output. Returns
/// JSON text. A job cannot be cancelled: call it from a thread, so that the main thread can handle Ctrl-C.
///
/// Raises `ConfigError` when the request is invalid, `InternalError` on a bug.
#[pyfunction]
#[pyo3(signature = (kind, request))]
pub fn cell_job(py: Python<'_>, kind: &str, request: &str) -> PyResult<String> {
    let asked: Value = serde_json::from_str(request)
        .map_err(|e| ConfigError::new_err(format!("the request of a {kind} job is not JSON: {e}")))?;
    // State that a panic leaves inconsistent is dropped with the closure.
    let done = py.detach(|| {
        catch_unwind(AssertUnwindSafe(|| jobs::run(kind, &asked).map(|answer| answer.to_string())))
    });
    match done {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(ConfigError::new_err(error.to_string())),
        Err(panic) => Err(from_panic(py, panic.as_ref())),
    }
}
