//! *Is anything lost in thousands of random worlds?* The worlds of the normal suite with other seeds, full audits included. Part of
//! `make verify`; `INTERPULSE_WORLDS` sets the share of the worlds to run, in percent.

use crate::{
    conventional_zones, power_loss, randomised_drives, randomised_log_blocks, randomised_namespaces,
    randomised_zones, zone_failures, zone_power_loss,
};
use std::io::Write;

/// Seeds that no world of the normal suite has.
const FIRST: u64 = 10_000_000;

/// `count`, or the share of it that the environment sets.
fn share(count: u64) -> u64 {
    let percent = std::env::var("INTERPULSE_WORLDS").map_or(100, |text| text.parse().expect("a percentage"));
    (count * percent).div_ceil(100)
}

/// Reports the worlds that have run, for the record of `make verify`: past the capture of what tests print.
fn report(kind: &str, count: u64) {
    writeln!(std::io::stdout(), "worlds: {count} {kind}").expect("standard output is open");
}

// Two tests, so that two cores share them.

#[test]
#[ignore = "long: make verify"]
fn many_drives() {
    let count = share(700);
    randomised_drives::worlds(FIRST, count as usize);
    report("page-mapped drives", count);
}

#[test]
#[ignore = "long: make verify"]
fn many_other_drives() {
    let count = share(700);
    randomised_drives::worlds(2 * FIRST, count as usize);
    report("other page-mapped drives", count);
}

#[test]
#[ignore = "long: make verify"]
fn many_drives_with_namespaces() {
    let count = share(200);
    randomised_namespaces::worlds(FIRST, count as u32);
    report("drives with namespaces", count);
}

#[test]
#[ignore = "long: make verify"]
fn many_zoned_drives() {
    let count = share(300);
    randomised_zones::worlds(FIRST, count as u32);
    report("zoned drives", count);
}

#[test]
#[ignore = "long: make verify"]
fn many_power_cuts() {
    let count = share(1_000);
    power_loss::worlds(FIRST, count);
    report("page-mapped drives with eight power cuts each", count);
}

#[test]
#[ignore = "long: make verify"]
fn many_drives_with_log_blocks() {
    let count = share(300);
    randomised_log_blocks::worlds(FIRST, count as u32);
    report("drives with log blocks", count);
}

#[test]
#[ignore = "long: make verify"]
fn many_power_cuts_of_zones() {
    let count = share(400);
    zone_power_loss::worlds(FIRST, count);
    report("zoned drives with power cuts", count);
}

#[test]
#[ignore = "long: make verify"]
fn many_conventional_zones() {
    let count = share(150);
    conventional_zones::worlds(FIRST, count as usize);
    report("drives with conventional zones", count);
}

#[test]
#[ignore = "long: make verify"]
fn many_failing_zones() {
    let count = share(150);
    zone_failures::worlds(FIRST, count as usize);
    report("zoned drives with failing blocks", count);
}
