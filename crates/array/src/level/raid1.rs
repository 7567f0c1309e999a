//! `raid1`: every drive holds everything.

use super::{Joined, Place, Shape};

/// Copies on all drives.
pub struct Raid1;

impl Joined for Raid1 {
    #[inline]
    fn copies(&self, drives: u32) -> u32 {
        drives
    }

    #[inline]
    fn stripes(&self) -> bool {
        false
    }

    fn survives(&self, drives: u32, lost: u32) -> bool {
        lost != ((1u64 << drives) - 1) as u32
    }

    #[inline]
    fn units(&self, of: &Shape) -> u64 {
        u64::from(of.rows)
    }

    #[inline(always)]
    fn place(&self, _: &Shape, unit: u64) -> Place {
        Place { drive: 0, row: unit as u32 }
    }

    #[inline]
    fn chunk_at(&self, of: &Shape, _: u32, row: u32) -> Option<u64> {
        Some(u64::from(of.stripe(row)))
    }

    #[inline]
    fn copy(&self, _: &Shape, first: Place, k: u32) -> Place {
        Place { drive: k, ..first }
    }
}
