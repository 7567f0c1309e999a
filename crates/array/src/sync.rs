//! A lost drive, its rebuild, and the scrub: rows in order, at most so many bytes a second, beside the host's load.

use crate::array::Array;
use interpulse_drive::config::FailureSpec;
use interpulse_engine::{Agenda, Bytes, Duration, SimTime};
use interpulse_flash::geometry::UNIT_BYTES;
use std::collections::VecDeque;

/// Rows that the rate allows at a time: 64 KiB of each drive.
const BATCH: u32 = 16;

/// What is done to the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The page of this place is computed from all others and written.
    Rebuild(u32),
    /// All pages are read and compared with their parity.
    Scrub,
    /// As a scrub, and parity that may not fit after a power cut is written.
    Resync,
}

/// A rebuild or a scrub.
#[derive(Clone, Debug)]
pub struct Sync {
    /// What is done to the rows.
    pub kind: Kind,
    /// When it began.
    pub started: SimTime,
    /// When the last row was done.
    pub finished: Option<SimTime>,
    rate: Bytes,
    batches: u64,
    /// Rows that the rate allows so far.
    allowed: u32,
    next: u32,
    under_way: usize,
    /// Rows under way or done after the first one that is not, in order: whether they are done.
    done: VecDeque<bool>,
    /// All rows before this one are done.
    base: u32,
}

impl Sync {
    fn new(kind: Kind, started: SimTime, rate: Bytes) -> Sync {
        let (done, finished) = (VecDeque::new(), None);
        Sync { kind, started, finished, rate, batches: 0, allowed: 0, next: 0, under_way: 0, done, base: 0 }
    }

    /// Rows done, without a gap.
    pub fn rows_done(&self) -> u32 {
        self.base
    }

    /// When batch `n` may begin.
    fn due(&self, n: u64) -> SimTime {
        let bytes = u128::from(n) * u128::from(BATCH) * u128::from(UNIT_BYTES);
        self.started + Duration::from_ns((bytes * 1_000_000_000 / u128::from(self.rate.get())) as u64)
    }
}

impl Array {
    /// Rows from which on the lost drive's place cannot be read.
    #[inline]
    pub(crate) fn rebuilt(&self) -> u32 {
        match &self.sync {
            Some(Sync { kind: Kind::Rebuild(_), base, .. }) => *base,
            _ => 0,
        }
    }

    /// The drive of the configuration fails: commands that it has taken are answered, it gets no more, and its data is
    /// gone.
    pub(crate) fn fail(&mut self, agenda: &mut Agenda) {
        let Some(FailureSpec { drive, rebuild_rate, .. }) = self.spec.failure else { return };
        if self.closed {
            return;
        }
        if self.is_down() {
            self.hold_failure();
            return;
        }
        self.end_resync();
        self.lost = Some((drive, agenda.now()));
        let (unsure, cache) = (&self.power.unsure, &self.cache);
        let holes = self.contents.lose(drive, |row| (unsure.contains(&row), cache.uses(row)));
        self.counters.write_hole_pages += holes;
        self.slots[drive as usize] = rebuild_rate.map(|_| self.spec.drives as usize);
        if let Some(rate) = rebuild_rate {
            self.start_sync(agenda, Kind::Rebuild(drive), rate);
        }
    }

    pub(crate) fn start_scrub(&mut self, agenda: &mut Agenda) {
        if let Some(rate) = self.spec.scrub_rate {
            self.start_sync(agenda, Kind::Scrub, rate);
        }
    }

    /// Resync ends with the array's redundancy; rows it has in hand are no longer its own.
    fn end_resync(&mut self) {
        if !self.sync.as_ref().is_some_and(|sync| sync.kind == Kind::Resync) {
            return;
        }
        self.ended_resync = self.sync.take();
        for head in self.cache.all_mut() {
            head.sync = false;
            head.repairing |= std::mem::take(&mut head.sync_writing);
        }
    }

    /// Whether the parity of `row` may not fit its data.
    #[inline]
    pub(crate) fn parity_is_unsure(&self, row: u32) -> bool {
        matches!(&self.sync, Some(Sync { kind: Kind::Resync, base, .. }) if *base <= row)
    }

    pub(crate) fn start_sync(&mut self, agenda: &mut Agenda, kind: Kind, rate: Bytes) {
        self.sync = Some(Sync::new(kind, agenda.now(), rate));
        agenda.arm(self.own(2), agenda.now());
    }

    /// The rate allows another batch.
    pub(crate) fn on_sync_timer(&mut self, agenda: &mut Agenda) {
        let timer = self.own(2);
        let Some(sync) = &mut self.sync else { return };
        if self.closed {
            return;
        }
        sync.batches += 1;
        sync.allowed = (sync.allowed + BATCH).min(self.layout.rows);
        if sync.allowed < self.layout.rows {
            let due = sync.due(sync.batches).max(agenda.now());
            if due <= agenda.horizon() {
                agenda.arm(timer, due);
            }
        }
    }

    /// Starts the next row if the rate and the stripe cache allow it; a quarter of the heads are enough for it.
    pub(crate) fn sync_rows(&mut self, agenda: &mut Agenda) -> bool {
        let Some(sync) = &mut self.sync else { return false };
        if sync.base == self.layout.rows && sync.finished.is_none() {
            sync.finished = Some(agenda.now());
        }
        if self.closed || sync.next == sync.allowed || sync.under_way >= (self.cache.most() / 4).min(512) {
            return false;
        }
        let (row, scrub) = (sync.next, !matches!(sync.kind, Kind::Rebuild(_)));
        let Some(h) = self.take_head(row) else { return false };
        let sync = self.sync.as_mut().expect("it is under way");
        sync.next += 1;
        sync.under_way += 1;
        sync.done.push_back(false);
        let head = self.cache.head_mut(h);
        head.sync = true;
        if scrub && head.busy == 0 && head.writes.is_empty() {
            // What is on the drives is compared, not what is in memory. A row that is being written is compared with
            // what has just been moved.
            head.uptodate = 0;
        }
        self.look_at(agenda, h);
        true
    }

    /// All pages of a row that a rebuild or scrub wants are in the stripe cache. True if it is being written now.
    pub(crate) fn sync_row(&mut self, h: u32) -> bool {
        let row = self.cache.head(h).row;
        match self.sync.as_ref().expect("a row is marked by it").kind {
            Kind::Rebuild(drive) => {
                self.write_rebuilt(h, drive);
                true
            }
            Kind::Resync => {
                let parity = self.layout.parity(row);
                let followed = self.contents.follows(row);
                let fits = !followed || self.contents.cached_parity_holds(row);
                let unsure = self.power.unsure.remove(&row);
                assert!(fits || unsure, "the parity of row {row} does not fit, and nobody was writing it");
                if unsure {
                    if followed {
                        self.contents.compute(row, parity);
                    }
                    self.write_rebuilt(h, parity);
                } else {
                    self.row_synced(h);
                }
                unsure
            }
            Kind::Scrub => {
                if self.contents.follows(row) && !self.contents.cached_parity_holds(row) {
                    self.counters.scrub_mismatches += 1;
                }
                self.row_synced(h);
                false
            }
        }
    }

    /// A row is done.
    pub(crate) fn row_synced(&mut self, h: u32) {
        let head = self.cache.head_mut(h);
        head.sync = false;
        let row = head.row;
        let sync = self.sync.as_mut().expect("a row is marked by it");
        match sync.kind {
            Kind::Rebuild(_) => self.counters.rebuilt_rows += 1,
            Kind::Scrub => self.counters.scrubbed_rows += 1,
            Kind::Resync => self.counters.resynced_rows += 1,
        }
        let at = (row - sync.base) as usize;
        sync.done[at] = true;
        sync.under_way -= 1;
        while sync.done.front() == Some(&true) {
            sync.done.pop_front();
            sync.base += 1;
        }
    }
}
