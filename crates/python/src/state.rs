//! Files of kept states for Python: shown, copied, aged.

use std::path::PathBuf;

use interpulse_embed::{Options, age_state, clone_state, show_state};
use interpulse_study::initial_state::kept_state::description::retention_of;
use pyo3::prelude::*;

use crate::error::{ConfigError, from_files};

/// What the file of a kept state says, as JSON text.
///
/// Raises `ConfigError` for a file that is none, or damaged.
#[pyfunction]
pub fn state_show(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    py.detach(|| show_state(&path)).map_err(|error| from_files(py, error))
}

/// Ages a kept state by `cycles` of every block, `retention`, such as `90d`, of all data and `reads` of every block, into the file `out`.
///
/// Raises `ConfigError` for a file that is none, and for ageing beyond what a run may start with.
#[pyfunction]
pub fn state_age(
    py: Python<'_>,
    path: PathBuf,
    out: PathBuf,
    cycles: u32,
    retention: &str,
    reads: u32,
) -> PyResult<()> {
    let retention = retention_of(retention).map_err(|error| ConfigError::new_err(error.to_string()))?;
    py.detach(|| age_state(&path, &out, cycles, retention, reads)).map_err(|error| from_files(py, error))
}

/// Copies a kept state to the file `out`; with `config` for a drive of that configuration, of which `name`, `sets` and `case` are
/// as those of a device.
///
/// Raises `ConfigError` for a file that is none, and for a configuration whose drive cannot start with it.
#[pyfunction]
pub fn state_clone(
    py: Python<'_>,
    path: PathBuf,
    out: PathBuf,
    config: Option<String>,
    name: String,
    sets: Vec<(String, String)>,
    case: Option<String>,
) -> PyResult<()> {
    let options = config.map(|config| Options { path: name, sets, case, ..Options::new(config) });
    py.detach(|| clone_state(&path, &out, options.as_ref())).map_err(|error| from_files(py, error))
}
