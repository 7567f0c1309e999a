//! Result section `array`.

use super::json_values::{group, latencies};
use crate::run::Measured;
use interpulse_array::array::Array;
use serde_json::{Value, json};

/// Counters of the array and of each of its drives.
pub fn section(array: &Array, measured: &Measured) -> Value {
    let mut o = array.section();
    let drives = array.of_drives().iter().map(|drive| {
        json!({
            "read_bytes": drive.read_bytes,
            "written_bytes": drive.written_bytes,
            "latency_us": latencies(&drive.latencies),
        })
    });
    o.insert("per_drive".into(), drives.collect());
    let counted = |name: &str| array.hedges() || !name.starts_with("hedge");
    o.insert("counters".into(), group(array.measured().iter().filter(|(info, _)| counted(info.name))));
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
