//! Data that a drive could not correct, as md treats it: made up by parity, then written back, or had from a copy.
//!
//! A command fails as a whole: NVMe gives a status to the command, not to its blocks. RAID-5 and RAID-6 therefore reads the pages of
//! a failed one again, one by one, before it takes them for bad. md: `raid5_end_read_request` and `retry_aligned_read` in
//! drivers/md/raid5.c.

use super::{Array, Piece, Via, pages_of};
use crate::copying::Sectors;
use crate::outbox::PageMove;
use interpulse_engine::{Agenda, Op, RequestId};

impl Array {
    /// A drive has failed a part of `job`: a read of this stretch that it could not correct, or a write that had to read.
    #[cold]
    pub(super) fn host_part_failed(
        &mut self,
        agenda: &mut Agenda,
        physical: usize,
        job: RequestId,
        read: Option<Sectors>,
        failures: u32,
    ) {
        let Some(read) = read else {
            self.jobs.get_mut(job).failed = true;
            self.part_done(job);
            return;
        };
        let Sectors { from, to } = read;
        let pages = u64::from(pages_of(from, to - from));
        if self.spec.level.parities() > 0 {
            let via = if pages == 1 { Via::Parity } else { Via::Reread };
            if pages == 1 {
                self.counters.media_error_pages += 1;
                self.count_errors_of(physical, 1);
            } else {
                self.counters.reread_pages += pages;
            }
            let piece = Piece { job, op: Op::Read, from, to, via };
            self.enter_or_wait(agenda, piece);
            return;
        }
        // Each copy may have pages of its own that are bad; more failures than that are bad luck.
        if self.spec.level.mirrors() && failures <= self.spec.drives {
            self.repair_copies(agenda, physical, job, read, failures);
            return;
        }
        self.counters.media_error_pages += pages;
        self.count_errors_of(physical, pages as u32);
        self.counters.unrecovered_pages += pages;
        self.jobs.get_mut(job).failed = true;
        self.part_done(job);
    }

    /// A drive could not correct so many pages; one that is no longer in the array is not counted.
    pub(super) fn count_errors_of(&mut self, physical: usize, pages: u32) {
        if let Some(drive) = self.slots.iter().position(|&slot| slot == Some(physical)) {
            self.count_errors(drive as u32, pages);
        }
    }

    /// A read that `h` was part of has failed: its page alone is read again.
    #[cold]
    pub(super) fn reread(&mut self, h: u32, drive: u32) {
        self.counters.reread_pages += 1;
        let row = self.cache.head(h).row;
        self.outbox.push(PageMove { drive, write: false, row, head: h, alone: true });
    }

    /// The drive could not correct the page of `h` that has just been read; `there` unless it has been lost meanwhile.
    #[cold]
    pub(super) fn page_failed(&mut self, h: u32, drive: u32, there: bool) {
        self.counters.media_error_pages += 1;
        if there {
            self.count_errors(drive, 1);
        }
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

    /// Writes pages that have been computed back, if their drives could not correct them. Who reads them need not wait
    /// for that.
    pub(crate) fn repair(&mut self, agenda: &mut Agenda, h: u32, computed: u32) {
        let head = self.cache.head_mut(h);
        let bad = std::mem::take(&mut head.bad) & computed;
        if bad == 0 {
            return;
        }
        let pages = bad & self.present();
        if pages != 0 {
            self.counters.repaired_pages += u64::from(pages.count_ones());
            self.write_back(h, pages);
        }
        self.serve_reads(agenda, h);
    }
}
