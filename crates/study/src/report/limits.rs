//! Result section `limits`: what bounds the throughput.
//!
//! A resource that is busy for nearly the whole window bounds it. Otherwise the number of outstanding requests does, and
//! Little's law says what they wait for: the requests that wait for a cause are the rate times the mean time of the cause.

mod utilization;

use super::json_values::without_nulls;
use crate::config::Case;
use crate::run::Measured;
use interpulse_engine::account::{CAUSE_INFO, CAUSES, Cause};
use interpulse_flash::command::DieActivity;
use interpulse_workload::{FlowSpec, Source};
use serde_json::{Map, Value, json};
use utilization::{Use, uses};

/// Share of the window from which on a resource counts as always busy. The rest is the time between two requests.
const SATURATED: f64 = 0.9;
/// The same for the busiest of several equal resources.
const SATURATED_ALONE: f64 = 0.97;

/// What bounds the throughput, and on which drive of an array if it is not the same on all.
struct Bound {
    name: &'static str,
    drive: Option<usize>,
}

/// The section; `None` for a window without time or requests.
pub(super) fn section(m: &Measured, case: &Case) -> Option<Value> {
    let window = m.simulated.as_ns() as f64;
    if window == 0.0 || m.window.counters.requests == 0 {
        return None;
    }
    let mut uses = uses(m, case, window);
    let power = m.power.waits.map(|waits| Use::even("power_budget", waits.contended as f64 / window));
    let zones = zone_dies(m, case, window);
    let waiting = outstanding(m, window);
    let bound = bound(&uses, power.as_ref(), zones.as_ref(), waiting.as_ref(), case);
    uses.extend(power.into_iter().chain(zones));
    let utilization: Map<_, _> = uses.iter().map(|of| (of.name.to_string(), of.json())).collect();
    let outstanding = match waiting {
        Some(by_cause) => {
            let by_cause = CAUSE_INFO.iter().zip(by_cause).filter(|(_, n)| *n > 0.0);
            Some(by_cause.map(|((name, _), n)| (name.to_string(), json!(n))).collect::<Map<_, _>>())
        }
        None => commands_of_drives(m, window),
    };
    Some(without_nulls(json!({
        "bound": bound.name,
        "drive": bound.drive,
        "utilization": utilization,
        "outstanding": outstanding,
    })))
}

/// Mean number of outstanding requests by the cause they wait for; `None` in arrays, which keep no accounts.
fn outstanding(m: &Measured, window: f64) -> Option<[f64; CAUSES]> {
    let (reads, writes) = (m.window.read_attribution.total(), m.window.write_attribution.total());
    (reads.requests + writes.requests > 0)
        .then(|| std::array::from_fn(|k| (reads.by_cause[k] + writes.by_cause[k]) as f64 / window))
}

/// Mean number of commands that are outstanding at each drive of an array; `None` of a drive on its own.
fn commands_of_drives(m: &Measured, window: f64) -> Option<Map<String, Value>> {
    // A lost drive has none.
    let each = m.loads.iter().enumerate().filter(|(_, load)| load.latency_ns > 0);
    let named = each.map(|(k, load)| (format!("drive_{k}"), json!(load.latency_ns as f64 / window)));
    (!m.loads.is_empty()).then(|| named.collect())
}

/// Utilization of the dies of the zones that are written at a time, by programs; `None` where these are all dies.
fn zone_dies(m: &Measured, case: &Case, window: f64) -> Option<Use> {
    let (drive, zones) = (&case.drive, case.drive.ftl.zones.as_ref()?);
    let open = |flow: &FlowSpec| match &flow.source {
        Source::Zones(of) if of.read_share < 1.0 => of.open_zones,
        _ => 0,
    };
    let open: u32 = case.flows.iter().map(open).sum();
    let lanes_of_die = (drive.geometry.planes / drive.ftl.multi_plane.max(1)).max(1);
    let dies = zones.width?.saturating_mul(open).div_ceil(lanes_of_die);
    if dies == 0 || dies >= drive.geometry.dies() {
        return None;
    }
    let programs = [DieActivity::BusProgram, DieActivity::PulseHost, DieActivity::StopProgram];
    let busy: u64 = programs.map(|activity| m.uses[activity as usize]).iter().sum();
    // The write cache may hold data of more zones than the flows write at a time.
    Some(Use::even("zone_dies", (busy as f64 / f64::from(dies) / window).min(1.0)))
}

fn bound(
    uses: &[Use],
    power: Option<&Use>,
    zones: Option<&Use>,
    waiting: Option<&[f64; CAUSES]>,
    case: &Case,
) -> Bound {
    let on_all = |name| Bound { name, drive: None };
    // A die that waits for the budget is held, and counts as busy.
    if power.is_some_and(|of| of.mean() >= SATURATED) {
        return on_all("power_budget");
    }
    let most = |share: &dyn Fn(&Use) -> f64, least: f64| {
        let above = uses.iter().filter(|of| share(of) >= least);
        above.max_by(|a, b| share(a).total_cmp(&share(b)))
    };
    if let Some(all) = most(&Use::mean, SATURATED) {
        return on_all(all.name);
    }
    if let Some(one) = most(&|of| of.busiest_drive().1, SATURATED) {
        return Bound { name: one.name, drive: Some(one.busiest_drive().0) };
    }
    if let Some(one) = most(&|of| of.busiest().1, SATURATED_ALONE) {
        let drive = case.array.is_some().then(|| one.busiest().0);
        return Bound { name: one.alone(), drive };
    }
    on_all(match zones {
        Some(of) if of.mean() >= SATURATED => "zone_dies",
        _ => not_a_resource(waiting, case),
    })
}

fn not_a_resource(waiting: Option<&[f64; CAUSES]>, case: &Case) -> &'static str {
    if case.flows.iter().all(|flow| !FlowSpec::is_closed(flow)) {
        return "offered_load";
    }
    // More than half of the outstanding requests wait for one thing that is no resource of its own.
    let mostly = |cause: Cause| {
        waiting.is_some_and(|of: &[f64; CAUSES]| of[cause as usize] > 0.5 * of.iter().sum::<f64>())
    };
    if mostly(Cause::Cache) {
        "write_back"
    } else if mostly(Cause::Queue) {
        "command_slots"
    } else {
        "queue_depth"
    }
}
