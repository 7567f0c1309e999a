//! Machine for Python: cores and memory shared by concurrent runs.

use std::sync::Arc;
use std::time::Duration;

use interpulse_study::machine;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Cores and memory that several runs share by rank: an idle core goes to the lowest rank.
#[pyclass(frozen, module = "interpulse._core")]
pub struct Machine {
    pub(crate) inner: Arc<machine::Machine>,
}

#[pymethods]
impl Machine {
    /// A machine with this many usable cores.
    #[new]
    fn new(cores: usize) -> Machine {
        Machine { inner: machine::Machine::new(cores) }
    }

    /// Waits at most `timeout_s` seconds for a core, with the interpreter lock released; returns whether it got one,
    /// which `give` must return. Raises `ValueError` for a negative or too large time.
    fn take(&self, py: Python<'_>, rank: u64, timeout_s: f64) -> PyResult<bool> {
        let timeout = Duration::try_from_secs_f64(timeout_s)
            .map_err(|e| PyValueError::new_err(format!("timeout_s = {timeout_s}: {e}")))?;
        Ok(py.detach(|| self.inner.take(rank, timeout)))
    }

    /// Returns a core that `take` gave.
    fn give(&self) {
        self.inner.give();
    }
}
