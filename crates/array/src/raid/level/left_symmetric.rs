//! Left-symmetric parity, md's default: parity moves one drive to the left from stripe to stripe; Q and the data chunks
//! follow to its right, with wrap-around.

use super::{PageAddress, RaidGeometry};
use interpulse_engine::divide::split_among;

/// Drive with P (the first parity) of `row`.
#[inline]
pub(crate) fn parity(of: &RaidGeometry, row: u32) -> u32 {
    of.drives - 1 - split_among(u64::from(of.stripe(row)), of.drives).1
}

/// Index of `drive` in `row`, counted from P to the right.
#[inline]
pub(crate) fn from_parity(of: &RaidGeometry, drive: u32, row: u32) -> u32 {
    of.around(drive + of.drives - parity(of, row))
}

#[inline(always)]
pub(crate) fn place(of: &RaidGeometry, parities: u32, unit: u64) -> PageAddress {
    let (number, within) = of.chunk_of(unit);
    let (stripe, index) = split_among(number, of.drives - parities);
    let row = of.row(stripe, within);
    PageAddress { drive: of.around(parity(of, row) + parities + index), row }
}

#[inline]
pub(crate) fn chunk_at(of: &RaidGeometry, parities: u32, drive: u32, row: u32) -> Option<u64> {
    let index = from_parity(of, drive, row).checked_sub(parities)?;
    Some(u64::from(of.stripe(row)) * u64::from(of.drives - parities) + u64::from(index))
}
