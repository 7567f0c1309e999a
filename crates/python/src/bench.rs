//! Benchmark steps for Python.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::prelude::*;

use crate::error::{RunError, from_panic};

/// Runs one step of the benchmark on this thread, with the interpreter lock released, and returns JSON text.
///
/// `words` are `rows`, `prepare NAME DIR` or `run NAME DIR [AMOUNT]`, each with `--quick`; see `interpulse_bench`. A
/// step cannot be cancelled; run each in its own process, whose peak memory is then that of one row.
///
/// Raises `RunError` when the step fails or lacks memory, `InternalError` on a bug.
#[pyfunction]
#[pyo3(signature = (words))]
pub fn bench_step(py: Python<'_>, words: Vec<String>) -> PyResult<String> {
    // State that a panic leaves inconsistent is dropped with the closure.
    match py.detach(|| catch_unwind(AssertUnwindSafe(|| interpulse_bench::step(&words)))) {
        Ok(Ok(answer)) => Ok(answer.to_string()),
        Ok(Err(message)) => Err(RunError::new_err(message)),
        Err(panic) => Err(from_panic(py, panic.as_ref())),
    }
}
