//! Mirrored levels, RAID-1 and RAID-10: copies, drive failures, rebuild and scrub.

use crate::array_common::{BUSY, MIXED, aged, check_rebuild_rate, count, ran, result_with_seed};
use serde_json::Value;

const LEVELS: [&str; 5] = [
    "level = \"raid1\"\ndrives = 2",
    "level = \"raid1\"\ndrives = 3",
    "level = \"raid10\"\ndrives = 4",
    "level = \"raid10\"\ndrives = 5\nchunk = \"8KiB\"",
    "level = \"raid10\"\ndrives = 3\nchunk = \"4KiB\"",
];

fn written(r: &Value, drive: usize) -> u64 {
    r["array"]["per_drive"][drive]["written_bytes"].as_u64().expect("a count")
}

fn read(r: &Value, drive: usize) -> u64 {
    r["array"]["per_drive"][drive]["read_bytes"].as_u64().expect("a count")
}

#[test]
fn a_write_costs_one_write_for_each_copy_and_no_read() {
    for level in LEVELS {
        let r =
            ran(&format!("[array]\n{level}\n[[flow]]\nrequests = 500\nread = 0.0\nblock-size = \"4KiB\"\n"));
        let copies =
            if level.contains("raid10") { 2 } else { r["array"]["drives"].as_u64().expect("a count") };
        assert_eq!((count(&r, "drive_writes"), count(&r, "drive_reads")), (500 * copies, 0), "{level}");
        let r =
            ran(&format!("[array]\n{level}\n[[flow]]\nrequests = 500\nread = 1.0\nblock-size = \"4KiB\"\n"));
        assert_eq!((count(&r, "drive_writes"), count(&r, "drive_reads")), (0, 500), "{level}");
    }
}

#[test]
fn raid10_capacity_is_half_of_raid0() {
    for (drives, of_drives) in [(2.0, "2"), (3.0, "3"), (4.0, "4"), (7.0, "7")] {
        let capacity = |level: &str, drives: &str| {
            let array = format!("[array]\nlevel = \"{level}\"\ndrives = {drives}\nchunk = \"4KiB\"\n");
            let r = ran(&format!("{array}[run]\nrequests = 1\n[[flow]]\n"));
            r["array"]["capacity_bytes"].as_f64().expect("a capacity")
        };
        let all = capacity("raid0", of_drives) / 4096.0;
        assert_eq!(capacity("raid10", of_drives) / 4096.0, (all / 2.0).floor(), "{drives} drives");
    }
}

#[test]
fn a_degraded_mirror_serves_all_requests() {
    for level in LEVELS {
        let r = ran(&format!("[array]\n{level}\nfail-drive = 1\nfail-at = \"2ms\"\n{MIXED}"));
        assert_eq!(r["array"]["failures"][0]["cause"], "chosen", "{level}");
        assert_eq!(r["array"]["failed_drive"].as_u64(), Some(1), "{level}");
        assert!(r["array"].get("rebuild").is_none(), "{level}");
        assert!(written(&r, 1) * 3 < written(&r, 0), "{level}: it gets no more writes");
        assert!(r["array"]["audits"]["data_pages"].as_u64() > Some(500), "{level}");
    }
}

#[test]
fn a_rebuilt_mirror_equals_the_lost_one_under_load() {
    for level in LEVELS {
        for (drive, at) in [(0, "0ms"), (1, "7ms")] {
            let r = ran(&format!(
                "[array]\n{level}\nfail-drive = {drive}\nfail-at = \"{at}\"\nrebuild-rate = \"64MiB\"\n{}",
                MIXED.replace("6000", "12000")
            ));
            assert_eq!(r["array"]["rebuild"]["progress"].as_f64(), Some(1.0), "{level}");
            assert!(r["array"]["audits"]["rebuilt_pages"].as_u64() > Some(300), "{level}");
            let new = r["array"]["drives"].as_u64().expect("a count") as usize;
            assert!(written(&r, new) > 0 && read(&r, new) > 0, "{level}: it is written, and then read");
            assert!(count(&r, "held_writes") > 0, "{level}: writes waited for the rebuild");
        }
    }
}

#[test]
fn two_lost_drives_are_rebuilt_together() {
    for (level, lost) in [
        ("level = \"raid1\"\ndrives = 3", "[0, 2]"),
        ("level = \"raid10\"\ndrives = 4", "[1, 2]"),
        ("level = \"raid10\"\ndrives = 5\nchunk = \"4KiB\"", "[4, 1]"),
    ] {
        for at in ["\"1ms\"", "[\"1ms\", \"4ms\"]", "[\"9ms\", \"1ms\"]"] {
            let r = ran(&format!(
                "[array]\n{level}\nfail-drive = {lost}\nfail-at = {at}\nrebuild-rate = \"64MiB\"\n{}",
                MIXED.replace("6000", "16000")
            ));
            assert_eq!(r["array"]["failures"].as_array().map(Vec::len), Some(2), "{level} {at}");
            assert_eq!(r["array"]["rebuild"]["progress"].as_f64(), Some(1.0), "{level} {at}");
            assert!(r["array"]["audits"]["rebuilt_pages"].as_u64() > Some(600), "{level} {at}");
        }
    }
}

#[test]
fn a_failure_while_a_resync_waits_for_writes_does_not_block_it() {
    // A resync must not wait for writes to a failed drive, and reads its rows from another one.
    for (seed, first_us, second_us) in (0..12).map(|k| (k, 5_000 + 100 * k, 9_000 + 370 * k)) {
        let text = format!(
            "[array]\nlevel = \"raid1\"\ndrives = 4\nfail-drive = [1, {}]\nfail-at = [\"{first_us}us\", \"{second_us}us\"]\n\
             rebuild-rate = \"200MiB\"\n{}",
            2 * (seed % 2),
            MIXED.replace("40%", "10%").replace("6000", "3000").replace("depth = 12", "depth = 30")
        );
        let run = result_with_seed(&text, Some(seed));
        assert!(run.is_ok(), "seed {seed}: {}", run.err().unwrap_or_default());
    }
}

#[test]
fn a_mirror_rebuild_respects_its_rate() {
    check_rebuild_rate("level = \"raid1\"\ndrives = 2", 1);
}

#[test]
fn a_mirror_failure_at_any_time_loses_no_data() {
    for (seed, at_us) in [(1u64, 0), (2, 137), (3, 1_003), (4, 3_777), (5, 11_111), (6, 23_456), (7, 40_001)]
    {
        let rebuild = if seed % 3 == 0 { "" } else { "rebuild-rate = \"32MiB\"\n" };
        let level = LEVELS[seed as usize % LEVELS.len()];
        let array =
            format!("[array]\n{level}\nfail-drive = {}\nfail-at = \"{at_us}us\"\n{rebuild}", seed % 2);
        let run = result_with_seed(&format!("{array}{BUSY}"), Some(seed));
        assert!(run.is_ok(), "seed {seed}: {}", run.err().unwrap_or_default());
    }
}

#[test]
fn a_scrub_of_copies_reads_each_once_and_finds_nothing() {
    for level in LEVELS {
        let r = ran(&format!("[array]\n{level}\nscrub-rate = \"128MiB\"\n{MIXED}"));
        let scrub = &r["array"]["scrub"];
        assert_eq!(scrub["progress"].as_f64(), Some(1.0), "{level}");
        assert_eq!(count(&r, "scrub_mismatches"), 0, "{level}");
        let idle = ran(&format!(
            "[array]\n{level}\nscrub-rate = \"128MiB\"\n[[flow]]\nrequests = 3000\nread = 1.0\nblock-size = \"4KiB\"\n"
        ));
        let copies =
            if level.contains("raid10") { 2 } else { r["array"]["drives"].as_u64().expect("a count") };
        let pages = idle["array"]["capacity_bytes"].as_u64().expect("a capacity") / 4096;
        let drives = idle["array"]["drives"].as_u64().expect("a count") as usize;
        let all: u64 = (0..drives).map(|d| read(&idle, d) / 4096).sum();
        assert_eq!((all, count(&idle, "drive_writes")), (pages * copies + 3000, 0), "{level}");
    }
}

#[test]
fn uncorrectable_pages_of_a_mirror_are_written_back() {
    for level in [LEVELS[1], LEVELS[3]] {
        let rest = format!("{}{}", aged("24d"), MIXED.replace("6000", "12000"));
        let r = ran(&format!("[array]\n{level}\n{rest}"));
        let (bad, repaired) = (count(&r, "media_error_pages"), count(&r, "repaired_pages"));
        assert!(repaired > 5 && repaired <= bad, "{level}: {repaired} of {bad}");
        assert!(count(&r, "unrecovered_pages") < bad, "{level}");
        let scrubbed = ran(&format!("[array]\n{level}\nscrub-rate = \"128MiB\"\n{rest}"));
        assert!(count(&scrubbed, "repaired_pages") > repaired, "{level}: a scrub finds more");
        assert_eq!(count(&scrubbed, "scrub_mismatches"), 0, "{level}");
    }
}

#[test]
fn a_rebuild_from_mirrors_with_errors_ends() {
    for level in LEVELS {
        let array =
            format!("[array]\n{level}\nfail-drive = 1\nfail-at = \"1ms\"\nrebuild-rate = \"64MiB\"\n");
        let r = ran(&format!("{array}{}{}", aged("60d"), MIXED.replace("6000", "16000")));
        assert_eq!(r["array"]["rebuild"]["progress"].as_f64(), Some(1.0), "{level}");
        // Single-page rows are not reread: their read was not merged.
        assert_eq!(count(&r, "reread_pages") > 0, !level.contains("4KiB"), "{level}");
        assert!(count(&r, "media_error_pages") > 10 && count(&r, "unrecovered_pages") > 0, "{level}");
        assert!(count(&r, "unrecovered_pages") < count(&r, "media_error_pages"), "{level}");
    }
}
