//! Catalog: JSON list of all presets, policies, keys and counters, built from the registries of parsers and results.

use crate::config::{DRIVES, keys};
use crate::report;
use interpulse_engine::CounterInfo;
use interpulse_flash::errors;
use interpulse_flash::parts;
use interpulse_flash::suspend::Scheme;
use interpulse_settings::{Key, Need};
use interpulse_workload::{Format, TWINS};
use serde_json::{Value, json};

/// Keys whose choices have their own list.
const LISTED: [&str; 7] = [
    "drive.preset",
    "errors.table",
    "flow.N.format",
    "flow.N.twin",
    "part.preset",
    "suspend.erase.scheme",
    "suspend.program.scheme",
];

/// JSON with parts, drives, schemes, policies, twins and trace formats (one line of explanation each), all keys with
/// their declarations, and all counters.
pub fn catalog() -> String {
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

/// Choices of every other key.
fn policies(keys: &[Key]) -> Vec<Value> {
    let mut policies = Vec::new();
    // Those of a namespace are those of the section `[ftl]`.
    let listed = |key: &&Key| !LISTED.contains(&key.path.as_str()) && !key.path.starts_with("namespace.");
    for key in keys.iter().filter(listed) {
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

/// Counters of every group.
fn counters() -> Vec<Value> {
    let row = |group: &str, c: &CounterInfo| json!({ "kind": group, "name": c.name, "unit": c.unit, "doc": c.doc.trim() });
    report::groups().iter().flat_map(|(group, counters)| counters.iter().map(|c| row(group, c))).collect()
}

/// Declaration of a key.
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
