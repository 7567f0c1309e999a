//! Predictable latency mode: what begins in deterministic windows, and when the drive leaves one.

use crate::drive_common::{Bench, filled, little};
use interpulse_drive::spec::{DriveSpec, PredictableLatencySpec};
use interpulse_engine::{Bytes, Device, Duration, Op, Request, SimTime, Tag};

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
/// Link and firmware of a write of a unit, until it needs a slot of the cache.
const ARRIVES: u64 = 6_192;

/// Non-deterministic from 0 to 1 ms, deterministic to 6 ms, and so on.
const WINDOWS: PredictableLatencySpec =
    PredictableLatencySpec { dtwin_time: Duration::from_ms(5), ndwin_time: Duration::from_ms(1) };

fn bench(windows: Option<PredictableLatencySpec>, cache: Bytes) -> Bench {
    let mut spec = DriveSpec { predictable_latency: windows, ..little() };
    spec.cache.size = cache;
    Bench::new(&spec, filled(&spec, 0.9), &[], 1)
}

/// Submits a request of `units` from unit `unit` at `at`, in ns; returns its latency in ns.
fn latency(bench: &mut Bench, at: u64, op: Op, unit: u64, units: u32) -> u64 {
    bench.run_to(SimTime(at));
    let done = bench.host.device.completed();
    bench.host.submit(&mut bench.events, 0, Tag(0), Request::new(op, unit * 8, units * 8));
    while bench.host.device.completed() == done {
        assert!(bench.step(SimTime(u64::MAX)), "the request completes");
    }
    bench.events.now().as_ns() - at
}

fn programs(bench: &mut Bench, at: u64) -> u64 {
    bench.run_to(SimTime(at));
    bench.host.device.nand().counters.host_programs
}

fn windows(bench: &mut Bench) -> [u64; 5] {
    let now = bench.events.now();
    bench.host.device.count_windows(now);
    let c = &bench.host.device.counters;
    [c.dtwin_time, c.ndwin_time, c.dtwin_excursions, c.dtwin_held_operations, c.dtwin_held_units]
}

/// Four programs of six units, on the four dies, each of 600 us of pulses.
#[test]
fn programs_of_a_deterministic_window_begin_at_its_end() {
    let mut plain = bench(None, Bytes::mib(4));
    latency(&mut plain, 2 * MS, Op::Write, 0, 24);
    assert_eq!([2_600, 2_800].map(|us| programs(&mut plain, us * US)), [0, 4]);
    let mut drive = bench(Some(WINDOWS), Bytes::mib(4));
    latency(&mut drive, 2 * MS, Op::Write, 0, 24);
    assert_eq!([2_800, 6_600, 6_800].map(|us| programs(&mut drive, us * US)), [0, 0, 4]);
    // A window of 1 ms, one of 5 ms, 800 us of a third.
    assert_eq!(windows(&mut drive), [5 * MS, 1_800 * US, 0, 4, 24]);
}

/// A read at 2.1 ms waits for a program of the write at 2 ms, except in a deterministic window.
#[test]
fn a_read_of_a_deterministic_window_waits_for_no_program_that_it_began() {
    let read = |windows, writes| {
        let mut drive = bench(windows, Bytes::mib(4));
        if writes {
            latency(&mut drive, 2 * MS, Op::Write, 0, 24);
        }
        latency(&mut drive, 2_100 * US, Op::Read, 100, 1)
    };
    let idle = read(None, false);
    assert!(read(None, true) > idle + 400 * US);
    assert_eq!(read(Some(WINDOWS), true), idle);
}

/// The program of a write at 950 us has begun when the window begins at 1 ms.
#[test]
fn a_program_that_has_begun_continues_in_a_deterministic_window() {
    let mut drive = bench(Some(WINDOWS), Bytes::mib(4));
    latency(&mut drive, 950 * US, Op::Write, 0, 24);
    assert_eq!([1_500, 1_800].map(|us| programs(&mut drive, us * US)), [0, 4]);
    assert_eq!(windows(&mut drive), [800 * US, MS, 0, 0, 0]);
}

/// The cache holds 48 units. A write of the 49th at 3 ms ends the window, so that programs of about 650 us make room.
#[test]
fn a_write_that_finds_no_room_ends_a_deterministic_window() {
    let mut drive = bench(Some(WINDOWS), Bytes::kib(4 * 48));
    latency(&mut drive, 2 * MS, Op::Write, 0, 48);
    assert_eq!(windows(&mut drive)[2], 0);
    let waits = latency(&mut drive, 3 * MS, Op::Write, 48, 1);
    assert!((600 * US..800 * US).contains(&waits), "{waits} ns");
    // Deterministic from 1 ms until then and, by the schedule, again from 7 ms on.
    drive.run_to(SimTime(8 * MS));
    assert_eq!(windows(&mut drive)[..3], [3 * MS + ARRIVES, 5 * MS - ARRIVES, 1]);
}

#[test]
fn a_flush_that_needs_programs_ends_a_deterministic_window() {
    let spec = DriveSpec { predictable_latency: Some(WINDOWS), ..little() };
    let mut spec = spec;
    spec.cache.protected = false;
    let mut drive = Bench::new(&spec, filled(&spec, 0.9), &[], 1);
    latency(&mut drive, 2 * MS, Op::Write, 0, 24);
    let flush = latency(&mut drive, 3 * MS, Op::Flush, 0, 0);
    assert!((600 * US..800 * US).contains(&flush), "{flush} ns");
    assert_eq!(windows(&mut drive)[2], 1);
}
