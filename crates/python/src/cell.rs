//! The bench of cells: one job at a time, on the thread that asks.

use std::panic::{AssertUnwindSafe, catch_unwind};

use interpulse_cell::jobs;
use pyo3::prelude::*;
use serde_json::Value;

use crate::error::{ConfigError, from_panic};

/// Does one job of a characterization, about a second of work, with the interpreter lock released.
///
/// `kind` is the kind of job, `request` its JSON text; the jobs of `interpulse_cell` say what each takes and gives. Returns JSON
/// text. A job cannot be cut short: call it from a thread, so that the main thread stays free for Ctrl-C.
///
/// Raises `ConfigError` when the request cannot be used, `InternalError` on a bug.
#[pyfunction]
#[pyo3(signature = (kind, request))]
pub fn cell_job(py: Python<'_>, kind: &str, request: &str) -> PyResult<String> {
    let asked: Value = serde_json::from_str(request)
        .map_err(|e| ConfigError::new_err(format!("the request of a {kind} job is not JSON: {e}")))?;
    // Whatever a panic may have left half done is dropped with the closure: nothing of it is looked at again.
    let done = py.detach(|| {
        catch_unwind(AssertUnwindSafe(|| jobs::run(kind, &asked).map(|answer| answer.to_string())))
    });
    match done {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(ConfigError::new_err(error.to_string())),
        Err(panic) => Err(from_panic(py, panic.as_ref())),
    }
}
