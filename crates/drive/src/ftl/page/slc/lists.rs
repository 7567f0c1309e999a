//! Dirty lists of a drive with an SLC cache, by size of the write.

use crate::numbers::Lane;

/// Dirty lists of a drive with an SLC cache: of writes that go through it, and of larger ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlcLists {
    /// Lists of the drive, or of each lane: 1 or 2.
    pub(super) count: u32,
    /// Units of the largest write that goes through the cache.
    largest: u32,
    /// Dirty units worth a program in SLC mode, and in a native block.
    pub(super) worth: [u32; 2],
}

impl SlcLists {
    /// Lists for writes of up to `largest` units, if there is such a limit, and programs worth their units from `worth` on.
    pub(crate) fn new(largest: Option<u32>, worth: [u32; 2]) -> SlcLists {
        SlcLists { count: 1 + u32::from(largest.is_some()), largest: largest.unwrap_or(u32::MAX), worth }
    }

    /// List of a unit of a write of `units`, whose lane has the number `lane`.
    #[inline]
    pub(crate) fn list(&self, lane: usize, units: u32) -> usize {
        lane * self.count as usize + usize::from(units > self.largest)
    }

    pub(super) fn is_cached(&self, list: usize) -> bool {
        (list as u32).is_multiple_of(self.count)
    }

    pub(super) fn lane(&self, list: usize) -> Lane {
        Lane(list as u32 / self.count)
    }
}
