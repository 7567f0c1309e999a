//! `raid10`: striped over mirrored pairs, md's `near=2`: chunks go to the drives in order, each one twice.

use super::{PageAddress, RaidGeometry, RaidLevel};
use interpulse_engine::divide::split_among;

/// Striped, each chunk on two adjacent drives.
pub struct Raid10;

impl RaidLevel for Raid10 {
    #[inline]
    fn copies(&self, _: u32) -> u32 {
        2
    }

    fn survives(&self, drives: u32, lost: u32) -> bool {
        let all = ((1u64 << drives) - 1) as u32;
        // Every chunk is on two adjacent drives; with an even number of drives the pairs are fixed.
        let next = lost >> 1 | (lost & 1) << (drives - 1);
        let both = lost & next;
        let pairs = if drives.is_multiple_of(2) { 0x5555_5555 } else { all };
        both & pairs == 0
    }

    /// Whole mirrored chunks: with an odd total number of chunks the last one is unused.
    #[inline]
    fn units(&self, of: &RaidGeometry) -> u64 {
        (u64::from(of.stripe(of.rows)) * u64::from(of.drives) / 2) << of.shift()
    }

    #[inline(always)]
    fn place(&self, of: &RaidGeometry, unit: u64) -> PageAddress {
        let (number, within) = of.chunk_of(unit);
        let (stripe, drive) = split_among(number * 2, of.drives);
        PageAddress { drive, row: of.row(stripe, within) }
    }

    #[inline]
    fn chunk_at(&self, of: &RaidGeometry, drive: u32, row: u32) -> Option<u64> {
        Some((u64::from(of.stripe(row)) * u64::from(of.drives) + u64::from(drive)) / 2)
    }

    /// The next drive; after the last drive, the next chunk of the first.
    #[inline]
    fn copy(&self, of: &RaidGeometry, first: PageAddress, k: u32) -> PageAddress {
        if first.drive + k == of.drives {
            PageAddress { drive: 0, row: first.row + of.chunk }
        } else {
            PageAddress { drive: first.drive + k, ..first }
        }
    }
}
