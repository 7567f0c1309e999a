//! Namespaces in a configuration: keys of `[ftl]` that they inherit, mistakes, snapshots, and their section of the result.

use interpulse_drive::DriveSpec;
use interpulse_drive::FtlState;
use interpulse_study::case::{self, check_traces};
use interpulse_study::config::{Case, PlanRequest, read_cases};
use interpulse_study::initial_state::precondition::precondition;
use interpulse_study::initial_state::snapshot;
use serde_json::Value;

/// A page namespace and a zoned one, with a flow each; 13 lines.
const TWO: &str = "\
drive = \"a4-mini\"
[run]
requests = 3000
[[namespace]]
share = 0.5
[[namespace]]
family = \"zoned\"
[[flow]]
read = 0.5
depth = 4
[[flow]]
namespace = 2
zones = \"append\"
";

fn read(text: &str, sets: &[(&str, &str)]) -> Result<Case, String> {
    let sets = sets.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let request = PlanRequest { text: text.into(), path: "x.toml".into(), sets, ..PlanRequest::default() };
    read_cases(&request).map(|mut cases| cases.remove(0)).map_err(|e| e.to_string())
}

fn namespaces(case: &Case) -> Vec<DriveSpec> {
    case.drive.namespaces().unwrap()
}

#[test]
fn a_namespace_has_the_keys_of_ftl_that_it_leaves_out() {
    let case = read(TWO, &[("ftl.gc", "fifo"), ("namespace.0.over-provisioning", "50%")]).unwrap();
    let [page, zoned] = &namespaces(&case)[..] else { panic!("two namespaces") };
    assert_eq!(page.ftl.gc.name(), "fifo");
    assert_eq!((page.ftl.over_provisioning, zoned.ftl.over_provisioning), (0.5, 0.3));
    assert_eq!((page.geometry.blocks_per_plane, zoned.geometry.blocks_per_plane), (48, 48));
    assert_eq!((page.place.first_block, zoned.place.first_block), (0, 48));
    assert!(page.ftl.zones.is_none() && zoned.ftl.zones.is_some());
    assert_eq!([case.flows[0].namespace, case.flows[1].namespace], [0, 1]);
    let entry = |key: &str| case.resolution.entry(key).map(|entry| entry.display.clone());
    assert_eq!(entry("namespace.0.gc").as_deref(), Some("fifo"));
    assert_eq!(entry("namespace.1.gc"), None, "zones have no garbage collection");
    assert_ne!(case.state_hash(), read(TWO, &[("namespace.0.share", "0.4")]).unwrap().state_hash());
    assert_ne!(case.state_hash(), read(TWO, &[("namespace.1.fill", "0%")]).unwrap().state_hash());
}

#[test]
fn each_mistake_names_the_key_and_what_is_legal() {
    for (sets, expected) in [
        (
            &[("namespace.0.share", "99%")][..],
            "the namespaces ask for 95 of the 96 blocks of a plane, and 1 without a size take the rest: give smaller ones, or more \
             part.blocks-per-plane",
        ),
        (
            &[("namespace.0.capacity", "1GiB")],
            "namespace.0.share = 0.5 and namespace.0.capacity = 1GiB: either says how large the namespace is: leave out one of \
             them",
        ),
        (
            &[("flow.1.namespace", "3")],
            "flow.1.namespace: seen 3; expected 1 to 2: the drive has 2 [[namespace]] tables",
        ),
        (
            &[("flow.1.namespace", "1")],
            "x.toml:13: flow.1.zones: seen \"append\"; expected a namespace with family = \"zoned\"",
        ),
        (&[("namespace.1.gc", "fifo")], "namespace.1.gc: does not apply; it belongs to family = \"page\""),
        (&[("namespace.0.multi-plane", "2")], "namespace.0.multi-plane"),
        (
            &[("namespace.0.mapping", "cached")],
            "namespace.0.mapping = cached: namespace 1: the mapping cache belongs",
        ),
        (&[("namespace.0.over-provisioning", "1%")], "namespace.0.over-provisioning = 0.01"),
        (&[("drive.capacity", "2GiB")], "drive.capacity = 2GiB"),
        (&[("power-loss.at", "1ms")], "power-loss.at = 1ms"),
        (&[("array.level", "raid0"), ("array.drives", "2")], "an array addresses its drives as a whole"),
        (
            &[("namespace.0.fill", "0%"), ("precondition.overwrite", "uniform")],
            "nothing to overwrite in an empty namespace",
        ),
    ] {
        let message = read(TWO, sets).err().unwrap_or_else(|| "no mistake was found".into());
        assert!(message.contains(expected), "{sets:?}: {message}");
    }
    let one = "drive = \"a4-mini\"\n[run]\nrequests = 1\n[[flow]]\nnamespace = 1\n";
    let message = read(one, &[]).err().unwrap();
    assert!(
        message.contains("flow.0.namespace") && message.contains("a drive with [[namespace]] tables"),
        "{message}"
    );
    let many = format!("{TWO}{}", "[[namespace]]\n".repeat(31));
    assert!(read(&many, &[]).err().unwrap().contains("at most 32 [[namespace]] tables"));
}

/// The result of a case, without the times of this machine.
fn run(case: &Case, state: interpulse_drive::PreconditionedState) -> Value {
    let traces = check_traces(case).unwrap();
    let mut result = case::run(case, &traces, state, None, &|_, _, _, _| true).unwrap();
    for key in ["wall_s", "cpu_s", "requests_per_cpu_s"] {
        result[key] = Value::Null;
    }
    result
}

#[test]
fn a_state_from_a_snapshot_runs_as_one_that_was_built() {
    let case = read(TWO, &[("precondition.overwrite", "uniform"), ("part.blocks-per-plane", "64")]).unwrap();
    let built = || precondition(&case.drive, &case.precondition, &mut |_, _| true).unwrap().0;
    let (folder, hash) = (tempfile::tempdir().unwrap(), case.state_hash());
    snapshot::save(&built(), folder.path(), &hash, &mut |_, _| true).unwrap();
    let stored = snapshot::load(&case.drive, folder.path(), &hash, &mut |_, _| true).unwrap();
    let shared = {
        let mut state = built();
        state.share();
        state.another()
    };
    let expected = run(&case, built());
    assert_eq!(run(&case, stored), expected);
    assert_eq!(run(&case, shared), expected);
}

#[test]
fn the_result_has_a_section_for_each_namespace() {
    let case =
        read(TWO, &[("flow.0.read", "0.0"), ("run.requests", "60000"), ("namespace.1.fill", "50%")]).unwrap();
    let (state, _) = precondition(&case.drive, &case.precondition, &mut |_, _| true).unwrap();
    let result = run(&case, state);
    let [page, zoned] = &result["namespaces"].as_array().unwrap()[..] else { panic!("two namespaces") };
    let sum = |key: &str| page[key].as_u64().unwrap() + zoned[key].as_u64().unwrap();
    assert_eq!(sum("host_requests"), result["host_requests"]);
    assert_eq!(sum("host_pages"), result["ftl"]["host_pages"]);
    assert_eq!(sum("programmed_pages"), result["ftl"]["programmed_pages"]);
    assert_eq!(sum("capacity_bytes"), result["capacity"]["usable_bytes"]);
    assert_eq!(sum("erases"), result["ftl"]["erases"]);
    assert_eq!((&page["family"], &zoned["family"]), (&Value::from("page"), &Value::from("zoned")));
    assert_eq!(zoned["waf"], 1.0);
    assert_eq!(zoned["flows"], serde_json::json!(["flow1"]));
    assert!(zoned["zones"]["zones"].as_u64() > Some(0) && page.get("zones").is_none());
    assert_eq!(result["counters"]["zones"]["writes"].as_u64().unwrap_or(0), 0, "appends only");
    assert_eq!(result["counters"]["zones"]["appends"], zoned["zones"]["writes"]);
}
