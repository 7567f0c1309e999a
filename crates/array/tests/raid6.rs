//! RAID-6: two drive failures and the second parity.

use crate::array_common::{BUSY, MIXED, aged, count, ran, result_with_seed};

#[test]
fn full_stripes_read_nothing() {
    let r = ran(
        "[array]\nlevel = \"raid6\"\ndrives = 5\nchunk = \"16KiB\"\n[run]\nrequests = 200\n[[flow]]\nread = 0.0\n\
         block-size = \"48KiB\"\nalignment = \"48KiB\"\naddress = \"sequential\"\n",
    );
    assert_eq!((count(&r, "preread_pages"), count(&r, "delayed")), (0, 0));
    assert_eq!(2 * count(&r, "data_pages"), 3 * count(&r, "parity_pages"));
    assert_eq!(count(&r, "full_stripe_writes") * 2, count(&r, "parity_pages"));
}

#[test]
fn one_or_two_lost_drives_are_read_and_written_by_the_others() {
    for lost in ["0", "3", "[1, 2]", "[0, 4]"] {
        let r = ran(&format!(
            "[array]\nlevel = \"raid6\"\ndrives = 5\nfail-drive = {lost}\nfail-at = \"3ms\"\n{MIXED}"
        ));
        assert!(count(&r, "degraded_reads") > 100 && count(&r, "degraded_writes") > 100, "{lost}");
        assert!(r["array"].get("rebuild").is_none());
        assert!(r["array"]["audits"]["data_pages"].as_u64() > Some(500), "{lost}");
        assert!(r["array"]["audits"]["parity_pages"].as_u64() > Some(300), "{lost}");
    }
}

#[test]
fn rebuilt_drives_equal_the_lost_ones_under_load() {
    for (at, cache) in [
        ("\"2ms\"", "stripe-cache = 17"),
        ("[\"1ms\", \"5ms\"]", "stripe-cache = 64"),
        ("[\"9ms\", \"1ms\"]", "stripe-cache = 512"),
        ("[\"0ms\", \"300ms\"]", "stripe-cache = 256"),
    ] {
        let r = ran(&format!(
            "[array]\nlevel = \"raid6\"\ndrives = 5\nfail-drive = [2, 3]\nfail-at = {at}\nrebuild-rate = \"64MiB\"\n{cache}\n{}",
            MIXED.replace("6000", "20000")
        ));
        assert_eq!(r["array"]["failures"].as_array().map(Vec::len), Some(2), "{at}");
        assert_eq!(r["array"]["rebuild"]["progress"].as_f64(), Some(1.0), "{at}");
        assert!(r["array"]["audits"]["rebuilt_pages"].as_u64() > Some(800), "{at}");
        assert_eq!(r["array"]["per_drive"].as_array().map(Vec::len), Some(7), "{at}");
    }
}

#[test]
fn failures_at_any_time_lose_no_data() {
    for (seed, first_us, second_us) in [
        (1u64, 0, 0),
        (2, 137, 140),
        (3, 1_003, 1_500),
        (4, 3_777, 9_000),
        (5, 11_111, 20_000),
        (6, 23_456, 23_457),
    ] {
        let rebuild = if seed % 2 == 0 { "rebuild-rate = \"32MiB\"\n" } else { "" };
        let array = format!(
            "[array]\nlevel = \"raid6\"\ndrives = 6\nchunk = \"8KiB\"\nstripe-cache = 20\nfail-drive = [{}, {}]\n\
             fail-at = [\"{first_us}us\", \"{second_us}us\"]\n{rebuild}",
            seed % 6,
            (seed + seed % 3 + 1) % 6
        );
        let run = result_with_seed(&format!("{array}{BUSY}"), Some(seed));
        assert!(run.is_ok(), "seed {seed}: {}", run.err().unwrap_or_default());
    }
}

#[test]
fn a_scrub_reads_both_parities_and_finds_nothing() {
    let r = ran(&format!("[array]\nlevel = \"raid6\"\ndrives = 5\nscrub-rate = \"128MiB\"\n{MIXED}"));
    assert_eq!(r["array"]["scrub"]["progress"].as_f64(), Some(1.0));
    let rows = r["array"]["capacity_bytes"].as_u64().expect("a capacity") / 3 / 4096;
    assert_eq!((count(&r, "scrubbed_rows"), count(&r, "scrub_mismatches")), (rows, 0));
}

#[test]
fn two_bad_pages_of_a_row_are_reconstructed() {
    let rest = format!("{}{}", aged("30d"), MIXED.replace("6000", "12000"));
    let five = ran(&format!("[array]\nlevel = \"raid5\"\ndrives = 5\n{rest}"));
    let six = ran(&format!("[array]\nlevel = \"raid6\"\ndrives = 5\n{rest}"));
    let share = |r| count(r, "unrecovered_pages") as f64 / count(r, "media_error_pages") as f64;
    assert!(share(&six) * 2.0 < share(&five), "{} and {}", share(&six), share(&five));
    // Each is reconstructed or unrecovered; two concurrent reads of the same page count the error twice.
    for r in [&five, &six] {
        let settled = count(r, "repaired_pages") + count(r, "unrecovered_pages");
        let errors = count(r, "media_error_pages");
        assert!(settled <= errors && settled * 20 > errors * 19, "{settled} of {errors}");
    }
}

#[test]
fn a_rebuild_from_drives_with_errors_loses_less_than_with_one_parity() {
    let lost = |level: &str| {
        let array = format!(
            "[array]\nlevel = \"{level}\"\ndrives = 5\nfail-drive = 1\nfail-at = \"1ms\"\nrebuild-rate = \"64MiB\"\n"
        );
        let r = ran(&format!("{array}{}{}", aged("24d"), MIXED.replace("6000", "16000")));
        assert_eq!(r["array"]["rebuild"]["progress"].as_f64(), Some(1.0), "{level}");
        count(&r, "unrecovered_pages")
    };
    let (six, five) = (lost("raid6"), lost("raid5"));
    assert!(six * 4 < five, "{six} and {five}");
}
