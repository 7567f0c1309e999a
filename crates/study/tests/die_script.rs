//! Die script tests, derived by hand from the part to the nanosecond. A program of the study has three page loads of
//! 34,582 ns (18,432 B at 533 MT/s) after a command of 200 ns, then 16 loops of 125 us; a read has a command of 200
//! ns, 80 us of sensing, and moves the page with its parity. Suspend entry takes 70 us.

use interpulse_flash::command::Kind;
use interpulse_study::config::PlanRequest;
use interpulse_study::die_script::{Request, timeline};
use interpulse_study::plan::{Plan, resolve};
use serde_json::{Value, json};

const PAGE: u64 = 34_582;
const CONFIRM: u64 = 200 + 3 * PAGE;
const LOOP: u64 = 125_000;
const READ: u64 = 200 + 80_000 + PAGE;

fn plan(sets: &[(&str, &str)]) -> Plan {
    let text = "drive = \"a4-mini\"\n[run]\nrequests = 1\n[[flow]]\n".to_string();
    let sets = sets.iter().map(|&(key, value)| (key.to_string(), value.to_string())).collect();
    resolve(&PlanRequest { text, path: "die".into(), sets, ..PlanRequest::default() }).expect("it is legal")
}

/// One die of a part preset.
fn die(part: &str, sets: &[(&str, &str)]) -> Plan {
    let text = format!(
        "[part]\npreset = \"{part}\"\n[geometry]\nchannels = 1\nchips-per-channel = 1\n\
         [ftl]\nover-provisioning = \"30%\"\n[run]\nrequests = 1\n[[flow]]\n"
    );
    let sets = sets.iter().map(|&(key, value)| (key.to_string(), value.to_string())).collect();
    resolve(&PlanRequest { text, path: "die".into(), sets, ..PlanRequest::default() }).expect("it is legal")
}

/// Phases after the instant `after` and not after `until`, as `[from, to, what, operation, running_on, again]`.
fn phases(report: &Value, after: u64, until: u64) -> Vec<Value> {
    let inside = |p: &&Value| p[0].as_u64() >= Some(after) && p[1].as_u64() <= Some(until);
    report["phases"].as_array().expect("phases").iter().filter(inside).cloned().collect()
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
    let report = run(&plan, &[("program", 0), ("read", arrival)], None);
    let stop = CONFIRM + 3 * LOOP;
    let read = stop + 20_000;
    let resumed = read + READ;
    let end = resumed + 13 * LOOP;
    let spans = report["spans"].as_array().expect("spans");
    let of =
        |state: &str| spans.iter().filter(|s| s[2] == state).map(|s| json!([s[0], s[1]])).collect::<Vec<_>>();
    assert_eq!(of("pulsing"), [json!([CONFIRM, arrival]), json!([resumed, end])]);
    assert_eq!(of("stopping"), [json!([arrival, stop])]);
    assert_eq!(of("entering"), [json!([stop, read])]);
    // On an idle bus the sensing follows the command immediately.
    assert_eq!(of("sensing"), [json!([read, read + 200 + 80_000])]);
    for pair in spans.windows(2) {
        assert_eq!(pair[0][1], pair[1][0]);
    }
    assert!(spans.iter().all(|s| s[3] == "program"), "{spans:?}");
    assert_eq!(report["operations"][0], json!({"kind": "program", "arrived_ns": 0, "done_ns": end}));
    assert_eq!(report["operations"][1]["done_ns"], json!(resumed + 4_000), "and 4 us of decoding");
}

/// An erase of the study is 5 loops of 992 us and 8 us after a command of 100 ns; suspend entry takes 100 us; a read
/// has a command of 100 ns, 3 us of sensing, and moves 4,544 B in 3,787 ns. The read arrives 500 us into the second
/// loop, which is cancelled and repeated.
#[test]
fn an_erase_that_is_cut_short_does_half_a_loop_again() {
    let plan = die("atc19-ll", &[("suspend.erase.scheme", "immediate")]);
    let arrival = 100 + 1_500_000;
    let report = run(&plan, &[("erase", 0), ("read", arrival)], None);
    let entered = arrival + 100_000;
    let sensed = entered + 100 + 3_000;
    let resumed = sensed + 3_787;
    let expected = json!([
        [arrival - 500_000, arrival, "pulse", "erase", false, false],
        [arrival, entered, "entry", "erase", false, false],
        [entered, entered + 100, "command", "erase", false, false],
        [entered + 100, sensed, "sense", "erase", false, false],
        [sensed, resumed, "out", "erase", false, false],
        [resumed, resumed + 500_000, "pulse", "erase", false, true],
        [resumed + 500_000, resumed + 992_000, "pulse", "erase", false, false],
        [resumed + 992_000, resumed + 1_000_000, "verify", "erase", false, false],
    ]);
    assert_eq!(json!(phases(&report, 1_000_100, resumed + 1_000_000)), expected);
    assert_eq!(report["operations"][0]["done_ns"], json!(resumed + 4_000_000));
    assert_eq!(report["suspends"], 1);
    assert_eq!(report["phases"][0], json!([0, 100, "command", "erase", false, false]));
}

/// A program is 15 loops of 20 us and 24 us after a command of 200 ns and a page of 4,224 B in 20 us. The read
/// arrives 10 us into the third verify, which is cancelled; the word lines discharge in 4 us, the read takes 200 ns
/// of command, 25 us of sensing and 20 us of bus, the page buffer reloads in 3 us, and the verify restarts.
#[test]
fn a_program_whose_verify_is_cancelled_pays_a_discharge_a_reload_and_the_verify() {
    let plan = die("fast12-mlc", &[("suspend.program.scheme", "intra-phase-cancel")]);
    let arrival = 20_200 + 2 * 44_000 + 30_000;
    let report = run(&plan, &[("program", 0), ("read", arrival)], None);
    let discharged = arrival + 4_000;
    let sensed = discharged + 200 + 25_000;
    let moved = sensed + 20_000;
    let resumed = moved + 3_000;
    let expected = json!([
        [arrival - 10_000, arrival, "verify", "program", false, false],
        [arrival, discharged, "discharge", "program", false, false],
        [discharged, discharged + 200, "command", "program", false, false],
        [discharged + 200, sensed, "sense", "program", false, false],
        [sensed, moved, "out", "program", false, false],
        [moved, resumed, "reload", "program", false, false],
        [resumed, resumed + 10_000, "verify", "program", false, true],
        [resumed + 10_000, resumed + 24_000, "verify", "program", false, false],
    ]);
    assert_eq!(json!(phases(&report, arrival - 10_000, resumed + 24_000)), expected);
    assert_eq!(report["operations"][0]["done_ns"], json!(resumed + 24_000 + 12 * 44_000));
}

/// A read stops the first pulse of 992 us after 300 us; the resumed pulse makes no progress for 200 us, and a second
/// read arrives 50 us into that ramp. With `inter-phase` the first read waits for the end of the pulse.
#[test]
fn ramps_and_running_on_are_told_apart_from_pulses() {
    let part = [("suspend.erase.scheme", "exact"), ("suspend.erase.resume-ramp", "200us")];
    let first = 100 + 300_000;
    let resumed = first + 100_000 + 6_887;
    let second = resumed + 50_000;
    let again = second + 100_000 + 6_887;
    let report = run(&die("atc19-ll", &part), &[("erase", 0), ("read", first), ("read", second)], None);
    let ramps: Vec<Value> = phases(&report, 0, u64::MAX).into_iter().filter(|p| p[2] == "ramp").collect();
    let expected = json!([
        [resumed, second, "ramp", "erase", false, false],
        [again, again + 200_000, "ramp", "erase", false, false],
    ]);
    assert_eq!(json!(ramps), expected);
    assert_eq!(report["operations"][0]["done_ns"], json!(again + 200_000 + 4_700_000));

    let report = run(
        &die("atc19-ll", &[("suspend.erase.scheme", "inter-phase")]),
        &[("erase", 0), ("read", first)],
        None,
    );
    let expected = json!([
        [100, first, "pulse", "erase", false, false],
        [first, 992_100, "pulse", "erase", true, false],
        [992_100, 1_092_100, "entry", "erase", false, false],
    ]);
    assert_eq!(json!(phases(&report, 100, 1_092_100)), expected);
}

#[test]
fn a_probe_reads_after_the_first_pulse_and_after_each_resume() {
    let plan = plan(&[("suspend.program.scheme", "loop-boundary")]);
    let report = run(&plan, &[("program", 0)], Some((200_000, 400_000)));
    // Stops at loops 2, 6, 10 and 14; the next read would arrive 400 us later, after the program.
    let mut expected = Vec::new();
    let mut at = CONFIRM + 200_000;
    let mut stop = CONFIRM + 2 * LOOP;
    for _ in 0..4 {
        expected.push(at);
        let resumed = stop + 70_000 + READ;
        at = resumed + 400_000;
        stop = resumed + 4 * LOOP;
    }
    expected.push(at);
    let reads: Vec<u64> = report["operations"].as_array().expect("operations")[1..]
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
    let report: Value = serde_json::from_str(&timeline(&plan, &request).expect("legal")).expect("JSON");
    assert_eq!(report["operations"][0]["done_ns"], Value::Null);
    assert_eq!(report["spans"].as_array().expect("spans").last().expect("one")[1], 1_000_000);
}

#[test]
fn mistakes_are_named() {
    let plan = plan(&[]);
    let message = |request: Request| timeline(&plan, &request).expect_err("a mistake").to_string();
    let request = Request { arrivals: vec![("raed".into(), 0)], horizon_ns: 1, ..Request::default() };
    let names = Kind::ALL.map(|kind| kind.command().name).join(", ");
    assert_eq!(message(request), format!("no operation 'raed' for a die; one of {names}"));
    assert_eq!(message(Request::default()), "horizon_ns = 0: at least 1 and at most 60000000000 ns");
}
