//! Drive failures by the error limit, with rebuild and scrub.

use crate::array_common::{MIXED, aged, count, ran, result, result_with_seed};
use serde_json::Value;

fn failures(r: &Value) -> Vec<Value> {
    r["array"]["failures"].as_array().cloned().unwrap_or_default()
}

#[test]
fn a_drive_with_too_many_errors_is_taken_out() {
    let array = "[array]\nlevel = \"raid5\"\ndrives = 4\n";
    let rest = format!("{}{MIXED}", aged("24d"));
    let most = 4;
    let r = ran(&format!("{array}fail-after-errors = {most}\n{rest}"));
    let lost = failures(&r);
    assert_eq!(lost.len(), 1, "without a rebuild the others have to stay: {lost:?}");
    assert_eq!(lost[0]["cause"], "errors");
    assert_eq!((&lost[0]["drive"], &lost[0]["at_s"]), (&r["array"]["failed_drive"], &r["array"]["failed_s"]));
    assert!(lost[0]["media_error_pages"].as_u64() >= Some(most) && lost[0]["replaced"] == false);
    assert!(count(&r, "degraded_reads") > 0 && count(&r, "degraded_writes") > 0);
    // With a limit that no drive reaches, and without one, no drive fails and the counters are equal.
    let none = ran(&format!("{array}fail-after-errors = 100000\n{rest}"));
    let plain = ran(&format!("{array}{rest}"));
    assert_eq!(failures(&none).len() + failures(&plain).len(), 0);
    assert_eq!(none["array"]["counters"], plain["array"]["counters"]);
    assert!(count(&none, "media_error_pages") >= most, "the drives had errors enough");
}

#[test]
fn the_error_limit_decides_the_time_of_failure() {
    let at = |most: u32| {
        let array = format!("[array]\nlevel = \"raid5\"\ndrives = 4\nfail-after-errors = {most}\n");
        let r = ran(&format!("{array}{}{MIXED}", aged("30d")));
        let lost = failures(&r);
        (lost[0]["at_s"].as_f64().expect("a time"), lost[0]["media_error_pages"].as_u64().expect("a count"))
    };
    let (first, one) = at(1);
    let (third, three) = at(3);
    assert_eq!((one, three), (1, 3), "pages of parity levels are counted one by one");
    assert!(0.0 < first && first < third, "{first} and {third}");
}

#[test]
fn drives_failed_by_errors_are_rebuilt_under_load() {
    for level in ["raid5\"\ndrives = 4", "raid6\"\ndrives = 5", "raid10\"\ndrives = 4", "raid1\"\ndrives = 2"]
    {
        let array = format!("[array]\nlevel = \"{level}\nfail-after-errors = 5\nrebuild-rate = \"64MiB\"\n");
        let r = ran(&format!("{array}{}{}", aged("24d"), MIXED.replace("6000", "16000")));
        let lost = failures(&r);
        assert!(!lost.is_empty() && lost[0]["replaced"] == true, "{level}");
        assert!(lost.iter().all(|of| of["cause"] == "errors"), "{level}");
        assert!(r["array"]["rebuild"]["started_s"].as_f64() >= lost[0]["at_s"].as_f64(), "{level}");
        assert!(r["array"]["audits"]["rebuilt_pages"].as_u64() > Some(100), "{level}");
    }
}

#[test]
fn drives_full_of_errors_pass_the_content_audit() {
    // Every drive reaches the limit; no more drives are failed than the level tolerates.
    for (seed, level, drives) in [
        (1, "raid5", 4),
        (2, "raid6", 5),
        (3, "raid1", 3),
        (4, "raid10", 4),
        (5, "raid10", 5),
        (6, "raid6", 4),
    ] {
        for rebuild in ["", "rebuild-rate = \"48MiB\"\n"] {
            let array =
                format!("[array]\nlevel = \"{level}\"\ndrives = {drives}\nfail-after-errors = 2\n{rebuild}");
            let text = format!("{array}{}{}", aged("60d"), MIXED);
            let r = result_with_seed(&text, Some(seed)).unwrap_or_else(|why| panic!("{level}: {why}"));
            assert!(!failures(&r).is_empty(), "{level}");
            assert!(r["array"]["audits"]["data_pages"].as_u64() > Some(500), "{level}");
        }
    }
}

#[test]
fn a_bad_replacement_is_failed_too() {
    let mut again = 0;
    for level in ["raid5\"\ndrives = 4", "raid6\"\ndrives = 5", "raid1\"\ndrives = 3", "raid10\"\ndrives = 4"]
    {
        for most in [2, 8] {
            // A weak code fails even on new drives.
            let weak = "[precondition]\nfill = \"100%\"\n[errors]\ntable = \"tlc-3d\"\ninitial-age = \"1h\"\n[ecc]\n\
                        capability = 6\nmax-retries = 0\n";
            let array =
                format!("[array]\nlevel = \"{level}\nfail-after-errors = {most}\nrebuild-rate = \"64MiB\"\n");
            let r = ran(&format!("{array}{weak}{}", MIXED.replace("6000", "12000")));
            let lost: Vec<Value> = failures(&r).iter().map(|of| of["drive"].clone()).collect();
            again += (1..lost.len()).filter(|&k| lost[..k].contains(&lost[k])).count();
            let replaced = failures(&r).iter().filter(|of| of["replaced"] == true).count();
            assert_eq!(replaced, if level.starts_with("raid6") { 2 } else { 1 }, "{level}: {lost:?}");
        }
    }
    assert!(again > 2, "{again}");
}

#[test]
fn a_lost_drive_stops_the_scrub_and_the_rebuild_begins() {
    let r = ran(&format!(
        "[array]\nlevel = \"raid5\"\ndrives = 4\nscrub-rate = \"16MiB\"\nfail-drive = 1\nfail-at = \"5ms\"\n\
         rebuild-rate = \"64MiB\"\n{}",
        MIXED.replace("6000", "20000")
    ));
    let (scrub, rebuild) = (&r["array"]["scrub"], &r["array"]["rebuild"]);
    let done = scrub["progress"].as_f64().expect("a share");
    assert!(0.0 < done && done < 1.0 && scrub.get("finished_s").is_none(), "{scrub}");
    assert!(rebuild["started_s"].as_f64() >= Some(0.005));
    assert_eq!(rebuild["progress"].as_f64(), Some(1.0));
    assert_eq!(count(&r, "scrub_mismatches"), 0);
}

#[test]
fn mistakes_are_reported() {
    let error = |array: &str, rest: &str| {
        result(&format!("[array]\n{array}\n{rest}")).err().unwrap_or_else(|| "no mistake was found".into())
    };
    let plain = "[run]\nrequests = 10\n[[flow]]\n";
    let errors = format!("{}{plain}", aged("1h"));
    for (array, expected) in [
        (
            "level = \"raid5\"\ndrives = 4\nfail-after-errors = 0",
            "array.fail-after-errors: seen 0; expected a whole number",
        ),
        (
            "level = \"raid5\"\ndrives = 4\nfail-drive = 1\nfail-after-errors = 5",
            "array.fail-after-errors: does not apply; it belongs to drives that fail by their errors and not at chosen times",
        ),
        (
            "level = \"raid0\"\ndrives = 4\nfail-after-errors = 5",
            "array.fail-after-errors: does not apply; it belongs to levels with redundancy",
        ),
        (
            "level = \"raid5\"\ndrives = 4\nrebuild-rate = \"1MiB\"",
            "array.rebuild-rate: does not apply; it belongs to fail-drive or fail-after-errors",
        ),
        (
            "level = \"raid5\"\ndrives = 4\nfail-drive = [0, 1]",
            "array.fail-drive: seen [0, 1]; expected drives whose failure the level tolerates",
        ),
        (
            "level = \"raid6\"\ndrives = 5\nfail-drive = [1, 1]",
            "array.fail-drive: seen [1, 1]; expected one drive, or two different ones",
        ),
        (
            "level = \"raid6\"\ndrives = 5\nfail-drive = [1, 5]",
            "array.fail-drive: seen [1, 5]; expected positions from 0 to 4, not 5",
        ),
        (
            "level = \"raid6\"\ndrives = 5\nfail-drive = 1\nfail-at = [\"1ms\", \"2ms\"]",
            "array.fail-at: seen [\"1ms\", \"2ms\"]; expected one time, or one for each drive of fail-drive",
        ),
        (
            "level = \"raid10\"\ndrives = 4\nfail-drive = [2, 3]",
            "array.fail-drive: seen [2, 3]; expected drives whose failure the level tolerates",
        ),
        (
            "level = \"raid10\"\ndrives = 5\nfail-drive = [0, 4]",
            "array.fail-drive: seen [0, 4]; expected drives whose failure the level tolerates",
        ),
        ("level = \"raid6\"\ndrives = 3", "array.drives: seen 3; expected a whole number from 4 to 32"),
        (
            "level = \"raid10\"\ndrives = 4\nstripe-cache = 32",
            "array.stripe-cache: does not apply; it belongs to level = \"raid5\" and \"raid6\"",
        ),
    ] {
        let message = error(array, &errors);
        assert!(message.contains(expected), "{array}: {message}");
    }
    let message = error("level = \"raid5\"\ndrives = 4\nfail-after-errors = 5", plain);
    assert!(message.contains("without bit errors no drive fails by them"), "{message}");
}
