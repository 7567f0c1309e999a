//! The door of a device: what takes requests and completes them in simulated time, be it a drive, or an array of drives.
//!
//! Whoever offers it load, its host, owns the agenda. It submits requests, has the device handle its timers, and looks at
//! it whenever there is [news](Device::has_news). A device never calls up.
//!
//! ```text
//! start, then until the end:  handle(timer) or a submission -> has_news? -> news, take_news ... advance, flush
//! close, then the same until nothing is outstanding, then audit
//! ```

use crate::account::Account;
use crate::agenda::{Agenda, ResourceId};
use crate::request::{Op, Request};
use crate::time::SimTime;
use std::ops::Range;

crate::numbers! {
    /// A request that a device has taken.
    RequestId
    /// What a request is called by who asks for it.
    Tag
}

/// A request that has completed.
#[derive(Clone, Copy, Debug)]
pub struct Completion<'a> {
    /// The number that its submission returned.
    pub id: RequestId,
    /// What the host calls it.
    pub tag: Tag,
    /// What was asked for.
    pub op: Op,
    /// Bytes moved.
    pub bytes: u64,
    /// When it was submitted.
    pub submitted: SimTime,
    /// Data that it had to read could not be corrected.
    pub failed: bool,
    /// A read that would have had to wait for garbage collection and was told not to: it has no data.
    pub busy: bool,
    /// Where its time went, if the device keeps that; it adds up to the latency.
    pub account: Option<&'a Account>,
}

/// What a device tells its host; of a request this much.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum News<T> {
    /// A request has completed.
    Completed(T),
    /// After a loss of power the host is served again. At the cut its outstanding requests and its timers are gone.
    Served,
}

/// How far ahead of its submission a device is told of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ahead {
    /// Several requests come before it.
    Far,
    /// It is among the next few, and was told of before: what it looks up first has been fetched.
    Near,
}

/// What the audits looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditReport {
    /// Requests issued, all of which completed.
    pub requests: u64,
    /// Logical units mapped to flash, all of which agree with the physical side.
    pub mapped_units: u64,
    /// Reads whose version was checked.
    pub versions_checked: u64,
}

/// What takes requests and completes them.
pub trait Device {
    /// What messages call one, with its article.
    const NAME: &'static str;
    /// Requests of one instant are gathered: they are submitted between what waits inside, that of the last flow first, and
    /// go on with [`Device::flush`]. Otherwise each goes its own way at once.
    const GATHERS: bool;

    /// Its resources on the agenda, the timers of its host included.
    fn resources(&self) -> Range<u32>;
    /// The resource of the host's `k`-th timer. Where it stands among the device's own says what comes first at equal
    /// times.
    fn host_timer(&self, k: u32) -> ResourceId;
    /// Sectors of 512 bytes that a host may address.
    fn capacity_sectors(&self) -> u64;

    /// Arms its timers; called once, at time zero. Err tells the user why it cannot run.
    fn start(&mut self, agenda: &mut Agenda) -> Result<(), String>;
    /// A request is likely to be submitted: the time to fetch from memory what it will look up. Nothing else may follow from it.
    #[inline]
    fn expect(&self, _request: &Request, _ahead: Ahead) {}
    /// Takes a request now, on one of its queues. `tag` is what the completion will say; the number returned is free for
    /// another request when that has been taken.
    fn submit(&mut self, agenda: &mut Agenda, queue: u32, tag: Tag, request: Request) -> RequestId;
    /// Handles the timer of `resource`, one of [`Device::resources`]. A timer of the host's is left to it: `Some(k)`.
    fn handle(&mut self, agenda: &mut Agenda, resource: ResourceId) -> Option<u32>;
    /// Whether the host must look at the device before the next event. [`Device::outstanding`] falls only with news.
    fn has_news(&self) -> bool;
    /// The oldest news.
    fn news(&self) -> Option<News<Completion<'_>>>;
    /// Removes the oldest news.
    fn take_news(&mut self);

    /// Of a device that gathers: goes on with what waits inside and comes before another request of the host; false if there
    /// was nothing to do.
    #[inline]
    fn advance(&mut self, _agenda: &mut Agenda) -> bool {
        false
    }
    /// Of a device that gathers: goes on with what comes after all requests of the host; false if there was nothing to do.
    #[inline]
    fn background(&mut self, _agenda: &mut Agenda) -> bool {
        false
    }
    /// Of a device that gathers: sends what has been gathered; false if there was nothing to do.
    #[inline]
    fn flush(&mut self, _agenda: &mut Agenda) -> bool {
        false
    }

    /// Requests submitted and not completed; once closed, also whatever else must end before an audit.
    fn outstanding(&self) -> usize;
    /// Requests completed since the start.
    fn completed(&self) -> u64;
    /// Calls `each` with every request submitted and not completed.
    fn for_outstanding(&self, each: &mut dyn FnMut(Op, SimTime));
    /// A measurement window begins.
    fn begin_window(&mut self);
    /// The measurement window ends.
    fn end_window(&mut self) {}
    /// No more requests will be submitted; those outstanding go on.
    fn close(&mut self);
    /// Checks, once nothing is outstanding, that nothing was lost; of large maps one entry in `stride`. Err names what does
    /// not hold.
    fn audit(&self, now: SimTime, stride: usize) -> Result<AuditReport, String>;
    /// Describes a state in which requests are outstanding and nothing is going to happen.
    fn diagnosis(&self, agenda: &Agenda) -> String;
}
