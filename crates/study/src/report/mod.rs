//! Results as JSON: of a case and of a whole run; schema: `docs/result.schema.json`.

mod aborts;
pub mod array;
mod batch_means;
mod batches;
mod counters;
mod dies;
mod document;
mod drive_state;
mod flash_space;
mod formats;
mod hold_up;
mod json_values;
mod limits;
mod mapping_cache;
mod namespaces;
mod open_load;
mod overload;
mod placement;
mod power;
mod power_loss;
mod read_cache;
mod reliability;
pub mod smart;
mod time_share;
mod window_quality;
mod zones;

use crate::config::Case;
use crate::run::Measured;
use drive_state::{DriveState, SlcState};
use interpulse_drive::Drive;
use interpulse_engine::account::CAUSE_INFO;
use interpulse_engine::{Duration, Latencies};
use interpulse_flash::command::EnergyCategory;
use interpulse_flash::nand::OperationTimes;
use interpulse_host::{Attribution, CauseSums};
use interpulse_workload::TraceSummary;
use json_values::{extend, histograms, latencies, latency, us};
use serde_json::{Map, Value, json};
use time_share::time_share;

pub use counters::groups;
pub use document::document;
pub use json_values::without_nulls;

/// Version of the result schema; raised when a key is removed or renamed.
pub const SCHEMA_VERSION: u32 = 2;

/// Latency tails split by cause: name, and the slowest one in n reads.
const TAILS: [(&str, u64); 3] = [("p99", 100), ("p99.9", 1000), ("p99.99", 10_000)];

/// Common header of every result, followed by the entries that are not null.
fn case_header(case: &Case, entries: Value) -> Value {
    let mut o = json!({
        "schema_version": SCHEMA_VERSION,
        "version": env!("CARGO_PKG_VERSION"),
        "seed": case.seed,
        "config_hash": case.config_hash(),
        "case": case.name,
    });
    extend(&mut o, entries);
    o
}

/// Result of a case that was stopped before its start.
pub fn not_run(case: &Case) -> Value {
    case_header(case, json!({ "interrupted": true }))
}

/// Entry of a case that failed, beside successful ones.
pub fn failed(case: &Case, why: &str) -> Value {
    case_header(case, json!({ "error": why }))
}

/// Result of a case: measurements of all drives together, and the section about their array if there is one.
pub fn result(
    case: &Case,
    m: &Measured,
    drives: &[Drive],
    traces: Vec<TraceSummary>,
    array: Option<Value>,
) -> Value {
    let context = &DriveState::of(case, drives, traces);
    let seconds = m.simulated.as_ns() as f64 / 1e9;
    let mut all = Latencies::default();
    // The warm-up flow before a trace does not count.
    for f in m.window.flows.iter().take(case.flows.len()) {
        all.merge(f);
    }
    let requests = m.window.counters.requests;
    let refused = m.window.refused.count();
    let per_second = |n: u64, s: f64| if s > 0.0 { n as f64 / s } else { 0.0 };
    let mut summary = latencies(&all);
    window_quality::add_confidence(&mut summary, &all, &m.batches);
    let mut o = case_header(
        case,
        json!({
            "interrupted": m.interrupted.then_some(true),
            "simulated_s": seconds,
            "wall_s": m.wall_s,
            "cpu_s": m.cpu_s,
            "host_requests": requests,
            "refused_requests": (refused > 0).then_some(refused),
            "requests_per_cpu_s": per_second(requests, m.window_cpu_s),
            "iops": per_second(requests - refused, seconds),
            "latency_us": summary,
            "warmup": m.warmed.as_ref().map(window_quality::warmup),
            "steady": window_quality::steady(m, case),
            "capacity": capacity(case),
            "ftl": ftl(m, context),
            "namespaces": namespaces::section(m, case, &drives[0]),
            "read_cache": read_cache::section(&m.drive, case),
            "placement": m.placement.as_ref().map(|of| placement::section(of, case)),
            "nand": nand(m),
            "time_share": time_share(&m.uses),
            "limits": limits::section(m, case),
            "reliability": m.errors.as_ref().map(|errors| reliability::section(errors, &m.window)),
            "power": (m.simulated > Duration::ZERO).then(|| power_of(m, case)),
        }),
    );
    let flows =
        case.flows.iter().zip(&m.window.flows).zip(&m.window.refused_by_flow).map(|((flow, l), of)| {
            let refused = of.count();
            without_nulls(json!({
                "name": flow.name,
                "host_requests": l.count(),
                "refused_requests": (refused > 0).then_some(refused),
                "iops": per_second(l.count() - refused, seconds),
                "latency_us": latencies(l),
                "histogram_us": case.report.histograms.then(|| histograms(l)),
            }))
        });
    let audits = m.audits.map_or(json!({}), |a| {
        json!({
            "requests_issued_and_completed": a.requests,
            "mapped_units": a.mapped_units,
            "versions_checked": a.versions_checked,
            "energy_nj": m.energy_nj,
        })
    });
    // Replacement drives are new and not included.
    let first = case.array.map_or(1, |array| array.drives as usize);
    let more = json!({
        "read_wait_us": wait(&m.window.read_attribution.total()),
        "write_wait_us": wait(&m.window.write_attribution.total()),
        "tail_blame": tail_blame(&m.window.read_attribution),
        "oldest_outstanding_us": oldest(m.window.oldest_read, m.window.oldest_write),
        "histogram_us": case.report.histograms.then(|| histograms(&all)),
        "batches": case.report.batches.then(|| batches::section(&m.batches)),
        "dies": case.report.dies.then(|| dies::section(m, drives)),
        "flows": flows.collect::<Value>(),
        "counters": counters::section(m, context),
        "audits": audits,
        "config": case.hashed_entries().map(|e| (e.path.clone(), json!(e.display))).collect::<Map<_, _>>(),
        "array": array,
        "zones": zones::section(m, &drives[0]),
        "formats": formats::section(m, &drives[0]),
        "aborts": aborts::section(m, case),
        "power_loss": power_loss::section(&drives[..first]),
        "smart": smart::section(&drives[..first], m.window.refused.count()),
    });
    extend(&mut o, more);
    o
}

/// Capacity of each drive.
fn capacity(case: &Case) -> Value {
    let of = case.drive.capacity();
    json!({
        "raw_bytes": of.raw.get(),
        "usable_bytes": of.usable.get(),
        "over_provisioning": of.over_provisioning,
        "blocks_per_plane": case.drive.geometry.blocks_per_plane,
    })
}

fn ftl(m: &Measured, context: &DriveState) -> Value {
    let f = &m.ftl;
    let mut o = Map::new();
    if let Some(waf) = f.write_amplification() {
        o.insert("waf".into(), json!(waf));
    }
    o.insert("host_pages".into(), json!(f.host_units));
    o.insert("programmed_pages".into(), json!(f.programmed()));
    o.insert("gc_runs".into(), json!(f.gc_runs));
    o.insert("gc_pages_moved".into(), json!(f.gc_units));
    o.insert("erases".into(), json!(f.erases));
    mapping_cache::insert(&mut o, m, context);
    if !context.case.drive.ftl.gc.imposes() {
        if let Some(factor) = m.spare.factor() {
            o.insert("effective_spare_factor".into(), json!(factor));
        }
        flash_space::insert(&mut o, m, context);
        if let Some(slc) = &context.slc {
            o.insert("slc_cache".into(), slc_cache(m, slc));
        }
    }
    Value::Object(o)
}

/// SLC caches: shares in the window, size and wear at its end.
fn slc_cache(m: &Measured, at_end: &SlcState) -> Value {
    let (slc, host) = (&m.slc, m.slc.slc_units + m.slc.direct_units);
    let share = |units: u64| (host > 0).then(|| units as f64 / host as f64);
    without_nulls(json!({
        "capacity_bytes": at_end.capacity.get(),
        "used_bytes": at_end.used.get(),
        "slc_share": share(slc.slc_units),
        "folded_share": share(slc.folded_units),
        "slc_cycles": at_end.cycles,
    }))
}

fn nand(m: &Measured) -> Value {
    let n = &m.nand;
    json!({
        "reads": n.reads(),
        "programs": n.programs(),
        "erases": n.erases,
        "suspends": { "program": n.program_suspends, "erase": n.erase_suspends },
        "program_us": operation(&m.operations.programs),
        "erase_us": operation(&m.operations.erases),
    })
}

/// Power and energy of the flash array.
fn power_of(m: &Measured, case: &Case) -> Value {
    let counts = std::array::from_fn(|k| EnergyCategory::ALL[k].1.count(&m.nand));
    let drive = &case.drive;
    let requests = m.window.counters.requests;
    let limit = drive.nand.power.budget;
    let constants = drive.constants.of_drives(case.drives());
    power::section(&m.power, &drive.part.power, &constants, limit, &counts, requests, m.simulated)
}

/// Durations of operations of one kind, and counts by number of suspensions.
fn operation(of: &OperationTimes) -> Value {
    let mut o = latency(&of.times);
    if of.times.count() > 0 {
        let last = of.by_suspends.iter().rposition(|&n| n > 0).map_or(0, |k| k + 1);
        o["by_suspends"] = json!(of.by_suspends[..last]);
        o["most_suspends"] = json!(of.most_suspends);
    }
    o
}

/// A value per cause.
fn by_cause(sums: &CauseSums, value: impl Fn(u128) -> Value) -> Value {
    Value::Object(
        // Causes that a drive without a mapping cache, faults or a read cache lacks.
        CAUSE_INFO
            .iter()
            .zip(sums.by_cause)
            .filter(|((name, _), sum)| !matches!(*name, "mapping" | "fault" | "read_cache") || *sum > 0)
            .map(|((name, _), sum)| ((*name).into(), value(sum)))
            .collect(),
    )
}

/// Mean by cause.
fn wait(sums: &CauseSums) -> Value {
    if sums.requests == 0 {
        return json!({});
    }
    by_cause(sums, |sum| us(sum as f64 / sums.requests as f64))
}

/// Slowest reads split by cause.
fn tail_blame(blame: &Attribution) -> Value {
    let tails = TAILS.iter().filter_map(|&(name, one_in)| {
        let tail = blame.slowest(one_in)?;
        let total = tail.sums.total_ns() as f64;
        let value = json!({
            "above_us": us(tail.above.as_ns() as f64),
            "reads": tail.sums.requests,
            "mean_us": us(total / tail.sums.requests as f64),
            "shares": by_cause(&tail.sums, |sum| json!(sum as f64 / total)),
        });
        Some((name.to_string(), value))
    });
    Value::Object(tails.collect())
}

fn oldest(read: Option<Duration>, write: Option<Duration>) -> Value {
    let ages = [("read", read), ("write", write)].into_iter();
    Value::Object(ages.filter_map(|(name, age)| Some((name.into(), us(age?.as_ns() as f64)))).collect())
}
