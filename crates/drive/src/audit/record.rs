//! Acknowledged versions of each unit.

use super::units::UnitLog;
use crate::numbers::Lpn;
use interpulse_engine::RequestId;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Acknowledged versions, for the power-loss audit.
#[derive(Clone, Default)]
pub struct LossRecord {
    /// Units and versions written or trimmed by each request so far.
    pub(super) requests: BTreeMap<RequestId, Vec<(Lpn, u32)>>,
    pub(super) acknowledged: HashMap<Lpn, u32>,
    pub(super) flushed: HashMap<Lpn, u32>,
    /// Completed versions that no completed flush covers, in order of completion, if flushes matter.
    pub(super) unflushed: Option<VecDeque<(Lpn, u32)>>,
    /// Entries removed from `unflushed`.
    pub(super) covered: u64,
    /// Flushes in flight, with the number of versions completed when they began.
    pub(super) flushes: HashMap<RequestId, u64>,
    pub(super) trimmed: HashMap<Lpn, u32>,
    /// Changes of units for a host that follows them.
    pub(super) units: Option<Box<UnitLog>>,
}
