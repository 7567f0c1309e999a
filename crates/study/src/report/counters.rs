//! Result section `counters`: groups and declarations.

use super::drive_state::DriveState;
use super::json_values::{group, without_nulls};
use crate::run::Measured;
use interpulse_array::array::ArrayCounters;
use interpulse_drive::DriveCounters;
use interpulse_drive::ftl::log_block::counters::LogBlockCounters;
use interpulse_drive::ftl::zoned::counters::ZoneCounters;
use interpulse_drive::{FtlCounters, SlcCounters, Wear};
use interpulse_engine::CounterInfo;
use interpulse_flash::nand::{ErrorCounters, NandCounters};
use interpulse_host::HostCounters;
use interpulse_workload::TraceSummary;
use serde_json::{Value, json};

const fn info(name: &'static str, unit: &'static str, doc: &'static str) -> CounterInfo {
    CounterInfo { name, unit, doc }
}

/// Wear counters at the end of the run.
const WEAR: [CounterInfo; 6] = [
    info("cycles_min", "P/E cycles", "of the least worn super block, at the end of the run"),
    info("cycles_max", "P/E cycles", "of the most worn super block, at the end of the run"),
    info("cycles_mean", "P/E cycles", "mean over the super blocks, at the end of the run"),
    info("super_blocks", "blocks", "super blocks of all drives"),
    info("suspend_cycles", "P/E cycles", "wear added by suspensions in the window, summed over blocks"),
    info("cycles_rated", "P/E cycles", "what the part is rated for"),
];

/// Counters of replayed traces.
const TRACE: [CounterInfo; 6] = [
    info("rows", "rows", "rows that are replayed: requests of the traces"),
    info("bad_rows", "rows", "rows skipped because they could not be read"),
    info("late_rows", "rows", "rows whose time lay before that of an earlier row and was lifted to it"),
    info("replayed", "requests", "requests made of the traces"),
    info(
        "beyond",
        "requests",
        "of these, those some of which lay beyond the capacity and was moved by `fit`",
    ),
    info("end_bytes", "bytes", "one past the highest address of the traces, before that"),
];

/// Every group of counters: path in the result and declarations.
pub fn groups() -> [(&'static str, Vec<CounterInfo>); 10] {
    [
        ("counters.host", [HostCounters::INFO, DriveCounters::INFO].concat()),
        ("counters.ftl", FtlCounters::INFO.to_vec()),
        ("counters.slc", SlcCounters::INFO.to_vec()),
        ("counters.zones", ZoneCounters::INFO.to_vec()),
        ("counters.log_blocks", LogBlockCounters::INFO.to_vec()),
        ("counters.nand", NandCounters::INFO.to_vec()),
        ("counters.errors", ErrorCounters::INFO.to_vec()),
        ("counters.wear", WEAR.to_vec()),
        ("counters.trace", TRACE.to_vec()),
        ("array.counters", ArrayCounters::INFO.to_vec()),
    ]
}

/// Section `counters`.
pub(super) fn section(m: &Measured, context: &DriveState) -> Value {
    let Wear { fewest, most, sum } = context.wear;
    let wear = [
        json!(fewest),
        json!(most),
        json!(sum as f64 / f64::from(context.super_blocks)),
        json!(context.super_blocks),
        json!(m.nand.suspend_stress as f64 / 1e6),
        json!(context.case.drive.part.endurance),
    ];
    let traces = (!context.traces.is_empty()).then(|| {
        let sum = |of: fn(&TraceSummary) -> u64| context.traces.iter().map(of).sum::<u64>();
        let end = context.traces.iter().map(|t| t.end_sector() * 512).max().unwrap_or(0);
        let rows = [sum(|t| t.rows), sum(|t| t.bad_rows), sum(|t| t.late_rows)];
        let found = rows.into_iter().chain([sum(|t| t.replayed), sum(|t| t.beyond), end]);
        group(TRACE.into_iter().zip(found))
    });
    // Counters of the mapping cache, the read cache, the DRAM and firmware cores by task only where
    // there are such; nor those of windows.
    let cached = context.case.drive.ftl.mapping.cached().is_some();
    let reads = context.case.drive.read_cache.is_some();
    let of_reads = |name: &str| name.starts_with("read_cache_") || name.starts_with("read_ahead_");
    let tasks = context.case.drive.firmware.is_some();
    let timed = context.case.drive.dram.is_some();
    let windows = context.case.drive.predictable_latency.is_some();
    let counted = |name: &str| match name {
        "dram_busy_time" => timed,
        _ if name.starts_with("dtwin_") || name == "ndwin_time" => windows,
        _ if name.starts_with("firmware_") => tasks,
        _ => reads || !of_reads(name),
    };
    let drive = m.drive.iter().filter(|(info, _)| counted(info.name));
    without_nulls(json!({
        "host": group(m.window.counters.iter().chain(drive)),
        "ftl": group(m.ftl.iter().filter(|(info, _)| cached || !info.name.starts_with("map_"))),
        "slc": context.case.drive.ftl.slc.map(|_| group(m.slc.iter())),
        "zones": m.zones.as_ref().map(|zones| group(zones.iter())),
        "log_blocks": m.log_blocks.as_ref().map(|of| group(of.iter())),
        "nand": group(m.nand.iter()),
        "errors": m.errors.as_ref().map(|errors| group(errors.counters.iter())),
        "wear": group(WEAR.into_iter().zip(wear)),
        "trace": traces,
    }))
}
