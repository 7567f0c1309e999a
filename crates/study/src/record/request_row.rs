//! Request rows: common input of all request logs.

use interpulse_engine::{Op, SimTime, Tag};
use interpulse_host::Ended;

/// A request that ended in the measurement window.
#[derive(Clone, Copy)]
pub struct RequestRow<'a> {
    /// Number of requests that ended earlier in the window.
    pub number: u64,
    /// Submission time relative to the window start; may be negative.
    pub arrival: i64,
    /// Time since which it has its number.
    pub numbered: SimTime,
    /// First byte addressed.
    pub address: u64,
    /// The request.
    pub ended: &'a Ended<'a>,
}

/// An outstanding request.
#[derive(Clone, Copy)]
pub struct OpenRequest {
    /// Submission time.
    pub at: SimTime,
    /// Time since which it has its number.
    pub numbered: SimTime,
    /// Operation.
    pub op: Op,
    /// Host tag.
    pub tag: Tag,
    /// First sector.
    pub sector: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// The request is outstanding.
    pub live: bool,
}

/// Empty entry.
pub const NO_REQUEST: OpenRequest = OpenRequest {
    at: SimTime::ZERO,
    numbered: SimTime::ZERO,
    op: Op::Flush,
    tag: Tag(0),
    sector: 0,
    bytes: 0,
    live: false,
};
