//! Section `aborts`: Abort commands of the host, and latencies of the requests that they ended.

use super::json_values::latencies;
use crate::config::Case;
use crate::run::Measured;
use serde_json::{Value, json};

/// The section; `None` where the host aborts nothing.
pub(super) fn section(m: &Measured, case: &Case) -> Option<Value> {
    case.drive.host.abort_limit?;
    Some(json!({
        "commands": m.drive.aborts,
        "aborted_commands": m.drive.commands_aborted,
        "postponed": m.drive.aborts_postponed,
        "aborted_requests": m.window.aborted.count(),
        "latency_us": latencies(&m.window.aborted),
    }))
}
