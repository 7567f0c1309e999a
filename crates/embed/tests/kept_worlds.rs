//! Does every kind of drive continue from its kept state? Random drives with SLC caches, mapping caches, namespaces, zones, log
//! blocks and power-loss recovery work in several sessions under full audit.

use crate::common::Draw;
use interpulse_embed::{Device, Error, Op, Options, Request, SimTime, ZoneAction, show_state};
use std::path::{Path, PathBuf};

const WORLDS: u64 = 60;
const SESSIONS: u64 = 3;
/// Damaged files that are tried.
const MUTATIONS: usize = 300;

fn file(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("interpulse-worlds-{}-{name}", std::process::id()))
}

/// A value of `from`.
fn pick<'a>(draw: &mut Draw, from: &[&'a str]) -> &'a str {
    from[draw.below(from.len() as u64) as usize]
}

/// Times of a part in SLC mode.
const SLC_MODE: &str = "part.slc-mode.loops = 10\npart.slc-mode.pulse = \"12us\"\npart.slc-mode.verify = \"8us\"\npart.slc-mode.read = \
                        \"40us\"\npart.slc-mode.endurance = 30000\n";

/// A random drive.
fn draw_drive(draw: &mut Draw, seed: u64) -> String {
    let blocks = pick(draw, &["48", "96"]);
    let errors = pick(draw, &["", "[errors]\ntable = \"cai-tlc\"\n"]);
    let loss = "[power-loss]\nat = \"100d\"\n[cache]\nprotected = ";
    let loss = match draw.below(4) {
        0 => format!("{loss}true\n"),
        1 => format!("{loss}false\n"),
        _ => String::new(),
    };
    let fill = pick(draw, &["0%", "60%", "100%"]);
    let overwrite = "overwrite = \"uniform\"\nuntil = \"drive-writes\"\ndrive-writes = 0.5\n";
    let kind = draw.below(7);
    let (loss, overwrite) = match kind {
        0 | 1 => (String::new(), ""),
        _ => (loss, if fill == "100%" { overwrite } else { "" }),
    };
    let idle = pick(draw, &["1ms", "50ms"]);
    let slc = format!("idle-delay = \"{idle}\"\n{}", pick(draw, &["", "fold-above = \"60%\"\n"]));
    let format = pick(draw, &["pages", "entries", "extents"]);
    let ftl = match kind {
        0 => format!(
            "family = \"zoned\"\nzone-width = {}\nzone-rows = {}\n{}",
            pick(draw, &["1", "2"]),
            pick(draw, &["1", "2"]),
            pick(draw, &["", "", "conventional-zones = 8\n"])
        ),
        1 => format!(
            "family = \"log-block\"\nlog-block-association = \"{}\"\n",
            pick(draw, &["block", "full"])
        ),
        2 => format!("mapping = \"cached\"\nmap-cache-size = \"32KiB\"\nmap-cache-format = \"{format}\"\n"),
        3 => format!("[ftl.slc-cache]\nkind = \"static\"\nsize = \"4MiB\"\n{slc}"),
        4 => format!("[ftl.slc-cache]\nkind = \"dynamic\"\nsize = \"8MiB\"\n{slc}"),
        5 => format!(
            "[ftl.slc-cache]\nkind = \"static-and-dynamic\"\nsize = \"4MiB\"\ndynamic-size = \"8MiB\"\n{slc}"
        ),
        _ => "[[namespace]]\n[[namespace]]\nshare = \"40%\"\n".into(),
    };
    format!(
        "drive = \"a4-mini\"\nseed = {seed}\npart.blocks-per-plane = {blocks}\n{SLC_MODE}{errors}{loss}[precondition]\nfill = \
         \"{fill}\"\n{overwrite}[ftl]\nover-provisioning = 0.6\n{ftl}"
    )
}

/// Distance between the starts of zones, found by closing them; zero for a drive that is not zoned.
fn zone_bytes(device: &mut Device) -> u64 {
    let capacity = device.capacity(1).expect("a namespace");
    for offset in (1..capacity / 4096).map(|k| 4096 * k) {
        let begin = device.now();
        let open = Request { op: Op::Zone(ZoneAction::Close), ..Request::read(offset, 0) };
        device.submit(begin, &open).expect("a legal request");
        device.advance_to_completion(None).expect("the device works");
        // A legal zone is empty, and another offset is no field of a command.
        if device.pop().expect("it is completed").status.name() != Some("Invalid Field in Command") {
            return offset;
        }
    }
    0
}

/// Commands of a session at random; what they changed stays in the write cache as far as it fits.
fn work(device: &mut Device, zone: u64, seed: u64, count: u64) {
    let (mut draw, begin) = (Draw(seed), device.now().as_ns());
    for k in 0..count {
        let namespace = 1 + draw.below(device.namespaces().into()) as u32;
        let capacity = device.capacity(namespace).expect("a namespace");
        let bytes = 4096 * (1 + draw.below(8));
        // Half of the addresses are in a sixteenth of the drive.
        let hot = draw.below(2) == 0;
        let offset = 4096 * draw.below((capacity - bytes) / 4096 / if hot { 16 } else { 1 });
        let mut request = match (draw.below(20), zone > 0) {
            (0, false) => Request::trim(offset, bytes),
            (1, _) => Request::flush(),
            (2..=5, _) => Request::read(offset, bytes),
            (_, false) => Request::write(offset, bytes),
            (0, true) => Request { op: Op::Zone(ZoneAction::Reset), ..Request::read(0, 0) },
            (6, true) => Request { op: Op::Zone(ZoneAction::Finish), ..Request::read(0, 0) },
            (_, true) => Request { op: Op::Append, ..Request::write(0, bytes) },
        };
        request.namespace = namespace;
        if let (Op::Append | Op::Zone(_), true) = (request.op, zone > 0) {
            request.offset = offset / zone * zone;
        }
        device.submit(SimTime(begin + 20_000 * k), &request).expect("a legal request");
    }
    while device.pending() > 0 {
        device.advance_to_completion(None).expect("the device works");
        device.poll(usize::MAX, |_, _| ());
    }
}

/// Writes the state of a device that no request uses, at the first instant at which it can be kept.
fn park(device: &mut Device, path: &Path) -> bool {
    loop {
        if let Some(state) = device.parked().expect("the state can be kept") {
            state.write(path).expect("it can be written");
            return true;
        }
        let Some(next) = device.next_event_time() else { return false };
        device.advance_to(next).expect("time is legal");
    }
}

/// A session that begins with the state of `path`: its counters, and the state at its end.
fn session(options: &Options, path: &Path, zone: u64, seed: u64) -> (String, Vec<u8>) {
    let mut device = Device::create_from_state(options, path).expect("the state is of this drive");
    work(&mut device, zone, seed, 1_500);
    let counters = device.counters().to_json();
    device.rest().expect("the device works");
    device.finish().expect("the audit holds");
    let end = path.with_extension("end");
    device.save_state(&end).expect("it can be kept");
    let bytes = std::fs::read(&end).expect("a file");
    std::fs::remove_file(&end).expect("a file");
    (counters, bytes)
}

#[test]
fn drives_of_every_kind_continue_where_they_ended() {
    let (path, mut kept) = (file("continue"), std::collections::BTreeMap::<&str, u32>::new());
    for world in 0..WORLDS {
        let mut draw = Draw(world);
        let text = draw_drive(&mut draw, world);
        let options = Options::new(text.clone());
        // Some keys do not go together.
        let mut device = match Device::create(&options) {
            Ok(device) => device,
            Err(Error::Config(why)) => {
                println!("{why}");
                continue;
            }
            Err(other) => panic!("{text}: {other}"),
        };
        if let Err(why) = Device::can_keep_state(&options) {
            assert!(why.to_string().contains("cannot be kept"), "{text}: {why}");
            continue;
        }
        let zone = if text.contains("zoned") { zone_bytes(&mut device) } else { 0 };
        for k in 0..SESSIONS {
            let seed = 100 * world + k;
            work(&mut device, zone, seed, 500 + draw.below(1_500));
            assert!(park(&mut device, &path), "{text}: it is never idle");
            let mapped = show_state(&path).expect("a state");
            assert!(mapped.contains("mapped_bytes"), "{mapped}");
            let (first, second) =
                (session(&options, &path, zone, seed), session(&options, &path, zone, seed));
            assert!(first == second, "{text}: the same requests after the same state");
            if k % 2 == 1 {
                device.rest().expect("the device works");
                device.finish().unwrap_or_else(|why| panic!("{text}: {why}"));
                device.save_state(&path).expect("it can be kept");
            }
            device = Device::create_from_state(&options, &path).unwrap_or_else(|why| panic!("{text}: {why}"));
        }
        work(&mut device, zone, world, 300);
        device.rest().expect("the device works");
        device.finish().unwrap_or_else(|why| panic!("{text}: {why}"));
        for kind in
            ["slc-cache", "cached", "zoned", "conventional", "log-block", "[[namespace]]", "power-loss"]
        {
            *kept.entry(kind).or_default() += u32::from(text.contains(kind));
        }
    }
    println!("{kept:?}");
    assert!(kept.values().all(|&worlds| worlds > 1) && kept["slc-cache"] > 15, "{kept:?}");
    std::fs::remove_file(&path).expect("the file");
}

#[test]
fn damaged_states_with_a_supplement_are_refused() {
    let path = file("damaged");
    let slc = "[ftl.slc-cache]\nkind = \"static-and-dynamic\"\nsize = \"4MiB\"\ndynamic-size = \"8MiB\"\n";
    let with = |more: &str| {
        Options::new(format!(
            "drive = \"a4-mini\"\npart.blocks-per-plane = 24\n{SLC_MODE}[ftl]\nover-provisioning = 0.6\n{more}"
        ))
    };
    let options = with(slc);
    let mut device = Device::create(&options).expect("a legal configuration");
    work(&mut device, 0, 1, 1_000);
    assert!(park(&mut device, &path));
    let bytes = std::fs::read(&path).expect("the file");
    let refused = |options: &Options| match Device::create_from_state(options, &path) {
        Err(Error::State(why)) => why,
        other => panic!("{:?}", other.err()),
    };
    // Blocks in SLC mode are those of a drive with such a cache.
    let why = refused(&with(""));
    assert!(why.contains("ftl.slc-cache"), "{why}");
    let mut draw = Draw(11);
    for _ in 0..MUTATIONS {
        let mut damaged = bytes.clone();
        let at = bytes.len() - 1 - draw.below(20_000) as usize;
        match draw.below(4) {
            0 => damaged.truncate(at),
            1 => damaged.insert(at, draw.below(256) as u8),
            2 => drop(damaged.remove(at)),
            _ => damaged[at] ^= 1 + draw.below(255) as u8,
        }
        std::fs::write(&path, &damaged).expect("a file");
        assert!(damaged == bytes || !refused(&options).is_empty());
    }
    std::fs::remove_file(&path).expect("the file");
}
