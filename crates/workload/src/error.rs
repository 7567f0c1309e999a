//! Errors of flows: illegal descriptions and trace files that cannot be replayed.

use crate::trace::problem::TraceError;
use std::fmt;

/// Error of creating or advancing a flow; the flow is unusable afterwards.
///
/// Both variants are boxed because the result of [`crate::Flow::next`] is on the hot path and must stay small.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// Illegal value in the description of a flow.
    #[error(transparent)]
    Spec(Box<SpecError>),
    /// Trace file that cannot be replayed.
    #[error(transparent)]
    Trace(Box<TraceError>),
}

/// Illegal value in the description of a flow.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("flow `{flow}`: `{field}` is {found}; legal: {legal}")]
pub struct SpecError {
    /// Name of the flow.
    pub flow: String,
    /// Field name, as in the spec structs.
    pub field: String,
    /// Value found.
    pub found: String,
    /// Legal values.
    pub legal: String,
}

/// [`SpecError`] without the flow name, which [`crate::Flow::new`] adds.
pub(crate) struct Illegal {
    pub(crate) field: String,
    found: String,
    pub(crate) legal: String,
}

impl Illegal {
    pub(crate) fn new(
        field: impl Into<String>,
        found: impl fmt::Display,
        legal: impl Into<String>,
    ) -> Illegal {
        Illegal { field: field.into(), found: found.to_string(), legal: legal.into() }
    }

    pub(crate) fn unless(
        holds: bool,
        field: impl Into<String>,
        found: impl fmt::Display,
        legal: impl Into<String>,
    ) -> Result<(), Illegal> {
        if holds { Ok(()) } else { Err(Illegal::new(field, found, legal)) }
    }

    pub(crate) fn in_flow(self, flow: &str) -> WorkloadError {
        let Illegal { field, found, legal } = self;
        WorkloadError::Spec(Box::new(SpecError { flow: flow.to_owned(), field, found, legal }))
    }
}
