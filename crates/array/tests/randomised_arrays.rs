//! Randomised arrays: every level with random values of the other `[array]` keys and of hedged reads, under full audit.
//!
//! A failing test prints the random values.

use crate::array_common::{MIXED, result, result_with};
use interpulse_array::raid::level::Level;
use interpulse_engine::{Rng, Streams};
use interpulse_settings::Document;
use interpulse_study::config::{drawn, keys};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::sync::mpsc;

/// Arrays of each level.
const ARRAYS: usize = 6;
/// Seeds tried; most random configurations are valid.
const SEEDS: u64 = 200;

/// Restricted values (TOML) for small drives and runs of some hundred ms; an empty text omits the key. Other keys take any
/// legal value.
fn narrowed(key: &str) -> Option<&'static [&'static str]> {
    Some(match key {
        "array.drives" => &["2", "3", "4", "5", "6"],
        // Powers of two, multiples of 4 KiB.
        "array.chunk" => &["'4KiB'", "'16KiB'", "'64KiB'"],
        "array.ppl-size" => &["'64KiB'", "'128KiB'"],
        "array.fail-drive" => &["", "0", "1", "[1, 0]", "[0, 2]"],
        "array.fail-at" => &["'5ms'", "'20ms'", "'90ms'"],
        // Times at which some reads are under way.
        _ if key.ends_with(".hedge-after") => &["", "'60us'", "'200us'", "'1ms'"],
        // Needs errors.
        "array.fail-after-errors" => &[""],
        // Needs suspension.
        "array.rebuild-suspend" => &["false"],
        _ => return None,
    })
}

/// Name of a key without its section, if it is of an array or of hedged reads.
fn name_of(path: &str) -> Option<&str> {
    let of_flow = path.strip_prefix("flow.").and_then(|rest| rest.split_once('.')).map(|(_, name)| name);
    path.strip_prefix("array.").or(of_flow.filter(|name| name.starts_with("hedge-")))
}

/// Random values of `seed` for an array of this level; `None` if the combination is invalid.
fn draw(level: &str, seed: u64) -> Option<BTreeMap<String, String>> {
    let text = format!("drive = \"a4-mini\"\n[array]\nlevel = \"{level}\"\n{MIXED}");
    let mut rng: Rng = Streams::new(seed).stream("test.arrays", 0);
    let (sender, values) = mpsc::channel();
    let case = drawn(&text, move |key| {
        let name = name_of(&key.path)?.to_string();
        let value = match narrowed(&key.path) {
            Some(of) => {
                let value = of[rng.below(of.len() as u64) as usize];
                (!value.is_empty()).then(|| value.to_string())
            }
            None => key.random_value(&mut rng),
        }?;
        sender.send((name, value.clone())).unwrap();
        Some(value)
    });
    case.ok().map(|_| values.try_iter().collect())
}

#[test]
fn random_arrays_lose_no_data() {
    let mut drawn = BTreeSet::new();
    for row in Level::ROWS {
        let mut made = 0;
        for seed in 0..SEEDS {
            let Some(values) = draw(row.name, seed).filter(|_| made < ARRAYS) else { continue };
            let lines = |hedges| -> String {
                let of = values.iter().filter(|(key, _)| key.starts_with("hedge-") == hedges);
                of.map(|(key, value)| format!("{key} = {value}\n")).collect()
            };
            let (flow, lines) = (lines(true), lines(false));
            let text =
                format!("{MIXED}{flow}[array]\nlevel = \"{}\"\n{lines}", row.name).replace("6000", "2000");
            match result(&text) {
                Ok(result) => {
                    // One event may complete several.
                    let done = result["host_requests"].as_u64().expect("a count");
                    assert!((2000..2012).contains(&done), "{done}\n{flow}{lines}");
                    drawn.extend(values.into_keys());
                    made += 1;
                }
                // Combinations that the drives do not support are rejected before the run.
                Err(why) => {
                    assert!(why.contains("x.toml"), "{}, seed {seed}: {why}\n{flow}{lines}", row.name)
                }
            }
        }
        assert_eq!(made, ARRAYS, "{}", row.name);
    }
    let unused: Vec<String> = keys()
        .into_iter()
        .filter_map(|key| name_of(&key.path).map(str::to_string))
        .filter(|key| !drawn.contains(key))
        .collect();
    // All levels are tested; other suites cover power loss and the omitted keys.
    let elsewhere = [
        "level",
        "resync-rate",
        "fail-after-errors",
        "rebuild-suspend.max-suspends",
        "rebuild-suspend.min-interval",
    ];
    assert!(unused.iter().all(|key| elsewhere.contains(&key.as_str())), "never drawn: {unused:?}");
}

/// Features of drives, each with the settings that it takes.
const FEATURES: [(&str, &[(&str, &str)]); 10] = [
    (
        "static SLC cache",
        &[("ftl.slc-cache.kind", "static"), SLC_SIZE, SLC[0], SLC[1], SLC[2], SLC[3], SLC[4]],
    ),
    (
        "dynamic SLC cache",
        &[("ftl.slc-cache.kind", "dynamic"), SLC_SIZE, SLC[0], SLC[1], SLC[2], SLC[3], SLC[4]],
    ),
    (
        "mapping cache",
        &[("ftl.mapping", "cached"), ("ftl.map-cache-size", "8KiB"), ("ftl.map-write-batch", "2")],
    ),
    ("copyback", &[("ftl.copyback", "true"), ("ftl.copyback-limit", "2")]),
    ("independent plane reads", &[("part.planes", "2"), ("part.independent-plane-reads", "true")]),
    ("suspension", &[("suspend.program.scheme", "loop-boundary"), ("suspend.erase.scheme", "deferred")]),
    (
        "bit errors",
        &[("errors.table", "tlc-3d"), ("errors.initial-age", "90d"), ("precondition.cycles", "1000")],
    ),
    ("read cache", &[("read-cache.size", "256KiB")]),
    ("a power cut", &[("power-loss.at", "30ms"), ("power-loss.checkpoint-every", "10ms")]),
    ("stalls of dies", &[("faults.die-stall-every", "20ms"), ("faults.die-stall", "2ms")]),
];
/// Hedged reads, of levels with redundancy.
const HEDGED: (&str, &[(&str, &str)]) = ("hedged reads", &[("flow.0.hedge-after", "300us")]);
/// Windows of the drives, beside features that do not exclude them.
const WINDOWS: (&str, &[(&str, &str)]) = (
    "predictable latency",
    &[("predictable-latency.dtwin-time", "3ms"), ("predictable-latency.ndwin-time", "1ms")],
);
const SLC_SIZE: (&str, &str) = ("ftl.slc-cache.size", "192KiB");
const SLC: [(&str, &str); 5] = [
    ("part.slc-mode.loops", "2"),
    ("part.slc-mode.pulse", "20us"),
    ("part.slc-mode.verify", "30us"),
    ("part.slc-mode.read", "20us"),
    ("part.slc-mode.endurance", "30000"),
];

/// Draws and runs arrays of each level, some of which lose a drive, on drives with a third of the features, until `each` have run on every
/// level, with full audits. Features that do not go together are refused before the run. Returns how often each feature ran.
pub(crate) fn arrays_of_drives_with_features(first: u64, each: usize) -> BTreeMap<&'static str, usize> {
    let mut with = BTreeMap::new();
    for (k, row) in (0..).zip(Level::ROWS) {
        let mut made = 0;
        let first = first + 10_000 * k;
        for seed in first..first + 100 * each as u64 {
            if made == each {
                break;
            }
            let mut rng: Rng = Streams::new(seed).stream("test.features", 0);
            let mut features: Vec<_> = FEATURES.iter().filter(|_| rng.below(3) == 0).collect();
            // A stream of their own, so that the other features stay what they were.
            let mut of_reads: Rng = Streams::new(seed).stream("test.reads", 0);
            if row.name != "raid0" && of_reads.below(3) == 0 {
                features.push(&HEDGED);
            }
            let excludes = |of: &&(&str, _)| ["mapping cache", "a power cut"].contains(&of.0);
            if !features.iter().any(excludes) && of_reads.below(3) == 0 {
                features.push(&WINDOWS);
            }
            let settings: Vec<_> = features.iter().flat_map(|of| of.1).copied().collect();
            let fails = if rng.below(2) == 0 { "fail-drive = 1\nfail-at = '20ms'\n" } else { "" };
            let names: Vec<_> = features.iter().map(|of| of.0).collect();
            let text = format!(
                "[cache]\nsize = \"1MiB\"\n{MIXED}[precondition]\nfill = \"80%\"\n[array]\nlevel = \"{}\"\ndrives = 4\n{fails}",
                row.name
            )
            .replace("6000", "1500");
            match result_with(&text, Some(seed), &settings) {
                Ok(result) => {
                    // One event may complete several.
                    let done = result["host_requests"].as_u64().expect("a count");
                    assert!((1500..1512).contains(&done), "{}, seed {seed}: {done}, {names:?}", row.name);
                    names.into_iter().for_each(|name| *with.entry(name).or_default() += 1);
                    made += 1;
                }
                Err(why) => {
                    let refused = why.contains("x.toml") || why.contains("--set");
                    assert!(refused, "{}, seed {seed}: {why}\n{names:?}", row.name);
                }
            }
        }
        assert_eq!(made, each, "{}", row.name);
    }
    with
}

#[test]
fn random_arrays_of_drives_with_features_lose_no_data() {
    let with = arrays_of_drives_with_features(0, 16);
    assert!(FEATURES.iter().chain([&HEDGED, &WINDOWS]).all(|of| with.contains_key(of.0)), "{with:?}");
}

/// Part of `make verify`.
#[test]
#[ignore = "long: make verify"]
fn many_arrays_of_drives_with_features_lose_no_data() {
    const EACH: usize = 60;
    arrays_of_drives_with_features(1_000_000, EACH);
    // Past the capture of what tests print, for the record.
    let worlds = EACH * Level::ROWS.len();
    writeln!(std::io::stdout(), "worlds: {worlds} arrays of drives with features")
        .expect("standard output is open");
}

#[test]
fn every_level_has_a_file_and_is_selected_by_name() {
    for (name, level, doc) in Level::all() {
        assert_eq!(level.name(), name);
        assert!(!doc.is_empty());
        let file = format!("src/raid/level/{name}.rs");
        assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(&file).is_file(), "{file}");
        let chosen = Document::set("level", name).unwrap();
        assert_eq!(chosen.top().policy("level", "", None, Level::ROWS).unwrap(), level);
    }
}
