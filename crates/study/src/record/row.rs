//! A request as the logs see it.

use interpulse_engine::{Op, SimTime, Tag};
use interpulse_host::Ended;

/// A request that has ended in the measurement window.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    /// How many ended before it in the window.
    pub number: u64,
    /// When it was submitted, from the beginning of the window; negative if that was before.
    pub arrival: i64,
    /// First byte addressed.
    pub address: u64,
    /// The request.
    pub ended: &'a Ended<'a>,
}

/// A request that the device has.
#[derive(Clone, Copy)]
pub struct Open {
    /// When it was submitted.
    pub at: SimTime,
    /// What it asks for.
    pub op: Op,
    /// What the host calls it.
    pub tag: Tag,
    /// First sector.
    pub sector: u64,
    /// Length.
    pub bytes: u64,
    /// It has not ended.
    pub live: bool,
}

/// None.
pub const NOT_OPEN: Open =
    Open { at: SimTime::ZERO, op: Op::Flush, tag: Tag(0), sector: 0, bytes: 0, live: false };
