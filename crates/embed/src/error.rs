//! Errors of an embedded device.

use interpulse_study::config::PlanError;
use interpulse_study::runner::{RunError, RunErrorKind};
use std::any::Any;
use thiserror::Error;

/// Why a call failed. After all but [`Error::Bug`] the device is as before the call.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// The configuration cannot be used; the message names file, line and key.
    #[error("{0}")]
    Config(String),
    /// An instant lies before the present or behind the end of simulated time.
    #[error("{0}")]
    Time(String),
    /// A request is illegal for this device.
    #[error("{0}")]
    Request(String),
    /// A saved state cannot be read, written or used.
    #[error("{0}")]
    State(String),
    /// Memory is short, or a file of the cache cannot be read.
    #[error("{0}")]
    Resources(String),
    /// The device is finished and takes no more requests.
    #[error("the device is finished: create another one")]
    Finished,
    /// A bug of interpulse: an audit failed, or requests can never complete. The device is of no more use.
    #[error("{0}")]
    Bug(String),
}

impl From<PlanError> for Error {
    fn from(error: PlanError) -> Error {
        Error::Config(error.to_string())
    }
}

/// Error of a caught panic, for bindings: memory is short, or a bug.
pub fn message_of_panic(panic: &(dyn Any + Send)) -> Error {
    let RunError { kind, message, .. } = RunError::of_panic(panic);
    match kind {
        RunErrorKind::User => Error::Resources(message),
        RunErrorKind::Internal => Error::Bug(message),
    }
}
