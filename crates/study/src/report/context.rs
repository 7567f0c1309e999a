//! What a result says of the drives besides what the run measured.

use crate::config::Case;
use interpulse_drive::drive::Drive;
use interpulse_drive::ftl::Wear;
use interpulse_workload::TraceSummary;

/// What a result says of the drives besides what the run measured.
pub(super) struct Context<'a> {
    /// The case that ran.
    pub case: &'a Case,
    /// Effective spare factor of a drive: (usable - logical) / logical, free reserve and open blocks excluded.
    pub effective_spare: f64,
    /// Pages to which nothing had been programmed since their erase at the end.
    pub free_pages: u64,
    /// P/E cycles over all super blocks at the end.
    pub wear: Wear,
    /// Super blocks of all drives.
    pub super_blocks: u32,
    /// What the first reading of each replayed trace found.
    pub traces: Vec<TraceSummary>,
}

impl Context<'_> {
    pub fn of<'a>(case: &'a Case, drives: &[Drive], traces: Vec<TraceSummary>) -> Context<'a> {
        let wear = drives.iter().map(|drive| drive.wear());
        Context {
            case,
            effective_spare: drives[0].effective_spare().factor,
            free_pages: drives.iter().map(|drive| drive.free_pages()).sum(),
            wear: wear.reduce(Wear::and).expect("a case has drives"),
            super_blocks: drives.iter().map(|drive| drive.layout().super_blocks()).sum(),
            traces,
        }
    }
}
