//! Does a drive keep its map, wear and blocks beyond a session?

use crate::common::{Draw, drive};
use interpulse_embed::{
    Device, Duration, Error, Options, Request, SimTime, age_state, clone_state, show_state,
};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Bytes of what is behind the map of these drives, at most.
const DESCRIBED_AT_MOST: usize = 8_000;
/// Damaged files that are tried.
const MUTATIONS: usize = 1_000;

const FILLED: &str = "[precondition]\nfill = \"100%\"\noverwrite = \"uniform\"\nuntil = \"drive-writes\"\ndrive-writes = 0.5\n";

fn file(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("interpulse-kept-{}-{name}", std::process::id()))
}

/// Writes, rewrites and trims at random; ends with dirty data in the cache.
fn work(device: &mut Device, seed: u64, count: u64) {
    let (mut draw, pages) = (Draw(seed), device.capacity(1).expect("a namespace") / 4096);
    let begin = device.now().as_ns();
    for k in 0..count {
        let offset = 4096 * draw.below(pages);
        let request = match draw.below(20) {
            0 => Request::trim(offset, 4096),
            _ => Request::write(offset, 4096),
        };
        device.submit(SimTime(begin + 2_000 * k), &request).expect("a legal request");
    }
    while device.pending() > 0 {
        device.advance_to_completion(None).expect("the device works");
        device.poll(usize::MAX, |_, done| assert!(done.is_success()));
    }
}

/// Units mapped, and total of the P/E cycles.
fn state(device: &mut Device) -> u64 {
    device.rest().expect("the device works");
    device.finish().expect("the audit holds").mapped_units
}

#[test]
fn a_drive_goes_on_where_it_ended() {
    let (config, path) = (drive(FILLED), file("goes-on"));
    let options = Options::new(config);
    let mut of = Device::create(&options).expect("a legal configuration");
    work(&mut of, 1, 15_000);
    let erases = of.counters().ftl.erases;
    assert!(erases > 20, "collection has run: {erases}");
    let mapped = state(&mut of);
    let size = of.save_state(&path).expect("it can be kept");
    assert_eq!(std::fs::metadata(&path).expect("the file").len(), size);
    let mut ended = Vec::new();
    for session in 0..3 {
        let mut of = Device::create_from_state(&options, &path).expect("the state is of this drive");
        if session < 2 {
            work(&mut of, 2, 5_000);
        }
        let counters = of.counters().to_json();
        let now_mapped = state(&mut of);
        // Unlike at the start of the first session, no unit is in the cache.
        assert!(session < 2 || now_mapped >= mapped, "{now_mapped} of {mapped}");
        of.save_state(&path.with_extension("2")).expect("it can be kept");
        ended.push((counters, now_mapped, std::fs::read(path.with_extension("2")).expect("a file")));
    }
    assert!(ended[0] == ended[1], "the same requests after the same state");
    // A session without requests changes nothing.
    let bytes = std::fs::read(&path).expect("the file");
    let map = bytes.len() - DESCRIBED_AT_MOST;
    assert!(ended[2].2[..map] == bytes[..map], "an idle session");
    std::fs::remove_file(&path).expect("the file");
    std::fs::remove_file(path.with_extension("2")).expect("the file");
}

#[test]
fn states_of_many_sessions_stay_sound_whatever_the_policies() {
    let path = file("many");
    for more in [
        "",
        "[ftl]\nallocation = \"cwdp\"\n",
        "[ftl]\nallocation = \"super-word-line\"\n",
        "[ftl]\ngc = \"d-choices\"\n",
        "[ftl]\ncopyback = true\n",
        "[cache]\nacknowledge = \"when-programmed\"\n",
        "[suspend]\nprogram.scheme = \"loop-boundary\"\nerase.scheme = \"loop-boundary\"\n",
    ] {
        let options = Options::new(drive(&format!("{FILLED}{more}")));
        let mut of = Device::create(&options).expect("a legal configuration");
        for session in 0..4 {
            work(&mut of, session, 3_000);
            state(&mut of);
            of.save_state(&path).unwrap_or_else(|error| panic!("{more}, session {session}: {error}"));
            let next = Device::create_from_state(&options, &path);
            of = next.unwrap_or_else(|error| panic!("{more}, session {session}: {error}"));
        }
    }
    std::fs::remove_file(&path).expect("the file");
}

#[test]
fn states_of_other_drives_and_damaged_ones_are_refused() {
    let path = file("refused");
    let options = Options::new(drive(FILLED));
    let mut of = Device::create(&options).expect("a legal configuration");
    let early = of.save_state(&path).expect_err("the drive works");
    assert!(matches!(early, Error::State(_)), "{early}");
    state(&mut of);
    of.save_state(&path).expect("it can be kept");
    let refused = |options: &Options| match Device::create_from_state(options, &path) {
        Err(Error::State(why)) => why,
        other => panic!("{:?}", other.err()),
    };
    let other = refused(&Options::new(drive(&format!("{FILLED}[ftl]\nover-provisioning = \"35%\"\n"))));
    assert!(other.contains("ftl.over-provisioning is 0.3 in the state and 0.35 in"), "{other}");
    let other = refused(&Options::new("drive = \"a4-mini\"\npart.blocks-per-plane = 48\n"));
    assert!(
        other.contains("part.blocks-per-plane is 24 in the state and 48 in the configuration"),
        "{other}"
    );
    // The state is in place of what these say.
    let same = Options::new(drive("[precondition]\nfill = \"70%\"\n"));
    Device::create_from_state(&same, &path).expect("it goes with every [precondition]");
    let bytes = std::fs::read(&path).expect("the file");
    let mut draw = Draw(7);
    for _ in 0..MUTATIONS {
        let mut damaged = bytes.clone();
        let at = draw.below(bytes.len() as u64) as usize;
        // Half of the mutations hit the ends, which hold what is not a map.
        let at = match draw.below(4) {
            0 => at.min(draw.below(200) as usize),
            1 => bytes.len() - 1 - draw.below(6_000.min(bytes.len() as u64)) as usize,
            _ => at,
        };
        match draw.below(4) {
            0 => damaged.truncate(at),
            1 => damaged.splice(at..at, [draw.below(256) as u8]).for_each(drop),
            2 => drop(damaged.remove(at)),
            _ => damaged[at] ^= 1 + draw.below(255) as u8,
        }
        if damaged == bytes {
            continue;
        }
        std::fs::write(&path, &damaged).expect("a file");
        let why = refused(&options);
        assert!(why.contains(path.to_str().expect("a name")), "{why}");
        assert!(show_state(&path).is_err(), "byte {at}");
    }
    for (content, expected) in [
        (&b""[..], "not a state of interpulse; legal: a file that `interpulse serve`"),
        (b"a text", "not a state of interpulse"),
        (&bytes[..bytes.len() - 40], "its end is missing: it is truncated"),
    ] {
        std::fs::write(&path, content).expect("a file");
        assert!(refused(&options).contains(expected));
    }
    let mut newer = bytes.clone();
    let version = newer.len() - 40;
    newer[version] = 9;
    std::fs::write(&path, &newer).expect("a file");
    assert!(refused(&options).contains("its description has version 9; legal: 2"));
    std::fs::remove_file(&path).expect("the file");
    assert!(refused(&options).contains("No such file"));
}

/// What the file says.
fn shown(path: &Path) -> Value {
    serde_json::from_str(&show_state(path).expect("a state")).expect("JSON")
}

const ERRORS: &str = "[errors]\ntable = \"cai-tlc\"\ninitial-age = \"10d\"\n";

#[test]
fn a_state_says_what_it_is_and_keeps_ages_and_history() {
    let (path, other) = (file("shown"), file("aged"));
    let options = Options::new(drive(&format!("{FILLED}{ERRORS}")));
    let mut of = Device::create(&options).expect("a legal configuration");
    const DAY_NS: u64 = 86_400_000_000_000;
    for session in 1..=2u64 {
        work(&mut of, session, 4_000);
        of.advance_to(SimTime(of.now().as_ns() + 1_000_000_000)).expect("time is legal");
        let mapped = of.counters().ftl.host_units;
        assert!(mapped > 3_000);
        state(&mut of);
        of.save_state(&path).expect("it can be kept");
        let state = shown(&path);
        assert_eq!(state["done"]["sessions"], session);
        assert!(state["done"]["time_ns"].as_u64() > Some(1_000_000_000 * session));
        assert!(state["write_amplification"].as_f64() > Some(1.0), "{state}");
        // Data from before the first session, as old as the configuration says and as long as the sessions took.
        let oldest = state["age_ns"]["max"].as_u64().expect("ages are kept");
        assert!(oldest > 10 * DAY_NS + 1_000_000_000 * session && oldest < 11 * DAY_NS, "{oldest}");
        let youngest = state["age_ns"]["min"].as_u64().expect("ages are kept");
        assert!(youngest < 3_000_000_000, "what was written now is young: {youngest}");
        assert_eq!(state["keys"]["part.blocks-per-plane"], "24");
        let blocks = &state["super_blocks"];
        assert!(blocks["free"].as_u64() < blocks["all"].as_u64() && blocks["open"].as_u64() > Some(0));
        of = Device::create_from_state(&options, &path).expect("the state is of this drive");
    }
    let before = shown(&path);
    age_state(&path, &other, 1_000, Duration::from_ns(90 * DAY_NS), 50).expect("it is legal");
    age_state(&other, &other, 500, Duration::ZERO, 0).expect("it is legal");
    assert_eq!(shown(&path), before, "the other file is as it was");
    let mut of = Device::create_from_state(&options, &other).expect("the state is of this drive");
    state(&mut of);
    of.save_state(&path).expect("it can be kept");
    let after = shown(&path);
    let more = |key: &str, of: &str| {
        let figure = |state: &Value| state[key][of].as_u64().expect("a figure");
        figure(&after) - figure(&before)
    };
    assert_eq!(
        (more("pe_cycles", "min"), more("pe_cycles", "max"), more("block_reads", "max")),
        (1_500, 1_500, 50)
    );
    let aged = more("age_ns", "max");
    assert!((90 * DAY_NS..91 * DAY_NS).contains(&aged), "{aged}");
    let refused = |cycles, days, reads| {
        let age = Duration::from_ns(days * DAY_NS);
        age_state(&other, &other, cycles, age, reads).expect_err("not legal").to_string()
    };
    assert!(refused(999_000, 0, 0).contains("cycles: 1000500 in all; legal: at most 1000000"));
    assert!(refused(0, 7_300, 0).contains("retention: "));
    assert!(refused(0, 0, u32::MAX).contains("reads: legal"));
    std::fs::remove_file(&path).expect("the file");
    std::fs::remove_file(&other).expect("the file");
}

#[test]
fn a_copy_goes_to_a_compatible_drive_alone() {
    let (path, copy) = (file("copied"), file("copy"));
    let mut of = Device::create(&Options::new(drive(FILLED))).expect("a legal configuration");
    work(&mut of, 1, 500);
    state(&mut of);
    of.save_state(&path).expect("it can be kept");
    let suspended =
        Options::new(drive("[suspend]\nprogram.scheme = \"loop-boundary\"\nerase.scheme = \"ideal\"\n"));
    clone_state(&path, &copy, Some(&suspended)).expect("the geometry is the same");
    assert_ne!(shown(&copy)["config_hash"], shown(&path)["config_hash"]);
    let mut of = Device::create_from_state(&suspended, &copy).expect("a state");
    work(&mut of, 2, 500);
    state(&mut of);
    clone_state(&path, &copy, None).expect("a copy");
    assert!(std::fs::read(&path).expect("a file") == std::fs::read(&copy).expect("a file"));
    for (config, expected) in [
        ("drive = \"a4-mini\"\npart.blocks-per-plane = 48\n".into(), "part.blocks-per-plane is 24"),
        (drive("[array]\nlevel = \"raid5\"\ndrives = 4\n"), "array: "),
    ] {
        let why =
            clone_state(&path, &copy, Some(&Options::new(config))).expect_err("other drives").to_string();
        assert!(why.contains(expected), "{why}");
    }
    std::fs::remove_file(&path).expect("the file");
    std::fs::remove_file(&copy).expect("the file");
}

#[test]
fn a_state_at_any_idle_instant_is_the_start_of_a_session() {
    let path = file("idle");
    let options = Options::new(drive(FILLED));
    let (mut of, mut parked) = (Device::create(&options).expect("a legal configuration"), 0);
    for session in 0..30 {
        work(&mut of, session, 300 + 61 * session);
        loop {
            if let Some(state) = of.parked().expect("a plain drive") {
                state.write(&path).expect("it can be written");
                parked += 1;
                break;
            }
            let Some(next) = of.next_event_time() else { break };
            of.advance_to(next).expect("time is legal");
        }
        if session % 3 == 2 {
            of = Device::create_from_state(&options, &path).expect("a state");
        }
    }
    assert!(parked > 20, "{parked}");
    state(&mut of);
    std::fs::remove_file(&path).expect("the file");
}

#[test]
fn drives_with_other_state_say_which() {
    for (key, more) in [
        ("array", "[array]\nlevel = \"raid5\"\ndrives = 4\n"),
        ("ftl.placement", "[ftl]\nplacement = \"fdp\"\nplacement-handles = 2\nover-provisioning = 0.6\n"),
        ("ftl.hotness", "[ftl]\nhotness = \"update-interval\"\nover-provisioning = 0.6\n"),
    ] {
        let why = Device::can_keep_state(&Options::new(drive(more))).expect_err(key);
        assert!(matches!(&why, Error::State(why) if why.starts_with(key)), "{why}");
    }
    Device::can_keep_state(&Options::new(drive(""))).expect("a plain drive");
}
