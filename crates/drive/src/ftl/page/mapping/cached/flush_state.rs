//! State of the flush of a mapping cache.

use std::collections::VecDeque;

/// Progress of a translation page in a flush.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PageFlush {
    /// Flash has what it held at the beginning of the flush, or there is no flush.
    #[default]
    None,
    /// Its program has to begin.
    Due,
    /// The program that the flush waits for has begun.
    Begun,
}

/// The flush of a checkpoint.
#[derive(Clone, Debug, Default)]
pub(super) struct Flush {
    pub(super) active: bool,
    /// Changed pages that only the cache holds.
    pub(super) cached: VecDeque<u32>,
    /// Pages whose program has not ended.
    pub(super) pages: u32,
}
