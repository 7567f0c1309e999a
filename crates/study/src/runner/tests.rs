//! Does this build, with assertions and overflow checks on, give the result that the release build gives?

use super::*;

/// Fields that differ between two equal runs.
const TIMING: [&str; 3] = ["wall_s", "cpu_s", "requests_per_cpu_s"];

/// `text` as JSON, timing fields removed.
fn without_timing(text: &str) -> Value {
    let mut result: Value = serde_json::from_str(text).expect("a result is JSON");
    let remove = |case: &mut Value| {
        let object = case.as_object_mut().expect("a case is an object");
        TIMING.iter().for_each(|key| {
            object.remove(*key);
        });
    };
    remove(&mut result);
    result["cases"].as_array_mut().expect("there are two cases").iter_mut().for_each(remove);
    result
}

/// Golden counters of a generated trace. The Python suite holds the release build against the same file and
/// says how it is written anew.
#[test]
fn the_golden_trace_gives_the_golden_result_at_any_number_of_jobs() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/tests/data");
    let read = |name: &str| std::fs::read_to_string(data.join(name)).expect("the golden files are there");
    let request = RunRequest {
        text: read("golden.toml"),
        path: data.join("golden.toml").display().to_string(),
        ..RunRequest::default()
    };
    let plan = resolve(&request).expect("the golden configuration stands");
    let golden = without_timing(&read("golden.json"));
    for jobs in [1, 2] {
        let options = RunOptions { jobs, cache_dir: None, cache_limit: 0, no_cache: true };
        let text = run(&plan, &options, &Control::default()).expect("the golden run ends well");
        assert_eq!(without_timing(&text), golden, "with {jobs} job(s)");
    }
}
