//! What an array keeps for a loss of power.

use crate::ppl::LogRow;
use interpulse_engine::SimTime;
use std::collections::BTreeSet;

/// A cut and the way back from it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outage {
    /// When power was cut.
    pub(crate) at: SimTime,
    /// Requests of the host that had no answer.
    pub(crate) requests: u64,
    /// Rows that were being written.
    pub(crate) rows: u64,
    /// Rows whose parity the logs mended.
    pub(crate) mended: u64,
    /// When the host was served again.
    pub(crate) served: Option<SimTime>,
}

/// What an array keeps for a loss of power.
#[derive(Default)]
pub(crate) struct Recovery {
    pub(crate) outage: Option<Outage>,
    /// Rows whose parity may not fit.
    pub(crate) unsure: BTreeSet<u32>,
    /// The drive of the configuration failed meanwhile.
    pub(crate) failed: bool,
    /// Rows that the logs speak of.
    pub(crate) logged: Vec<LogRow>,
    /// Commands of the present phase of mending under way, and the phase.
    pub(crate) mending: (u32, u32),
}
