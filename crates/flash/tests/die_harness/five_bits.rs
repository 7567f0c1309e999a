//! Five bits per cell: page types, whole word lines and capacity.

use crate::common::*;
use interpulse_engine::{Duration, SimTime};
use interpulse_flash::geometry::{Geometry, Timing};
use interpulse_flash::ids::BlockId;
use interpulse_flash::parts::power::Draw;
use interpulse_flash::parts::{PartSpec, TrainSpec};
use interpulse_flash::suspend::Scheme;

/// tR of the five page types.
const READS: [u64; 5] = [LSB, CSB, MSB, 110_000, 160_000];
/// 49 loops of 40 us of pulse and 210 us of verifies.
const LOOPS: u64 = 49;
const LONG_LOOP: u64 = 250_000;
/// A word line is five page loads and the train.
const PULSES_FROM: u64 = CMD + 5 * LOAD;
const WORD_LINE: u64 = PULSES_FROM + LOOPS * LONG_LOOP;

fn plc() -> PartSpec {
    let us = Duration::from_us;
    PartSpec {
        bits_per_cell: 5,
        read: READS.map(Duration::from_ns).to_vec(),
        program: TrainSpec::even(LOOPS as u32, us(40), us(0), us(210)),
        ..part()
    }
}

/// 24 pages hold four word lines of five; the last four pages stay unused.
#[test]
fn capacity_counts_whole_word_lines() {
    let (part, geometry) = (plc(), Geometry::new(1, 1, 1, &plc()));
    assert_eq!((part.word_lines(), part.usable_pages()), (4, 20));
    assert_eq!((geometry.pages_per_block(), geometry.units_per_block()), (20, 80));
    assert_eq!(geometry.pages_per_program, 5);
    assert_eq!(Timing::new(&part, 4096).read.len(), 5);
}

#[test]
fn every_page_type_has_its_time_and_current() {
    let mut bench = Bench::new(&plc(), config(), 1);
    // Word line 1: pages 5 to 9, far apart.
    for k in 0..5 {
        bench.at(u64::from(k) * 1_000_000, read_of(0, 0, 1, 5 + k, 1));
    }
    bench.run();
    let took: Vec<u64> = (0..5).map(|k| bench.of(k).time()).collect();
    assert_eq!(took, READS.map(|sensing| CMD + sensing + UNITS[1] + DECODE));
    let spent = bench.nand.spent(SimTime(5_000_000));
    let sensed = |draw: Draw| spent.times.iter().map(|row| row[draw as usize]).sum::<u64>();
    let draws = [Draw::Sense0, Draw::Sense1, Draw::Sense2, Draw::Sense3, Draw::Sense4];
    assert_eq!(draws.map(sensed), READS);
}

#[test]
fn a_word_line_is_five_loads_and_one_train() {
    let bench = check("alone", Bench::new(&plc(), config(), 1), &[(0, program(0))], &[WORD_LINE]);
    assert_eq!(bench.nand.counters.bus_time, CMD + 5 * UNITS[4]);
    // A read of the fifth page stops the train at the end of its first loop.
    let config = suspending(Scheme::LoopBoundary, &plc());
    let read = read_of(0, 0, 1, 9, 1);
    let entered = PULSES_FROM + LONG_LOOP + 20_000;
    let moved = entered + CMD + READS[4] + UNITS[1];
    let ends = [moved + 10_000 + (LOOPS - 1) * LONG_LOOP, moved + DECODE];
    check("stopped", Bench::new(&plc(), config, 1), &[(0, program(0)), (PULSES_FROM + 1, read)], &ends);
}

#[test]
fn a_program_writes_five_pages() {
    let mut bench = Bench::new(&plc(), config(), 1);
    bench.at(0, but(program(0), |t| t.block = BlockId(5))).run();
    assert_eq!(bench.nand.dies()[0].blocks().programmed(0, BlockId(5)), 5);
}
