//! Plan for Python: a resolved configuration.

use std::path::PathBuf;
use std::sync::Arc;

use interpulse_study::config::PlanRequest;
use interpulse_study::initial_state::kept_state::start_of_run::with_state_files;
use interpulse_study::{die_script, plan};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::{ConfigError, from_config};

/// A resolved and checked configuration that can run any number of times.
#[pyclass(frozen, module = "interpulse._core")]
pub struct Plan {
    pub(crate) inner: Arc<plan::Plan>,
}

/// A resolved setting.
#[pyclass(frozen, get_all, module = "interpulse._core")]
pub struct Entry {
    /// Dotted key, as in `--set`.
    key: String,
    /// Value with its unit, as written in a configuration.
    value: String,
    /// Origin: a file and line, `--set`, a preset and its source, or the default.
    origin: String,
    /// One line of documentation.
    doc: String,
}

#[pymethods]
impl Plan {
    /// Every setting with its origin, in a fixed order.
    fn entries(&self) -> Vec<Entry> {
        let shown = self.inner.entries().into_iter();
        shown.map(|e| Entry { key: e.key, value: e.value, origin: e.origin, doc: e.doc }).collect()
    }

    /// Hash of the resolved configuration, in hexadecimal.
    #[getter]
    fn config_hash(&self) -> String {
        self.inner.config_hash()
    }

    /// Names of the cases, in the order of the report.
    #[getter]
    fn case_names(&self) -> Vec<String> {
        self.inner.case_names()
    }

    /// Bytes that the host can address in each case: of the drive or array, in the order of the cases.
    #[getter]
    fn capacity_bytes(&self) -> Vec<u64> {
        self.inner.capacity_bytes()
    }

    /// The plan with only the cases at these positions. Raises `ValueError` without a case, or if one is not there.
    fn only(&self, cases: Vec<usize>) -> PyResult<Plan> {
        let plan = self.inner.only(&cases).ok_or_else(|| PyValueError::new_err("no such cases"))?;
        Ok(Plan { inner: Arc::new(plan) })
    }

    /// The plan whose drives start with the kept state in the file `start`, and whose drive's state goes to the file `save` at
    /// the end of its run. Raises `ConfigError` for a file or a drive that does not go with that.
    #[pyo3(signature = (start, save))]
    fn with_state_files(
        &self,
        py: Python<'_>,
        start: Option<PathBuf>,
        save: Option<PathBuf>,
    ) -> PyResult<Plan> {
        let plan = py.detach(|| with_state_files(&self.inner, start.as_deref(), save.as_deref()));
        let plan = plan.map_err(|error| ConfigError::new_err(error.to_string()))?;
        Ok(Plan { inner: Arc::new(plan) })
    }
}

/// Resolves a configuration.
///
/// `text` is TOML, `path` its name in messages; trace paths are relative to it; `sets` are `(key, value)` overrides
/// in order, `trace` replaces the workload by a trace file and `trace_keys` sets keys of every flow that replays one.
///
/// Raises `ConfigError` when the configuration is invalid.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they are arguments in Python")]
#[pyo3(signature = (text, path, sets, trace, seed, skip_bad_rows, trace_keys = Vec::new()))]
pub fn resolve(
    py: Python<'_>,
    text: String,
    path: String,
    sets: Vec<(String, String)>,
    trace: Option<String>,
    seed: Option<u64>,
    skip_bad_rows: bool,
    trace_keys: Vec<(String, String)>,
) -> PyResult<Plan> {
    let request = PlanRequest { text, path, sets, trace, trace_keys, seed, skip_bad_rows, embedded: false };
    let plan = py.detach(|| plan::resolve(&request)).map_err(|e| from_config(&e))?;
    Ok(Plan { inner: Arc::new(plan) })
}

/// One plan with the cases of several plans, in order.
///
/// Raises `ValueError` without any plan.
#[pyfunction]
pub fn together(plans: Vec<PyRef<'_, Plan>>) -> PyResult<Plan> {
    if plans.is_empty() {
        return Err(PyValueError::new_err("no plan"));
    }
    Ok(Plan { inner: Arc::new(plan::Plan::together(plans.iter().map(|plan| plan.inner.as_ref()))) })
}

/// Runs a script on one die of the first case of a plan.
///
/// `arrivals` are `(operation, ns)`; with both `probe_first_ns` and `probe_then_ns`, reads arrive this long after
/// the first pulse of a program or erase and after each resume command; `seed` selects the sample of dies; the
/// simulation ends at `horizon_ns`. Returns JSON text with `spans` of `[from_ns, to_ns, state, operation]`, `phases`
/// of `[from_ns, to_ns, what, operation, running_on, again]`, `operations`, and the number of suspensions,
/// `suspends`.
///
/// Raises `ConfigError` for an unknown operation or an invalid horizon.
#[pyfunction]
#[pyo3(signature = (plan, arrivals, probe_first_ns, probe_then_ns, seed, horizon_ns))]
pub fn die_timeline(
    py: Python<'_>,
    plan: &Plan,
    arrivals: Vec<(String, u64)>,
    probe_first_ns: Option<u64>,
    probe_then_ns: Option<u64>,
    seed: u64,
    horizon_ns: u64,
) -> PyResult<String> {
    let probe = probe_first_ns.zip(probe_then_ns);
    let request = die_script::Request { arrivals, probe, seed, horizon_ns };
    py.detach(|| die_script::timeline(&plan.inner, &request)).map_err(|e| from_config(&e))
}
