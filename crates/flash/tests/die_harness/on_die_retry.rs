//! Duration of reads whose die predicts failing decodes and senses again by itself, and waits behind them.
//!
//! Instants are worked out from the constants of the bench; a prediction takes [`P`].

use crate::common::*;
use interpulse_engine::Duration;
use interpulse_flash::errors::{ErrorSpec, Offsets, OnDie, Retry};
use interpulse_flash::nand::queue::Policy;
use interpulse_flash::nand::txn::Kind;
use interpulse_flash::nand::{ErrorCounters, NandConfig};
use interpulse_flash::parts::{CacheRegister, PartSpec};
use interpulse_flash::suspend::Scheme;

const NEVER: f64 = 0.5;
const ALWAYS: f64 = 0.0;
/// Least significant pages need one retry step; others none.
const ONCE: [f64; 2] = [NEVER, ALWAYS];
/// Least significant pages need three.
const THRICE: [f64; 4] = [NEVER, NEVER, NEVER, ALWAYS];
/// A prediction.
const P: u64 = 2_500;
/// No prediction is wrong; one repetition, with calibrated offsets.
const RIGHT: OnDie = OnDie {
    prediction: Duration::from_ns(P),
    missed: 0.0,
    needless: 0.0,
    most: 1,
    offsets: Offsets::Calibrated,
};

fn with(lsb: &[f64], on_die: OnDie, change: impl FnOnce(&mut ErrorSpec)) -> NandConfig {
    let errors = errors(lsb, &vec![ALWAYS; lsb.len()], |spec| {
        spec.ecc.retry = Retry::OnDie(on_die);
        change(spec);
    });
    NandConfig { errors, ..config() }
}

fn bench(lsb: &[f64], on_die: OnDie) -> Bench {
    Bench::new(&part(), with(lsb, on_die, |_| ()), 1)
}

/// Repetitions, needless ones, misses, transfers avoided.
fn counted(b: &Bench) -> [u64; 4] {
    let ErrorCounters { on_die_sensings, on_die_needless, on_die_missed, avoided_transfers, .. } =
        b.nand.reliability().unwrap().counters;
    [on_die_sensings, on_die_needless, on_die_missed, avoided_transfers]
}

/// 300 command + 50000 tR + 2500 + 50000 + 4497 out + 5000 decode; with the controller's retry it were 2 x 59797.
#[test]
fn a_failing_page_is_sensed_again_before_it_moves() {
    let b = check("once", bench(&ONCE, RIGHT), &[(0, read(0))], &[READ + P + LSB]);
    let done = b.of(0);
    assert_eq!(done.at, 112_297);
    // All of it is sensing: nothing was decoded in vain.
    assert_eq!(done.waits(), [0, 0, 0, 0, 0, 0, CMD + UNITS[1], 2 * LSB + P]);
    assert_eq!((done.txn.own, done.txn.attempt(), done.txn.is_retry()), (0, 0, false));
    assert_eq!(counted(&b), [1, 0, 0, 1]);
    assert_eq!(b.nand.counters.bus_time, CMD + UNITS[1]);
    assert_eq!(b.nand.decoders()[0].busy_ns(b.events.now()), INTERVAL);
    let e = b.nand.reliability().unwrap().counters;
    assert_eq!((e.reads, e.retry_steps, e.host_reads_retried), (1, 0, 0));
    // A page without errors takes the prediction alone.
    let b = check("good", bench(&[ALWAYS], RIGHT), &[(0, read(0))], &[READ + P]);
    assert_eq!(counted(&b), [0; 4]);
}

/// A miss moves and fails as without an engine; the controller's step is not judged.
#[test]
fn a_missed_page_moves_and_is_retried_by_the_controller() {
    let missing = OnDie { missed: 1.0, ..RIGHT };
    let b = check("missed", bench(&ONCE, missing), &[(0, read(0))], &[READ + P + READ]);
    assert_eq!(counted(&b), [0, 0, 1, 0]);
    let e = b.nand.reliability().unwrap().counters;
    assert_eq!((e.host_reads_retried, e.retry_steps, e.host_retry_time), (1, 1, READ));
    // A hundred percent of misses concerns uncorrectable sensings alone.
    check("good", bench(&[ALWAYS], missing), &[(0, read(0))], &[READ + P]);
}

#[test]
fn a_needless_repetition_costs_a_sensing() {
    let alarmed = OnDie { needless: 1.0, ..RIGHT };
    let b = check("needless", bench(&[ALWAYS, ALWAYS], alarmed), &[(0, read(0))], &[READ + P + LSB]);
    assert_eq!(counted(&b), [1, 1, 0, 0]);
}

/// The next offsets each time; what the die has used, the controller does not try again. The last sensing is not judged.
#[test]
fn repetitions_are_limited() {
    let next = |most| OnDie { most, offsets: Offsets::Next, ..RIGHT };
    let read_of_four = READ + 3 * (P + LSB);
    assert_eq!(read_of_four, 217_297);
    let b = check("three", bench(&THRICE, next(3)), &[(0, read(0))], &[read_of_four]);
    assert_eq!(counted(&b), [3, 0, 0, 3]);
    let b = check("two", bench(&THRICE, next(2)), &[(0, read(0))], &[READ + 2 * (P + LSB) + READ]);
    assert_eq!(counted(&b), [2, 0, 0, 2]);
    assert_eq!(b.nand.reliability().unwrap().by_attempts[..2], [0, 1]);
    // The last offsets of the table at once.
    check("calibrated", bench(&THRICE, RIGHT), &[(0, read(0))], &[READ + P + LSB]);
    // Four sensings judged where more would be allowed.
    check("more", bench(&THRICE, next(8)), &[(0, read(0))], &[read_of_four + P]);
}

/// One repetition, then a decode that fails and two steps of the controller.
#[test]
fn what_nothing_corrects_is_uncorrectable() {
    let config = with(&[NEVER], RIGHT, |spec| spec.ecc.max_retries = 2);
    let end = READ + P + LSB + 2 * READ;
    let b = check("lost", Bench::new(&part(), config, 1), &[(0, read(0))], &[end]);
    assert!(b.of(0).txn.is_uncorrectable());
    let reliability = b.nand.reliability().unwrap();
    assert_eq!((reliability.counters.uncorrectable_codewords, reliability.by_attempts[2]), (32, 1));
    assert_eq!(counted(&b), [1, 0, 0, 1]);
}

/// With `first-step = "last-successful"` the next read of the block starts with the offsets that the die found.
#[test]
fn the_offsets_of_a_repetition_are_remembered() {
    let config = with(&THRICE, RIGHT, |spec| spec.ecc.predict = true);
    let arrivals = [(0, read(0)), (1_000_000, read_of(0, 0, 0, 3, 1))];
    let ends = [READ + P + LSB, 1_000_000 + READ + P];
    check("remembered", Bench::new(&part(), config, 1), &arrivals, &ends);
}

/// AR2: a repetition takes three quarters of tR, as a retry step does.
#[test]
fn a_repetition_may_sense_for_less_time() {
    let config = with(&ONCE, RIGHT, |spec| spec.ecc.retry_sensing_ppm = 750_000);
    check("shorter", Bench::new(&part(), config, 1), &[(0, read(0))], &[READ + P + 37_500]);
}

/// Two dies on a channel: data of the second moves while the first senses again, and the failed data never moves.
#[test]
fn failed_data_takes_no_time_of_the_channel() {
    let arrivals = [(0, read(0)), (0, read_of(1, 0, 0, 1, 1))];
    let on_die = Bench::new(&part(), with(&ONCE, RIGHT, |_| ()), 2);
    // The second command follows the first: 600 + 60000 + 2500 + 4497 + 5000.
    let b = check("two dies", on_die, &arrivals, &[READ + P + LSB, 72_597]);
    assert_eq!(b.nand.counters.bus_time, 2 * (CMD + UNITS[1]));
    let regular = with(&ONCE, RIGHT, |spec| spec.ecc.retry = Retry::Regular);
    let b = check("regular", Bench::new(&part(), regular, 2), &arrivals, &[2 * READ, 70_097]);
    assert_eq!(b.nand.counters.bus_time, 3 * (CMD + UNITS[1]));
}

/// Reads of one die wait for the repetition, also reads of the host behind one of garbage collection.
#[test]
fn a_repetition_is_not_interrupted() {
    let gc = but(read(0), |t| t.kind = Kind::GcRead);
    let config = NandConfig { policy: Policy::ReadPriority, ..with(&ONCE, RIGHT, |_| ()) };
    let arrivals = [(0, gc), (60_000, read_of(0, 0, 0, 1, 1))];
    let free = READ_DIE + P + LSB;
    let ends = [free + DECODE, free + CMD + CSB + P + UNITS[1] + DECODE];
    assert_eq!(ends, [112_297, 179_594]);
    let b = check("behind", Bench::new(&part(), config, 1), &arrivals, &ends);
    assert_eq!(b.of(1).waits().iter().sum::<u64>(), ends[1] - DECODE - 60_000);
    assert_eq!(counted(&b), [1, 0, 0, 1]);
}

/// A suspended program waits for the repetition; it is stopped once.
#[test]
fn a_suspension_lasts_for_the_repetition() {
    let config =
        NandConfig { errors: with(&ONCE, RIGHT, |_| ()).errors, ..suspending(Scheme::Ideal, &part()) };
    let mut b = Bench::new(&part(), config, 1);
    b.at(0, program(0)).at(100_000, read(0)).run();
    assert_eq!(b.of(1).at, 100_000 + READ + P + LSB);
    assert_eq!(b.of(0).at, PROGRAM + READ_DIE + P + LSB);
    assert_eq!((b.nand.counters.program_suspends, b.nand.counters.reads_in_suspension), (1, 1));
}

/// A page that is being programmed is in the page buffer: neither sensed nor judged.
#[test]
fn the_page_buffer_is_not_judged() {
    let alarmed = OnDie { needless: 1.0, missed: 0.0, ..RIGHT };
    let config =
        NandConfig { errors: with(&[NEVER], alarmed, |_| ()).errors, ..suspending(Scheme::Ideal, &part()) };
    let mut b = Bench::new(&part(), config, 1);
    let written = but(program(0), |t| t.block = interpulse_flash::ids::BlockId(5));
    b.at(0, written).at(100_000, read_of(0, 0, 5, 0, 1)).run();
    assert_eq!(b.of(1).at, 100_000 + CMD + UNITS[1] + DECODE);
    assert_eq!(counted(&b), [0; 4]);
}

/// Pages sensed together are judged together; those that fail are sensed again together, and all data moves after that.
#[test]
fn pages_of_several_planes_are_judged_together() {
    let together = NandConfig { multi_plane_reads: true, ..with(&ONCE, RIGHT, |_| ()) };
    let good = |plane| read_of(0, plane, 0, 1, 1);
    let arrivals = [(0, good(2)), (1, read(0)), (2, good(1))];
    // 67297: the die is free. Two commands, the longer tR, prediction, tR of plane 0, data of plane 0, then of plane 1.
    let sensed = 67_297 + 2 * CMD + CSB + P + LSB;
    assert_eq!(sensed, 180_397);
    let ends = [72_297, sensed + UNITS[1] + DECODE, sensed + 2 * UNITS[1] + DECODE];
    let b = check("together", Bench::new(&part(), together, 1), &arrivals, &ends);
    for k in 1..3 {
        assert_eq!(b.of(k).waits()[7], CSB + P + LSB);
    }
    assert_eq!(counted(&b), [1, 0, 0, 1]);
    // Both fail: sensed again together, of different page types for the longer time.
    let both = errors(&ONCE, &ONCE, |spec| spec.ecc.retry = Retry::OnDie(RIGHT));
    let config = NandConfig { multi_plane_reads: true, errors: both, ..config() };
    let arrivals = [(0, good(2)), (1, read(0)), (2, read_of(0, 1, 0, 2, 1))];
    let sensed = 67_297 + 2 * CMD + MSB + P + MSB;
    let ends = [72_297, sensed + UNITS[1] + DECODE, sensed + 2 * UNITS[1] + DECODE];
    let b = check("both", Bench::new(&part(), config, 1), &arrivals, &ends);
    assert_eq!(counted(&b), [2, 0, 0, 2]);
}

/// Each plane has an engine: one senses again while another predicts and its data moves.
#[test]
fn planes_that_read_on_their_own_repeat_on_their_own() {
    let part = PartSpec { independent_plane_reads: true, ..part() };
    let arrivals = [(0, read(0)), (0, read_of(0, 1, 0, 1, 1)), (0, read_of(0, 1, 0, 4, 1))];
    // Plane 1: 600 + 60000 + 2500 + 4497, and at once the next.
    let free = 67_597;
    let ends = [READ + P + LSB, free + DECODE, free + CMD + CSB + P + UNITS[1] + DECODE];
    let b = check("planes", Bench::new(&part, with(&ONCE, RIGHT, |_| ()), 1), &arrivals, &ends);
    assert_eq!(b.of(0).waits()[7], 2 * LSB + P);
    assert_eq!(counted(&b), [1, 0, 0, 1]);
    let next = OnDie { most: 3, offsets: Offsets::Next, ..RIGHT };
    let ends = [READ + 3 * (P + LSB)];
    let b = check("thrice", Bench::new(&part, with(&THRICE, next, |_| ()), 1), &arrivals[..1], &ends);
    assert_eq!(counted(&b), [3, 0, 0, 3]);
}

/// Only judged data goes to the cache register; it moves out while the next page is sensed.
#[test]
fn the_cache_register_takes_judged_data() {
    let part = PartSpec { cache: CacheRegister { reads: true, ..CacheRegister::NONE }, ..part() };
    let arrivals = [(0, read(0)), (0, read_of(0, 0, 0, 1, 1))];
    // Sensed twice until 102800; the command of the next read goes first, then the data of this one.
    let sensed = CMD + 2 * LSB + P;
    let ends = [sensed + CMD + UNITS[1] + DECODE, sensed + CMD + CSB + P + UNITS[1] + DECODE];
    assert_eq!(ends, [112_597, 175_097]);
    let b = check("cached", Bench::new(&part, with(&ONCE, RIGHT, |_| ()), 1), &arrivals, &ends);
    assert_eq!((b.nand.counters.cached_reads, counted(&b)), (1, [1, 0, 0, 1]));
}

/// Rates at which some first sensings fail and some do not.
const SOME: [f64; 2] = [5e-3, ALWAYS];
const READS: u64 = 400;

fn many(config: NandConfig, seed: u64) -> Bench {
    let mut b = Bench::with_seed(&part(), config, 1, seed);
    (0..READS).for_each(|k| {
        b.at(k * 1_000_000, read(0));
    });
    b.run();
    b
}

/// Predictions have random numbers of their own: first sensings have the errors that they have with any retry.
#[test]
fn errors_do_not_depend_on_predictions() {
    let regular = many(with(&SOME, RIGHT, |spec| spec.ecc.retry = Retry::Regular), 1);
    let failed = regular.nand.reliability().unwrap().counters.host_reads_retried;
    assert!((50..350).contains(&failed), "{failed} reads fail");
    let b = many(with(&SOME, RIGHT, |_| ()), 1);
    assert_eq!(counted(&b), [failed, 0, 0, failed]);
    let wrong = OnDie { missed: 0.5, needless: 0.5, ..RIGHT };
    let b = many(with(&SOME, wrong, |_| ()), 1);
    let [repeated, needless, missed, avoided] = counted(&b);
    assert_eq!((avoided + missed, needless + avoided), (failed, repeated));
    // Five standard deviations of half of up to 400.
    assert!((2 * missed).abs_diff(failed) < 100 && (2 * needless).abs_diff(READS - failed) < 100);
    assert_eq!(counted(&many(with(&SOME, wrong, |_| ()), 1)), counted(&b), "same seed, same predictions");
    assert_ne!(counted(&many(with(&SOME, wrong, |_| ()), 2)), counted(&b));
}
