//! What the FTL answers with.

use interpulse_engine::RequestId;
/// What the FTL tells whoever asked it for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// One unit of the write with this tag, which waits for its programs, is on flash by the program that has just ended.
    Landed(RequestId),
    /// One unit of the write with this tag, which waits for its programs, has been trimmed before its program began.
    Dropped(RequestId),
    /// The flush with this tag is done.
    Flushed(RequestId),
}
