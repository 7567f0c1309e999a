//! Everything that a configuration may name and a result may count, from the registries and declarations that parsers and
//! results are made from.

use crate::config::{DRIVES, keys};
use crate::report;
use interpulse_engine::CounterInfo;
use interpulse_flash::errors;
use interpulse_flash::parts;
use interpulse_flash::suspend::Scheme;
use interpulse_settings::{Key, Need};
use interpulse_workload::{Format, TWINS};
use serde_json::{Value, json};

/// Keys that choose from a list of its own.
const LISTED: [&str; 7] = [
    "drive.preset",
    "errors.table",
    "flow.N.format",
    "flow.N.twin",
    "part.preset",
    "suspend.erase.scheme",
    "suspend.program.scheme",
];

/// What can be written in a configuration, as JSON: parts, drives, schemes, policies, twins and trace formats, each with
/// one line of explanation, and all keys with what they declare; and what results count.
pub fn lists() -> String {
    let named = |name: &str, doc: &str| json!({ "name": name, "doc": doc });
    let keys = keys();
    json!({
        "parts": parts::presets().iter().map(|p| named(p.name, p.doc)).collect::<Vec<_>>(),
        "drives": DRIVES.iter().map(|(n, d, _)| named(n, d)).collect::<Vec<_>>(),
        "schemes": Scheme::ROWS.iter().map(|row| named(row.name, row.doc)).collect::<Vec<_>>(),
        "policies": policies(&keys),
        "error-tables": errors::PRESETS.iter().map(|(n, d)| named(n, d)).collect::<Vec<_>>(),
        "twins": TWINS.iter().map(|(n, d)| named(n, d)).collect::<Vec<_>>(),
        "formats": Format::ROWS.iter().map(|row| named(row.name, row.doc)).collect::<Vec<_>>(),
        "counters": counters(),
        "keys": keys.iter().map(key).collect::<Vec<_>>(),
    })
    .to_string()
}

/// The values of every key that chooses, but for those with a list of their own.
fn policies(keys: &[Key]) -> Vec<Value> {
    let mut policies = Vec::new();
    for key in keys.iter().filter(|key| !LISTED.contains(&key.path.as_str())) {
        let kind = key.path.replace(".N.", ".");
        for (name, doc) in &key.choices {
            let policy = json!({ "kind": kind, "name": name, "doc": doc });
            if !policies.contains(&policy) {
                policies.push(policy);
            }
        }
    }
    policies
}

/// The counters of every group that a result may hold.
fn counters() -> Vec<Value> {
    let row = |group: &str, c: &CounterInfo| json!({ "kind": group, "name": c.name, "unit": c.unit, "doc": c.doc.trim() });
    report::groups().iter().flat_map(|(group, counters)| counters.iter().map(|c| row(group, c))).collect()
}

/// A key as it is declared.
fn key(key: &Key) -> Value {
    let (need, default) = match &key.need {
        Need::Required => ("required", None),
        Need::Optional => ("optional", None),
        Need::Default(value) => ("default", Some(value)),
    };
    let choices = key.choices.iter().map(|(name, doc)| json!({ "name": name, "doc": doc }));
    json!({
        "name": key.path,
        "doc": key.doc,
        "holds": key.noun,
        "list": key.list,
        "range": key.range,
        "choices": choices.collect::<Vec<_>>(),
        "need": need,
        "default": default,
        "typical": key.typical,
        "belongs_to": key.belongs_to,
        "shapes_state": key.shapes_state,
    })
}
