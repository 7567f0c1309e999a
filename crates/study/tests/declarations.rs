//! Key declarations: readers use only declared keys, and the state hash covers what preconditioning reads.

use interpulse_drive::FtlState;
use interpulse_engine::Streams;
use interpulse_settings::{Key, Need};
use interpulse_study::config::{Case, PlanRequest, drawn, keys, read_cases};
use interpulse_study::initial_state::precondition::precondition;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc;

/// Declared path of a key: `flow.3.depth` is `flow.N.depth`.
fn declared_path(path: &str) -> String {
    let parts = path.split('.').map(|part| if part.parse::<u32>().is_ok() { "N" } else { part });
    parts.collect::<Vec<_>>().join(".")
}

/// Keys that a case has read.
fn read(case: &Case) -> impl Iterator<Item = String> {
    case.resolution.entries().iter().map(|entry| declared_path(&entry.path))
}

fn configurations(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.extension().and_then(|e| e.to_str()) {
            _ if path.is_dir() => configurations(&path, found),
            Some("toml") => found.push(path),
            _ => {}
        }
    }
}

#[test]
fn whatever_a_configuration_of_this_repository_reads_is_declared() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    ["examples", "experiments"].iter().for_each(|folder| configurations(&root.join(folder), &mut files));
    let declared: BTreeSet<String> = keys().into_iter().map(|key| key.path).collect();
    let mut configurations = 0;
    for path in files {
        let request = PlanRequest {
            text: std::fs::read_to_string(&path).unwrap(),
            path: path.display().to_string(),
            ..PlanRequest::default()
        };
        // Some are part files or tables of published numbers, or need a trace.
        for case in read_cases(&request).into_iter().flatten() {
            configurations += 1;
            let unknown: Vec<String> = read(&case).filter(|path| !declared.contains(path)).collect();
            assert!(unknown.is_empty(), "{}: {unknown:?}", path.display());
        }
    }
    assert!(configurations > 5, "{configurations}");
}

#[test]
fn every_key_is_documented_and_says_what_it_takes() {
    for key in keys() {
        assert!(!key.doc.is_empty(), "{}", key.path);
        assert!(key.choices.iter().all(|(_, doc)| !doc.is_empty()), "{}", key.path);
        if let Need::Default(value) = &key.need
            && !key.list
            && !key.choices.is_empty()
        {
            assert!(key.choices.iter().any(|(name, _)| name == value), "{}: {value}", key.path);
        }
    }
}

/// A small drive with random values for all other keys, and the keys that were read.
fn world(seed: u64, draw: impl Fn(&Key) -> bool + Send + 'static) -> (Option<Case>, BTreeSet<String>) {
    let text = "[part]\npreset = \"a4-tlc\"\nblocks-per-plane = 32\npages-per-block = 24\nlayers = 4\n[geometry]\nchannels = 2\n\
                chips-per-channel = 2\ndies-per-chip = 1\n[ftl]\nover-provisioning = \"60%\"\ngc-soft = \"10%\"\n\
                gc-hard = \"5%\"\nbad-block-reserve = 0\nmapping-unit = \"4KiB\"\n[precondition]\nfill = 1.0\n\
                overwrite = \"uniform\"\nuntil = \"drive-writes\"\ndrive-writes = 1.0\n[power-loss]\nat = \"1s\"\n\
                [array]\nlevel = \"raid5\"\ndrives = 4\n[[flow]]\n";
    let mut rng = Streams::new(seed).stream("test.declarations", 0);
    let (asked, requested) = mpsc::channel();
    let case = drawn(text, move |key| {
        asked.send(declared_path(&key.path)).unwrap();
        draw(key).then(|| key.random_value(&mut rng)).flatten()
    });
    (case.ok(), requested.try_iter().collect())
}

/// About one key in eight, by seed: with all keys random hardly any configuration is valid.
fn some(seed: u64, key: &Key) -> bool {
    let mix = key.path.bytes().fold(seed, |mix, byte| (mix ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    mix >> 32 & 7 == 0
}

/// Random values from declarations are legal one by one, and only declared keys are read.
#[test]
fn whatever_is_drawn_is_declared() {
    let declared: BTreeSet<String> = keys().into_iter().map(|key| key.path).collect();
    let (mut seen, mut made) = (BTreeSet::new(), 0);
    for seed in 0..400 {
        let (case, asked) = world(seed, move |key| some(seed, key));
        made += u32::from(case.is_some());
        seen.extend(asked);
    }
    assert!(seen.is_subset(&declared), "{:?}", seen.difference(&declared));
    assert!(made > 20, "{made} of 400 worlds hold together");
}

/// Bytes of a preconditioned state.
fn state(case: &Case) -> Vec<u8> {
    let (state, _) =
        precondition(&case.drive, &case.precondition, &mut |_, _| true).expect("nobody stops it");
    let mut bytes = Vec::new();
    state
        .save(0, &mut |piece| -> Result<(), ()> {
            bytes.extend_from_slice(piece);
            Ok(())
        })
        .unwrap();
    bytes
}

/// Keys not declared to shape the state change neither its bytes nor its hash; the others change the hash.
#[test]
fn the_state_hash_covers_what_preconditioning_reads() {
    let (plain, _) = world(0, |_| false);
    let plain = plain.unwrap();
    let (bytes, hash) = (state(&plain), plain.state_hash());
    let (mut others, mut shaped) = (BTreeSet::new(), 0);
    for seed in 0..1_600 {
        let sections = ["ftl", "cache", "schedule", "suspend", "precondition"];
        let (case, _) = world(seed, move |key| {
            let section = key.path.split('.').next().unwrap_or_default();
            // Lists of tiers that are drawn apart from each other are refused.
            !key.shapes_state && sections.contains(&section) && !key.path.contains(".tier-")
        });
        let Some(case) = case.filter(|case| case.drive.check().is_ok()) else { continue };
        assert_eq!(case.state_hash(), hash, "world {seed}");
        if others.insert(case.config_hash()) && others.len() <= 20 {
            assert!(state(&case) == bytes, "world {seed}");
        }
    }
    assert!(others.len() >= 20, "{}", others.len());
    for seed in 0..50 {
        let (case, _) =
            world(seed, |key| ["ftl.gc", "ftl.gc-choices", "ftl.imposed-waf"].contains(&key.path.as_str()));
        shaped += u32::from(case.unwrap().state_hash() != hash);
    }
    assert!(shaped > 20, "{shaped}");
}
