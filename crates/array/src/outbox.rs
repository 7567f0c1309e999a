//! What waits to go to the drives.

/// One page to move.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct PageMove {
    pub(crate) drive: u32,
    pub(crate) write: bool,
    pub(crate) row: u32,
    pub(crate) head: u32,
    /// It is not merged with others.
    pub(crate) alone: bool,
}
