//! The rows of the benchmark, which measure the simulator itself.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::prelude::*;

use crate::error::{RunError, from_panic};

/// Does one step of the benchmark on this thread, with the interpreter lock released, and returns JSON text.
///
/// `words` are `rows`, `prepare NAME DIR` or `run NAME DIR [AMOUNT]`, each with `--quick`; `interpulse_bench` says what they
/// do. A step cannot be cut short: it belongs into a process of its own, whose peak memory is then that of one row.
///
/// Raises `RunError` when the step cannot be done, or lacks memory, `InternalError` on a bug.
#[pyfunction]
#[pyo3(signature = (words))]
pub fn bench_step(py: Python<'_>, words: Vec<String>) -> PyResult<String> {
    // Whatever a panic may have left half done is dropped with the closure: nothing of it is looked at again.
    match py.detach(|| catch_unwind(AssertUnwindSafe(|| interpulse_bench::step(&words)))) {
        Ok(Ok(told)) => Ok(told.to_string()),
        Ok(Err(message)) => Err(RunError::new_err(message)),
        Err(panic) => Err(from_panic(py, panic.as_ref())),
    }
}
