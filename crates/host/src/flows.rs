//! Flow state: the next request of a flow, and its arrival.

use crate::backlog::Backlog;
use interpulse_engine::{Device, Request, RequestId, SimTime};
use interpulse_workload::{Flow, Pacing, Terms};
use std::collections::VecDeque;

/// What the host does when a request of a flow completes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtCompletion {
    /// Open loop: counts it.
    Count,
    /// Closed loop: submits the next request.
    SubmitNext,
    /// Looks for a request that follows it.
    Follow,
}

/// A flow of the host.
pub(crate) struct FlowState {
    pub(crate) flow: Flow,
    pub(crate) queue: u32,
    /// First sector of its namespace.
    first_sector: u64,
    pub(crate) at_completion: AtCompletion,
    /// Outstanding requests of an open flow over time.
    pub(crate) backlog: Backlog,
    /// Placement handle of its requests.
    handle: u8,
    /// Requests outstanding in closed loop; zero for open loop.
    pub(crate) depth: u32,
    /// A request before its arrival: the next one of an open flow, the first one of a closed flow or one after a pause.
    pub(crate) next: Option<(SimTime, Request)>,
    /// Requests that a closed flow generates with `next`, beyond it.
    pub(crate) owed: u32,
    /// Requests that follow the completion of others; `None` for a flow without such requests.
    pub(crate) followers: Option<Box<Followers>>,
    /// A closed flow generates no request from this instant on; an open flow ends by itself.
    stop: SimTime,
    pub(crate) exhausted: bool,
    /// Why the flow cannot continue, such as a trace that became unreadable.
    pub(crate) failure: Option<String>,
}

impl FlowState {
    /// State of a flow in the namespace that begins at `first_sector` of the device.
    pub(crate) fn new(flow: Flow, first_sector: u64) -> FlowState {
        let depth = match flow.pacing() {
            Pacing::Closed { depth } => depth,
            Pacing::Open => 0,
        };
        let stop = flow.stop().unwrap_or(SimTime(u64::MAX));
        let followers = flow.terms().map(|_| Box::default());
        let at_completion = match (&followers, depth) {
            (Some(_), _) => AtCompletion::Follow,
            (None, 0) => AtCompletion::Count,
            (None, _) => AtCompletion::SubmitNext,
        };
        FlowState {
            queue: flow.queue(),
            first_sector,
            at_completion,
            backlog: Backlog::default(),
            handle: flow.handle(),
            flow,
            depth,
            next: None,
            owed: depth.saturating_sub(1),
            followers,
            stop,
            exhausted: false,
            failure: None,
        }
    }

    /// A generated request as it is submitted: with the placement handle of the flow, at its address on the device.
    #[inline(always)]
    fn addressed(&self, request: Request) -> Request {
        Request { handle: self.handle, sector: self.first_sector + request.sector, ..request }
    }

    /// The next request, as it is submitted, with its arrival, unless the flow has ended. Passes prefetch hints to `device`.
    #[inline(always)]
    pub(crate) fn next_request(&mut self, device: &impl Device) -> Option<(SimTime, Request)> {
        if self.exhausted {
            return None;
        }
        match self.flow.next_with_hints(|coming, ahead| device.hint(coming, ahead)) {
            Ok(Some((at, request))) => Some((at, self.addressed(request))),
            Ok(None) => self.end(None),
            Err(error) => self.end(Some(error.to_string())),
        }
    }

    /// Terms of the request generated last.
    #[inline]
    pub(crate) fn terms(&self) -> Terms {
        let Terms { wait, then } = self.flow.terms().unwrap_or_default();
        Terms { wait, then: then.map(|request| self.addressed(request)) }
    }

    /// Keeps the follower of the request generated last, which becomes `next`.
    pub(crate) fn keep_follower(&mut self) {
        let then = self.terms().then;
        if let Some(followers) = &mut self.followers {
            followers.of_next = then;
        }
    }

    /// Whether a closed flow has to stop at `now`.
    pub(crate) fn stops(&mut self, now: SimTime) -> bool {
        self.exhausted |= now >= self.stop;
        self.exhausted
    }

    /// The next request of a closed flow, after a completion.
    #[inline(always)]
    pub(crate) fn next_request_at(&mut self, now: SimTime, device: &impl Device) -> Option<Request> {
        if now >= self.stop {
            self.exhausted = true;
        }
        self.next_request(device).map(|(_, request)| request)
    }

    /// Ends the flow.
    #[cold]
    pub(crate) fn end(&mut self, why: Option<String>) -> Option<(SimTime, Request)> {
        (self.exhausted, self.failure) = (true, why);
        None
    }
}

/// Requests that follow the completion of others: the flushes of writes, and the writes of flushes.
#[derive(Default)]
pub(crate) struct Followers {
    /// Request that follows `next` of the flow.
    pub(crate) of_next: Option<Request>,
    /// Followers of requests without a number, in the order in which these get one.
    unnumbered: VecDeque<Option<Request>>,
    /// Other outstanding requests with their followers.
    waiting: Vec<(RequestId, Request)>,
    /// Followers that are submitted with the next requests of the flow.
    pub(crate) ready: VecDeque<Request>,
}

impl Followers {
    /// Adds a request, by number if it has one, with its follower.
    pub(crate) fn add(&mut self, id: Option<RequestId>, then: Option<Request>) {
        match id {
            Some(id) => self.waiting.extend(then.map(|then| (id, then))),
            None => self.unnumbered.push_back(then),
        }
    }

    /// The oldest request without a number has the number `id`.
    pub(crate) fn enter(&mut self, id: RequestId) {
        let then = self.unnumbered.pop_front().flatten();
        self.add(Some(id), then);
    }

    /// Follower of a request that has completed.
    pub(crate) fn take(&mut self, id: RequestId) -> Option<Request> {
        let at = self.waiting.iter().position(|&(of, _)| of == id)?;
        Some(self.waiting.swap_remove(at).1)
    }

    /// Forgets the followers of requests that a power loss dropped.
    pub(crate) fn clear(&mut self) {
        self.unnumbered.clear();
        self.waiting.clear();
        self.ready.clear();
    }
}
