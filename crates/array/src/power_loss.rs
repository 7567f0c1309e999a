//! Power loss: cut, recovery and the partial parity log.

mod log_writes;
pub(crate) mod partial_parity_log;
mod power_cut_handling;
pub(crate) mod recovery;
