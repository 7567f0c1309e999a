//! Rows begin as the rate of a rebuild or a scrub allows; see [`crate::sync`].

use super::Array;
use crate::sync::{BATCH, Kind, Sync};
use interpulse_engine::{Agenda, Bytes};

/// Most rows under way.
const MOST_UNDER_WAY: usize = 512;

impl Array {
    pub(crate) fn start_scrub(&mut self, agenda: &mut Agenda) {
        if let Some(rate) = self.spec.scrub_rate {
            self.start_sync(agenda, Kind::Scrub, rate);
        }
    }

    /// Resync ends with the array's redundancy; rows it has in hand are no longer its own.
    pub(crate) fn end_resync(&mut self) {
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
        self.rebuild_changes_limits(matches!(kind, Kind::Rebuild(_)));
        agenda.arm(self.own(2), agenda.now());
    }

    /// A drive has been lost: as md does, what is under way ends, and one rebuild begins for all places that lack rows.
    pub(crate) fn lost_in_sync(&mut self, drive: u32) {
        let replaced = self.slots[drive as usize].is_some();
        let Some(sync) = &mut self.sync else { return };
        if let Kind::Rebuild(drives) = &mut sync.kind {
            let bit = 1 << drive;
            let was_rebuilt = *drives & bit != 0;
            *drives &= !bit;
            sync.stopping |= sync.finished.is_none() && (replaced || (was_rebuilt && *drives == 0));
        } else {
            sync.stopping |= sync.finished.is_none();
        }
    }

    /// Begins the rebuild of what has been lost, if nothing is under way that has to end before.
    pub(crate) fn restart_sync(&mut self, agenda: &mut Agenda) {
        if self.sync.as_ref().is_some_and(|sync| sync.finished.is_none() && sync.under_way > 0) {
            return;
        }
        let stopped = self.sync.as_ref().is_none_or(|sync| sync.finished.is_some() || sync.stopping);
        let places = self.losses.absent & self.present();
        if !stopped {
            return;
        }
        self.rebuild_changes_limits(false);
        if matches!(&self.sync, Some(Sync { kind: Kind::Scrub, .. })) {
            self.scrub = self.sync.take();
        }
        if let Some(rate) = self.spec.rebuild_rate
            && places != 0
        {
            self.start_sync(agenda, Kind::Rebuild(places), rate);
        }
    }

    /// The rate allows another batch.
    pub(crate) fn on_sync_timer(&mut self, agenda: &mut Agenda) {
        let timer = self.own(2);
        let Some(sync) = &mut self.sync else { return };
        if self.closed || sync.stopping {
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
            if let Kind::Rebuild(drives) = sync.kind {
                self.losses.absent &= !drives;
            }
            let stopping = sync.stopping;
            self.rebuild_changes_limits(false);
            if stopping {
                self.restart_sync(agenda);
            }
            return false;
        }
        if sync.stopping && sync.under_way == 0 && sync.finished.is_none() {
            self.restart_sync(agenda);
            return false;
        }
        let copies = self.spec.level.mirrors();
        let most = if copies { MOST_UNDER_WAY } else { MOST_UNDER_WAY.min(self.cache.most() / 4) };
        if self.closed || sync.stopping || sync.next == sync.allowed || sync.under_way >= most {
            return false;
        }
        if copies {
            self.begin_copies(agenda);
            return true;
        }
        let (row, scrub) = (sync.next, !matches!(sync.kind, Kind::Rebuild(_)));
        let Some(h) = self.take_head(row) else { return false };
        self.sync.as_mut().expect("it is under way").begin_rows(1, 1);
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
            Kind::Rebuild(drives) => {
                let pages = drives & !self.readable(row) & self.present();
                if pages != 0 {
                    self.write_rebuilt(h, pages);
                    return true;
                }
            }
            Kind::Resync => {
                let parity = self.layout.parity_mask(row);
                let followed = self.contents.follows(row);
                let fits = !followed || self.contents.cached_parity_holds(row);
                let unsure = self.recovery.unsure.remove(&row);
                assert!(fits || unsure, "the parity of row {row} does not fit, and nobody was writing it");
                if unsure {
                    if followed {
                        self.contents.compute(row, parity);
                    }
                    self.write_rebuilt(h, parity);
                    return true;
                }
            }
            Kind::Scrub => {
                if self.contents.follows(row) && !self.contents.cached_parity_holds(row) {
                    self.counters.scrub_mismatches += 1;
                }
            }
        }
        self.row_synced(h);
        false
    }

    /// The row of a head is done.
    pub(crate) fn row_synced(&mut self, h: u32) {
        let head = self.cache.head_mut(h);
        head.sync = false;
        let row = head.row;
        self.row_part_done(row);
    }

    /// A part of a row is done.
    pub(crate) fn row_part_done(&mut self, row: u32) {
        let sync = self.sync.as_mut().expect("a row is under way for it");
        let left = &mut sync.left[(row - sync.base) as usize];
        *left -= 1;
        let done = *left == 0;
        sync.under_way -= 1;
        sync.advance();
        match sync.kind {
            Kind::Rebuild(drives) => {
                self.counters.rebuilt_rows += u64::from(done);
                if done {
                    self.recovery.unsure.remove(&row);
                }
                self.losses.restore(drives, sync.base);
            }
            Kind::Scrub => self.counters.scrubbed_rows += u64::from(done),
            Kind::Resync => self.counters.resynced_rows += u64::from(done),
        }
    }
}
