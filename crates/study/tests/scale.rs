//! Is the scale of a drive checked before a run: cache, spare blocks, addresses of the load?

use interpulse_study::case::{check_traces, scale};
use interpulse_study::config::{Case, PlanRequest, read_cases};

/// A drive of `blocks` blocks of 4 MiB on each of two dies.
fn small(blocks: u32, rest: &str) -> Result<Vec<Case>, String> {
    let text = format!(
        "[part]\npreset = \"a4-tlc\"\nblocks-per-plane = {blocks}\n[geometry]\nchannels = 2\nchips-per-channel = 1\n[ftl]\n\
         over-provisioning = \"30%\"\n[run]\nrequests = 1000\n{rest}"
    );
    let request = PlanRequest { text, path: "x.toml".into(), ..PlanRequest::default() };
    read_cases(&request).map_err(|error| error.to_string())
}

const WRITES: &str = "[[flow]]\nread = 0\n";

fn cache(case: &Case) -> String {
    case.drive.cache.size.to_string()
}

fn notes(cases: &[Case]) -> Vec<String> {
    let checked: Vec<_> = cases.iter().map(|case| check_traces(case).unwrap()).collect();
    scale::together(cases.iter().zip(checked.iter().map(|each| each.traces.as_slice())))
}

#[test]
fn a_cache_that_is_not_given_is_in_proportion_and_at_most_256_mib() {
    for (blocks, expected) in
        [(24, "1MiB"), (128, "8MiB"), (160, "8MiB"), (256, "16MiB"), (4096, "256MiB"), (8192, "256MiB")]
    {
        let cases = small(blocks, WRITES).unwrap();
        assert_eq!(cache(&cases[0]), expected, "{blocks} blocks");
        assert!(!notes(&cases).iter().any(|note| note.contains("cache.size")), "{blocks} blocks");
    }
    // Programs of a static stripe over many lanes of small blocks, for two levels, need more than the share.
    let sets = "[\"geometry.channels=64\", \"part.pages-per-block=24\", \"part.layers=4\", \"ftl.over-provisioning=100%\", \
                \"ftl.allocation=cwdp\", \"ftl.hotness=update-interval\", \"ftl.hot-within=['1s']\"]";
    let striped = small(24, &format!("{WRITES}[[case]]\nname = \"striped\"\nset = {sets}\n")).unwrap();
    assert_eq!(cache(&striped[0]), "8MiB");
}

#[test]
fn a_cache_is_noted_above_two_percent_and_refused_above_the_capacity() {
    let set = |size: &str| format!("[cache]\nsize = \"{size}\"\n{WRITES}");
    // 128 blocks a die: 1 GiB of flash, 784 MiB for the host.
    let noted = |size: &str| notes(&small(128, &set(size)).unwrap());
    assert!(noted("8MiB").is_empty(), "{:?}", noted("8MiB"));
    assert_eq!(
        noted("256MiB"),
        [
            "cache.size = 256MiB is 33 % of the drive's 822.08 MB: above 2 % the cache by itself decides write amplification, \
          which a larger drive does not show; in proportion: cache.size = 8MiB"
        ]
    );
    assert!(small(128, &set("2GiB")).unwrap_err().contains(
        "cache.size = 2GiB: a cache of 2GiB is larger than the drive's capacity of 784MiB: leave out cache.size for one in"
    ));
    // It buffers writes only.
    assert!(notes(&small(128, &set("256MiB\"\nacknowledge = \"when-programmed")).unwrap()).is_empty());
    // Nothing is written.
    assert!(notes(&small(128, &set("256MiB").replace("read = 0", "read = 1")).unwrap()).is_empty());
}

#[test]
fn a_size_of_zero_is_a_drive_without_a_cache() {
    let with = |rest: &str| small(128, &format!("[cache]\nsize = \"0B\"\n{rest}{WRITES}"));
    let case = &with("").unwrap()[0];
    assert!(case.drive.cache.is_absent() && case.drive.cache.acknowledge.waits_for_programs());
    assert!(!case.drive.cache.protected);
    assert!(with("acknowledge = \"when-programmed\"\n").is_ok());
    for (rest, expected) in [
        (
            "acknowledge = \"when-cached\"\n",
            "completes a write when it is programmed: leave out cache.acknowledge",
        ),
        ("absorb = true\n", "it belongs to acknowledge = \"when-cached\""),
        (
            "protected = true\n[power-loss]\nat = \"1ms\"\n",
            "it belongs to [power-loss] and a cache.size above 0B",
        ),
        (
            "[power-loss]\nat = \"1ms\"\ncapacitor-voltage = \"12V\"\ncapacitor-lowest = \"5V\"\n",
            "a drive without a write cache has nothing that capacitors could save",
        ),
    ] {
        let why = with(rest).unwrap_err();
        assert!(why.contains(expected), "{why}");
    }
    let why = small(128, &format!("[cache]\nsize = \"4KiB\"\n{WRITES}")).unwrap_err();
    assert!(why.contains("a size from 64KiB to 64GiB, or 0B for a drive without a write cache"), "{why}");
}

#[test]
fn few_spare_blocks_and_small_footprints_are_noted() {
    let low = |blocks| notes(&small(blocks, &WRITES.replace("[[flow]]", "[[flow]]\nname = \"f\"")).unwrap());
    assert!(low(64).is_empty(), "{:?}", low(64));
    assert_eq!(low(32).len(), 1);
    assert!(
        low(32)[0].starts_with(
            "a lane has 32 blocks, 7.4 of them spare; open blocks and the one being emptied take"
        )
    );
    let part = |to: &str| notes(&small(128, &format!("[[flow]]\nread = 0\nto = {to}\n")).unwrap());
    assert!(part("0.5").is_empty(), "{:?}", part("0.5"));
    let of_a_twentieth = part("0.05");
    assert_eq!(of_a_twentieth.len(), 2, "{of_a_twentieth:?}");
    assert!(of_a_twentieth[0].contains("cache.size = 8MiB is 20 % of the 41.10 MB that the load writes to"));
    assert!(of_a_twentieth[1].starts_with("the load addresses 5.0 % of the capacity (41.10 MB)"));
}

#[test]
fn traces_larger_and_much_smaller_than_the_drive_are_noted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    // MSR: time in 100 ns, host, device, operation, offset, size, response time.
    let row = |k: u64, offset: u64| {
        format!("{},h,0,Write,{offset},4096,0\n", 128_166_372_000_000_000 + k * 1_000_000)
    };
    let noted = |step: u64, fit: &str| {
        std::fs::write(&path, (0..1000).map(|k| row(k, k * step)).collect::<String>()).unwrap();
        let flow = format!("[[flow]]\ntrace = {path:?}\nformat = \"msr\"\nfit = \"{fit}\"\n");
        notes(&small(128, &flow).unwrap())
    };
    let beyond = noted(4 << 20, "fold");
    assert!(
        beyond[0].contains(
            "its addresses need 5.1 times the capacity of 822.08 MB, and folding lays addresses over"
        ),
        "{beyond:?}"
    );
    assert!(noted(4 << 20, "scale")[0].contains("scaling lays neighbouring addresses over one another"));
    let little = noted(4096, "error");
    assert!(
        little[0].contains("it touches at most 4.10 MB (0.5 %) of a capacity of 822.08 MB"),
        "{little:?}"
    );
}

#[test]
fn a_note_of_some_cases_names_them() {
    let cases = small(
        128,
        &format!("{WRITES}[[case]]\nname = \"a\"\n[[case]]\nname = \"b\"\nset = [\"cache.size=64MiB\"]\n"),
    );
    let lines = notes(&cases.unwrap());
    assert!(lines.len() == 1 && lines[0].starts_with("case \"b\": cache.size = 64MiB is 8.2 %"), "{lines:?}");
}
