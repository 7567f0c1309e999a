//! Page commands on their way to the drives: those of one instant that follow one another on a drive go as one, as md's
//! plug and the block layer merge them.

use super::{Array, Command, request_of};
use crate::outbox::PageMove;
use interpulse_engine::{Agenda, Op};

/// Most units of a merged command: 512 KiB.
const MOST_UNITS: usize = 128;

impl Array {
    /// All that has been gathered; drives that are given up are taken out after it.
    #[inline(never)]
    pub(super) fn send_gathered(&mut self, agenda: &mut Agenda) {
        if self.ppl.is_some() {
            self.write_logs(agenda);
        }
        if !self.outbox.is_empty() {
            self.flush_outbox(agenda);
        }
        if self.losses.condemned != 0 {
            self.take_out_condemned(agenda);
        }
    }

    /// Submits what has gathered.
    pub(crate) fn flush_outbox(&mut self, agenda: &mut Agenda) {
        let mut moves = std::mem::take(&mut self.outbox);
        moves.sort_unstable_by(PageMove::order);
        let mut rest = moves.as_slice();
        while let Some(&first) = rest.first() {
            let follows = |k: usize, m: &PageMove| {
                let next = (first.drive, first.write, first.row + k as u32);
                (m.drive, m.write, m.row) == next && !first.alone && !m.alone
            };
            let most = rest.len().min(MOST_UNITS);
            let count = (1..most).find(|&k| !follows(k, &rest[k])).unwrap_or(most);
            let mut heads = self.spare_lists.pop().unwrap_or_default();
            heads.extend(rest[..count].iter().map(|m| m.head));
            let op = if first.write { Op::Write } else { Op::Read };
            let request = request_of(op, first.row, count as u32);
            let physical = self.slots[first.drive as usize].expect("pages go to drives that are there");
            self.command(agenda, physical, request, Command::Pages { heads, drive: first.drive });
            rest = &rest[count..];
        }
        moves.clear();
        self.outbox = moves;
    }
}
