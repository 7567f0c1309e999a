//! Randomised arrays: every level with random values of the other `[array]` keys, under full audit.
//!
//! A failing test prints the random values.

use crate::array_common::{MIXED, result};
use interpulse_array::raid::level::Level;
use interpulse_engine::{Rng, Streams};
use interpulse_settings::Document;
use interpulse_study::config::{drawn, keys};
use std::collections::{BTreeMap, BTreeSet};
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
        // Needs errors.
        "array.fail-after-errors" => &[""],
        // Needs suspension.
        "array.rebuild-suspend" => &["false"],
        _ => return None,
    })
}

/// Random values of `seed` for an array of this level; `None` if the combination is invalid.
fn draw(level: &str, seed: u64) -> Option<BTreeMap<String, String>> {
    let text = format!("drive = \"a4-mini\"\n[array]\nlevel = \"{level}\"\n{MIXED}");
    let mut rng: Rng = Streams::new(seed).stream("test.arrays", 0);
    let (sender, values) = mpsc::channel();
    let case = drawn(&text, move |key| {
        let name = key.path.strip_prefix("array.")?.to_string();
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
            let lines: String = values.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
            let text = format!("{MIXED}[array]\nlevel = \"{}\"\n{lines}", row.name).replace("6000", "2000");
            match result(&text) {
                Ok(result) => {
                    assert_eq!(result["host_requests"], 2000, "{lines}");
                    drawn.extend(values.into_keys());
                    made += 1;
                }
                // Combinations that the drives do not support are rejected before the run.
                Err(why) => assert!(why.contains("x.toml"), "{}, seed {seed}: {why}\n{lines}", row.name),
            }
        }
        assert_eq!(made, ARRAYS, "{}", row.name);
    }
    let unused: Vec<String> = keys()
        .into_iter()
        .filter_map(|key| key.path.strip_prefix("array.").map(str::to_string))
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
