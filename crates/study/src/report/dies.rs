//! Every die: what it did with its time in the window, and how worn its blocks were at the end.

use super::shares::time_share;
use super::values::known;
use crate::run::Measured;
use interpulse_drive::drive::Drive;
use interpulse_flash::DieId;
use serde_json::{Value, json};

/// Groups of neighbouring super blocks that a die's wear is told by, at most.
const GROUPS: u32 = 32;

/// The dies, drive by drive; a drive that took a lost one's place in the window has no times.
pub(super) fn section(m: &Measured, drives: &[Drive]) -> Value {
    let mut times = m.dies.iter();
    let mut all = Vec::new();
    for (number, drive) in drives.iter().enumerate() {
        let geometry = &drive.spec().geometry;
        for die in DieId::first(geometry.dies()) {
            all.push(known(json!({
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

/// P/E cycles of a die's blocks, preconditioning included: by groups of as many super blocks of each lane.
fn wear(drive: &Drive, die: DieId) -> Value {
    let layout = drive.layout();
    let group = layout.blocks.div_ceil(GROUPS);
    let (mut means, mut most) = (Vec::new(), Vec::new());
    for first in (0..layout.blocks).step_by(group as usize) {
        let (mut sum, mut count, mut top) = (0u64, 0u64, 0);
        for lane in layout.lanes_of(die) {
            let blocks = layout.blocks_of(lane).skip(first as usize).take(group as usize);
            for cycles in blocks.map(|block| drive.pe_cycles(block)) {
                sum += u64::from(cycles);
                count += 1;
                top = top.max(cycles);
            }
        }
        means.push(sum as f64 / count as f64);
        most.push(top);
    }
    json!({ "blocks": group, "mean": means, "max": most })
}
