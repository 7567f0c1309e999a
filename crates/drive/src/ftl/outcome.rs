//! Outcomes that an FTL reports to its drive.

use interpulse_engine::RequestId;

/// One outcome of a host command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// One unit of the write with this tag, which waits for its programs, is on flash by the program that has just ended.
    Landed(RequestId),
    /// One unit of the write with this tag, which waits for its programs, was trimmed before its program began.
    Dropped(RequestId),
    /// The flush with this tag has completed.
    Flushed(RequestId),
    /// A translation page that the command with this tag waits for has been read; the command looks up its entries again.
    Mapped(RequestId),
}
