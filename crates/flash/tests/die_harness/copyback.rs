//! Copybacks: die time, channel time, suspension, errors that they carry.
//!
//! A copyback of the pages 0 to 2 of block 0 to block 4 has a command and tR for each page (300 + 50000, 300 + 60000, 300 +
//! 75000), a command for the program, and its pulses: 185900 + 300 + 500000 = 686200.

use crate::common::*;
use interpulse_flash::DieId;
use interpulse_flash::cell_mode::CellMode;
use interpulse_flash::ids::BlockId;
use interpulse_flash::nand::NandConfig;
use interpulse_flash::nand::copyback::Source;
use interpulse_flash::nand::txn::{Kind, Txn};
use interpulse_flash::parts::{PartSpec, PlaneAddress, ProgramMode};
use interpulse_flash::suspend::{Reload, Scheme};

/// Sensing of all pages of a word line, with their commands.
const SENSED: u64 = 3 * CMD + LSB + CSB + MSB;
const COPYBACK: u64 = SENSED + CMD + PULSES;

fn source(block: u32, page: u32) -> Source {
    Source { block: BlockId(block), page, mode: CellMode::Native }
}

/// A program of moved data on `planes` planes of die 0.
fn moves(planes: u8, block: u32, page: u32) -> Txn {
    but(Txn::new(Kind::GcProgram, DieId(0)), |t| {
        (t.planes, t.block, t.page) = (planes, BlockId(block), page);
    })
}

/// A copyback of `sources` at 0 and reads at the given instants: their ends, that of the copyback, the bench.
fn run(mut bench: Bench, txn: Txn, sources: &[Source], reads: &[u64]) -> (Vec<u64>, u64, Bench) {
    let copyback = bench.copyback(txn, sources);
    reads.iter().for_each(|&at| {
        bench.at(at, read(0));
    });
    bench.run();
    let ends = (1..=reads.len() as u32).map(|owner| bench.of(owner).at).collect();
    (ends, bench.of(copyback).at, bench)
}

fn one_word_line() -> [Source; 3] {
    [source(0, 0), source(0, 1), source(0, 2)]
}

#[test]
fn only_commands_use_the_channel() {
    let (_, end, bench) = run(Bench::new(&part(), config(), 1), moves(1, 4, 0), &one_word_line(), &[]);
    assert_eq!((end, COPYBACK), (COPYBACK, 686_200));
    let c = bench.nand.counters;
    assert_eq!((c.gc_programs, c.copybacks, c.copyback_pages, c.gc_reads), (1, 1, 3, 0));
    assert_eq!(c.bus_time, 4 * CMD);
    assert_eq!(bench.nand.dies()[0].blocks().programmed(0, BlockId(4)), 3);
    // Through the controller: three reads and a program, a page with its parity in and out each time.
    let mut moved = Bench::new(&part(), config(), 1);
    for page in 0..3 {
        moved.at(0, but(read_of(0, 0, 0, page, 4), |t| t.kind = Kind::GcRead));
    }
    moved.at(1, moves(1, 4, 0));
    moved.run();
    assert_eq!(moved.nand.counters.bus_time, 4 * CMD + 6 * UNITS[4]);
}

/// Planes sense together where they may have these addresses; commands go to each.
#[test]
fn planes_sense_together_as_far_as_their_addresses_allow() {
    // Plane 1: pages 3 to 5, of the same types.
    let sources: Vec<Source> = (0..6).map(|page| source(0, page)).collect();
    let together = 3 * 2 * CMD + LSB + CSB + MSB + 2 * CMD + PULSES;
    let apart = together + LSB + CSB + MSB;
    use PlaneAddress::{Any, Page, PageType};
    for (plane_address, expected) in [(Any, together), (PageType, together), (Page, apart)] {
        let part = PartSpec { plane_address, ..part() };
        let (_, end, bench) = run(Bench::new(&part, config(), 1), moves(2, 4, 0), &sources, &[]);
        assert_eq!(end, expected, "{plane_address:?}");
        assert_eq!(bench.nand.counters.bus_time, 8 * CMD);
        assert_eq!(bench.nand.dies()[0].blocks().programmed(1, BlockId(4)), 3);
    }
}

#[test]
fn pages_programmed_one_by_one_are_copied_one_by_one() {
    let part = PartSpec { program_mode: ProgramMode::Page, ..part() };
    let (_, end, _) = run(Bench::new(&part, config(), 1), moves(1, 4, 0), &[source(2, 5)], &[]);
    assert_eq!(end, CMD + MSB + CMD + PULSES);
}

/// Nothing stops the sensing. The pulses start at 186200; a read at 200000 stops them at the end of their first loop.
#[test]
fn its_pulses_are_suspended_as_those_of_any_program() {
    let stop = SENSED + CMD + LOOP;
    let with = |reload| {
        let mut config: NandConfig = suspending(Scheme::LoopBoundary, &part());
        config.program_suspend.reload = reload;
        config
    };
    for (reload, again) in [(Reload::ShadowBuffer(Default::default()), 0), (Reload::Bus, SENSED)] {
        let bench = Bench::new(&part(), with(reload), 1);
        let (ends, end, bench) = run(bench, moves(1, 4, 0), &one_word_line(), &[200_000]);
        assert_eq!(ends, [stop + 20_000 + READ]);
        assert_eq!(end, COPYBACK + 20_000 + READ_DIE + again + 10_000);
        let c = bench.nand.counters;
        // The controller has no data to load again: the die senses the sources once more.
        let pages = if again > 0 { 6 } else { 3 };
        assert_eq!((c.program_suspends, c.copyback_pages, c.reload_bus_time), (1, pages, 0));
        assert_eq!(c.reload_time, again);
        let commands = 1 + pages + 1;
        assert_eq!(c.bus_time, commands * CMD + UNITS[1]);
    }
    // A read that comes in the sensing waits for the pulses, which have not begun.
    let bench = Bench::new(&part(), with(Reload::Bus), 1);
    let (ends, ..) = run(bench, moves(1, 4, 0), &one_word_line(), &[100]);
    assert_eq!(ends, [SENSED + CMD + 20_000 + READ]);
}

/// Errors expected in a read of the least significant page of `block`, in 1/1024.
fn expected(bench: &mut Bench, block: u32) -> f64 {
    let counted =
        |bench: &Bench| bench.nand.reliability().expect("there are errors").counters.expected_errors;
    let before = counted(bench);
    let at = bench.events.now().0 + 1;
    bench.at(at, read_of(0, 0, block, 0, 4));
    bench.run();
    (counted(bench) - before) as f64
}

/// Each copy has the errors of its source and its own: two, three times as many. A program from the controller has its own only.
#[test]
fn errors_of_the_source_are_carried() {
    let rate = 2e-3;
    let with = NandConfig { errors: errors(&[rate], &[0.0], |_| ()), ..config() };
    let mut bench = Bench::new(&part(), with, 1);
    let first = expected(&mut bench, 0);
    assert!((first / 1024.0 / (4.0 * 32_768.0 * rate) - 1.0).abs() < 2e-2, "{first}");
    for (from, to, times) in [(0, 4, 2.0), (4, 5, 3.0), (5, 6, 4.0)] {
        let sources = [source(from, 0), source(from, 1), source(from, 2)];
        bench.copyback(moves(1, to, 0), &sources);
        bench.run();
        let found = expected(&mut bench, to) / first;
        assert!((found / times - 1.0).abs() < 2e-2, "block {to}: {found} for {times}");
    }
    let at = bench.events.now().0 + 1;
    bench.at(at, but(erase(0), |t| t.block = BlockId(5))).at(at + 1, moves(1, 5, 0));
    bench.run();
    let found = expected(&mut bench, 5) / first;
    assert!((found - 1.0).abs() < 2e-2, "an erase ends it: {found}");
}

#[test]
#[should_panic(expected = "a source for each page of a copyback")]
fn a_source_for_each_page() {
    let mut bench = Bench::new(&part(), config(), 1);
    bench.copyback(moves(1, 4, 0), &one_word_line()[..2]);
}
