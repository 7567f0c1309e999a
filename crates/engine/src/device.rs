//! Device interface: a drive, or an array of drives, that accepts requests and completes them in simulated time.
//!
//! The host owns the event queue. It submits requests, passes timers to the device, and polls the device for
//! [events](Device::has_event). A device never calls its host.
//!
//! ```text
//! start; repeat: handle(timer) or submit -> while has_event: event, pop_event -> advance, background, flush
//! close; the same until nothing is outstanding; audit
//! ```

use crate::account::Account;
use crate::data_store::DataStore;
use crate::event_queue::{EventQueue, ResourceId};
use crate::request::{Op, Request};
use crate::status::Status;
use crate::time::SimTime;
use std::ops::Range;

crate::numbers! {
    /// Number of a request that a device has accepted.
    RequestId
    /// The host's name for a request.
    Tag
}

/// A completed request.
#[derive(Clone, Copy, Debug)]
pub struct Completion<'a> {
    /// The number that its submission returned.
    pub id: RequestId,
    /// The tag of its submission.
    pub tag: Tag,
    /// The operation.
    pub op: Op,
    /// Bytes moved.
    pub bytes: u64,
    /// Time of the submission.
    pub submitted: SimTime,
    /// Whether the request was executed, and otherwise why not.
    pub status: Status,
    /// Sector at which a zone append placed its data.
    pub placed: Option<u64>,
    /// A fast-failing read that would have waited for garbage collection: it has no data.
    pub busy: bool,
    /// Latency by cause, if the device records it; the sum is the latency.
    pub account: Option<&'a Account>,
}

impl Completion<'_> {
    /// Whether the request failed because data was uncorrectable.
    #[inline]
    pub fn is_uncorrectable(&self) -> bool {
        self.status == Status::UnrecoveredReadError
    }
}

/// A request that waits in the host for a place in its submission queue. A device gives it a number when it enters the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// Time of the submission.
    pub submitted: SimTime,
    /// The tag of its submission.
    pub tag: Tag,
    /// Operation and address.
    pub request: Request,
}

/// What a device reports to its host; `T` describes a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeviceEvent<T> {
    /// A request has completed.
    Completed(T),
    /// The device serves requests again after a power loss. The power loss dropped outstanding requests and host timers.
    PowerRestored,
    /// A request has entered its queue although none has completed: [`Device::entered`] returns it.
    Entered,
}

/// How far ahead of its submission a device receives a prefetch hint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PrefetchDistance {
    /// Several requests precede it.
    Far,
    /// It is among the next few. An earlier `Far` hint has already fetched its first lookups.
    Near,
}

/// What an audit checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditReport {
    /// Requests issued, all of which completed.
    pub requests: u64,
    /// Logical units mapped to flash, all of which agree with the physical side.
    pub mapped_units: u64,
    /// Reads whose version was checked.
    pub versions_checked: u64,
}

/// Accepts requests and completes them.
pub trait Device {
    /// Display name, with article.
    const NAME: &'static str;
    /// The device batches requests of one instant: they are submitted between internal steps, the last flow's first, and
    /// start with [`Device::flush`]. Otherwise each request starts at once.
    const BATCHES: bool;

    /// Resources of the device in the event queue, including the timers of its host.
    fn resources(&self) -> Range<u32>;
    /// Resource of the host's `k`-th timer. Its position among the device's resources decides the order at equal times.
    fn host_timer(&self, k: u32) -> ResourceId;
    /// Addressable sectors of 512 bytes.
    fn capacity_sectors(&self) -> u64;
    /// Sectors of the `k`-th namespace, counted from zero; a device without namespaces is one.
    fn namespace_sectors(&self, _k: u32) -> Range<u64> {
        0..self.capacity_sectors()
    }
    /// Store of the data, if the device has one; see [`crate::data_store`].
    fn data_store(&mut self) -> Option<&mut dyn DataStore> {
        None
    }

    /// Arms the device's timers; called once, at time zero. The error says why the device cannot run.
    fn start(&mut self, events: &mut EventQueue) -> Result<(), String>;
    /// Hints that `request` will probably be submitted, so that the device can prefetch map entries. Must not change any
    /// result.
    #[inline]
    fn hint(&self, _request: &Request, _ahead: PrefetchDistance) {}
    /// Stores the list of addresses, in sectors, of a vector command that the host submits next; returns the sector that names it in
    /// the request.
    fn store_addresses(&mut self, _addresses: &[u64]) -> u64 {
        unreachable!("the device has no vector commands")
    }
    /// The request as observers see it: a vector command at the first address of its list.
    fn at_address(&self, request: Request) -> Request {
        request
    }
    /// Submits a request to `queue` now. The returned number is valid until the completion has been popped. `None` for a
    /// request that waits in the host because the queue is full: [`Device::entered`] returns its number later.
    fn submit(
        &mut self,
        events: &mut EventQueue,
        queue: u32,
        tag: Tag,
        request: Request,
    ) -> Option<RequestId>;
    /// Takes the request that has entered its queue in place of the completed one, with its number. The host must ask
    /// after each completion and each [`DeviceEvent::Entered`]. Requests of a queue enter it in the order of their submission.
    #[inline(always)]
    fn entered(&mut self) -> Option<(RequestId, Waiting)> {
        None
    }
    /// Handles the timer of `resource`, one of [`Device::resources`]. Returns `Some(k)` for the host's `k`-th timer, which
    /// the host handles.
    fn handle(&mut self, events: &mut EventQueue, resource: ResourceId) -> Option<u32>;
    /// Whether the host must poll the device before the next timer. [`Device::outstanding`] decreases only with an event.
    fn has_event(&self) -> bool;
    /// The oldest event.
    fn event(&self) -> Option<DeviceEvent<Completion<'_>>>;
    /// Removes the oldest event.
    fn pop_event(&mut self);

    /// With [`Device::BATCHES`]: runs internal work that precedes the host's next request; false if there was none.
    #[inline]
    fn advance(&mut self, _events: &mut EventQueue) -> bool {
        false
    }
    /// With [`Device::BATCHES`]: runs internal work that follows all requests of the host; false if there was none.
    #[inline]
    fn background(&mut self, _events: &mut EventQueue) -> bool {
        false
    }
    /// With [`Device::BATCHES`]: issues the batched requests; false if there were none.
    #[inline]
    fn flush(&mut self, _events: &mut EventQueue) -> bool {
        false
    }

    /// Requests submitted and not completed; after [`Device::close`] also other work that must end before an audit.
    fn outstanding(&self) -> usize;
    /// Requests completed since the start.
    fn completed(&self) -> u64;
    /// Calls `each` with every request submitted and not completed.
    fn for_outstanding(&self, each: &mut dyn FnMut(Op, SimTime));
    /// Calls `each` with every request that waits in the host for a place in its queue, queue by queue in order.
    fn for_waiting(&self, _each: &mut dyn FnMut(Waiting)) {}
    /// Begins a measurement window.
    fn begin_window(&mut self);
    /// Ends the measurement window.
    fn end_window(&mut self) {}
    /// Accepts no more requests; outstanding requests continue.
    fn close(&mut self);
    /// Checks, once nothing is outstanding, that no data was lost; checks one entry in `stride` of large maps. The error
    /// names the violation.
    fn audit(&self, now: SimTime, stride: usize) -> Result<AuditReport, String>;
    /// Describes a deadlock: requests are outstanding, and no timer is armed.
    fn diagnosis(&self, events: &EventQueue) -> String;
}
