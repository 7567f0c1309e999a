//! A resolved configuration.

use std::sync::Arc;

use interpulse_study::config::PlanRequest;
use interpulse_study::{die_script, plan};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::from_config;

/// A resolved, checked configuration, ready to run any number of times.
#[pyclass(frozen, module = "interpulse._core")]
pub struct Plan {
    pub(crate) inner: Arc<plan::Plan>,
}

/// One resolved setting.
#[pyclass(frozen, get_all, module = "interpulse._core")]
pub struct Entry {
    /// The dotted path of the setting, as in `--set`.
    key: String,
    /// Its value with its unit, as it would be written in a configuration.
    value: String,
    /// Where the value comes from: a file and line, `--set`, a preset and its source, or the default.
    origin: String,
    /// One line on what the setting means.
    doc: String,
}

#[pymethods]
impl Plan {
    /// Every setting of the resolved configuration with its origin, in a fixed order.
    fn entries(&self) -> Vec<Entry> {
        let shown = self.inner.entries().into_iter();
        shown.map(|e| Entry { key: e.key, value: e.value, origin: e.origin, doc: e.doc }).collect()
    }

    /// The hash of the resolved configuration, in hexadecimal.
    #[getter]
    fn config_hash(&self) -> String {
        self.inner.config_hash()
    }

    /// The names of the compared cases, in the order in which they are reported.
    #[getter]
    fn case_names(&self) -> Vec<String> {
        self.inner.case_names()
    }
}

/// Resolves a configuration.
///
/// `text` is TOML, `path` the name to use for it in messages; the traces that it names lie beside it;
/// `sets` are `(key, value)` overrides in the order of application, `trace` replaces the workload by a trace file.
///
/// Raises `ConfigError` when the configuration cannot be used.
#[pyfunction]
#[pyo3(signature = (text, path, sets, trace, seed, skip_bad_rows))]
pub fn resolve(
    py: Python<'_>,
    text: String,
    path: String,
    sets: Vec<(String, String)>,
    trace: Option<String>,
    seed: Option<u64>,
    skip_bad_rows: bool,
) -> PyResult<Plan> {
    let request = PlanRequest { text, path, sets, trace, seed, skip_bad_rows };
    let plan = py.detach(|| plan::resolve(&request)).map_err(|e| from_config(&e))?;
    Ok(Plan { inner: Arc::new(plan) })
}

/// The cases of several plans as those of one, in order: they run side by side, whatever configuration they are of.
///
/// Raises `ValueError` without any plan.
#[pyfunction]
pub fn together(plans: Vec<PyRef<'_, Plan>>) -> PyResult<Plan> {
    if plans.is_empty() {
        return Err(PyValueError::new_err("no plan"));
    }
    Ok(Plan { inner: Arc::new(plan::Plan::together(plans.iter().map(|plan| plan.inner.as_ref()))) })
}

/// Drives one die of the first case of a plan by hand.
///
/// `arrivals` are `(operation, ns)`; with both of `probe_first_ns` and `probe_then_ns`, reads come so long after the
/// first pulse of a program or erase and after each command to resume it; `seed` selects the sample of dies; nothing is simulated beyond `horizon_ns`. Returns JSON text with
/// `spans` of `[from_ns, to_ns, state, operation]`, `phases` of `[from_ns, to_ns, what, operation, running_on, again]` and
/// `operations`, and the number of suspensions, `suspends`.
///
/// Raises `ConfigError` when there is no such operation or the horizon is out of range.
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
