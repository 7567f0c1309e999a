//! Host requests inside the drive.

use crate::account::book_flash;
use crate::numbers::Lpn;
use interpulse_engine::account::{Account, Cause};
use interpulse_engine::{Duration, Op, RequestId, SimTime, Tag};
use interpulse_flash::nand::txn::Txn;

/// A request between its submission and its completion.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// What is asked for.
    pub op: Op,
    /// The queue it came through.
    pub queue: u16,
    /// What the host calls it.
    pub tag: Tag,
    /// First logical unit.
    pub lpn: Lpn,
    /// Units touched.
    pub units: u32,
    /// Bytes asked for.
    pub bytes: u64,
    /// Whether the first and the last unit are covered only in part.
    pub partial: [bool; 2],
    /// Flash reads outstanding; where there is only one, it need not be counted.
    pub reads_left: u32,
    /// Units admitted to the write cache so far.
    pub admitted: u32,
    /// Of these, units whose program the write waits for (`cache.acknowledge = "when-programmed"`).
    pub unprogrammed: u32,
    /// When the host submitted it.
    pub submitted: SimTime,
    /// Up to when its account is booked.
    pub mark: SimTime,
    /// A flash read of it held errors that nothing corrected: it completes with an error.
    pub failed: bool,
    /// A read of an owner that fails rather than wait for garbage collection.
    pub fail_fast: bool,
    /// It did.
    pub busy: bool,
    /// Where its time went, in ns by cause.
    pub account: Account,
}

impl Request {
    /// Books the time since the last booking on `cause`.
    #[inline]
    pub fn book(&mut self, cause: Cause, now: SimTime) {
        self.account[cause as usize] += now.as_ns() - self.mark.as_ns();
        self.mark = now;
    }

    /// A page read of the request ends at `now`; true if it was the last one, whose account becomes that of the
    /// request: the last read to finish is the one that it waited for.
    #[inline]
    pub fn page_read(&mut self, txn: &Txn, now: SimTime) -> bool {
        if self.reads_left > 1 {
            self.reads_left -= 1;
            return false;
        }
        self.reads_left = 0;
        book_flash(&mut self.account, txn);
        self.mark = txn.mark + Duration::from_ns(txn.own);
        self.book(Cause::Decode, now);
        true
    }
}

/// Requests under way, by number.
pub type Requests = interpulse_engine::Slab<RequestId, Request>;
