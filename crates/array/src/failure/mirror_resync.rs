//! Mirror resync for RAID-1 and RAID-10: brings copies into line for a rebuild, a scrub or a failed read.
//!
//! The rows are closed to host writes, and reads start after the host writes in flight to them; md's barriers do the same for
//! wider stretches. Otherwise an older copy could overwrite a newer one. A page that its drive cannot correct is read from
//! another copy and written back (`fix_read_error` in drivers/md/raid1.c).

use crate::raid::layout::PageAddress;
use interpulse_engine::RequestId;

interpulse_engine::numbers! {
    /// Number of a mirror resync.
    CopyId
}

/// Range of array sectors; `to` is exclusive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sectors {
    pub(crate) from: u64,
    pub(crate) to: u64,
}

/// Read of `rows` rows from the `k`-th; `tried` are the drives read before (bit mask).
#[derive(Clone, Copy, Debug)]
pub(crate) struct CopyRead {
    pub(crate) id: CopyId,
    pub(crate) k: u32,
    pub(crate) rows: u32,
    pub(crate) tried: u64,
}

/// Reason of a mirror resync.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ResyncReason {
    /// The drives at positions `to` (bit mask) lack the rows from `row`.
    Rebuild {
        to: u32,
        row: u32,
    },
    Scrub,
    /// The drive at this position has failed a host read.
    Repair {
        job: RequestId,
        read: Sectors,
        failures: u32,
        place: u32,
        physical: usize,
    },
}

#[derive(Debug)]
pub(crate) struct MirrorResync {
    pub(crate) first: PageAddress,
    pub(crate) rows: u32,
    pub(crate) why: ResyncReason,
    /// Host writes in flight to the rows.
    pub(crate) writes: u32,
    pub(crate) commands: u32,
    /// Values of the sampled rows, for a rebuild.
    pub(crate) held: Vec<(u32, u64)>,
    /// Uncorrectable pages, by position and row index.
    pub(crate) bad: Vec<(u32, u32)>,
    /// Some page was readable from no drive.
    pub(crate) lost: bool,
}

impl MirrorResync {
    pub(crate) fn closes(&self, first: PageAddress, rows: u32) -> bool {
        let overlaps = first.row < self.first.row + self.rows && self.first.row < first.row + rows;
        first.drive == self.first.drive && overlaps
    }
}
