//! Everything that a configuration may name, from the registries that the parsers read.

use crate::config::DRIVES;
use interpulse_drive::front::queues::Arbitration;
use interpulse_drive::ftl::gc::{GcPolicy, ThresholdBase};
use interpulse_drive::ftl::stripe::Allocation;
use interpulse_flash::errors;
use interpulse_flash::nand::queue::Policy;
use interpulse_flash::parts;
use interpulse_flash::suspend::Scheme;
use serde_json::{Value, json};

/// What can be named in a configuration, as JSON: parts, drives, schemes, policies, twins and trace formats,
/// each with one line of explanation.
pub fn lists() -> String {
    let named = |name: &str, doc: &str| json!({ "name": name, "doc": doc });
    json!({
        "parts": parts::presets().iter().map(|p| named(p.name, p.doc)).collect::<Vec<_>>(),
        "drives": DRIVES.iter().map(|(n, d, _)| named(n, d)).collect::<Vec<_>>(),
        "schemes": Scheme::ALL.iter().map(|(n, _, d)| named(n, d)).collect::<Vec<_>>(),
        "policies": policies(),
        "error-tables": errors::PRESETS.iter().map(|(n, d)| named(n, d)).collect::<Vec<_>>(),
        "twins": interpulse_workload::TWINS.iter().map(|(n, d)| named(n, d)).collect::<Vec<_>>(),
        "formats": interpulse_workload::FORMATS.iter().map(|(n, d)| named(n, d)).collect::<Vec<_>>(),
    })
    .to_string()
}

/// The values of every key that names a policy.
fn policies() -> Vec<Value> {
    let mut policies = Vec::new();
    let mut add = |kind: &str, name: &str, doc: &str| {
        policies.push(json!({ "kind": kind, "name": name, "doc": doc }));
    };
    Policy::ALL.iter().for_each(|(n, _, d)| add("schedule.policy", n, d));
    GcPolicy::ALL.iter().for_each(|(n, d)| add("ftl.gc", n, d));
    ThresholdBase::ALL.iter().for_each(|(n, _, d)| add("ftl.gc-threshold-base", n, d));
    for (name, allocation) in Allocation::all() {
        let doc = match allocation {
            Allocation::Dynamic => "the next lane that is ready for a program, in turn".to_string(),
            Allocation::Static(_) => {
                let axes: Vec<&str> = name.chars().map(axis).collect();
                format!("static striping, fastest first: {}", axes.join(", "))
            }
        };
        add("ftl.allocation", &name, &doc);
    }
    Arbitration::ALL.iter().for_each(|(n, _, d)| add("host.arbitration", n, d));
    let workload: [(&str, &[(&str, &str)]); 5] = [
        ("flow.address", interpulse_workload::ADDRESSES),
        ("flow.arrivals", interpulse_workload::ARRIVALS),
        ("flow.pacing", interpulse_workload::PACINGS),
        ("flow.fit", interpulse_workload::FITS),
        ("flow.reorder", interpulse_workload::REORDERS),
    ];
    for (kind, list) in workload {
        list.iter().for_each(|(n, d)| add(kind, n, d));
    }
    policies
}

/// What a letter of a striping order stands for.
fn axis(letter: char) -> &'static str {
    match letter {
        'c' => "channel",
        'w' => "way",
        'd' => "die",
        'p' => "plane",
        other => unreachable!("{other} is no axis of a striping order"),
    }
}
