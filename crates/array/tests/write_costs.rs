//! Write costs of real runs against the formulas. Every row is written once, so nothing is cached.

use crate::array_common::{count, ran};
use interpulse_oracle::raid::{self, StripeCost};
use serde_json::Value;

const REQUESTS: u64 = 40;

/// Writes of `changed` pages at the beginning of rows of `data` data pages, one at a time and each row once.
fn written(level: &str, data: u32, parities: u32, changed: u32) -> Value {
    ran(&format!(
        "[array]\nlevel = \"{level}\"\ndrives = {}\nchunk = \"4KiB\"\nstripe-cache = 17\n[[flow]]\nrequests = {REQUESTS}\n\
         read = 0.0\ndepth = 1\naddress = \"sequential\"\nalignment = \"{}KiB\"\nblock-size = \"{}KiB\"\n",
        data + parities,
        4 * data,
        4 * changed
    ))
}

/// Checks pages and commands per request against the traffic of the drives.
fn check(r: &Value, cost: StripeCost, parities: u32, what: &str) {
    let drives = r["array"]["per_drive"].as_array().expect("a list");
    let pages = |key: &str| drives.iter().map(|d| d[key].as_u64().expect("bytes")).sum::<u64>() / 4096;
    let reads = REQUESTS * u64::from(cost.reads);
    let writes = REQUESTS * u64::from(cost.writes);
    assert_eq!((pages("read_bytes"), pages("written_bytes")), (reads, writes), "{what}");
    // A row has one page on each drive: nothing is merged.
    assert_eq!((count(r, "drive_reads"), count(r, "drive_writes")), (reads, writes), "{what}");
    assert_eq!(count(r, "preread_pages"), reads, "{what}");
    assert_eq!(count(r, "parity_pages"), REQUESTS * u64::from(parities), "{what}");
    assert_eq!(count(r, "data_pages") + count(r, "parity_pages"), writes, "{what}");
}

fn ways(r: &Value) -> [u64; 3] {
    ["full_stripe_writes", "read_modify_writes", "reconstruct_writes"].map(|name| count(r, name))
}

#[test]
fn raid5_row_writes_cost_what_the_formulas_predict() {
    for data in 2..=8 {
        for changed in 1..=data {
            let r = written("raid5", data, 1, changed);
            let what = format!("{changed} of {data}");
            check(&r, raid::cheapest(data, changed).expect("in the domain"), 1, &what);
            let modify = raid::read_modify_write(data, changed).expect("in the domain").reads;
            let reconstruct = raid::reconstruct_write(data, changed).expect("in the domain").reads;
            let expected = match () {
                () if changed == data => [REQUESTS, 0, 0],
                () if modify < reconstruct => [0, REQUESTS, 0],
                () => [0, 0, REQUESTS],
            };
            assert_eq!(ways(&r), expected, "{what}: md reconstructs on a tie");
        }
    }
}

#[test]
fn raid6_row_writes_cost_what_the_formulas_predict() {
    for data in 2..=8 {
        for changed in 1..=data {
            let r = written("raid6", data, 2, changed);
            let what = format!("{changed} of {data}");
            check(&r, raid::cheapest_with_two(data, changed).expect("in the domain"), 2, &what);
            let expected = match () {
                () if changed == data => [REQUESTS, 0, 0],
                () if changed + 2 < data - changed => [0, REQUESTS, 0],
                () => [0, 0, REQUESTS],
            };
            assert_eq!(ways(&r), expected, "{what}: md reconstructs on a tie");
        }
    }
}
