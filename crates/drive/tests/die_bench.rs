//! *Does the bench of a single die tell what the die did, to the nanosecond?* Derived by hand from the part: a program of
//! the study has three page loads of 46,080 ns behind a command of 200 ns, then 16 loops of 125 us; a read has a command of
//! 200 ns, 80 us of sensing, and moves 4,608 B in 11,520 ns.

use interpulse_drive::die_bench::{Request, timeline};
use interpulse_drive::runner::{Plan, RunRequest, resolve};
use serde_json::{Value, json};

const CONFIRM: u64 = 200 + 3 * 46_080;
const LOOP: u64 = 125_000;
const READ: u64 = 200 + 80_000 + 11_520;

fn plan(sets: &[(&str, &str)]) -> Plan {
    let text = "drive = \"a4-mini\"\n[run]\nrequests = 1\n[[flow]]\n".to_string();
    let sets = sets.iter().map(|&(key, value)| (key.to_string(), value.to_string())).collect();
    resolve(&RunRequest { text, path: "die".into(), sets, ..RunRequest::default() }).expect("it is legal")
}

fn run(plan: &Plan, arrivals: &[(&str, u64)], probe: Option<(u64, u64)>) -> Value {
    let arrivals = arrivals.iter().map(|&(name, at)| (name.to_string(), at)).collect();
    let request = Request { arrivals, probe, seed: 1, horizon_ns: 50_000_000 };
    serde_json::from_str(&timeline(plan, &request).expect("it is legal")).expect("it is JSON")
}

#[test]
fn spans_of_a_suspended_program_follow_each_other_without_a_gap() {
    let plan = plan(&[("suspend.program.scheme", "loop-boundary"), ("part.program-suspend-entry", "20us")]);
    let arrival = CONFIRM + 300_000;
    let told = run(&plan, &[("program", 0), ("read", arrival)], None);
    let stop = CONFIRM + 3 * LOOP;
    let read = stop + 20_000;
    let resumed = read + READ;
    let end = resumed + 13 * LOOP;
    let spans = told["spans"].as_array().expect("spans");
    let of =
        |state: &str| spans.iter().filter(|s| s[2] == state).map(|s| json!([s[0], s[1]])).collect::<Vec<_>>();
    assert_eq!(of("pulsing"), [json!([CONFIRM, arrival]), json!([resumed, end])]);
    assert_eq!(of("stopping"), [json!([arrival, stop])]);
    assert_eq!(of("entering"), [json!([stop, read])]);
    // On a free bus the command goes straight into the sensing.
    assert_eq!(of("sensing"), [json!([read, read + 200 + 80_000])]);
    for pair in spans.windows(2) {
        assert_eq!(pair[0][1], pair[1][0]);
    }
    assert!(spans.iter().all(|s| s[3] == "program"), "{spans:?}");
    assert_eq!(told["operations"][0], json!({"kind": "program", "arrived_ns": 0, "done_ns": end}));
    assert_eq!(told["operations"][1]["done_ns"], json!(resumed + 4_000), "and 4 us of decoding");
}

#[test]
fn a_probe_reads_after_the_first_pulse_and_after_each_resume() {
    let plan = plan(&[("suspend.program.scheme", "loop-boundary")]);
    let told = run(&plan, &[("program", 0)], Some((200_000, 400_000)));
    // Stops at loops 2, 2 + 4 = 6, 10 and 14; the next read would come 400 us after that, when the program is over.
    let mut expected = Vec::new();
    let mut at = CONFIRM + 200_000;
    let mut stop = CONFIRM + 2 * LOOP;
    for _ in 0..4 {
        expected.push(at);
        let resumed = stop + READ;
        at = resumed + 400_000;
        stop = resumed + 4 * LOOP;
    }
    expected.push(at);
    let reads: Vec<u64> = told["operations"].as_array().expect("operations")[1..]
        .iter()
        .map(|o| o["arrived_ns"].as_u64().expect("an instant"))
        .collect();
    assert_eq!(reads, expected);
}

#[test]
fn what_does_not_end_before_the_horizon_has_no_end() {
    let plan = plan(&[]);
    let request =
        Request { arrivals: vec![("erase".into(), 0)], horizon_ns: 1_000_000, ..Request::default() };
    let told: Value = serde_json::from_str(&timeline(&plan, &request).expect("legal")).expect("JSON");
    assert_eq!(told["operations"][0]["done_ns"], Value::Null);
    assert_eq!(told["spans"].as_array().expect("spans").last().expect("one")[1], 1_000_000);
}

#[test]
fn mistakes_are_named() {
    let plan = plan(&[]);
    let message = |request: Request| timeline(&plan, &request).expect_err("a mistake").to_string();
    let request = Request { arrivals: vec![("raed".into(), 0)], horizon_ns: 1, ..Request::default() };
    assert_eq!(
        message(request),
        "no operation 'raed' for a die; one of read, gc-read, program, gc-program, erase"
    );
    assert_eq!(message(Request::default()), "horizon_ns = 0: at least 1 and at most 60000000000 ns");
}
