//! Requests to drives that hold copies of one another, RAID-1 and RAID-10: a read goes to the copy whose drive has the fewest
//! commands outstanding, a write to all.

use super::{Array, Command, Piece, pages_of, request_at};
use crate::layout::Place;
use interpulse_engine::{Agenda, Op};

impl Array {
    /// The copy of these units with the least to do, of those that can be read and whose drives have not been `tried`, one
    /// bit each.
    pub(super) fn nearest(&self, first: Place, units: u32, tried: u64) -> Option<(Place, usize)> {
        let there = |at: Place| {
            let physical = self.slots[at.drive as usize]?;
            let held = self.readable(at.row + units - 1) >> at.drive & 1 == 1;
            (held && tried >> physical & 1 == 0).then_some((at, physical))
        };
        self.layout
            .copies(first)
            .filter_map(there)
            .min_by_key(|&(_, physical)| self.asked[physical].outstanding)
    }

    /// Writes this stretch to all its copies; one of rows that are closed to it waits.
    pub(super) fn write_copies(&mut self, agenda: &mut Agenda, piece: &Piece, first: Place, sectors: u64) {
        let units = pages_of(piece.from, sectors);
        self.jobs.get_mut(piece.job).parts += 1;
        if self.is_being_copied(first, units) {
            self.counters.held_writes += 1;
            self.held.push(Piece { to: piece.from + sectors, ..*piece });
            return;
        }
        for row in first.row..first.row + units {
            if self.contents.follows(row) {
                let (present, version) = (self.present(), self.contents.issue(row, first.drive));
                self.contents.write_through(row, first.drive, version, present);
                // Complete when its drives say so: until then a read may return either, and the drives'
                // own audits hold them to the order of submission.
                self.contents.acknowledge(row, first.drive, version);
            }
        }
        for at in self.layout.copies(first) {
            let Some(physical) = self.slots[at.drive as usize] else { continue };
            let request = request_at(Op::Write, at, piece.from, sectors);
            self.jobs.get_mut(piece.job).parts += 1;
            let write = Command::CopiedWrite { job: piece.job, first, rows: units };
            self.command(agenda, physical, request, write);
        }
        self.part_done(piece.job);
    }

    /// Writes that waited for closed rows go on.
    pub(super) fn release_held(&mut self, agenda: &mut Agenda) {
        for piece in std::mem::take(&mut self.held) {
            self.pass_through(agenda, piece);
        }
    }
}
