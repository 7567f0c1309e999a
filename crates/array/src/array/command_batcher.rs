//! Command batcher: merges page commands of one instant that are contiguous on a drive, like md's plug and the block layer.

use crate::array::{Array, Command, request_of};
use interpulse_engine::{EventQueue, Op};
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
}

impl PageCommand {
    /// Order: drive, reads before writes, row; the rest makes the order total.
    #[inline]
    pub(crate) fn order(&self, other: &PageCommand) -> Ordering {
        let key = |m: &PageCommand| u64::from(m.drive) << 33 | u64::from(m.write) << 32 | u64::from(m.row);
        key(self).cmp(&key(other)).then_with(|| (self.head, self.alone).cmp(&(other.head, other.alone)))
    }
}

/// Longest merged command, in pages (512 KiB).
const MAX_UNITS: usize = 128;

impl Array {
    /// Submits log writes and batched commands, then removes failing drives.
    #[inline(never)]
    pub(crate) fn submit_gathered(&mut self, events: &mut EventQueue) {
        if self.ppl.is_some() {
            self.write_logs(events);
        }
        if !self.batch.is_empty() {
            self.submit_batch(events);
        }
        if self.failures.failing != 0 {
            self.remove_failing_drives(events);
        }
    }

    /// Merges and submits the batched page commands.
    pub(crate) fn submit_batch(&mut self, events: &mut EventQueue) {
        let mut moves = std::mem::take(&mut self.batch);
        moves.sort_unstable_by(PageCommand::order);
        let mut rest = moves.as_slice();
        while let Some(&first) = rest.first() {
            let follows = |k: usize, m: &PageCommand| {
                let next = (first.drive, first.write, first.row + k as u32);
                (m.drive, m.write, m.row) == next && !first.alone && !m.alone
            };
            let most = rest.len().min(MAX_UNITS);
            let count = (1..most).find(|&k| !follows(k, &rest[k])).unwrap_or(most);
            let mut heads = self.spare_lists.pop().unwrap_or_default();
            heads.extend(rest[..count].iter().map(|m| m.head));
            let op = if first.write { Op::Write } else { Op::Read };
            let request = request_of(op, first.row, count as u32);
            let physical = self.slots[first.drive as usize].expect("pages go to present drives");
            self.command(events, physical, request, Command::Pages { heads, drive: first.drive });
            rest = &rest[count..];
        }
        moves.clear();
        self.batch = moves;
    }
}
