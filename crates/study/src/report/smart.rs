//! Result section `smart`: totals of wear, bad blocks and end of life, as NVMe's SMART / Health Information.

use super::json_values::without_nulls;
use interpulse_drive::{Drive, Health, Wear};
use serde_json::{Value, json};

/// Totals of all drives since the start of the run; `None` where no block can fail. `refused` is the number of writes and
/// trims of the window that a read-only drive refused.
pub fn section(drives: &[Drive], refused: u64) -> Option<Value> {
    let stalls = || drives.iter().filter_map(Drive::stalls);
    let of_stalls = || stalls().next().map(|_| Health { injects: true, ..Health::default() });
    let health = drives.iter().filter_map(Drive::health).reduce(Health::and).or_else(of_stalls)?;
    let spec = drives[0].spec();
    let bytes = |of: &dyn Fn(&Drive) -> u64| drives.iter().map(of).sum::<u64>() * spec.geometry.unit_bytes;
    let wear = drives.iter().map(Drive::wear).reduce(Wear::and)?;
    let blocks: u32 = drives.iter().map(Drive::super_blocks).sum();
    let rated = f64::from(blocks) * f64::from(spec.part.endurance);
    // Without an error table the reads of lost data are the only ones that fail.
    let uncorrectable = |drive: &Drive| match drive.nand().reliability().map(|of| of.counters) {
        Some(c) => c.uncorrectable_host_reads + c.uncorrectable_gc_reads,
        None => drive.health().map_or(0, |health| health.lost_reads),
    };
    let injected = |value: u64| health.injects.then_some(value);
    let spare = health.spare_at_start > 0;
    Some(without_nulls(json!({
        "host_bytes_written": bytes(&|drive| drive.ftl_counters().host_units),
        "nand_bytes_written": bytes(&|drive| drive.ftl_counters().programmed()),
        "percentage_used": 100.0 * (wear.sum + health.retired_cycles) as f64 / rated,
        "cycles_mean": wear.sum as f64 / f64::from(blocks),
        "cycles_max": wear.most,
        "spare_blocks": health.spare,
        "spare_blocks_at_start": health.spare_at_start,
        "available_spare_percent": spare.then(|| 100.0 * health.spare as f64 / health.spare_at_start as f64),
        "least_spare_blocks_of_lane": health.least_spare_of_lane,
        "factory_bad_blocks": health.factory_bad_blocks,
        "grown_bad_blocks": health.grown_bad_blocks,
        "reserve_ends_at_cycles": health.reserve_ends_at,
        "program_failures": health.program_failures,
        "erase_failures": health.erase_failures,
        "media_errors": drives.iter().map(uncorrectable).sum::<u64>(),
        "read_only": health.read_only_since.is_some(),
        "read_only_since_s": health.read_only_since.map(|at| at.as_ns() as f64 / 1e9),
        "refused_requests": refused,
        "failed_dies": injected(health.dead_dies),
        "stalls": injected(stalls().sum()),
        "lost_bytes": injected(health.lost_bytes),
        "lost_bytes_at_end": injected(health.lost_bytes_at_end),
        "reads_of_lost_data": injected(health.lost_reads),
    })))
}
