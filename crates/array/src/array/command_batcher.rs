//! Page commands of the command batcher, which merges those of one instant that are contiguous on a drive, like md's plug
//! and the block layer.

use std::cmp::Ordering;

/// One page to read or write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PageCommand {
    pub(crate) drive: u32,
    pub(crate) write: bool,
    pub(crate) row: u32,
    pub(crate) head: u32,
    /// It must not be merged.
    pub(crate) alone: bool,
    /// It is a read that fails fast.
    pub(crate) fail_fast: bool,
}

impl PageCommand {
    /// Order: drive, reads before writes, row; the rest makes the order total.
    #[inline]
    pub(crate) fn order(&self, other: &PageCommand) -> Ordering {
        let key = |m: &PageCommand| u64::from(m.drive) << 33 | u64::from(m.write) << 32 | u64::from(m.row);
        key(self).cmp(&key(other)).then_with(|| (self.head, self.alone).cmp(&(other.head, other.alone)))
    }
}
