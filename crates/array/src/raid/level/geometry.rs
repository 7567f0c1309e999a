//! RAID geometry: drives, chunk size and rows that every level distributes its pages over.

/// Address of a page: drive and row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageAddress {
    /// Array position of the drive.
    pub drive: u32,
    /// Page of the drive.
    pub row: u32,
}

/// Drives and chunks of an array.
#[derive(Clone, Copy, Debug)]
pub struct RaidGeometry {
    /// Drives, parity included.
    pub drives: u32,
    /// Pages of a chunk, a power of two.
    pub chunk: u32,
    /// Pages used of each drive, a multiple of `chunk`.
    pub rows: u32,
}

impl RaidGeometry {
    /// log2 of the chunk: shifts replace divisions on the hot path.
    #[inline]
    pub(crate) fn shift(&self) -> u32 {
        debug_assert!(self.chunk.is_power_of_two());
        self.chunk.trailing_zeros()
    }

    /// Chunk number of `unit` and offset in the chunk.
    #[inline]
    pub(crate) fn chunk_of(&self, unit: u64) -> (u64, u32) {
        (unit >> self.shift(), self.within(unit as u32))
    }

    /// Offset of a page in its chunk.
    #[inline]
    pub(crate) fn within(&self, unit: u32) -> u32 {
        unit & (self.chunk - 1)
    }

    /// Stripe of `row`.
    #[inline]
    pub(crate) fn stripe(&self, row: u32) -> u32 {
        row >> self.shift()
    }

    /// Row at offset `within` of `stripe`.
    #[inline]
    pub(crate) fn row(&self, stripe: u64, within: u32) -> u32 {
        ((stripe as u32) << self.shift()) + within
    }

    /// Reduces a drive number below `2 * drives` modulo `drives`.
    #[inline]
    pub(crate) fn around(&self, drive: u32) -> u32 {
        if drive < self.drives { drive } else { drive - self.drives }
    }
}
