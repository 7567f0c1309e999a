//! `raid0`: striped without redundancy.

use super::{PageAddress, RaidGeometry, RaidLevel};
use interpulse_engine::divide::split_among;

/// Striped without redundancy.
pub struct Raid0;

impl RaidLevel for Raid0 {
    #[inline(always)]
    fn place(&self, of: &RaidGeometry, unit: u64) -> PageAddress {
        let (number, within) = of.chunk_of(unit);
        let (stripe, drive) = split_among(number, of.drives);
        PageAddress { drive, row: of.row(stripe, within) }
    }

    #[inline]
    fn chunk_at(&self, of: &RaidGeometry, drive: u32, row: u32) -> Option<u64> {
        Some(u64::from(of.stripe(row)) * u64::from(of.drives) + u64::from(drive))
    }
}
