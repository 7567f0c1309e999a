//! Data that a drive could not correct, as md treats it: made up by parity or a mirror, with RAID-5 written back.
//!
//! A command fails as a whole: NVMe gives a status to the command, not to its blocks. RAID-5 therefore reads the pages of
//! a failed one again, one by one, before it takes them for bad. md: `raid5_end_read_request` and `retry_aligned_read` in
//! drivers/md/raid5.c.

use super::{Array, Command, Piece, UNIT_SECTORS, Via};
use crate::outbox::PageMove;
use interpulse_drive::config::Level;
use interpulse_engine::Agenda;
use interpulse_workload::{Op, Request};

impl Array {
    /// A drive has failed a part of `job`: a read of this stretch that it could not correct, or a write that had to read.
    #[cold]
    pub(super) fn host_part_failed(
        &mut self,
        agenda: &mut Agenda,
        job: u32,
        read: Option<(u64, u64)>,
        tried: u64,
    ) {
        let Some((from, to)) = read else {
            self.jobs.get_mut(job).failed = true;
            self.part_done(agenda, job);
            return;
        };
        let pages = to.div_ceil(UNIT_SECTORS) - from / UNIT_SECTORS;
        let others = (0..self.drives.len()).filter(|d| tried >> d & 1 == 0);
        match (self.spec.level, others.min_by_key(|&d| self.pending[d])) {
            (Level::Raid5, _) => {
                let via = if pages == 1 { Via::Parity } else { Via::Reread };
                if pages == 1 {
                    self.counters.media_error_pages += 1;
                } else {
                    self.counters.reread_pages += pages;
                }
                let piece = Piece { job, op: Op::Read, from, to, via };
                if self.blocked.is_empty() {
                    self.enter(agenda, piece);
                } else {
                    self.counters.cache_waits += 1;
                    self.blocked.push_back(piece);
                }
            }
            (Level::Raid1, Some(mirror)) => {
                self.counters.media_error_pages += pages;
                let request = Request { op: Op::Read, sector: from, sectors: (to - from) as u32 };
                let tried = tried | 1 << mirror;
                self.command(agenda, mirror, request, Command::Host { job, read, tried });
            }
            (Level::Raid0 | Level::Raid1, _) => {
                self.counters.media_error_pages += pages;
                self.counters.unrecovered_pages += pages;
                self.jobs.get_mut(job).failed = true;
                self.part_done(agenda, job);
            }
        }
    }

    /// A read that `h` was part of has failed: its page alone is read again.
    #[cold]
    pub(super) fn reread(&mut self, h: u32, drive: u32) {
        self.counters.reread_pages += 1;
        let row = self.cache.head(h).row;
        self.outbox.push(PageMove { drive, write: false, row, head: h, alone: true });
    }

    /// The drive could not correct the page of `h` that has just been read.
    #[cold]
    pub(super) fn page_failed(&mut self, h: u32, drive: u32) {
        self.counters.media_error_pages += 1;
        let head = self.cache.head_mut(h);
        head.uptodate &= !(1 << drive);
        head.bad |= 1 << drive;
        let row = head.row;
        if self.contents.follows(row) {
            self.contents.forget(row, drive);
        }
    }

    /// More pages of the row are missing than parity makes up: those that could not be corrected are used as they were
    /// sensed, and whoever depends on them is told.
    #[cold]
    pub(crate) fn give_up(&mut self, h: u32) {
        let row = self.cache.head(h).row;
        // One of a drive that has been lost since is computed, from what there is.
        let held = self.readable(row);
        let head = self.cache.head_mut(h);
        let bad = std::mem::take(&mut head.bad) & held;
        head.uptodate |= bad;
        head.spoiled |= bad;
        self.counters.unrecovered_pages += u64::from(bad.count_ones());
        if self.contents.follows(row) {
            (0..self.spec.drives).filter(|d| bad >> d & 1 == 1).for_each(|d| self.contents.fetch(row, d));
        }
    }

    /// Writes the page that has been computed back, if it was one that its drive could not correct. Who reads it need not
    /// wait for that.
    pub(crate) fn repair(&mut self, agenda: &mut Agenda, h: u32, computed: u32) {
        let head = self.cache.head_mut(h);
        if std::mem::take(&mut head.bad) == 0 {
            return;
        }
        let drive = computed.trailing_zeros();
        if self.slots[drive as usize].is_some() {
            self.counters.repaired_pages += 1;
            self.write_back(h, drive);
        }
        self.serve_reads(agenda, h);
    }
}
