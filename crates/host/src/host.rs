//! Host: generates the load of flows for a device and measures it.

use crate::backlog::Backlog;
use crate::flows::{AtCompletion, FlowState};
use crate::observe::{Ended, Observer, Submitted};
use crate::window::Window;
use interpulse_engine::{
    Device, DeviceEvent, Duration, EventQueue, Op, PrefetchDistance, Request, RequestId, ResourceId, SimTime,
    Streams, Tag, VectorAction, Waiting,
};
use interpulse_workload::{FirstReading, Flow, FlowSpec, Terms, TraceSummary, WorkloadError};
use std::iter::repeat_n;

/// A device and its load. The host owns no event queue, so that several hosts can share one virtual time.
pub struct Host<D, O = ()> {
    /// The device.
    pub device: D,
    /// Observer of all requests.
    pub observer: O,
    /// Measured since the last [`Host::begin_window`].
    pub window: Window,
    flows: Vec<FlowState>,
    /// Backlog of all open flows together, if there are several flows.
    backlog_of_all: Option<Box<Backlog>>,
    /// Closed flows that owe a request, one entry per request.
    refill: Vec<u32>,
    /// No more requests are generated (the end of a run).
    closed: bool,
}

impl<D: Device, O: Observer> Host<D, O> {
    /// A host that offers the load of `flows` to `device`, which has a timer for each. Errors are those of
    /// [`Flow::new`].
    pub fn new(device: D, flows: &[FlowSpec], seed: u64, observer: O) -> Result<Host<D, O>, WorkloadError> {
        Host::with_trace_readings(device, flows, &[], seed, observer)
    }

    /// As [`Host::new`]; a flow with a first reading in `readings`, in the order of the flows, does not scan its trace again.
    pub fn with_trace_readings(
        device: D,
        flows: &[FlowSpec],
        readings: &[Option<FirstReading>],
        seed: u64,
        observer: O,
    ) -> Result<Host<D, O>, WorkloadError> {
        let streams = Streams::new(seed);
        let readings = readings.iter().map(Option::as_ref).chain(std::iter::repeat(None));
        let open = |((i, flow), first): ((u64, &FlowSpec), _)| {
            let sectors = device.namespace_sectors(flow.namespace);
            let capacity = sectors.end - sectors.start;
            let flow = Flow::with_reading(flow, capacity, &streams, i, first)?;
            Ok(FlowState::new(flow, sectors.start))
        };
        let flows = (0..).zip(flows).zip(readings).map(open).collect::<Result<Vec<_>, _>>()?;
        let window = Window::new(flows.len());
        let backlog_of_all = (flows.len() > 1).then(Box::default);
        Ok(Host { device, observer, window, flows, backlog_of_all, refill: Vec::new(), closed: false })
    }

    /// Starts the device and arms the flows; call once, at time zero. The error says why the device cannot run.
    pub fn start(&mut self, events: &mut EventQueue) -> Result<(), String> {
        self.device.start(events)?;
        self.device.begin_window();
        (0..self.flows.len()).for_each(|f| self.arm_next(events, f));
        self.failure().map_or(Ok(()), |why| Err(why.to_string()))
    }

    /// Handles the timer of `resource`, one of the device's. True if the host polled the device: only then can requests have
    /// completed.
    #[inline(always)]
    pub fn handle(&mut self, events: &mut EventQueue, resource: ResourceId) -> bool {
        self.observer.time_passed(events.now());
        if let Some(flow) = self.device.handle(events, resource) {
            self.arrive(events, flow as usize);
        } else if !self.device.has_event() {
            return false;
        }
        self.process_completions(events);
        true
    }

    /// Submits a request from outside the flows now. Observers receive its completion with `tag`; the tags from zero on belong
    /// to the flows.
    pub fn submit(&mut self, events: &mut EventQueue, queue: u32, tag: Tag, request: Request) {
        assert!(tag.index() >= self.flows.len(), "tag {tag} is that of a flow");
        self.device.hint(&request, PrefetchDistance::Far);
        self.submit_out_of_line(events, queue, tag, request);
        self.process_completions(events);
    }

    #[inline(always)]
    fn submit_request(
        &mut self,
        events: &mut EventQueue,
        queue: u32,
        tag: Tag,
        request: Request,
    ) -> Option<RequestId> {
        let id = self.device.submit(events, queue, tag, request);
        self.observer.request_submitted(&Submitted { at: events.now(), id, tag, request });
        id
    }

    /// As [`Host::submit_request`], for requests that few flows make.
    #[inline(never)]
    fn submit_out_of_line(
        &mut self,
        events: &mut EventQueue,
        queue: u32,
        tag: Tag,
        request: Request,
    ) -> Option<RequestId> {
        self.submit_request(events, queue, tag, request)
    }

    /// Submits a request of flow `f`, which `then` follows.
    fn submit_of_flow(&mut self, events: &mut EventQueue, f: usize, request: Request, then: Option<Request>) {
        let queue = self.flows[f].queue;
        let id = match request.op {
            Op::Vector(action) => self.submit_vector(events, f, action, request),
            _ => self.submit_out_of_line(events, queue, Tag(f as u32), request),
        };
        if let Some(followers) = &mut self.flows[f].followers {
            followers.add(id, then);
        }
    }

    /// Submits a vector command of flow `f`, whose addresses the flow has generated last. Observers see the first address.
    fn submit_vector(
        &mut self,
        events: &mut EventQueue,
        f: usize,
        action: VectorAction,
        request: Request,
    ) -> Option<RequestId> {
        let (queue, tag) = (self.flows[f].queue, Tag(f as u32));
        let list = self.device.store_addresses(self.flows[f].flow.addresses());
        // The placement handle of the flow is not that of a vector command, which has none.
        let of = Request { sector: list, handle: action as u8, ..request };
        let request = self.device.at_address(of);
        let id = self.device.submit(events, queue, tag, of);
        self.observer.request_submitted(&Submitted { at: events.now(), id, tag, request });
        id
    }

    // ---- completions ----------------------------------------------------------------------------------

    /// Polls the device and submits the requests that follow from its completions.
    #[inline]
    fn process_completions(&mut self, events: &mut EventQueue) {
        loop {
            self.poll_completions(events);
            if D::BATCHES && self.device.advance(events) {
                continue;
            }
            if let Some(f) = self.refill.pop() {
                self.submit_next(events, f as usize);
            } else if !D::BATCHES || !self.device.background(events) {
                break;
            }
        }
        if D::BATCHES && self.device.flush(events) {
            self.poll_after_flush(events);
        }
    }

    /// Completions of the last flush lead to requests at the next poll.
    #[cold]
    #[inline(never)]
    fn poll_after_flush(&mut self, events: &mut EventQueue) {
        self.poll_completions(events);
    }

    #[inline(always)]
    fn poll_completions(&mut self, events: &mut EventQueue) {
        while let Some(event) = self.device.event() {
            let DeviceEvent::Completed(of) = event else {
                let restored = matches!(event, DeviceEvent::PowerRestored);
                self.device.pop_event();
                if restored {
                    self.restart_flows(events);
                } else if let Some((id, waiting)) = self.device.entered() {
                    self.request_entered(events.now(), id, &waiting);
                }
                continue;
            };
            let (at, flow, id) = (events.now(), of.tag.0, of.id);
            let ended = Ended { at, latency: at.since(of.submitted), of };
            self.window.request_ended(&ended);
            self.observer.request_ended(&ended);
            self.device.pop_event();
            if let Some((id, waiting)) = self.device.entered() {
                self.request_entered(at, id, &waiting);
            }
            let Some(state) = self.flows.get_mut(flow as usize) else { continue };
            match state.at_completion {
                AtCompletion::Count => {
                    state.backlog.completed();
                    if let Some(all) = &mut self.backlog_of_all {
                        all.completed();
                    }
                }
                AtCompletion::SubmitNext if D::BATCHES => self.refill.push(flow),
                AtCompletion::SubmitNext => self.submit_next(events, flow as usize),
                AtCompletion::Follow => self.follow(events, flow, id),
            }
        }
    }

    /// A request that waited for a place in its queue has the number `id`.
    #[cold]
    fn request_entered(&mut self, now: SimTime, id: RequestId, waiting: &Waiting) {
        let Waiting { submitted: at, tag, request } = *waiting;
        let request = self.device.at_address(request);
        self.observer.request_entered(now, &Submitted { at, id: Some(id), tag, request });
        if let Some(followers) = self.flows.get_mut(tag.index()).and_then(|flow| flow.followers.as_mut()) {
            followers.enter(id);
        }
    }

    /// Submits what follows the completed request `id` of a flow with followers: its follower, or the next request of a
    /// closed flow.
    #[cold]
    fn follow(&mut self, events: &mut EventQueue, flow: u32, id: RequestId) {
        let state = &mut self.flows[flow as usize];
        let followers = state.followers.as_mut().expect("the caller has checked it");
        match followers.take(id) {
            Some(then) => followers.ready.push_back(then),
            // A request and what follows it count as one arrival.
            None if state.depth == 0 => return self.change_backlogs(flow as usize, Backlog::completed),
            None => {}
        }
        if D::BATCHES {
            self.refill.push(flow);
        } else {
            self.submit_next(events, flow as usize);
        }
    }

    /// Restarts the flows after a power loss: the host does not repeat lost requests, each closed flow fills its depth, and
    /// requests that arrived meanwhile are submitted now.
    #[cold]
    fn restart_flows(&mut self, events: &mut EventQueue) {
        let now = events.now();
        self.backlogs().for_each(Backlog::dropped);
        for flow in &mut self.flows {
            flow.owed = flow.depth.saturating_sub(1);
            if let Some(followers) = &mut flow.followers {
                followers.clear();
            }
        }
        // A flow that has not begun fills its depth when it begins.
        let waited: Vec<bool> = self.flows.iter().map(|flow| flow.next.is_some()).collect();
        if D::BATCHES {
            let arrived = |f: &usize| self.flows[*f].next.is_some_and(|(at, _)| at < now);
            let mut late: Vec<usize> = (0..self.flows.len()).filter(arrived).collect();
            late.sort_by_key(|&f| self.flows[f].next.map(|(at, _)| at));
            late.into_iter().for_each(|f| self.arrive(events, f));
        }
        for k in 0..self.flows.len() {
            // With batches `refill` is a stack.
            let f = if D::BATCHES { k } else { self.flows.len() - 1 - k };
            match self.flows[f].next {
                Some((at, _)) => events.arm(self.device.host_timer(f as u32), at.max(now)),
                None if waited[f] => {}
                None => self.refill.extend(repeat_n(f as u32, self.flows[f].depth as usize)),
            }
        }
    }

    // ---- flows ----------------------------------------------------------------------------------------

    /// The start of a closed flow, an arrival of an open one.
    fn arrive(&mut self, events: &mut EventQueue, f: usize) {
        let (_, request) = self.flows[f].next.take().expect("a flow's timer is armed for a request");
        if self.closed {
            return;
        }
        let flow = &mut self.flows[f];
        if flow.at_completion != AtCompletion::Count {
            return self.arrive_on_terms(events, f, request);
        }
        let now = events.now();
        flow.backlog.arrived(now);
        let queue = flow.queue;
        if let Some(all) = &mut self.backlog_of_all {
            all.arrived(now);
        }
        self.submit_request(events, queue, Tag(f as u32), request);
        self.arm_next(events, f);
    }

    /// As [`Host::arrive`] for a flow that is closed or has followers.
    #[cold]
    fn arrive_on_terms(&mut self, events: &mut EventQueue, f: usize, request: Request) {
        let (now, flow) = (events.now(), &mut self.flows[f]);
        if flow.depth > 0 && flow.stops(now) {
            return;
        }
        let then = flow.followers.as_mut().and_then(|followers| followers.of_next.take());
        self.submit_of_flow(events, f, request, then);
        if self.flows[f].depth == 0 {
            self.change_backlogs(f, |backlog| backlog.arrived(now));
            self.arm_next(events, f);
        } else {
            let owed = std::mem::take(&mut self.flows[f].owed);
            self.refill.extend(repeat_n(f as u32, owed as usize));
        }
    }

    /// Arms the timer of a flow for its next arrival.
    #[inline]
    fn arm_next(&mut self, events: &mut EventQueue, f: usize) {
        let flow = &mut self.flows[f];
        let Some((mut at, request)) = flow.next_request(&self.device) else { return };
        if flow.at_completion == AtCompletion::Follow {
            let wait = flow.terms().wait;
            if wait > Duration::ZERO {
                at = at.max(events.now()) + wait;
            }
            flow.keep_follower();
        }
        flow.next = Some((at, request));
        events.arm(self.device.host_timer(f as u32), at.max(events.now()));
    }

    // A function of its own, with the generation and the submission in line.
    #[inline(never)]
    fn submit_next(&mut self, events: &mut EventQueue, f: usize) {
        if self.closed {
            return;
        }
        let flow = &mut self.flows[f];
        if flow.at_completion == AtCompletion::Follow {
            return self.submit_next_on_terms(events, f);
        }
        let Some(request) = flow.next_request_at(events.now(), &self.device) else { return };
        let queue = flow.queue;
        self.submit_request(events, queue, Tag(f as u32), request);
    }

    /// As [`Host::submit_next`] for a flow with terms: a follower first; no request before the end of a pause.
    #[cold]
    fn submit_next_on_terms(&mut self, events: &mut EventQueue, f: usize) {
        let now = events.now();
        let flow = &mut self.flows[f];
        if let Some(then) = flow.followers.as_mut().and_then(|followers| followers.ready.pop_front()) {
            self.device.hint(&then, PrefetchDistance::Far);
            return self.submit_of_flow(events, f, then, None);
        }
        if flow.depth == 0 {
            return;
        }
        if flow.next.is_some() {
            flow.owed += 1;
            return;
        }
        let Some(request) = flow.next_request_at(now, &self.device) else { return };
        let Terms { wait, then } = flow.terms();
        if wait == Duration::ZERO {
            return self.submit_of_flow(events, f, request, then);
        }
        flow.keep_follower();
        flow.next = Some((now + wait, request));
        events.arm(self.device.host_timer(f as u32), now + wait);
    }

    /// No flow will generate another request.
    #[inline]
    pub fn exhausted(&self) -> bool {
        self.closed || self.flows.iter().all(|f| f.exhausted)
    }

    /// No flow will generate another request, and none is outstanding.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.device.outstanding() == 0 && self.exhausted()
    }

    /// Why a flow cannot continue, if one cannot.
    pub fn failure(&self) -> Option<&str> {
        self.flows.iter().find_map(|flow| flow.failure.as_deref())
    }

    /// Generates no more requests; outstanding requests continue.
    pub fn close(&mut self) {
        self.closed = true;
        self.device.close();
    }

    // ---- the measurement window -----------------------------------------------------------------------

    /// Starts a new measurement window.
    pub fn begin_window(&mut self) {
        self.window = Window::new(self.flows.len());
        self.backlogs().for_each(Backlog::begin);
        self.device.begin_window();
    }

    /// Backlog of each flow, and of all of them if there are several.
    fn backlogs(&mut self) -> impl Iterator<Item = &mut Backlog> {
        let of_flows = self.flows.iter_mut().map(|flow| &mut flow.backlog);
        of_flows.chain(self.backlog_of_all.as_deref_mut())
    }

    /// Applies a change to the backlog of a flow and to that of all open flows.
    fn change_backlogs(&mut self, flow: usize, mut change: impl FnMut(&mut Backlog)) {
        change(&mut self.flows[flow].backlog);
        self.backlog_of_all.as_deref_mut().into_iter().for_each(change);
    }

    /// Ends the measurement window and starts a new one. Outstanding requests have no latency yet, so the window records the
    /// age of the oldest ones.
    pub fn end_window(&mut self, now: SimTime) -> Window {
        self.device.end_window();
        let mut window = std::mem::replace(&mut self.window, Window::new(self.flows.len()));
        window.backlogs = self.backlogs().map(|backlog| backlog.clone()).collect();
        self.backlogs().for_each(Backlog::begin);
        self.device.for_outstanding(&mut |op, since| window.outstanding(op, now.since(since)));
        window
    }

    /// Names of the flows, in order.
    pub fn flow_names(&self) -> impl Iterator<Item = &str> {
        self.flows.iter().map(|f| f.flow.name())
    }

    /// Summaries of the first readings of replayed traces.
    pub fn trace_summaries(&self) -> Vec<TraceSummary> {
        self.flows.iter().filter_map(|f| f.flow.trace_summary().cloned()).collect()
    }
}
