//! Exceptions of the module, and conversion of core errors.

use std::any::Any;

use interpulse_embed::Error;
use interpulse_study::config::PlanError;
use interpulse_study::runner;
use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

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
    "The run could not be completed for a reason that the user can mend, such as a bad row in a trace. `partial` is the \
     JSON text of a result with the cases that did end, or None."
);
create_exception!(
    interpulse,
    InternalError,
    RunError,
    "A bug of interpulse: an audit failed or the simulator reached a state that it holds impossible."
);

create_exception!(
    interpulse,
    RequestError,
    PyValueError,
    "A request, an instant or a saved state is illegal for this device; the device is as before the call."
);

/// Converts an error of an embedded device to `ConfigError`, `RequestError`, `RunError` or `InternalError`.
pub fn from_embedding(py: Python<'_>, error: Error) -> PyErr {
    let text = error.to_string();
    let failed = |kind| from_run(py, &runner::RunError { kind, message: text.clone(), partial: None });
    match error {
        Error::Config(_) => ConfigError::new_err(text),
        Error::Time(_) | Error::Request(_) | Error::State(_) | Error::Finished => RequestError::new_err(text),
        Error::Resources(_) => failed(runner::RunErrorKind::User),
        Error::Bug(_) => failed(runner::RunErrorKind::Internal),
    }
}

/// As [`from_embedding`], where a state is a file that the user names: `ConfigError`.
pub fn from_files(py: Python<'_>, error: Error) -> PyErr {
    match error {
        Error::State(why) => ConfigError::new_err(why),
        other => from_embedding(py, other),
    }
}

/// Converts a configuration error to the exception.
pub fn from_config(error: &PlanError) -> PyErr {
    ConfigError::new_err(error.to_string())
}

/// Converts a failed run to `RunError` or `InternalError`, with the partial result in its attribute `partial`.
pub fn from_run(py: Python<'_>, error: &runner::RunError) -> PyErr {
    let raised = match error.kind {
        runner::RunErrorKind::User => RunError::new_err(error.message.clone()),
        runner::RunErrorKind::Internal => InternalError::new_err(error.message.clone()),
    };
    match raised.value(py).setattr("partial", error.partial.as_deref()) {
        Ok(()) => raised,
        Err(failed) => failed,
    }
}

/// Converts a panic to an exception.
pub fn from_panic(py: Python<'_>, panic: &(dyn Any + Send)) -> PyErr {
    from_run(py, &runner::RunError::of_panic(panic))
}
