//! Opportunistic multi-plane programs, and the addresses that planes must have in common.

use crate::common::*;
use interpulse_flash::ids::BlockId;
use interpulse_flash::nand::NandConfig;
use interpulse_flash::nand::queue::Policy;
use interpulse_flash::nand::txn::Txn;
use interpulse_flash::parts::{CacheProgram, CacheRegister, PartSpec, PlaneAddress, ProgramMode};
use interpulse_flash::suspend::Scheme;

/// Die time of two programs together: two commands, six loads, one train.
const TWO: u64 = 2 * CMD + 6 * LOAD + PULSES;

fn merging() -> NandConfig {
    NandConfig { multi_plane_programs: true, ..config() }
}

fn on(plane: u32, block: u32, page: u32) -> Txn {
    but(program(0), |t| (t.plane, t.block, t.page) = (plane as u8, BlockId(block), page))
}

/// A bench with `pages` pages in block 5 of plane 1.
fn bench(part: &PartSpec, config: NandConfig, pages: u16) -> Bench {
    let mut bench = Bench::new(part, config, 1);
    bench.nand.dies_mut()[0].blocks_mut().set_programmed(1, BlockId(5), pages);
    bench
}

#[test]
fn programs_that_wait_together_pulse_together() {
    let arrivals = [(0, read(0)), (10, on(0, 4, 0)), (20, on(1, 5, 3))];
    let alone = [READ, READ_DIE + PROGRAM, READ_DIE + 2 * PROGRAM];
    check("one by one", bench(&part(), config(), 3), &arrivals, &alone);
    let found =
        check("together", bench(&part(), merging(), 3), &arrivals, &[READ, READ_DIE + TWO, READ_DIE + TWO]);
    let counters = &found.nand.counters;
    assert_eq!((counters.host_programs, counters.multi_plane_programs), (2, 1));
    let blocks = found.nand.dies()[0].blocks();
    assert_eq!((blocks.programmed(0, BlockId(4)), blocks.programmed(1, BlockId(5))), (3, 6));
    // Each has an account of its own: it waited for the read, and the rest is its own.
    for (k, at) in [(1, 10), (2, 20)] {
        let done = found.of(k);
        assert_eq!(done.waits().iter().sum::<u64>(), READ_DIE - at);
        assert_eq!(done.txn.own, TWO);
    }
    // A program that starts at once has nothing to take along.
    let ends = [PROGRAM, 2 * PROGRAM];
    check("first", bench(&part(), merging(), 0), &[(0, on(0, 4, 0)), (1, on(1, 5, 0))], &ends);
}

/// Programs of one plane keep their order, and one that may not come along holds back those behind it.
#[test]
fn programs_of_a_plane_keep_their_order() {
    let arrivals = [(0, read(0)), (1, on(0, 4, 0)), (2, on(0, 4, 3)), (3, on(1, 5, 0)), (4, on(1, 5, 3))];
    let (first, second) = (READ_DIE + TWO, READ_DIE + 2 * TWO);
    check("pairs", bench(&part(), merging(), 0), &arrivals, &[READ, first, second, first, second]);
    // Page 3 of plane 1 waits for page 0, which has another address than the first program.
    let part = PartSpec { plane_address: PlaneAddress::Page, ..part() };
    let arrivals = [(0, read(0)), (1, on(0, 4, 0)), (2, on(1, 5, 3)), (3, on(1, 6, 0))];
    let ends = [READ, READ_DIE + PROGRAM, READ_DIE + PROGRAM + PROGRAM, READ_DIE + 3 * PROGRAM];
    check("held back", bench(&part, merging(), 3), &arrivals, &ends);
}

#[test]
fn addresses_that_planes_share_decide() {
    let together = [READ, READ_DIE + TWO, READ_DIE + TWO];
    let apart = [READ, READ_DIE + PROGRAM, READ_DIE + 2 * PROGRAM];
    use PlaneAddress::{Any, BlockAndPage, Page, PageType};
    // (block, page) of plane 1; the other program is of block 4, page 0.
    for ((block, page), rules) in [
        ((5, 3), [(Any, true), (PageType, true), (Page, false), (BlockAndPage, false)]),
        ((5, 0), [(Any, true), (PageType, true), (Page, true), (BlockAndPage, false)]),
        ((4, 0), [(Any, true), (PageType, true), (Page, true), (BlockAndPage, true)]),
    ] {
        for (plane_address, merges) in rules {
            let part = PartSpec { plane_address, ..part() };
            let arrivals = [(0, read(0)), (10, on(0, 4, 0)), (20, on(1, block, page))];
            let name = format!("block {block}, page {page}, {plane_address:?}");
            let bench = bench(&part, merging(), page as u16);
            check(&name, bench, &arrivals, if merges { &together } else { &apart });
        }
    }
    // Pages of a word line that are programmed one by one: pages 0 and 1 are of two types.
    let by_page = PartSpec { program_mode: ProgramMode::Page, ..part() };
    let (one, two) = (CMD + LOAD + PULSES, 2 * CMD + 2 * LOAD + PULSES);
    let arrivals = [(0, read(0)), (10, on(0, 4, 0)), (20, on(1, 5, 1))];
    check("any", bench(&by_page, merging(), 1), &arrivals, &[READ, READ_DIE + two, READ_DIE + two]);
    let by_type = PartSpec { plane_address: PageType, ..by_page };
    let ends = [READ, READ_DIE + one, READ_DIE + 2 * one];
    check("page type", bench(&by_type, merging(), 1), &arrivals, &ends);
}

/// Reads of two planes are sensed together only if their addresses may differ as they do.
#[test]
fn addresses_of_reads() {
    let config = NandConfig { multi_plane_reads: true, ..config() };
    let arrivals = [(0, read(0)), (10, read_of(0, 0, 0, 0, 1)), (20, read_of(0, 1, 1, 1, 1))];
    let from = READ_DIE;
    // Two commands, the longer tR, two transfers.
    let both = from + 2 * CMD + CSB + UNITS[1];
    let ends = [READ, both + DECODE, both + UNITS[1] + DECODE];
    check("any", Bench::new(&part(), config.clone(), 1), &arrivals, &ends);
    let by_type = PartSpec { plane_address: PlaneAddress::PageType, ..part() };
    let ends = [READ, from + READ, from + READ_DIE + CMD + CSB + UNITS[1] + DECODE];
    check("page type", Bench::new(&by_type, config, 1), &arrivals, &ends);
}

#[test]
fn the_order_of_submission_counts_under_fifo() {
    let arrivals = [(0, read(0)), (1, on(0, 4, 0)), (2, erase(0)), (3, on(1, 5, 0))];
    let erased = READ_DIE + PROGRAM + CMD + ERASE_PULSES;
    let ends = [READ, READ_DIE + PROGRAM, erased, erased + PROGRAM];
    check("fifo", bench(&part(), merging(), 0), &arrivals, &ends);
    let first = NandConfig { policy: Policy::ReadPriority, ..merging() };
    let end = READ_DIE + TWO;
    check("reads first", bench(&part(), first, 0), &arrivals, &[READ, end, end + CMD + ERASE_PULSES, end]);
}

/// They are suspended together, and a page of each is in the page buffer.
#[test]
fn they_are_suspended_together() {
    let part = part();
    let config = NandConfig { multi_plane_programs: true, ..suspending(Scheme::LoopBoundary, &part) };
    let pulses = READ_DIE + 2 * CMD + 6 * LOAD;
    let arrivals = [(0, read(0)), (10, on(0, 4, 0)), (20, on(1, 5, 0)), (pulses + 1, read_of(0, 1, 5, 2, 1))];
    let entered = pulses + LOOP + 20_000;
    let moved = entered + CMD + UNITS[1];
    let end = moved + 10_000 + 3 * LOOP;
    let found = check("stopped", bench(&part, config, 0), &arrivals, &[READ, end, end, moved + DECODE]);
    assert_eq!((found.nand.counters.page_buffer_reads, found.nand.counters.program_suspends), (1, 1));
}

#[test]
fn a_power_cut_tears_all_of_them() {
    let mut bench = bench(&part(), merging(), 0);
    let cut = READ_DIE + TWO - 1_000;
    bench.at(0, read(0)).at(10, on(0, 4, 0)).at(20, on(1, 5, 0)).at(cut, read(0)).run_until(cut);
    let torn = bench.nand.outage(&mut bench.events, false);
    let blocks: Vec<_> =
        torn.iter().map(|(_, torn)| (torn.block, torn.planes.first, torn.pages.count)).collect();
    assert_eq!(blocks, [(Some(BlockId(4)), 0, 3), (Some(BlockId(5)), 1, 3)]);
    assert_eq!(bench.nand.dies()[0].blocks().programmed(1, BlockId(5)), 3);
    let at = bench.events.now().0 + 1_000;
    bench.at(at, on(1, 6, 0)).run();
    assert_eq!(bench.of(4).at, at + PROGRAM);
}

#[test]
fn cache_program_is_refused() {
    let cache = CacheRegister { program: CacheProgram::Die, pages: 1, ..CacheRegister::NONE };
    let part = PartSpec { cache, ..part() };
    assert_eq!(merging().excludes_multi_plane_programs(&part).map(|of| of.0), Some("part.cache.program"));
    assert_eq!(config().excludes_multi_plane_programs(&part), None);
}
