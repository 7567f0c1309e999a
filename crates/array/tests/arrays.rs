//! RAID levels: no lost data, and write costs by md's rules. Miniature drives, every row sampled.

use crate::array_common::{BUSY, MIXED, aged, check_rebuild_rate, count, ran, result, result_with_seed};
use serde_json::Value;

#[test]
fn every_level_returns_written_data() {
    for level in [
        "level = \"raid0\"\ndrives = 3",
        "level = \"raid1\"\ndrives = 2",
        "level = \"raid5\"\ndrives = 5",
        "level = \"raid6\"\ndrives = 6",
        "level = \"raid10\"\ndrives = 4",
        "level = \"raid10\"\ndrives = 5\nchunk = \"8KiB\"",
    ] {
        let r = ran(&format!("[array]\n{level}\n{MIXED}"));
        assert!(r["audits"]["requests_issued_and_completed"].as_u64() >= Some(6000), "{level}");
        assert!(r["audits"]["versions_checked"].as_u64() > Some(1000), "{level}");
        assert!(r["array"]["audits"]["data_pages"].as_u64() > Some(500), "{level}");
    }
}

#[test]
fn single_page_writes_cost_what_the_formulas_predict() {
    // Three data drives: one page of three changes. Both strategies read two pages; md reconstructs on a tie.
    let one = "[run]\nrequests = 400\n[[flow]]\nread = 0.0\naddress = \"uniform\"\n";
    let r = ran(&format!("[array]\nlevel = \"raid5\"\ndrives = 4\nstripe-cache = 17\n{one}"));
    let writes = count(&r, "data_pages");
    assert_eq!(count(&r, "parity_pages"), writes, "nothing is merged at depth 1");
    assert_eq!((count(&r, "reconstruct_writes"), count(&r, "read_modify_writes")), (writes, 0));
    // Rows in the cache need no preread: the last 17 rows.
    let hits = 17.0 / (r["array"]["capacity_bytes"].as_f64().expect("a capacity") / 3.0 / 4096.0);
    let missed = count(&r, "preread_pages") as f64 / 2.0 / writes as f64;
    let deviation = (hits * (1.0 - hits) / writes as f64).sqrt();
    assert!((missed - (1.0 - hits)).abs() < 5.0 * deviation, "{missed} of {hits}");
    let r = ran(&format!("[array]\nlevel = \"raid5\"\ndrives = 6\nstripe-cache = 17\n{one}"));
    let writes = count(&r, "data_pages");
    assert!(count(&r, "read_modify_writes") > 9 * writes / 10, "of five data pages one is modified");
}

#[test]
fn full_stripes_read_nothing() {
    let r = ran(
        "[array]\nlevel = \"raid5\"\ndrives = 4\nchunk = \"16KiB\"\n[run]\nrequests = 200\n[[flow]]\nread = 0.0\n\
         block-size = \"48KiB\"\nalignment = \"48KiB\"\naddress = \"sequential\"\n",
    );
    assert_eq!((count(&r, "preread_pages"), count(&r, "delayed")), (0, 0));
    assert_eq!(count(&r, "data_pages"), 3 * count(&r, "parity_pages"));
    // Each drive gets one command per chunk.
    assert_eq!(count(&r, "drive_writes") * 4, count(&r, "data_pages") + count(&r, "parity_pages"));
    assert_eq!(r["array"]["parity_per_data_page"].as_f64(), Some(1.0 / 3.0));
}

#[test]
fn small_writes_join_rows_that_preread() {
    let flow = |depth| {
        format!("[run]\nrequests = 3000\n[[flow]]\nread = 0.0\ndepth = {depth}\naddress = \"sequential\"\n")
    };
    let array = "[array]\nlevel = \"raid5\"\ndrives = 4\nchunk = \"4KiB\"\n";
    let alone = ran(&format!("{array}{}", flow(1)));
    let many = ran(&format!("{array}{}", flow(64)));
    let share = |r: &Value| r["array"]["parity_per_data_page"].as_f64().expect("there are writes");
    assert_eq!(share(&alone), 1.0);
    assert!(share(&many) < 0.5, "{}", share(&many));
}

#[test]
fn degraded_reads_and_writes_use_the_other_drives() {
    let r =
        ran(&format!("[array]\nlevel = \"raid5\"\ndrives = 4\nfail-drive = 1\nfail-at = \"5ms\"\n{MIXED}"));
    assert_eq!(r["array"]["failed_drive"].as_u64(), Some(1));
    assert_eq!(r["array"]["failed_s"].as_f64(), Some(0.005));
    assert!(count(&r, "degraded_reads") > 100 && count(&r, "degraded_writes") > 100);
    assert!(r["array"].get("rebuild").is_none());
    assert_eq!(r["array"]["audits"]["rebuilt_pages"].as_u64(), Some(0));
}

#[test]
fn a_rebuilt_drive_equals_the_lost_one_under_load() {
    for cache in
        ["stripe-cache = 17", "stripe-cache = 512", "stripe-cache-unit = \"chunk\"\nstripe-cache = 64"]
    {
        let r = ran(&format!(
            "[array]\nlevel = \"raid5\"\ndrives = 4\nfail-drive = 2\nfail-at = \"2ms\"\nrebuild-rate = \"64MiB\"\n{cache}\n{}",
            MIXED.replace("6000", "20000")
        ));
        assert_eq!(r["array"]["rebuild"]["progress"].as_f64(), Some(1.0), "{cache}");
        assert!(r["array"]["audits"]["rebuilt_pages"].as_u64() > Some(400), "{cache}");
        assert!(count(&r, "degraded_reads") > 0, "{cache}");
    }
}

#[test]
fn a_rebuild_respects_its_rate() {
    check_rebuild_rate("level = \"raid5\"\ndrives = 4", 3);
}

#[test]
fn a_scrub_reads_every_row_once_and_finds_nothing() {
    let r = ran(&format!("[array]\nlevel = \"raid5\"\ndrives = 4\nscrub-rate = \"128MiB\"\n{MIXED}"));
    assert_eq!(r["array"]["scrub"]["progress"].as_f64(), Some(1.0));
    let rows = r["array"]["capacity_bytes"].as_u64().expect("a capacity") / 3 / 4096;
    assert_eq!((count(&r, "scrubbed_rows"), count(&r, "scrub_mismatches")), (rows, 0));
}

#[test]
fn a_failure_at_any_time_loses_no_data() {
    for (seed, at_us) in [(1, 0), (2, 137), (3, 1_003), (4, 3_777), (5, 11_111), (6, 23_456), (7, 40_001)] {
        let rebuild = if seed % 2 == 0 { "rebuild-rate = \"32MiB\"\n" } else { "" };
        let drive = seed % 5;
        let array = format!(
            "[array]\nlevel = \"raid5\"\ndrives = 5\nchunk = \"8KiB\"\nstripe-cache = 20\nfail-drive = {drive}\n\
             fail-at = \"{at_us}us\"\n{rebuild}"
        );
        let text = format!("{array}{BUSY}");
        let run = result_with_seed(&text, Some(seed));
        assert!(run.is_ok(), "seed {seed}: {}", run.err().unwrap_or_default());
    }
}

fn uncorrectable(r: &Value, what: &str) -> u64 {
    r["reliability"]["uncorrectable"][what].as_u64().expect("drives with bit errors")
}

#[test]
fn uncorrectable_pages_are_reconstructed() {
    let raid5 = "[array]\nlevel = \"raid5\"\ndrives = 4\n";
    let r = ran(&format!("{raid5}{}{MIXED}", aged("24d")));
    let (bad, repaired) = (count(&r, "media_error_pages"), count(&r, "repaired_pages"));
    assert!(repaired > 5, "{repaired} of {bad}");
    assert_eq!(
        count(&r, "unrecovered_pages") + repaired,
        bad,
        "each is reconstructed or reported as unrecovered"
    );
    assert!(count(&r, "reread_pages") > bad, "a command of several pages fails as a whole");
    let alone = ran(&format!("[array]\nlevel = \"raid0\"\ndrives = 4\n{}{MIXED}", aged("24d")));
    assert_eq!(count(&alone, "repaired_pages"), 0);
    assert_eq!(count(&alone, "unrecovered_pages"), count(&alone, "media_error_pages"));
    let (with, without) = (uncorrectable(&r, "reads"), uncorrectable(&alone, "reads"));
    assert!(without > 10 && with * 5 < without, "{with} of {without} reads fail");
    let fresh = ran(&format!("{raid5}{}{MIXED}", aged("1h")));
    for name in ["reread_pages", "media_error_pages", "repaired_pages", "unrecovered_pages"] {
        assert_eq!(count(&fresh, name), 0, "{name}");
    }
    assert!(fresh["reliability"]["page_reads"].as_u64() > Some(1000), "those of all drives");
}

#[test]
fn an_uncorrectable_page_is_read_from_a_mirror() {
    let r = ran(&format!("[array]\nlevel = \"raid1\"\ndrives = 3\n{}{MIXED}", aged("24d")));
    let (bad, repaired) = (count(&r, "media_error_pages"), count(&r, "repaired_pages"));
    assert!(bad >= repaired && repaired > 5, "{repaired} of {bad}");
    assert!(bad > 5 * count(&r, "unrecovered_pages"), "all three are seldom bad");
    assert_eq!(uncorrectable(&r, "reads") > 0, count(&r, "unrecovered_pages") > 0);
}

#[test]
fn a_scrub_repairs_uncorrectable_pages() {
    let array = "[array]\nlevel = \"raid5\"\ndrives = 4\nstripe-cache = 17\n";
    let rest = format!("{}{}", aged("24d"), MIXED.replace("6000", "12000"));
    let without = ran(&format!("{array}{rest}"));
    let r = ran(&format!("{array}scrub-rate = \"128MiB\"\n{rest}"));
    assert_eq!(r["array"]["scrub"]["progress"].as_f64(), Some(1.0));
    let (with, without) = (count(&r, "repaired_pages"), count(&without, "repaired_pages"));
    assert!(with > without, "{with} and {without}");
    assert_eq!(count(&r, "scrub_mismatches"), 0, "reconstructed pages agree with their parity");
}

#[test]
fn a_rebuild_from_drives_with_errors_ends_and_reports_lost_pages() {
    let mut lost = 0;
    for (seed, age) in [(1, "20d"), (2, "60d"), (3, "365d"), (4, "60d"), (5, "365d"), (6, "30d")] {
        let rebuild = if seed % 3 == 0 { "" } else { "rebuild-rate = \"64MiB\"\n" };
        let (drive, heads) = (seed % 4, 17 + 5 * seed);
        let array = format!(
            "[array]\nlevel = \"raid5\"\ndrives = 4\nfail-drive = {drive}\nfail-at = \"{seed}777us\"\nstripe-cache = {heads}\n\
             {rebuild}"
        );
        let text = format!("{array}{}{}", aged(age), MIXED.replace("6000", "16000"));
        let r = result_with_seed(&text, Some(seed)).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        if !rebuild.is_empty() {
            assert_eq!(r["array"]["rebuild"]["progress"].as_f64(), Some(1.0), "seed {seed}");
        }
        assert!(r["array"]["audits"]["data_pages"].as_u64() > Some(1000), "seed {seed}");
        lost += count(&r, "unrecovered_pages");
    }
    assert!(lost > 100, "a page that is bad while a drive is missing is lost: {lost}");
}

#[test]
fn the_same_seed_gives_the_same_result() {
    let text = format!("[array]\nlevel = \"raid5\"\ndrives = 4\nfail-drive = 3\nfail-at = \"3ms\"\n{MIXED}");
    let mut runs = [ran(&text), ran(&text)];
    for r in &mut runs {
        for key in ["wall_s", "cpu_s", "requests_per_cpu_s"] {
            r.as_object_mut().expect("an object").remove(key);
        }
    }
    assert_eq!(runs[0].to_string(), runs[1].to_string());
}

#[test]
fn energy_and_time_include_all_drives() {
    let power = "[power]\ncontroller = \"1W\"\n";
    let array = "level = \"raid5\"\ndrives = 4\nfail-drive = 0\nfail-at = \"1ms\"\nrebuild-rate = \"1MiB\"\n";
    let r = ran(&format!("[array]\n{array}{power}[run]\nrequests = 500\n[[flow]]\nread = 0.5\n"));
    assert_eq!(
        r["power"]["mean_mw"]["controller"].as_f64(),
        Some(5000.0),
        "the fifth drive takes the place of the lost one"
    );
    let sum: f64 = r["time_share"].as_object().expect("shares").values().filter_map(Value::as_f64).sum();
    assert!((sum - 1.0).abs() < 1e-9);
}

#[test]
fn mistakes_are_reported() {
    let error = |array: &str, rest: &str| {
        result(&format!("[array]\n{array}\n{rest}")).err().unwrap_or_else(|| "no mistake was found".into())
    };
    let plain = "[run]\nrequests = 10\n[[flow]]\n";
    for (array, expected) in [
        ("drives = 4", "array.level: missing key; expected one of raid0, raid1, raid5, raid6, raid10"),
        ("level = \"raid3\"\ndrives = 4", "array.level: seen \"raid3\"; expected one of raid0, raid1, raid5"),
        ("level = \"raid5\"", "array.drives: missing key"),
        ("level = \"raid5\"\ndrives = 2", "array.drives: seen 2; expected a whole number from 3 to 32"),
        (
            "level = \"raid5\"\ndrives = 4\nchunk = \"12KiB\"",
            "array.chunk: seen \"12KiB\"; expected a power of two",
        ),
        (
            "level = \"raid5\"\ndrives = 4\nchunk = \"64MiB\"",
            "array.chunk = 64MiB: a chunk is larger than a drive",
        ),
        (
            "level = \"raid5\"\ndrives = 4\nstripe-cache = 16",
            "array.stripe-cache: seen 16; expected a whole number from 17",
        ),
        (
            "level = \"raid5\"\ndrives = 4\nfail-drive = 4",
            "array.fail-drive: seen 4; expected positions from 0 to 3, not 4",
        ),
        (
            "level = \"raid5\"\ndrives = 4\nfail-at = \"1s\"",
            "array.fail-at: does not apply; it belongs to fail-drive",
        ),
        (
            "level = \"raid0\"\ndrives = 4\nfail-drive = 1",
            "array.fail-drive: does not apply; it belongs to levels with redundancy, and raid0 has none",
        ),
        (
            "level = \"raid1\"\ndrives = 2\nchunk = \"4KiB\"",
            "array.chunk: does not apply; it belongs to levels that stripe, and raid1 mirrors",
        ),
        ("level = \"raid5\"\ndrives = 4\nspares = 1", "array.spares: unknown key"),
    ] {
        let message = error(array, plain);
        assert!(message.contains(expected), "{array}: {message}");
    }
    let raid5 = "level = \"raid5\"\ndrives = 4";
    let message = error(raid5, "[run]\nrequests = 10\n[[flow]]\nread = 0.5\ntrim = 0.1\n");
    assert!(message.contains("flow `flow0` trims, and an array does not support trims"), "{message}");
    let message = error(raid5, &format!("[power]\ntrace = true\n{plain}"));
    assert!(message.contains("the current of an array is not traced"), "{message}");
    let message = error(raid5, &format!("[power]\nbudget = \"100W\"\n{plain}"));
    assert!(message.contains("the drives of an array have no power budget"), "{message}");
    let message = error(raid5, &format!("[host]\nqueue-weights = [1, 1]\n{plain}"));
    assert!(message.contains("an array submits to one queue pair of each drive"), "{message}");
}
