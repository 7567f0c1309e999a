//! Helpers of the test suites: trace files, and flows drained into lists.

#![allow(dead_code, reason = "each suite uses its own part")]

use interpulse_engine::{PrefetchDistance, Request, SimTime, Streams};
use interpulse_workload::{Flow, FlowSpec, TraceSpec, WorkloadError};
use std::collections::VecDeque;
use std::path::PathBuf;

/// Sectors of a large drive: 8 GiB.
pub const ROOMY: u64 = 1 << 24;

/// Writes a file with this name (unique per test) and returns its path.
pub fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).expect("the test folder is writable");
    path
}

/// All requests of a flow.
pub fn drain(flow: &mut Flow) -> Vec<(SimTime, Request)> {
    let mut all = Vec::new();
    let (mut far, mut near) = (VecDeque::new(), VecDeque::new());
    loop {
        let hint = |coming: &Request, ahead| match ahead {
            PrefetchDistance::Far => far.push_back(*coming),
            PrefetchDistance::Near => near.push_back(*coming),
        };
        let Some(next) = flow.next_with_hints(hint).expect("the flow was checked") else { break };
        assert_eq!(far.pop_front(), Some(next.1), "requests follow their far hints in order");
        assert_eq!(near.pop_front(), Some(next.1), "requests follow their near hints in order");
        all.push(next);
    }
    assert_eq!(flow.next().unwrap(), None, "an exhausted flow stays exhausted");
    all
}

/// The flow of a trace on a drive.
pub fn open(spec: TraceSpec, capacity_sectors: u64) -> Result<Flow, WorkloadError> {
    Flow::new(&FlowSpec::trace("t", spec), capacity_sectors, &Streams::new(1), 0)
}

/// Message for this trace, without the prefix `trace PATH: `.
pub fn trace_message(spec: TraceSpec, capacity: u64) -> String {
    let head = format!("trace {}: ", spec.path.display());
    let message = open(spec, capacity).err().expect("the trace is refused").to_string();
    message.strip_prefix(&head).unwrap_or_else(|| panic!("{message} has no path")).to_owned()
}
