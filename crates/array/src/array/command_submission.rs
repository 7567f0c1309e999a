//! Submission of log writes and batched page commands at the end of an instant.

use crate::array::command_batcher::PageCommand;
use crate::array::{Array, Command, request_of};
use interpulse_engine::{EventQueue, Op};

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
                let next = (first.drive, first.write, first.row + k as u32, first.fail_fast);
                (m.drive, m.write, m.row, m.fail_fast) == next && !first.alone && !m.alone
            };
            let most = rest.len().min(MAX_UNITS);
            let count = (1..most).find(|&k| !follows(k, &rest[k])).unwrap_or(most);
            let mut heads = self.spare_lists.pop().unwrap_or_default();
            heads.extend(rest[..count].iter().map(|m| m.head));
            let op = if first.write { Op::Write } else { Op::Read };
            let request = request_of(op, first.row, count as u32);
            let physical = self.slots[first.drive as usize].expect("pages go to present drives");
            let what = Command::Pages { heads, drive: first.drive };
            if first.fail_fast {
                self.fail_fast_command(events, physical, request, what);
            } else {
                self.command(events, physical, request, what);
            }
            rest = &rest[count..];
        }
        moves.clear();
        self.batch = moves;
    }
}
