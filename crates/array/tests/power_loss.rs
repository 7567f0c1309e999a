//! Power loss of RAID-5 arrays: resync, write hole and partial parity log. Miniature drives, every row sampled.
//!
//! The content audit checks that no completed write is lost at the cut, that logs hold the partial parity of the host
//! writes, that parity is consistent after recovery, and every page at the end.

use crate::array_common::{result_with, result_without_cache};
use serde_json::Value;

const LOAD: &str = r#"
[run]
requests = 1500
[[flow]]
depth = 24
read = "20%"
flush-every = 60
sizes = ["1KiB", "4KiB", "16KiB"]
size-weights = [1.0, 4.0, 1.0]
alignment = "512B"
"#;

fn result(rest: &str, seed: u64) -> Result<Value, String> {
    result_without_cache(rest, Some(seed))
}

fn number(r: &Value, path: &[&str]) -> f64 {
    path.iter().fold(r, |r, key| &r[*key]).as_f64().unwrap_or_else(|| panic!("no {path:?} in {}", r["array"]))
}

/// Cuts power at a time that depends on `seed`; with `fails`, a drive fails during the outage or soon after it.
fn cut(seed: u64, array: &str, fails: bool) -> Value {
    let at = 1_500 + (seed * 7919) % 9_000;
    let drive = seed % 5;
    let fail = match (fails, seed % 3) {
        (false, _) => String::new(),
        // While power is off, and with a rebuild.
        (true, 0) => {
            format!("fail-drive = {drive}\nfail-at = \"{}us\"\nrebuild-rate = \"64MiB\"\n", at + 300)
        }
        (true, 1) => format!("fail-drive = {drive}\nfail-at = \"{}us\"\n", at + 300),
        // When the host is served again, or a little later.
        _ => format!("fail-drive = {drive}\nfail-at = \"{}us\"\n", at + 30_000),
    };
    let cache = ["1MiB", "256KiB"][(seed % 2) as usize];
    let text = format!(
        "[cache]\nsize = \"{cache}\"\nacknowledge = \"{}\"\n[power-loss]\nat = \"{at}us\"\noff-for = \"500us\"\n[array]\nlevel = \
         \"raid5\"\ndrives = 5\nchunk = \"8KiB\"\nstripe-cache = 64\n{array}{fail}{LOAD}",
        ["when-cached", "when-programmed"][(seed / 2 % 2) as usize]
    );
    result(&text, seed).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"))
}

#[test]
fn a_cut_alone_loses_nothing_and_a_resync_makes_parity_consistent() {
    let mut rows = 0.0;
    for seed in 0..12 {
        let r = cut(seed, "resync-rate = \"1GiB\"\n", false);
        rows += number(&r, &["array", "power_cut", "rows_in_flight"]);
        assert!(number(&r, &["array", "power_cut", "requests_in_flight"]) > 0.0);
        assert!(number(&r, &["power_loss", "recovery", "time_us"]) > 40.0);
        assert_eq!(number(&r, &["array", "resync", "progress"]), 1.0, "seed {seed}");
        assert_eq!(number(&r, &["array", "counters", "write_hole_pages"]), 0.0);
    }
    assert!(rows > 20.0, "{rows} rows were being written");
}

#[test]
fn a_drive_lost_after_a_cut_shows_the_write_hole_and_ppl_closes_it() {
    let holes = |array: &str| {
        let of = |seed| number(&cut(seed, array, true), &["array", "counters", "write_hole_pages"]);
        (0..24).map(of).sum::<f64>()
    };
    let without = holes("resync-rate = \"1MiB\"\n");
    assert!(without > 5.0, "{without} pages that nobody was writing");
    assert_eq!(holes("consistency = \"ppl\"\nppl-size = \"64KiB\"\n"), 0.0);
}

/// Sections of drives whose operations are suspended or not. They are too small for an SLC cache.
const DRIVES: [&str; 3] = [
    "",
    "[suspend]\nprogram.scheme = \"loop-boundary\"\nerase.scheme = \"loop-boundary\"\n",
    "[suspend]\nprogram.scheme = \"ideal\"\nerase.scheme = \"ideal\"\n",
];

/// Cuts arrays of these seeds, each once: with resync or a log, on drives of each kind. Returns the rows in flight.
fn cuts_of_every_kind(seeds: std::ops::Range<u64>) -> f64 {
    let consistency = ["resync-rate = \"1GiB\"\n", "consistency = \"ppl\"\nppl-size = \"64KiB\"\n"];
    let rows = |seed: u64| {
        let array = format!("{}{}", consistency[(seed % 2) as usize], DRIVES[(seed / 2 % 3) as usize]);
        let r = cut(seed, &array, false);
        assert_eq!(number(&r, &["array", "counters", "write_hole_pages"]), 0.0, "seed {seed}");
        number(&r, &["array", "power_cut", "rows_in_flight"])
    };
    seeds.map(rows).sum()
}

#[test]
fn cuts_with_suspensions_lose_nothing() {
    assert!(cuts_of_every_kind(100..116) > 10.0);
}

/// Arrays of drives that reprogram word lines, of these seeds, each cut once. Returns units reprogrammed, reprograms that
/// capacitors completed, and rows in flight.
fn cuts_of_reprogramming_arrays(seeds: std::ops::Range<u64>) -> [f64; 3] {
    const PART: &str = "[part.reprogram]\nmlc-loops = 9\nmlc-pulse = \"20us\"\nmlc-verify = \"25us\"\nloops = 8\npulse = \"20us\"\n\
                        verify = \"25us\"\nread = \"35us\"\n";
    let consistency = ["resync-rate = \"1GiB\"\n", "consistency = \"ppl\"\nppl-size = \"64KiB\"\n"];
    let mut sums = [0.0; 3];
    for seed in seeds {
        let at = 20_000 + (seed * 7919) % 60_000;
        let text = format!(
            "{PART}[cache]\nsize = \"{}\"\nacknowledge = \"{}\"\n[power-loss]\nat = \"{at}us\"\noff-for = \"500us\"\n\
             checkpoint-every = \"9ms\"\n[array]\nlevel = \"raid5\"\ndrives = 4\nchunk = \"8KiB\"\nstripe-cache = 64\n{}{}{}",
            ["512KiB", "256KiB"][(seed % 2) as usize],
            ["when-cached", "when-programmed"][(seed / 2 % 2) as usize],
            consistency[(seed / 4 % 2) as usize],
            DRIVES[(seed / 8 % 3) as usize],
            LOAD.replace("1500", "9000"),
        );
        let settings = [
            ("ftl.hotness", "update-interval"),
            ("ftl.hot-within", "[\"200ms\"]"),
            ("ftl.reprogram", "true"),
            ("ftl.over-provisioning", "160%"),
        ];
        let r = result_with(&text, Some(seed), &settings)
            .unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
        assert_eq!(number(&r, &["array", "counters", "write_hole_pages"]), 0.0, "seed {seed}");
        assert_eq!(number(&r, &["power_loss", "cut", "torn_reprograms"]), 0.0, "seed {seed}");
        let parts = [
            number(&r, &["counters", "ftl", "reprogrammed_units"]),
            number(&r, &["power_loss", "cut", "completed_reprograms"]),
            number(&r, &["array", "power_cut", "rows_in_flight"]),
        ];
        sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
    }
    sums
}

#[test]
fn cuts_of_arrays_that_reprogram_lose_nothing() {
    let [reprogrammed, completed, rows] = cuts_of_reprogramming_arrays(0..12);
    assert!(reprogrammed > 200.0 && completed > 1.0 && rows > 10.0, "{reprogrammed} {completed} {rows}");
}

#[test]
fn an_older_log_does_not_undo_a_row_that_was_written_again() {
    let [_, _, rows] = cuts_of_reprogramming_arrays(1_317..1_318);
    assert!(rows > 0.0, "{rows}");
}

#[test]
#[ignore = "long: make verify"]
fn half_a_thousand_cuts_of_arrays_that_reprogram_lose_nothing() {
    use std::io::Write;
    let [reprogrammed, completed, rows] = cuts_of_reprogramming_arrays(1_000..1_500);
    assert!(completed > 100.0 && rows > 500.0, "{reprogrammed} {completed} {rows}");
    writeln!(
        std::io::stdout(),
        "cuts: 500 of arrays that reprogram, {completed} reprograms completed by capacitors"
    )
    .expect("standard output is open");
}

#[test]
#[ignore = "long: make verify"]
fn two_thousand_cuts_of_arrays_lose_nothing() {
    use std::io::Write;
    let rows = cuts_of_every_kind(1_000..3_000);
    assert!(rows > 2_000.0, "{rows}");
    writeln!(std::io::stdout(), "cuts: 2000 of arrays, {rows} rows in flight")
        .expect("standard output is open");
}

#[test]
fn ppl_recovers_rows_and_costs_writes() {
    let ppl = "consistency = \"ppl\"\nppl-size = \"64KiB\"\n";
    let mut mended = 0.0;
    for seed in 0..12 {
        let r = cut(seed, ppl, false);
        mended += number(&r, &["array", "power_cut", "rows_mended"]);
        assert!(r["array"].get("resync").is_none(), "there is nothing to synchronise");
        assert!(number(&r, &["array", "counters", "log_writes"]) > 100.0);
    }
    assert!(mended > 20.0, "{mended} rows");
    // At depth one every row has its own log write: a header and a page of partial parity.
    let one = |array: &str| {
        let text = format!(
            "[array]\nlevel = \"raid5\"\ndrives = 4\n{array}[run]\nrequests = 300\n[[flow]]\nread = 0.0\naddress = \"uniform\"\n"
        );
        result(&text, 1).unwrap_or_else(|why| panic!("{why}"))
    };
    let (with, without) = (one(ppl), one(""));
    let parity = number(&with, &["array", "counters", "parity_pages"]);
    assert_eq!(number(&with, &["array", "counters", "log_writes"]), parity);
    assert_eq!(number(&with, &["array", "counters", "log_pages"]), 2.0 * parity);
    assert!(
        number(&with, &["latency_us", "write", "mean"]) > number(&without, &["latency_us", "write", "mean"])
    );
}

#[test]
fn a_drive_lost_with_ppl_loses_no_data() {
    for (seed, at_us) in [(1, 0), (2, 137), (3, 1_003), (4, 3_777), (5, 11_111)] {
        let rebuild = if seed % 2 == 0 { "rebuild-rate = \"32MiB\"\n" } else { "" };
        let text = format!(
            "[array]\nlevel = \"raid5\"\ndrives = 5\nchunk = \"8KiB\"\nstripe-cache = 20\nconsistency = \"ppl\"\nppl-size = \
             \"64KiB\"\nfail-drive = {}\nfail-at = \"{at_us}us\"\n{rebuild}{LOAD}",
            seed % 5
        );
        let run = result(&text, seed);
        assert!(run.is_ok(), "seed {seed}: {}", run.err().unwrap_or_default());
    }
}

/// Uncorrectable pages, fail-fast reads and GC windows, before and after a cut.
#[test]
fn a_cut_with_errors_and_coordination_loses_no_data() {
    let worn = "[precondition]\nfill = \"100%\"\noverwrite = \"uniform\"\ncycles = 1000\n[errors]\ntable = \"tlc-3d\"\ninitial-age = \
                \"50d\"\n[ecc]\ncapability = 80\nmax-retries = 2\n";
    let (mut bad, mut failed_fast, mut rows) = (0.0, 0.0, 0.0);
    for seed in 0..8 {
        let at = 10_000 + seed * 7_919;
        let array = ["resync-rate = \"1MiB\"\n", "consistency = \"ppl\"\nppl-size = \"64KiB\"\n"]
            [(seed % 2) as usize];
        let text = format!(
            "{worn}[cache]\nsize = \"256KiB\"\nacknowledge = \"when-programmed\"\n[power-loss]\nat = \"{at}us\"\noff-for = \
             \"500us\"\n[array]\nlevel = \"raid5\"\ndrives = 4\nchunk = \"16KiB\"\nstripe-cache = 64\nfail-fast = true\n\
             gc-window = \"2ms\"\n{array}{}",
            LOAD.replace("20%", "60%").replace("1500", "4000")
        );
        let r = result(&text, seed).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
        bad += number(&r, &["array", "counters", "media_error_pages"]);
        failed_fast += number(&r, &["array", "counters", "fast_failed_reads"]);
        rows += number(&r, &["array", "power_cut", "rows_in_flight"]);
        assert!(number(&r, &["array", "power_cut", "served_s"]) > at as f64 / 1e6, "seed {seed}");
    }
    assert!(
        bad > 20.0 && failed_fast > 20.0 && rows > 20.0,
        "{bad} bad pages, {failed_fast} reads, {rows} rows"
    );
}

#[test]
fn the_same_seed_gives_the_same_result() {
    let mut runs = [0, 1].map(|_| cut(5, "consistency = \"ppl\"\nppl-size = \"64KiB\"\n", true));
    for r in &mut runs {
        for key in ["wall_s", "cpu_s", "requests_per_cpu_s"] {
            r.as_object_mut().expect("an object").remove(key);
        }
    }
    assert_eq!(runs[0].to_string(), runs[1].to_string());
}

#[test]
fn mistakes_are_reported() {
    let error = |array: &str, rest: &str| {
        let text = format!("[array]\n{array}\n{rest}[run]\nrequests = 10\n[[flow]]\n");
        result(&text, 1).err().unwrap_or_else(|| "no mistake was found".into())
    };
    let cut = "[power-loss]\nat = \"1ms\"\n";
    for (array, rest, expected) in [
        ("level = \"raid1\"\ndrives = 2", cut, "only level = \"raid5\" can lose power"),
        ("level = \"raid6\"\ndrives = 4", cut, "only level = \"raid5\" can lose power"),
        ("level = \"raid10\"\ndrives = 4", cut, "only level = \"raid5\" can lose power"),
        ("level = \"raid6\"\ndrives = 4\nconsistency = \"ppl\"", "", "it belongs to level = \"raid5\""),
        (
            "level = \"raid5\"\ndrives = 4\nfail-after-errors = 9",
            cut,
            "drives that fail by their errors may be lost before",
        ),
        ("level = \"raid0\"\ndrives = 2\nconsistency = \"ppl\"", "", "it belongs to level = \"raid5\""),
        ("level = \"raid5\"\ndrives = 4\nppl-size = \"1MiB\"", "", "it belongs to consistency = \"ppl\""),
        (
            "level = \"raid5\"\ndrives = 4\nresync-rate = \"1MiB\"",
            "",
            "it belongs to consistency = \"resync\"",
        ),
        ("level = \"raid5\"\ndrives = 4\nconsistency = \"journal\"", "", "one of resync, ppl"),
        (
            "level = \"raid5\"\ndrives = 4\nfail-drive = 1",
            cut,
            "an array that has lost a drive cannot lose power",
        ),
        (
            "level = \"raid5\"\ndrives = 4\nscrub-rate = \"1MiB\"",
            cut,
            "an array that loses power is not scrubbed",
        ),
        (
            "level = \"raid5\"\ndrives = 4",
            "[cache]\nprotected = false\n[power-loss]\nat = \"1ms\"\n",
            "the drives of an array keep their caches",
        ),
    ] {
        let message = error(array, rest);
        assert!(message.contains(expected), "{array}: {message}");
    }
}
