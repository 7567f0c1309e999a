//! Notes for the user on a case: assumed part figures, trace detection, and configured events that the run did not
//! reach.

use super::decimal_size::{decimal_bytes, decimal_size};
use super::scale::absorbed_note;
use crate::config::Case;
use interpulse_drive::spec::When;
use interpulse_engine::Duration;
use interpulse_settings::Entry;
use interpulse_workload::TraceSummary;
use serde_json::Value;
use std::path::Path;

/// Fewer requests give no meaningful 99th percentile.
const HANDFUL: u64 = 100;

/// Notes on the result of a completed case, in the order of the keys.
pub fn result_notes(case: &Case, result: &Value) -> Vec<String> {
    let count = |value: &Value| value["host_requests"].as_u64().unwrap_or(0);
    if result.get("interrupted").is_some() {
        return Vec::new();
    }
    let mut lines: Vec<String> = overload(&result["steady"]).into_iter().collect();
    lines.extend(refused(result));
    let done = count(result);
    if let Some(asked) = case.run.requests.filter(|&asked| done < asked) {
        lines.push(format!(
            "run.requests asks for {asked} requests, but {done} completed before the flows had ended"
        ));
    }
    let stops = (0..).zip(&case.flows).filter_map(|(i, flow)| flow.stop.map(|stop| (i, stop)));
    if let Some((i, stop)) = stops.max_by_key(|&(_, stop)| stop).filter(|_| done < HANDFUL) {
        let stop = Duration(stop.0);
        lines.push(format!(
            "flow.{i}.stop = {stop} leaves {done} requests to measure, too few for percentiles"
        ));
    }
    for (flow, of) in case.flows.iter().zip(result["flows"].as_array().into_iter().flatten()) {
        if count(of) == 0 {
            lines.push(format!("no request of flow `{}` completed while the run was measured", flow.name));
        }
    }
    let seconds = |v: &Value| Duration((v["simulated_s"].as_f64().unwrap_or(0.0) * 1e9) as u64);
    let end = seconds(&result["warmup"]) + seconds(result);
    let never =
        |key: &str, at: Duration, what: &str| format!("{key} = {at}: the run ended after {end}, so {what}");
    if let Some(at) = case.drive.power_loss.and_then(|spec| spec.at)
        && result["power_loss"].get("cut").is_none()
    {
        lines.push(never("power-loss.at", at, "power was never cut"));
    }
    for failure in case.array.iter().flat_map(|array| array.failures.iter().flatten()) {
        if failure.at > end {
            lines.push(never("array.fail-at", failure.at, &format!("drive {} never failed", failure.drive)));
        }
    }
    for (i, fault) in case.drive.schedule.iter().enumerate() {
        if let When::At(at) = fault.when
            && at > end
        {
            lines.push(never(&format!("fault.{i}.at"), at, "the fault never occurred"));
        }
    }
    for (i, format) in case.drive.formats.iter().enumerate() {
        if format.at > end {
            lines.push(never(&format!("format.{i}.at"), format.at, "nothing was formatted"));
        }
    }
    lines.extend(absorbed_note(case, result));
    lines
}

/// Notes on requests that a zoned drive, or a zoned namespace, refused.
fn refused(result: &Value) -> Vec<String> {
    let all = result["host_requests"].as_u64().unwrap_or(0);
    let of_namespaces = result["namespaces"].as_array().into_iter().flatten().flat_map(|of| {
        let all = of["host_requests"].as_u64().unwrap_or(0);
        let named = move |note: String| format!("namespace {}: {note}", of["namespace"]);
        refused_by_zones(&of["zones"], all).into_iter().map(named)
    });
    refused_by_zones(&result["zones"], all).into_iter().chain(of_namespaces).collect()
}

/// Notes on requests that `zones` refused, of `all` requests.
fn refused_by_zones(zones: &Value, all: u64) -> Vec<String> {
    let counts = |key: &str| {
        let entries = zones[key].as_object().into_iter().flatten();
        entries.map(|(status, n)| (status.clone(), n.as_u64().unwrap_or(0))).collect::<Vec<_>>()
    };
    let note = |key: &str, what: &str, all: u64| {
        let failed = counts(key);
        let sum: u64 = failed.iter().map(|(_, n)| n).sum();
        let each = |(status, n): &(String, u64)| {
            if failed.len() == 1 { status.clone() } else { format!("{n} {status}") }
        };
        let by_status: Vec<String> = failed.iter().map(each).collect();
        (sum > 0).then(|| format!("{sum} of {all} {what} failed: {}", by_status.join(", ")))
    };
    let writes = zones["writes"].as_u64().unwrap_or(0);
    [note("failed_writes", "writes", writes), note("failed_others", "requests", all)]
        .into_iter()
        .flatten()
        .collect()
}

/// Note on an overload.
fn overload(steady: &Value) -> Option<String> {
    let load = &steady["load"];
    if steady["verdict"] != "overloaded" {
        return None;
    }
    let overloaded = |flow: &&Value| flow["verdict"] == "overloaded";
    let flows: Vec<&Value> = load["flows"].as_array().into_iter().flatten().filter(overloaded).collect();
    let rates = |of: &Value| {
        match (of["offered_per_s"].as_f64(), of["served_per_s"].as_f64()) {
            (Some(offered), Some(served)) => {
                format!("{} requests/s offered, {} served", offered.round(), served.round())
            }
            // All arrived at one instant.
            _ => "more requests offered than served".to_string(),
        }
    };
    let named = |flow: &&Value| format!("flow {}: {}", flow["name"].as_str().unwrap_or("?"), rates(flow));
    let every =
        if flows.is_empty() { rates(load) } else { flows.iter().map(named).collect::<Vec<_>>().join("; ") };
    Some(format!("overloaded: {every}; latency grows for as long as the run lasts"))
}

/// Figures of the part that no data sheet or publication states, by their source; `None` if there are none.
/// Suspension overheads are listed with their values.
pub fn assumed_figures(case: &Case) -> Option<String> {
    let is_assumed = |e: &&Entry| e.origin.source().is_some_and(|source| source.starts_with("assumed"));
    let all: Vec<&Entry> = case.resolution.entries().iter().filter(is_assumed).collect();
    let keys = [
        "part.program-suspend-entry",
        "part.program-resume",
        "part.erase-suspend-entry",
        "part.erase-resume",
    ];
    let named: Vec<String> = all
        .iter()
        .filter(|e| keys.contains(&e.path.as_str()))
        .map(|e| format!("{} = {}", e.path.trim_start_matches("part."), e.display))
        .collect();
    let others = all.len() - named.len();
    let more = (others > 0).then(|| format!("{others} other figure(s)"));
    let what = named.into_iter().chain(more).collect::<Vec<_>>().join(", ");
    let name = &case.drive.part.name;
    (!all.is_empty()).then(|| format!("part {name}: assumed, and not from a data sheet: {what}"))
}

/// Note on a trace: detected format, skipped rows, assumed times, and its address range on a device of `capacity`
/// sectors.
pub(super) fn trace_note(path: &Path, found: &TraceSummary, capacity: u64) -> String {
    let mut text = format!("trace {}: read as {}, {} rows", path.display(), found.format, found.rows);
    if found.bad_rows > 0 {
        let shown = found.first_bad_rows.join("; ");
        let more = if found.bad_rows > found.first_bad_rows.len() as u64 { "; ..." } else { "" };
        text += &format!("; {} bad row(s) skipped: {shown}{more}", found.bad_rows);
    }
    if found.discards > 0 {
        text +=
            &format!("; {} discard(s) of {} replayed", found.discards, decimal_bytes(found.discarded_bytes));
    }
    if found.flushes > 0 {
        text += &format!("; {} flush(es) replayed", found.flushes);
        if found.flushes_of_writes > 0 {
            text += &format!(", {} of them with a write", found.flushes_of_writes);
        }
    }
    if found.waits > 0 {
        text += &format!("; {} pause(s) between requests", found.waits);
    }
    for (count, what, key) in
        [(found.skipped_discards, "discard(s)", "discards"), (found.skipped_flushes, "flush(es)", "flushes")]
    {
        if count > 0 {
            text += &format!("; {count} {what} left out ({key} = \"skip\")");
        }
    }
    if found.unselected_rows > 0 {
        text += &format!("; {} request(s) of other devices left out (device)", found.unselected_rows);
    }
    if found.stacked_rows > 0 {
        text += &format!("; {} request(s) of stacked devices left out", found.stacked_rows);
    }
    if found.passes > 1 {
        text += &format!("; replayed {} times (repeat)", found.passes);
    }
    if found.other_rows > 0 {
        text += &format!("; {} row(s) that are no requests left out", found.other_rows);
    }
    if found.late_rows > 0 {
        text += &format!("; {} row(s) whose time goes back moved to the time before", found.late_rows);
    }
    let (end, capacity) = (decimal_size(found.end_sector()), decimal_size(capacity));
    text + &format!("; addresses up to {end} on a capacity of {capacity}; {}", found.assumed)
}
