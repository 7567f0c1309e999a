//! The result of a case with an array: that of a drive, summed over the drives, and the section `array`.

use crate::array::Array;
use crate::sync::Kind;
use interpulse_drive::config::Case;
use interpulse_drive::drive::stats::Latencies;
use interpulse_drive::report::{self, Context};
use interpulse_drive::run::Measured;
use interpulse_engine::SimTime;
use serde_json::{Map, Value, json};

pub(crate) fn result(case: &Case, array: &Array, measured: &Measured) -> Value {
    let wear = array.drives.iter().map(|drive| drive.ftl().wear());
    let context = Context {
        case,
        flows: array.flows.iter().map(|f| f.flow.name().to_string()).collect(),
        effective_spare: array.drives[0].ftl().effective_spare().0,
        wear: wear.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1), a.2 + b.2)).expect("an array has drives"),
        free_pages: array.drives.iter().map(|drive| drive.ftl().free_pages()).sum(),
        super_blocks: array.drives.iter().map(|drive| drive.ftl().layout.super_blocks()).sum(),
        traces: array.flows.iter().filter_map(|f| f.flow.trace_summary().cloned()).collect(),
    };
    let mut result = report::result(measured, &context);
    result["array"] = section(array, measured);
    if let Some(of_drives) = report::power_loss::section(&array.drives[..array.spec.drives as usize]) {
        result["power_loss"] = of_drives;
    }
    result
}

fn seconds(at: SimTime) -> Value {
    json!(at.as_ns() as f64 / 1e9)
}

fn section(array: &Array, measured: &Measured) -> Value {
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
    if let Some(outage) = &array.power.outage {
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
    let drives = array.drive_windows.iter().map(|window| {
        let latencies: &Latencies = &window.flows[0];
        json!({
            "read_bytes": window.counters.read_bytes,
            "written_bytes": window.counters.written_bytes,
            "latency_us": report::latencies(latencies),
        })
    });
    o.insert("per_drive".into(), drives.collect());
    o.insert("counters".into(), report::group(counters.iter()));
    if measured.audits.is_some() {
        let seen = array.audit_contents().expect("the audit of the run held");
        o.insert(
            "audits".into(),
            json!({
                "data_pages": seen.data_pages,
                "parity_pages": seen.parity_pages,
                "rebuilt_pages": seen.rebuilt_pages,
            }),
        );
    }
    Value::Object(o)
}
