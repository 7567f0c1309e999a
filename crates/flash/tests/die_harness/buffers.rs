//! Page buffer of a suspended program whose die is read.
//!
//! `exact`: a read at 100000 stops the program 42742 into its pulses, the die accepts it at 120000; a usual read
//! has the die until 174797; leaving takes 10000. Alone the program ends at 557258.

use crate::common::*;
use interpulse_engine::Duration;
use interpulse_flash::ids::BlockId;
use interpulse_flash::nand::NandConfig;
use interpulse_flash::nand::txn::Txn;
use interpulse_flash::suspend::{Reload, Scheme};

fn with(reload: Reload) -> NandConfig {
    let mut config = suspending(Scheme::Exact, &part());
    config.program_suspend.reload = reload;
    config
}

fn shadow() -> NandConfig {
    with(Reload::ShadowBuffer(Duration::from_us(15)))
}

/// A program of word line 0 of block 4.
fn addressed() -> Txn {
    but(program(0), |t| t.block = BlockId(4))
}

#[test]
fn a_page_being_programmed_is_read_from_the_page_buffer() {
    // Command and transfer without a tR: 120000 + 300 + 4497 = 124797; no reload, for the data is still there:
    // pulses at 134797, end 557258 + 20000 + 4797 + 10000 = 592055. Any page of the word line.
    for (page, reload) in [(0, shadow()), (1, with(Reload::Bus)), (2, shadow())] {
        let arrivals = [(0, addressed()), (100_000, read_of(0, 0, 4, page, 1))];
        let bench = check("buffered", Bench::new(&part(), reload, 1), &arrivals, &[592_055, 129_797]);
        let c = bench.nand.counters;
        assert_eq!((c.page_buffer_reads, c.reloads, c.reload_time), (1, 0, 0), "page {page}");
    }
    // A page of a block that is programmed for good is sensed.
    let arrivals = [(0, addressed()), (100_000, read_of(0, 0, 3, 0, 1))];
    let bench = check("sensed", Bench::new(&part(), shadow(), 1), &arrivals, &[657_055, 179_797]);
    assert_eq!((bench.nand.counters.page_buffer_reads, bench.nand.counters.reloads), (0, 1));
}

/// The first such read is the one that the program stops for; the other comes in the suspension.
#[test]
fn a_read_from_the_buffer_and_one_that_is_sensed() {
    // 124797, then a usual read until 179594, 15000 and 10000 more: 557258 + 20000 + 4797 + 54797 + 25000 = 661852.
    let arrivals = [(0, addressed()), (100_000, read_of(0, 0, 4, 2, 1)), (121_000, read(0))];
    let bench = check("both", Bench::new(&part(), shadow(), 1), &arrivals, &[661_852, 129_797, 184_594]);
    assert_eq!((bench.nand.counters.page_buffer_reads, bench.nand.counters.reloads), (1, 1));
}

#[test]
fn the_shadow_buffer() {
    // Read until 174797, reloaded and resumed at 199797: 557258 + 20000 + 54797 + 25000 = 657055.
    let arrivals = [(0, program(0)), (100_000, read(0))];
    let bench = check("one", Bench::new(&part(), shadow(), 1), &arrivals, &[657_055, 179_797]);
    let c = bench.nand.counters;
    assert_eq!((c.reloads, c.reload_time, c.reload_bus_time, c.resume_time), (1, 15_000, 0, 10_000));
    assert_eq!(c.program_suspended_time, 20_000 + READ_DIE + 25_000);
    // A second read in the reload or in the resume after it: stopped again at 199797, entered 219797, and the
    // buffer is loaded once more: 557258 + 2 * 99797 = 756852.
    for second in [174_798, 180_000, 189_797, 199_796] {
        let arrivals = [(0, program(0)), (100_000, read(0)), (second, read(0))];
        let ends = [756_852, 179_797, 219_797 + READ];
        let bench = check("in the reload", Bench::new(&part(), shadow(), 1), &arrivals, &ends);
        assert_eq!((bench.nand.counters.reloads, bench.nand.counters.reload_time), (2, 30_000));
    }
}

#[test]
fn over_the_bus() {
    // Three pages of 17986 and 1000 of set-up: 174797 + 56958 = 231755, resumed at 241755: 557258 + 20000 + 54797 +
    // 56958 + 10000 = 699013.
    let arrivals = [(0, program(0)), (100_000, read(0))];
    let bench = check("one", Bench::new(&part(), with(Reload::Bus), 1), &arrivals, &[699_013, 179_797]);
    let c = bench.nand.counters;
    assert_eq!((c.reloads, c.reload_time, c.reload_bus_time, c.resume_time), (1, 56_958, 53_958, 10_000));
    // Command and three pages, the read's command and data, three pages.
    assert_eq!(c.bus_time, 300 + 53_958 + 300 + 4_497 + 53_958);
    // A second read in the reload: stopped again at 241755, entered 261755; 557258 + 2 * 141755 = 840768.
    for second in [174_798, 190_000, 231_755, 241_754] {
        let arrivals = [(0, program(0)), (100_000, read(0)), (second, read(0))];
        let ends = [840_768, 179_797, 261_755 + READ];
        check("in the reload", Bench::new(&part(), with(Reload::Bus), 1), &arrivals, &ends);
    }
    // Both planes of a program on two: pulses from 600 + 6 * 18986 = 114516 to 614516; stopped at 200000, entered
    // 220000, read until 274797, six pages: 274797 + 113916 = 388713; resumed at 398713 with 414516 left.
    let wide = but(program(0), |t| t.planes = 2);
    let arrivals = [(0, wide), (200_000, read(0))];
    let bench =
        check("two planes", Bench::new(&part(), with(Reload::Bus), 1), &arrivals, &[813_229, 279_797]);
    assert_eq!(bench.nand.counters.reload_bus_time, 6 * 17_986);
}

#[test]
fn the_reload_waits_for_the_bus() {
    // Die 1's page is sensed at 122000 + 300 + 50000 = 172300 and waits for die 0's data until 174797; it has the
    // bus until 192783, and the reload waits for it: 17986 later than alone.
    let arrivals = [(0, program(0)), (100_000, read(0)), (122_000, read_of(1, 0, 0, 0, 4))];
    let ends = [699_013 + 17_986, 179_797, 192_783 + 3 * 700 + 5_000];
    let bench = check("bus taken", Bench::new(&part(), with(Reload::Bus), 2), &arrivals, &ends);
    let c = bench.nand.counters;
    assert_eq!((c.reload_time, c.reload_bus_time), (56_958 + 17_986, 53_958));
}

/// Whether the buffer was used is a matter of each suspension.
#[test]
fn a_suspension_that_only_reads_the_buffer_needs_no_reload() {
    // Stopped at 100000 for a page that is sensed, reloaded and pulsing at 199797; stopped at 250000 for a page of its
    // own, out at 274797: 557258 + 99797 + 20000 + 4797 + 10000 = 691852.
    let arrivals = [(0, addressed()), (100_000, read(0)), (250_000, read_of(0, 0, 4, 0, 1))];
    let ends = [691_852, 179_797, 279_797];
    let bench = check("second", Bench::new(&part(), shadow(), 1), &arrivals, &ends);
    assert_eq!((bench.nand.counters.page_buffer_reads, bench.nand.counters.reloads), (1, 1));
}

/// Nothing is loaded again for an erase, nor by the bound that costs nothing.
#[test]
fn no_reload() {
    let mut config = suspending(Scheme::Exact, &part());
    for policy in [&mut config.program_suspend, &mut config.erase_suspend] {
        policy.reload = Reload::Bus;
    }
    // 3300300 + 40000 + 54797 + 30000.
    let arrivals = [(0, erase(0)), (500_000, read(0))];
    let bench = check("erase", Bench::new(&part(), config, 1), &arrivals, &[3_425_097, 540_000 + READ]);
    assert_eq!(bench.nand.counters.reloads, 0);
    for reload in [Reload::Bus, Reload::ShadowBuffer(Duration::from_us(15))] {
        let mut config = suspending(Scheme::Ideal, &part());
        config.program_suspend.reload = reload;
        let arrivals = [(0, program(0)), (100_000, read(0))];
        let ends = [PROGRAM + READ_DIE, 100_000 + READ];
        let bench = check("ideal", Bench::new(&part(), config, 1), &arrivals, &ends);
        assert_eq!((bench.nand.counters.reloads, bench.nand.counters.reload_time), (0, 0));
    }
}
