//! What can be wrong with a workload.

use crate::trace::problem::TraceError;
use std::fmt;

/// Why a flow cannot be made or cannot go on. After an error a flow must not be asked again.
///
/// Both variants are boxed: the result of [`crate::Flow::next`] is on the hot path and stays small.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// The description of a flow cannot be carried out.
    #[error(transparent)]
    Spec(Box<SpecError>),
    /// A trace file cannot be replayed.
    #[error(transparent)]
    Trace(Box<TraceError>),
}

/// A value in a flow's description that is not legal.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("flow `{flow}`: `{field}` is {found}; legal: {legal}")]
pub struct SpecError {
    /// Name of the flow.
    pub flow: String,
    /// The field, as it is called in the spec structs.
    pub field: String,
    /// The value seen.
    pub found: String,
    /// What would be legal.
    pub legal: String,
}

/// A [`SpecError`] whose flow is not known yet; generators make these, [`crate::Flow::new`] adds the name.
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

    /// Fails unless the value seen `holds`.
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
