//! Commands of a mirror resync: reads of copies, and writes to new drives and of bad pages.

use crate::array::{Array, Command, pages_of, request_at, request_of};
use crate::failure::background_sync::{BATCH, SyncAction};
use crate::failure::mirror_resync::{CopyId, CopyRead, MirrorResync, ResyncReason, Sectors};
use crate::raid::bits;
use crate::raid::layout::PageAddress;
use interpulse_engine::{EventQueue, Op, RequestId};

/// Address of the `k`-th row after `at`.
fn after(at: PageAddress, k: u32) -> PageAddress {
    PageAddress { row: at.row + k, ..at }
}

impl Array {
    /// Starts the next rows of a rebuild or scrub, within one chunk.
    pub(crate) fn begin_copies(&mut self, events: &mut EventQueue) {
        let sync = self.sync.as_mut().expect("a sync is running");
        let (kind, (row, allowed)) = (sync.kind, sync.may_begin());
        let chunk = if self.spec.level.stripes() { self.layout.chunk } else { self.layout.rows };
        let rows = allowed.min(BATCH).min(chunk - row % chunk);
        let wanted = match kind {
            SyncAction::Rebuild(drives) => drives & !self.readable(row + rows - 1) & self.present(),
            SyncAction::Scrub => self.present(),
            SyncAction::Resync => {
                unreachable!("mirrors with a power loss are rejected by the configuration")
            }
        };
        let mut parts: Vec<(PageAddress, ResyncReason)> = Vec::new();
        for drive in bits(wanted) {
            let Some(unit) = self.layout.unit_at(drive, row) else { continue };
            let first = self.layout.place(unit);
            match (kind, parts.last_mut()) {
                // Mirrors of the same rows share one read.
                (_, Some((of, ResyncReason::Rebuild { to, .. }))) if *of == first => *to |= 1 << drive,
                (SyncAction::Rebuild(_), _) => {
                    parts.push((first, ResyncReason::Rebuild { to: 1 << drive, row }))
                }
                (SyncAction::Scrub, _) if first == (PageAddress { drive, row }) => {
                    parts.push((first, ResyncReason::Scrub))
                }
                (SyncAction::Scrub | SyncAction::Resync, _) => {}
            }
        }
        let sync = self.sync.as_mut().expect("a sync is running");
        sync.begin_rows(rows, parts.len() as u32);
        for (first, why) in parts {
            self.close_rows(events, first, rows, why);
        }
    }

    /// Repairs the copies of a failed host read, then rereads; a drive that has failed since is skipped.
    pub(crate) fn repair_copies(
        &mut self,
        events: &mut EventQueue,
        physical: usize,
        job: RequestId,
        read: Sectors,
        failures: u32,
    ) {
        let (first, rows) = self.rows_of(read);
        match self.slots.iter().position(|&slot| slot == Some(physical)) {
            Some(place) => {
                self.counters.reread_pages += if rows > 1 { u64::from(rows) } else { 0 };
                let why = ResyncReason::Repair { job, read, failures, place: place as u32, physical };
                self.close_rows(events, first, rows, why);
            }
            None => self.read_again(events, job, read, failures),
        }
    }

    fn rows_of(&self, read: Sectors) -> (PageAddress, u32) {
        let (first, sectors) = self.stretch(read.from, read.to);
        (first, pages_of(read.from, sectors))
    }

    fn close_rows(&mut self, events: &mut EventQueue, first: PageAddress, rows: u32, why: ResyncReason) {
        let (held, bad) = (Vec::new(), Vec::new());
        let resync = MirrorResync { first, rows, why, writes: 0, commands: 0, held, bad, lost: false };
        let writes = self.conflicting_writes(&resync);
        let id = self.mirror_resyncs.insert(MirrorResync { writes, ..resync });
        if writes == 0 {
            self.read_copies(events, id);
        }
    }

    /// Counts host writes in flight to the rows to close.
    fn conflicting_writes(&self, resync: &MirrorResync) -> u32 {
        let in_flight = self.slots.iter().flatten().flat_map(|&physical| self.drive_commands[physical].all());
        let overlaps = |command: &&Command| matches!(**command, Command::CopiedWrite { first, rows, .. } if resync.closes(first, rows));
        in_flight.filter(overlaps).count() as u32
    }

    /// Whether a mirror resync has closed these pages to host writes.
    #[inline]
    pub(crate) fn is_closed(&self, first: PageAddress, units: u32) -> bool {
        self.mirror_resyncs.live() > 0 && self.mirror_resyncs.iter().any(|(_, of)| of.closes(first, units))
    }

    /// Completes a host write, which a mirror resync may wait for.
    pub(crate) fn write_ended(
        &mut self,
        events: &mut EventQueue,
        physical: usize,
        first: PageAddress,
        rows: u32,
    ) {
        if self.mirror_resyncs.live() == 0 || !self.slots.contains(&Some(physical)) {
            return;
        }
        let waiting = |of: &MirrorResync| of.writes > 0 && of.closes(first, rows);
        let ids: Vec<CopyId> =
            self.mirror_resyncs.iter().filter(|(_, of)| waiting(of)).map(|(id, _)| id).collect();
        for id in ids {
            let of = self.mirror_resyncs.get_mut(id);
            of.writes -= 1;
            if of.writes == 0 {
                self.read_copies(events, id);
            }
        }
    }

    /// Recounts the writes to wait for after drive failures.
    pub(crate) fn recount_copies(&mut self, events: &mut EventQueue) {
        let waiting = self.mirror_resyncs.iter().filter(|(_, of)| of.writes > 0);
        let ids: Vec<CopyId> = waiting.map(|(id, _)| id).collect();
        for id in ids {
            let writes = self.conflicting_writes(self.mirror_resyncs.get(id));
            self.mirror_resyncs.get_mut(id).writes = writes;
            if writes == 0 {
                self.read_copies(events, id);
            }
        }
    }

    // ---- reading --------------------------------------------------------------------------------------

    fn read_copies(&mut self, events: &mut EventQueue, id: CopyId) {
        let &MirrorResync { first, rows, why, .. } = self.mirror_resyncs.get(id);
        match why {
            ResyncReason::Rebuild { .. } => {
                let (from, _) = self.nearest(first, rows, 0).expect("no drive is lost with all copies");
                let sampled: Vec<u32> = (0..rows).filter(|k| self.contents.samples(first.row + k)).collect();
                let held = sampled.into_iter().map(|k| (k, self.contents.held(after(from, k)))).collect();
                self.mirror_resyncs.get_mut(id).held = held;
                self.read_copy(events, id, from.drive, 0, rows);
            }
            ResyncReason::Scrub => {
                let copies: Vec<PageAddress> = self.layout.copies(first).collect();
                for at in copies {
                    if self.readable(at.row + rows - 1) >> at.drive & 1 == 1 {
                        self.read_copy(events, id, at.drive, 0, rows);
                    }
                }
            }
            // A drive that has failed since is skipped.
            ResyncReason::Repair { place, physical, .. } if self.slots[place as usize] == Some(physical) => {
                if rows == 1 {
                    // The only page of the read is already known as bad.
                    self.mirror_resyncs.get_mut(id).commands = 1;
                    self.copy_read(
                        events,
                        CopyRead { id, k: 0, rows: 1, tried: 1 << physical },
                        physical,
                        true,
                    );
                    return;
                }
                (0..rows).for_each(|k| self.read_copy(events, id, place, k, 1));
            }
            ResyncReason::Repair { .. } => {}
        }
        if self.mirror_resyncs.get(id).commands == 0 {
            self.write_copies_back(events, id);
        }
    }

    /// Reads rows from the `k`-th from the copy at this position.
    fn read_copy(&mut self, events: &mut EventQueue, id: CopyId, drive: u32, k: u32, rows: u32) {
        let physical = self.slots[drive as usize].expect("a copy that can be read has a drive");
        let row = self.row_in(self.mirror_resyncs.get(id).first, drive) + k;
        self.mirror_resyncs.get_mut(id).commands += 1;
        let of = CopyRead { id, k, rows, tried: 1 << physical };
        self.command(events, physical, request_of(Op::Read, row, rows), Command::CopyRead(of));
    }

    fn row_in(&self, first: PageAddress, drive: u32) -> u32 {
        self.layout.copies(first).find(|at| at.drive == drive).expect("a copy is there").row
    }

    /// Handles a read: uncorrectable rows are reread one by one, each bad one from another drive.
    pub(crate) fn copy_read(&mut self, events: &mut EventQueue, of: CopyRead, physical: usize, failed: bool) {
        let CopyRead { id, k, rows, tried } = of;
        let place = self.slots.iter().position(|&slot| slot == Some(physical));
        if failed
            && rows > 1
            && let Some(drive) = place
        {
            self.counters.reread_pages += u64::from(rows);
            (k..k + rows).for_each(|k| self.read_copy(events, id, drive as u32, k, 1));
        } else if failed {
            self.counters.media_error_pages += u64::from(rows);
            if let Some(drive) = place {
                self.count_errors(drive as u32, rows);
                self.mirror_resyncs.get_mut(id).bad.push((drive as u32, k));
            }
            let first = after(self.mirror_resyncs.get(id).first, k);
            if let Some((at, other)) = self.nearest(first, rows, tried) {
                let tried = tried | 1 << other;
                let request = request_of(Op::Read, at.row, rows);
                self.command(events, other, request, Command::CopyRead(CopyRead { tried, ..of }));
                return;
            }
            // No copy is readable, so nothing is written back.
            self.counters.unrecovered_pages += u64::from(rows);
            let of = self.mirror_resyncs.get_mut(id);
            of.bad.retain(|&(_, page)| page != k);
            of.lost = true;
        }
        if self.copy_command_done(id) {
            self.write_copies_back(events, id);
        }
    }

    fn copy_command_done(&mut self, id: CopyId) -> bool {
        let of = self.mirror_resyncs.get_mut(id);
        of.commands -= 1;
        of.commands == 0
    }

    // ---- writing --------------------------------------------------------------------------------------

    /// Writes rows to new drives, and bad pages back to theirs.
    fn write_copies_back(&mut self, events: &mut EventQueue, id: CopyId) {
        let of = self.mirror_resyncs.get_mut(id);
        let (first, rows, why, bad) = (of.first, of.rows, of.why, std::mem::take(&mut of.bad));
        if let ResyncReason::Rebuild { to, row } = why {
            for drive in bits(to & self.present()) {
                self.write_copy(events, id, PageAddress { drive, row }, rows, true);
            }
        }
        for (drive, k) in bad {
            if self.slots[drive as usize].is_some() {
                self.counters.repaired_pages += 1;
                let row = self.row_in(first, drive) + k;
                self.write_copy(events, id, PageAddress { drive, row }, 1, false);
            }
        }
        if self.mirror_resyncs.get(id).commands == 0 {
            self.end_copy(events, id);
        }
    }

    fn write_copy(&mut self, events: &mut EventQueue, id: CopyId, at: PageAddress, rows: u32, all: bool) {
        let PageAddress { drive, row } = at;
        let physical = self.slots[drive as usize].expect("places without a drive are left out");
        self.mirror_resyncs.get_mut(id).commands += 1;
        let request = request_of(Op::Write, row, rows);
        self.command(events, physical, request, Command::CopyWrite { id, drive, all });
    }

    /// Completes a write: `all` rows of a rebuild or one page; `there` unless the drive has failed meanwhile.
    pub(crate) fn copy_written(
        &mut self,
        events: &mut EventQueue,
        id: CopyId,
        drive: u32,
        all: bool,
        there: bool,
    ) {
        let of = self.mirror_resyncs.get(id);
        if let ResyncReason::Rebuild { row, .. } = of.why
            && all
            && there
        {
            for &(k, held) in &of.held {
                self.contents.restore(PageAddress { drive, row: row + k }, held);
            }
        }
        if self.copy_command_done(id) {
            self.end_copy(events, id);
        }
    }

    fn end_copy(&mut self, events: &mut EventQueue, id: CopyId) {
        let of = self.mirror_resyncs.remove(id);
        match of.why {
            ResyncReason::Rebuild { row, .. } => (row..row + of.rows).for_each(|row| self.row_part_done(row)),
            ResyncReason::Scrub => {
                for k in 0..of.rows {
                    self.compare_copies(after(of.first, k));
                    self.row_part_done(of.first.row + k);
                }
            }
            ResyncReason::Repair { job, .. } if of.lost => {
                self.jobs.get_mut(job).failed = true;
                self.part_done(job);
            }
            ResyncReason::Repair { job, read, failures, .. } => self.read_again(events, job, read, failures),
        }
        self.release_held(events);
    }

    fn compare_copies(&mut self, first: PageAddress) {
        if !self.contents.samples(first.row) {
            return;
        }
        let copies: Vec<PageAddress> = self.layout.copies(first).collect();
        let there = copies.into_iter().filter(|at| self.readable(at.row) >> at.drive & 1 == 1);
        let mut held: Vec<PageAddress> = there.collect();
        let Some(one) = held.pop().map(|at| self.contents.held(at)) else { return };
        let differ = held.into_iter().any(|at| self.contents.held(at) != one);
        self.counters.scrub_mismatches += u64::from(differ);
    }

    fn read_again(&mut self, events: &mut EventQueue, job: RequestId, read: Sectors, failures: u32) {
        let (first, rows) = self.rows_of(read);
        let (at, physical) = self.nearest(first, rows, 0).expect("no drive is lost with all copies");
        let request = request_at(Op::Read, at, read.from, read.to - read.from);
        let failures = failures + 1;
        self.command(events, physical, request, Command::Host { job, read: Some(read), failures });
    }
}
