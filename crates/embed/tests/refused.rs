//! Is every wrong input refused with a message that says what was seen and what is legal?

use crate::common::{device, drive, kinds};
use interpulse_embed::{Device, Error, LONGEST, Op, Options, Request, SimTime, ZoneAction};

/// Message of a refused request, which leaves the device as it was.
fn message(of: &mut Device, at: u64, request: Request) -> String {
    let before = of.save().expect("it has a journal");
    let why = of.submit(SimTime(at), &request).expect_err("it is not refused");
    assert_eq!(of.save(), Ok(before));
    why.to_string()
}

#[test]
fn illegal_requests() {
    let mut of = device(&drive(""));
    let capacity = of.capacity(1).unwrap();
    let read = Request::read(0, 4096);
    for (request, expected) in [
        (Request::read(100, 4096), "offset = 100, bytes = 4096: legal: multiples of 512".to_string()),
        (Request::write(0, 100), "offset = 0, bytes = 100: legal: multiples of 512".into()),
        (Request::read(0, 0), "bytes = 0: legal of read: 512 to 1073741824".into()),
        (Request::write(0, 2 << 30), "bytes = 2147483648: legal of write: 512 to 1073741824".into()),
        (Request::trim(0, 1 << 50), "bytes = 1125899906842624: legal of trim: 512 to 2199023255040".into()),
        (
            Request::trim(0, 1 << 40),
            format!("offset = 0, bytes = 1099511627776: ends behind the {capacity} bytes of namespace 1"),
        ),
        (
            Request::read(capacity, 512),
            format!("offset = {capacity}, bytes = 512: ends behind the {capacity} bytes of namespace 1"),
        ),
        (
            Request::read(capacity - 512, 1024),
            format!(
                "offset = {}, bytes = 1024: ends behind the {capacity} bytes of namespace 1",
                capacity - 512
            ),
        ),
        (
            Request::read(u64::MAX - 511, 512),
            format!(
                "offset = 18446744073709551104, bytes = 512: ends behind the {capacity} bytes of namespace 1"
            ),
        ),
        (
            Request { offset: 512, ..Request::flush() },
            "offset = 512, bytes = 0: legal of flush: offset = 0 and bytes = 0".into(),
        ),
        (
            Request { bytes: 512, ..Request::flush() },
            "offset = 0, bytes = 512: legal of flush: offset = 0 and bytes = 0".into(),
        ),
        (
            Request { op: Op::Zone(ZoneAction::Reset), ..read },
            "offset = 0, bytes = 4096: legal of zone_reset: bytes = 0".into(),
        ),
        (
            Request { op: Op::Zone(ZoneAction::Reset), offset: capacity, bytes: 0, ..read },
            format!("offset = {capacity}, bytes = 0: ends behind the {capacity} bytes of namespace 1"),
        ),
        (Request { namespace: 0, ..read }, "namespace = 0: legal: 1 to 1".into()),
        (Request { namespace: 2, ..read }, "namespace = 2: legal: 1 to 1".into()),
        (Request { queue: 1, ..read }, "queue = 1: legal: 0 to 0 (host.queue-weights)".into()),
        (Request { handle: 1, ..read }, "handle = 1: legal: 0 to 0 (ftl.placement)".into()),
    ] {
        assert_eq!(message(&mut of, 0, request), expected);
    }
    assert_eq!(
        message(&mut of, LONGEST.0 + 1, read),
        "at = 8640000000000001 ns lies behind the longest time, 8640000000000000 ns (100 days)"
    );
}

#[test]
fn operations_that_a_device_lacks() {
    let mut raid = device(&kinds()[2].1);
    let why = message(&mut raid, 0, Request::trim(0, 4096));
    assert_eq!(why, "op = trim: legal for an array: read, write, flush");
    // A drive without zones knows no zone command: it completes with NVMe's status.
    let mut of = device(&drive(""));
    of.submit(SimTime(0), &Request { op: Op::Append, ..Request::write(0, 4096) }).unwrap();
    of.submit(SimTime(0), &Request { op: Op::Zone(ZoneAction::Report), ..Request::write(0, 4096) }).unwrap();
    of.finish().unwrap();
    assert_eq!((of.pop().unwrap().status.0, of.pop().unwrap().status.0), (1, 1));
}

#[test]
fn time_that_goes_back() {
    let mut of = device(&drive(""));
    of.advance_to(SimTime(5_000)).unwrap();
    assert_eq!(message(&mut of, 4_999, Request::read(0, 512)), "at = 4999 ns is in the past: it is 5000 ns");
    let back = of.advance_to(SimTime(4_999)).unwrap_err();
    assert_eq!(back.to_string(), "simulated time cannot go back to 4999 ns: it is 5000 ns");
    let far = of.advance_to(SimTime(u64::MAX)).unwrap_err();
    assert_eq!(
        far.to_string(),
        "18446744073709551615 ns lie behind the longest time, 8640000000000000 ns (100 days)"
    );
    assert!(of.advance_to_completion(Some(SimTime(1))).is_err());
    of.advance_to(SimTime(LONGEST.0)).unwrap();
}

#[test]
fn a_batch_is_taken_whole_or_not_at_all() {
    let mut of = device(&drive(""));
    let some = |k: usize| Ok((SimTime(10), Request::read(if k == 7 { 1 } else { 0 }, 512)));
    let why = of.submit_batch(10, some).unwrap_err().to_string();
    assert_eq!(why, "request 7 of the batch: offset = 1, bytes = 512: legal: multiples of 512");
    assert_eq!((of.pending(), of.submit_batch(7, some), of.pending()), (0, Ok(0), 7));
    assert_eq!(of.submit_batch(0, some), Ok(7));
    let past = |k: usize| Ok((SimTime(10 - k as u64 * 6), Request::read(0, 512)));
    of.advance_to(SimTime(5)).unwrap();
    let why = of.submit_batch(2, past).unwrap_err().to_string();
    assert_eq!(why, "request 1 of the batch: at = 4 ns is in the past: it is 5 ns");
}

#[test]
fn a_finished_device() {
    let mut of = device(&drive(""));
    of.submit(SimTime(9), &Request::read(0, 512)).unwrap();
    of.finish().unwrap();
    assert_eq!(of.finish(), Err(Error::Finished));
    assert_eq!(of.submit(SimTime(1 << 40), &Request::read(0, 512)), Err(Error::Finished));
    assert_eq!(of.advance_to(SimTime(1 << 40)), Err(Error::Finished));
    assert_eq!(of.save(), Err(Error::Finished));
    assert!(of.pop().is_some() && of.counters().get("host.requests") == Some(1));
}

#[test]
fn wrong_configurations_name_line_and_key() {
    let refused = |options: &Options| match Device::create(options) {
        Err(Error::Config(why)) => why,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("not refused"),
    };
    for (config, expected) in [
        ("drive = \"nosuch\"", "host.toml:1: drive.preset"),
        ("drive = \"a4-mini\"\n[ftl]\ngc = \"x\"", "host.toml:3: ftl.gc"),
        ("drive = \"a4-mini\"\n[ftl]\nnosuch = 1", "host.toml:3: ftl.nosuch"),
        ("drive = \"a4-mini\"\n[cache\n", "host.toml:2"),
        ("drive = \"a4-mini\"\n[[flow]]\nread = 2.0", "host.toml:3: flow.0.read"),
        ("", "host.toml: nothing says which drive"),
    ] {
        let why = refused(&Options { path: "host.toml".into(), ..Options::new(config) });
        assert!(why.starts_with(expected), "{why}");
    }
    let cases = drive("[[case]]\nname = \"a\"\n[[case]]\nname = \"b\"\n");
    assert!(refused(&Options::new(cases.as_str())).ends_with("several cases: choose one of a, b"));
    let why = refused(&Options { case: Some("c".into()), ..Options::new(cases.as_str()) });
    assert!(why.ends_with("no case \"c\"; legal: a, b"), "{why}");
    let of = Device::create(&Options { case: Some("b".into()), ..Options::new(cases.as_str()) });
    assert!(of.is_ok());
    let sets = vec![("ftl.gc".to_string(), "x".to_string())];
    let why = refused(&Options { sets, ..Options::new(drive("")) });
    assert!(why.starts_with("--set: ftl.gc"), "{why}");
}

/// A configuration of a run is one of a device too.
#[test]
fn the_load_of_a_run_is_checked_and_ignored() {
    let text = drive("[run]\nrequests = 5\n[[flow]]\ndepth = 4\n");
    let (mut with, mut without) = (device(&text), device(&drive("")));
    for of in [&mut with, &mut without] {
        of.submit(SimTime(0), &Request::read(0, 4096)).unwrap();
        of.finish().unwrap();
    }
    assert_eq!(with.pop(), without.pop());
    assert_eq!(with.pop(), None);
}
