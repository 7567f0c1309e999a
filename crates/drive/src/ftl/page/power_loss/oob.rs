//! Out-of-band data in the spare bytes of each page.
//!
//! A program stores with each unit its logical unit, the version of the data (a number that rises from one write of the
//! host to the next over the whole drive, and that garbage collection copies) and the number of the program operation.
//! Of two copies the one with the higher version is the newer data; of equal versions the later program is the copy.

use crate::memory::filled;
use crate::numbers::{Lpn, Ppu};

/// A unit that says nothing: erased, torn, or padding.
pub const NOTHING: Lpn = Lpn(u32::MAX);

/// The spare bytes of one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spare {
    /// The logical unit, or [`NOTHING`].
    pub lpn: Lpn,
    /// Version of the data; what preconditioning wrote has version 0.
    pub version: u32,
    /// Number of the program operation that wrote it; 0 before the start.
    pub written: u32,
}

/// An instant, as the numbers that went into spare bytes before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Program operations that have ended.
    pub order: u32,
    /// The newest version.
    pub version: u32,
}

const BLANK: Spare = Spare { lpn: NOTHING, version: 0, written: 0 };

/// The spare bytes of a drive, and the numbers that go into them.
#[derive(Clone)]
pub struct Oob {
    spares: Vec<Spare>,
    version: u32,
    written: u32,
}

impl Oob {
    /// Of `units` units that say nothing.
    pub fn new(units: u32) -> Oob {
        Oob { spares: filled(BLANK, units as usize), version: 0, written: 0 }
    }

    /// Bytes of memory that `units` units take.
    pub fn bytes(units: u64) -> u64 {
        units * size_of::<Spare>() as u64
    }

    /// A version for data that the host writes or trims now.
    pub fn next_version(&mut self) -> u32 {
        self.version =
            self.version.checked_add(1).expect("a drive takes fewer than 2^32 writes and trims of 4 KiB");
        self.version
    }

    /// The newest version there is.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The number of the last program that has ended.
    pub fn written(&self) -> u32 {
        self.written
    }

    /// Where both numbers stand.
    pub fn mark(&self) -> Mark {
        Mark { order: self.written, version: self.version }
    }

    /// A program has ended; returns its number.
    pub fn program(&mut self) -> u32 {
        self.written =
            self.written.checked_add(1).expect("a drive takes fewer than 2^32 writes and trims of 4 KiB");
        self.written
    }

    /// Unit `ppu` holds `lpn` from now on.
    pub fn write(&mut self, ppu: Ppu, spare: Spare) {
        self.spares[ppu.index()] = spare;
    }

    /// What unit `ppu` says.
    pub fn read(&self, ppu: Ppu) -> Spare {
        self.spares[ppu.index()]
    }

    /// The units from `first` on are erased.
    pub fn erase(&mut self, first: Ppu, units: u32) {
        self.spares[first.index()..(first + units).index()].fill(BLANK);
    }
}
