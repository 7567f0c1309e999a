//! A flow on its way: what it asks for next, and when.

use interpulse_engine::{Request, SimTime};
use interpulse_workload::{Flow, Pacing, WorkloadError};

/// A flow of the host.
pub(crate) struct FlowState {
    pub(crate) flow: Flow,
    pub(crate) queue: u32,
    /// Requests outstanding in closed loop; zero for open loop.
    pub(crate) depth: u32,
    /// A request that waits for its arrival: the next one of an open flow, the first one of a closed flow.
    pub(crate) next: Option<(SimTime, Request)>,
    /// A closed flow makes no request from this instant on (an open one ends by itself).
    stop: SimTime,
    pub(crate) exhausted: bool,
}

impl FlowState {
    pub(crate) fn new(flow: Flow) -> FlowState {
        let depth = match flow.pacing() {
            Pacing::Closed { depth } => depth,
            Pacing::Open => 0,
        };
        let stop = flow.stop().unwrap_or(SimTime(u64::MAX));
        FlowState { queue: flow.queue(), flow, depth, next: None, stop, exhausted: false }
    }

    /// The next request with its arrival, unless the flow has ended.
    #[inline]
    pub(crate) fn ask(&mut self) -> Result<Option<(SimTime, Request)>, WorkloadError> {
        if self.exhausted {
            return Ok(None);
        }
        let next = self.flow.next();
        self.exhausted = !matches!(next, Ok(Some(_)));
        next
    }

    /// What a closed flow asks for when one of its requests has completed.
    #[inline]
    pub(crate) fn ask_at(&mut self, now: SimTime) -> Result<Option<Request>, WorkloadError> {
        self.exhausted |= now >= self.stop;
        Ok(self.ask()?.map(|(_, request)| request))
    }
}
