//! Start, steps and end of a background sync.

use crate::array::Array;
use crate::failure::background_sync::{BATCH, BackgroundSync, SyncAction};
use interpulse_engine::{Bytes, EventQueue};

const MAX_ROWS_IN_FLIGHT: usize = 512;

impl Array {
    pub(crate) fn start_scrub(&mut self, events: &mut EventQueue) {
        if let Some(rate) = self.spec.scrub_rate {
            self.start_sync(events, SyncAction::Scrub, rate);
        }
    }

    /// Ends the resync when redundancy is lost and detaches its rows in flight.
    pub(crate) fn end_resync(&mut self) {
        if !self.sync.as_ref().is_some_and(|sync| sync.kind == SyncAction::Resync) {
            return;
        }
        self.ended_resync = self.sync.take();
        for head in self.cache.all_mut() {
            head.sync = false;
            head.repairing |= std::mem::take(&mut head.sync_writing);
        }
    }

    /// Whether the parity of `row` may be inconsistent.
    #[inline]
    pub(crate) fn parity_may_be_inconsistent(&self, row: u32) -> bool {
        matches!(&self.sync, Some(BackgroundSync { kind: SyncAction::Resync, base, .. }) if *base <= row)
    }

    pub(crate) fn start_sync(&mut self, events: &mut EventQueue, kind: SyncAction, rate: Bytes) {
        self.sync = Some(BackgroundSync::new(kind, events.now(), rate));
        self.rebuild_changes_limits(matches!(kind, SyncAction::Rebuild(_)));
        events.arm(self.own(2), events.now());
    }

    /// Stops the sync after a drive failure; as in md, one rebuild then covers all positions with missing rows.
    pub(crate) fn sync_after_failure(&mut self, drive: u32) {
        let replaced = self.slots[drive as usize].is_some();
        let Some(sync) = &mut self.sync else { return };
        if let SyncAction::Rebuild(drives) = &mut sync.kind {
            let bit = 1 << drive;
            let was_rebuilt = *drives & bit != 0;
            *drives &= !bit;
            sync.stopping |= sync.finished.is_none() && (replaced || (was_rebuilt && *drives == 0));
        } else {
            sync.stopping |= sync.finished.is_none();
        }
    }

    /// Starts the rebuild of missing rows when the stopped sync has no rows in flight.
    pub(crate) fn restart_sync(&mut self, events: &mut EventQueue) {
        if self.sync.as_ref().is_some_and(|sync| sync.finished.is_none() && sync.in_flight > 0) {
            return;
        }
        let stopped = self.sync.as_ref().is_none_or(|sync| sync.finished.is_some() || sync.stopping);
        let places = self.failures.absent & self.present();
        if !stopped {
            return;
        }
        self.rebuild_changes_limits(false);
        if matches!(&self.sync, Some(BackgroundSync { kind: SyncAction::Scrub, .. })) {
            self.scrub = self.sync.take();
        }
        if let Some(rate) = self.spec.rebuild_rate
            && places != 0
        {
            self.start_sync(events, SyncAction::Rebuild(places), rate);
        }
    }

    pub(crate) fn on_sync_timer(&mut self, events: &mut EventQueue) {
        let timer = self.own(2);
        let Some(sync) = &mut self.sync else { return };
        if self.closed || sync.stopping {
            return;
        }
        sync.batches += 1;
        sync.allowed = (sync.allowed + BATCH).min(self.layout.rows);
        if sync.allowed < self.layout.rows {
            let due = sync.due(sync.batches).max(events.now());
            if due <= events.horizon() {
                events.arm(timer, due);
            }
        }
    }

    /// Starts the next row if the rate and the stripe cache (a quarter of its heads) allow it.
    pub(crate) fn sync_rows(&mut self, events: &mut EventQueue) -> bool {
        let Some(sync) = &mut self.sync else { return false };
        if sync.base == self.layout.rows && sync.finished.is_none() {
            sync.finished = Some(events.now());
            if let SyncAction::Rebuild(drives) = sync.kind {
                self.failures.absent &= !drives;
            }
            let stopping = sync.stopping;
            self.rebuild_changes_limits(false);
            if stopping {
                self.restart_sync(events);
            }
            return false;
        }
        if sync.stopping && sync.in_flight == 0 && sync.finished.is_none() {
            self.restart_sync(events);
            return false;
        }
        let copies = self.spec.level.mirrors();
        let most = if copies { MAX_ROWS_IN_FLIGHT } else { MAX_ROWS_IN_FLIGHT.min(self.cache.most() / 4) };
        if self.closed || sync.stopping || sync.next == sync.allowed || sync.in_flight >= most {
            return false;
        }
        if copies {
            self.begin_copies(events);
            return true;
        }
        let (row, scrub) = (sync.next, !matches!(sync.kind, SyncAction::Rebuild(_)));
        let Some(h) = self.take_head(row) else { return false };
        self.sync.as_mut().expect("a sync is running").begin_rows(1, 1);
        let head = self.cache.head_mut(h);
        head.sync = true;
        if scrub && head.busy == 0 && head.writes.is_empty() {
            // A scrub reads the drives, not the cache, except for rows that are being written.
            head.uptodate = 0;
        }
        self.handle_stripe(events, h);
        true
    }

    /// Continues a row whose pages are all cached. True if the row is now being written.
    pub(crate) fn sync_row(&mut self, h: u32) -> bool {
        let row = self.cache.head(h).row;
        match self.sync.as_ref().expect("a sync has marked the row").kind {
            SyncAction::Rebuild(drives) => {
                let pages = drives & !self.readable(row) & self.present();
                if pages != 0 {
                    self.write_rebuilt(h, pages);
                    return true;
                }
            }
            SyncAction::Resync => {
                let parity = self.layout.parity_mask(row);
                let sampled = self.contents.samples(row);
                let fits = !sampled || self.contents.cached_parity_holds(row);
                let inconsistent = self.recovery.inconsistent.remove(&row);
                assert!(
                    fits || inconsistent,
                    "the parity of row {row} does not fit, and no request was writing it"
                );
                if inconsistent {
                    if sampled {
                        self.contents.compute(row, parity);
                    }
                    self.write_rebuilt(h, parity);
                    return true;
                }
            }
            SyncAction::Scrub => {
                if self.contents.samples(row) && !self.contents.cached_parity_holds(row) {
                    self.counters.scrub_mismatches += 1;
                }
            }
        }
        self.row_synced(h);
        false
    }

    pub(crate) fn row_synced(&mut self, h: u32) {
        let head = self.cache.head_mut(h);
        head.sync = false;
        let row = head.row;
        self.row_part_done(row);
    }

    pub(crate) fn row_part_done(&mut self, row: u32) {
        let sync = self.sync.as_mut().expect("a sync has the row in flight");
        let left = &mut sync.left[(row - sync.base) as usize];
        *left -= 1;
        let done = *left == 0;
        sync.in_flight -= 1;
        sync.advance();
        match sync.kind {
            SyncAction::Rebuild(drives) => {
                self.counters.rebuilt_rows += u64::from(done);
                if done {
                    self.recovery.inconsistent.remove(&row);
                }
                self.failures.restore(drives, sync.base);
            }
            SyncAction::Scrub => self.counters.scrubbed_rows += u64::from(done),
            SyncAction::Resync => self.counters.resynced_rows += u64::from(done),
        }
    }
}
