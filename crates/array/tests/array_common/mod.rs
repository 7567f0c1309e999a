//! Test helpers: runs of arrays of miniature drives with every row sampled.
#![allow(dead_code, reason = "each suite takes what it needs")]

pub mod world;

use interpulse_study::config::PlanRequest;
use interpulse_study::control::Control;
use interpulse_study::plan::resolve;
use interpulse_study::runner::{RunOptions, run};
use serde_json::Value;

/// Four drives of 2 dies x 16 blocks of 24 pages of 4 KiB, 500 KiB or so each: a rebuild is short.
const DRIVE: &str = r#"
drive = "a4-mini"
[part]
layers = 4
blocks-per-plane = 20
pages-per-block = 24
page-size = "4KiB"
[geometry]
channels = 2
chips-per-channel = 1
[ftl]
over-provisioning = "60%"
[audit]
sample = 1
"#;
/// Drive timing for which the failure times of these suites were chosen.
const TIMES: [(&str, &str); 4] = [
    ("part.read-transfer", "codewords"),
    ("part.bus-rate", "400MT/s"),
    ("part.program-suspend-entry", "0us"),
    ("host.firmware", "32us"),
];
const CACHE: &str = "[cache]\nsize = \"1MiB\"\n";

pub fn result(rest: &str) -> Result<Value, String> {
    result_with_seed(rest, None)
}

pub fn result_with_seed(rest: &str, seed: Option<u64>) -> Result<Value, String> {
    result_without_cache(&format!("{CACHE}{rest}"), seed)
}

/// As above, for a `rest` with its own section `[cache]`.
pub fn result_without_cache(rest: &str, seed: Option<u64>) -> Result<Value, String> {
    result_with(rest, seed, &[])
}

/// As above, with further settings.
pub fn result_with(rest: &str, seed: Option<u64>, settings: &[(&str, &str)]) -> Result<Value, String> {
    let text = format!("{DRIVE}{rest}");
    let mut sets: Vec<(String, String)> =
        TIMES.iter().chain(settings).map(|(key, value)| (key.to_string(), value.to_string())).collect();
    // The cache of the preset is larger than these drives.
    if !rest.contains("[cache]\nsize") {
        sets.push(("cache.size".into(), "1MiB".into()));
    }
    let request = PlanRequest { text, path: "x.toml".into(), sets, seed, ..PlanRequest::default() };
    let plan = resolve(&request).map_err(|e| e.to_string())?;
    let options = RunOptions { jobs: 1, cache_dir: None, cache_limit: 0, no_cache: true };
    let text = run(&plan, &options, &Control::new()).map_err(|e| e.message)?;
    let mut result: Value = serde_json::from_str(&text).expect("results are JSON");
    Ok(result["cases"][0]["seeds"][0].take())
}

pub fn ran(rest: &str) -> Value {
    result(rest).unwrap_or_else(|why| panic!("{why}"))
}

pub fn count(result: &Value, name: &str) -> u64 {
    result["array"]["counters"][name].as_u64().unwrap_or_else(|| panic!("no counter {name}"))
}

pub const MIXED: &str = r#"
[run]
requests = 6000
[[flow]]
depth = 12
read = "40%"
sizes = ["512B", "4KiB", "24KiB", "200KiB"]
size-weights = [2.0, 5.0, 3.0, 1.0]
alignment = "512B"
"#;

/// Worn drives with old data: a few pages in a thousand are uncorrectable.
pub fn aged(age: &str) -> String {
    let aged = format!(
        "[errors]\ntable = \"tlc-3d\"\ninitial-age = \"{age}\"\n[ecc]\ncapability = 80\nmax-retries = 2\n"
    );
    format!("[precondition]\nfill = \"100%\"\ncycles = 1000\n{aged}")
}

/// A write-heavy load of many sizes that is running when a drive fails.
pub const BUSY: &str = "[run]\nrequests = 3000\n[[flow]]\ndepth = 24\nread = \"30%\"\nflush-every = 50\n\
    sizes = [\"1KiB\", \"4KiB\", \"40KiB\"]\nsize-weights = [1.0, 2.0, 1.0]\nalignment = \"512B\"\n\
    address = \"zipf\"\nexponent = 1.1\n";

/// Checks the rebuild rate of the first drive of `array`, whose capacity is `data` times that of a drive.
pub fn check_rebuild_rate(array: &str, data: u64) {
    let at = |rate: &str| {
        let r = ran(&format!(
            "[array]\n{array}\nfail-drive = 0\nrebuild-rate = \"{rate}\"\n[run]\ntime = \"400ms\"\n[[flow]]\nread = 1.0\n"
        ));
        let rows = r["array"]["capacity_bytes"].as_u64().expect("a capacity") / data / 4096;
        let rebuild = r["array"]["rebuild"].clone();
        (rows, rebuild["progress"].as_f64().expect("a share"), rebuild["finished_s"].as_f64())
    };
    let (rows, progress, finished) = at("1MiB");
    // The first batch of 16 rows starts at once; 0.4 s at 256 rows/s add 102 more.
    assert_eq!(((progress * rows as f64).round() as u64, finished), (112, None));
    let (rows, progress, finished) = at("16MiB");
    assert_eq!(progress, 1.0);
    let least = (rows - 16) as f64 * 4096.0 / f64::from(16 << 20);
    assert!(finished > Some(least - 0.005) && finished < Some(least * 1.5), "{finished:?} of {least}");
}
