//! *Does a die respect the cell mode of a block?* Blocks with one bit per cell: what is loaded, which pages are passed over, how long a
//! read takes, and what is refused.

use crate::common::*;
use interpulse_flash::DieId;
use interpulse_flash::cell_mode::CellMode;
use interpulse_flash::ids::BlockId;
use interpulse_flash::nand::txn::{Kind, Txn};
use interpulse_flash::parts::{PartSpec, ProgramMode};
use std::panic::{AssertUnwindSafe, catch_unwind};

const BLOCK: BlockId = BlockId(5);

/// Program of the word line that begins with page `page`.
fn program_in(mode: CellMode, page: u32) -> Txn {
    but(Txn::new(Kind::HostProgram, DieId(0)), |t| {
        (t.block, t.page) = (BLOCK, page);
        t.set_cell_mode(mode);
    })
}

fn parts() -> [PartSpec; 2] {
    [part(), PartSpec { program_mode: ProgramMode::Page, ..part() }]
}

#[test]
fn a_word_line_with_one_bit_per_cell_loads_one_page_and_passes_over_the_others() {
    for part in parts() {
        let mut b = Bench::new(&part, config(), 1);
        b.at(0, program_in(CellMode::Slc, 0)).at(0, program_in(CellMode::Slc, 3)).run();
        let one = CMD + LOAD + PULSES;
        assert_eq!(b.ends(), [one, 2 * one], "{:?}", part.program_mode);
        let blocks = b.nand.dies()[0].blocks();
        assert_eq!((blocks.mode(0, BLOCK), blocks.programmed(0, BLOCK)), (CellMode::Slc, 6));
        assert_eq!(b.nand.counters.mlc_programs, 0);
    }
}

#[test]
fn a_page_with_one_bit_per_cell_is_read_in_the_time_of_the_least_significant_page() {
    let mut b = Bench::new(&part(), config(), 1);
    b.at(0, program_in(CellMode::Slc, 0)).at(0, program_in(CellMode::Slc, 3)).run();
    let from = 10_000_000;
    b.at(from, but(read_of(0, 0, BLOCK.0, 3, 1), |t| t.set_cell_mode(CellMode::Slc))).run();
    assert_eq!(b.of(2).time(), READ);
}

#[test]
fn an_erase_makes_a_block_native_and_a_program_in_another_mode_is_refused_until_then() {
    for (first, second, page, refused) in [
        (CellMode::Slc, CellMode::Native, 3, Some("Native program of block 5, which is in Slc mode")),
        (CellMode::Native, CellMode::Slc, 3, Some("Slc program of block 5, which is in Native mode")),
        (CellMode::Slc, CellMode::Mlc, 3, Some("Mlc program of block 5, which is in Slc mode")),
        (CellMode::Slc, CellMode::Slc, 1, Some("program of page 1 of block 5")),
        (CellMode::Slc, CellMode::Slc, 3, None),
    ] {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let mut b = Bench::new(&part(), config(), 1);
            b.at(0, program_in(first, 0)).at(10_000_000, program_in(second, page)).run();
        }));
        let message = outcome.err().map(|panic| *panic.downcast::<String>().expect("a message"));
        match refused {
            Some(why) => assert!(message.as_ref().is_some_and(|m| m.contains(why)), "{message:?}"),
            None => assert_eq!(message, None),
        }
    }
    let mut b = Bench::new(&part(), config(), 1);
    b.at(0, program_in(CellMode::Slc, 0)).at(10_000_000, but(erase(0), |t| t.block = BLOCK));
    b.at(20_000_000, program_in(CellMode::Native, 0)).run();
    let blocks = b.nand.dies()[0].blocks();
    assert_eq!((blocks.mode(0, BLOCK), blocks.programmed(0, BLOCK)), (CellMode::Native, 3));
}
