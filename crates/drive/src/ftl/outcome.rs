//! Outcomes that an FTL reports to its drive: of commands, and of units that it admits to the cache.

use crate::numbers::Slot;
use interpulse_engine::RequestId;

/// One outcome of a host command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The program that just ended stored one unit of the write with this tag, which waits for its programs.
    Landed(RequestId),
    /// One unit of the write with this tag, which waits for its programs, was trimmed before its program began.
    Dropped(RequestId),
    /// The flush with this tag has completed.
    Flushed(RequestId),
    /// The translation page that the command with this tag waits for was read; the command looks up its entries again.
    Mapped(RequestId),
    /// The blocks are erased that the format with this number had to erase.
    Formatted(RequestId),
    /// The blocks of the zone that the command with this tag reset are erased.
    ZoneReset(RequestId),
    /// The zone that the command with this tag finished is filled, or was reset meanwhile.
    ZoneFinished(RequestId),
}

/// Result of admitting a unit of a host write to the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admitted {
    /// The unit is in this slot.
    Slot(Slot),
    /// The unit replaced a dirty one in the cache.
    Absorbed,
    /// No slot is free.
    Full,
}
