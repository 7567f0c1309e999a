//! Result section `dies`: time by use and block wear of every die.

use super::json_values::without_nulls;
use super::time_share::time_share;
use crate::run::Measured;
use interpulse_drive::Drive;
use interpulse_flash::DieId;
use serde_json::{Value, json};

/// Most groups of adjacent super blocks per die.
const GROUPS: u32 = 32;

/// The dies, drive by drive; a replacement drive has no times.
pub(super) fn section(m: &Measured, drives: &[Drive]) -> Value {
    let mut times = m.dies.iter();
    let mut all = Vec::new();
    for (number, drive) in drives.iter().enumerate() {
        let geometry = &drive.spec().geometry;
        for die in DieId::first(geometry.dies()) {
            all.push(without_nulls(json!({
                "drive": number,
                "channel": geometry.channel_of(die),
                "die": die.0,
                "time_share": times.next().map(time_share),
                "cycles": wear(drive, die),
            })));
        }
    }
    Value::Array(all)
}

/// P/E cycles of the blocks of a die, preconditioning included, by group of adjacent super blocks.
fn wear(drive: &Drive, die: DieId) -> Value {
    let blocks = drive.blocks_per_lane();
    let group = blocks.div_ceil(GROUPS);
    let (mut means, mut deviations, mut most) = (Vec::new(), Vec::new(), Vec::new());
    for first in (0..blocks).step_by(group as usize) {
        let (mut sum, mut squares, mut count, mut top) = (0u64, 0u64, 0u64, 0);
        for cycles in drive.block_cycles(die, first, group) {
            sum += u64::from(cycles);
            squares += u64::from(cycles) * u64::from(cycles);
            count += 1;
            top = top.max(cycles);
        }
        let mean = sum as f64 / count as f64;
        means.push(mean);
        deviations.push((squares as f64 / count as f64 - mean * mean).max(0.0).sqrt());
        most.push(top);
    }
    json!({ "blocks": group, "mean": means, "sd": deviations, "max": most })
}
