//! One row of a trace as its format gives it, and the limits all formats share.

use super::unit::Stamp;
use interpulse_engine::{Op, SECTOR};

/// Largest address a trace may touch and largest drive: 2^44 sectors are 8 PiB. Numbers beyond are taken
/// for damage; below, no sum of addresses overflows.
pub(crate) const SECTORS_MAX: u64 = 1 << 44;
/// Largest request: 2^21 sectors are 1 GiB.
pub(crate) const REQUEST_SECTORS_MAX: u32 = 1 << 21;
/// Longest time from the first row, after the speed factor: 2^54 ns are 208 days, the reach of an agenda.
pub(crate) const SPAN_NS_MAX: u64 = (1 << 54) - 1;

/// A row as parsed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ParsedRow<'l> {
    /// When it was recorded, since the format's own origin.
    pub time: Stamp<'l>,
    /// Host name; empty in formats without one.
    pub host: &'l str,
    /// Device number.
    pub device: u32,
    /// Read or write.
    pub op: Op,
    /// First sector on the device.
    pub sector: u64,
    /// Length in sectors, 1 to [`REQUEST_SECTORS_MAX`].
    pub sectors: u32,
}

/// What stands in a line or a record of a trace that can be read.
pub(crate) type Parsed<'l> = Result<Option<ParsedRow<'l>>, super::problem::RowFault>;

/// A start and length in bytes widened to whole sectors.
pub(crate) fn widen(offset: u64, size: u64) -> (u64, u64) {
    let sector = offset / SECTOR.get();
    (sector, (offset + size).div_ceil(SECTOR.get()) - sector)
}
