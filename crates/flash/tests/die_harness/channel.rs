//! Who waits for the bus, and for how long?

use crate::common::*;
use interpulse_flash::die::usage::Wait;

/// Two reads at once: the second's command follows the first's, its data waits for the first's.
#[test]
fn two_dies_share_the_bus() {
    let ends = [READ, READ_DIE + UNITS[1] + DECODE];
    check("two reads", Bench::new(&part(), config(), 2), &[(0, read(0)), (0, read(1))], &ends);
    // Four units each: out until 68286 and 86272.
    let long = |die| read_of(die, 0, 0, 0, 4);
    let first = 300 + LSB + UNITS[4];
    let ends = [first + 3 * 700 + 5_000, first + UNITS[4] + 3 * 700 + 5_000];
    let bench = check("two pages", Bench::new(&part(), config(), 2), &[(0, long(0)), (0, long(1))], &ends);
    assert_eq!(bench.nand.channels()[0].busy_ns, 600 + 2 * UNITS[4]);
    assert_eq!(bench.nand.counters.bus_time, 600 + 2 * UNITS[4]);
}

/// A read's data waits for the last page load of another die's program.
#[test]
fn data_out_waits_for_a_page_load() {
    // Loads of die 0: 10000 to 29286, 48272, 67258. Die 1 has sensed at 50300.
    let arrivals = [(0, read(1)), (10_000, program(0))];
    let ends = [67_258 + 4_497 + 5_000, 67_258 + PULSES];
    let bench = check("last load", Bench::new(&part(), config(), 2), &arrivals, &ends);
    assert_eq!(bench.of(0).waits()[Wait::Bus as usize], 300 + (67_258 - 50_300) + 4_497);
}

/// Data goes in the order of request: the read's data comes between two page loads of another die.
#[test]
fn data_out_goes_between_two_page_loads() {
    // Loads of die 0: 20000 to 39286, then to 58272; sensed at 50300: out from 58272 to 62769; third load until
    // 81755.
    let arrivals = [(0, read(1)), (20_000, program(0))];
    check("between", Bench::new(&part(), config(), 2), &arrivals, &[62_769 + 5_000, 62_769 + LOAD + PULSES]);
}

/// A program's first load waits for a read's data.
#[test]
fn a_page_load_waits_for_data_out() {
    // The bus is taken from 50300 to 54797.
    let arrivals = [(0, read(1)), (51_000, program(0))];
    check("load", Bench::new(&part(), config(), 2), &arrivals, &[READ, 54_797 + PROGRAM]);
}

#[test]
fn commands_go_before_data() {
    // Die 0 loads from 40000 to 59286. Die 1's data is ready at 50300, die 2's command comes at 55000 and yet
    // goes first, until 59586; then die 1's data until 64083; then die 0's other loads until 83069 and 102055.
    // Die 2 has sensed at 109586.
    let arrivals = [(0, read(1)), (40_000, program(0)), (55_000, read(2))];
    let ends = [64_083 + 5_000, 102_055 + PULSES, 109_586 + 4_497 + 5_000];
    check("commands first", Bench::new(&part(), config(), 3), &arrivals, &ends);
}

/// The command of an erase waits for the bus like any other.
#[test]
fn an_erase_waits_for_the_bus() {
    // First load of die 0 until 19286; the command until 19586; the other loads until 57558.
    let arrivals = [(0, program(0)), (1_000, erase(1))];
    let ends = [57_558 + PULSES, 19_586 + ERASE_PULSES];
    check("erase", Bench::new(&part(), config(), 2), &arrivals, &ends);
}
