//! Result section `placement`: host writes and write amplification of each placement handle.

use super::json_values::{group, without_nulls};
use crate::config::Case;
use interpulse_drive::PlacementCounters;
use serde_json::{Value, json};

/// Section `placement`.
pub(super) fn section(of: &PlacementCounters, case: &Case) -> Value {
    let handles = of.handles.iter().enumerate().map(|(handle, counters)| {
        let names = |f: &&interpulse_workload::FlowSpec| usize::from(f.handle.unwrap_or(0)) == handle;
        without_nulls(json!({
            "handle": handle,
            "flows": case.flows.iter().filter(names).map(|flow| &flow.name).collect::<Vec<_>>(),
            "waf": counters.write_amplification(),
            "host_pages": counters.host_units,
            "gc_pages_moved": counters.relocated_units,
            "padding_pages": counters.padding_units,
        }))
    });
    json!({ "handles": handles.collect::<Value>(), "events": group(of.events.iter()) })
}
