//! The result of a case with an array: that of a drive, summed over the drives, and the section `array`.

use super::{Context, group, latencies};
use crate::config::Case;
use crate::run::Measured;
use interpulse_array::array::Array;
use interpulse_drive::simulated::Simulated;
use serde_json::{Value, json};

/// The result of the case.
pub fn result(case: &Case, array: &Array, measured: &Measured) -> Value {
    let drives = array.drives();
    let wear = drives.iter().map(|drive| drive.tables().wear());
    let context = Context {
        case,
        flows: array.flow_names().map(str::to_string).collect(),
        effective_spare: drives[0].tables().effective_spare().0,
        wear: wear.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1), a.2 + b.2)).expect("an array has drives"),
        free_pages: drives.iter().map(|drive| drive.tables().free_pages()).sum(),
        super_blocks: drives.iter().map(|drive| drive.tables().layout.super_blocks()).sum(),
        traces: array.trace_summaries(),
    };
    let mut result = super::result(measured, &context);
    result["array"] = section(array, measured);
    let first = case.array.expect("the case has an array").drives as usize;
    if let Some(of_drives) = super::power_loss::section(&drives[..first]) {
        result["power_loss"] = of_drives;
    }
    result
}

fn section(array: &Array, measured: &Measured) -> Value {
    let mut o = array.section();
    let drives = array.drive_windows().iter().map(|window| {
        json!({
            "read_bytes": window.counters.read_bytes,
            "written_bytes": window.counters.written_bytes,
            "latency_us": latencies(&window.flows[0]),
        })
    });
    o.insert("per_drive".into(), drives.collect());
    o.insert("counters".into(), group(array.measured().iter()));
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
