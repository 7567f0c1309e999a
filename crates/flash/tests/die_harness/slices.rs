//! Worked instants of programs and erases in slices, derived by hand from the trains of `arrivals.rs`.

use crate::common::*;
use crate::die_harness::arrivals::{IN_ERASE, IN_PROGRAM, NO_COST, check_rows, resetting, rows, stopping};
use interpulse_engine::Duration;
use interpulse_flash::suspend::{Scheme, Sliced};

/// To command a slice takes 7000.
const OVERHEAD: Duration = Duration::from_us(7);

fn loops(loops: u32) -> Scheme {
    Scheme::Sliced(Sliced { loops, time: None, overhead: OVERHEAD })
}

/// Slices of two loops: from 57258 to 307258, then from 314258 to 564258. A read that arrives up to the end of the first starts
/// there; the second is commanded behind it, at 307258 + 54797, and its pulses end at 362055 + 7000 + 250000 = 619055.
#[test]
fn slices_of_loops() {
    let stops = |wait| (307_258, 619_055, [wait, 0, 7_000, 0]);
    let last = (564_258, 564_258, NO_COST);
    let of_program = [
        stops(250_000),
        stops(250_000),
        stops(237_258),
        stops(215_000),
        stops(157_258),
        stops(125_000),
        last,
        last,
        last,
    ];
    check_rows(loops(2), false, program(0), &rows(IN_PROGRAM, of_program));
}

/// Pulses of 1000000 in slices of 400000, 400000 and the rest, 350000 with reset and verify: from 300 to 400300, 407300 to 807300,
/// 814300 to 1164300 and so on to the ninth, 3156300 to 3506300. A read delays the end by its 54797 alone.
#[test]
fn slices_of_a_pulse() {
    let scheme = Scheme::Sliced(Sliced { time: Some(Duration::from_us(400)), loops: 1, overhead: OVERHEAD });
    let stops = |halt, wait| (halt, 3_561_097, [wait, 0, 7_000, 0]);
    let of_erase = [
        stops(400_300, 400_200),
        stops(400_300, 400_000),
        stops(807_300, 207_000),
        stops(1_164_300, 164_000),
        stops(1_164_300, 144_000),
        stops(1_164_300, 114_000),
        stops(1_164_300, 64_000),
        stops(1_164_300, 14_000),
        stops(2_742_300, 242_000),
        (3_506_300, 3_506_300, NO_COST),
        (3_506_300, 3_506_300, NO_COST),
    ];
    check_rows(scheme, false, erase(0), &rows(IN_ERASE, of_erase));
}

/// A slice is commanded as soon as the one before has ended: a read that arrives in between, at 185000, waits for the slice from
/// 189258 to 314258. The program has four slices, and ends at 557258 + 3 x 7000 + 54797. Two of the commands follow no suspension.
#[test]
fn a_read_between_two_slices_waits_for_the_next() {
    let mut bench = Bench::new(&resetting(), stopping(loops(1), false), 1);
    bench.at(0, program(0)).at(185_000, read(0)).run();
    assert_eq!((bench.of(1).at - READ, bench.of(0).at), (314_258, 633_055));
    let c = bench.nand.counters;
    assert_eq!((c.program_suspends, c.slices, c.slice_time, c.resume_time), (1, 2, 14_000, 7_000));
    assert_eq!((c.program_suspended_time, c.stop_time), (READ_DIE + 7_000, 125_000));
}

/// The shortest time between suspensions counts from the last resume, at 182258 + 54797 + 7000 = 244055, and not from the slices
/// that follow it: not before 444055, thus at the end of the slice from 376055 to 501055.
#[test]
fn the_interval_between_suspensions_spans_slices() {
    let mut config = stopping(loops(1), false);
    config.program_suspend.min_interval = Duration::from_us(200);
    let mut bench = Bench::new(&resetting(), config, 1);
    bench.at(0, program(0)).at(100, read(0)).at(300_000, read(0)).run();
    let starts = [bench.of(1).at - READ, bench.of(2).at - READ];
    assert_eq!((starts, bench.of(0).at), ([182_258, 501_055], 687_852));
}

/// The pulses of slices that divide a pulse ramp up, each after the first of a loop: two of 9000 in each of the three loops.
#[test]
fn every_part_of_a_pulse_ramps() {
    let scheme = Scheme::Sliced(Sliced { time: Some(Duration::from_us(400)), loops: 1, overhead: OVERHEAD });
    let mut config = stopping(scheme, false);
    config.erase_suspend.resume_ramp = Duration::from_us(9);
    let mut bench = Bench::new(&resetting(), config, 1);
    bench.at(0, erase(0)).run();
    assert_eq!(bench.of(0).at, 3_506_300 + 6 * 9_000);
    let c = bench.nand.counters;
    assert_eq!((c.ramp_time, c.slices, c.erase_suspends), (54_000, 8, 0));
}
