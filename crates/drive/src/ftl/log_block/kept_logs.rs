//! Log blocks and map of a drive between runs.

use super::geometry::LogicalBlock;
use super::logs::LogBlock;

/// What a drive with log blocks has beyond its data blocks after a run.
#[derive(Clone, Debug)]
pub(super) struct KeptLogs {
    /// Location of each unit.
    pub(super) entries: Vec<u32>,
    /// Programs of each super block of the drive's layout.
    pub(super) programs_done: Vec<u32>,
    /// Erases of single sub-blocks of each super block since it was erased whole; empty where all are whole.
    pub(super) erased_apart: Vec<u32>,
    /// Programs of host data so far.
    pub(super) clock: u64,
    pub(super) lanes: Vec<KeptLane>,
}

/// Log blocks of a lane.
#[derive(Clone, Debug, Default)]
pub(super) struct KeptLane {
    /// With whether it takes a sequential stream.
    pub(super) logs: Vec<(LogBlock, bool)>,
    pub(super) starting: Option<LogicalBlock>,
    pub(super) was_sequential: bool,
}
