//! The section on bit errors: how many there were, what correcting them took, what could not be corrected.

use crate::run::ErrorWindow;
use interpulse_host::Window;
use serde_json::{Map, Value, json};

/// `reliability` of a result with an error table.
pub(super) fn section(e: &ErrorWindow, window: &Window) -> Value {
    let c = &e.counters;
    let mut o = Map::new();
    o.insert("page_reads".into(), json!(c.reads));
    if c.reads > 0 {
        let retried = c.host_reads_retried + c.gc_reads_retried;
        o.insert("raw_bit_error_rate".into(), json!(c.expected_errors as f64 / 1024.0 / c.bits as f64));
        o.insert("retried_share".into(), json!(retried as f64 / c.reads as f64));
        o.insert("retry_steps_mean".into(), json!(c.retry_steps as f64 / c.reads as f64));
        o.insert("uber".into(), json!(c.uncorrectable_codewords as f64 / c.bits as f64));
        let last = e.by_attempts.iter().rposition(|&n| n > 0).map_or(0, |k| k + 1);
        o.insert("reads_by_attempts".into(), json!(e.by_attempts[..last]));
    }
    if c.host_reads_retried > 0 {
        let mean = c.host_retry_time as f64 / c.host_reads_retried as f64 / 1e3;
        o.insert("retry_mean_us".into(), json!(mean));
    }
    o.insert(
        "uncorrectable".into(),
        json!({
            "reads": window.uncorrectable_reads,
            "writes": window.uncorrectable_writes,
            "gc_pages": c.uncorrectable_gc_reads,
            "codewords": c.uncorrectable_codewords,
        }),
    );
    o.insert("refreshed_blocks".into(), json!(e.rewritten.refreshed));
    o.insert("reclaimed_blocks".into(), json!(e.rewritten.reclaimed));
    Value::Object(o)
}
