//! What an array tells of itself in a result.

use crate::array::Array;
use crate::sync::Kind;
use interpulse_engine::SimTime;
use serde_json::{Map, Value, json};

fn seconds(at: SimTime) -> Value {
    json!(at.as_ns() as f64 / 1e9)
}

impl Array {
    /// What the array tells of itself after a run, as JSON.
    pub fn section(&self) -> Map<String, Value> {
        section(self)
    }
}

fn section(array: &Array) -> Map<String, Value> {
    let counters = &array.measured;
    let mut o = Map::new();
    o.insert("level".into(), json!(array.spec.level.name()));
    o.insert("drives".into(), json!(array.spec.drives));
    o.insert("capacity_bytes".into(), json!(array.layout.units() * 4096));
    if array.spec.level.parities() > 0 {
        o.insert("stripe_heads".into(), json!(array.spec.stripe_heads));
        if counters.data_pages > 0 {
            let share = counters.parity_pages as f64 / counters.data_pages as f64;
            o.insert("parity_per_data_page".into(), json!(share));
        }
    }
    if let Some(first) = array.losses.all.first() {
        o.insert("failed_drive".into(), json!(first.drive));
        o.insert("failed_s".into(), seconds(first.at));
        let failures = array.losses.all.iter().map(|loss| {
            json!({
                "drive": loss.drive,
                "at_s": seconds(loss.at),
                "cause": loss.cause.name(),
                "media_error_pages": loss.errors,
                "replaced": loss.replaced,
            })
        });
        o.insert("failures".into(), failures.collect());
    }
    for sync in array.ended_resync.iter().chain(&array.sync).chain(&array.scrub) {
        let name = match sync.kind {
            Kind::Rebuild(_) => "rebuild",
            Kind::Scrub => "scrub",
            Kind::Resync => "resync",
        };
        let mut of = Map::new();
        of.insert("started_s".into(), seconds(sync.started));
        of.insert("progress".into(), json!(f64::from(sync.rows_done()) / f64::from(array.layout.rows)));
        if let Some(at) = sync.finished {
            of.insert("finished_s".into(), seconds(at));
        }
        o.insert(name.into(), Value::Object(of));
    }
    if let Some(updates) = &array.updates {
        o.insert("updates".into(), updates.section());
    }
    if let Some(outage) = &array.recovery.outage {
        let mut of = Map::new();
        of.insert("at_s".into(), seconds(outage.at));
        of.insert("requests_in_flight".into(), json!(outage.requests));
        of.insert("rows_in_flight".into(), json!(outage.rows));
        of.insert("rows_mended".into(), json!(outage.mended));
        if let Some(at) = outage.served {
            of.insert("served_s".into(), seconds(at));
        }
        o.insert("power_cut".into(), Value::Object(of));
    }
    o
}
