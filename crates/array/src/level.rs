//! How the drives of an array are joined. A level is one file in `level/`, and one line of the registry: how many drives it
//! needs, what it survives, and where its units, parities and copies lie.

pub(crate) mod left_symmetric;
mod shape;

use interpulse_settings::registry;

pub use shape::{Place, Shape};

registry! {
    $ /// How the drives are joined.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Level, each_level {
        "raid0" => raid0::Raid0: "striped without redundancy";
        "raid1" => raid1::Raid1: "every drive holds everything";
        "raid5" => raid5::Raid5: "striped with rotating parity, left-symmetric";
        "raid6" => raid6::Raid6: "striped with two rotating parities, left-symmetric";
        "raid10" => raid10::Raid10: "striped, each chunk on two drives next to one another (near=2)";
    }
}

/// A way to join drives: what is not said otherwise is that of levels with parities, which keep them where
/// [`left_symmetric`] says.
trait Joined {
    /// Parity pages in a row.
    fn parities(&self) -> u32 {
        0
    }

    /// Places of each unit, of so many drives.
    fn copies(&self, _drives: u32) -> u32 {
        1
    }

    /// Fewest drives.
    fn least_drives(&self) -> u32 {
        2 + self.parities()
    }

    /// Whether chunks go to the drives in turn.
    fn stripes(&self) -> bool {
        true
    }

    /// Whether its parity is made to fit again after a loss of power.
    fn outlives_outages(&self) -> bool {
        false
    }

    /// Whether nothing is lost with these of so many drives, one bit each.
    fn survives(&self, _drives: u32, lost: u32) -> bool {
        lost.count_ones() <= self.parities()
    }

    /// Units of the array.
    #[inline]
    fn units(&self, of: &Shape) -> u64 {
        u64::from(of.rows) * u64::from(of.drives - self.parities())
    }

    /// Where `unit` of the array lies; of copies the first one.
    #[inline(always)]
    fn place(&self, of: &Shape, unit: u64) -> Place {
        left_symmetric::place(of, self.parities(), unit)
    }

    /// The number of the chunk of data in `stripe` of `drive`, `row` being one of its rows; `None` for parity.
    #[inline]
    fn chunk_at(&self, of: &Shape, drive: u32, row: u32) -> Option<u64> {
        left_symmetric::chunk_at(of, self.parities(), drive, row)
    }

    /// Copy `k` of the unit whose first one is `first`.
    fn copy(&self, _of: &Shape, first: Place, _k: u32) -> Place {
        first
    }
}

impl Level {
    /// Parity pages in a row.
    #[inline(always)]
    pub fn parities(self) -> u32 {
        each_level!(self, it => it.parities())
    }

    /// Places of each unit, of so many drives.
    #[inline]
    pub fn copies(self, drives: u32) -> u32 {
        each_level!(self, it => it.copies(drives))
    }

    /// Whether its redundancy is copies.
    #[inline(always)]
    pub fn mirrors(self) -> bool {
        self.copies(2) > 1
    }

    /// Whether it can do without a drive.
    pub fn is_redundant(self) -> bool {
        self.mirrors() || self.parities() > 0
    }

    /// Fewest drives.
    pub fn least_drives(self) -> u32 {
        each_level!(self, it => it.least_drives())
    }

    /// Whether chunks go to the drives in turn.
    #[inline]
    pub fn stripes(self) -> bool {
        each_level!(self, it => it.stripes())
    }

    /// Whether its parity is made to fit again after a loss of power.
    pub fn outlives_outages(self) -> bool {
        each_level!(self, it => it.outlives_outages())
    }

    /// Whether nothing is lost with these of so many drives, one bit each.
    pub fn survives(self, drives: u32, lost: u32) -> bool {
        each_level!(self, it => it.survives(drives, lost))
    }

    /// Units of the array.
    #[inline]
    pub(crate) fn units(self, of: &Shape) -> u64 {
        each_level!(self, it => it.units(of))
    }

    #[inline(always)]
    pub(crate) fn place(self, of: &Shape, unit: u64) -> Place {
        each_level!(self, it => it.place(of, unit))
    }

    #[inline]
    pub(crate) fn chunk_at(self, of: &Shape, drive: u32, row: u32) -> Option<u64> {
        each_level!(self, it => it.chunk_at(of, drive, row))
    }

    #[inline]
    pub(crate) fn copy(self, of: &Shape, first: Place, k: u32) -> Place {
        each_level!(self, it => it.copy(of, first, k))
    }

    /// Those of which something holds, as a key that belongs to them says it: `level = "raid5" and "raid6"`.
    pub(crate) fn those(holds: impl Fn(Level) -> bool) -> String {
        let of = Level::all().into_iter().filter(|(_, level, _)| holds(*level));
        let names: Vec<String> = of.map(|(name, ..)| format!("\"{name}\"")).collect();
        format!("level = {}", names.join(" and "))
    }
}
