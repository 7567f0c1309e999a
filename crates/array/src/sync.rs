//! Rebuild and scrub: rows in order, at most so many bytes a second, beside the host's load.

use interpulse_engine::{Bytes, Duration, SimTime};
use interpulse_flash::geometry::UNIT_BYTES;
use std::collections::VecDeque;

/// Rows that the rate allows at a time: 64 KiB of each drive.
pub(crate) const BATCH: u32 = 16;

/// What is done to the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The pages of these places, one bit each, are had from the others and written.
    Rebuild(u32),
    /// All pages are read and compared with their parity or copies.
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
    pub(crate) rate: Bytes,
    pub(crate) batches: u64,
    /// Rows that the rate allows so far.
    pub(crate) allowed: u32,
    pub(crate) next: u32,
    /// Parts of rows under way.
    pub(crate) under_way: usize,
    /// Rows under way or done after the first one that is not done, in order: parts of each that are left.
    pub(crate) left: VecDeque<u32>,
    /// All rows before this one are done.
    pub(crate) base: u32,
    /// It ends with the rows under way, since drives have been lost.
    pub(crate) stopping: bool,
}

impl Sync {
    pub(crate) fn new(kind: Kind, started: SimTime, rate: Bytes) -> Sync {
        Sync {
            kind,
            started,
            finished: None,
            rate,
            batches: 0,
            allowed: 0,
            next: 0,
            under_way: 0,
            left: VecDeque::new(),
            base: 0,
            stopping: false,
        }
    }

    /// Rows done, without a gap.
    pub fn rows_done(&self) -> u32 {
        self.base
    }

    /// Rows that may begin now, and the first of them.
    pub(crate) fn may_begin(&self) -> (u32, u32) {
        (self.next, self.allowed - self.next)
    }

    /// The next `rows` begin, each in so many parts.
    pub(crate) fn begin_rows(&mut self, rows: u32, parts: u32) {
        self.next += rows;
        self.under_way += (rows * parts) as usize;
        self.left.extend((0..rows).map(|_| parts));
        self.advance();
    }

    pub(crate) fn advance(&mut self) {
        while self.left.front() == Some(&0) {
            self.left.pop_front();
            self.base += 1;
        }
    }

    /// When batch `n` may begin.
    pub(crate) fn due(&self, n: u64) -> SimTime {
        let bytes = u128::from(n) * u128::from(BATCH) * u128::from(UNIT_BYTES);
        self.started + Duration::from_ns((bytes * 1_000_000_000 / u128::from(self.rate.get())) as u64)
    }
}
