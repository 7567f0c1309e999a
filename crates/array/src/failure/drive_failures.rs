//! Drive failures: at a scheduled time, or by the number of uncorrectable pages.
//!
//! md counts too. RAID-1 and RAID-10 fail a drive at `max_read_errors` (20; the count is halved every hour), RAID-5 and RAID-6
//! when more pages than there are stripe heads failed without a good read in between (`raid5_end_read_request` in
//! drivers/md/raid5.c). A plain count lets a study choose the point of a drive's decay.

use crate::raid::bits;
use interpulse_engine::SimTime;
use interpulse_settings::choices;

choices! {
    /// Cause of a drive failure.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FailureCause {
        /// scheduled by the configuration
        Chosen = "chosen",
        /// too many uncorrectable pages
        Errors = "errors",
    }
}

#[derive(Clone, Copy, Debug)]
pub struct DriveFailure {
    pub drive: u32,
    pub at: SimTime,
    pub cause: FailureCause,
    /// Uncorrectable pages before the failure.
    pub errors: u32,
    pub replaced: bool,
}

/// Failed drives and the rows that are missing as a result.
#[derive(Debug)]
pub(crate) struct DriveFailures {
    pub(crate) all: Vec<DriveFailure>,
    /// Positions with missing rows (bit mask).
    pub(crate) absent: u32,
    /// Rows rebuilt at each of these positions.
    pub(crate) held: Vec<u32>,
    /// Uncorrectable pages at each position.
    pub(crate) errors: Vec<u32>,
    /// Positions that have exceeded the error limit (bit mask).
    pub(crate) failing: u32,
    pub(crate) spares_used: u32,
}

impl DriveFailures {
    pub(crate) fn new(drives: u32) -> DriveFailures {
        let none = vec![0; drives as usize];
        let (held, errors) = (none.clone(), none);
        DriveFailures { all: Vec::new(), absent: 0, held, errors, failing: 0, spares_used: 0 }
    }

    /// Positions that do not hold `row` (bit mask).
    #[cold]
    pub(crate) fn missing(&self, row: u32) -> u32 {
        let mut missing = self.absent;
        for drive in bits(self.absent) {
            if row < self.held[drive as usize] {
                missing &= !(1 << drive);
            }
        }
        missing
    }

    /// Marks all rows before `row` as present at these positions.
    pub(crate) fn restore(&mut self, drives: u32, row: u32) {
        for drive in bits(drives) {
            let held = &mut self.held[drive as usize];
            *held = row.max(*held);
        }
    }
}
