//! *Does it hold for long?* Millions of mixed requests on the miniature drive with every unit followed by the
//! version audit, for every victim policy and suspension scheme. Part of `make verify`.

use interpulse_drive::GcPolicy;
use interpulse_flash::suspend::Scheme;
use interpulse_study::config::{PlanRequest, read_cases};
use interpulse_study::control::Control;
use interpulse_study::plan::resolve;
use interpulse_study::runner::{RunOptions, run};

const CONFIG: &str = r#"
drive = "a4-mini"
[audit]
sample = 1
[host]
queue-weights = [1, 3]
arbitration = "weighted"
[precondition]
overwrite = "hot-cold"
hot-share = "20%"
hot-traffic = "80%"
until = "drive-writes"
drive-writes = 1.0
[run]
requests = 1000000
[[flow]]
name = "closed"
depth = 16
read = "60%"
trim = "2%"
flush-every = 5000
sizes = ["512B", "4KiB", "64KiB"]
size-weights = [1, 8, 1]
alignment = "512B"
address = "hot-cold"
hot-share = "20%"
hot-traffic = "80%"
[[flow]]
name = "open"
queue = 1
pacing = "open"
rate = "3kIOPS"
arrivals = "hyper-exponential"
squared-variation = 6.0
read = "50%"
address = "zipf"
exponent = 0.9
"#;

fn soak(sets: &[(String, String)]) {
    let request = PlanRequest {
        text: CONFIG.into(),
        path: "soak".into(),
        sets: sets.to_vec(),
        ..PlanRequest::default()
    };
    assert!(read_cases(&request).is_ok(), "{sets:?}");
    let plan = resolve(&request).expect("the configuration is legal");
    let options = RunOptions { jobs: 1, cache_dir: None, cache_limit: 0, no_cache: true };
    // A run whose audits do not hold is an error.
    let result = run(&plan, &options, &Control::new()).unwrap_or_else(|e| panic!("{sets:?}: {e:?}"));
    let result: serde_json::Value = serde_json::from_str(&result).expect("the result is JSON");
    let checked = result["cases"][0]["seeds"][0]["audits"]["versions_checked"].as_u64().expect("audits ran");
    assert!(checked > 500_000, "{sets:?}: only {checked} reads were checked");
}

fn pair(key: &str, value: &str) -> (String, String) {
    (key.to_string(), value.to_string())
}

#[test]
#[ignore = "long: part of make verify"]
fn every_victim_policy_holds() {
    for gc in GcPolicy::all().into_iter().filter(|(_, policy, _)| !policy.imposes()).map(|(name, ..)| name) {
        for allocation in ["dynamic", "cwdp"] {
            soak(&[pair("ftl.gc", gc), pair("ftl.allocation", allocation)]);
        }
    }
}

#[test]
#[ignore = "long: part of make verify"]
fn every_suspension_scheme_holds() {
    for (name, _, _) in Scheme::all() {
        soak(&[
            pair("suspend.program.scheme", name),
            pair("suspend.program.max-suspends", "20"),
            pair("suspend.erase.scheme", name),
            pair("suspend.erase.max-suspends", "50"),
        ]);
    }
}
