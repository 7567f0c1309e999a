//! Host interface of a drive: queues, link, firmware, requests in flight, completion events.

use super::egress_queue::{EgressQueue, Ready};
use super::fifo::Line;
use super::firmware::Firmware;
use super::link::Directions;
use super::queues::Queues;
use super::request::{FailFast, Request, Requests};
use super::splitter::Splitter;
use crate::numbers::Lpn;
use crate::spec::HostSpec;
use interpulse_engine::account::{Account, Cause, NO_ACCOUNT};
use interpulse_engine::{
    DeviceEvent, Duration, EventQueue, Op, Request as HostRequest, RequestId, ResourceId, SimTime, Status,
    Streams, Tag, Waiting,
};
use std::collections::VecDeque;

/// Queues, link, firmware, and the requests between submission and completion.
pub struct HostInterface {
    pub(crate) queues: Queues,
    link: Directions,
    pub(crate) firmware: Firmware,
    /// Write data in transfer from the host.
    pub(crate) arriving: Line,
    pub(crate) dram: Line,
    /// Data and completions leaving.
    pub(crate) leaving: EgressQueue,
    /// Entries may be queued before they are ready.
    queues_ahead: bool,
    /// log2 of the sectors of a unit.
    pub(super) unit_shift: u32,
    pub(crate) splitter: Splitter,
    pub(crate) requests: Requests,
    /// Writes waiting for cache slots, in order.
    pub(crate) stalled: VecDeque<RequestId>,
    /// Last units of Write Zeroes commands whose first unit waits for cache slots; the units between were deallocated.
    pub(crate) second_edges: Vec<(RequestId, Lpn)>,
    /// At most one per event.
    pub(crate) news: Option<DeviceEvent<RequestId>>,
    /// Request that entered its queue with the last completion, unless the host has taken it.
    pub(crate) entered: Option<(RequestId, Waiting)>,
    pub(crate) issued: u64,
    pub(crate) completed: u64,
}

impl HostInterface {
    /// Timers of a host interface.
    pub const LINES: u32 = 4;

    /// Host interface of `spec` for units of `unit_bytes`, whose timers begin at `first`.
    pub fn new(spec: &HostSpec, unit_bytes: u64, first: ResourceId) -> HostInterface {
        let timer = |k: u32| ResourceId(first.0 + k);
        let link = Directions::new(&spec.link);
        debug_assert_eq!(HostInterface::LINES, 4);
        HostInterface {
            queues: Queues::new(&spec.queue_weights, spec.queue_depth, spec.arbitration, spec.frame_buffer)
                .in_classes(spec.classes.as_ref()),
            queues_ahead: !link.is_shared(),
            link,
            firmware: Firmware::new(spec.firmware, spec.firmware_cores, timer(0)),
            arriving: Line::new(timer(1)),
            dram: Line::new(timer(2)),
            leaving: EgressQueue::new(timer(3)),
            unit_shift: (unit_bytes / 512).ilog2(),
            splitter: Splitter::new(spec.max_transfer),
            requests: Requests::default(),
            stalled: VecDeque::new(),
            second_edges: Vec::new(),
            news: None,
            entered: None,
            issued: 0,
            completed: 0,
        }
    }

    /// The same with delays of commands drawn from `streams`, if `spec` has any.
    pub fn with_delays(mut self, spec: &HostSpec, streams: Streams) -> HostInterface {
        self.firmware = self.firmware.with_delays(spec.delays.as_ref(), streams);
        self
    }

    /// Power loss: drops all requests, keeps the counters.
    pub fn lose_power(&mut self, spec: &HostSpec, unit_bytes: u64, first: ResourceId) {
        let ids: Vec<RequestId> = self.requests.iter().map(|(id, _)| id).collect();
        for id in ids {
            self.requests.remove(id);
        }
        let (issued, completed) = (self.issued, self.completed);
        let requests = std::mem::take(&mut self.requests);
        let delays = self.firmware.take_delays();
        *self = HostInterface { issued, completed, requests, ..HostInterface::new(spec, unit_bytes, first) };
        self.firmware.set_delays(delays);
    }

    /// First logical unit of a request.
    #[inline]
    pub fn first_unit(&self, request: &HostRequest) -> Lpn {
        Lpn((request.sector >> self.unit_shift) as u32)
    }

    /// First sector of a logical unit.
    #[inline]
    pub fn first_sector(&self, lpn: Lpn) -> u64 {
        u64::from(lpn.0) << self.unit_shift
    }

    /// Submits a host request with the host's number `tag` to `queue`. `None` if it waits in the host.
    #[inline(always)]
    pub fn submit(
        &mut self,
        events: &mut EventQueue,
        queue: u32,
        tag: Tag,
        request: HostRequest,
    ) -> Option<RequestId> {
        let submitted = events.now();
        self.issued += 1;
        // Built twice: the one that is taken remains in registers.
        if !self.queues.submit(queue as usize) {
            return self.enter_or_wait(queue as usize, Waiting { submitted, tag, request });
        }
        Some(self.take(events, queue as u16, Waiting { submitted, tag, request }))
    }

    /// Stores a command that is submitted now and fetched at once, with its arrival time.
    #[inline(always)]
    fn take(&mut self, events: &mut EventQueue, queue: u16, waiting: Waiting) -> RequestId {
        let now = waiting.submitted;
        let mark = self.link.command(now);
        let mut account = NO_ACCOUNT;
        account[Cause::Link as usize] = mark.since(now).as_ns();
        let id = self.store(queue, waiting, mark, account);
        self.firmware.take(events, mark, id);
        id
    }

    /// As [`HostInterface::take`], which is in line where all requests come from.
    #[inline(never)]
    pub(super) fn take_command(
        &mut self,
        events: &mut EventQueue,
        queue: u16,
        waiting: Waiting,
    ) -> RequestId {
        self.take(events, queue, waiting)
    }

    /// Queues a request that the controller has not taken; `None` if the queue is full.
    #[inline(never)]
    fn enter_or_wait(&mut self, queue: usize, waiting: Waiting) -> Option<RequestId> {
        if self.queues.is_full(queue) {
            self.queues.hold(queue, waiting);
            return None;
        }
        Some(self.enter(queue, waiting))
    }

    pub(super) fn enter(&mut self, queue: usize, waiting: Waiting) -> RequestId {
        let id = self.store_queued(queue as u16, waiting);
        self.queues.enter(queue, id);
        id
    }

    /// Queues a request that has waited in the host for a place in `queue`.
    #[cold]
    fn admit(&mut self, queue: usize, waiting: Waiting) {
        if self.splitter.concerns(queue, &waiting.request) {
            return self.admit_command(queue, waiting);
        }
        self.entered = Some((self.enter(queue, waiting), waiting));
    }

    /// Stores a request of `queue` that the controller has not fetched.
    #[inline(never)]
    pub(super) fn store_queued(&mut self, queue: u16, waiting: Waiting) -> RequestId {
        self.store(queue, waiting, waiting.submitted, NO_ACCOUNT)
    }

    /// Stores a request of `queue` whose account is booked up to `mark`.
    #[inline(always)]
    fn store(&mut self, queue: u16, waiting: Waiting, mark: SimTime, account: Account) -> RequestId {
        let Waiting { submitted, tag, request } = waiting;
        let end = request.sector + u64::from(request.sectors);
        let unit = 1u64 << self.unit_shift;
        let lpn = self.first_unit(&request);
        let units = (((end + unit - 1) >> self.unit_shift) - u64::from(lpn.0)) as u32;
        self.requests.insert(Request {
            op: request.op,
            queue,
            tag,
            lpn,
            units: if request.op == Op::Flush { 0 } else { units },
            bytes: u64::from(request.sectors) * 512,
            partial: [request.sector & (unit - 1) != 0, end & (unit - 1) != 0],
            reads_left: 0,
            admitted: 0,
            unprogrammed: 0,
            submitted,
            mark,
            status: Status::Success,
            fail_fast: FailFast::No,
            handle: request.handle,
            account,
        })
    }

    fn fetch(&mut self, events: &mut EventQueue, now: SimTime, id: RequestId) {
        let fetched = self.link.command(now);
        let request = self.requests.get_mut(id);
        request.book(Cause::Queue, now);
        request.book(Cause::Link, fetched);
        self.firmware.take(events, fetched, id);
    }

    /// Requests the `bytes` of data of write `id` from the host.
    #[inline(always)]
    pub fn ask_for_data(&mut self, events: &mut EventQueue, now: SimTime, id: RequestId, bytes: u64) {
        let at = self.link.data_in(now, bytes);
        self.arriving.push(events, at, id);
    }

    /// Sends `bytes` of data and the completion to the host.
    #[inline]
    pub fn leave(&mut self, events: &mut EventQueue, now: SimTime, id: RequestId, bytes: u64) {
        let mut ready = Ready::now(events);
        let mut takes = self.link.time_out(bytes);
        if self.link.is_shared() {
            (ready.at, takes) = (self.link.out(now, bytes), Duration::ZERO);
        }
        self.leaving.push(events, ready, id, takes);
    }

    /// Whether entries may be [queued ahead](HostInterface::will_leave).
    #[inline]
    pub fn queues_ahead(&self) -> bool {
        self.queues_ahead
    }

    /// Sends `bytes` of data and the completion to the host once they are ready, after the event being handled.
    #[inline(always)]
    pub fn will_leave(&mut self, events: &mut EventQueue, ready: Ready, id: RequestId, bytes: u64) {
        debug_assert!(self.queues_ahead && ready > Ready::now(events));
        let takes = self.link.time_out(bytes);
        self.leaving.push(events, ready, id, takes);
    }

    /// Moves unit data of `id` to or from DRAM until `at`; then sends `bytes` of it and the completion.
    #[inline(always)]
    pub fn pass_dram(&mut self, events: &mut EventQueue, at: SimTime, id: RequestId, bytes: u64) {
        if self.queues_ahead && at > events.now() {
            self.requests.get_mut(id).book(Cause::Cache, at);
            self.will_leave(events, Ready { at, by: self.dram.timer() }, id, bytes);
        } else {
            self.dram.push(events, at, id);
        }
    }

    /// Completes request `id` of `queue`: notifies the host and fetches the next waiting command.
    #[inline]
    pub fn complete(&mut self, events: &mut EventQueue, now: SimTime, id: RequestId, queue: u16) {
        if let Some(waiting) = self.queues.complete(usize::from(queue)) {
            self.admit(usize::from(queue), waiting);
        }
        if let Some(next) = self.queues.fetch() {
            self.fetch(events, now, next);
        }
        self.completed(id);
    }

    /// As [`HostInterface::complete`] for a command that the controller never fetched.
    pub fn complete_unfetched(&mut self, events: &mut EventQueue, now: SimTime, id: RequestId, queue: u16) {
        if let Some(waiting) = self.queues.complete_unfetched(usize::from(queue)) {
            self.admit(usize::from(queue), waiting);
        }
        if self.queues.may_fetch()
            && let Some(next) = self.queues.fetch()
        {
            self.fetch(events, now, next);
        }
        self.completed(id);
    }

    /// Reports the completion of `id` to the host, unless its request has other commands.
    #[inline(always)]
    fn completed(&mut self, id: RequestId) {
        if self.splitter.has_commands() {
            return self.command_completed(id);
        }
        self.request_completed(id);
    }

    /// Reports the completion of the request `id` to the host.
    #[inline(always)]
    pub(super) fn request_completed(&mut self, id: RequestId) {
        self.completed += 1;
        self.notify(DeviceEvent::Completed(id));
    }

    /// Sends an Abort command on the admin queue now; returns when the firmware executes it.
    pub(crate) fn send_abort(&mut self, now: SimTime, firmware: Duration) -> SimTime {
        self.link.command(now) + firmware
    }

    /// Time of a completion without data on the link.
    pub(crate) fn completion_time(&mut self) -> Duration {
        self.link.time_out(0)
    }

    /// Requests submitted and not completed.
    #[inline]
    pub fn outstanding(&self) -> usize {
        self.requests.live() + self.queues.waiting() - self.splitter.counted_twice()
    }

    /// Operation and submission of every request submitted and not completed.
    pub fn all_outstanding(&self) -> impl Iterator<Item = (Op, SimTime)> {
        let waiting = self.queues.all_waiting().map(|waiting| (waiting.request.op, waiting.submitted));
        self.requests_of_host().map(|request| (request.op, request.submitted)).chain(waiting)
    }

    /// Reports an event to the host, which has taken the previous one.
    #[inline]
    pub fn notify(&mut self, what: DeviceEvent<RequestId>) {
        assert!(self.news.is_none(), "the host has not taken {:?}", self.news);
        self.news = Some(what);
    }
}
