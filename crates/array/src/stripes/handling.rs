//! Stripe handling: state transitions of a row in the stripe cache.
//!
//! A row that needs prereads is delayed while other rows preread; when those complete, all delayed rows are activated at
//! once. Small writes that arrive meanwhile join their rows, which is how md batches them (`raid5_activate_delayed`,
//! `IO_THRESHOLD` 1). Full-stripe writes never wait.

use crate::array::Array;
use crate::array::command_batcher::PageCommand;
use crate::power_loss::partial_parity_log::LogRow;
use crate::raid::bits;
use crate::raid::plan::{Row, WriteStrategy};
use crate::stripes::cache::PageWrite;
use interpulse_engine::EventQueue;

impl Array {
    /// Adds a write to a row; a write that overlaps pending ones waits.
    pub(crate) fn add_write(&mut self, h: u32, write: PageWrite) {
        let head = self.cache.head_mut(h);
        let pending = &mut head.sectors[write.drive as usize];
        if *pending & write.sectors != 0 || !head.waiters.is_empty() {
            head.waiters.push_back(write);
            self.counters.overlaps += 1;
            return;
        }
        *pending |= write.sectors;
        head.writes.push(write);
    }

    pub(crate) fn activate_delayed(&mut self, events: &mut EventQueue) {
        let mut rows = std::mem::take(&mut self.delayed);
        for &h in &rows {
            let head = self.cache.head_mut(h);
            head.delayed = false;
            // The head may have become a full-stripe write, or hold another row.
            if !head.writes.is_empty() {
                head.prereading = true;
                self.prereading += 1;
            }
        }
        for &h in &rows {
            if self.cache.head(h).prereading {
                self.handle_stripe(events, h);
            }
        }
        rows.clear();
        if self.delayed.is_empty() {
            self.delayed = rows;
        }
    }

    fn stop_prereading(&mut self, h: u32) {
        if std::mem::take(&mut self.cache.head_mut(h).prereading) {
            self.prereading -= 1;
        }
    }

    /// Advances the state of `h` as far as possible (md's `handle_stripe`).
    pub(crate) fn handle_stripe(&mut self, events: &mut EventQueue, h: u32) {
        loop {
            let head = self.cache.head(h);
            if head.busy > 0 {
                return;
            }
            if head.avoided != 0
                && (!head.may_avoid()
                    || self.readable(head.row).count_ones() < self.spec.drives
                    || self.recovery.inconsistent.contains(&head.row))
            {
                self.stop_avoiding(events, h);
                continue;
            }
            let readable = self.readable(head.row) & !head.bad & !head.avoided;
            let all = ((1u64 << self.spec.drives) - 1) as u32;
            let missing = readable & !head.uptodate;
            let lost = all & !readable & !head.uptodate;
            let mut need = 0;
            let mut wants_lost = false;
            let mut served = false;
            for read in &head.reads {
                let bit = 1 << read.drive;
                served |= head.uptodate & bit != 0;
                wants_lost |= lost & bit != 0;
                need |= readable & bit & !head.uptodate;
            }
            if served {
                self.serve_reads(events, h);
                continue;
            }
            if head.sync {
                (need, wants_lost) = (need | missing, wants_lost | (lost != 0));
                if missing == 0 && lost == 0 && head.bad == 0 {
                    if self.sync_row(h) {
                        return;
                    }
                    continue;
                }
            }
            // An uncorrectable page is reconstructed and written back, whatever the row is needed for.
            if wants_lost || head.bad != 0 {
                let beyond = lost.count_ones() > self.spec.level.parities() || self.parity_is_unusable(h);
                if missing == 0 && beyond {
                    self.use_uncorrected(h);
                    continue;
                }
                if missing == 0 {
                    self.compute(h, lost);
                    self.repair(events, h, lost);
                    continue;
                }
                need |= missing;
            }
            let head = self.cache.head(h);
            if need == 0 && !head.writes.is_empty() {
                let plan = self.row_of(h, readable);
                let choice = if self.parity_may_be_inconsistent(head.row) {
                    plan.reconstruct()
                } else {
                    plan.choose()
                };
                if choice.reads == 0 {
                    if choice.strategy == WriteStrategy::ComputeFirst {
                        self.compute(h, lost);
                        continue;
                    }
                    self.write_row(events, h, choice.strategy, readable);
                    return;
                }
                if !self.cache.head(h).prereading {
                    let head = self.cache.head_mut(h);
                    if !std::mem::replace(&mut head.delayed, true) {
                        self.delayed.push(h);
                        self.counters.delayed += 1;
                    }
                    return;
                }
                need = choice.reads;
                self.counters.preread_pages += u64::from(need.count_ones());
            }
            if need == 0 {
                self.stop_prereading(h);
                self.cache.release(h);
                return;
            }
            self.read_pages(h, need);
            return;
        }
    }

    /// Whether a power cut left the row with possibly inconsistent parity, so that reconstruction would return wrong data.
    /// (md does not check this.)
    #[cold]
    fn parity_is_unusable(&self, h: u32) -> bool {
        let head = self.cache.head(h);
        let inconsistent =
            !self.recovery.inconsistent.is_empty() && self.recovery.inconsistent.contains(&head.row);
        inconsistent && head.bad & !self.layout.parity_mask(head.row) != 0
    }

    fn row_of(&self, h: u32, readable: u32) -> Row {
        let head = self.cache.head(h);
        let (mut to_write, mut overwrite) = (0, 0);
        for (drive, &sectors) in head.sectors.iter().enumerate() {
            to_write |= u32::from(sectors != 0) << drive;
            overwrite |= u32::from(sectors == 0xff) << drive;
        }
        let parity = self.layout.parity_mask(head.row);
        Row { drives: self.spec.drives, parity, readable, uptodate: head.uptodate, to_write, overwrite }
    }

    pub(crate) fn serve_reads(&mut self, events: &mut EventQueue, h: u32) {
        let mut reads = std::mem::take(&mut self.cache.head_mut(h).reads);
        let head = self.cache.head(h);
        let (row, uptodate, spoiled) = (head.row, head.uptodate, head.spoiled);
        reads.retain(|read| {
            let here = uptodate >> read.drive & 1 == 1;
            if here {
                if self.contents.samples(row) {
                    self.contents.read_cached(row, read.drive, read.least);
                }
                if spoiled >> read.drive & 1 == 1 {
                    self.page_spoiled(read.job);
                }
                self.answer_cached(events, read.job);
            }
            !here
        });
        self.cache.head_mut(h).reads = reads;
    }

    /// Computes unreadable pages from all others.
    fn compute(&mut self, h: u32, lost: u32) {
        let head = self.cache.head_mut(h);
        debug_assert!((1..=self.spec.level.parities()).contains(&lost.count_ones()));
        head.uptodate |= lost;
        if head.spoiled != 0 {
            head.spoiled |= lost;
        }
        let row = head.row;
        if self.contents.samples(row) {
            self.contents.compute(row, lost);
        }
    }

    fn read_pages(&mut self, h: u32, need: u32) {
        let head = self.cache.head_mut(h);
        let row = head.row;
        head.busy = need.count_ones();
        let alone = head.alone;
        let fail_fast = head.avoided != 0 && self.reads_around(h, need);
        for drive in bits(need) {
            self.batch.push(PageCommand { drive, write: false, row, head: h, alone, fail_fast });
            if self.contents.samples(row) {
                self.contents.fetch(row, drive);
            }
        }
        // Nothing uses the pages before all of them have arrived.
        self.cache.head_mut(h).uptodate |= need;
    }

    /// Writes the pending pages of a row with their parity.
    fn write_row(&mut self, events: &mut EventQueue, h: u32, strategy: WriteStrategy, readable: u32) {
        self.stop_prereading(h);
        let row = self.cache.head(h).row;
        let plan = self.row_of(h, readable);
        let head = self.cache.head_mut(h);
        debug_assert!(head.writing.is_empty());
        std::mem::swap(&mut head.writes, &mut head.writing);
        head.sectors.fill(0);
        let pages = plan.to_write | plan.parity;
        head.uptodate |= pages;
        if head.spoiled != 0 {
            self.fail_spoiled_writes(h, &plan, strategy);
        }
        let mut partial = 0;
        if self.contents.samples(row) {
            let changes = plan.to_write;
            if self.ppl.is_some() && strategy != WriteStrategy::FullStripe {
                partial = self.contents.partial_parity(row, strategy, changes);
            }
            let head = self.cache.head(h);
            let writes = head.writing.iter().map(|w| (w.drive, w.version));
            self.contents.drain(row, strategy, writes);
        }
        match strategy {
            WriteStrategy::FullStripe => self.counters.full_stripe_writes += 1,
            WriteStrategy::ReadModifyWrite => self.counters.read_modify_writes += 1,
            WriteStrategy::ReconstructWrite => self.counters.reconstruct_writes += 1,
            WriteStrategy::ComputeFirst => unreachable!("a row is written by one of three strategies"),
        }
        let all = ((1u64 << self.spec.drives) - 1) as u32;
        self.counters.degraded_writes += u64::from(readable != all);
        let mut busy = 0;
        let mut to_move = 0;
        for drive in bits(pages) {
            // A replacement drive is written before it becomes readable.
            if self.slots[drive as usize].is_none() {
                continue;
            }
            let of = if plan.parity >> drive & 1 == 1 {
                &mut self.counters.parity_pages
            } else {
                &mut self.counters.data_pages
            };
            *of += 1;
            if let Some(updates) = &mut self.updates {
                updates.note(events.now(), drive, row, plan.parity >> drive & 1 == 1);
            }
            busy += 1;
            to_move |= 1 << drive;
        }
        self.cache.head_mut(h).busy = busy;
        let changes = plan.to_write;
        let logged = LogRow {
            head: h,
            row,
            changes,
            pages: to_move,
            partial,
            whole: strategy == WriteStrategy::FullStripe,
        };
        if self.ppl.is_none() || !self.log_row(plan.parity.trailing_zeros(), logged) {
            for drive in bits(to_move) {
                self.batch.push(PageCommand {
                    drive,
                    write: true,
                    row,
                    head: h,
                    alone: false,
                    fail_fast: false,
                });
            }
        }
        self.admit_waiters(h);
        debug_assert!(
            busy > 0,
            "at least one page more is written than drives can be missing at {}",
            events.now()
        );
    }

    /// Fails writes whose parity depends on an unrecoverable page.
    #[cold]
    fn fail_spoiled_writes(&mut self, h: u32, plan: &Row, strategy: WriteStrategy) {
        let head = self.cache.head(h);
        let used = match strategy {
            WriteStrategy::ReadModifyWrite => plan.to_write | plan.parity,
            WriteStrategy::ReconstructWrite => !(plan.overwrite | plan.parity),
            WriteStrategy::FullStripe | WriteStrategy::ComputeFirst => 0,
        };
        if used & head.spoiled != 0 {
            for write in &head.writing {
                self.jobs.get_mut(write.job).failed = true;
            }
        }
    }

    /// Admits waiting writes that no longer overlap pending ones, in order.
    fn admit_waiters(&mut self, h: u32) {
        let head = self.cache.head_mut(h);
        while let Some(&write) = head.waiters.front() {
            let pending = &mut head.sectors[write.drive as usize];
            if *pending & write.sectors != 0 {
                return;
            }
            *pending |= write.sectors;
            head.writes.push(write);
            head.waiters.pop_front();
        }
    }

    pub(crate) fn write_rebuilt(&mut self, h: u32, pages: u32) {
        self.cache.head_mut(h).sync_writing = true;
        self.write_pages(h, pages);
    }

    pub(crate) fn write_back(&mut self, h: u32, pages: u32) {
        self.cache.head_mut(h).repairing = true;
        self.write_pages(h, pages);
    }

    fn write_pages(&mut self, h: u32, pages: u32) {
        let head = self.cache.head_mut(h);
        head.busy = pages.count_ones();
        let row = head.row;
        for drive in bits(pages) {
            self.batch.push(PageCommand { drive, write: true, row, head: h, alone: false, fail_fast: false });
        }
    }

    /// Completes a page command of `h`; `there` unless its drive has failed meanwhile.
    pub(crate) fn page_moved(&mut self, events: &mut EventQueue, h: u32, drive: u32, there: bool) {
        let head = self.cache.head_mut(h);
        head.busy -= 1;
        let row = head.row;
        let written = head.sync_writing || head.repairing || !head.writing.is_empty();
        let last = head.busy == 0;
        if written && there && self.contents.samples(row) {
            self.contents.store(row, drive);
        }
        if !last {
            return;
        }
        self.log_done(h);
        self.cache.head_mut(h).repairing = false;
        if std::mem::take(&mut self.cache.head_mut(h).sync_writing) {
            self.row_synced(h);
        }
        let mut writing = std::mem::take(&mut self.cache.head_mut(h).writing);
        for write in writing.drain(..) {
            if self.contents.samples(row) {
                self.contents.acknowledge(row, write.drive, write.version);
            }
            self.part_done(write.job);
        }
        self.cache.head_mut(h).writing = writing;
        self.handle_stripe(events, h);
    }
}
