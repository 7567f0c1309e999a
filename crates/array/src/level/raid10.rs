//! `raid10`: striped over pairs of copies, md's `near=2`: chunks are dealt out to the drives in order, each one twice.

use super::{Joined, Place, Shape};
use interpulse_engine::divide::split_among;

/// Striped, each chunk on two drives next to one another.
pub struct Raid10;

impl Joined for Raid10 {
    #[inline]
    fn copies(&self, _: u32) -> u32 {
        2
    }

    fn survives(&self, drives: u32, lost: u32) -> bool {
        let all = ((1u64 << drives) - 1) as u32;
        // Every chunk is on two neighbours; with an even number of drives the pairs are always the same.
        let next = lost >> 1 | (lost & 1) << (drives - 1);
        let both = lost & next;
        let pairs = if drives.is_multiple_of(2) { 0x5555_5555 } else { all };
        both & pairs == 0
    }

    /// Copies of whole chunks: with an odd number of chunks in all, the last one is not used.
    #[inline]
    fn units(&self, of: &Shape) -> u64 {
        (u64::from(of.stripe(of.rows)) * u64::from(of.drives) / 2) << of.shift()
    }

    #[inline(always)]
    fn place(&self, of: &Shape, unit: u64) -> Place {
        let (number, within) = of.chunk_of(unit);
        let (stripe, drive) = split_among(number * 2, of.drives);
        Place { drive, row: of.row(stripe, within) }
    }

    #[inline]
    fn chunk_at(&self, of: &Shape, drive: u32, row: u32) -> Option<u64> {
        Some((u64::from(of.stripe(row)) * u64::from(of.drives) + u64::from(drive)) / 2)
    }

    /// The next drive, after the last one the first drive's next chunk.
    #[inline]
    fn copy(&self, of: &Shape, first: Place, k: u32) -> Place {
        if first.drive + k == of.drives {
            Place { drive: 0, row: first.row + of.chunk }
        } else {
            Place { drive: first.drive + k, ..first }
        }
    }
}
