//! Runner tests: this build, with assertions and overflow checks, gives the result of the release build at any
//! number of jobs.

use super::*;
use crate::config::PlanRequest;
use crate::machine::Machine;
use crate::plan::resolve;
use std::path::Path;
use std::sync::Arc;

/// Fields that differ between equal runs.
const TIMING: [&str; 3] = ["wall_s", "cpu_s", "requests_per_cpu_s"];

/// `text` as JSON without timing fields.
fn without_timing(text: &str) -> Value {
    let mut result: Value = serde_json::from_str(text).expect("a result is JSON");
    for case in result["cases"].as_array_mut().expect("a list of cases") {
        for seed in case["seeds"].as_array_mut().expect("a list of seeds") {
            let object = seed.as_object_mut().expect("the result of a seed is an object");
            TIMING.iter().for_each(|key| {
                object.remove(*key);
            });
        }
    }
    result
}

fn plan(text: String, path: &Path) -> Plan {
    let path = path.display().to_string();
    resolve(&PlanRequest { text, path, ..PlanRequest::default() }).expect("a legal configuration")
}

fn ran(plan: &Plan, jobs: usize, control: &Control) -> Value {
    let options = RunOptions { jobs, cache_dir: None, cache_limit: 0, no_cache: true };
    without_timing(&run(plan, &options, control).expect("the run ends well"))
}

/// Golden counters of a generated trace. The Python tests compare the release build with the same file and document
/// how to regenerate it.
#[test]
fn the_golden_trace_gives_the_golden_result_at_any_number_of_jobs() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/tests/data");
    let read = |name: &str| std::fs::read_to_string(data.join(name)).expect("the golden files are there");
    let plan = plan(read("golden.toml"), &data.join("golden.toml"));
    let golden = without_timing(&read("golden.json"));
    for jobs in [1, 2] {
        assert_eq!(ran(&plan, jobs, &Control::default()), golden, "with {jobs} job(s)");
    }
}

/// Cases with three initial states; the first is much longer.
const STATES: &str = r#"
drive = "a4-mini"
[run]
requests = 2000
[[flow]]
depth = 4
read = "50%"
[[case]]
name = "long"
set = ["precondition.fill=50%", "run.requests=2000000"]
[[case]]
name = "full"
set = []
[[case]]
name = "half"
set = ["precondition.fill=50%"]
[[case]]
name = "array"
set = ["precondition.fill=25%", "array.level=raid0", "array.drives=2"]
"#;

#[test]
fn cases_with_different_states_run_side_by_side_and_give_the_same() {
    let plan = plan(STATES.into(), Path::new("states.toml"));
    let one_by_one = ran(&plan, 1, &Control::default());
    let control = Control::default();
    let (side_by_side, overlapped) = std::thread::scope(|scope| {
        let run = scope.spawn(|| ran(&plan, 2, &control));
        let mut overlapped = false;
        while !run.is_finished() {
            // A case of another state ended during the long first case.
            let now = control.progress();
            overlapped |= now.len() == 4 && now[0].phase == "run" && now[1].phase == "done";
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        (run.join().expect("the run ends well"), overlapped)
    });
    assert_eq!(side_by_side, one_by_one);
    assert!(overlapped, "the second case waited for the first one of another state");
    assert_eq!(ran(&plan, 9, &Control::default()), one_by_one);
}

#[test]
fn memory_that_cannot_be_had_is_no_bug() {
    let error = catch_panic(|| Ok(interpulse_drive::memory::Table::<u64>::new(1 << 58).len()))
        .expect_err("it cannot be had");
    assert_eq!(error.kind, RunErrorKind::User);
    assert!(
        error.message.starts_with("the machine gave no 2305843009213.7 MB of memory"),
        "{}",
        error.message
    );
    let error = catch_panic(|| Ok(interpulse_drive::memory::filled(1_u64, 1 << 58).len()))
        .expect_err("it cannot be had");
    assert_eq!(error.kind, RunErrorKind::User);
    let bug: Result<(), _> = catch_panic(|| panic!("of another kind"));
    assert_eq!(bug.map_err(|error| error.kind), Err(RunErrorKind::Internal));
}

#[test]
fn where_memory_is_for_one_case_each_has_its_state_made_for_itself() {
    let plan = plan(STATES.into(), Path::new("states.toml"));
    let (hashes, together) = states(plan.cases(), false);
    let (each, apart) = states(plan.cases(), true);
    assert_eq!((hashes.len(), together), (3, vec![vec![0, 2], vec![1], vec![3]]));
    assert_eq!((each.len(), apart), (4, (0..4).map(|case| vec![case]).collect::<Vec<_>>()));
    assert_eq!(each[0], each[2], "the second one takes it from the snapshot, if there is one");
}

#[test]
fn each_case_is_handed_over_once_when_it_has_ended() {
    let plan = plan(STATES.replace("2000000", "2000"), Path::new("states.toml"));
    let control = Control::default();
    let whole = ran(&plan, 2, &control);
    let mut ended = control.take_results();
    ended.sort();
    assert_eq!(ended.iter().map(|(index, _)| *index).collect::<Vec<_>>(), [0, 1, 2, 3]);
    for (index, text) in ended {
        let result: Value = serde_json::from_str(&text).expect("a result is JSON");
        assert_eq!(result["iops"], whole["cases"][index]["seeds"][0]["iops"]);
    }
    assert!(control.take_results().is_empty());
}

/// Runs two configurations on one machine: results, notes, and whether the second run ended before the first.
fn two_runs(cores: usize, texts: [&str; 2], folder: Option<&Path>) -> ([Value; 2], Vec<String>, bool) {
    let machine = Machine::new(cores);
    let plans = texts.map(|text| plan(text.into(), Path::new("states.toml")));
    let controls = [Control::default(), Control::default()];
    let cache_dir = folder.map(Path::to_path_buf);
    let options = RunOptions { jobs: cores, no_cache: cache_dir.is_none(), cache_dir, cache_limit: 1 << 40 };
    let run = |rank: usize| {
        let share = MachineShare::of(Arc::clone(&machine), rank as u64);
        let text = run_shared(&plans[rank], &options, &controls[rank], &share).expect("the run ends well");
        without_timing(&text)
    };
    // The first run reserves its resources before the second starts.
    let (results, overtaken) = std::thread::scope(|scope| {
        let first = scope.spawn(|| run(0));
        while controls[0].progress().first().is_none_or(|case| case.phase == "waiting") {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let second = run(1);
        let overtaken = controls[0].progress().iter().any(|case| case.phase != "done");
        ([first.join().expect("the run ends well"), second], overtaken)
    });
    (results, controls.iter().flat_map(Control::notes).collect(), overtaken)
}

/// A long case.
const LONG: &str = r#"
drive = "a4-mini"
[run]
requests = 2000000
[[flow]]
depth = 4
read = "50%"
"#;

#[test]
fn a_run_fills_the_core_that_the_slowest_case_of_the_one_before_leaves_idle() {
    let short = STATES.replace("2000000", "2000");
    let alone =
        [LONG, &short].map(|text| ran(&plan(text.into(), Path::new("states.toml")), 1, &Control::default()));
    let (together, _, overtaken) = two_runs(2, [LONG, &short], None);
    assert!(overtaken, "the second run waited for the only case of the first");
    assert_eq!(together, alone, "what runs beside a case changes nothing in it");
    let (together, _, overtaken) = two_runs(1, [LONG, &short], None);
    assert!(!overtaken, "one core is the first run's until it has ended");
    assert_eq!(together, alone);
}

#[test]
fn two_runs_that_need_a_state_make_it_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = LONG.replace("2000000", "2000");
    let (_, notes, _) = two_runs(2, [&text, &text], Some(folder.path()));
    assert_eq!(notes.iter().filter(|line| line.contains("state kept in")).count(), 1, "{notes:?}");
}
