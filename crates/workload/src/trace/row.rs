//! Parsed rows of traces.

use super::unit::Stamp;
use interpulse_engine::{Op, SECTOR};

/// Flush that belongs to a write.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum WithFlush {
    #[default]
    None,
    /// The write follows the flush: `REQ_PREFLUSH` alone.
    Before,
    /// The flush follows the write: `REQ_FUA`, with or without `REQ_PREFLUSH`.
    After,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ParsedRow<'l> {
    /// Recorded time, from the origin of the format.
    pub time: Stamp<'l>,
    /// Host name; empty in formats without one.
    pub host: &'l str,
    pub device: u32,
    pub op: Op,
    /// Start in bytes, in the documented unit of the format; 0 for a flush.
    pub offset: u64,
    /// Length in bytes, in the documented unit of the format: 0 for a flush, at least 1 otherwise.
    pub size: u64,
    /// Flush of a write; `None` for other operations.
    pub flush: WithFlush,
}

impl<'l> ParsedRow<'l> {
    /// Flush of the whole device.
    pub fn flush(time: Stamp<'l>, host: &'l str, device: u32) -> ParsedRow<'l> {
        ParsedRow { time, host, device, op: Op::Flush, offset: 0, size: 0, flush: WithFlush::None }
    }
}

/// Row that is no request but changes how the requests are replayed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Directive<'l> {
    /// Pause before the next request, in us.
    Wait { us: u64 },
    /// Requests of the first device continue as requests of the second one (host and number).
    Remap { from: (&'l str, u32), to: (&'l str, u32) },
}

pub(crate) type Parsed<'l> = Result<Option<ParsedRow<'l>>, super::problem::RowFault>;

/// Start and length in bytes, widened to whole sectors.
pub(crate) fn widen(offset: u64, size: u64) -> (u64, u64) {
    let sector = offset / SECTOR.get();
    (sector, (offset + size).div_ceil(SECTOR.get()) - sector)
}

/// Start and length in bytes, narrowed to whole sectors, as a discard must not remove more; `None` if none is left.
pub(crate) fn narrow(offset: u64, size: u64) -> Option<(u64, u64)> {
    let sector = offset.div_ceil(SECTOR.get());
    let end = (offset + size) / SECTOR.get();
    (end > sector).then(|| (sector, end - sector))
}
