//! Power loss: cut, recovery and the partial parity log.

pub(crate) mod partial_parity_log;
pub(crate) mod recovery;
