//! Results as JSON, by the schema in `docs/result.schema.json`.

pub mod array;
mod batches;
mod context;
mod counters;
mod dies;
mod hold_up;
mod power_loss;
mod reliability;
mod shares;
mod space;
mod steadiness;
mod values;

use crate::config::Case;
use crate::power;
use crate::run::Measured;
use context::Context;
use interpulse_drive::drive::Drive;
use interpulse_engine::account::CAUSE_INFO;
use interpulse_engine::{Duration, Latencies};
use interpulse_flash::command::Spender;
use interpulse_flash::nand::OperationTimes;
use interpulse_host::{Blame, Sums};
use interpulse_workload::TraceSummary;
use serde_json::{Map, Value, json};
use shares::time_share;
use values::{histograms, latencies, latency, us};

pub use counters::groups;

/// The version of the result's schema; raised when a key is removed or renamed.
pub const SCHEMA_VERSION: u32 = 1;

/// Tails that are split by cause, with their names: the slowest one in so many reads.
const TAILS: [(&str, u64); 3] = [("p99", 100), ("p99.9", 1000), ("p99.99", 10_000)];

/// What every result begins with.
fn heading(case: &Case) -> Map<String, Value> {
    let mut o = Map::new();
    o.insert("schema_version".into(), json!(SCHEMA_VERSION));
    o.insert("version".into(), json!(env!("CARGO_PKG_VERSION")));
    o.insert("seed".into(), json!(case.seed));
    o.insert("config_hash".into(), json!(case.config_hash()));
    o.insert("case".into(), json!(case.name));
    o
}

/// The result of a case that was stopped before it ran.
pub fn not_run(case: &Case) -> Value {
    let mut o = heading(case);
    o.insert("interrupted".into(), json!(true));
    Value::Object(o)
}

/// What stands in the place of a case that failed, beside those that did not.
pub fn failed(case: &Case, why: &str) -> Value {
    let mut o = heading(case);
    o.insert("error".into(), json!(why));
    Value::Object(o)
}

/// The result of a case: what its run measured, of all drives together, and the section about their array if there is one.
pub fn result(
    case: &Case,
    m: &Measured,
    drives: &[Drive],
    traces: Vec<TraceSummary>,
    array: Option<Value>,
) -> Value {
    let context = &Context::of(case, drives, traces);
    let mut o = heading(case);
    if m.interrupted {
        o.insert("interrupted".into(), json!(true));
    }
    let seconds = m.simulated.as_ns() as f64 / 1e9;
    let mut all = Latencies::default();
    // A flow before a trace is none of the load.
    for f in m.window.flows.iter().take(case.flows.len()) {
        all.read.merge(&f.read);
        all.write.merge(&f.write);
        all.other.merge(&f.other);
    }
    let requests = m.window.counters.requests;
    let per_second = |n: u64, s: f64| if s > 0.0 { n as f64 / s } else { 0.0 };
    o.insert("simulated_s".into(), json!(seconds));
    o.insert("wall_s".into(), json!(m.wall_s));
    o.insert("cpu_s".into(), json!(m.cpu_s));
    o.insert("host_requests".into(), json!(requests));
    o.insert("requests_per_cpu_s".into(), json!(per_second(requests, m.window_cpu_s)));
    o.insert("iops".into(), json!(per_second(requests, seconds)));
    let mut summary = latencies(&all);
    steadiness::add_confidence(&mut summary, &all, &m.batches);
    o.insert("latency_us".into(), summary);
    if let Some(warmed) = &m.warmed {
        o.insert("warmup".into(), steadiness::warmup(warmed));
    }
    o.insert("steady".into(), steadiness::steady(m, case));
    o.insert("capacity".into(), capacity(case));
    o.insert("ftl".into(), ftl(m, context));
    o.insert("nand".into(), nand(m));
    o.insert("time_share".into(), time_share(&m.uses));
    if let Some(errors) = &m.errors {
        o.insert("reliability".into(), reliability::section(errors, &m.window));
    }
    if m.simulated > Duration::ZERO {
        o.insert("power".into(), power_of(m, case));
    }
    o.insert("read_wait_us".into(), wait(&m.window.read_blame.total()));
    o.insert("write_wait_us".into(), wait(&m.window.write_blame));
    o.insert("tail_blame".into(), tail_blame(&m.window.read_blame));
    o.insert("oldest_outstanding_us".into(), oldest(m.window.oldest_read, m.window.oldest_write));
    if case.report.histograms {
        o.insert("histogram_us".into(), histograms(&all));
    }
    if case.report.batches {
        o.insert("batches".into(), batches::section(&m.batches));
    }
    if case.report.dies {
        o.insert("dies".into(), dies::section(m, drives));
    }
    let flows = case.flows.iter().zip(&m.window.flows).map(|(flow, l)| {
        let mut flow = json!({
            "name": flow.name,
            "host_requests": l.count(),
            "iops": per_second(l.count(), seconds),
            "latency_us": latencies(l),
        });
        if case.report.histograms {
            flow["histogram_us"] = histograms(l);
        }
        flow
    });
    o.insert("flows".into(), flows.collect());
    o.insert("counters".into(), counters::section(m, context));
    let audits = m.audits.map_or(json!({}), |a| {
        json!({
            "requests_issued_and_completed": a.requests,
            "mapped_units": a.mapped_units,
            "versions_checked": a.versions_checked,
            "energy_nj": m.energy_nj,
        })
    });
    o.insert("audits".into(), audits);
    let config = case.hashed_entries().map(|e| (e.path.clone(), json!(e.display))).collect::<Map<_, _>>();
    o.insert("config".into(), Value::Object(config));
    if let Some(array) = array {
        o.insert("array".into(), array);
    }
    // Drives that took lost ones' places are new: they are not asked.
    let first = case.array.map_or(1, |array| array.drives as usize);
    if let Some(power_loss) = power_loss::section(&drives[..first]) {
        o.insert("power_loss".into(), power_loss);
    }
    Value::Object(o)
}

/// The sizes of each drive.
fn capacity(case: &Case) -> Value {
    let of = case.drive.capacity();
    json!({
        "raw_bytes": of.raw.get(),
        "usable_bytes": of.usable.get(),
        "over_provisioning": of.over_provisioning,
        "blocks_per_plane": case.drive.geometry.blocks_per_plane,
    })
}

fn ftl(m: &Measured, context: &Context) -> Value {
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
    if !context.case.drive.ftl.gc.imposes() {
        o.insert("effective_spare_factor".into(), json!(context.effective_spare));
        space::insert(&mut o, m, context);
    }
    Value::Object(o)
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

/// What the flash array drew from its supplies.
fn power_of(m: &Measured, case: &Case) -> Value {
    let counts = std::array::from_fn(|k| Spender::ALL[k].1.count(&m.nand));
    let drive = &case.drive;
    let requests = m.window.counters.requests;
    let limit = drive.nand.power.budget;
    let constants = drive.constants.of_drives(case.drives());
    power::report(&m.power, &drive.part.power, &constants, limit, &counts, requests, m.simulated)
}

/// How long the operations of one kind had their die, and how many were suspended 0, 1, 2, ... times.
fn operation(of: &OperationTimes) -> Value {
    let mut o = latency(&of.times);
    if of.times.count() > 0 {
        let last = of.by_suspends.iter().rposition(|&n| n > 0).map_or(0, |k| k + 1);
        o["by_suspends"] = json!(of.by_suspends[..last]);
        o["most_suspends"] = json!(of.most_suspends);
    }
    o
}

/// A value for each cause.
fn by_cause(sums: &Sums, value: impl Fn(u128) -> Value) -> Value {
    Value::Object(
        CAUSE_INFO.iter().zip(sums.by_cause).map(|((name, _), sum)| ((*name).into(), value(sum))).collect(),
    )
}

/// The mean by cause.
fn wait(sums: &Sums) -> Value {
    if sums.requests == 0 {
        return json!({});
    }
    by_cause(sums, |sum| us(sum as f64 / sums.requests as f64))
}

/// The slowest reads split by cause.
fn tail_blame(blame: &Blame) -> Value {
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
