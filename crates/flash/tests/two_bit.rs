//! Tests of MLC-mode programs and reprograms (Gao et al., MICRO 2019): times, and rejection of illegal operations. A reprogram
//! reads status and data first, is a pulse train, and is legal at most twice, on an invalid page of the open super layer.

use crate::common::*;
use interpulse_engine::Duration;
use interpulse_flash::DieId;
use interpulse_flash::cell_mode::CellMode;
use interpulse_flash::ids::{BlockId, WordLineId};
use interpulse_flash::nand::NandConfig;
use interpulse_flash::nand::txn::{Kind, Txn};
use interpulse_flash::parts::{PartSpec, ProgramMode, ReprogramSpec, TrainSpec};
use interpulse_flash::reprogram::{Bit, Distribution};
use interpulse_flash::suspend::{Scheme, SuspendPolicy};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// tR of a page of an MLC-mode word line.
const READ_2: u64 = 53_000;
/// The pulses of a first program and of a reprogram.
const FIRST: u64 = 3 * 110_000;
const AGAIN: u64 = 2 * 130_000;

fn two_bit_part() -> PartSpec {
    let us = Duration::from_us;
    PartSpec {
        layers: 4,
        reprogram: Some(ReprogramSpec {
            mlc_program: TrainSpec::even(3, us(30), us(0), us(80)),
            reprogram: TrainSpec::even(2, us(30), us(0), us(100)),
            read: Duration::from_ns(READ_2),
        }),
        ..part()
    }
}

/// Layers of two word lines of three pages; super layers of one layer.
fn bench(config: NandConfig) -> Bench {
    Bench::new(&two_bit_part(), NandConfig { super_layer: 2, ..config }, 1)
}

/// A first program, or the reprogram of a page.
fn op(word_line: u32, reprogram: Option<Bit>, validity: u32) -> Txn {
    but(Txn::new(Kind::HostProgram, DieId(0)), |t| {
        (t.block, t.page) = (BlockId(5), word_line * 3);
        t.set_cell_mode(CellMode::Mlc);
        t.set_validity(validity as u8);
        reprogram.into_iter().for_each(|bit| t.set_reprogram(bit));
    })
}

const WHOLE: Option<Bit> = None;
const LSB_PAGE: Option<Bit> = Some(Bit::Lsb);
const MSB_PAGE: Option<Bit> = Some(Bit::Msb);
const BOTH: u32 = 0b11;
const LSB_USED: u32 = 0b01;
const MSB_USED: u32 = 0b10;

#[test]
fn a_first_program_loads_two_pages_and_a_reprogram_reads_and_loads_one() {
    let mut b = bench(config());
    let first_end = CMD + 2 * LOAD + FIRST;
    b.at(0, op(0, WHOLE, BOTH)).at(0, op(0, LSB_PAGE, MSB_USED));
    b.run();
    assert_eq!(b.ends(), [first_end, first_end + READ_2 + CMD + LOAD + AGAIN]);
    let counters = b.nand.counters;
    assert_eq!((counters.host_programs, counters.mlc_programs, counters.reprograms), (2, 1, 1));
    let status = b.nand.dies()[0].blocks().status(0, BlockId(5), WordLineId(0));
    assert_eq!((status.reprograms, status.distribution), (1, Distribution::P2P5));
    // The account of the reprogram covers all of it.
    assert_eq!(b.of(1).waited() + b.of(1).txn.own, b.of(1).time());
}

#[test]
fn mlc_mode_pages_have_their_own_read_time() {
    let mut b = bench(config());
    b.at(0, op(0, WHOLE, BOTH)).run();
    let at = 1_000_000;
    b.at(at, but(read_of(0, 0, 5, 1, 1), |t| t.set_cell_mode(CellMode::Mlc))).run();
    assert_eq!(b.of(1).time(), READ - LSB + READ_2);
}

/// A read stops a reprogram between its loops; a read of the other page of the word line is served from the page buffer.
#[test]
fn reprograms_are_suspended_like_any_program() {
    let scheme = NandConfig { super_layer: 2, ..suspending(Scheme::LoopBoundary, &two_bit_part()) };
    let mut b = Bench::new(&two_bit_part(), scheme, 1);
    b.at(0, op(0, WHOLE, BOTH)).run();
    let from = 10_000_000;
    b.at(from, op(0, MSB_PAGE, LSB_USED));
    let pulses = from + READ_2 + CMD + LOAD;
    let other = |t: &mut Txn| t.set_cell_mode(CellMode::Mlc);
    b.at(pulses + 10_000, read(0)).at(pulses + 10_000, but(read_of(0, 0, 5, 0, 1), other));
    b.run();
    assert_eq!(b.nand.counters.program_suspends, 1);
    assert_eq!(b.nand.counters.page_buffer_reads, 1, "the page that stays");
    let stopped = pulses + 130_000 + 20_000;
    assert_eq!(b.of(2).at, stopped + READ);
    assert!(b.of(1).at > stopped + READ_DIE + AGAIN / 2, "it went on after the reads");
}

/// The read of status and data cannot be suspended.
#[test]
fn a_read_waits_for_status_and_data() {
    let scheme = NandConfig { super_layer: 2, ..suspending(Scheme::Ideal, &two_bit_part()) };
    let mut b = Bench::new(&two_bit_part(), scheme, 1);
    b.at(0, op(0, WHOLE, BOTH)).run();
    let from = 10_000_000;
    b.at(from, op(0, MSB_PAGE, LSB_USED)).at(from + 1, read(0)).run();
    assert!(b.of(2).time() >= READ_2 + LOAD + READ - 1, "{}", b.of(2).time());
}

/// A cut in the pulses of a reprogram, or while these are suspended: capacitors complete it, else nothing of the word line can be
/// read. The other word line keeps its code. Before the first pulse there is no trace.
#[test]
fn a_power_cut_tears_a_reprogram_unless_capacitors_complete_it() {
    let pulses = 10_000_000 + READ_2 + CMD + LOAD;
    // Its page is loaded, it pulses, it is suspended between its two loops.
    for (cut, has_pulsed) in [(pulses - 1_000, false), (pulses + 20_000, true), (pulses + 160_000, true)] {
        for capacitors in [false, true] {
            let scheme = NandConfig { super_layer: 2, ..suspending(Scheme::LoopBoundary, &two_bit_part()) };
            let mut b = Bench::new(&two_bit_part(), scheme, 1);
            b.at(0, op(0, WHOLE, BOTH)).at(0, op(1, WHOLE, BOTH)).run();
            b.at(10_000_000, op(0, MSB_PAGE, LSB_USED)).at(pulses + 30_000, read(0)).at(cut, read(0));
            b.run_until(cut);
            let torn = b.nand.outage(&mut b.events, capacitors);
            let found: Vec<_> =
                torn.iter().map(|(_, of)| (of.reprograms, of.completed, of.pages.first)).collect();
            let expected = if has_pulsed { vec![(MSB_PAGE, capacitors, 0)] } else { vec![] };
            assert_eq!(found, expected, "cut at {cut}");
            let blocks = b.nand.dies()[0].blocks();
            let [first, second] =
                [0, 1].map(|k| blocks.status_if_whole(0, BlockId(5), WordLineId(k)).map(|of| of.reprograms));
            let after = match (has_pulsed, capacitors) {
                (false, _) => Some(0),
                (true, true) => Some(1),
                (true, false) => None,
            };
            assert_eq!((first, second), (after, Some(0)), "cut at {cut}, capacitors: {capacitors}");
            assert_eq!(blocks.programmed(0, BlockId(5)), 6);
        }
    }
}

#[track_caller]
fn refused(operations: &[Txn], expected: &str) {
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let mut b = bench(config());
        for (k, &txn) in operations.iter().enumerate() {
            b.at(k as u64 * 10_000_000, txn);
        }
        b.run();
    }));
    let message = *outcome.expect_err("illegal").downcast::<String>().expect("a message");
    assert!(message.contains(expected) && message.contains("history of the die"), "{message}");
}

#[test]
fn illegal_operations_are_rejected() {
    let first = op(0, WHOLE, BOTH);
    refused(&[op(1, WHOLE, BOTH)], "whose next page is 0");
    refused(&[op(0, LSB_PAGE, 0)], "not in the super layer of None");
    refused(&[first, op(0, LSB_PAGE, BOTH)], "the LSB page of the word line is still in use");
    refused(&[first, op(0, MSB_PAGE, MSB_USED)], "the MSB page of the word line is still in use");
    let twice = [first, op(0, LSB_PAGE, MSB_USED), op(0, MSB_PAGE, LSB_USED)];
    refused(&[&twice[..], &[op(0, LSB_PAGE, 0)]].concat(), "reprogrammed 2 times since its erase");
    // The third word line begins the second super layer.
    let second = [first, op(1, WHOLE, BOTH), op(2, WHOLE, BOTH)];
    refused(&[&second[..], &[op(1, LSB_PAGE, 0)]].concat(), "not in the super layer of Some(2)");
    refused(&[&second[..], &[op(3, LSB_PAGE, 0)]].concat(), "not in the super layer of Some(2)");
    let normal = but(program(0), |t| (t.block, t.page) = (BlockId(5), 3));
    refused(&[first, normal], "Native program of block 5, which is in Mlc mode");
    let normal = but(program(0), |t| (t.block, t.page) = (BlockId(5), 0));
    refused(&[normal, op(1, WHOLE, BOTH)], "which is in Native mode");
}

#[test]
fn an_erase_restores_normal_mode() {
    let mut b = bench(config());
    let normal = but(program(0), |t| (t.block, t.page) = (BlockId(5), 0));
    b.at(0, op(0, WHOLE, BOTH));
    b.at(10_000_000, but(erase(0), |t| t.block = BlockId(5))).at(20_000_000, normal).run();
    assert_eq!(b.nand.dies()[0].blocks().mode(0, BlockId(5)), CellMode::Native);
    assert_eq!(b.nand.dies()[0].blocks().programmed(0, BlockId(5)), 3);
}

/// A part with page programming: each page of a word line has a separate first program of full length, and only a word line
/// with both pages can be reprogrammed.
#[test]
fn pages_can_be_programmed_one_by_one() {
    let by_page = || PartSpec { program_mode: ProgramMode::Page, ..two_bit_part() };
    let on = |word_line, page: u32, how, validity| {
        but(op(word_line, how, validity), |t| t.page = word_line * 3 + page)
    };
    let run = |operations: &[Txn]| {
        let mut b = Bench::new(&by_page(), NandConfig { super_layer: 2, ..config() }, 1);
        for &txn in operations {
            b.at(0, txn);
        }
        b.run();
        b
    };
    let (lsb, msb) = (on(0, 0, WHOLE, BOTH), on(0, 1, WHOLE, BOTH));
    let b = run(&[lsb, msb, on(0, 0, LSB_PAGE, MSB_USED)]);
    let one = CMD + LOAD + FIRST;
    assert_eq!(b.ends(), [one, 2 * one, 2 * one + READ_2 + CMD + LOAD + AGAIN]);
    assert_eq!((b.nand.counters.mlc_programs, b.nand.counters.reprograms), (2, 1));
    assert_eq!(
        b.nand.dies()[0].blocks().programmed(0, BlockId(5)),
        3,
        "the page that is not used is counted"
    );
    for (operations, expected) in [
        (vec![msb], "whose next page is 0"),
        (vec![lsb, lsb], "whose next page is 1"),
        (vec![lsb, on(1, 0, WHOLE, BOTH)], "whose next page is 1"),
        (vec![lsb, on(0, 0, LSB_PAGE, MSB_USED)], "not in the super layer of None"),
    ] {
        let outcome = catch_unwind(AssertUnwindSafe(|| drop(run(&operations))));
        let message = *outcome.expect_err("illegal").downcast::<String>().expect("a message");
        assert!(message.contains(expected), "{message}");
    }
}

/// A reload of the page buffer over the bus transfers both pages of the word line.
#[test]
fn a_reload_over_the_bus_takes_two_pages() {
    let policy = |reload| SuspendPolicy {
        reload,
        ..suspending(Scheme::LoopBoundary, &two_bit_part()).program_suspend
    };
    let end = |reload| {
        let scheme = suspending(Scheme::LoopBoundary, &two_bit_part());
        let config = NandConfig { super_layer: 2, program_suspend: policy(reload), ..scheme };
        let mut b = Bench::new(&two_bit_part(), config, 1);
        b.at(0, op(0, WHOLE, BOTH)).run();
        b.at(10_000_000, op(0, MSB_PAGE, LSB_USED)).at(10_000_000 + READ_2 + CMD + LOAD + 10_000, read(0));
        b.run();
        b.of(1).at
    };
    use interpulse_flash::suspend::Reload;
    assert_eq!(end(Reload::Bus) - end(Reload::ShadowBuffer(Duration::ZERO)), 2 * LOAD);
}
