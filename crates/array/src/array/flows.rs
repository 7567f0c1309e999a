//! The host's flows: when each makes its next request.

use super::{Array, OWN_RESOURCES};
use interpulse_engine::{Agenda, SimTime};
use interpulse_workload::{Flow, Pacing, Request};

/// A flow of the host.
pub(crate) struct FlowState {
    pub(crate) flow: Flow,
    pub(super) depth: u32,
    next: Option<Request>,
    pub(super) exhausted: bool,
}

impl FlowState {
    pub(super) fn new(flow: Flow) -> FlowState {
        let depth = match flow.pacing() {
            Pacing::Closed { depth } => depth,
            Pacing::Open => 0,
        };
        FlowState { flow, depth, next: None, exhausted: false }
    }

    /// Whether its next request has not arrived yet.
    pub(super) fn is_waiting(&self) -> bool {
        self.next.is_some()
    }
}

impl Array {
    pub(super) fn start_flows(&mut self, agenda: &mut Agenda) {
        for f in 0..self.flows.len() {
            if let Some((at, request)) = self.next_of(f) {
                self.arm_flow(agenda, f, at, request);
            }
        }
    }

    fn arm_flow(&mut self, agenda: &mut Agenda, f: usize, at: SimTime, request: Request) {
        if at > agenda.horizon() {
            self.flows[f].exhausted = true;
            self.failure = Some(format!(
                "flow `{}`: a request arrives at {at}, later than the {} that an array of this size can simulate",
                self.flows[f].flow.name(),
                agenda.horizon()
            ));
            return;
        }
        self.flows[f].next = Some(request);
        agenda.arm(self.own(OWN_RESOURCES + f as u32), at.max(agenda.now()));
    }

    fn next_of(&mut self, f: usize) -> Option<(SimTime, Request)> {
        let state = &mut self.flows[f];
        if state.exhausted {
            return None;
        }
        match state.flow.next() {
            Ok(Some(next)) => Some(next),
            Ok(None) => {
                state.exhausted = true;
                None
            }
            Err(error) => {
                state.exhausted = true;
                self.failure = Some(error.to_string());
                None
            }
        }
    }

    pub(super) fn on_flow(&mut self, agenda: &mut Agenda, f: usize) {
        if self.is_down() {
            self.hold_flow(f);
            return;
        }
        let request = self.flows[f].next.take().expect("a flow's timer is armed for a request");
        if self.closed {
            return;
        }
        self.submit(agenda, f, request);
        if self.flows[f].depth > 0 {
            self.refill.extend((1..self.flows[f].depth).map(|_| f as u32));
        } else if let Some((at, request)) = self.next_of(f) {
            self.arm_flow(agenda, f, at, request);
        }
    }

    pub(super) fn submit_next(&mut self, agenda: &mut Agenda, f: usize) {
        if self.closed {
            return;
        }
        if self.flows[f].flow.stop().is_some_and(|stop| agenda.now() >= stop) {
            self.flows[f].exhausted = true;
        }
        if let Some((_, request)) = self.next_of(f) {
            self.submit(agenda, f, request);
        }
    }
}
