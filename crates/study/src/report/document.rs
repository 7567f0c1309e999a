//! Document of a run: what concerns the run at the root, then every case with its seeds.

use super::SCHEMA_VERSION;
use crate::plan::Plan;
use serde_json::{Map, Value, json};

/// Keys of a case's result that the document holds once, at its root or beside the seeds.
const SHARED: [&str; 3] = ["schema_version", "version", "case"];

/// Document of the results of a plan's cases, in their order.
pub fn document(plan: &Plan, results: Vec<Value>) -> Value {
    let mut root = json!({
        "schema_version": SCHEMA_VERSION,
        "version": env!("CARGO_PKG_VERSION"),
        "config_file": plan.file(),
        "config_hash": plan.config_hash(),
    });
    let object = root.as_object_mut().expect("an object");
    object.retain(|_, value| !value.is_null());
    if results.iter().any(|result| result.get("interrupted").is_some()) {
        object.insert("interrupted".into(), json!(true));
    }
    let cases = results.into_iter().zip(plan.cases()).map(|(mut result, case)| {
        let seed = result.as_object_mut().expect("a result is an object");
        let seed: Map<_, _> =
            std::mem::take(seed).into_iter().filter(|(key, _)| !SHARED.contains(&key.as_str())).collect();
        json!({ "case": case.name, "seeds": [seed] })
    });
    object.insert("cases".into(), cases.collect());
    root
}
