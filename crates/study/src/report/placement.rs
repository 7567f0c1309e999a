//! Result section `placement`: host writes and write amplification of each placement handle and reclaim group.

use super::json_values::{group, without_nulls};
use crate::config::Case;
use interpulse_drive::PlacementCounters;
use serde_json::{Value, json};

/// Section `placement`.
pub(super) fn section(of: &PlacementCounters, case: &Case) -> Value {
    let named = |f: &interpulse_workload::FlowSpec| usize::from(f.handle.unwrap_or(0));
    let count = of.handles.len();
    let handles = of.handles.iter().enumerate().map(|(handle, counters)| {
        let names = |f: &&interpulse_workload::FlowSpec| named(f) % count == handle;
        without_nulls(json!({
            "handle": handle,
            "flows": case.flows.iter().filter(names).map(|flow| &flow.name).collect::<Vec<_>>(),
            "waf": counters.write_amplification(),
            "host_pages": counters.host_units,
            "gc_pages_moved": counters.relocated_units,
            "padding_pages": counters.padding_units,
        }))
    });
    let mut section = json!({ "handles": handles.collect::<Value>(), "events": group(of.events.iter()) });
    if of.groups.len() > 1 {
        let groups = of.groups.iter().enumerate().map(|(group, counters)| {
            let names = |f: &&interpulse_workload::FlowSpec| named(f) / count == group;
            json!({
                "group": group,
                "flows": case.flows.iter().filter(names).map(|flow| &flow.name).collect::<Vec<_>>(),
                "host_pages": counters.host_units,
                "gc_pages_moved": counters.relocated_units,
                "pages_outside": counters.outside_units,
            })
        });
        section["groups"] = groups.collect();
    }
    section
}
