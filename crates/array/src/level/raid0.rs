//! `raid0`: striped without redundancy.

use super::{Joined, Place, Shape};
use interpulse_engine::divide::split_among;

/// Striped without redundancy.
pub struct Raid0;

impl Joined for Raid0 {
    #[inline(always)]
    fn place(&self, of: &Shape, unit: u64) -> Place {
        let (number, within) = of.chunk_of(unit);
        let (stripe, drive) = split_among(number, of.drives);
        Place { drive, row: of.row(stripe, within) }
    }

    #[inline]
    fn chunk_at(&self, of: &Shape, drive: u32, row: u32) -> Option<u64> {
        Some(u64::from(of.stripe(row)) * u64::from(of.drives) + u64::from(drive))
    }
}
