//! Host requests inside the drive.

use crate::account::book_flash;
use crate::numbers::Lpn;
use interpulse_engine::account::{Account, Cause};
use interpulse_engine::{Duration, Op, RequestId, SimTime, Status, Tag};
use interpulse_flash::nand::txn::Txn;

/// Request between submission and completion.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Operation.
    pub op: Op,
    /// Submission queue.
    pub queue: u16,
    /// The host's number of the request.
    pub tag: Tag,
    /// First logical unit.
    pub lpn: Lpn,
    /// Units touched.
    pub units: u32,
    /// Requested bytes.
    pub bytes: u64,
    /// Whether the request partly covers its first and its last unit.
    pub partial: [bool; 2],
    /// Flash reads outstanding, of which a single one need not be counted; commands outstanding of a split request.
    pub reads_left: u32,
    /// Units admitted to the write cache so far.
    pub admitted: u32,
    /// Of these, units whose program the write waits for (`cache.acknowledge = "when-programmed"`).
    pub unprogrammed: u32,
    /// Time of submission.
    pub submitted: SimTime,
    /// Time up to which its account is booked.
    pub mark: SimTime,
    /// Whether it completes with an error, and which.
    pub status: Status,
    /// Whether a read fails rather than waits for operations of its dies.
    pub fail_fast: FailFast,
    /// Placement handle of a write.
    pub handle: u8,
    /// Latency in ns by cause.
    pub account: Account,
}

/// Fast failure of a read (IODA, SOSP'21).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailFast {
    /// It waits.
    No,
    /// It fails if it would have to wait.
    Allowed,
    /// It has failed.
    Failed,
}

impl Request {
    /// Books the time since the last booking on `cause`.
    #[inline]
    pub fn book(&mut self, cause: Cause, now: SimTime) {
        self.account[cause as usize] += now.as_ns() - self.mark.as_ns();
        self.mark = now;
    }

    /// Books a page read that ends at `now`; true if it was the last one, whose account the request then takes over.
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

/// Requests in progress, by number.
pub type Requests = interpulse_engine::Slab<RequestId, Request>;
