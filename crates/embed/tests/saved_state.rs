//! Does a restored device continue as the saved one does, and is every other file refused?

use crate::common::{device, drive, kinds, requests};
use interpulse_embed::{Completion, Device, Error, Options, SimTime};

fn options(config: &str) -> Options {
    Options { journal: true, ..Options::new(config) }
}

#[test]
fn a_restored_device_continues_with_everything_in_flight() {
    for (kind, config) in kinds() {
        let mut one = device(&config);
        let requests = requests(&one, kind, 21, 300);
        let (before, after) = requests.split_at(200);
        for (at, request) in before {
            one.submit(*at, request).expect("a legal request");
        }
        one.advance_to(before[150].0).expect("time is legal");
        one.advance_to_completion(Some(before[160].0)).expect("time is legal");
        assert_eq!(one.poll(20, |_, _| ()), 20);
        let saved = one.save().expect("it has a journal");
        let mut other =
            Device::restore(&options(&config), &saved).unwrap_or_else(|error| panic!("{kind}: {error}"));
        assert!(other.save().expect("so has the other") == saved || one.completions() > 0, "{kind}");
        assert_eq!(other.now(), one.now());
        let rest = |of: &mut Device| -> Vec<Completion> {
            for (at, request) in after {
                of.submit(*at, request).expect("a legal request");
            }
            of.finish().expect("the audits hold");
            std::iter::from_fn(|| of.pop()).collect()
        };
        assert!(one.pending() > 0, "{kind}: nothing is in flight");
        assert_eq!(rest(&mut other), rest(&mut one), "{kind}");
        assert_eq!(one.counters().to_json(), other.counters().to_json(), "{kind}");
    }
}

#[test]
fn other_states_are_refused() {
    let config = drive("");
    let mut of = device(&config);
    for (at, request) in requests(&of, "drive", 1, 50) {
        of.submit(at, &request).expect("a legal request");
    }
    of.advance_to(SimTime(400_000)).expect("time is legal");
    let saved = of.save().expect("it has a journal");
    let refused = |config: &str, saved: &[u8]| match Device::restore(&options(config), saved) {
        Err(Error::State(why)) => why,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("not refused"),
    };
    let why = refused(&drive("seed = 2"), &saved);
    assert!(why.contains("it is of another configuration, whose hash is "), "{why}");
    assert!(refused(&config, b"").contains("not a saved device"));
    for cut in [40, 95, saved.len() - 1] {
        refused(&config, &saved[..cut]);
    }
    for at in (0..saved.len()).step_by(101) {
        let mut damaged = saved.clone();
        damaged[at] ^= 4;
        refused(&config, &damaged);
    }
    let mut longer = saved.clone();
    longer.extend([0; 56]);
    refused(&config, &longer);
    let without = Device::create(&Options::new(config.as_str())).expect("a legal configuration");
    assert!(matches!(without.save(), Err(Error::State(why)) if why.contains("journal")));
}

/// A file whose checksum is right, as of another version or of a forger.
#[test]
fn contradictions_behind_a_right_checksum_are_refused() {
    let config = drive("");
    let mut of = device(&config);
    for (at, request) in requests(&of, "drive", 1, 50) {
        of.submit(at, &request).expect("a legal request");
    }
    of.advance_to(SimTime(400_000)).expect("time is legal");
    let saved = of.save().expect("it has a journal");
    let mut refused = 0;
    for at in (48..saved.len() - 8).step_by(13) {
        let mut forged = saved.clone();
        forged[at] = forged[at].wrapping_add(0x51);
        let body = forged.len() - 8;
        let sum = xxhash_rust::xxh3::xxh3_64(&forged[..body]).to_le_bytes();
        forged[body..].copy_from_slice(&sum);
        // Cookies, unused bytes and instants of requests that have not arrived may be anything.
        match Device::restore(&options(&config), &forged) {
            Err(Error::State(_) | Error::Time(_)) => refused += 1,
            Err(other) => panic!("byte {at}: {other:?}"),
            Ok(_) => {}
        }
    }
    assert!(refused > 50, "{refused}");
}
