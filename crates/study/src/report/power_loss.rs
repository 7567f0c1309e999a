//! Result section `power_loss`.

use super::json_values::without_nulls;
use interpulse_drive::Drive;
use interpulse_drive::MetadataWritten;
use interpulse_drive::Recovery;
use serde_json::{Value, json};

/// Metadata writes and recovery of all drives; `None` without power loss. Counts are sums over drives, times those
/// of the slowest.
pub fn section(drives: &[Drive]) -> Option<Value> {
    drives[0].spec().power_loss?;
    let written = |of: fn(&MetadataWritten) -> u64| -> u64 {
        drives.iter().map(|drive| of(&drive.metadata_written())).sum()
    };
    let cuts: Vec<&Recovery> = drives.iter().filter_map(|drive| drive.recoveries().last()).collect();
    let first = cuts.first();
    Some(without_nulls(json!({
        "checkpoints": written(|of| of.checkpoints),
        "checkpoint_pages": written(|of| of.checkpoint_pages),
        "metadata_programs": written(|of| of.programs),
        "cut": first.map(|first| cut(first, &cuts, drives[0].spec().ftl.reprogram.is_some())),
        "hold_up": first.and_then(|_| super::hold_up::section(drives)),
        "recovery": first.map(|_| recovery(&cuts, drives[0].spec().ftl.mapping.cached().is_some())),
    })))
}

fn cut(first: &Recovery, cuts: &[&Recovery], reprograms: bool) -> Value {
    let sum = |of: fn(&Recovery) -> u64| cuts.iter().map(|r| of(r)).sum::<u64>();
    without_nulls(json!({
        "at_s": first.at.as_ns() as f64 / 1e9,
        "reads_in_flight": sum(|r| r.requests[0]),
        "writes_in_flight": sum(|r| r.requests[1]),
        "others_in_flight": sum(|r| r.requests[2]),
        "acknowledged_units_lost": sum(|r| r.found.losses.acknowledged),
        "flushed_units_lost": sum(|r| r.found.losses.flushed),
        "unacknowledged_units": sum(|r| r.found.losses.unacknowledged),
        "unacknowledged_units_kept": sum(|r| r.found.losses.survived),
        "trims_undone": sum(|r| r.found.trims_undone),
        "torn_word_lines": sum(|r| r.found.torn_word_lines),
        "torn_reprograms": reprograms.then(|| sum(|r| r.found.torn_reprograms)),
        "completed_reprograms": reprograms.then(|| sum(|r| r.found.completed_reprograms)),
        "interrupted_erases": sum(|r| r.found.blocks_erased_again),
    }))
}

fn recovery(cuts: &[&Recovery], cached: bool) -> Value {
    let sum = |of: fn(&Recovery) -> u64| cuts.iter().map(|r| of(r)).sum::<u64>();
    let longest = |of: fn(&Recovery) -> Option<u64>| cuts.iter().filter_map(|r| of(r)).max();
    let us = |ns: u64| ns as f64 / 1e3;
    let whole = longest(|r| Some(r.served?.as_ns() - r.on?.as_ns()));
    let refilling = longest(|r| Some(r.served?.as_ns() - r.on?.as_ns() - r.found.mounting.as_ns()));
    without_nulls(json!({
        "time_us": whole.map(us),
        "mounting_us": us(longest(|r| Some(r.found.mounting.as_ns())).unwrap_or(0)),
        "refilling_us": refilling.map(us),
        "checkpoint_pages_read": sum(|r| r.found.checkpoint_pages),
        "oob_pages_read": sum(|r| r.found.oob_pages),
        "translation_pages_read": cached.then(|| sum(|r| r.found.translation_pages)),
        "cache_pages_read": sum(|r| r.found.cache_pages),
        "blocks_erased_again": sum(|r| r.found.blocks_erased_again),
        "units_programmed_again": sum(|r| r.found.kept_units),
    }))
}
