//! Background synchronisation (md's sync thread): rebuild, scrub and resync, row by row at a limited rate beside the host load.

use interpulse_engine::{Bytes, Duration, SimTime};
use interpulse_flash::geometry::UNIT_BYTES;
use std::collections::VecDeque;

/// Rows of a batch, the step of the rate limit: 64 KiB of each drive.
pub(crate) const BATCH: u32 = 16;

/// Kind of a background sync (md's `sync_action`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncAction {
    /// Reconstructs and writes the pages of these array positions (bit mask).
    Rebuild(u32),
    /// Reads all pages and compares them with their parity or copies.
    Scrub,
    /// A scrub that rewrites parity that a power cut may have left inconsistent.
    Resync,
}

/// Background sync in progress or finished.
#[derive(Clone, Debug)]
pub struct BackgroundSync {
    pub kind: SyncAction,
    pub started: SimTime,
    /// Completion time of the last row.
    pub finished: Option<SimTime>,
    pub(crate) rate: Bytes,
    pub(crate) batches: u64,
    /// Rows allowed by the rate so far.
    pub(crate) allowed: u32,
    pub(crate) next: u32,
    /// Parts of rows in flight.
    pub(crate) in_flight: usize,
    /// Unfinished parts of each row from `base` on.
    pub(crate) left: VecDeque<u32>,
    /// All rows before this one are done.
    pub(crate) base: u32,
    /// A drive failure stops it after the rows in flight.
    pub(crate) stopping: bool,
}

impl BackgroundSync {
    pub(crate) fn new(kind: SyncAction, started: SimTime, rate: Bytes) -> BackgroundSync {
        BackgroundSync {
            kind,
            started,
            finished: None,
            rate,
            batches: 0,
            allowed: 0,
            next: 0,
            in_flight: 0,
            left: VecDeque::new(),
            base: 0,
            stopping: false,
        }
    }

    pub fn rows_done(&self) -> u32 {
        self.base
    }

    /// Next row and the number of rows that the rate allows.
    pub(crate) fn may_begin(&self) -> (u32, u32) {
        (self.next, self.allowed - self.next)
    }

    /// Starts the next `rows`, each with `parts` parts.
    pub(crate) fn begin_rows(&mut self, rows: u32, parts: u32) {
        self.next += rows;
        self.in_flight += (rows * parts) as usize;
        self.left.extend((0..rows).map(|_| parts));
        self.advance();
    }

    pub(crate) fn advance(&mut self) {
        while self.left.front() == Some(&0) {
            self.left.pop_front();
            self.base += 1;
        }
    }

    /// Start time of batch `n`.
    pub(crate) fn due(&self, n: u64) -> SimTime {
        let bytes = u128::from(n) * u128::from(BATCH) * u128::from(UNIT_BYTES);
        self.started + Duration::from_ns((bytes * 1_000_000_000 / u128::from(self.rate.get())) as u64)
    }
}
