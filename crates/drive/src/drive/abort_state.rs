//! Timeouts and Abort commands of the host, from their submission to their end.

use crate::spec::HostSpec;
use interpulse_engine::{Duration, RequestId, SimTime};
use std::collections::VecDeque;

/// Command of the host, also after its number has been used again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) id: RequestId,
    pub(super) submitted: SimTime,
}

/// Timeouts and Abort commands.
pub(super) struct Aborts {
    pub(super) timeout: Duration,
    /// Most Abort commands outstanding.
    pub(super) most: usize,
    pub(super) firmware: Duration,
    /// When the next command may time out; `None` if none is outstanding, or all have.
    pub(super) next_timeout: Option<SimTime>,
    /// Commands that the host has tried to abort, as far as they are in progress.
    pub(super) tried: Vec<Target>,
    /// Abort commands, with the time of their execution.
    pub(super) sent: VecDeque<(SimTime, Target)>,
    /// Aborted commands, with the time of their completion.
    pub(super) completing: VecDeque<(SimTime, RequestId)>,
}

impl Aborts {
    /// Aborts of a host; `None` of one that aborts nothing.
    pub(super) fn new(spec: &HostSpec) -> Option<Box<Aborts>> {
        let (most, timeout) = (spec.abort_limit?, spec.command_timeout?);
        Some(Box::new(Aborts {
            timeout,
            most: most as usize,
            firmware: spec.firmware,
            next_timeout: None,
            tried: Vec::new(),
            sent: VecDeque::new(),
            completing: VecDeque::new(),
        }))
    }

    pub(super) fn next(&self) -> Option<SimTime> {
        let executes = self.sent.front().map(|of| of.0);
        let completes = self.completing.front().map(|of| of.0);
        executes.into_iter().chain(completes).chain(self.next_timeout).min()
    }
}
