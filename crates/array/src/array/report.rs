//! Result section of an array.

use crate::array::Array;
use crate::failure::background_sync::SyncAction;
use interpulse_engine::SimTime;
use serde_json::{Map, Value, json};

fn seconds(at: SimTime) -> Value {
    json!(at.as_ns() as f64 / 1e9)
}

impl Array {
    /// Result section as JSON.
    pub fn section(&self) -> Map<String, Value> {
        let counters = &self.measured;
        let mut o = Map::new();
        o.insert("level".into(), json!(self.spec.level.name()));
        o.insert("drives".into(), json!(self.spec.drives));
        o.insert("capacity_bytes".into(), json!(self.layout.units() * 4096));
        if self.spec.level.parities() > 0 {
            o.insert("stripe_heads".into(), json!(self.spec.stripe_heads));
            if counters.data_pages > 0 {
                let share = counters.parity_pages as f64 / counters.data_pages as f64;
                o.insert("parity_per_data_page".into(), json!(share));
            }
        }
        if let Some(first) = self.failures.all.first() {
            o.insert("failed_drive".into(), json!(first.drive));
            o.insert("failed_s".into(), seconds(first.at));
            let failures = self.failures.all.iter().map(|loss| {
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
        for sync in self.ended_resync.iter().chain(&self.sync).chain(&self.scrub) {
            let name = match sync.kind {
                SyncAction::Rebuild(_) => "rebuild",
                SyncAction::Scrub => "scrub",
                SyncAction::Resync => "resync",
            };
            let mut of = Map::new();
            of.insert("started_s".into(), seconds(sync.started));
            of.insert("progress".into(), json!(f64::from(sync.rows_done()) / f64::from(self.layout.rows)));
            if let Some(at) = sync.finished {
                of.insert("finished_s".into(), seconds(at));
            }
            o.insert(name.into(), Value::Object(of));
        }
        if let Some(updates) = &self.updates {
            o.insert("updates".into(), updates.section());
        }
        if let Some(power_cut) = self.recovery.power_cuts.last() {
            let mut of = Map::new();
            of.insert("at_s".into(), seconds(power_cut.at));
            of.insert("requests_in_flight".into(), json!(power_cut.requests));
            of.insert("rows_in_flight".into(), json!(power_cut.rows));
            of.insert("rows_mended".into(), json!(power_cut.recovered));
            if let Some(at) = power_cut.served {
                of.insert("served_s".into(), seconds(at));
            }
            o.insert("power_cut".into(), Value::Object(of));
        }
        o
    }
}
