//! What a result says of its window: how the drive came to work before it, whether it was steady, how sure its percentiles are.

use crate::batches::Batch;
use crate::config::Case;
use crate::run::Measured;
use crate::steady::{self, BEYOND, Halves, Says};
use crate::warmup::Warmed;
use interpulse_engine::{Latencies, LatencyHistogram};
use interpulse_workload::FlowSpec;
use serde_json::{Map, Value, json};

use super::values::{PERCENTILES, known, us};

/// Blocks of each lane that a window has to write for a drift in it to be one: a wave of collections takes about one.
const WAVES: f64 = 2.0;

/// What happened before the window.
pub(super) fn warmup(w: &Warmed) -> Value {
    known(json!({
        "by": w.by,
        "host_requests": w.requests,
        "simulated_s": w.simulated.as_ns() as f64 / 1e9,
        "why": w.why,
    }))
}

/// Whether the window was steady: its figures in both halves.
pub(super) fn steady(m: &Measured, case: &Case) -> Value {
    let figures = steady::figures(&m.batches, case.flows.iter().all(FlowSpec::is_closed));
    let names = |says: Says| figures.iter().filter(|f| f.says == says).map(|f| f.name).collect::<Vec<_>>();
    let (mut drifts, mut unsure) = (names(Says::Drifts), names(Says::Unsure));
    // What looks like a drift within one wave of collections may be that.
    if m.lane_blocks.is_some_and(|blocks| blocks < WAVES) {
        unsure.append(&mut drifts);
    }
    let verdict = match (&figures[..], &drifts[..], &unsure[..]) {
        ([], ..) | (_, [], [_, ..]) => "unknown",
        (_, [_, ..], _) => "no",
        (_, [], []) => "yes",
    };
    let halves = |f: &Halves| (f.name.to_string(), json!([f.first, f.second]));
    known(json!({
        "verdict": verdict,
        "batches": m.batches.len(),
        "lane_blocks": m.lane_blocks,
        "halves": figures.iter().map(halves).collect::<Map<_, _>>(),
        "drifts": drifts,
        "unsure": unsure,
    }))
}

/// Adds to the summaries of latencies what is known of their percentiles.
pub(super) fn add_confidence(summary: &mut Value, of: &Latencies, batches: &[Batch]) {
    add(&mut summary["read"], &of.read, batches, |b| &b.read);
    add(&mut summary["write"], &of.write, batches, |b| &b.write);
    for (kind, of) in [("read", &of.read), ("write", &of.write), ("all", &of.all())] {
        let few = |&&(_, p): &&(&str, f64)| (1.0 - p) * (of.count() as f64) < BEYOND * (1.0 - 1e-9);
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
    let intervals = steady::intervals(of, &PERCENTILES.map(|(_, p)| p), batches.iter().map(counts));
    let interval = |(&(name, _), interval): (&(&str, f64), Option<(u64, u64)>)| {
        let (low, high) = interval?;
        Some((name.to_string(), json!([us(low as f64), us(high as f64)])))
    };
    let known: Map<String, Value> = PERCENTILES.iter().zip(intervals).filter_map(interval).collect();
    if !known.is_empty() {
        summary["interval"] = Value::Object(known);
    }
}
