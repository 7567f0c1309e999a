//! Section `formats`: the Format NVM commands of the run, and the requests that the drive refused meanwhile.

use crate::run::Measured;
use interpulse_drive::{Drive, Formatted};
use interpulse_engine::{SimTime, Status};
use serde_json::{Value, json};

/// The section; `None` of a drive that was not formatted.
pub(super) fn section(m: &Measured, drive: &Drive) -> Option<Value> {
    let commands = drive.formats();
    if commands.is_empty() {
        return None;
    }
    let unit = drive.spec().geometry.unit_bytes;
    let command = |of: &Formatted| {
        let began = SimTime::ZERO + of.of.at;
        let mut o = json!({
            "at_s": of.of.at.as_ns() as f64 / 1e9,
            "deallocated_bytes": of.deallocated * unit,
            "erased_blocks": of.erased,
        });
        if let Some(namespace) = of.of.namespace {
            o["namespace"] = json!(namespace + 1);
        }
        if let Some(ended) = of.ended {
            o["took_s"] = json!(ended.since(began).as_ns() as f64 / 1e9);
        }
        o
    };
    let of = Status::FormatInProgress as usize;
    let refused = m.window.refused.writes[of] + m.window.refused.others[of];
    Some(json!({ "commands": commands.iter().map(command).collect::<Vec<_>>(), "refused_requests": refused }))
}
