//! Tests of variation through the array: permanent differences between word lines, and growth of erases with wear.

use crate::common::*;
use interpulse_engine::Duration;
use interpulse_flash::ids::BlockId;
use interpulse_flash::nand::NandConfig;
use interpulse_flash::nand::txn::Txn;
use interpulse_flash::parts::{EraseWear, PartSpec, TrainSpec};
use interpulse_flash::suspend::Scheme;
use interpulse_oracle::stats;

fn varied() -> PartSpec {
    PartSpec { program: TrainSpec { loops: 16, ..part().program }, program_loops_sd: 1.5, ..part() }
}

/// The word lines of block 4 of these planes in order.
fn block(die: u32, plane: u32, planes: u32) -> impl Iterator<Item = Txn> {
    let place = move |wl: u32, t: &mut Txn| {
        (t.block, t.page, t.plane, t.planes) = (BlockId(4), 3 * wl, plane as u8, planes as u8)
    };
    (0..8).map(move |wl| but(program(die), |t| place(wl, t)))
}

/// Loops of each word line, programmed in sequence on an idle array of one die.
fn loops(bench: &mut Bench, die: u32, plane: u32, planes: u32) -> Vec<u64> {
    let mut start = bench.events.now().0 + 1;
    block(die, plane, planes)
        .map(|txn| {
            bench.at(start, txn).run();
            let pulses = bench.done.last().unwrap().time() - u64::from(planes) * (CMD + 3 * LOAD);
            assert_eq!(pulses % LOOP, 0);
            start = bench.events.now().0 + 1;
            pulses / LOOP
        })
        .collect()
}

fn fresh(seed: u64) -> Bench {
    Bench::with_seed(&varied(), config(), 2, seed)
}

#[test]
fn a_word_line_takes_the_same_loops_each_time_it_is_programmed() {
    let mut bench = fresh(1);
    let first = loops(&mut bench, 0, 0, 1);
    let erase_at = bench.events.now().0 + 1;
    bench.at(erase_at, but(erase(0), |t| t.block = BlockId(4))).run();
    assert_eq!(loops(&mut bench, 0, 0, 1), first);
    assert!(first.iter().any(|&n| n != first[0]), "{first:?}");
    // The same seed; another seed; another die or plane.
    assert_eq!(loops(&mut fresh(1), 0, 0, 1), first);
    assert_ne!(loops(&mut fresh(2), 0, 0, 1), first);
    assert_ne!(loops(&mut fresh(1), 1, 0, 1), first);
    assert_ne!(loops(&mut fresh(1), 0, 1, 1), first);
}

#[test]
fn a_suspended_word_line_takes_the_same_loops() {
    let calm = loops(&mut fresh(1), 0, 0, 1);
    let config = suspending(Scheme::LoopBoundary, &part());
    let mut bench = Bench::with_seed(&varied(), config, 1, 1);
    let mut start = 1;
    for (txn, &n) in block(0, 0, 1).zip(&calm) {
        bench.at(start, txn).at(start + 300_000, read(0)).run();
        let program = bench.done.iter().rfind(|d| d.txn.block == BlockId(4)).unwrap();
        // Plus entry, read and resume.
        assert_eq!(program.time(), PULSES_AT + n * LOOP + 20_000 + READ_DIE + 10_000);
        start = bench.events.now().0 + 1;
    }
}

#[test]
fn planes_programmed_together_take_as_long_as_the_slowest() {
    let alone: Vec<Vec<u64>> = (0..4).map(|plane| loops(&mut fresh(1), 0, plane, 1)).collect();
    let together = loops(&mut fresh(1), 0, 0, 4);
    let slowest: Vec<u64> = (0..8).map(|wl| alone.iter().map(|plane| plane[wl]).max().unwrap()).collect();
    assert_eq!(together, slowest);
    let pair: Vec<u64> = (0..8).map(|wl| alone[1][wl].max(alone[2][wl])).collect();
    assert_eq!(loops(&mut fresh(1), 0, 1, 2), pair);
}

/// Programs without an address vary by their order.
#[test]
fn programs_without_an_address_vary() {
    let mut bench = fresh(1);
    for k in 0..64 {
        bench.at(k * 10_000_000, program(0));
    }
    bench.run();
    let times: Vec<f64> = bench.done.iter().map(|d| (d.time() - PULSES_AT) as f64 / LOOP as f64).collect();
    let interval = stats::confidence_interval(&times, 1e-6, 1).unwrap();
    assert!(interval.contains(16.0) && interval.half_width() > 0.0, "{interval:?}");
}

const BLOCKS: u32 = 2_000;
const WORN_LOOP: u64 = 3_500_000;

/// One erase loop of 3.5 ms on a fresh block, as on AERO's parts, with AERO's growth.
fn wearing() -> PartSpec {
    PartSpec {
        planes: 2,
        blocks_per_plane: BLOCKS,
        erase: TrainSpec::even(1, Duration::from_us(3_400), Duration::ZERO, Duration::from_us(100)),
        erase_wear: EraseWear::Aero,
        ..part()
    }
}

/// Loops of the erase of each block of these planes after `cycles` cycles.
fn erase_loops(plane: u32, planes: u32, cycles: u32) -> Vec<u64> {
    let mut bench = Bench::new(&wearing(), NandConfig { ..config() }, 1);
    for block in 0..BLOCKS {
        let place = |t: &mut Txn| {
            (t.block, t.plane, t.planes) = (BlockId(block), plane as u8, planes as u8);
            t.set_cycles(cycles);
        };
        bench.at(u64::from(block) * 20_000_000, but(erase(0), place));
    }
    bench.run();
    let pulses = |d: &Done| d.time() - CMD * u64::from(planes);
    bench.done.iter().for_each(|d| assert_eq!(pulses(d) % WORN_LOOP, 0));
    bench.done.iter().map(|d| pulses(d) / WORN_LOOP).collect()
}

/// Mean loops of AERO's rows, by hand from the percentages of blocks that need 1 to 5 loops.
#[test]
fn erases_take_more_loops_on_worn_blocks() {
    assert!(erase_loops(0, 1, 0).iter().all(|&n| n == 1));
    let rows = [
        // 92 + 2 * 8
        (500, 1.08),
        // 16 + 2 * 63 + 3 * 21
        (1500, 2.05),
        // 2 * 25 + 3 * 45 + 4 * 22 + 5 * 8: the first column is for two loops
        (3000, 3.13),
        // Half way from 2 * 24 ... : (3 * 24 + 4 * 45 + 5 * 31 + 3 * 8 + 4 * 38 + 5 * 54) / 2
        (4250, 4.265),
        // 4 * 21 + 5 * 79, and constant from then on
        (5000, 4.79),
        (60_000, 4.79),
    ];
    let mut before = vec![0; BLOCKS as usize];
    for (cycles, mean) in rows {
        let loops = erase_loops(0, 1, cycles);
        let samples: Vec<f64> = loops.iter().map(|&n| n as f64).collect();
        let interval = stats::confidence_interval(&samples, 1e-6, rows.len()).unwrap();
        assert!(interval.contains(mean), "{cycles} cycles: {mean} not in {interval:?}");
        // A block keeps its rank, so its loops never decrease.
        assert!(before.iter().zip(&loops).all(|(old, new)| old <= new), "{cycles} cycles");
        before = loops;
    }
}

#[test]
fn planes_erased_together_take_as_long_as_the_slowest() {
    let (a, b) = (erase_loops(0, 1, 3000), erase_loops(1, 1, 3000));
    let slowest: Vec<u64> = a.iter().zip(&b).map(|(a, b)| *a.max(b)).collect();
    assert_eq!(erase_loops(0, 2, 3000), slowest);
    assert_ne!(a, b);
}

#[test]
fn without_wear_erase_loops_are_constant() {
    let mut bench = Bench::new(&part(), config(), 1);
    for (k, cycles) in [0, 1000, 5000].into_iter().enumerate() {
        bench.at(k as u64 * 10_000_000, but(erase(0), |t| t.set_cycles(cycles)));
    }
    bench.run().done.iter().for_each(|d| assert_eq!(d.time(), CMD + ERASE_PULSES));
}
