//! Result section `limits`: what bounds the throughput.
//!
//! A resource that is busy for nearly the whole window bounds it. Otherwise the number of outstanding requests does, and
//! Little's law says what they wait for: the requests that wait for a cause are the rate times the mean time of the cause.

use super::json_values::without_nulls;
use crate::config::Case;
use crate::run::Measured;
use interpulse_drive::spec::TaskSpec;
use interpulse_engine::account::{CAUSE_INFO, CAUSES, Cause};
use interpulse_engine::{Bytes, Duration};
use interpulse_flash::command::DieActivity;
use interpulse_workload::FlowSpec;
use serde_json::{Map, Value, json};

/// Share of the window from which on a resource counts as always busy. The rest is the time between two requests.
const SATURATED: f64 = 0.9;
/// The same for the busiest of several equal resources.
const SATURATED_ALONE: f64 = 0.97;

/// Utilization of one kind of resource.
struct Use {
    name: &'static str,
    /// Mean of all resources of the kind.
    mean: f64,
    /// The busiest one.
    most: f64,
}

impl Use {
    fn of(name: &'static str, busy_ns: impl Iterator<Item = u64>, window_ns: f64) -> Use {
        let shares: Vec<f64> = busy_ns.map(|ns| ns as f64 / window_ns).collect();
        let mean = shares.iter().sum::<f64>() / shares.len().max(1) as f64;
        Use { name, mean, most: shares.into_iter().fold(0.0, f64::max) }
    }

    /// A resource of which there is one, or whose parts share their load evenly.
    fn even(name: &'static str, share: f64) -> Use {
        Use { name, mean: share, most: share }
    }
}

/// The section; `None` for a window without time or requests.
pub(super) fn section(m: &Measured, case: &Case) -> Option<Value> {
    let window = m.simulated.as_ns() as f64;
    if window == 0.0 || m.window.counters.requests == 0 {
        return None;
    }
    let uses = uses(m, case, window);
    let waiting = outstanding(m, window);
    let bound = bound(&uses, waiting.as_ref(), case);
    let utilization: Map<_, _> =
        uses.iter().map(|of| (of.name.to_string(), json!({ "mean": of.mean, "busiest": of.most }))).collect();
    let outstanding = waiting.map(|by_cause| {
        let by_cause = CAUSE_INFO.iter().zip(by_cause).filter(|(_, n)| *n > 0.0);
        by_cause.map(|((name, _), n)| (name.to_string(), json!(n))).collect::<Map<_, _>>()
    });
    Some(without_nulls(json!({ "bound": bound, "utilization": utilization, "outstanding": outstanding })))
}

fn uses(m: &Measured, case: &Case, window: f64) -> Vec<Use> {
    let idle = DieActivity::Idle as usize;
    let busy = m.dies.iter().map(|uses| uses.iter().sum::<u64>() - uses[idle]);
    let mut all =
        vec![Use::of("dies", busy, window), Use::of("channels", m.channels.iter().copied(), window)];
    if !m.command_buses.is_empty() {
        all.push(Use::of("command_buses", m.command_buses.iter().copied(), window));
    }
    // Drives of an array share the load by rules of their own, and its host counts no commands of a drive.
    if case.array.is_none() {
        let host = &case.drive.host;
        let of = &m.window.counters;
        let commands = of.requests + m.drive.split_commands - m.drive.split_requests;
        let to_drive = of.written_bytes + of.compared_bytes;
        let [to_drive, to_host] =
            host.link.occupancy(commands, Bytes(of.read_bytes - of.compared_bytes), Bytes(to_drive));
        all.push(Use::even("link_to_drive", to_drive * 1e9 / window));
        all.push(Use::even("link_to_host", to_host * 1e9 / window));
        if let Some(cores) = host.firmware_cores {
            let busy = commands as f64 * host.firmware.as_ns() as f64 / f64::from(cores);
            all.push(Use::even("firmware", busy / window));
        }
        if case.drive.dram.is_some() {
            all.push(Use::even("dram", m.drive.dram_busy_time as f64 / window));
        }
        if let Some(firmware) = &case.drive.firmware {
            let mut task = |name, of: TaskSpec, busy: u64| {
                if of.time > Duration::ZERO {
                    all.push(Use::even(name, busy as f64 / f64::from(of.cores) / window));
                }
            };
            task("firmware_mapping", firmware.mapping, m.drive.firmware_mapping_time);
            task("firmware_collection", firmware.collection, m.drive.firmware_collection_time);
        }
    }
    all
}

/// Mean number of outstanding requests by the cause they wait for; `None` in arrays, which keep no accounts.
fn outstanding(m: &Measured, window: f64) -> Option<[f64; CAUSES]> {
    let (reads, writes) = (m.window.read_attribution.total(), m.window.write_attribution.total());
    (reads.requests + writes.requests > 0)
        .then(|| std::array::from_fn(|k| (reads.by_cause[k] + writes.by_cause[k]) as f64 / window))
}

/// Name of what bounds the throughput.
fn bound(uses: &[Use], waiting: Option<&[f64; CAUSES]>, case: &Case) -> &'static str {
    let most = |share: fn(&Use) -> f64, least: f64| {
        let above = uses.iter().filter(|of| share(of) >= least);
        above.max_by(|a, b| share(a).total_cmp(&share(b)))
    };
    if let Some(all) = most(|of| of.mean, SATURATED) {
        return all.name;
    }
    if let Some(one) = most(|of| of.most, SATURATED_ALONE) {
        return match one.name {
            "dies" => "one_die",
            "command_buses" => "one_command_bus",
            _ => "one_channel",
        };
    }
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
