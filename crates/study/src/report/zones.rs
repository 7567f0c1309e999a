//! Section `zones` of a zoned drive: geometry, states at the end of the run, requests that the drive refused.

use super::json_values::without_nulls;
use crate::run::Measured;
use interpulse_drive::Drive;
use interpulse_drive::ftl::ZonedFtl;
use interpulse_drive::ftl::zoned::state::ZoneState;
use interpulse_engine::Status;
use interpulse_host::Refused;
use serde_json::{Map, Value, json};

/// States in the order of the result, each with its key.
const STATES: [(ZoneState, &str); 7] = [
    (ZoneState::Empty, "empty"),
    (ZoneState::ImplicitlyOpened, "implicitly_opened"),
    (ZoneState::ExplicitlyOpened, "explicitly_opened"),
    (ZoneState::Closed, "closed"),
    (ZoneState::Full, "full"),
    (ZoneState::ReadOnly, "read_only"),
    (ZoneState::Offline, "offline"),
];

/// The section; `None` of a drive without zones.
pub(super) fn section(m: &Measured, drive: &Drive) -> Option<Value> {
    let writes = m.window.flows.iter().map(|flow| flow.write.count()).sum();
    let mut section = of_ftl(drive.zoned()?, drive.spec().geometry.unit_bytes, writes, &m.window.refused);
    if drive.spec().ftl.is_open_channel() {
        section["open_channel"] = open_channel(drive);
    }
    if drive.spec().conventional_zones() > 0 {
        section["conventional"] = conventional(m, drive);
    }
    Some(section)
}

/// Geometry that an Open-Channel drive shows to the host.
fn open_channel(drive: &Drive) -> Value {
    let zones = drive.zoned().expect("it has chunks").geometry();
    let (groups, units) = (drive.spec().geometry.channels, drive.layout().lanes);
    json!({
        "groups": groups,
        "parallel_units": units,
        "chunks_of_parallel_unit": zones.zones / units,
        "logical_blocks_of_chunk": zones.units,
        "write_unit": zones.program,
    })
}

/// The conventional zones, which are not among the zones of the section.
fn conventional(m: &Measured, drive: &Drive) -> Value {
    let parts = drive.spec().namespaces().expect("the spec has been checked");
    let done = &m.namespaces[0].ftl;
    without_nulls(json!({
        "zones": drive.spec().conventional_zones(),
        "blocks_per_plane": parts[0].geometry.blocks_per_plane,
        "over_provisioning": parts[0].capacity().over_provisioning,
        "waf": done.write_amplification(),
        "host_pages": done.host_units,
        "gc_pages_moved": done.gc_units,
    }))
}

/// Zones of an FTL with units of `unit_bytes`, to which `writes` were submitted.
pub(super) fn of_ftl(ftl: &ZonedFtl, unit_bytes: u64, writes: u64, refused: &Refused) -> Value {
    let (zones, states) = (ftl.geometry(), ftl.states());
    let of = |state: ZoneState| states.all().iter().filter(|zone| zone.state == state).count();
    let ends: Map<_, _> = STATES.iter().map(|&(state, key)| (key.to_string(), json!(of(state)))).collect();
    let mut o = json!({
        "zones": zones.zones,
        "zone_bytes": u64::from(zones.units) * unit_bytes,
        "width": zones.width,
        "super_blocks_of_zone": zones.blocks(),
        "most_open": states.most_open,
        "most_active": states.most_active,
        "most_random_write_areas": states.most_areas,
        "at_end": ends,
        "writes": writes,
    });
    if zones.distance > zones.units {
        o["zone_distance_bytes"] = json!(u64::from(zones.distance) * unit_bytes);
    }
    for (key, counts) in [("failed_writes", &refused.writes), ("failed_others", &refused.others)] {
        let failed = Status::ERRORS.iter().filter(|&&status| counts[status as usize] > 0);
        let by_status: Map<_, _> =
            failed.map(|&status| (status.name().to_string(), json!(counts[status as usize]))).collect();
        if !by_status.is_empty() {
            o[key] = Value::Object(by_status);
        }
    }
    o
}
