//! Programs in two steps: order of the steps, reads between them, suspension, erases that wait.
//!
//! A first step of 3 pages takes 300 + 3 * 18986 + 250000 = 307258, a second one 557258 as a program does otherwise.

use crate::common::*;
use interpulse_engine::Duration;
use interpulse_flash::DieId;
use interpulse_flash::ids::BlockId;
use interpulse_flash::nand::NandConfig;
use interpulse_flash::nand::queue::Policy;
use interpulse_flash::nand::txn::Txn;
use interpulse_flash::parts::{PartSpec, ProgramMode, TrainSpec, TwoStepSpec};
use interpulse_flash::suspend::Scheme;

const FIRST_PULSES: u64 = 2 * LOOP;
const FIRST: u64 = CMD + 3 * LOAD + FIRST_PULSES;
const SECOND: u64 = PROGRAM;

/// A part of two steps that load so many pages.
fn two_step(first_pages: u32, second_pages: u32) -> PartSpec {
    let us = Duration::from_us;
    let program = TrainSpec::even(2, us(35), us(0), us(90));
    let steps = TwoStepSpec { program, first_pages, second_pages };
    PartSpec { program_mode: ProgramMode::TwoStep, two_step: Some(steps), ..part() }
}

/// A program of this word line of block 4.
fn word_line(k: u32) -> Txn {
    but(program(0), |t| (t.block, t.page) = (BlockId(4), 3 * k))
}

fn read_line(k: u32) -> Txn {
    read_of(0, 0, 4, 3 * k, 1)
}

#[test]
fn the_second_step_of_a_word_line_follows_the_first_of_the_next() {
    assert_eq!((FIRST, SECOND), (307_258, 557_258));
    // First steps of 0 and 1, second of 0, first of 2, second of 1; the second step of 2 waits for word line 3.
    let arrivals = [(0, word_line(0)), (1, word_line(1)), (2, word_line(2))];
    let ends = [FIRST, 2 * FIRST, 3 * FIRST + SECOND];
    let bench = check("three", Bench::new(&two_step(3, 3), config(), 1), &arrivals, &ends);
    assert_eq!(bench.events.now().0, 3 * FIRST + 2 * SECOND);
    let c = bench.nand.counters;
    assert_eq!((c.host_programs, c.second_steps), (5, 2));
    assert_eq!(c.bus_time, 5 * (CMD + 3 * UNITS[4]));
    assert_eq!(bench.nand.dies()[0].blocks().programmed(0, BlockId(4)), 9);
}

/// Word line 7 is the last of its block: its second step follows that of word line 6.
#[test]
fn the_last_word_line_of_a_block_needs_no_next_one() {
    let arrivals: Vec<_> = (0..8).map(|k| (u64::from(k), word_line(k))).collect();
    let end = |k: u64| (k + 1) * FIRST + k.saturating_sub(1) * SECOND;
    let ends: Vec<u64> = (0..8).map(end).collect();
    let bench = check("block", Bench::new(&two_step(3, 3), config(), 1), &arrivals, &ends);
    assert_eq!((bench.events.now().0, bench.nand.counters.second_steps), (8 * (FIRST + SECOND), 8));
}

/// The least significant page first, then the other two.
#[test]
fn each_step_loads_its_pages() {
    let arrivals = [(0, word_line(0)), (1, word_line(1))];
    let first = CMD + LOAD + FIRST_PULSES;
    let bench = check("pages", Bench::new(&two_step(1, 2), config(), 1), &arrivals, &[first, 2 * first]);
    assert_eq!(bench.events.now().0, 2 * first + CMD + 2 * LOAD + PULSES);
}

#[test]
fn a_word_line_is_read_from_the_controller_until_its_second_step_has_ended() {
    let mut bench = Bench::new(&two_step(3, 3), suspending(Scheme::Ideal, &part()), 1);
    bench.at(0, word_line(0)).at(1, word_line(1));
    // During the second step of word line 0, which no such read stops; after it; word line 1 still waits for the next.
    let (during, after) = (2 * FIRST + 300_000, 2 * FIRST + SECOND + 1);
    bench.at(during, read_line(0)).at(during + 10_000, read_line(1));
    bench.at(after, read_line(0)).at(after + READ, read_line(1));
    bench.run();
    let times: Vec<u64> = (2..6).map(|owner| bench.of(owner).time()).collect();
    assert_eq!(times, [DECODE, DECODE, READ, DECODE]);
    let c = bench.nand.counters;
    assert_eq!((c.two_step_buffer_reads, c.host_reads, c.program_suspends), (3, 4, 0));
    assert_eq!(bench.of(2).waited(), 0, "the decoder alone");
}

#[test]
fn each_step_is_suspended_by_the_scheme() {
    let mut bench = Bench::new(&two_step(3, 3), suspending(Scheme::LoopBoundary, &part()), 1);
    bench.at(0, word_line(0)).at(1, word_line(1));
    let cost = 20_000 + READ_DIE + 10_000;
    // In the first loop of the first step, and in that of the second.
    bench.at(PULSES_AT + 1, read(0)).at(2 * FIRST + cost + PULSES_AT + 1, read(0));
    bench.run();
    let ends: Vec<u64> = (0..4).map(|owner| bench.of(owner).at).collect();
    let (stop, stop_of_second) = (PULSES_AT + LOOP, 2 * FIRST + cost + PULSES_AT + LOOP);
    assert_eq!(ends, [FIRST + cost, 2 * FIRST + cost, stop + 20_000 + READ, stop_of_second + 20_000 + READ]);
    assert_eq!(bench.events.now().0, 2 * FIRST + SECOND + 2 * cost);
    assert_eq!(bench.nand.counters.program_suspends, 2);
}

/// An erase that goes before programs waits for the second steps of its block, and drops one that has not been queued.
#[test]
fn an_erase_waits_for_the_second_steps_of_its_block() {
    let urgent = || {
        let config = NandConfig { policy: Policy::ReadPriority, ..config() };
        let mut bench = Bench::new(&two_step(3, 3), config, 1);
        bench.nand.set_gc_urgent(DieId(0), 0, true);
        bench
    };
    let erase_4 = || but(erase(0), |t| t.block = BlockId(4));
    let mut bench = urgent();
    (0..8).for_each(|k| {
        bench.at(u64::from(k), word_line(k));
    });
    let closed = 8 * FIRST + 6 * SECOND;
    bench.at(closed + 1, erase_4()).run();
    assert_eq!(bench.of(8).at, 8 * (FIRST + SECOND) + CMD + ERASE_PULSES);
    // Word line 0 waits for a next one that does not come: its block is erased at once, and can be programmed anew.
    let mut bench = urgent();
    bench.at(0, word_line(0)).at(FIRST + 1, erase_4()).at(FIRST + 2, word_line(0)).run();
    let erased = FIRST + 1 + CMD + ERASE_PULSES;
    assert_eq!((bench.of(1).at, bench.of(2).at), (erased, erased + FIRST));
    assert_eq!(bench.nand.counters.second_steps, 0);
}
