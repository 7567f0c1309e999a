//! Lost data: logical units whose flash copy nothing corrects, until they are written or trimmed.
//!
//! Garbage collection moves such data with its errors.

use crate::numbers::Lpn;

/// Units whose data is lost.
pub(crate) struct LostData {
    /// A bit for each logical unit.
    units: Vec<u64>,
    /// Units lost at present.
    now: u64,
    /// Units lost so far.
    pub(crate) total: u64,
    /// Page reads of the host that found lost data.
    pub(crate) reads: u64,
}

impl LostData {
    pub(super) fn new(logical_units: u32) -> LostData {
        LostData { units: vec![0; logical_units.div_ceil(64) as usize], now: 0, total: 0, reads: 0 }
    }

    /// Whether the flash copy of `lpn` is lost.
    pub(super) fn is_lost(&self, lpn: Lpn) -> bool {
        self.units[lpn.index() / 64] >> (lpn.0 % 64) & 1 != 0
    }

    /// Loses the flash copy of `lpn`.
    pub(super) fn lose(&mut self, lpn: Lpn) {
        if !self.is_lost(lpn) {
            self.units[lpn.index() / 64] |= 1 << (lpn.0 % 64);
            self.now += 1;
            self.total += 1;
        }
    }

    /// `lpn` is written or trimmed: its old data is not needed any more.
    pub(crate) fn replaced(&mut self, lpn: Lpn) {
        if self.now > 0 && self.is_lost(lpn) {
            self.units[lpn.index() / 64] &= !(1 << (lpn.0 % 64));
            self.now -= 1;
        }
    }

    /// Units lost at present.
    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    /// Compares the count of lost units with their bits. Err is the inconsistency.
    pub(crate) fn audit(&self) -> Result<(), String> {
        let bits: u64 = self.units.iter().map(|word| u64::from(word.count_ones())).sum();
        if bits == self.now && self.now <= self.total {
            return Ok(());
        }
        Err(format!("{} units count as lost, of {} ever; {bits} are marked", self.now, self.total))
    }
}
