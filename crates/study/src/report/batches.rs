//! Result section `batches`: figures of each batch of the window.

use super::batch_means::Pooled;
use super::json_values::{us, without_nulls};
use super::time_share::time_share;
use crate::run::batches::Batch;
use crate::run_target::DeviceCounters;
use serde_json::{Map, Value, json};

/// Percentiles of a batch.
const PERCENTILES: [(&str, f64); 3] = [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)];

/// The batches in order.
pub(super) fn section(batches: &[Batch]) -> Value {
    let mut end = 0;
    let each = |batch: &Batch| {
        end += batch.length.as_ns();
        let DeviceCounters { ftl, nand, uses, .. } = &batch.done;
        without_nulls(json!({
            "end_s": end as f64 / 1e9,
            "length_s": batch.length.as_ns() as f64 / 1e9,
            "host_requests": batch.requests,
            "read_us": latency(&batch.read),
            "write_us": latency(&batch.write),
            "gc_runs": ftl.gc_runs,
            "gc_pages_moved": ftl.gc_units,
            "erases": nand.erases,
            "suspends": { "program": nand.program_suspends, "erase": nand.erase_suspends },
            "time_share": time_share(uses),
            "waf": ftl.write_amplification(),
        }))
    };
    batches.iter().map(each).collect()
}

fn latency(counts: &Vec<(u64, u64)>) -> Value {
    let total: u64 = counts.iter().map(|&(_, count)| count).sum();
    let mut o = Map::from_iter([("count".to_string(), json!(total))]);
    let pooled = Pooled::of(&[counts]);
    for (name, p) in PERCENTILES {
        if let Some(ns) = pooled.quantile(p) {
            o.insert(name.into(), us(ns as f64));
        }
    }
    Value::Object(o)
}
