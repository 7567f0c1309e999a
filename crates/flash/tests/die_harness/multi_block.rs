//! Multi-block erases: blocks that a die erases in one operation, by instants derived by hand.

use crate::common::*;
use interpulse_engine::Duration;
use interpulse_flash::erase::{EraseMethod, MultiBlock, MultiBlockVerify};
use interpulse_flash::ids::BlockId;
use interpulse_flash::nand::NandConfig;
use interpulse_flash::nand::queue::Policy;
use interpulse_flash::nand::txn::Txn;
use interpulse_flash::parts::{PartSpec, SubBlocks};
use interpulse_flash::suspend::{Scheme, SuspendPolicy};

/// Die time of an erase of one block: a command, three loops.
const ONE: u64 = CMD + ERASE_PULSES;
/// Of two blocks: two commands, three loops of a pulse of 1 ms and two verifies of 100 us.
const TWO: u64 = 2 * CMD + 3 * 1_200_000;
/// Of three blocks.
const THREE: u64 = 3 * CMD + 3 * 1_300_000;

fn merging(blocks: u32) -> NandConfig {
    NandConfig { multi_block: MultiBlock { blocks, verify: MultiBlockVerify::Each }, ..config() }
}

fn of(block: u32) -> Txn {
    but(erase(0), |t| t.block = BlockId(block))
}

/// Up to so many waiting erases of a plane are one operation; the last one of three is left over.
#[test]
fn erases_that_wait_together_are_one_operation() {
    let arrivals = [(0, read(0)), (10, of(1)), (20, of(2)), (30, of(3))];
    let alone = [READ, READ_DIE + ONE, READ_DIE + 2 * ONE, READ_DIE + 3 * ONE];
    check("one by one", Bench::new(&part(), config(), 1), &arrivals, &alone);
    let two = [READ, READ_DIE + TWO, READ_DIE + TWO, READ_DIE + TWO + ONE];
    let found = check("two", Bench::new(&part(), merging(2), 1), &arrivals, &two);
    let c = &found.nand.counters;
    assert_eq!((c.erases, c.multi_block_erases, c.erase_owed_time), (3, 1, 3 * 1_200_000 + ERASE_PULSES));
    let blocks = found.nand.dies()[0].blocks();
    assert_eq!([1, 2, 3].map(|block| blocks.programmed(0, BlockId(block))), [0; 3]);
    let three = READ_DIE + THREE;
    check("three", Bench::new(&part(), merging(4), 1), &arrivals, &[READ, three, three, three]);
    // An erase that starts at once has nothing to take along.
    check("first", Bench::new(&part(), merging(2), 1), &[(0, of(1)), (1, of(2))], &[ONE, 2 * ONE]);
    let together = MultiBlock { blocks: 2, verify: MultiBlockVerify::Together };
    let config = NandConfig { multi_block: together, ..config() };
    let end = READ_DIE + CMD + ONE;
    check("one verify", Bench::new(&part(), config, 1), &arrivals, &[READ, end, end, end + ONE]);
}

#[test]
fn erases_submitted_for_one_operation_start_together() {
    let mut bench = Bench::new(&part(), merging(4), 1);
    bench.erases(&[of(1), of(2)]).run();
    assert_eq!(bench.ends(), [TWO, TWO]);
    // On a busy die they wait, and take others along.
    let mut bench = Bench::new(&part(), merging(4), 1);
    bench.at(0, read(0)).at(100, of(3)).run_until(200);
    bench.erases(&[of(1), of(2)]).run();
    assert_eq!(bench.ends(), [READ, READ_DIE + THREE, READ_DIE + THREE, READ_DIE + THREE]);
}

/// Neither erases of other planes nor a second one of the same block are part of it; those behind them are.
#[test]
fn only_blocks_of_the_same_planes_are_erased_together() {
    let other = but(of(2), |t| t.plane = 1);
    let wide = but(of(2), |t| t.planes = 2);
    for stranger in [other, wide, of(1)] {
        let arrivals = [(0, read(0)), (10, of(1)), (20, stranger), (30, of(3))];
        let first = READ_DIE + TWO;
        let planes = u64::from(stranger.planes);
        let last = first + planes * CMD + ERASE_PULSES;
        check("stranger", Bench::new(&part(), merging(4), 1), &arrivals, &[READ, first, last, first]);
    }
}

#[test]
fn the_order_of_submission_counts_under_fifo() {
    let arrivals = [(0, read(0)), (1, of(1)), (2, program(0)), (3, of(2))];
    let (first, second) = (READ_DIE + ONE, READ_DIE + ONE + PROGRAM);
    let ends = [READ, first, second, second + ONE];
    check("fifo", Bench::new(&part(), merging(2), 1), &arrivals, &ends);
    let first = NandConfig { policy: Policy::ReadPriority, ..merging(2) };
    let end = READ_DIE + TWO;
    check("reads first", Bench::new(&part(), first, 1), &arrivals, &[READ, end, end + PROGRAM, end]);
}

/// A read 100 us into the first pulse waits for its loop of 1.2 ms, is served behind an entry of 40 us, and the erase resumes in
/// 30 us: one suspension for both blocks, which are worn alike.
#[test]
fn they_are_suspended_together() {
    let part = part();
    let suspending = suspending(Scheme::LoopBoundary, &part);
    let config = NandConfig {
        multi_block: merging(2).multi_block,
        erase_suspend: SuspendPolicy { stress_ppm: 2_000_000, ..suspending.erase_suspend.clone() },
        ..suspending
    };
    let mut bench = Bench::new(&part, config, 1);
    bench.erases(&[of(5), of(6)]).at(2 * CMD + 100_000, read(0)).run();
    let served = 2 * CMD + 1_200_000 + 40_000;
    let end = served + READ_DIE + 30_000 + 2 * 1_200_000;
    assert_eq!(bench.ends(), [end, end, served + READ]);
    let c = &bench.nand.counters;
    assert_eq!((c.erase_suspends, c.suspend_stress, c.entry_time), (1, 4_000_000, 40_000));
    let blocks = bench.nand.dies()[0].blocks();
    assert_eq!([5, 6, 7].map(|block| blocks.stress_cycles(0, BlockId(block))), [2, 2, 0]);
}

/// A program inside the suspended erase of two blocks ends first, and does not end the erase.
#[test]
fn a_program_inside_them_ends_on_its_own() {
    let part = part();
    let mut config = NandConfig { multi_block: merging(2).multi_block, ..suspending(Scheme::Exact, &part) };
    config.erase_suspend.preemptors.host_writes = true;
    let mut bench = Bench::new(&part, config, 1);
    bench.erases(&[of(5), of(6)]).at(2 * CMD + 100_000, program(0)).run();
    let served = 2 * CMD + 100_000 + 40_000;
    let end = served + PROGRAM + 30_000 + 3 * 1_200_000 - 100_000;
    assert_eq!(bench.ends(), [end, end, served + PROGRAM]);
    assert_eq!(bench.nand.counters.programs_in_suspension, 1);
}

#[test]
#[should_panic(expected = "read of block 2, whose erase is suspended")]
fn no_block_of_a_suspended_erase_is_read() {
    let part = part();
    let config = NandConfig { multi_block: merging(2).multi_block, ..suspending(Scheme::Exact, &part) };
    let mut bench = Bench::new(&part, config, 1);
    bench.erases(&[of(1), of(2)]).at(2 * CMD + 100_000, read_of(0, 0, 2, 0, 1)).run();
}

#[test]
fn a_power_cut_tears_all_of_them() {
    let mut bench = Bench::new(&part(), merging(2), 1);
    bench.erases(&[of(1), of(2)]).at(1_000_000, read(0)).run_until(1_000_000);
    let torn = bench.nand.outage(&mut bench.events, false);
    let blocks: Vec<_> = torn.iter().map(|(_, torn)| (torn.erase, torn.block)).collect();
    assert_eq!(blocks, [(true, Some(BlockId(1))), (true, Some(BlockId(2)))]);
    let at = bench.events.now().0 + 1_000;
    bench.at(at, of(1)).run();
    assert_eq!(bench.of(3).at, at + ONE);
}

#[test]
fn what_no_source_describes_is_refused() {
    let excluded =
        |config: NandConfig, part: &PartSpec| config.excludes_multi_block_erases(part).map(|of| of.0);
    let divided = PartSpec { sub_blocks: SubBlocks { count: 2, ..SubBlocks::ONE }, ..part() };
    assert_eq!(excluded(merging(2), &part()), None);
    assert_eq!(excluded(merging(2), &divided), Some("part.sub-blocks"));
    assert_eq!(excluded(merging(1), &divided), None);
    let aero = interpulse_flash::erase::Aero { margin: true, mispredictions: 0.0 };
    let aero = NandConfig { erase_method: EraseMethod::Aero(aero), ..merging(2) };
    assert_eq!(excluded(aero, &part()), Some("erase.method"));
}

/// Four blocks in one operation: 4 x 300 ns and three loops of 1.4 ms, half of the die time of four erases.
#[test]
fn the_time_of_a_block_falls_with_their_number() {
    let mut bench = Bench::new(&part(), merging(4), 1);
    bench.erases(&[of(1), of(2), of(3), of(4)]).run();
    let end = 4 * CMD + 3 * 1_400_000;
    assert_eq!(bench.ends(), [end; 4]);
    assert_eq!(Duration::from_ns(end / 4), Duration::from_ns(1_050_300));
}
