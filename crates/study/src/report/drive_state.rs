//! State of the drives at the end of a run, for the result.

use crate::config::Case;
use interpulse_drive::Drive;
use interpulse_drive::Wear;
use interpulse_engine::Bytes;
use interpulse_flash::cell_mode::CellMode;
use interpulse_workload::TraceSummary;

/// SLC caches of the drives at the end of a run, together.
pub(super) struct SlcState {
    /// Most data that they hold.
    pub capacity: Bytes,
    /// Data that their super blocks in use hold in SLC mode.
    pub used: Bytes,
    /// Cycles of all super blocks in SLC mode.
    pub cycles: u64,
}

impl SlcState {
    fn of(drives: &[Drive]) -> Option<SlcState> {
        let mut sum: Option<SlcState> = None;
        for drive in drives {
            let slc = drive.slc()?;
            let block = u64::from(drive.layout().units_per_block_in(CellMode::Slc));
            let bytes = |blocks: u64| blocks * block * drive.spec().geometry.unit_bytes;
            let of = sum.get_or_insert(SlcState { capacity: Bytes(0), used: Bytes(0), cycles: 0 });
            of.capacity.0 += bytes(slc.most_blocks());
            of.used.0 += bytes(slc.used_blocks());
            of.cycles += slc.cycles();
        }
        sum
    }
}

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
    /// SLC caches at the end, if the drives have any.
    pub slc: Option<SlcState>,
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
            slc: SlcState::of(drives),
            traces,
        }
    }
}
