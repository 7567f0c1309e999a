//! Layout: map between array pages and drive pages, and the parity drives of a row.
//!
//! A *row* is the 4 KiB page at the same address of every drive; a chunk is a number of consecutive rows on one drive. The
//! level defines the map ([`crate::raid::level`]).

use crate::raid::level::{Level, RaidGeometry, left_symmetric};
use interpulse_engine::divide::MOST_SHARES;

pub use crate::raid::level::PageAddress;

/// Layout of an array.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// RAID level.
    pub level: Level,
    /// Drives, parity included.
    pub drives: u32,
    /// Pages of a chunk, a power of two.
    pub chunk: u32,
    /// Pages used of each drive, a multiple of `chunk`.
    pub rows: u32,
}

impl Layout {
    #[inline(always)]
    fn geometry(&self) -> RaidGeometry {
        RaidGeometry { drives: self.drives, chunk: self.chunk, rows: self.rows }
    }

    /// Capacity in pages.
    pub fn units(&self) -> u64 {
        self.level.units(&self.geometry())
    }

    /// Drive with P of `row`; only for levels with parity.
    #[inline]
    pub fn parity(&self, row: u32) -> u32 {
        debug_assert!(self.level.parities() > 0);
        left_symmetric::parity(&self.geometry(), row)
    }

    /// Drives with parity of `row` (bit mask); only for levels with parity.
    #[inline]
    pub fn parity_mask(&self, row: u32) -> u32 {
        let first = self.parity(row);
        if self.level.parities() == 2 {
            1 << first | 1 << self.geometry().around(first + 1)
        } else {
            1 << first
        }
    }

    /// Index of `drive` in `row`, counted from P to the right; only for levels with parity.
    #[inline]
    pub fn from_parity(&self, drive: u32, row: u32) -> u32 {
        left_symmetric::from_parity(&self.geometry(), drive, row)
    }

    /// Address of array page `unit`; for mirrors, of the first copy.
    #[inline(always)]
    pub fn place(&self, unit: u64) -> PageAddress {
        self.level.place(&self.geometry(), unit)
    }

    /// Array page at an address; `None` for parity and for an unpaired last chunk of RAID-10.
    pub fn unit_at(&self, drive: u32, row: u32) -> Option<u64> {
        let geometry = self.geometry();
        let number = self.level.chunk_at(&geometry, drive, row)?;
        let unit = (number << geometry.shift()) + u64::from(geometry.within(row));
        (unit < self.units()).then_some(unit)
    }

    /// Addresses of all copies of the page whose first copy is `first`.
    pub fn copies(&self, first: PageAddress) -> impl Iterator<Item = PageAddress> + use<> {
        let (level, geometry) = (self.level, self.geometry());
        (0..level.copies(self.drives)).map(move |k| level.copy(&geometry, first, k))
    }

    /// Address of `unit`, and the number of contiguous pages on the same drive, at most `most`.
    #[inline(always)]
    pub fn run(&self, unit: u64, most: u64) -> (PageAddress, u64) {
        let place = self.place(unit);
        let left = if self.level.stripes() {
            u64::from(self.chunk - self.geometry().within(unit as u32))
        } else {
            self.units() - unit
        };
        (place, left.min(most))
    }
}

/// Precomputed layout of levels without copies for the hot paths.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FastLayout {
    /// Parity chunks per stripe.
    parities: u32,
    /// Data chunks go to consecutive drives, except that this many drives are skipped before each stripe: left-symmetric
    /// data follow the parities around the end, and the parities move back by one drive, which cancels one of them.
    skipped: u64,
    /// log2 of the chunk.
    shift: u32,
    /// Divisors: data chunks of a stripe, and drives.
    data: Divisor,
    drives: Divisor,
}

impl FastLayout {
    /// `None` for levels with copies.
    pub(crate) fn of(layout: &Layout) -> Option<FastLayout> {
        let parities = layout.level.parities();
        (!layout.level.mirrors()).then(|| FastLayout {
            parities,
            skipped: u64::from(parities.saturating_sub(1)),
            shift: layout.geometry().shift(),
            data: Divisor::new(layout.drives - parities),
            drives: Divisor::new(layout.drives),
        })
    }

    #[inline(always)]
    pub(crate) fn has_parity(&self) -> bool {
        self.parities > 0
    }

    /// Address of the pages `first` to `last` if they are contiguous on one drive.
    #[inline(always)]
    pub(crate) fn place(&self, first: u64, last: u64) -> Option<PageAddress> {
        let number = first >> self.shift;
        if last >> self.shift != number {
            return None;
        }
        let (stripe, _) = self.data.split(number);
        // Same offset in the chunk as the unit in its own.
        let row = first - ((number - stripe) << self.shift);
        let (_, drive) = self.drives.split(number + self.skipped * (stripe + 1));
        Some(PageAddress { drive: drive as u32, row: row as u32 })
    }
}

/// [`interpulse_engine::divide::split_among`] for a constant divisor of at least two.
#[derive(Clone, Copy, Debug)]
struct Divisor {
    shares: u64,
    /// `2^64 / shares`, rounded up.
    reciprocal: u64,
}

impl Divisor {
    fn new(shares: u32) -> Divisor {
        assert!((2..=MOST_SHARES).contains(&shares), "{shares} shares");
        Divisor { shares: u64::from(shares), reciprocal: u64::MAX / u64::from(shares) + 1 }
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
    fn left_symmetric_layout() {
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
        assert_eq!(layout.run(5, 100), (PageAddress { drive: 0, row: 5 }, 11));
        assert_eq!(layout.run(5, 3).1, 3);
        assert_eq!(layout.run(16, 100).0, PageAddress { drive: 1, row: 0 });
        // The second stripe starts after its parity, which has moved to drive 2.
        assert_eq!(layout.run(48, 1).0, PageAddress { drive: 3, row: 16 });
        let mirror = Layout { level: Level::Raid1, drives: 2, chunk: 1, rows: 160 };
        assert_eq!(mirror.run(5, 100), (PageAddress { drive: 0, row: 5 }, 100));
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
        let copies: Vec<PageAddress> = odd.copies(odd.place(1)).collect();
        assert_eq!(copies, [PageAddress { drive: 2, row: 0 }, PageAddress { drive: 0, row: 1 }]);
        let even = Layout { level: Level::Raid10, drives: 4, chunk: 2, rows: 8 };
        let copies: Vec<PageAddress> = even.copies(even.place(7)).collect();
        assert_eq!(copies, [PageAddress { drive: 2, row: 3 }, PageAddress { drive: 3, row: 3 }]);
    }

    proptest! {
        /// Every copy of a page maps back to that page, and `survives` detects the loss of all copies of a page.
        #[test]
        fn a_unit_is_lost_with_all_its_copies(
            drives in 2u32..9, chunk in 0u32..3, stripes in 1u32..20, lost in any::<u32>()
        ) {
            let chunk = 1 << chunk;
            let layout = Layout { level: Level::Raid10, drives, chunk, rows: stripes * chunk };
            let lost = lost & ((1 << drives) - 1);
            let mut gone = false;
            for unit in 0..layout.units() {
                let copies: Vec<PageAddress> = layout.copies(layout.place(unit)).collect();
                for at in &copies {
                    prop_assert!(at.drive < drives && at.row < layout.rows);
                    prop_assert_eq!(layout.unit_at(at.drive, at.row), Some(unit));
                }
                gone |= copies.iter().all(|at| lost >> at.drive & 1 == 1);
            }
            let survives = Level::Raid10.survives(drives, lost);
            prop_assert!(!(survives && gone));
            // A short array with an odd number of drives does not use all pairs.
            prop_assert!(survives || gone || stripes < drives);
        }

        /// Pages and addresses map one to one, and every row has its parities.
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
            let direct = FastLayout::of(&layout).unwrap();
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
