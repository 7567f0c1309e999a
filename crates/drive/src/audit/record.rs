//! Acknowledged versions of each unit.

use crate::numbers::Lpn;
use interpulse_engine::RequestId;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// What the host has been told.
#[derive(Clone, Default)]
pub struct LossRecord {
    /// Unit and version of what each request has written or trimmed so far.
    pub(super) requests: BTreeMap<RequestId, Vec<(Lpn, u32)>>,
    pub(super) acknowledged: HashMap<Lpn, u32>,
    pub(super) flushed: HashMap<Lpn, u32>,
    /// Completed versions that no completed flush covers, in order of completion, if flushes matter.
    pub(super) unflushed: Option<VecDeque<(Lpn, u32)>>,
    /// Entries that have left `unflushed`.
    pub(super) covered: u64,
    /// Flushes under way: what had been completed when they began.
    pub(super) flushes: HashMap<RequestId, u64>,
    pub(super) trimmed: HashMap<Lpn, u32>,
}
