//! Coordination of drives: GC windows, fail-fast reads and suspend limits. Miniature drives.

use crate::array_common::count;
use interpulse_array::array::Array;
use interpulse_drive::drive::Drive;
use interpulse_drive::numbers::Lane;
use interpulse_engine::{Device, SimTime};
use interpulse_study::case as cases;
use interpulse_study::config::{Case, PlanRequest, read_cases};
use interpulse_study::initial_state::precondition;
use serde_json::Value;

/// Four drives of 2 dies x 40 blocks of 24 pages of 4 KiB with two thresholds far apart, filled and overwritten.
const SMALL: &str = r#"
drive = "a4-mini"
[part]
layers = 4
blocks-per-plane = 40
pages-per-block = 24
page-size = "4KiB"
[geometry]
channels = 2
chips-per-channel = 1
[ftl]
over-provisioning = "60%"
gc-soft = "60%"
gc-hard = "10%"
[cache]
size = "1MiB"
[precondition]
fill = "100%"
overwrite = "uniform"
[audit]
sample = 1
"#;

const ARRAY: &str = "[array]\nlevel = \"raid5\"\ndrives = 4\nchunk = \"16KiB\"\n";

/// Few reads, which wait mostly for programs and erases, and writes that keep garbage collection busy.
const LOAD: &str = r#"
[run]
time = "600ms"
[[flow]]
name = "reads"
pacing = "open"
arrivals = "poisson"
rate = "4kIOPS"
[[flow]]
name = "writes"
pacing = "open"
arrivals = "poisson"
rate = "1500IOPS"
read = "0%"
"#;

fn case(text: &str, seed: u64) -> Result<Case, String> {
    let request =
        PlanRequest { text: text.into(), path: "x.toml".into(), seed: Some(seed), ..PlanRequest::default() };
    Ok(read_cases(&request).map_err(|e| e.to_string())?.remove(0))
}

fn state(case: &Case) -> interpulse_drive::PreconditionedState {
    precondition::precondition(&case.drive, &case.precondition, &mut |_, _| true).expect("nobody stops it").0
}

fn ran_with_seed(text: &str, seed: u64) -> Value {
    let case = case(text, seed).unwrap_or_else(|why| panic!("{why}"));
    cases::run(&case, &Default::default(), state(&case), None, &|_, _, _, _| true)
        .unwrap_or_else(|why| panic!("{why}"))
}

fn ran(text: &str) -> Value {
    ran_with_seed(text, 1)
}

/// Runs an array and calls `look` before and after every event, until the run drains.
fn watch(text: &str, mut look: impl FnMut(&Array, SimTime, bool)) {
    let case = case(text, 1).unwrap_or_else(|why| panic!("{why}"));
    let mut stepper = cases::array(&case, &case.flows, state(&case)).unwrap_or_else(|why| panic!("{why}"));
    stepper.open().unwrap();
    let (host, events) = (&mut stepper.host, &mut stepper.events);
    let limit = case.run.time.map_or(events.horizon(), |time| SimTime::ZERO + time);
    let target = case.run.requests.unwrap_or(u64::MAX);
    while host.device.completed() < target && !host.is_done() {
        let Some((now, resource)) = events.next(limit) else { break };
        look(&host.device, now, false);
        host.handle(events, resource);
        events.settle();
        look(&host.device, now, true);
    }
    stepper.close().unwrap();
    stepper.host.device.audit(stepper.events.now(), 1).unwrap_or_else(|why| panic!("{why}"));
}

/// GC operations started by each of four drives inside and outside its GC window. The test computes the windows itself; every
/// operation outside must count as forced, and none inside.
fn gc_operations_by_window(text: &str, window_ns: u64) -> ([u64; 4], [u64; 4]) {
    let (mut inside, mut outside) = ([0; 4], [0; 4]);
    let mut before = [(0, 0); 4];
    let mut free_before = [0; 4];
    watch(text, |array, now, after| {
        let owner = (now.as_ns() / window_ns % 4) as usize;
        for (d, drive) in array.drives().iter().enumerate() {
            let (gc, ftl) = (drive.gc_window(), drive.block_manager());
            let free = Lane::first(ftl.layout.lanes)
                .map(|lane| ftl.free_blocks(lane))
                .min()
                .expect("there are lanes");
            let least = free.min(std::mem::replace(&mut free_before[d], free));
            let (started, forced) = (gc.started - before[d].0, gc.forced - before[d].1);
            before[d] = (gc.started, gc.forced);
            // Events at the instant of the change may precede it.
            if !after || now.as_ns().is_multiple_of(window_ns) {
                continue;
            }
            if d == owner {
                inside[d] += started;
                assert_eq!(forced, 0, "at {now} drive {d} owns the window");
            } else {
                outside[d] += started;
                assert_eq!(started, forced, "at {now} drive {d} collects outside its window");
                assert!(
                    started == 0 || least <= ftl.config().hard_free,
                    "at {now} drive {d} has {least} free"
                );
            }
        }
    });
    (inside, outside)
}

#[test]
fn drives_collect_garbage_in_their_gc_windows() {
    let (inside, outside) =
        gc_operations_by_window(&format!("{SMALL}{ARRAY}gc-window = \"10ms\"\n{LOAD}"), 10_000_000);
    assert!(inside.iter().all(|&n| n > 200), "{inside:?}");
    assert_eq!(outside, [0; 4], "there are enough free blocks to wait for a window");
}

#[test]
fn a_drive_without_free_blocks_does_not_wait_for_its_gc_window() {
    let busy = LOAD.replace("1500IOPS", "12kIOPS");
    let text = format!("{SMALL}{ARRAY}gc-window = \"400ms\"\n{busy}");
    let (inside, outside) = gc_operations_by_window(&text, 400_000_000);
    assert!(inside[0] > 100 && outside[2] > 100, "{inside:?} inside the window, {outside:?} outside");
    assert!(count(&ran(&text), "gc_forced") > 100);
}

#[test]
fn gc_windows_do_not_hide_a_stalled_run() {
    // One request, then a pause of many rounds: the run must detect that nothing is outstanding, and the rotation must
    // restart with the next request.
    let text = format!(
        "{SMALL}{ARRAY}gc-window = \"100us\"\n[run]\nrequests = 300\n[[flow]]\npacing = \"open\"\narrivals = \"poisson\"\n\
         rate = \"20IOPS\"\nread = \"0%\"\nblock-size = \"64KiB\"\n"
    );
    let mut events = 0u64;
    watch(&text, |_, _, after| events += u64::from(after));
    let each = events / 300;
    // 15 s are 150,000 GC windows.
    assert!(each < 400, "{each} events for each request");
}

#[test]
fn without_garbage_collection_nothing_changes() {
    let fresh = format!("{SMALL}{ARRAY}").replace("overwrite = \"uniform\"\n", "").replace("100%", "40%");
    let of = |keys: &str, part: &str| {
        let load = LOAD.replace("600ms", "60ms");
        let mut r = ran(&format!("{fresh}{keys}{load}"));
        assert_eq!(
            (count(&r, "fast_failed_reads"), r["counters"]["nand"]["gc_reads"].as_u64()),
            (0, Some(0)),
            "{keys}"
        );
        r[part].take()
    };
    for part in ["latency_us", "flows", "nand", "ftl", "counters", "time_share"] {
        let plain = of("", part);
        assert!(!plain.is_null(), "{part}");
        assert_eq!(of("gc-window = \"7ms\"\nfail-fast = true\n", part), plain, "{part}");
    }
}

#[test]
fn fail_fast_reads_and_gc_windows_shorten_the_read_tail() {
    let suspend = "[suspend.program]\nscheme = \"loop-boundary\"\n";
    let tail = |keys: &str| {
        let load = LOAD.replace("600ms", "2s").replace("1500IOPS", "500IOPS");
        let r = ran(&format!("{SMALL}{suspend}{ARRAY}{keys}{load}"));
        let of = r["latency_us"]["read"]["p99.9"].as_f64().expect("there are reads");
        (of, count(&r, "fast_failed_reads"))
    };
    let (plain, none) = tail("");
    let (both, failed) = tail("gc-window = \"50ms\"\nfail-fast = true\n");
    let (alone, _) = tail("fail-fast = true\n");
    assert!(none == 0 && failed > 100, "{failed} reads fail fast");
    assert!(both * 2.5 < plain, "p99.9 {plain} us, with both {both}");
    assert!(both * 2.0 < alone, "p99.9 without GC windows {alone} us, with both {both}");
}

/// Fast-failed reads combined with failures, rebuild, scrub and media errors; all rows sampled.
#[test]
fn reads_reconstructed_from_other_drives_return_the_right_data() {
    let aged =
        "[errors]\ntable = \"tlc-3d\"\ninitial-age = \"24d\"\n[ecc]\ncapability = 80\nmax-retries = 2\n";
    let mixed = r#"
[run]
requests = 5000
[[flow]]
depth = 16
read = "60%"
sizes = ["512B", "4KiB", "24KiB", "200KiB"]
size-weights = [2.0, 5.0, 3.0, 1.0]
alignment = "512B"
address = "zipf"
exponent = 1.1
flush-every = 70
"#;
    let (mut failed, mut waited, mut abandoned) = (0, 0, 0);
    for (seed, keys, rest) in [
        (1, "", ""),
        (2, "gc-window = \"3ms\"\nstripe-cache = 17\n", ""),
        (3, "fail-drive = 1\nfail-at = \"60ms\"\n", ""),
        (4, "gc-window = \"2ms\"\nfail-drive = 2\nfail-at = \"30ms\"\nrebuild-rate = \"64MiB\"\n", ""),
        (5, "gc-window = \"5ms\"\nscrub-rate = \"64MiB\"\n", ""),
        (6, "gc-window = \"5ms\"\nstripe-cache = 20\n", aged),
        (7, "fail-drive = 0\nfail-at = \"40ms\"\nrebuild-rate = \"64MiB\"\n", aged),
        (8, "gc-window = \"3ms\"\nstripe-cache = 20\n", aged),
        (5, "fail-fast-for = \"any-operation\"\n", ""),
        (6, "fail-fast-for = \"any-operation\"\nstripe-cache = 20\n", aged),
        (
            7,
            "fail-fast-for = \"any-operation\"\nfail-drive = 0\nfail-at = \"40ms\"\nrebuild-rate = \"64MiB\"\n",
            aged,
        ),
        (8, "fail-fast-for = \"any-operation\"\ngc-window = \"3ms\"\nscrub-rate = \"64MiB\"\n", aged),
        (9, "fail-drive = [0, 3]\nfail-at = [\"30ms\", \"50ms\"]\nrebuild-rate = \"64MiB\"\n", ""),
    ] {
        let array = if seed < 8 { ARRAY.to_string() } else { ARRAY.replace("raid5", "raid6") };
        let small =
            if rest.is_empty() { SMALL.into() } else { SMALL.replace("100%\"\n", "100%\"\ncycles = 1000\n") };
        let text = format!("{small}{rest}{array}fail-fast = true\n{keys}{mixed}");
        let r = ran_with_seed(&text, seed);
        assert!(r["audits"]["versions_checked"].as_u64() > Some(1000), "seed {seed}");
        assert!(count(&r, "fast_failed_reads") > 0, "seed {seed}");
        failed += count(&r, "fast_failed_reads");
        waited += count(&r, "fast_failed_waits");
        let pages = count(&r, "abandoned_reconstructions");
        assert_eq!(pages > 0, keys.contains("any-operation"), "seed {seed}: {pages} pages");
        abandoned += pages;
    }
    assert!(failed > 500 && waited > 0, "{failed} reads failed fast, {waited} of them waited after all");
    assert!(abandoned > 100, "{abandoned} reconstructions were abandoned");
}

#[test]
fn suspend_limits_change_during_a_rebuild() {
    let suspend = "[suspend.program]\nscheme = \"loop-boundary\"\nmax-suspends = 1\n";
    let rebuild = "fail-drive = 1\nfail-at = \"20ms\"\nrebuild-rate = \"64MiB\"\n";
    let load = LOAD.replace("600ms", "900ms").replace("1500IOPS", "500IOPS");
    let tight = ran(&format!("{SMALL}{suspend}{ARRAY}{rebuild}{load}"));
    let text = format!("{SMALL}{suspend}{ARRAY}{rebuild}[array.rebuild-suspend]\nmax-suspends = 40\n{load}");
    let relaxed = ran(&text);
    let suspends =
        |r: &Value| r["counters"]["nand"]["program_suspends"].as_u64().expect("programs are suspended");
    let refused =
        |r: &Value| r["counters"]["nand"]["stops_refused_by_limit"].as_u64().expect("there is a limit");
    assert!(suspends(&relaxed) > suspends(&tight), "{} and {}", suspends(&relaxed), suspends(&tight));
    assert!(refused(&relaxed) < refused(&tight), "{} and {}", refused(&relaxed), refused(&tight));

    let mut changes = Vec::new();
    watch(&text, |array, now, after| {
        let limits = |d: &Drive| d.nand().suspend_limits()[0].max_suspends;
        let first = limits(&array.drives()[0]);
        assert!(array.drives().iter().all(|d| limits(d) == first), "all drives have the same");
        if after && changes.last().is_none_or(|&(_, last)| last != first) {
            changes.push((now.as_ns() as f64 / 1e9, first));
        }
    });
    let at = |what: &str| relaxed["array"]["rebuild"][what].as_f64().expect("it has ended");
    assert_eq!(changes.len(), 3, "{changes:?}");
    assert_eq!(changes[0].1, Some(1));
    assert_eq!(changes[1], (at("started_s"), Some(40)));
    assert_eq!(changes[2], (at("finished_s"), Some(1)));
}

#[test]
fn mistakes_are_reported() {
    let plain = "[run]\nrequests = 10\n[[flow]]\n";
    let rebuilt = "level = \"raid5\"\ndrives = 4\nfail-drive = 1\nrebuild-rate = \"1MiB\"\n";
    let error = |array: &str, rest: &str| {
        case(&format!("{SMALL}[array]\n{array}\n{rest}{plain}"), 1).err().unwrap_or_else(|| "nothing".into())
    };
    for (array, expected) in [
        (
            "level = \"raid0\"\ndrives = 4\ngc-window = \"10ms\"".to_string(),
            "array.gc-window: does not apply; it belongs to level = \"raid5\"",
        ),
        (
            "level = \"raid1\"\ndrives = 2\nfail-fast = true".into(),
            "array.fail-fast: does not apply; it belongs to level = \"raid5\"",
        ),
        (
            "level = \"raid5\"\ndrives = 4\nfail-fast-for = \"any-operation\"".into(),
            "array.fail-fast-for: does not apply; it belongs to fail-fast = true",
        ),
        (
            "level = \"raid5\"\ndrives = 4\nfail-fast = true\nfail-fast-for = \"writes\"".into(),
            "array.fail-fast-for: seen \"writes\"; expected one of collection, any-operation",
        ),
        (
            "level = \"raid5\"\ndrives = 4\ngc-window = \"1us\"".into(),
            "array.gc-window: seen \"1us\"; expected a duration from 100us to",
        ),
        (
            "level = \"raid5\"\ndrives = 4\n[array.rebuild-suspend]\nmax-suspends = 4".into(),
            "array.rebuild-suspend: does not apply; it belongs to rebuild-rate",
        ),
        (
            format!("{rebuilt}[array.rebuild-suspend]\nmax-suspends = 4"),
            "neither programs nor erases are suspended",
        ),
    ] {
        let message = error(&array, "");
        assert!(message.contains(expected), "{array}: {message}");
    }
    let suspended =
        "\n[suspend.program]\nscheme = \"loop-boundary\"\nmax-suspends = 9\nmin-interval = \"50us\"\n";
    for (limits, expected) in [
        ("", "the section is empty; expected max-suspends, min-interval or both"),
        ("max-suspends = 4", "seen 4, fewer than the 9 of suspend.program"),
        ("min-interval = \"60us\"", "seen 60us, longer than the 50us of suspend.program"),
    ] {
        let message = error(&format!("{rebuilt}[array.rebuild-suspend]\n{limits}"), suspended);
        assert!(message.contains(expected), "{limits}: {message}");
    }
    let imposed = SMALL
        .replace("[ftl]", "[ftl]\ngc = \"imposed\"\nimposed-waf = 2.0")
        .replace("overwrite = \"uniform\"\n", "");
    let imposed = imposed.replace("gc-soft = \"60%\"\ngc-hard = \"10%\"\n", "");
    let message = case(&format!("{imposed}{ARRAY}gc-window = \"5ms\"\n{plain}"), 1).err().unwrap_or_default();
    assert!(message.contains("array.gc-window"), "{message}");
}
