//! Media errors: reconstruction of uncorrectable pages from parity or a mirror, and write-back, as in md.
//!
//! A command fails as a whole: NVMe reports status per command, not per block. RAID-5 and RAID-6 therefore reread the pages
//! of a failed command one by one before they count a page as bad. md: `raid5_end_read_request` and `retry_aligned_read` in
//! drivers/md/raid5.c.

use crate::array::command_batcher::PageCommand;
use crate::array::{Array, SubRequest, Via, pages_of};
use crate::failure::mirror_resync::Sectors;
use interpulse_engine::{EventQueue, Op, RequestId};

impl Array {
    /// Handles a failed part of `job`: an uncorrectable read, or a write that had to read.
    #[cold]
    pub(crate) fn host_part_failed(
        &mut self,
        events: &mut EventQueue,
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
            let part = SubRequest { job, op: Op::Read, from, to, via };
            self.enter_or_wait(events, part);
            return;
        }
        // Each copy may have its own bad pages; the limit bounds the retries.
        if self.spec.level.mirrors() && failures <= self.spec.drives {
            self.repair_copies(events, physical, job, read, failures);
            return;
        }
        self.counters.media_error_pages += pages;
        self.count_errors_of(physical, pages as u32);
        self.counters.unrecovered_pages += pages;
        self.jobs.get_mut(job).failed = true;
        self.part_done(job);
    }

    /// Counts uncorrectable pages of a drive that is still in the array.
    pub(crate) fn count_errors_of(&mut self, physical: usize, pages: u32) {
        if let Some(drive) = self.slots.iter().position(|&slot| slot == Some(physical)) {
            self.count_errors(drive as u32, pages);
        }
    }

    /// Rereads one page of a failed merged read.
    #[cold]
    pub(crate) fn reread(&mut self, h: u32, drive: u32) {
        self.counters.reread_pages += 1;
        let row = self.cache.head(h).row;
        self.batch.push(PageCommand { drive, write: false, row, head: h, alone: true, fail_fast: false });
    }

    /// Marks a page of `h` as uncorrectable; `there` unless its drive has failed meanwhile.
    #[cold]
    pub(crate) fn page_failed(&mut self, h: u32, drive: u32, there: bool) {
        self.counters.media_error_pages += 1;
        if there {
            self.count_errors(drive, 1);
        }
        let head = self.cache.head_mut(h);
        head.uptodate &= !(1 << drive);
        head.bad |= 1 << drive;
        let row = head.row;
        if self.contents.samples(row) {
            self.contents.invalidate(row, drive);
        }
    }

    /// Uses uncorrectable pages as sensed because more pages are missing than parity recovers; dependent requests fail.
    #[cold]
    pub(crate) fn use_uncorrected(&mut self, h: u32) {
        let row = self.cache.head(h).row;
        // Pages of a drive that has failed since are computed.
        let held = self.readable(row);
        let head = self.cache.head_mut(h);
        let bad = std::mem::take(&mut head.bad) & held;
        head.uptodate |= bad;
        head.spoiled |= bad;
        self.counters.unrecovered_pages += u64::from(bad.count_ones());
        if self.contents.samples(row) {
            (0..self.spec.drives).filter(|d| bad >> d & 1 == 1).for_each(|d| self.contents.fetch(row, d));
        }
    }

    /// Writes reconstructed pages back; reads do not wait for that.
    pub(crate) fn repair(&mut self, events: &mut EventQueue, h: u32, computed: u32) {
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
        self.serve_reads(events, h);
    }
}
