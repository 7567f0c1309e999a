//! Traces as files: measured, and written as twins.

use std::path::PathBuf;

use interpulse_study::traces::{self, StatisticsRequest, TwinRequest};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::error::from_config;

/// Does `work` with the interpreter lock released; a signal such as Ctrl-C ends it and raises what its handler raises.
fn watched(
    py: Python<'_>,
    work: impl FnOnce(&mut dyn FnMut(u64) -> bool) -> Result<Option<String>, interpulse_study::config::PlanError>
    + Send,
) -> PyResult<String> {
    let (ended, raised) = py.detach(|| {
        let mut raised = None;
        let ended = work(&mut |_| {
            raised = Python::attach(|py| py.check_signals()).err();
            raised.is_none()
        });
        (ended, raised)
    });
    match (raised, ended) {
        (Some(error), _) => Err(error),
        (None, Err(error)) => Err(from_config(&error)),
        (None, Ok(None)) => Err(PyRuntimeError::new_err("stopped, though nobody asked for it")),
        (None, Ok(Some(text))) => Ok(text),
    }
}

/// The statistics of a trace file as JSON text; docs/TRACES.md defines its names.
///
/// `format` is one of the trace formats; `time_unit` is ns, 100ns, us, ms, s or none; `writes_are` (0 or 1) belongs to `ascii`;
/// `reorder` is `error` or `clamp`.
///
/// Raises `ConfigError` when the trace cannot be read.
#[pyfunction]
#[pyo3(signature = (path, format, time_unit, writes_are, reorder, skip_bad_rows))]
pub fn trace_statistics(
    py: Python<'_>,
    path: PathBuf,
    format: String,
    time_unit: Option<String>,
    writes_are: Option<u32>,
    reorder: String,
    skip_bad_rows: bool,
) -> PyResult<String> {
    let request = StatisticsRequest { path, format, time_unit, writes_are, reorder, skip_bad_rows };
    watched(py, |watch| traces::statistics(&request, watch))
}

/// What a twin of a row will measure, under the names of `trace_statistics`, as JSON text.
///
/// `row` is the name of a built-in row or of a file that ends in `.toml`; `requests` scales it.
///
/// Raises `ConfigError` when there is no such row or no twin can meet it.
#[pyfunction]
#[pyo3(signature = (row, requests))]
pub fn twin_row(py: Python<'_>, row: &str, requests: Option<u64>) -> PyResult<String> {
    py.detach(|| traces::described(row, requests)).map_err(|e| from_config(&e))
}

/// Writes the twin of a row as a trace file and returns `twin_row`'s text with the file's name and format.
///
/// Raises `ConfigError` when no twin can meet the row or the file cannot be written.
#[pyfunction]
#[pyo3(signature = (row, requests, seed, out))]
pub fn write_twin(
    py: Python<'_>,
    row: String,
    requests: Option<u64>,
    seed: u64,
    out: PathBuf,
) -> PyResult<String> {
    let request = TwinRequest { row, requests, seed, out };
    watched(py, |watch| traces::write_twin(&request, watch))
}
