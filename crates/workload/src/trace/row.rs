//! Parsed rows of traces.

use super::unit::Stamp;
use interpulse_engine::{Op, SECTOR};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ParsedRow<'l> {
    /// Recorded time, from the origin of the format.
    pub time: Stamp<'l>,
    /// Host name; empty in formats without one.
    pub host: &'l str,
    pub device: u32,
    pub op: Op,
    pub sector: u64,
    /// Length in sectors, 1 to `REQUEST_SECTORS_MAX`.
    pub sectors: u32,
}

pub(crate) type Parsed<'l> = Result<Option<ParsedRow<'l>>, super::problem::RowFault>;

/// Start and length in bytes, widened to whole sectors.
pub(crate) fn widen(offset: u64, size: u64) -> (u64, u64) {
    let sector = offset / SECTOR.get();
    (sector, (offset + size).div_ceil(SECTOR.get()) - sector)
}
