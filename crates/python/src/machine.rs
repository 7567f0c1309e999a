//! The machine, as runs share it that go on side by side.

use std::sync::Arc;
use std::time::Duration;

use interpulse_study::machine;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The cores and the memory that several runs share, each of which has a rank: what is idle goes to the lowest one.
#[pyclass(frozen, module = "interpulse._core")]
pub struct Machine {
    pub(crate) inner: Arc<machine::Machine>,
}

#[pymethods]
impl Machine {
    /// One of which so many cores may be used.
    #[new]
    fn new(cores: usize) -> Machine {
        Machine { inner: machine::Machine::new(cores) }
    }

    /// Waits no longer than `timeout_s` seconds for a core, with the interpreter lock released; returns whether there is one, which
    /// `give` then has to give back. Raises `ValueError` for a negative or absurd time.
    fn take(&self, py: Python<'_>, rank: u64, timeout_s: f64) -> PyResult<bool> {
        let timeout = Duration::try_from_secs_f64(timeout_s)
            .map_err(|e| PyValueError::new_err(format!("timeout_s = {timeout_s}: {e}")))?;
        Ok(py.detach(|| self.inner.take(rank, timeout)))
    }

    /// Gives back a core that `take` gave.
    fn give(&self) {
        self.inner.give();
    }
}
