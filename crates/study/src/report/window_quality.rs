//! Result sections on the quality of the window: warm-up, steadiness, confidence of percentiles.

use super::batch_means::{self, Halves, MIN_BEYOND, Slope, Verdict};
use super::open_load;
use super::overload::Load;
use crate::config::Case;
use crate::run::Measured;
use crate::run::batches::Batch;
use crate::run::warm_up::WarmupOutcome;
use interpulse_engine::{Latencies, LatencyHistogram, Status};
use interpulse_workload::FlowSpec;
use serde_json::{Map, Value, json};

use super::json_values::{PERCENTILES, us, without_nulls};

/// Blocks per lane that a window must write before a drift counts: one wave of collections takes about one.
const WAVES: f64 = 2.0;

/// Result section `warmup`.
pub(super) fn warmup(w: &WarmupOutcome) -> Value {
    without_nulls(json!({
        "by": w.by,
        "host_requests": w.requests,
        "simulated_s": w.simulated.as_ns() as f64 / 1e9,
        "why": w.why,
    }))
}

/// Result section `steady`: verdict and figures of both halves.
pub(super) fn steady(m: &Measured, case: &Case) -> Value {
    let figures = batch_means::figures(&m.batches, case.flows.iter().all(FlowSpec::is_closed));
    let names = |verdict: Verdict| {
        figures.iter().filter(|f| f.verdict == verdict).map(|f| f.name).collect::<Vec<_>>()
    };
    let (mut drifts, mut unsure) = (names(Verdict::Drifts), names(Verdict::Unsure));
    // An apparent drift within one wave of collections may be that wave.
    if m.lane_blocks.is_some_and(|blocks| blocks < WAVES) {
        unsure.append(&mut drifts);
    }
    let open = open_load::judge(m, case);
    let load = open.as_ref().map_or(Load::Sustained, |open| open.load);
    let mut halves: Map<_, _> =
        figures.iter().map(|f: &Halves| (f.name.to_string(), json!([f.first, f.second]))).collect();
    if let (Some(open), Load::Undecided) = (&open, load) {
        halves.insert("backlog".into(), json!(open.halves));
        unsure.push("backlog");
    }
    let no_collection = uses_up_free_blocks(m);
    if no_collection {
        halves.insert("erases".into(), json!([0, 0]));
        unsure.push("erases");
    }
    let refuses = refuses(m);
    if refuses {
        let first = m.batches.iter().take(m.batches.len() / 2).map(|batch| batch.refused).sum::<u64>();
        halves.insert("refused".into(), json!([first, m.window.refused.count() - first]));
        drifts.push("refused");
    }
    let verdict = match (load, &figures[..], &drifts[..], &unsure[..]) {
        // Whatever the halves say: latency grows for as long as the run lasts.
        (Load::Overloaded { .. }, ..) => "overloaded",
        _ if refuses => "no",
        (_, [], ..) | (_, _, [], [_, ..]) => "unknown",
        (_, _, [_, ..], _) => "no",
        (_, _, [], []) => "yes",
    };
    let slope =
        |slope: Slope| json!({ "change": slope.change, "interval": [slope.interval.0, slope.interval.1] });
    without_nulls(json!({
        "verdict": verdict,
        "batches": m.batches.len(),
        "lane_blocks": m.lane_blocks,
        "halves": halves,
        "drifts": drifts,
        "unsure": unsure,
        "waf_slope": batch_means::waf_slope(&m.batches).filter(|_| !no_collection).map(slope),
        "load": open.map(|open| open.section),
    }))
}

/// True if the drive has become read-only, or refuses most requests: the window measures how it refuses them.
fn refuses(m: &Measured) -> bool {
    let refused = &m.window.refused;
    let read_only = Status::NamespaceIsWriteProtected as usize;
    refused.writes[read_only] + refused.others[read_only] > 0
        || 2 * refused.count() > m.window.counters.requests
}

/// True if the host wrote several blocks of each lane and none was erased: write amplification is 1 until the blocks that were
/// free at the start are used up, whatever the halves say.
fn uses_up_free_blocks(m: &Measured) -> bool {
    m.ftl.erases == 0 && m.lane_blocks.is_some_and(|blocks| blocks >= WAVES)
}

/// Adds confidence intervals of percentiles to latency summaries.
pub(super) fn add_confidence(summary: &mut Value, of: &Latencies, batches: &[Batch]) {
    add(&mut summary["read"], &of.read, batches, |b| &b.read);
    add(&mut summary["write"], &of.write, batches, |b| &b.write);
    for (kind, of) in [("read", &of.read), ("write", &of.write), ("all", &of.all())] {
        let few = |&&(_, p): &&(&str, f64)| (1.0 - p) * (of.count() as f64) < MIN_BEYOND * (1.0 - 1e-9);
        let names: Vec<&str> = PERCENTILES.iter().filter(few).map(|(name, _)| *name).collect();
        if of.count() > 0 && !names.is_empty() {
            summary[kind]["few"] = json!(names);
        }
    }
}

fn add(
    summary: &mut Value,
    of: &LatencyHistogram,
    batches: &[Batch],
    counts: impl Fn(&Batch) -> &Vec<(u64, u64)>,
) {
    let intervals = batch_means::intervals(of, &PERCENTILES.map(|(_, p)| p), batches.iter().map(counts));
    let interval = |(&(name, _), interval): (&(&str, f64), Option<(u64, u64)>)| {
        let (low, high) = interval?;
        Some((name.to_string(), json!([us(low as f64), us(high as f64)])))
    };
    let known: Map<String, Value> = PERCENTILES.iter().zip(intervals).filter_map(interval).collect();
    if !known.is_empty() {
        summary["interval"] = Value::Object(known);
    }
}
