//! Power loss of all drives and of the host at once, and the recovery after it.
//!
//! The stripe cache is lost; each drive keeps the pages that survived. Rows that were being written may then have inconsistent
//! parity. With `consistency = "resync"` the parity of every row is recomputed beside the host load; a drive failure before
//! that loses pages that no request was writing: the write hole. With `"ppl"` the logs name the rows to recover, and the host
//! is served after their recovery.

use crate::power_loss::partial_parity_log::LogRow;
use interpulse_engine::SimTime;
use std::collections::BTreeSet;

/// Power cut and the recovery after it.
#[derive(Clone, Debug, Default)]
pub struct PowerCut {
    /// Time of the cut.
    pub at: SimTime,
    /// Requests that were outstanding.
    pub requests: u64,
    /// Rows that were being written.
    pub rows: u64,
    /// Rows whose parity was recovered from the logs.
    pub recovered: u64,
    /// When the host was served again.
    pub served: Option<SimTime>,
}

#[derive(Default)]
pub(crate) struct PowerRecovery {
    pub(crate) power_cuts: Vec<PowerCut>,
    /// Rows whose parity may be inconsistent.
    pub(crate) inconsistent: BTreeSet<u32>,
    /// The scheduled drive failure happened during the outage.
    pub(crate) failed: bool,
    pub(crate) logged: Vec<LogRow>,
    /// Commands in flight of the recovery phase, and its number.
    pub(crate) phase: (u32, u32),
}

impl PowerRecovery {
    /// The cut that is being recovered from.
    pub(crate) fn last_cut(&mut self) -> &mut PowerCut {
        self.power_cuts.last_mut().expect("power was cut")
    }
}
