//! Left-symmetric parity, the default of md: parity moves one drive to the left from stripe to stripe, the second parity and
//! the data chunks of a stripe follow it to the right, around the end.

use super::{Place, Shape};
use interpulse_engine::divide::split_among;

/// The drive with the (first) parity of `row`.
#[inline]
pub(crate) fn parity(of: &Shape, row: u32) -> u32 {
    of.drives - 1 - split_among(u64::from(of.stripe(row)), of.drives).1
}

/// What stands on `drive` in `row`, counted from the first parity to the right.
#[inline]
pub(crate) fn from_parity(of: &Shape, drive: u32, row: u32) -> u32 {
    of.around(drive + of.drives - parity(of, row))
}

/// Where `unit` lies.
#[inline(always)]
pub(super) fn place(of: &Shape, parities: u32, unit: u64) -> Place {
    let (number, within) = of.chunk_of(unit);
    let (stripe, index) = split_among(number, of.drives - parities);
    let row = of.row(stripe, within);
    Place { drive: of.around(parity(of, row) + parities + index), row }
}

/// The chunk of data at a place.
#[inline]
pub(super) fn chunk_at(of: &Shape, parities: u32, drive: u32, row: u32) -> Option<u64> {
    let index = from_parity(of, drive, row).checked_sub(parities)?;
    Some(u64::from(of.stripe(row)) * u64::from(of.drives - parities) + u64::from(index))
}
