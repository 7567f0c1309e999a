//! Result section `namespaces`: load, write amplification, wear and refused requests of each namespace.

use super::json_values::{latencies, without_nulls};
use super::zones;
use crate::config::Case;
use crate::run::Measured;
use interpulse_drive::ftl::Ftl;
use interpulse_drive::{Drive, DriveSpec};
use interpulse_engine::Latencies;
use interpulse_host::Refused;
use serde_json::{Value, json};

/// The section; `None` of a drive without namespaces.
pub(super) fn section(m: &Measured, case: &Case, drive: &Drive) -> Option<Value> {
    let ftls = drive.namespaces().filter(|of| !of.is_one_namespace())?;
    let specs = case.drive.namespaces().expect("the spec has been checked");
    let each = (0..).zip(ftls.all().iter().zip(&specs)).map(|(k, (of, spec))| {
        let flows = || (0..).zip(&case.flows).filter(move |(_, flow)| flow.namespace == k);
        let (mut all, mut refused) = (Latencies::default(), Refused::default());
        for (f, _) in flows() {
            all.merge(&m.window.flows[f]);
            refused.add(&m.window.refused_by_flow[f]);
        }
        let (done, seconds) = (&m.namespaces[k as usize], m.simulated.as_ns() as f64 / 1e9);
        let (capacity, wear) = (spec.capacity(), of.family().wear());
        without_nulls(json!({
            "namespace": k + 1,
            "family": family(spec),
            "flows": flows().map(|(_, flow)| &flow.name).collect::<Vec<_>>(),
            "capacity_bytes": capacity.usable.get(),
            "over_provisioning": capacity.over_provisioning,
            "blocks_per_plane": spec.geometry.blocks_per_plane,
            "cache_bytes": spec.cache.size.get(),
            "host_requests": all.count(),
            "iops": if seconds > 0.0 { (all.count() - refused.count()) as f64 / seconds } else { 0.0 },
            "latency_us": latencies(&all),
            "refused_requests": refused.count(),
            "waf": done.ftl.write_amplification(),
            "host_pages": done.ftl.host_units,
            "programmed_pages": done.ftl.programmed(),
            "gc_runs": done.ftl.gc_runs,
            "gc_pages_moved": done.ftl.gc_units,
            "erases": done.ftl.erases,
            "cycles_min": wear.fewest,
            "cycles_max": wear.most,
            "zones": of.zoned().map(|ftl| {
                zones::of_ftl(ftl, drive.spec().geometry.unit_bytes, all.write.count(), &refused)
            }),
        }))
    });
    Some(each.collect())
}

fn family(spec: &DriveSpec) -> &'static str {
    if spec.ftl.zones.is_some() { "zoned" } else { "page" }
}
