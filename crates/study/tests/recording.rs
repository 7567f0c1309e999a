//! Recording tests: recording does not change the result, and rows sum to the summary.

use interpulse_study::config::PlanRequest;
use interpulse_study::control::Control;
use interpulse_study::plan::{self, Plan};
use interpulse_study::record::{Data, RecordSpec, RowBatch};
use interpulse_study::runner::{self, RunOptions};
use serde_json::Value;
use std::time::Duration;

const DRIVE: &str = r#"
drive = "a4-mini"
[part]
blocks-per-plane = 24
[precondition]
overwrite = "uniform"
until = "drive-writes"
drive-writes = 0.5
[suspend.program]
scheme = "loop-boundary"
[run]
requests = 3000
[[flow]]
depth = 8
read = "60%"
"#;

fn plan(more: &[(&str, &str)]) -> Plan {
    let sets = more.iter().map(|&(key, value)| (key.to_string(), value.to_string())).collect();
    plan::resolve(&PlanRequest { text: DRIVE.into(), path: "test".into(), sets, ..PlanRequest::default() })
        .unwrap_or_else(|e| panic!("{e}"))
}

/// The result without timing fields, and the rows.
fn run(plan: &Plan, record: Option<&str>) -> (Value, Vec<RowBatch>) {
    let options = RunOptions { jobs: 1, cache_dir: None, cache_limit: 0, no_cache: true };
    let control =
        Control::recording(record.into_iter().map(|text| RecordSpec::from_json(text).unwrap()).collect());
    let mut chunks = Vec::new();
    let text = std::thread::scope(|scope| {
        let running = scope.spawn(|| runner::run(plan, &options, &control));
        // Rows are taken during the run, which waits otherwise.
        while !running.is_finished() {
            chunks.extend(control.rows.take(Duration::from_millis(10)));
        }
        running.join().expect("no panic").unwrap_or_else(|e| panic!("{e:?}"))
    });
    chunks.extend(std::iter::from_fn(|| control.rows.take(Duration::ZERO)));
    let mut document: Value = serde_json::from_str(&text).expect("JSON");
    let mut result = document["cases"][0]["seeds"][0].take();
    for key in ["wall_s", "cpu_s", "requests_per_cpu_s"] {
        result.as_object_mut().expect("an object").remove(key);
    }
    (result, chunks)
}

/// Values of a column of integers over all batches of a table.
fn column(chunks: &[RowBatch], table: &str, name: &str) -> Vec<i64> {
    let of = chunks.iter().filter(|chunk| chunk.table == table).flat_map(|chunk| &chunk.columns);
    of.filter(|column| column.name == name)
        .flat_map(|column| match &column.data {
            Data::Whole(values) => values.clone(),
            other => panic!("{name} is {other:?}"),
        })
        .collect()
}

fn sum(chunks: &[RowBatch], table: &str, name: &str) -> i64 {
    column(chunks, table, name).iter().sum()
}

#[test]
fn recording_changes_nothing_and_its_rows_add_up() {
    let all = r#"{"requests": 1, "fio": 3, "series": 1000000, "timeline": [[1000000, 3000000], [5000000, 5500000]],
                  "slowest": 4}"#;
    for more in [vec![], vec![("link.generation", "1"), ("link.lanes", "1")]] {
        let plan = plan(&more);
        let (plain, none) = run(&plan, None);
        let (recorded, chunks) = run(&plan, Some(all));
        assert_eq!(plain, recorded);
        assert!(none.is_empty());
        assert_eq!(column(&chunks, "requests", "number"), (0..3000).collect::<Vec<i64>>());
        let length = (plain["simulated_s"].as_f64().unwrap() * 1e9).round() as i64;
        assert_eq!(sum(&chunks, "series", "length_ns"), length);
        assert_eq!(sum(&chunks, "series", "requests"), 3000);
        let suspends = plain["nand"]["suspends"]["program"].as_i64().unwrap();
        assert!(suspends > 20);
        assert_eq!(sum(&chunks, "series", "program_suspends"), suspends);
        let latencies = column(&chunks, "requests", "latency_ns");
        let (read, write) = ("read_latency_sum_ns", "write_latency_sum_ns");
        let sums = sum(&chunks, "series", read) + sum(&chunks, "series", write);
        assert_eq!(sums, latencies.iter().sum::<i64>());
        let mut slowest = latencies;
        slowest.sort_by_key(|&ns| -ns);
        assert_eq!(column(&chunks, "slowest", "latency_ns"), slowest[..4]);
        assert_eq!(column(&chunks, "timeline.windows", "from_ns"), [1_000_000, 5_000_000]);
        assert_eq!(column(&chunks, "timeline.windows", "to_ns"), [3_000_000, 5_500_000]);
        let lines: usize =
            chunks.iter().filter(|chunk| chunk.table.starts_with("fio.")).map(|c| c.rows).sum();
        assert_eq!(lines, 1000);
        assert_eq!(column(&chunks, "end", "whole"), [1]);
    }
}

/// The timeline has the intervals of the series, so both cover the same time; the bus is idle at both ends.
#[test]
fn dies_and_buses_of_a_timeline_are_what_was_counted() {
    let (_, chunks) = run(&plan(&[]), Some(r#"{"series": 2000000, "timeline": [[2000000, 8000000]]}"#));
    let (from, to) = (column(&chunks, "timeline.dies", "from_ns"), column(&chunks, "timeline.dies", "to_ns"));
    let shown: i64 = from.iter().zip(&to).map(|(from, to)| to - from).sum();
    assert_eq!(shown, 8 * 6_000_000, "every die, all the time");
    let stretch = |name| column(&chunks, "series", name)[1..4].iter().sum::<i64>();
    let (from, to) =
        (column(&chunks, "timeline.buses", "from_ns"), column(&chunks, "timeline.buses", "to_ns"));
    let busy: i64 = from.iter().zip(&to).map(|(from, to)| to - from).sum();
    // Counters count a transfer at its start; the timeline splits it.
    let most = 16 * 60_000;
    assert!((busy - stretch("bus_busy_ns")).abs() <= most, "{busy} and {}", stretch("bus_busy_ns"));
    assert!(from.iter().all(|&at| at >= 2_000_000) && to.iter().all(|&at| at <= 8_000_000));
}

#[test]
fn a_timeline_alone_ends_its_run() {
    let record = r#"{"timeline": [[1000000, 2000000]], "only_timeline": true}"#;
    let (result, chunks) = run(&plan(&[("run.requests", "1000000000")]), Some(record));
    assert_eq!(result["interrupted"], true);
    assert_eq!(column(&chunks, "timeline.windows", "to_ns"), [2_000_000]);
}

#[test]
fn a_cut_of_power_is_recorded_as_it_is() {
    let plan = plan(&[("power-loss.at", "4ms"), ("power-loss.off-for", "1ms")]);
    let all = r#"{"requests": 1, "series": 1000000, "timeline": [[3000000, 60000000]]}"#;
    let (plain, _) = run(&plan, None);
    let (recorded, chunks) = run(&plan, Some(all));
    assert_eq!(plain, recorded);
    assert_eq!(sum(&chunks, "series", "requests"), plain["host_requests"].as_i64().unwrap());
}
