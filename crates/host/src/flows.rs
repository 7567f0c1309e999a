//! Flow state: the next request of a flow, and its arrival.

use interpulse_engine::{Device, Request, SimTime};
use interpulse_workload::{Flow, Pacing};

/// A flow of the host.
pub(crate) struct FlowState {
    pub(crate) flow: Flow,
    pub(crate) queue: u32,
    /// Requests outstanding in closed loop; zero for open loop.
    pub(crate) depth: u32,
    /// A request before its arrival: the next one of an open flow, the first one of a closed flow.
    pub(crate) next: Option<(SimTime, Request)>,
    /// A closed flow generates no request from this instant on; an open flow ends by itself.
    stop: SimTime,
    pub(crate) exhausted: bool,
    /// Why the flow cannot continue, such as a trace that became unreadable.
    pub(crate) failure: Option<String>,
}

impl FlowState {
    pub(crate) fn new(flow: Flow) -> FlowState {
        let depth = match flow.pacing() {
            Pacing::Closed { depth } => depth,
            Pacing::Open => 0,
        };
        let stop = flow.stop().unwrap_or(SimTime(u64::MAX));
        FlowState { queue: flow.queue(), flow, depth, next: None, stop, exhausted: false, failure: None }
    }

    /// The next request with its arrival, unless the flow has ended. Passes prefetch hints to `device`.
    #[inline]
    pub(crate) fn next_request(&mut self, device: &impl Device) -> Option<(SimTime, Request)> {
        if self.exhausted {
            return None;
        }
        match self.flow.next_with_hints(|coming, ahead| device.hint(coming, ahead)) {
            Ok(Some(next)) => Some(next),
            Ok(None) => self.end(None),
            Err(error) => self.end(Some(error.to_string())),
        }
    }

    /// The next request of a closed flow, after a completion.
    #[inline]
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
