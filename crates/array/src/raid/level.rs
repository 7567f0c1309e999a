//! RAID levels: number of drives, fault tolerance and address map of each. A level is one file in `level/` and one line of
//! the registry.

mod geometry;
pub(crate) mod left_symmetric;

use interpulse_settings::registry;

pub use geometry::{PageAddress, RaidGeometry};

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

/// RAID level. The defaults are those of levels with left-symmetric parity ([`left_symmetric`]).
trait RaidLevel {
    fn parities(&self) -> u32 {
        0
    }

    fn copies(&self, _drives: u32) -> u32 {
        1
    }

    fn least_drives(&self) -> u32 {
        2 + self.parities()
    }

    fn stripes(&self) -> bool {
        true
    }

    fn supports_power_loss(&self) -> bool {
        false
    }

    fn survives(&self, _drives: u32, lost: u32) -> bool {
        lost.count_ones() <= self.parities()
    }

    #[inline]
    fn units(&self, of: &RaidGeometry) -> u64 {
        u64::from(of.rows) * u64::from(of.drives - self.parities())
    }

    /// Address of array page `unit`; for mirrors, of the first copy.
    #[inline(always)]
    fn place(&self, of: &RaidGeometry, unit: u64) -> PageAddress {
        left_symmetric::place(of, self.parities(), unit)
    }

    /// Number of the data chunk on `drive` at `row`; `None` for parity.
    #[inline]
    fn chunk_at(&self, of: &RaidGeometry, drive: u32, row: u32) -> Option<u64> {
        left_symmetric::chunk_at(of, self.parities(), drive, row)
    }

    /// Address of copy `k` of the page whose first copy is `first`.
    fn copy(&self, _of: &RaidGeometry, first: PageAddress, _k: u32) -> PageAddress {
        first
    }
}

impl Level {
    /// Parity pages in a row.
    #[inline(always)]
    pub fn parities(self) -> u32 {
        each_level!(self, it => it.parities())
    }

    /// Copies of each page.
    #[inline]
    pub fn copies(self, drives: u32) -> u32 {
        each_level!(self, it => it.copies(drives))
    }

    /// Whether redundancy is by copies.
    #[inline(always)]
    pub fn mirrors(self) -> bool {
        self.copies(2) > 1
    }

    /// Whether it tolerates a drive failure.
    pub fn is_redundant(self) -> bool {
        self.mirrors() || self.parities() > 0
    }

    /// Minimum number of drives.
    pub fn least_drives(self) -> u32 {
        each_level!(self, it => it.least_drives())
    }

    /// Whether data is striped in chunks.
    #[inline]
    pub fn stripes(self) -> bool {
        each_level!(self, it => it.stripes())
    }

    /// Whether parity is made consistent after a power loss.
    pub fn supports_power_loss(self) -> bool {
        each_level!(self, it => it.supports_power_loss())
    }

    /// Whether no data is lost with the drives `lost` missing (bit mask).
    pub fn survives(self, drives: u32, lost: u32) -> bool {
        each_level!(self, it => it.survives(drives, lost))
    }

    /// Capacity in pages.
    #[inline]
    pub(crate) fn units(self, of: &RaidGeometry) -> u64 {
        each_level!(self, it => it.units(of))
    }

    #[inline(always)]
    pub(crate) fn place(self, of: &RaidGeometry, unit: u64) -> PageAddress {
        each_level!(self, it => it.place(of, unit))
    }

    #[inline]
    pub(crate) fn chunk_at(self, of: &RaidGeometry, drive: u32, row: u32) -> Option<u64> {
        each_level!(self, it => it.chunk_at(of, drive, row))
    }

    #[inline]
    pub(crate) fn copy(self, of: &RaidGeometry, first: PageAddress, k: u32) -> PageAddress {
        each_level!(self, it => it.copy(of, first, k))
    }

    /// Levels with a property, as written in messages about keys: `level = "raid5" and "raid6"`.
    pub(crate) fn names_where(holds: impl Fn(Level) -> bool) -> String {
        let of = Level::all().into_iter().filter(|(_, level, _)| holds(*level));
        let names: Vec<String> = of.map(|(name, ..)| format!("\"{name}\"")).collect();
        format!("level = {}", names.join(" and "))
    }
}
