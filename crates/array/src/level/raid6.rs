//! `raid6`: striped with two parity chunks per stripe, left-symmetric.

use super::{Joined, Place, Shape, left_symmetric};

/// Striped with two parity chunks per stripe.
pub struct Raid6;

impl Joined for Raid6 {
    #[inline(always)]
    fn parities(&self) -> u32 {
        2
    }

    fn least_drives(&self) -> u32 {
        4
    }

    fn survives(&self, _: u32, lost: u32) -> bool {
        lost.count_ones() <= 2
    }

    #[inline]
    fn units(&self, of: &Shape) -> u64 {
        left_symmetric::units(of, 2)
    }

    #[inline(always)]
    fn place(&self, of: &Shape, unit: u64) -> Place {
        left_symmetric::place(of, 2, unit)
    }

    #[inline]
    fn chunk_at(&self, of: &Shape, drive: u32, row: u32) -> Option<u64> {
        left_symmetric::chunk_at(of, 2, drive, row)
    }
}
