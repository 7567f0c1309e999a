//! The host: flows over a device.

use crate::flows::FlowState;
use crate::observe::{Ended, Observer, Submitted};
use crate::window::Window;
use interpulse_engine::{Agenda, Ahead, Device, News, Request, ResourceId, SimTime, Streams, Tag};
use interpulse_workload::{FirstReading, Flow, FlowSpec, TraceSummary, WorkloadError};
use std::iter::repeat_n;

/// A device, and what asks it for something. It holds no agenda, so that several hosts can share one virtual time.
pub struct Host<D, O = ()> {
    /// The device.
    pub device: D,
    /// What happens is told to this.
    pub observer: O,
    /// Measured since the last [`Host::begin_window`].
    pub window: Window,
    flows: Vec<FlowState>,
    /// Closed flows to ask for their next request, once for each.
    refill: Vec<u32>,
    /// No more requests are made (the end of a run).
    closed: bool,
}

impl<D: Device, O: Observer> Host<D, O> {
    /// A host that offers the load of `flows` to `device`, which has a timer for each. Errors are those of
    /// [`Flow::new`].
    pub fn new(device: D, flows: &[FlowSpec], seed: u64, observer: O) -> Result<Host<D, O>, WorkloadError> {
        Host::knowing(device, flows, &[], seed, observer)
    }

    /// As [`Host::new`]; the traces of flows that have a first reading in `readings`, in their order, are not read through
    /// again.
    pub fn knowing(
        device: D,
        flows: &[FlowSpec],
        readings: &[Option<FirstReading>],
        seed: u64,
        observer: O,
    ) -> Result<Host<D, O>, WorkloadError> {
        let (streams, capacity) = (Streams::new(seed), device.capacity_sectors());
        let readings = readings.iter().map(Option::as_ref).chain(std::iter::repeat(None));
        let open = |((i, flow), first)| Flow::known(flow, capacity, &streams, i, first).map(FlowState::new);
        let flows = (0..).zip(flows).zip(readings).map(open).collect::<Result<Vec<_>, _>>()?;
        let window = Window::new(flows.len());
        Ok(Host { device, observer, window, flows, refill: Vec::new(), closed: false })
    }

    /// Starts the device and arms the flows; call once, at time zero. Err tells the user why it cannot run.
    pub fn start(&mut self, agenda: &mut Agenda) -> Result<(), String> {
        self.device.start(agenda)?;
        self.device.begin_window();
        (0..self.flows.len()).for_each(|f| self.arm_next(agenda, f));
        self.failure().map_or(Ok(()), |why| Err(why.to_string()))
    }

    /// Handles the timer of `resource`, one of the device's. True if the host has looked at the device: only then can
    /// anything have ended.
    #[inline(always)]
    pub fn handle(&mut self, agenda: &mut Agenda, resource: ResourceId) -> bool {
        self.observer.time_passed(agenda.now());
        if let Some(flow) = self.device.handle(agenda, resource) {
            self.arrive(agenda, flow as usize);
        } else if !self.device.has_news() {
            return false;
        }
        self.look(agenda);
        true
    }

    /// Submits a request that is none of a flow, now. Observers are told of its end, with this tag; the tags from zero on
    /// are those of the flows.
    pub fn submit(&mut self, agenda: &mut Agenda, queue: u32, tag: Tag, request: Request) {
        assert!(tag.index() >= self.flows.len(), "tag {tag} is that of a flow");
        self.device.expect(&request, Ahead::Far);
        self.take(agenda, queue, tag, request);
        self.look(agenda);
    }

    #[inline(always)]
    fn take(&mut self, agenda: &mut Agenda, queue: u32, tag: Tag, request: Request) {
        let id = self.device.submit(agenda, queue, tag, request);
        self.observer.request_submitted(&Submitted { at: agenda.now(), id, tag, request });
    }

    // ---- news -----------------------------------------------------------------------------------------

    /// Takes the device's news and makes the requests that follow from them.
    #[inline]
    fn look(&mut self, agenda: &mut Agenda) {
        loop {
            self.hear(agenda);
            if D::GATHERS && self.device.advance(agenda) {
                continue;
            }
            if let Some(f) = self.refill.pop() {
                self.submit_next(agenda, f as usize);
            } else if !D::GATHERS || !self.device.background(agenda) {
                break;
            }
        }
        if D::GATHERS && self.device.flush(agenda) {
            self.hear_at_last(agenda);
        }
    }

    /// What has ended with the last step of all leads to requests when the host looks again.
    #[cold]
    #[inline(never)]
    fn hear_at_last(&mut self, agenda: &mut Agenda) {
        self.hear(agenda);
    }

    #[inline(always)]
    fn hear(&mut self, agenda: &mut Agenda) {
        while let Some(news) = self.device.news() {
            let News::Completed(of) = news else {
                self.device.take_news();
                self.served(agenda);
                continue;
            };
            let (at, flow) = (agenda.now(), of.tag.0);
            let ended = Ended { at, latency: at.since(of.submitted), of };
            self.window.request_ended(&ended);
            self.observer.request_ended(&ended);
            self.device.take_news();
            if self.flows.get(flow as usize).is_some_and(|flow| flow.depth > 0) {
                if D::GATHERS {
                    self.refill.push(flow);
                } else {
                    self.submit_next(agenda, flow as usize);
                }
            }
        }
    }

    /// The device serves again what power had kept out. What was outstanding the host does not ask for again, but each
    /// closed flow fills its depth, and arrivals meanwhile come now.
    #[cold]
    fn served(&mut self, agenda: &mut Agenda) {
        let now = agenda.now();
        // A flow that had not begun asks for its depth when it does.
        let waited: Vec<bool> = self.flows.iter().map(|flow| flow.next.is_some()).collect();
        if D::GATHERS {
            let arrived = |f: &usize| self.flows[*f].next.is_some_and(|(at, _)| at < now);
            let mut late: Vec<usize> = (0..self.flows.len()).filter(arrived).collect();
            late.sort_by_key(|&f| self.flows[f].next.map(|(at, _)| at));
            late.into_iter().for_each(|f| self.arrive(agenda, f));
        }
        for k in 0..self.flows.len() {
            // The last one to be noted is the first to be asked.
            let f = if D::GATHERS { k } else { self.flows.len() - 1 - k };
            match self.flows[f].next {
                Some((at, _)) => agenda.arm(self.device.host_timer(f as u32), at.max(now)),
                None if waited[f] => {}
                None => self.refill.extend(repeat_n(f as u32, self.flows[f].depth as usize)),
            }
        }
    }

    // ---- flows ----------------------------------------------------------------------------------------

    /// The start of a closed flow, an arrival of an open one.
    fn arrive(&mut self, agenda: &mut Agenda, f: usize) {
        let (_, request) = self.flows[f].next.take().expect("a flow's timer is armed for a request");
        if self.closed {
            return;
        }
        self.take(agenda, self.flows[f].queue, Tag(f as u32), request);
        match self.flows[f].depth {
            0 => self.arm_next(agenda, f),
            depth => self.refill.extend(repeat_n(f as u32, depth as usize - 1)),
        }
    }

    /// Sets the timer of a flow for the arrival of its next request.
    #[inline]
    fn arm_next(&mut self, agenda: &mut Agenda, f: usize) {
        let flow = &mut self.flows[f];
        let Some((at, request)) = flow.ask(&self.device) else { return };
        if at > agenda.horizon() {
            let (name, most) = (flow.flow.name(), agenda.horizon());
            let why = format!(
                "flow `{name}`: a request arrives at {at}, later than the {most} that {} of this size can simulate",
                D::NAME
            );
            flow.end(Some(why));
            return;
        }
        flow.next = Some((at, request));
        agenda.arm(self.device.host_timer(f as u32), at.max(agenda.now()));
    }

    #[inline]
    fn submit_next(&mut self, agenda: &mut Agenda, f: usize) {
        if self.closed {
            return;
        }
        let flow = &mut self.flows[f];
        let Some(request) = flow.ask_at(agenda.now(), &self.device) else { return };
        let queue = flow.queue;
        self.take(agenda, queue, Tag(f as u32), request);
    }

    /// No flow will make another request.
    #[inline]
    pub fn exhausted(&self) -> bool {
        self.closed || self.flows.iter().all(|f| f.exhausted)
    }

    /// No flow will make another request, and none is outstanding.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.device.outstanding() == 0 && self.exhausted()
    }

    /// Why a flow cannot go on, if one cannot.
    pub fn failure(&self) -> Option<&str> {
        self.flows.iter().find_map(|flow| flow.failure.as_deref())
    }

    /// Makes no more requests; those outstanding go on.
    pub fn close(&mut self) {
        self.closed = true;
        self.device.close();
    }

    // ---- the measurement window -----------------------------------------------------------------------

    /// Starts a new measurement window.
    pub fn begin_window(&mut self) {
        self.window = Window::new(self.flows.len());
        self.device.begin_window();
    }

    /// Ends the measurement window and starts a new one. What is outstanding has no latency yet, but it may have waited
    /// for the whole window: how long the oldest ones have is part of the window that ends.
    pub fn end_window(&mut self, now: SimTime) -> Window {
        self.device.end_window();
        let mut window = std::mem::replace(&mut self.window, Window::new(self.flows.len()));
        self.device.for_outstanding(&mut |op, since| window.outstanding(op, now.since(since)));
        window
    }

    /// Names of the flows, in order.
    pub fn flow_names(&self) -> impl Iterator<Item = &str> {
        self.flows.iter().map(|f| f.flow.name())
    }

    /// What the first reading of each replayed trace found.
    pub fn trace_summaries(&self) -> Vec<TraceSummary> {
        self.flows.iter().filter_map(|f| f.flow.trace_summary().cloned()).collect()
    }
}
