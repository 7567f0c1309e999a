//! `raid5`: striped with one parity chunk per stripe, left-symmetric.

use super::{Joined, Place, Shape, left_symmetric};

/// Striped with one parity chunk per stripe.
pub struct Raid5;

impl Joined for Raid5 {
    #[inline(always)]
    fn parities(&self) -> u32 {
        1
    }

    fn least_drives(&self) -> u32 {
        3
    }

    fn outlives_outages(&self) -> bool {
        true
    }

    fn survives(&self, _: u32, lost: u32) -> bool {
        lost.count_ones() <= 1
    }

    #[inline]
    fn units(&self, of: &Shape) -> u64 {
        left_symmetric::units(of, 1)
    }

    #[inline(always)]
    fn place(&self, of: &Shape, unit: u64) -> Place {
        left_symmetric::place(of, 1, unit)
    }

    #[inline]
    fn chunk_at(&self, of: &Shape, drive: u32, row: u32) -> Option<u64> {
        left_symmetric::chunk_at(of, 1, drive, row)
    }
}
