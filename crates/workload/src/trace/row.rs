//! One row of a trace as its format gives it, and what it may be.

use super::unit::Stamp;
use interpulse_engine::{Op, SECTOR};

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
    /// Length in sectors, 1 to `REQUEST_SECTORS_MAX`.
    pub sectors: u32,
}

/// What stands in a line or a record of a trace that can be read.
pub(crate) type Parsed<'l> = Result<Option<ParsedRow<'l>>, super::problem::RowFault>;

/// A start and length in bytes widened to whole sectors.
pub(crate) fn widen(offset: u64, size: u64) -> (u64, u64) {
    let sector = offset / SECTOR.get();
    (sector, (offset + size).div_ceil(SECTOR.get()) - sector)
}
