//! Host requests inside the drive.

use crate::numbers::Lpn;
use interpulse_engine::account::{Account, Cause};
use interpulse_engine::{Op, RequestId, SimTime, Tag};

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
    /// Flash reads outstanding.
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
}

/// Requests under way, by number.
pub type Requests = interpulse_engine::Slab<RequestId, Request>;
