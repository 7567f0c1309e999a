//! `raid1`: mirrored, every drive holds all data.

use super::{PageAddress, RaidGeometry, RaidLevel};

/// Mirrored on all drives.
pub struct Raid1;

impl RaidLevel for Raid1 {
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
    fn units(&self, of: &RaidGeometry) -> u64 {
        u64::from(of.rows)
    }

    #[inline(always)]
    fn place(&self, _: &RaidGeometry, unit: u64) -> PageAddress {
        PageAddress { drive: 0, row: unit as u32 }
    }

    #[inline]
    fn chunk_at(&self, of: &RaidGeometry, _: u32, row: u32) -> Option<u64> {
        Some(u64::from(of.stripe(row)))
    }

    #[inline]
    fn copy(&self, _: &RaidGeometry, first: PageAddress, k: u32) -> PageAddress {
        PageAddress { drive: k, ..first }
    }
}
