//! Trace files for Python: statistics and twins.

use std::path::PathBuf;

use interpulse_study::trace_tools::{RewriteRequest, Rewriting, rewrite_traces};
use interpulse_study::traces::{self, StatisticsRequest, TwinRequest};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::error::from_config;

/// Runs `work` with the interpreter lock released and reports its progress; a signal such as Ctrl-C ends it and raises the exception of its
/// handler.
fn watched<P>(
    py: Python<'_>,
    work: impl FnOnce(&mut dyn FnMut(P) -> bool) -> Result<Option<String>, interpulse_study::config::PlanError>
    + Send,
    report: impl Fn(Python<'_>, P) -> PyResult<()> + Send + Sync,
) -> PyResult<String> {
    let (ended, raised) = py.detach(|| {
        let mut raised = None;
        let ended = work(&mut |progress| {
            raised = Python::attach(|py| py.check_signals().and_then(|()| report(py, progress))).err();
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

/// Statistics of a trace file as JSON text; docs/TWINS.md defines the names.
///
/// `format` is a trace format; `time_unit` is ns, 100ns, us, ms, s or none; `writes_are` (0 or 1) belongs to
/// `ascii`; `reorder` is `error` or `clamp`; `device` is the only device that is measured; `layout` holds keys of a flow
/// and their values in TOML: `address-unit`, `size-unit` and those of the format `columns`.
///
/// Raises `ConfigError` when the trace cannot be read.
#[pyfunction]
#[pyo3(signature = (path, format, time_unit, writes_are, reorder, skip_bad_rows, device = None, layout = Vec::new()))]
#[expect(clippy::too_many_arguments, reason = "the options of the command")]
pub fn trace_statistics(
    py: Python<'_>,
    path: PathBuf,
    format: String,
    time_unit: Option<String>,
    writes_are: Option<u32>,
    reorder: String,
    skip_bad_rows: bool,
    device: Option<String>,
    layout: Vec<(String, String)>,
) -> PyResult<String> {
    let request =
        StatisticsRequest { path, format, time_unit, writes_are, device, layout, reorder, skip_bad_rows };
    watched(py, |watch| traces::statistics(&request, watch), |_, _| Ok(()))
}

/// Statistics of a twin of a row, under the names of `trace_statistics`, as JSON text.
///
/// `row` is a built-in row or a `.toml` file; `requests` scales it.
///
/// Raises `ConfigError` for an unknown or infeasible row.
#[pyfunction]
#[pyo3(signature = (row, requests))]
pub fn twin_row(py: Python<'_>, row: &str, requests: Option<u64>) -> PyResult<String> {
    py.detach(|| traces::described(row, requests)).map_err(|e| from_config(&e))
}

/// Writes the twin of a row as a trace file and returns the text of `twin_row` with the name and format of the file.
///
/// Raises `ConfigError` for an infeasible row or a file that cannot be written.
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
    watched(py, |watch| traces::write_twin(&request, watch), |_, _| Ok(()))
}

/// Rewrites trace files into `out` and returns what was done as JSON text; docs/TRACE-TOOLS.md describes it.
///
/// `settings` are options with their values in TOML (`to`, `start`, `first-row`, `speed`, `capacity`, `key`, ...); the
/// others are those of `trace_statistics`. `progress` is called with rows and all rows: those checked and None in the first
/// pass, those written in the second.
///
/// Raises `ConfigError` when an input cannot be read or the output cannot hold a request.
#[pyfunction]
#[pyo3(signature = (paths, out, settings, format, time_unit, writes_are, reorder, skip_bad_rows, layout = Vec::new(), progress = None))]
#[expect(clippy::too_many_arguments, reason = "the options of the commands")]
pub fn trace_rewrite(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    out: PathBuf,
    settings: Vec<(String, String)>,
    format: String,
    time_unit: Option<String>,
    writes_are: Option<u32>,
    reorder: String,
    skip_bad_rows: bool,
    layout: Vec<(String, String)>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let path = PathBuf::new();
    let reading = StatisticsRequest {
        path,
        format,
        time_unit,
        writes_are,
        device: None,
        layout,
        reorder,
        skip_bad_rows,
    };
    let request = RewriteRequest { paths, reading, out, settings };
    watched(
        py,
        |watch| rewrite_traces(&request, watch),
        |py, rewriting| {
            let Some(report) = &progress else { return Ok(()) };
            let (rows, all) = match rewriting {
                Rewriting::Checking(rows) => (rows, None),
                Rewriting::Writing(rows, all) => (rows, Some(all)),
            };
            report.call1(py, (rows, all)).map(drop)
        },
    )
}
