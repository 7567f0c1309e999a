//! Drives with chunks: what every level deals its units out to.

/// A unit of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The drive's place in the array.
    pub drive: u32,
    /// Unit of the drive.
    pub row: u32,
}

/// So many drives, alike.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Drives, parity included.
    pub drives: u32,
    /// Units of a chunk, a power of two.
    pub chunk: u32,
    /// Units used of each drive, a multiple of `chunk`.
    pub rows: u32,
}

impl Shape {
    /// A chunk is this power of two: divisions would be felt in every request.
    #[inline]
    pub(crate) fn shift(&self) -> u32 {
        debug_assert!(self.chunk.is_power_of_two());
        self.chunk.trailing_zeros()
    }

    /// The chunk of the array that `unit` lies in, by number, and where in it.
    #[inline]
    pub(crate) fn chunk_of(&self, unit: u64) -> (u64, u32) {
        (unit >> self.shift(), self.within(unit as u32))
    }

    /// Where in its chunk a unit or a row lies.
    #[inline]
    pub(crate) fn within(&self, unit: u32) -> u32 {
        unit & (self.chunk - 1)
    }

    /// The chunk of a drive that `row` lies in.
    #[inline]
    pub(crate) fn stripe(&self, row: u32) -> u32 {
        row >> self.shift()
    }

    /// Row `within` of chunk `stripe` of a drive.
    #[inline]
    pub(crate) fn row(&self, stripe: u64, within: u32) -> u32 {
        ((stripe as u32) << self.shift()) + within
    }

    /// A drive counted past the last one, and less than once around.
    #[inline]
    pub(crate) fn around(&self, drive: u32) -> u32 {
        if drive < self.drives { drive } else { drive - self.drives }
    }
}
