//! The section `power_loss` of a result.

use interpulse_drive::drive::Drive;
use interpulse_drive::drive::cut::Recovery;
use interpulse_drive::ftl::MetadataWritten;
use serde_json::{Map, Value, json};

/// What the drives of a case did for a loss of power, and how they recovered from one; `None` where power is not lost. Of
/// several drives counts are sums, and times those of the slowest.
pub fn section(drives: &[Drive]) -> Option<Value> {
    drives[0].spec().power_loss?;
    let mut o = Map::new();
    let written = |of: fn(&MetadataWritten) -> u64| -> u64 {
        drives.iter().map(|drive| of(&drive.ftl().metadata_written())).sum()
    };
    o.insert("checkpoints".into(), json!(written(|of| of.checkpoints)));
    o.insert("checkpoint_pages".into(), json!(written(|of| of.checkpoint_pages)));
    o.insert("metadata_programs".into(), json!(written(|of| of.programs)));
    let cuts: Vec<&Recovery> = drives.iter().filter_map(|drive| drive.recoveries().last()).collect();
    if let Some(first) = cuts.first() {
        o.insert("cut".into(), cut(first, &cuts));
        if let Some(hold_up) = super::hold_up::section(drives) {
            o.insert("hold_up".into(), hold_up);
        }
        o.insert("recovery".into(), recovery(&cuts));
    }
    Some(Value::Object(o))
}

fn cut(first: &Recovery, cuts: &[&Recovery]) -> Value {
    let sum = |of: fn(&Recovery) -> u64| cuts.iter().map(|r| of(r)).sum::<u64>();
    json!({
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
        "interrupted_erases": sum(|r| r.found.blocks_erased_again),
    })
}

fn recovery(cuts: &[&Recovery]) -> Value {
    let sum = |of: fn(&Recovery) -> u64| cuts.iter().map(|r| of(r)).sum::<u64>();
    let longest = |of: fn(&Recovery) -> Option<u64>| cuts.iter().filter_map(|r| of(r)).max();
    let us = |ns: u64| json!(ns as f64 / 1e3);
    let mut o = Map::new();
    let whole = longest(|r| Some(r.served?.as_ns() - r.on?.as_ns()));
    if let Some(whole) = whole {
        o.insert("time_us".into(), us(whole));
    }
    o.insert("mounting_us".into(), us(longest(|r| Some(r.found.mounting.as_ns())).unwrap_or(0)));
    if whole.is_some() {
        let refilling = longest(|r| Some(r.served?.as_ns() - r.on?.as_ns() - r.found.mounting.as_ns()));
        o.insert("refilling_us".into(), us(refilling.unwrap_or(0)));
    }
    o.insert("checkpoint_pages_read".into(), json!(sum(|r| r.found.checkpoint_pages)));
    o.insert("oob_pages_read".into(), json!(sum(|r| r.found.oob_pages)));
    o.insert("cache_pages_read".into(), json!(sum(|r| r.found.cache_pages)));
    o.insert("blocks_erased_again".into(), json!(sum(|r| r.found.blocks_erased_again)));
    o.insert("units_programmed_again".into(), json!(sum(|r| r.found.kept_units)));
    Value::Object(o)
}
