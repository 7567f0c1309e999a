//! Workload: `[[flow]]` tables.

use super::twin;
use interpulse_drive::DriveSpec;
use interpulse_drive::spec::{MOST_HANDLES, MOST_IDENTIFIERS, MOST_NAMESPACES};
use interpulse_engine::{Bytes, Duration, SimTime};
use interpulse_settings::{ConfigError, Document, Section, Variant, default, optional};
use interpulse_workload::{FlowSpec, HedgeSpec, Source, SyntheticSpec, TraceSpec, ZoneFlowSpec, Zones};
use std::path::Path;

/// Latest start or stop of a flow.
const HORIZON: Duration = Duration::from_ms(100 * 24 * 3_600_000);

/// Zones of a flow on a drive that has none, which is refused.
const ANY_ZONES: Zones = Zones {
    sectors: 8,
    distance: 8,
    block: Bytes::kib(4),
    full: 0,
    area: None,
    chunks: None,
    conventional: 0,
};

/// Reads all flows of `drive`, whose namespaces have these zones if they are zoned; `redundant`: an array can read its data twice. Paths
/// in the file are relative to `folder`.
pub(super) fn read(
    document: &Document,
    drive: &DriveSpec,
    zones: &[Option<Zones>],
    redundant: bool,
    folder: &Path,
) -> Result<Vec<FlowSpec>, ConfigError> {
    let sections = document.tables("flow")?;
    if sections.is_empty() {
        return Err(document.top().invalid("flow", "at least one [[flow]] table: the workload of a run"));
    }
    if sections.len() > 256 {
        return Err(document.top().invalid("flow", "at most 256 [[flow]] tables"));
    }
    let mut flows: Vec<FlowSpec> = Vec::new();
    for (i, mut section) in sections.into_iter().enumerate() {
        let mut flow = read_flow(&mut section, i, drive, zones, folder)?;
        flow.hedge =
            HedgeSpec::read(&mut section.only_if(redundant, "an [array] of a level with redundancy"))?;
        section.check(flows.iter().all(|f| f.name != flow.name), "name", "a name no other flow has")?;
        flows.push(flow);
    }
    Ok(flows)
}

fn read_flow(
    s: &mut Section,
    index: usize,
    drive: &DriveSpec,
    zones: &[Option<Zones>],
    folder: &Path,
) -> Result<FlowSpec, ConfigError> {
    let name = s.name("name", "name in results", Some(&format!("flow{index}")))?;
    let chosen = if s.has("twin") {
        2
    } else if s.has("zones") {
        3
    } else {
        usize::from(s.has("trace"))
    };
    let doc = "namespace that the flow addresses, counted from 1 as in NVMe";
    let namespaces = drive.namespaces.len() as u32;
    let namespace = s.when(namespaces > 0, "a drive with [[namespace]] tables", |s| {
        s.u32("namespace", doc, default(1).within(1..=MOST_NAMESPACES as u32))
    })?;
    let namespace = namespace.unwrap_or(1);
    let legal = format!("1 to {namespaces}: the drive has {namespaces} [[namespace]] tables");
    s.check(namespace <= namespaces.max(1), "namespace", legal)?;
    let zones = zones[namespace as usize - 1];
    // A twin has a fixed number of requests.
    let scaled_to = if s.has("twin") { read_requests(s)? } else { None };
    let ways: [Variant<Source>; 4] = [
        ("a flow made up from distributions, without `trace`, `twin` and `zones`".to_string(), &|s| {
            SyntheticSpec::read(s).map(Source::Synthetic)
        }),
        ("a flow that replays a `trace`".to_string(), &|s| TraceSpec::read(s).map(Source::Trace)),
        ("a flow with a `twin`".to_string(), &|s| twin::read(s, scaled_to, folder).map(Source::Twin)),
        ("a flow with `zones`".to_string(), &|s| {
            ZoneFlowSpec::read(s, zones.unwrap_or(ANY_ZONES)).map(Source::Zones)
        }),
    ];
    let source = s.read_variant(chosen, &ways)?;
    if zones.is_none() && matches!(source, Source::Zones(_)) {
        let of = if namespaces > 0 { "a namespace with family" } else { "a drive with ftl.family" };
        return Err(s.invalid("zones", format!("{of} = \"zoned\"; this one has no zones")));
    }
    // The check of the drive says why it has no zones.
    if let (Source::Zones(flow), Some(zones)) = (&source, zones_of_namespace(drive, namespace)) {
        let region = flow.region(zones.into());
        let count = region.end - region.start;
        let legal = format!("at most the {count} whole zones of the region from..to");
        s.check(u64::from(flow.open_zones) <= count, "open-zones", legal)?;
    }
    let start = s.duration("start", "when the flow begins", default(Duration::ZERO).at_most(HORIZON))?;
    let stop = s.optional_duration("stop", "when the flow ends", optional().positive().at_most(HORIZON))?;
    let goes = stop.is_none_or(|stop| stop > start);
    s.check_together(goes, &["stop", "start"], "a flow must stop after it starts")?;
    let limit = if matches!(source, Source::Twin(_)) { None } else { read_requests(s)? };
    let queue = s.u32("queue", "submission queue pair, counted from 0", default(0))?;
    let queues = drive.host.queue_weights.len() as u32;
    s.check(queue < queues, "queue", format!("less than the {queues} pair(s) of host.queue-weights"))?;
    let doc = "placement handle or stream that its writes name, with ftl.placement; handle 0 if left out";
    let handle = s.optional_u32("placement-handle", doc, optional().within(0..=MOST_HANDLES - 1))?;
    let handles = drive.ftl.placement.handles();
    let none = "no handle: ftl.placement is \"none\", and \"fdp\" or \"streams\" have handles";
    s.check(handle.is_none() || handles > 0, "placement-handle", none)?;
    let legal = format!("a handle of the drive, 0 to {}", handles.saturating_sub(1));
    s.check(handle.is_none_or(|handle| handle < handles), "placement-handle", legal)?;
    let doc = "reclaim group that its writes name beside the placement handle, with ftl.reclaim-groups; group 0 if left out";
    let group = s.optional_u32("reclaim-group", doc, optional().within(0..=MOST_IDENTIFIERS - 1))?;
    let groups = drive.ftl.placement.groups();
    let legal = match groups {
        1 => "no group: ftl.reclaim-groups is 1".to_string(),
        _ => format!("a reclaim group of the drive, 0 to {}", groups - 1),
    };
    s.check(group.is_none_or(|group| groups > 1 && group < groups), "reclaim-group", legal)?;
    let class = group.map(|group| group * handles + handle.unwrap_or(0)).or(handle);
    Ok(FlowSpec {
        name,
        source,
        start: SimTime(start.as_ns()),
        stop: stop.map(|d| SimTime(d.as_ns())),
        limit,
        queue,
        namespace: namespace - 1,
        handle: class.map(|class| class as u8),
        hedge: HedgeSpec::default(),
    })
}

/// Zones of namespace `k`, counted from 1, with the conventional ones; `None` if it has none or does not fit the drive.
fn zones_of_namespace(drive: &DriveSpec, k: u32) -> Option<u32> {
    let conventional = drive.conventional_zones();
    let place = if conventional > 0 { 1 } else { k as usize - 1 };
    let domains = drive.ftl_domains().ok()?;
    let sequential = domains.get(place)?.zone_geometry().ok()??;
    Some(conventional + sequential.zones)
}

fn read_requests(s: &mut Section) -> Result<Option<u64>, ConfigError> {
    let doc = "most requests of this flow; of a twin, how many its row is scaled to";
    s.optional_u64("requests", doc, optional().at_least(1))
}
