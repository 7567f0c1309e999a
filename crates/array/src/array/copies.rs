//! The rebuild of a drive of RAID-1 or RAID-10: rows are read from a copy and written to the empty drive, 64 KiB at a time.
//!
//! Rows being copied are closed to writes of the host, and begin to be copied when the writes to them that are under way
//! have ended; md's barriers do the same, for wider stretches. Otherwise a write could be overtaken by an older copy.

use super::{Array, Command, UNIT_SECTORS};
use crate::layout::Place;
use crate::stripes::bits;
use crate::sync::{BATCH, Kind};
use interpulse_drive::config::Level;
use interpulse_engine::Agenda;
use interpulse_workload::{Op, Request};

/// Rows being copied.
#[derive(Debug)]
pub(super) struct Copying {
    /// The first of the rows of the drives that lack them.
    row: u32,
    rows: u32,
    /// These drives' places, one bit each.
    to: u32,
    /// The first of the rows of the drive that they are read from.
    from: Place,
    /// Writes of the host under way to one of the rows.
    writes: u32,
    /// Commands under way for it.
    commands: u32,
    /// What the followed ones of its rows hold.
    held: Vec<(u32, u64)>,
}

impl Copying {
    /// Whether these rows of this drive are among those that are closed.
    fn closes(&self, at: Place, rows: u32) -> bool {
        let meets = |first: u32| at.row < first + self.rows && first < at.row + rows;
        (self.to >> at.drive & 1 == 1 && meets(self.row))
            || (self.from.drive == at.drive && meets(self.from.row))
    }
}

impl Array {
    /// Begins the next rows that the rate allows, as many as lie in one chunk.
    pub(crate) fn begin_copies(&mut self, agenda: &mut Agenda) {
        let sync = self.sync.as_mut().expect("it is under way");
        let Kind::Rebuild(drives) = sync.kind else { unreachable!("copies are not scrubbed") };
        let (row, allowed) = sync.may_begin();
        let chunk = if self.spec.level == Level::Raid1 { self.layout.rows } else { self.layout.chunk };
        let rows = allowed.min(BATCH).min(chunk - row % chunk);
        let wanted = drives & !self.readable(row + rows - 1) & self.present();
        let mut parts: Vec<(u32, Place)> = Vec::new();
        for drive in bits(wanted) {
            let Some(unit) = self.layout.unit_at(drive, row) else { continue };
            let first = self.layout.place(unit);
            match parts.last_mut() {
                // One reading is enough for mirrors of the same rows.
                Some((to, of)) if *of == first => *to |= 1 << drive,
                _ => parts.push((1 << drive, first)),
            }
        }
        let sync = self.sync.as_mut().expect("it is under way");
        sync.begin_rows(rows, parts.len() as u32);
        for (to, first) in parts {
            let (from, _) = self.nearest(first, rows, 0).expect("no drive is lost with all copies");
            let copying = Copying { row, rows, to, from, writes: 0, commands: 0, held: Vec::new() };
            let writes = self.writes_in_the_way(&copying);
            let id = self.copying.insert(Copying { writes, ..copying });
            if writes == 0 {
                self.read_copy(agenda, id);
            }
        }
    }

    /// Writes of the host under way to rows that are to be closed.
    fn writes_in_the_way(&self, copying: &Copying) -> u32 {
        let mut count = 0;
        for drive in bits(copying.to | 1 << copying.from.drive) {
            let Some(physical) = self.slots[drive as usize] else { continue };
            for command in &self.commands[physical] {
                if let Command::CopiedWrite { row, rows, .. } = *command {
                    count += u32::from(copying.closes(Place { drive, row }, rows));
                }
            }
        }
        count
    }

    /// Whether the host must not write these units now.
    #[inline]
    pub(super) fn is_being_copied(&self, first: Place, units: u32) -> bool {
        self.copying.live() > 0
            && self.layout.copies(first).any(|at| self.copying.iter().any(|(_, of)| of.closes(at, units)))
    }

    /// A write of the host has ended; copies that waited for it may begin.
    pub(super) fn write_ended(&mut self, agenda: &mut Agenda, physical: usize, row: u32, rows: u32) {
        if self.copying.live() == 0 {
            return;
        }
        let Some(drive) = self.slots.iter().position(|&slot| slot == Some(physical)) else { return };
        let at = Place { drive: drive as u32, row };
        let waiting = |of: &Copying| of.writes > 0 && of.closes(at, rows);
        let ids: Vec<u32> = self.copying.iter().filter(|(_, of)| waiting(of)).map(|(id, _)| id).collect();
        for id in ids {
            let of = self.copying.get_mut(id);
            of.writes -= 1;
            if of.writes == 0 {
                self.read_copy(agenda, id);
            }
        }
    }

    /// Drives have been lost: copies that wait no longer do so for writes to them, and may have to be read elsewhere.
    pub(super) fn recount_copies(&mut self, agenda: &mut Agenda) {
        let waiting = self.copying.iter().filter(|(_, of)| of.writes > 0);
        let ids: Vec<u32> = waiting.map(|(id, _)| id).collect();
        for id in ids {
            let (from, _) = self.source(id);
            self.copying.get_mut(id).from = from;
            let writes = self.writes_in_the_way(self.copying.get(id));
            self.copying.get_mut(id).writes = writes;
            if writes == 0 {
                self.read_copy(agenda, id);
            }
        }
    }

    /// Where the rows of a copy can be read: the first of them, and the drive.
    fn source(&self, id: u32) -> (Place, usize) {
        let &Copying { row, rows, to, .. } = self.copying.get(id);
        let unit = self.layout.unit_at(to.trailing_zeros(), row).expect("what is copied is data");
        self.nearest(self.layout.place(unit), rows, 0).expect("no drive is lost with all copies")
    }

    fn read_copy(&mut self, agenda: &mut Agenda, id: u32) {
        let &Copying { row, rows, to, .. } = self.copying.get(id);
        let unit = self.layout.unit_at(to.trailing_zeros(), row).expect("what is copied is data");
        let first = self.layout.place(unit);
        let (from, physical) = self.source(id);
        let followed = (0..rows).filter(|k| self.contents.follows(first.row + k)).collect::<Vec<u32>>();
        let held = followed
            .into_iter()
            .map(|k| (k, self.contents.held(Place { row: from.row + k, ..from })))
            .collect();
        let of = self.copying.get_mut(id);
        (of.from, of.held, of.commands) = (from, held, 1);
        let request = read(from.row, rows);
        let tried = 1 << physical;
        self.command(agenda, physical, request, Command::CopyRead { id, first: 0, rows, tried });
    }

    /// Rows have been read, or could not be corrected: then they are read one by one, and each bad one from another drive.
    pub(super) fn copy_read(
        &mut self,
        agenda: &mut Agenda,
        (id, first, rows, tried): (u32, u32, u32, u64),
        physical: usize,
        failed: bool,
    ) {
        if failed && rows > 1 {
            self.counters.reread_pages += u64::from(rows);
            self.copying.get_mut(id).commands += rows - 1;
            let from = self.copying.get(id).from.row;
            for k in first..first + rows {
                let again = Command::CopyRead { id, first: k, rows: 1, tried };
                self.command(agenda, physical, read(from + k, 1), again);
            }
            return;
        }
        if failed {
            self.counters.media_error_pages += 1;
            self.count_errors_of(physical, 1);
            let &Copying { row, to, .. } = self.copying.get(id);
            let unit = self.layout.unit_at(to.trailing_zeros(), row + first).expect("what is copied is data");
            if let Some((at, other)) = self.nearest(self.layout.place(unit), 1, tried) {
                let tried = tried | 1 << other;
                self.command(agenda, other, read(at.row, 1), Command::CopyRead { id, first, rows, tried });
                return;
            }
            self.counters.unrecovered_pages += 1;
        }
        if self.copy_command_done(id) {
            self.write_copy(agenda, id);
        }
    }

    fn copy_command_done(&mut self, id: u32) -> bool {
        let of = self.copying.get_mut(id);
        of.commands -= 1;
        of.commands == 0
    }

    fn write_copy(&mut self, agenda: &mut Agenda, id: u32) {
        let &Copying { row, rows, to, .. } = self.copying.get(id);
        let to = to & self.present();
        self.copying.get_mut(id).commands = to.count_ones();
        for drive in bits(to) {
            let physical = self.slots[drive as usize].expect("those that are not there are left out");
            let request = Request { op: Op::Write, ..read(row, rows) };
            self.command(agenda, physical, request, Command::CopyWrite { id, drive });
        }
        if to == 0 {
            self.end_copy(agenda, id);
        }
    }

    /// A drive has taken its copy.
    pub(super) fn copy_written(&mut self, agenda: &mut Agenda, id: u32, drive: u32, there: bool) {
        if there {
            let of = self.copying.get(id);
            for &(k, held) in &of.held {
                self.contents.restore(Place { drive, row: of.row + k }, held);
            }
        }
        if self.copy_command_done(id) {
            self.end_copy(agenda, id);
        }
    }

    fn end_copy(&mut self, agenda: &mut Agenda, id: u32) {
        let of = self.copying.remove(id);
        (of.row..of.row + of.rows).for_each(|row| self.row_part_done(row));
        self.release_held(agenda);
    }
}

fn read(row: u32, rows: u32) -> Request {
    let sectors = (u64::from(rows) * UNIT_SECTORS) as u32;
    Request { op: Op::Read, sector: u64::from(row) * UNIT_SECTORS, sectors }
}
