//! Requests to mirrored drives (RAID-1, RAID-10): reads go to a copy in a deterministic window, if one is, and of these to the one with
//! the fewest outstanding commands; writes go to all.

use crate::array::{Array, Command, SubRequest, pages_of, request_at};
use crate::raid::layout::PageAddress;
use interpulse_engine::{EventQueue, Op};

impl Array {
    /// Readable copy with the fewest outstanding commands, among drives not `tried` (bit mask).
    pub(crate) fn nearest(&self, first: PageAddress, units: u32, tried: u64) -> Option<(PageAddress, usize)> {
        let there = |at: PageAddress| {
            let physical = self.slots[at.drive as usize]?;
            let held = self.readable(at.row + units - 1) >> at.drive & 1 == 1;
            (held && tried >> physical & 1 == 0).then_some((at, physical))
        };
        self.layout.copies(first).filter_map(there).min_by_key(|&(_, physical)| {
            (self.avoids_reads(physical), self.drive_commands[physical].outstanding)
        })
    }

    /// Whether reads prefer another copy: the drive is not in a deterministic window.
    fn avoids_reads(&self, physical: usize) -> bool {
        self.has_windows && !self.drives[physical].is_deterministic()
    }

    /// Writes to all copies, or holds the write if a mirror resync has closed the rows.
    pub(crate) fn write_copies(
        &mut self,
        events: &mut EventQueue,
        part: &SubRequest,
        first: PageAddress,
        sectors: u64,
    ) {
        let units = pages_of(part.from, sectors);
        self.jobs.get_mut(part.job).parts += 1;
        if self.is_closed(first, units) {
            self.counters.held_writes += 1;
            self.held.push(SubRequest { to: part.from + sectors, ..*part });
            return;
        }
        for row in first.row..first.row + units {
            if self.contents.samples(row) {
                let (present, version) = (self.present(), self.contents.issue(row, first.drive));
                self.contents.write_through(row, first.drive, version, present);
                // Acknowledged at submission for the audit: until completion a read may return either version, and the
                // drives' own audits check the order.
                self.contents.acknowledge(row, first.drive, version);
            }
        }
        for at in self.layout.copies(first) {
            let Some(physical) = self.slots[at.drive as usize] else { continue };
            let request = request_at(Op::Write, at, part.from, sectors);
            self.jobs.get_mut(part.job).parts += 1;
            let write = Command::CopiedWrite { job: part.job, first, rows: units };
            self.command(events, physical, request, write);
        }
        self.part_done(part.job);
    }

    /// Continues writes that waited for closed rows.
    pub(crate) fn release_held(&mut self, events: &mut EventQueue) {
        for part in std::mem::take(&mut self.held) {
            self.pass_through(events, part);
        }
    }
}
