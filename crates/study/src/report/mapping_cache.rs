//! Mapping cache in the section `ftl`: look-ups, traffic of translation pages, controller memory for the map.

use super::drive_state::DriveState;
use super::json_values::without_nulls;
use crate::run::Measured;
use serde_json::{Map, Value, json};

/// Adds `mapping` to the section `ftl`, if translation pages are on flash.
pub(super) fn insert(o: &mut Map<String, Value>, m: &Measured, context: &DriveState) {
    let drive = &context.case.drive;
    if drive.ftl.mapping.cached().is_none() {
        return;
    }
    let f = &m.ftl;
    let logical = u64::from(drive.ftl_config().expect("the spec has been checked").logical_units);
    let memory = drive.map_memory().get();
    let per_4k = memory as f64 / (logical * drive.geometry.unit_bytes) as f64 * 4096.0;
    let hits = (f.map_lookups > 0).then(|| f.map_hits as f64 / f.map_lookups as f64);
    let mut of = Map::new();
    of.insert("look_ups".into(), json!(f.map_lookups));
    of.extend(hits.map(|rate| ("hit_rate".into(), json!(rate))));
    if !m.map_lookups.is_empty() {
        let queue = |(k, [lookups, hits]): (u32, &[u64; 2])| {
            let rate = (*lookups > 0).then(|| *hits as f64 / *lookups as f64);
            without_nulls(json!({"queue": k, "look_ups": lookups, "hit_rate": rate}))
        };
        let queues: Vec<Value> = (0..).zip(&m.map_lookups).map(queue).collect();
        of.insert("queues".into(), json!(queues));
    }
    of.insert("pages_read".into(), json!(f.map_reads + f.map_prefetches + f.map_update_reads));
    of.insert("pages_programmed".into(), json!(f.map_units + f.map_gc_units));
    of.insert("changes".into(), json!(f.map_updates));
    of.insert("controller_bytes".into(), json!(memory));
    of.insert("controller_bytes_per_4kib".into(), json!(per_4k));
    o.insert("mapping".into(), Value::Object(of));
}
