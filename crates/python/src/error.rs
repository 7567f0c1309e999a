//! The exceptions of the module and how the core's errors become one.

use interpulse_drive::runner;
use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};

create_exception!(
    interpulse,
    ConfigError,
    PyValueError,
    "The configuration, a trace or a file named by it cannot be used; the message says where and why."
);
create_exception!(
    interpulse,
    RunError,
    PyRuntimeError,
    "The run could not be completed for a reason that the user can mend, such as a bad row in a trace."
);
create_exception!(
    interpulse,
    InternalError,
    RunError,
    "A bug of interpulse: an audit failed or the simulator reached a state that it holds impossible."
);

/// A configuration error, as the exception of the same name.
pub fn from_config(error: &runner::ConfigError) -> PyErr {
    ConfigError::new_err(error.to_string())
}

/// A failed run, as `RunError` or `InternalError`.
pub fn from_run(error: &runner::RunError) -> PyErr {
    match error.kind {
        runner::RunErrorKind::User => RunError::new_err(error.message.clone()),
        runner::RunErrorKind::Internal => InternalError::new_err(error.message.clone()),
    }
}
