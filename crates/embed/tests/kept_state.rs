//! Does a drive keep its map, wear and blocks beyond a session?

use crate::common::{Draw, drive};
use interpulse_embed::{Device, Error, Options, Request, SimTime};
use std::path::PathBuf;

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
    assert!(ended[2].2 == std::fs::read(&path).expect("the file"), "an idle session");
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
    let other = refused(&Options::new(drive("[precondition]\nfill = \"70%\"\n")));
    assert!(other.contains("another configuration"), "{other}");
    let mut bytes = std::fs::read(&path).expect("the file");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&path, &bytes).expect("a file");
    let why = refused(&options);
    assert!(why.contains("damaged") || why.contains("contradicts"), "{why}");
    std::fs::write(&path, &bytes[..last]).expect("a file");
    assert!(refused(&options).contains("bytes"));
    std::fs::remove_file(&path).expect("the file");
    assert!(refused(&options).contains("No such file"));
}

#[test]
fn drives_with_other_state_say_which() {
    for (key, more) in [
        ("array", "[array]\nlevel = \"raid5\"\ndrives = 4\n"),
        ("power-loss", "[power-loss]\nat = \"3ms\"\n"),
        (
            "namespace",
            "part.blocks-per-plane = 96\n[[namespace]]\n[[namespace]]\nover-provisioning = \"35%\"\n",
        ),
    ] {
        let config = match key {
            "namespace" => format!("drive = \"a4-mini\"\n{more}"),
            _ => drive(more),
        };
        let why = Device::can_keep_state(&Options::new(config)).expect_err(key);
        assert!(matches!(&why, Error::State(why) if why.starts_with(key)), "{why}");
    }
    Device::can_keep_state(&Options::new(drive(""))).expect("a plain drive");
}
