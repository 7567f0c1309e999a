//! State of the drives at the end of a run, for the result.

use crate::config::Case;
use interpulse_drive::Drive;
use interpulse_drive::Wear;
use interpulse_workload::TraceSummary;

/// State of the drives at the end of a run.
pub(super) struct DriveState<'a> {
    /// The case.
    pub case: &'a Case,
    /// Pages not programmed since their erase, at the end.
    pub free_pages: u64,
    /// P/E cycles over all super blocks at the end.
    pub wear: Wear,
    /// Super blocks of all drives.
    pub super_blocks: u32,
    /// First readings of the replayed traces.
    pub traces: Vec<TraceSummary>,
}

impl DriveState<'_> {
    pub fn of<'a>(case: &'a Case, drives: &[Drive], traces: Vec<TraceSummary>) -> DriveState<'a> {
        let wear = drives.iter().map(Drive::wear);
        DriveState {
            case,
            free_pages: drives.iter().map(Drive::free_pages).sum(),
            wear: wear.reduce(Wear::and).expect("a case has drives"),
            super_blocks: drives.iter().map(Drive::super_blocks).sum(),
            traces,
        }
    }
}
