//! Live figures: a view as JSON for the page and `interpulse top`.

use crate::drive::suspension::SuspensionView;
use crate::drive::view::{Distribution, PERCENTILES, PowerCuts, View};
use crate::drive::window::Windows;
use interpulse_embed::Suspension;
use serde_json::{Map, Value, json};

/// The view as JSON; times in us, rates per second of wall time. `fixed` says why the suspension cannot change.
pub fn live(view: &View, fixed: Option<&str>) -> Value {
    let seconds = Windows::SECONDS.min((view.wall.0 / 1_000_000_000).max(1)) as f64;
    let operations = view.classes.iter().map(|of| {
        json!({
            "operation": of.class.name(),
            "commands": of.commands,
            "errors": of.errors,
            "rate": of.recent.count as f64 / seconds,
            "latency_us": percentiles(&of.recent),
        })
    });
    let slowest = view.slowest.iter().map(|slow| {
        json!({
            "operation": slow.class.name(),
            "at_s": slow.submitted.as_secs_f64(),
            "offset": slow.offset,
            "length": slow.length,
            "latency_us": slow.latency.as_us_f64(),
            "cause": slow.cause,
        })
    });
    let now = &view.activity;
    json!({
        "pace": view.session.pace.to_string(),
        "config_hash": view.session.config_hash,
        "wall_s": view.wall.0 as f64 / 1e9,
        "drive_s": view.drive_ns as f64 / 1e9,
        "window_s": seconds,
        "operations": operations.collect::<Vec<_>>(),
        "slip_us": view.slip.as_ref().map(percentiles),
        "outstanding": view.outstanding,
        "dies": now.dies,
        "busy_dies": now.busy_dies,
        "suspended_dies": now.suspended_dies,
        "lanes": now.lanes,
        "collecting_lanes": now.collecting_lanes,
        "cached_units": now.cached_units,
        "write_amplification": view.write_amplification(),
        "slowest": slowest.collect::<Vec<_>>(),
        "suspension": suspension(&view.suspension, fixed),
        "power_cuts": power_cuts(&view.power_cuts),
    })
}

/// Number of the power cuts, and the last one.
pub fn power_cuts(of: &PowerCuts) -> Value {
    let last = of.last.map(|cut| {
        json!({
            "at_s": cut.at.as_secs_f64(),
            "requests_in_flight": cut.requests,
            "acknowledged_units_lost": cut.acknowledged_units_lost,
            "mounting_ms": cut.mounting.as_us_f64() / 1e3,
            "served_s": cut.served.map(|at| at.as_secs_f64()),
        })
    });
    json!({ "count": of.count, "last": last })
}

fn suspension(of: &SuspensionView, fixed: Option<&str>) -> Value {
    let changes = of.changes.iter().map(|change| {
        let settings: Map<String, Value> =
            change.settings.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
        json!({ "at_s": change.at.as_secs_f64(), "settings": settings })
    });
    json!({
        "program": of.program,
        "erase": of.erase,
        "changes": changes.collect::<Vec<_>>(),
        "schemes": Suspension::schemes().collect::<Vec<_>>(),
        "fixed": fixed,
    })
}

fn percentiles(of: &Distribution) -> Value {
    if of.count == 0 {
        return Value::Null;
    }
    let each = PERCENTILES.iter().zip(of.percentiles_ns);
    let json: Map<String, Value> =
        each.map(|((_, name), ns)| ((*name).into(), json!(ns as f64 / 1e3))).collect();
    Value::Object(json)
}
