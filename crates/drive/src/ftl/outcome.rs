//! What the FTL answers with.

/// What the FTL tells whoever asked it for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// One unit of the write with this tag, which waits for its programs, is on flash by the program that has just ended.
    Landed(u32),
    /// One unit of the write with this tag, which waits for its programs, has been trimmed before its program began.
    Dropped(u32),
    /// The flush with this tag is done.
    Flushed(u32),
}
