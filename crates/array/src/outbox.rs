//! What waits to go to the drives.

use std::cmp::Ordering;

/// One page to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PageMove {
    pub(crate) drive: u32,
    pub(crate) write: bool,
    pub(crate) row: u32,
    pub(crate) head: u32,
    /// It is not merged with others.
    pub(crate) alone: bool,
}

impl PageMove {
    /// Drive by drive, reads before writes, row by row; the rest only so that the order is one.
    #[inline]
    pub(crate) fn order(&self, other: &PageMove) -> Ordering {
        let key = |m: &PageMove| u64::from(m.drive) << 33 | u64::from(m.write) << 32 | u64::from(m.row);
        key(self).cmp(&key(other)).then_with(|| (self.head, self.alone).cmp(&(other.head, other.alone)))
    }
}
