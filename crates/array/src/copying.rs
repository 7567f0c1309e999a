//! Rows whose copies are brought into line.

use crate::layout::Place;
use interpulse_engine::RequestId;

interpulse_engine::numbers! {
    /// Rows being copied.
    CopyId
}

/// Sectors of the array, from the first to before the last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sectors {
    pub(crate) from: u64,
    pub(crate) to: u64,
}

/// A read of rows being copied, from the `k`-th on. `tried` are the drives that they have been asked of, one bit each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CopyRead {
    pub(crate) id: CopyId,
    pub(crate) k: u32,
    pub(crate) rows: u32,
    pub(crate) tried: u64,
}

/// Why copies are looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Why {
    /// New drives in these places, one bit each, lack the rows, the first of which is this one.
    Rebuild { to: u32, row: u32 },
    /// They are compared.
    Scrub,
    /// This drive, in this place, has failed this read of the host.
    Repair { job: RequestId, read: Sectors, failures: u32, place: u32, physical: usize },
}

/// Rows being looked at.
#[derive(Debug)]
pub(crate) struct Copying {
    /// The first copy of the first row.
    pub(crate) first: Place,
    pub(crate) rows: u32,
    pub(crate) why: Why,
    /// Writes of the host under way to one of the rows.
    pub(crate) writes: u32,
    /// Commands under way for it.
    pub(crate) commands: u32,
    /// What the followed ones of its rows hold, for a rebuild.
    pub(crate) held: Vec<(u32, u64)>,
    /// Pages that the drives in these places could not correct.
    pub(crate) bad: Vec<(u32, u32)>,
    /// Some page could be had from no drive.
    pub(crate) lost: bool,
}

impl Copying {
    pub(crate) fn closes(&self, first: Place, rows: u32) -> bool {
        let meets = first.row < self.first.row + self.rows && self.first.row < first.row + rows;
        first.drive == self.first.drive && meets
    }
}
