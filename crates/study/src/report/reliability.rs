//! Result section `reliability`: bit errors, correction effort and uncorrectable reads.

use super::json_values::without_nulls;
use crate::run::ErrorWindow;
use interpulse_host::Window;
use serde_json::{Value, json};

/// `reliability` of a result with an error table.
pub(super) fn section(e: &ErrorWindow, window: &Window) -> Value {
    let c = &e.counters;
    let each = |n: f64, of: u64| (c.reads > 0).then(|| n / of as f64);
    let retried = c.host_reads_retried + c.gc_reads_retried;
    // Retries count when a read ends, so use ended reads as the base.
    let ended: u64 = e.by_attempts.iter().sum();
    let last = e.by_attempts.iter().rposition(|&n| n > 0).map_or(0, |k| k + 1);
    let mean = c.host_retry_time as f64 / c.host_reads_retried as f64 / 1e3;
    without_nulls(json!({
        "page_reads": c.reads,
        "raw_bit_error_rate": each(c.expected_errors as f64 / 1024.0, c.bits),
        "retried_share": (ended > 0).then(|| retried as f64 / ended as f64),
        "retry_steps_mean": each(c.retry_steps as f64, c.reads),
        "on_die_sensings_mean": (c.on_die_sensings > 0).then(|| each(c.on_die_sensings as f64, c.reads)),
        "uber": each(c.uncorrectable_codewords as f64, c.bits),
        "reads_by_attempts": (c.reads > 0).then(|| &e.by_attempts[..last]),
        "retry_mean_us": (c.host_reads_retried > 0).then_some(mean),
        "uncorrectable": {
            "reads": window.uncorrectable_reads,
            "writes": window.uncorrectable_writes,
            "gc_pages": c.uncorrectable_gc_reads,
            "codewords": c.uncorrectable_codewords,
        },
        "refreshed_blocks": e.rewritten.refreshed,
        "reclaimed_blocks": e.rewritten.reclaimed,
    }))
}
