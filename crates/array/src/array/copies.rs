//! Rows whose copies are brought into line, RAID-1 and RAID-10: for a rebuild, for a scrub, and after a read that failed.
//!
//! Meanwhile the rows are closed to writes of the host, and nothing is read before the writes to them that are under way have
//! ended; md's barriers do the same, for wider stretches. Otherwise a write could be overtaken by an older copy. A page
//! that its drive cannot correct is read from another copy and written back (`fix_read_error` in drivers/md/raid1.c).

use super::{Array, Command, pages_of, request_at, request_of};
use crate::bits::bits;
use crate::copying::{CopyId, CopyRead, Copying, Sectors, Why};
use crate::layout::Place;
use crate::sync::{BATCH, Kind};
use interpulse_engine::{Agenda, Op, RequestId};

/// The `k`-th row from there on.
fn after(at: Place, k: u32) -> Place {
    Place { row: at.row + k, ..at }
}

impl Array {
    /// Begins the next rows of a rebuild or scrub that the rate allows, as many as lie in one chunk.
    pub(crate) fn begin_copies(&mut self, agenda: &mut Agenda) {
        let sync = self.sync.as_mut().expect("it is under way");
        let (kind, (row, allowed)) = (sync.kind, sync.may_begin());
        let chunk = if self.spec.level.stripes() { self.layout.chunk } else { self.layout.rows };
        let rows = allowed.min(BATCH).min(chunk - row % chunk);
        let wanted = match kind {
            Kind::Rebuild(drives) => drives & !self.readable(row + rows - 1) & self.present(),
            Kind::Scrub => self.present(),
            Kind::Resync => {
                unreachable!("copies are not synchronised after a power cut: such an array is refused")
            }
        };
        let mut parts: Vec<(Place, Why)> = Vec::new();
        for drive in bits(wanted) {
            let Some(unit) = self.layout.unit_at(drive, row) else { continue };
            let first = self.layout.place(unit);
            match (kind, parts.last_mut()) {
                // One reading is enough for mirrors of the same rows.
                (_, Some((of, Why::Rebuild { to, .. }))) if *of == first => *to |= 1 << drive,
                (Kind::Rebuild(_), _) => parts.push((first, Why::Rebuild { to: 1 << drive, row })),
                (Kind::Scrub, _) if first == (Place { drive, row }) => parts.push((first, Why::Scrub)),
                (Kind::Scrub | Kind::Resync, _) => {}
            }
        }
        let sync = self.sync.as_mut().expect("it is under way");
        sync.begin_rows(rows, parts.len() as u32);
        for (first, why) in parts {
            self.close_rows(agenda, first, rows, why);
        }
    }

    /// A drive has failed a read of the host: the copies of its rows are brought into line, then it is read again. A drive
    /// that has been lost since is not asked.
    pub(super) fn repair_copies(
        &mut self,
        agenda: &mut Agenda,
        physical: usize,
        job: RequestId,
        read: Sectors,
        failures: u32,
    ) {
        let (first, rows) = self.rows_of(read);
        match self.slots.iter().position(|&slot| slot == Some(physical)) {
            Some(place) => {
                self.counters.reread_pages += if rows > 1 { u64::from(rows) } else { 0 };
                let why = Why::Repair { job, read, failures, place: place as u32, physical };
                self.close_rows(agenda, first, rows, why);
            }
            None => self.read_again(agenda, job, read, failures),
        }
    }

    fn rows_of(&self, read: Sectors) -> (Place, u32) {
        let (first, sectors) = self.stretch(read.from, read.to);
        (first, pages_of(read.from, sectors))
    }

    fn close_rows(&mut self, agenda: &mut Agenda, first: Place, rows: u32, why: Why) {
        let (held, bad) = (Vec::new(), Vec::new());
        let copying = Copying { first, rows, why, writes: 0, commands: 0, held, bad, lost: false };
        let writes = self.writes_in_the_way(&copying);
        let id = self.copying.insert(Copying { writes, ..copying });
        if writes == 0 {
            self.read_copies(agenda, id);
        }
    }

    /// Writes of the host under way to rows that are to be closed.
    fn writes_in_the_way(&self, copying: &Copying) -> u32 {
        let under_way = self.slots.iter().flatten().flat_map(|&physical| &self.asked[physical].commands);
        let meets = |command: &&Command| matches!(**command, Command::CopiedWrite { first, rows, .. } if copying.closes(first, rows));
        under_way.filter(meets).count() as u32
    }

    /// Whether the host must not write these units now.
    #[inline]
    pub(super) fn is_being_copied(&self, first: Place, units: u32) -> bool {
        self.copying.live() > 0 && self.copying.iter().any(|(_, of)| of.closes(first, units))
    }

    /// A write of the host has ended; what waited for it may begin.
    pub(super) fn write_ended(&mut self, agenda: &mut Agenda, physical: usize, first: Place, rows: u32) {
        if self.copying.live() == 0 || !self.slots.contains(&Some(physical)) {
            return;
        }
        let waiting = |of: &Copying| of.writes > 0 && of.closes(first, rows);
        let ids: Vec<CopyId> = self.copying.iter().filter(|(_, of)| waiting(of)).map(|(id, _)| id).collect();
        for id in ids {
            let of = self.copying.get_mut(id);
            of.writes -= 1;
            if of.writes == 0 {
                self.read_copies(agenda, id);
            }
        }
    }

    /// Drives have been lost: writes to them are nothing to wait for.
    pub(super) fn recount_copies(&mut self, agenda: &mut Agenda) {
        let waiting = self.copying.iter().filter(|(_, of)| of.writes > 0);
        let ids: Vec<CopyId> = waiting.map(|(id, _)| id).collect();
        for id in ids {
            let writes = self.writes_in_the_way(self.copying.get(id));
            self.copying.get_mut(id).writes = writes;
            if writes == 0 {
                self.read_copies(agenda, id);
            }
        }
    }

    // ---- reading --------------------------------------------------------------------------------------

    fn read_copies(&mut self, agenda: &mut Agenda, id: CopyId) {
        let &Copying { first, rows, why, .. } = self.copying.get(id);
        match why {
            Why::Rebuild { .. } => {
                let (from, _) = self.nearest(first, rows, 0).expect("no drive is lost with all copies");
                let followed: Vec<u32> = (0..rows).filter(|k| self.contents.follows(first.row + k)).collect();
                let held = followed.into_iter().map(|k| (k, self.contents.held(after(from, k)))).collect();
                self.copying.get_mut(id).held = held;
                self.read_copy(agenda, id, from.drive, 0, rows);
            }
            Why::Scrub => {
                let copies: Vec<Place> = self.layout.copies(first).collect();
                for at in copies {
                    if self.readable(at.row + rows - 1) >> at.drive & 1 == 1 {
                        self.read_copy(agenda, id, at.drive, 0, rows);
                    }
                }
            }
            // A drive that has been lost since is not asked.
            Why::Repair { place, physical, .. } if self.slots[place as usize] == Some(physical) => {
                if rows == 1 {
                    // The only page of the read is known to be bad.
                    self.copying.get_mut(id).commands = 1;
                    self.copy_read(
                        agenda,
                        CopyRead { id, k: 0, rows: 1, tried: 1 << physical },
                        physical,
                        true,
                    );
                    return;
                }
                (0..rows).for_each(|k| self.read_copy(agenda, id, place, k, 1));
            }
            Why::Repair { .. } => {}
        }
        if self.copying.get(id).commands == 0 {
            self.write_copies_back(agenda, id);
        }
    }

    /// Rows from the `k`-th on are read from the copy in this place.
    fn read_copy(&mut self, agenda: &mut Agenda, id: CopyId, drive: u32, k: u32, rows: u32) {
        let physical = self.slots[drive as usize].expect("a copy that can be read has a drive");
        let row = self.row_in(self.copying.get(id).first, drive) + k;
        self.copying.get_mut(id).commands += 1;
        let of = CopyRead { id, k, rows, tried: 1 << physical };
        self.command(agenda, physical, request_of(Op::Read, row, rows), Command::CopyRead(of));
    }

    /// The row of a copy in this place.
    fn row_in(&self, first: Place, drive: u32) -> u32 {
        self.layout.copies(first).find(|at| at.drive == drive).expect("a copy is there").row
    }

    /// Rows have been read, or could not be corrected: then they are read one by one, and each bad one from another drive.
    pub(super) fn copy_read(&mut self, agenda: &mut Agenda, of: CopyRead, physical: usize, failed: bool) {
        let CopyRead { id, k, rows, tried } = of;
        let place = self.slots.iter().position(|&slot| slot == Some(physical));
        if failed
            && rows > 1
            && let Some(drive) = place
        {
            self.counters.reread_pages += u64::from(rows);
            (k..k + rows).for_each(|k| self.read_copy(agenda, id, drive as u32, k, 1));
        } else if failed {
            self.counters.media_error_pages += u64::from(rows);
            if let Some(drive) = place {
                self.count_errors(drive as u32, rows);
                self.copying.get_mut(id).bad.push((drive as u32, k));
            }
            let first = after(self.copying.get(id).first, k);
            if let Some((at, other)) = self.nearest(first, rows, tried) {
                let tried = tried | 1 << other;
                let request = request_of(Op::Read, at.row, rows);
                self.command(agenda, other, request, Command::CopyRead(CopyRead { tried, ..of }));
                return;
            }
            // There is nothing to write back, neither here nor to those asked before.
            self.counters.unrecovered_pages += u64::from(rows);
            let of = self.copying.get_mut(id);
            of.bad.retain(|&(_, page)| page != k);
            of.lost = true;
        }
        if self.copy_command_done(id) {
            self.write_copies_back(agenda, id);
        }
    }

    fn copy_command_done(&mut self, id: CopyId) -> bool {
        let of = self.copying.get_mut(id);
        of.commands -= 1;
        of.commands == 0
    }

    // ---- writing --------------------------------------------------------------------------------------

    /// All is read: rows go to new drives, and bad pages back to theirs.
    fn write_copies_back(&mut self, agenda: &mut Agenda, id: CopyId) {
        let of = self.copying.get_mut(id);
        let (first, rows, why, bad) = (of.first, of.rows, of.why, std::mem::take(&mut of.bad));
        if let Why::Rebuild { to, row } = why {
            for drive in bits(to & self.present()) {
                self.write_copy(agenda, id, Place { drive, row }, rows, true);
            }
        }
        for (drive, k) in bad {
            if self.slots[drive as usize].is_some() {
                self.counters.repaired_pages += 1;
                let row = self.row_in(first, drive) + k;
                self.write_copy(agenda, id, Place { drive, row }, 1, false);
            }
        }
        if self.copying.get(id).commands == 0 {
            self.end_copy(agenda, id);
        }
    }

    fn write_copy(&mut self, agenda: &mut Agenda, id: CopyId, at: Place, rows: u32, all: bool) {
        let Place { drive, row } = at;
        let physical = self.slots[drive as usize].expect("places without a drive are left out");
        self.copying.get_mut(id).commands += 1;
        let request = request_of(Op::Write, row, rows);
        self.command(agenda, physical, request, Command::CopyWrite { id, drive, all });
    }

    /// A drive has taken what was written, `all` rows of a rebuild or a page; `there` unless it has been lost meanwhile.
    pub(super) fn copy_written(
        &mut self,
        agenda: &mut Agenda,
        id: CopyId,
        drive: u32,
        all: bool,
        there: bool,
    ) {
        let of = self.copying.get(id);
        if let Why::Rebuild { row, .. } = of.why
            && all
            && there
        {
            for &(k, held) in &of.held {
                self.contents.restore(Place { drive, row: row + k }, held);
            }
        }
        if self.copy_command_done(id) {
            self.end_copy(agenda, id);
        }
    }

    fn end_copy(&mut self, agenda: &mut Agenda, id: CopyId) {
        let of = self.copying.remove(id);
        match of.why {
            Why::Rebuild { row, .. } => (row..row + of.rows).for_each(|row| self.row_part_done(row)),
            Why::Scrub => {
                for k in 0..of.rows {
                    self.compare_copies(after(of.first, k));
                    self.row_part_done(of.first.row + k);
                }
            }
            Why::Repair { job, .. } if of.lost => {
                self.jobs.get_mut(job).failed = true;
                self.part_done(job);
            }
            Why::Repair { job, read, failures, .. } => self.read_again(agenda, job, read, failures),
        }
        self.release_held(agenda);
    }

    fn compare_copies(&mut self, first: Place) {
        if !self.contents.follows(first.row) {
            return;
        }
        let copies: Vec<Place> = self.layout.copies(first).collect();
        let there = copies.into_iter().filter(|at| self.readable(at.row) >> at.drive & 1 == 1);
        let mut held: Vec<Place> = there.collect();
        let Some(one) = held.pop().map(|at| self.contents.held(at)) else { return };
        let differ = held.into_iter().any(|at| self.contents.held(at) != one);
        self.counters.scrub_mismatches += u64::from(differ);
    }

    /// A read of the host that failed is submitted again.
    fn read_again(&mut self, agenda: &mut Agenda, job: RequestId, read: Sectors, failures: u32) {
        let (first, rows) = self.rows_of(read);
        let (at, physical) = self.nearest(first, rows, 0).expect("no drive is lost with all copies");
        let request = request_at(Op::Read, at, read.from, read.to - read.from);
        let failures = failures + 1;
        self.command(agenda, physical, request, Command::Host { job, read: Some(read), failures });
    }
}
