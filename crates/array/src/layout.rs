//! Where a unit of the array lies: drive and row, and which drive holds the parity of a row.
//!
//! A *row* is one 4 KiB unit of every drive at the same address; a chunk is so many rows of one drive. Which unit lies where
//! is the level's ([`crate::level`]).

use crate::level::{Level, Shape, left_symmetric};
use interpulse_engine::divide::MOST_SHARES;

pub use crate::level::Place;

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
    #[inline(always)]
    fn shape(&self) -> Shape {
        Shape { drives: self.drives, chunk: self.chunk, rows: self.rows }
    }

    /// Units of the array.
    pub fn units(&self) -> u64 {
        self.level.units(&self.shape())
    }

    /// The drive with the (first) parity of `row`; only for levels with parity.
    #[inline]
    pub fn parity(&self, row: u32) -> u32 {
        debug_assert!(self.level.parities() > 0);
        left_symmetric::parity(&self.shape(), row)
    }

    /// The drives with parity of `row`, one bit each; only for levels with parity.
    #[inline]
    pub fn parity_mask(&self, row: u32) -> u32 {
        let first = self.parity(row);
        if self.level.parities() == 2 { 1 << first | 1 << self.shape().around(first + 1) } else { 1 << first }
    }

    /// What stands on `drive` in `row`, counted from the first parity to the right; only for levels with parity.
    #[inline]
    pub fn from_parity(&self, drive: u32, row: u32) -> u32 {
        left_symmetric::from_parity(&self.shape(), drive, row)
    }

    /// Where `unit` of the array lies; of copies the first one.
    #[inline(always)]
    pub fn place(&self, unit: u64) -> Place {
        self.level.place(&self.shape(), unit)
    }

    /// The unit of the array at a place; `None` for parity, and for a last chunk of RAID-10 that has no second one.
    pub fn unit_at(&self, drive: u32, row: u32) -> Option<u64> {
        let shape = self.shape();
        let number = self.level.chunk_at(&shape, drive, row)?;
        let unit = (number << shape.shift()) + u64::from(shape.within(row));
        (unit < self.units()).then_some(unit)
    }

    /// Every place of the unit whose first one is `first`.
    pub fn copies(&self, first: Place) -> impl Iterator<Item = Place> + use<> {
        let (level, shape) = (self.level, self.shape());
        (0..level.copies(self.drives)).map(move |k| level.copy(&shape, first, k))
    }

    /// Where `unit` lies, and how many units from there on, at most `most`, follow it on the same drive.
    #[inline(always)]
    pub fn run(&self, unit: u64, most: u64) -> (Place, u64) {
        let place = self.place(unit);
        let left = if self.level.stripes() {
            u64::from(self.chunk - self.shape().within(unit as u32))
        } else {
            self.units() - unit
        };
        (place, left.min(most))
    }
}

/// The layout of levels without copies, for where it is felt, in every read: all that does not depend on the unit is worked
/// out beforehand, the level included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Direct {
    /// Chunks of parity in a stripe.
    parities: u32,
    /// Each chunk of data lies on the drive behind that of the one before, but for so many drives that are passed over before each
    /// stripe: left-symmetric, data follow the parities around the end, and these go back by one, which makes up for one of them.
    skipped: u64,
    /// A chunk is this power of two.
    shift: u32,
    /// Shares among the chunks of data of a stripe, and among the drives.
    data: Shares,
    drives: Shares,
}

impl Direct {
    /// `None` for levels with copies.
    pub(crate) fn of(layout: &Layout) -> Option<Direct> {
        let parities = layout.level.parities();
        (!layout.level.mirrors()).then(|| Direct {
            parities,
            skipped: u64::from(parities.saturating_sub(1)),
            shift: layout.shape().shift(),
            data: Shares::among(layout.drives - parities),
            drives: Shares::among(layout.drives),
        })
    }

    /// Whether rows have parity.
    #[inline(always)]
    pub(crate) fn has_parity(&self) -> bool {
        self.parities > 0
    }

    /// Where the units from `first` to `last` lie, if that is on one drive and one after the other.
    #[inline(always)]
    pub(crate) fn place(&self, first: u64, last: u64) -> Option<Place> {
        let number = first >> self.shift;
        if last >> self.shift != number {
            return None;
        }
        let (stripe, _) = self.data.split(number);
        // As far into the chunk as the unit is into its own.
        let row = first - ((number - stripe) << self.shift);
        let (_, drive) = self.drives.split(number + self.skipped * (stripe + 1));
        Some(Place { drive: drive as u32, row: row as u32 })
    }
}

/// [`interpulse_engine::divide::split_among`] for shares that stay the same, at least two.
#[derive(Clone, Copy, Debug)]
struct Shares {
    shares: u64,
    /// `2^64 / shares`, rounded up.
    reciprocal: u64,
}

impl Shares {
    fn among(shares: u32) -> Shares {
        assert!((2..=MOST_SHARES).contains(&shares), "{shares} shares");
        Shares { shares: u64::from(shares), reciprocal: u64::MAX / u64::from(shares) + 1 }
    }

    /// `(n / shares, n % shares)`, for `n` below 2^52.
    #[inline(always)]
    fn split(self, n: u64) -> (u64, u64) {
        let q = ((u128::from(n) * u128::from(self.reciprocal)) >> 64) as u64;
        (q, n - q * self.shares)
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

    #[test]
    fn two_parities_side_by_side() {
        // Five drives, chunks of one unit:   Q  0  1  2  P
        //                                    3  4  5  P  Q
        //                                    7  8  P  Q  6
        let layout = Layout { level: Level::Raid6, drives: 5, chunk: 1, rows: 5 };
        let drawn = [
            [None, Some(0), Some(1), Some(2), None],
            [Some(3), Some(4), Some(5), None, None],
            [Some(7), Some(8), None, None, Some(6)],
            [Some(11), None, None, Some(9), Some(10)],
            [None, None, Some(12), Some(13), Some(14)],
        ];
        for (row, drives) in (0..).zip(drawn) {
            for (drive, unit) in (0..).zip(drives) {
                assert_eq!(layout.unit_at(drive, row), unit, "drive {drive}, row {row}");
            }
        }
        assert_eq!((layout.parity_mask(0), layout.parity_mask(1)), (0b1_0001, 0b1_1000));
    }

    #[test]
    fn copies_next_to_one_another() {
        // Three drives, chunks of one unit:  0  0  1
        //                                    1  2  2
        //                                    3  3  -
        let odd = Layout { level: Level::Raid10, drives: 3, chunk: 1, rows: 3 };
        let drawn = [[Some(0), Some(0), Some(1)], [Some(1), Some(2), Some(2)], [Some(3), Some(3), None]];
        for (row, drives) in (0..).zip(drawn) {
            for (drive, unit) in (0..).zip(drives) {
                assert_eq!(odd.unit_at(drive, row), unit, "drive {drive}, row {row}");
            }
        }
        assert_eq!(odd.units(), 4);
        let copies: Vec<Place> = odd.copies(odd.place(1)).collect();
        assert_eq!(copies, [Place { drive: 2, row: 0 }, Place { drive: 0, row: 1 }]);
        let even = Layout { level: Level::Raid10, drives: 4, chunk: 2, rows: 8 };
        let copies: Vec<Place> = even.copies(even.place(7)).collect();
        assert_eq!(copies, [Place { drive: 2, row: 3 }, Place { drive: 3, row: 3 }]);
    }

    proptest! {
        /// Every copy of a unit is a place of that unit and of no other, and the loss of drives that leaves none is told.
        #[test]
        fn a_unit_is_lost_with_all_its_copies(
            drives in 2u32..9, chunk in 0u32..3, stripes in 1u32..20, lost in any::<u32>()
        ) {
            let chunk = 1 << chunk;
            let layout = Layout { level: Level::Raid10, drives, chunk, rows: stripes * chunk };
            let lost = lost & ((1 << drives) - 1);
            let mut gone = false;
            for unit in 0..layout.units() {
                let copies: Vec<Place> = layout.copies(layout.place(unit)).collect();
                for at in &copies {
                    prop_assert!(at.drive < drives && at.row < layout.rows);
                    prop_assert_eq!(layout.unit_at(at.drive, at.row), Some(unit));
                }
                gone |= copies.iter().all(|at| lost >> at.drive & 1 == 1);
            }
            let survives = Level::Raid10.survives(drives, lost);
            prop_assert!(!(survives && gone));
            // Only a short array with an odd number of drives has not met all its pairs.
            prop_assert!(survives || gone || stripes < drives);
        }

        /// Every unit has one place, every place one unit, and every row its parities.
        #[test]
        fn places_and_units_are_one_to_one(
            parities in 0u32..3, drives in 4u32..9, chunk in 0u32..5, stripes in 1u32..20, at in any::<u64>(),
            many in 0u64..20
        ) {
            let level = [Level::Raid0, Level::Raid5, Level::Raid6][parities as usize];
            let chunk = 1 << chunk;
            let layout = Layout { level, drives, chunk, rows: stripes * chunk };
            let unit = at % layout.units();
            let place = layout.place(unit);
            let direct = Direct::of(&layout).unwrap();
            let (last, run) = (unit + many, layout.run(unit, many + 1));
            prop_assert_eq!(direct.place(unit, last), (run.1 == many + 1).then_some(place));
            prop_assert!(place.row < layout.rows && place.drive < drives);
            prop_assert_eq!(layout.unit_at(place.drive, place.row), Some(unit));
            let without: Vec<u32> = (0..drives).filter(|&d| layout.unit_at(d, place.row).is_none()).collect();
            prop_assert_eq!(without.len(), parities as usize);
            if parities > 0 {
                prop_assert_eq!(without.iter().fold(0, |mask, d| mask | 1 << d), layout.parity_mask(place.row));
            }
        }
    }
}
