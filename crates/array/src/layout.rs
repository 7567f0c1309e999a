//! Where a unit of the array lies: drive and row, and which drive holds the parity of a row.
//!
//! A *row* is one 4 KiB unit of every drive at the same address; a chunk is so many rows of one drive. RAID-5 is
//! left-symmetric, the default of md: parity moves one drive to the left from stripe to stripe, and the data chunks of
//! a stripe follow it to the right, around the end.

use interpulse_drive::config::Level;
use interpulse_engine::divide::split_among;

/// A unit of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The drive's place in the array.
    pub drive: u32,
    /// Unit of the drive.
    pub row: u32,
}

/// How units are laid out.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// How the drives are joined.
    pub level: Level,
    /// Drives, parity included.
    pub drives: u32,
    /// Units of a chunk, a power of two.
    pub chunk: u32,
    /// Units used of each drive, a multiple of `chunk`.
    pub rows: u32,
}

impl Layout {
    /// Data chunks of a stripe.
    #[inline]
    pub fn data(&self) -> u32 {
        match self.level {
            Level::Raid0 => self.drives,
            Level::Raid1 => 1,
            Level::Raid5 => self.drives - 1,
        }
    }

    /// A chunk is this power of two: divisions would be felt in every request.
    #[inline]
    fn shift(&self) -> u32 {
        debug_assert!(self.chunk.is_power_of_two());
        self.chunk.trailing_zeros()
    }

    /// Units of the array.
    pub fn units(&self) -> u64 {
        u64::from(self.rows) * u64::from(self.data())
    }

    /// The drive with the parity of `row`; only for RAID-5.
    #[inline]
    pub fn parity(&self, row: u32) -> u32 {
        debug_assert_eq!(self.level, Level::Raid5);
        let stripe = row >> self.shift();
        self.drives - 1 - split_among(u64::from(stripe), self.drives).1
    }

    /// Where `unit` of the array lies; of mirrors the first one.
    #[inline]
    pub fn place(&self, unit: u64) -> Place {
        let (number, within) = (unit >> self.shift(), unit as u32 & (self.chunk - 1));
        let (stripe, index) = split_among(number, self.data());
        let row = ((stripe as u32) << self.shift()) + within;
        let drive = match self.level {
            Level::Raid0 => index,
            Level::Raid1 => 0,
            Level::Raid5 => {
                let right = self.parity(row) + 1 + index;
                if right < self.drives { right } else { right - self.drives }
            }
        };
        Place { drive, row }
    }

    /// The unit of the array at a place; `None` for parity.
    pub fn unit_at(&self, drive: u32, row: u32) -> Option<u64> {
        let index = match self.level {
            Level::Raid0 => drive,
            Level::Raid1 => 0,
            Level::Raid5 => {
                let from_parity = (drive + self.drives - self.parity(row)) % self.drives;
                from_parity.checked_sub(1)?
            }
        };
        let stripe = u64::from(row / self.chunk);
        let number = stripe * u64::from(self.data()) + u64::from(index);
        Some(number * u64::from(self.chunk) + u64::from(row % self.chunk))
    }

    /// Where `unit` lies, and how many units from there on, at most `most`, follow it on the same drive.
    #[inline]
    pub fn run(&self, unit: u64, most: u64) -> (Place, u64) {
        let place = self.place(unit);
        let left = match self.level {
            Level::Raid1 => self.units() - unit,
            _ => u64::from(self.chunk - (unit as u32 & (self.chunk - 1))),
        };
        (place, left.min(most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn left_symmetric_as_drawn() {
        // Four drives, chunks of one unit:   0  1  2  P
        //                                    4  5  P  3
        //                                    8  P  6  7
        //                                    P  9 10 11
        let layout = Layout { level: Level::Raid5, drives: 4, chunk: 1, rows: 8 };
        let drawn = [
            [Some(0), Some(1), Some(2), None],
            [Some(4), Some(5), None, Some(3)],
            [Some(8), None, Some(6), Some(7)],
            [None, Some(9), Some(10), Some(11)],
            [Some(12), Some(13), Some(14), None],
        ];
        for (row, drives) in (0..).zip(drawn) {
            for (drive, unit) in (0..).zip(drives) {
                assert_eq!(layout.unit_at(drive, row), unit, "drive {drive}, row {row}");
            }
        }
    }

    #[test]
    fn a_run_ends_with_its_chunk() {
        let layout = Layout { level: Level::Raid5, drives: 4, chunk: 16, rows: 160 };
        assert_eq!(layout.run(5, 100), (Place { drive: 0, row: 5 }, 11));
        assert_eq!(layout.run(5, 3).1, 3);
        assert_eq!(layout.run(16, 100).0, Place { drive: 1, row: 0 });
        // The second stripe begins after the parity that has moved to drive 2.
        assert_eq!(layout.run(48, 1).0, Place { drive: 3, row: 16 });
        let mirror = Layout { level: Level::Raid1, drives: 2, chunk: 1, rows: 160 };
        assert_eq!(mirror.run(5, 100), (Place { drive: 0, row: 5 }, 100));
    }

    proptest! {
        /// Every unit has one place, every place one unit, and every row of RAID-5 one parity.
        #[test]
        fn places_and_units_are_one_to_one(
            raid5 in any::<bool>(), drives in 3u32..9, chunk in 0u32..5, stripes in 1u32..20, at in any::<u64>()
        ) {
            let level = if raid5 { Level::Raid5 } else { Level::Raid0 };
            let chunk = 1 << chunk;
            let layout = Layout { level, drives, chunk, rows: stripes * chunk };
            let unit = at % layout.units();
            let place = layout.place(unit);
            prop_assert!(place.row < layout.rows && place.drive < drives);
            prop_assert_eq!(layout.unit_at(place.drive, place.row), Some(unit));
            let parities = (0..drives).filter(|&d| layout.unit_at(d, place.row).is_none()).count();
            prop_assert_eq!(parities, usize::from(raid5));
        }
    }
}
