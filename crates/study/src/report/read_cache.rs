//! Result section `read_cache`: hit rate, and what became of the units read ahead.

use super::json_values::without_nulls;
use crate::config::Case;
use interpulse_drive::DriveCounters;
use serde_json::{Value, json};

/// The section; `None` without a read cache.
pub(super) fn section(of: &DriveCounters, case: &Case) -> Option<Value> {
    let spec = case.drive.read_cache.as_ref()?;
    let share = |part: u64, all: u64| (all > 0).then(|| part as f64 / all as f64);
    let found = of.read_cache_hits + of.read_cache_merged;
    let ahead = spec.ahead.map(|_| {
        without_nulls(json!({
            "units": of.read_ahead_units,
            "used_share": share(of.read_ahead_used, of.read_ahead_units),
            "wasted_share": share(of.read_ahead_wasted, of.read_ahead_units),
        }))
    });
    Some(without_nulls(json!({
        "units": found + of.read_cache_misses,
        "hit_rate": share(of.read_cache_hits, found + of.read_cache_misses),
        "merged_share": share(of.read_cache_merged, found + of.read_cache_misses),
        "read_ahead": ahead,
    })))
}
