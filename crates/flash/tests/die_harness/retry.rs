//! Duration of reads with a failed first decode, and waits behind them.

use crate::common::*;
use interpulse_engine::Duration;
use interpulse_flash::DieId;
use interpulse_flash::errors::{ErrorSpec, Pipelined, Retry, SoftStage};
use interpulse_flash::geometry::BlockAddress;
use interpulse_flash::ids::BlockId;
use interpulse_flash::nand::NandConfig;
use interpulse_flash::nand::queue::Policy;
use interpulse_flash::nand::txn::{Kind, Txn};
use interpulse_flash::suspend::Scheme;

const NEVER: f64 = 0.5;
const ALWAYS: f64 = 0.0;
/// Least significant pages need two retry steps; others none.
const TWICE: [f64; 3] = [NEVER, NEVER, ALWAYS];
const NOT_AT_ALL: [f64; 3] = [ALWAYS; 3];

fn with(lsb: &[f64], change: impl FnOnce(&mut ErrorSpec)) -> NandConfig {
    NandConfig { errors: errors(lsb, &NOT_AT_ALL[..lsb.len()], change), ..config() }
}

fn bench(lsb: &[f64], change: impl FnOnce(&mut ErrorSpec)) -> Bench {
    Bench::new(&part(), with(lsb, change), 1)
}

/// Command, sensing, data out and decode again and again.
#[test]
fn regular_steps_follow_one_another() {
    let b = check("two steps", bench(&TWICE, |_| ()), &[(0, read(0))], &[3 * READ]);
    let done = b.of(0);
    assert_eq!(done.at, 179_391);
    // The account of the first attempt stays; what follows its decode is the retry's.
    assert_eq!(done.waits(), [0, 0, 0, 0, 0, 0, CMD + UNITS[1], LSB]);
    assert_eq!((done.txn.mark.0, done.txn.own), (READ_DIE, 2 * READ));
    assert_eq!((done.txn.attempt(), done.txn.is_uncorrectable()), (2, false));
    let reliability = b.nand.reliability().unwrap();
    assert_eq!((reliability.counters.retry_steps, reliability.counters.host_reads_retried), (2, 1));
    assert_eq!(reliability.by_attempts[..4], [0, 0, 1, 0]);
    check("none", bench(&TWICE, |_| ()), &[(0, read_of(0, 0, 0, 1, 1))], &[300 + CSB + 4_497 + DECODE]);
}

/// Retry steps sensed ahead, which take so many ns to cut off.
fn ahead(reset: u64) -> Retry {
    Retry::Pipelined(Pipelined { reset: Duration::from_ns(reset) })
}

/// PR2: n sensings end to end, then one transfer and one decode; the sensing begun in vain is reset.
#[test]
fn pipelined_steps_overlap() {
    let pipelined = |spec: &mut ErrorSpec| {
        spec.ecc.retry = ahead(5_000);
    };
    let end = READ + CMD + 2 * LSB + UNITS[1] + DECODE;
    assert_eq!(end, 169_594);
    let b = check("pipelined", bench(&TWICE, pipelined), &[(0, read(0))], &[end]);
    assert_eq!(b.nand.reliability().unwrap().counters.cut_off_sensings, 1);
    // The second read waits for the reset too; it needs no retry. It came while the first one's data was decoded.
    let second = read_of(0, 0, 0, 1, 1);
    let third = end + 5_000 + CMD + CSB + UNITS[1] + DECODE;
    check("reset", bench(&TWICE, pipelined), &[(0, read(0)), (60_000, second)], &[end, third]);
    // Where the last step has begun nothing is sensed in vain.
    let last = |spec: &mut ErrorSpec| {
        pipelined(spec);
        spec.ecc.max_retries = 2;
    };
    let third = end + CMD + CSB + UNITS[1] + DECODE;
    let b = check("last", bench(&TWICE, last), &[(0, read(0)), (60_000, second)], &[end, third]);
    assert_eq!(b.nand.reliability().unwrap().counters.cut_off_sensings, 0);
}

/// A decode slower than a sensing: the data of a step waits for the decode of the one before.
#[test]
fn the_data_of_a_step_waits_for_the_decode_before() {
    let slow = Duration::from_ns(80_000);
    let config = NandConfig { ecc_latency: slow, ..with(&TWICE, |spec| spec.ecc.retry = ahead(0)) };
    // First decode ends at 54797 + 80000; step 1 sensed at 135097 + 50000, moved at 189594, decoded at 269594; step 2,
    // long since sensed, moves until 274091.
    check("slow decode", Bench::new(&part(), config, 1), &[(0, read(0))], &[274_091 + 80_000]);
}

/// AR2: a retry step senses for three quarters of tR, alone and pipelined.
#[test]
fn adaptive_steps_sense_for_less_time() {
    let short = |spec: &mut ErrorSpec| spec.ecc.retry_sensing_ppm = 750_000;
    let step = CMD + 37_500 + UNITS[1] + DECODE;
    check("adaptive", bench(&TWICE, short), &[(0, read(0))], &[READ + 2 * step]);
    let both = |spec: &mut ErrorSpec| {
        short(spec);
        spec.ecc.retry = ahead(0);
    };
    check("both", bench(&TWICE, both), &[(0, read(0))], &[READ + step + 37_500]);
}

/// Stages of soft decoding sense again with the full tR and move each sensing's data.
#[test]
fn soft_decoding_comes_after_the_last_step() {
    let soft = |capability| {
        move |spec: &mut ErrorSpec| {
            spec.ecc.max_retries = 1;
            let stage =
                |sensings, capability, us| SoftStage { sensings, capability, latency: Duration::from_us(us) };
            spec.ecc.soft = vec![stage(2, 11, 7), stage(1, capability, 9)];
        }
    };
    let first = CMD + 2 * LSB + 2 * UNITS[1] + 7_000;
    let second = CMD + LSB + UNITS[1] + 9_000;
    let end = 2 * READ + first + second;
    let b = check("soft", bench(&[NEVER], soft(1024)), &[(0, read(0))], &[end]);
    assert!(!b.of(0).txn.is_uncorrectable());
    let b = check("soft in vain", bench(&[NEVER], soft(12)), &[(0, read(0))], &[end]);
    assert!(b.of(0).txn.is_uncorrectable());
    let e = b.nand.reliability().unwrap().counters;
    assert_eq!((e.uncorrectable_host_reads, e.soft_decodes, e.retry_steps), (1, 2, 1));
    // A unit of 4 KiB is 32 codewords of 1024 bits.
    assert_eq!((e.uncorrectable_codewords, e.bits), (32, 32_768));
}

#[test]
fn without_anything_left_to_try_a_read_is_uncorrectable() {
    let b = check("no retry", bench(&[NEVER], |s| s.ecc.max_retries = 0), &[(0, read(0))], &[READ]);
    assert!(b.of(0).txn.is_uncorrectable() && !b.of(0).txn.is_retry());
    assert_eq!(b.of(0).txn.own, 0);
    let b = check("three in vain", bench(&[NEVER], |s| s.ecc.max_retries = 3), &[(0, read(0))], &[4 * READ]);
    assert!(b.of(0).txn.is_uncorrectable() && b.of(0).txn.is_retry());
}

/// What is read while a first decode is under way keeps the die; the failed read comes next, before others that wait,
/// and holds the die until it is decoded.
#[test]
fn a_failed_read_comes_next_on_its_die() {
    let one = [NEVER, ALWAYS];
    let good = read_of(0, 0, 0, 1, 1);
    let good_die = CMD + CSB + UNITS[1];
    let retried = READ_DIE + good_die + READ;
    let arrivals = [(0, read(0)), (0, good), (0, good)];
    let ends = [retried, READ_DIE + good_die + DECODE, retried + good_die + DECODE];
    let b = check("next", bench(&one, |_| ()), &arrivals, &ends);
    assert_eq!(b.of(0).txn.own, retried - READ, "its wait for the die is part of its retry");
    assert_eq!(b.of(2).waits()[0], retried, "the third waits behind reads of the host");
}

/// The retry of a read that a suspension let pass suspends the operation again if it has gone on meanwhile.
#[test]
fn a_retry_stops_a_program_again() {
    let config = NandConfig {
        errors: errors(&[NEVER, ALWAYS], &[ALWAYS; 2], |_| ()),
        ..suspending(Scheme::Ideal, &part())
    };
    let mut b = Bench::new(&part(), config, 1);
    b.at(0, program(0)).at(100_000, read(0)).run();
    // The program goes on for the 5000 of the first decode.
    assert_eq!(b.of(1).at, 100_000 + 2 * READ);
    assert_eq!(b.of(0).at, PROGRAM + READ_DIE + READ);
    assert_eq!((b.nand.counters.program_suspends, b.nand.counters.reads_in_suspension), (2, 2));
}

/// Two reads sensed together fail together and repeat one after the other.
#[test]
fn each_page_of_a_batch_is_retried_on_its_own() {
    let config = NandConfig { multi_plane_reads: true, ..with(&[NEVER, ALWAYS], |_| ()) };
    let mut b = Bench::new(&part(), config, 1);
    b.at(0, read_of(0, 0, 0, 1, 1)).at(1, read(0)).at(2, read_of(0, 1, 0, 0, 1)).run();
    let sensed = CMD + CSB + UNITS[1] + 2 * CMD + LSB;
    let first_decode = sensed + UNITS[1] + DECODE;
    // The second one's data is still moving when the first decode might fail, but decodes overlap: it is free by then.
    let die_free = sensed + 2 * UNITS[1];
    assert!(first_decode > die_free);
    assert_eq!(b.of(1).at, first_decode + READ);
    assert_eq!(b.of(2).at, first_decode + 2 * READ);
}

/// A page that is being programmed is read from the page buffer, where no error is.
#[test]
fn the_page_buffer_holds_no_errors() {
    let config =
        NandConfig { errors: errors(&[NEVER], &[NEVER], |_| ()), ..suspending(Scheme::Ideal, &part()) };
    let mut b = Bench::new(&part(), config, 1);
    b.at(0, but(program(0), |t| t.block = BlockId(5))).at(100_000, read_of(0, 0, 5, 0, 1)).run();
    assert_eq!(b.of(1).at, 100_000 + CMD + UNITS[1] + DECODE);
    assert!(!b.of(1).txn.is_uncorrectable());
    assert_eq!(b.nand.reliability().unwrap().counters.reads, 0);
}

/// Reads of garbage collection are retried likewise and counted apart.
#[test]
fn reads_of_garbage_collection_take_their_steps() {
    let gc = but(read(0), |t| t.kind = Kind::GcRead);
    let config = NandConfig { policy: Policy::ReadPriority, ..with(&TWICE, |_| ()) };
    let b = check("gc", Bench::new(&part(), config, 1), &[(0, gc)], &[3 * READ]);
    let e = b.nand.reliability().unwrap().counters;
    assert_eq!((e.gc_reads_retried, e.gc_retry_time, e.host_reads_retried), (1, 2 * READ, 0));
}

/// With prediction the next read of the block begins with the step that succeeded, until an erase.
#[test]
fn prediction_starts_with_the_last_step_that_succeeded() {
    let arrivals = [(0, read(0)), (1_000_000, read_of(0, 0, 0, 3, 1)), (2_000_000, read_of(0, 1, 0, 0, 1))];
    let ends = [3 * READ, 1_000_000 + READ, 2_000_000 + 3 * READ];
    let b = check("predicted", bench(&TWICE, |s| s.ecc.predict = true), &arrivals, &ends);
    let first = |plane| BlockAddress { die: DieId(0), plane, block: BlockId(0) };
    let block = |plane| b.nand.reliability().unwrap().block(first(plane)).last_step;
    assert_eq!((block(0), block(1), block(2)), (2, 2, 0));
    let b = check("not predicted", bench(&TWICE, |_| ()), &arrivals[..2], &[3 * READ, 1_000_000 + 3 * READ]);
    assert_eq!(b.nand.reliability().unwrap().block(first(0)).reads, 6);
}

/// Decoding is fast without errors; what fails takes longest; what is short overtakes what is long.
#[test]
fn decoding_slows_down_with_errors() {
    let slow = with(&[NEVER], |spec| {
        spec.ecc.latency_growth = 19.0;
        spec.ecc.max_latency = Some(Duration::from_ns(90_000));
        spec.ecc.max_retries = 0;
    });
    let config = NandConfig { ecc_latency: Duration::from_ns(1_000), ecc_interval: Duration::ZERO, ..slow };
    let arrivals = [(0, read(0)), (0, read_of(0, 0, 0, 1, 1))];
    let ends = [READ_DIE + 90_000, READ_DIE + CMD + CSB + UNITS[1] + 1_000];
    assert!(ends[1] < ends[0]);
    check("errors", Bench::new(&part(), config, 1), &arrivals, &ends);
}

/// Wear, age and reads of a block follow what is done to it.
#[test]
fn the_state_of_a_block() {
    let block = |block| BlockAddress { die: DieId(0), plane: 0, block };
    let config = with(&[ALWAYS], |spec| {
        spec.initial_age = Duration::from_us(1_000_000);
        spec.reclaim_reads = Some(2);
    });
    let mut b = Bench::new(&part(), config, 1);
    let word_line = but(program(0), |t| (t.plane, t.block, t.page) = (0, BlockId(7), 0));
    let second = but(word_line, |t| t.page = 3);
    b.nand.reliability_mut().unwrap().set_cycles(block(BlockId(7)), 41);
    b.at(0, but(erase(0), |t| t.set_cycles(41))).at(10_000_000, word_line).at(20_000_000, second);
    (0..4).for_each(|k| {
        b.at(30_000_000 + k * 1_000_000, read_of(0, 0, 7, 0, 1));
    });
    b.run();
    let reliability = b.nand.reliability().unwrap();
    let erased = reliability.block(block(BlockId(7)));
    assert_eq!((erased.cycles, erased.reads), (42, 4));
    let now = b.events.now();
    assert_eq!(
        reliability.age(block(BlockId(7)), now).as_ns(),
        now.0 - (10_000_000 + PROGRAM),
        "from its first program on"
    );
    assert_eq!(
        reliability.age(block(BlockId(6)), now).as_ns(),
        now.0 + 1_000_000_000,
        "as old as at the start, and older"
    );
    let asks: Vec<bool> = (3..7).map(|k| b.of(k).txn.needs_reclaim()).collect();
    assert_eq!(asks, [false, true, false, false]);
}

/// A transaction is copied often: what is larger than two cache lines is copied by a call.
#[test]
fn a_transaction_stays_small() {
    assert!(size_of::<Txn>() <= 128, "{} bytes", size_of::<Txn>());
}
