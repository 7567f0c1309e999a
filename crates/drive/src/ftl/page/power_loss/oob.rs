//! Out-of-band data in the spare bytes of each page.
//!
//! A program stores with each unit its logical unit, the version of the data (a number that increases with each host write
//! of the drive and that garbage collection copies) and the number of the program operation. The higher version is the
//! newer data; of equal versions the later program is the copy.

use crate::memory::filled;
use crate::numbers::{Lpn, Ppu};

/// Content of an erased, torn or padding unit.
pub const NOTHING: Lpn = Lpn(u32::MAX);

/// Spare bytes of one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spare {
    /// Logical unit, or [`NOTHING`].
    pub lpn: Lpn,
    /// Version of the data; 0 for preconditioned data.
    pub version: u32,
    /// Number of the program operation that wrote it; 0 before the start.
    pub written: u32,
}

/// Instant, as the last program and version numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Program operations ended.
    pub order: u32,
    /// Newest version.
    pub version: u32,
}

const BLANK: Spare = Spare { lpn: NOTHING, version: 0, written: 0 };

/// Spare bytes of a drive, and the counters of versions and programs.
#[derive(Clone)]
pub struct Oob {
    spares: Vec<Spare>,
    version: u32,
    written: u32,
}

impl Oob {
    /// Spare bytes of `units` erased units.
    pub fn new(units: u32) -> Oob {
        Oob { spares: filled(BLANK, units as usize), version: 0, written: 0 }
    }

    /// Bytes of memory for `units` units.
    pub fn bytes(units: u64) -> u64 {
        units * size_of::<Spare>() as u64
    }

    /// New version for a host write or trim.
    pub fn next_version(&mut self) -> u32 {
        self.version =
            self.version.checked_add(1).expect("a drive takes fewer than 2^32 writes and trims of 4 KiB");
        self.version
    }

    /// Newest version.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Number of the last program that ended.
    pub fn written(&self) -> u32 {
        self.written
    }

    /// Current values of both counters.
    pub fn mark(&self) -> Mark {
        Mark { order: self.written, version: self.version }
    }

    /// Counts an ended program; returns its number.
    pub fn program(&mut self) -> u32 {
        self.written =
            self.written.checked_add(1).expect("a drive takes fewer than 2^32 writes and trims of 4 KiB");
        self.written
    }

    /// Sets the spare bytes of unit `ppu`.
    pub fn write(&mut self, ppu: Ppu, spare: Spare) {
        self.spares[ppu.index()] = spare;
    }

    /// Spare bytes of unit `ppu`.
    pub fn read(&self, ppu: Ppu) -> Spare {
        self.spares[ppu.index()]
    }

    /// Erases the units from `first` on.
    pub fn erase(&mut self, first: Ppu, units: u32) {
        self.spares[first.index()..(first + units).index()].fill(BLANK);
    }
}
