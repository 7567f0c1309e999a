//! What a result does not show though its configuration asks for it: told beside the result, so that nobody takes a drive
//! that never lost power for one that survived it.

use crate::config::Case;
use interpulse_engine::Duration;
use serde_json::Value;

/// Fewer requests than this have no 99th percentile worth the name.
const HANDFUL: u64 = 100;

/// Lines about the result of a case that ended, in the order of the keys they are about.
pub fn remarks(case: &Case, result: &Value) -> Vec<String> {
    let count = |value: &Value| value["host_requests"].as_u64().unwrap_or(0);
    if result.get("interrupted").is_some() {
        return Vec::new();
    }
    let mut lines = Vec::new();
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
    lines
}
