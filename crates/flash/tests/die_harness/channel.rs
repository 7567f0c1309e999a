//! Bus of a channel: order and length of waits.

use crate::common::*;
use interpulse_flash::command::Wait;
use interpulse_flash::nand::NandConfig;
use interpulse_flash::nand::channel::ChannelOrder;
use interpulse_flash::nand::txn::Txn;

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

/// A read's data waits for the last page load of another die's program, but not for the set-up after it.
#[test]
fn data_out_waits_for_a_page_load() {
    // Die 0 has the bus from 10000 to 28286, is set up at 29286; from there to 47272, 48272; from there to 66258,
    // 67258. Die 1 has sensed at 50300: out from 66258 to 70755.
    let arrivals = [(0, read(1)), (10_000, program(0))];
    let ends = [70_755 + 5_000, 67_258 + PULSES];
    let bench = check("last load", Bench::new(&part(), config(), 2), &arrivals, &ends);
    assert_eq!(bench.of(0).waits()[Wait::Bus as usize], 300 + (66_258 - 50_300) + 4_497);
}

/// Data goes in the order of request: the read's data comes between two page loads of another die.
#[test]
fn data_out_goes_between_two_page_loads() {
    // Die 0 has the bus from 20000 to 38286, is set up at 39286; from there to 57272, 58272. Die 1 has sensed at
    // 50300: out from 57272 to 61769. Third load of die 0 from there to 79755, 80755.
    let arrivals = [(0, read(1)), (20_000, program(0))];
    check("between", Bench::new(&part(), config(), 2), &arrivals, &[61_769 + 5_000, 80_755 + PULSES]);
}

/// What other dies do with the bus while a page buffer is set up.
#[test]
fn the_bus_is_free_during_a_set_up() {
    // Set-ups of die 0, as above: 38286 to 39286 and 57272 to 58272. A command fits into the first, and by 88800,
    // when its page is sensed, die 0 pulses: nobody waits.
    let arrivals = [(38_500, read(1)), (20_000, program(0))];
    let bench = Bench::new(&part(), config(), 2);
    check("command", bench, &arrivals, &[38_500 + READ, 20_000 + PROGRAM]);
    // Sensed at 57300, in the second: out at once, until 61797; third load from there to 79783, 80783.
    let arrivals = [(7_000, read(1)), (20_000, program(0))];
    check("data", Bench::new(&part(), config(), 2), &arrivals, &[7_000 + READ, 80_783 + PULSES]);
}

/// Two programs at once load in turn: each is set up while the other has the bus, which is never free.
#[test]
fn one_die_is_set_up_while_another_loads() {
    // (bus until, set up at): die 0 18286, 19286; die 1 36572, 37572; die 0 54558, 55558; die 1 72544, 73544;
    // die 0 90530, 91530; die 1 108516, 109516.
    let ends = [91_530 + PULSES, 109_516 + PULSES];
    let arrivals = [(0, program(0)), (0, program(1))];
    let bench = check("in turn", Bench::new(&part(), config(), 2), &arrivals, &ends);
    assert_eq!(bench.nand.counters.bus_time, 108_516);
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
    // Die 0 has the bus from 40000 to 58286. Die 1's data is ready at 50300, die 2's command comes at 55000 and
    // yet goes first, until 58586; then die 1's data until 63083. Die 0, set up at 59286, has the bus from there
    // to 81069, is set up at 82069; from there to 100055, 101055. Die 2 has sensed at 108586.
    let arrivals = [(0, read(1)), (40_000, program(0)), (55_000, read(2))];
    let ends = [63_083 + 5_000, 101_055 + PULSES, 108_586 + 4_497 + 5_000];
    check("commands first", Bench::new(&part(), config(), 3), &arrivals, &ends);
}

#[test]
fn data_goes_before_commands_or_both_in_order_of_request() {
    let ordered = |channel_order| NandConfig { channel_order, ..config() };
    let check = |name, order, arrivals: &[(u64, Txn)], ends: &[u64]| {
        check(name, Bench::new(&part(), ordered(order), 3), arrivals, ends);
    };
    // As above until 58286; then die 1's data until 62783. Die 0, set up at 59286, has the bus from there to 80769: only
    // then die 2's command until 81069. Die 0, set up at 81769, has the bus to 99755, 100755. Die 2 has sensed at 131069.
    let arrivals = [(0, read(1)), (40_000, program(0)), (55_000, read(2))];
    let ends = [62_783 + 5_000, 100_755 + PULSES, 131_069 + 4_497 + 5_000];
    check("data first", ChannelOrder::DataFirst, &arrivals, &ends);
    // The command was requested before the load: until 63083. Then die 0 to 81069, 82069, to 100055, 101055.
    let ends = [62_783 + 5_000, 101_055 + PULSES, 113_083 + 4_497 + 5_000];
    check("arrival", ChannelOrder::Arrival, &arrivals, &ends);
    // Die 0 has the bus from 80000 to 98286. Die 2's command is requested at 88000, die 1's data at 90300. In order of
    // request: command until 98586, data until 103083, die 0 until 121069, 122069, 140055, 141055.
    let arrivals = [(40_000, read(1)), (80_000, program(0)), (88_000, read(2))];
    let ends = [103_083 + 5_000, 141_055 + PULSES, 148_586 + 4_497 + 5_000];
    check("arrival, command first", ChannelOrder::Arrival, &arrivals, &ends);
    // Data until 102783, die 0 until 120769, command until 121069; die 0 from 121769 to 139755, 140755.
    let ends = [102_783 + 5_000, 140_755 + PULSES, 171_069 + 4_497 + 5_000];
    check("data first, late", ChannelOrder::DataFirst, &arrivals, &ends);
}

/// The command of an erase waits for the bus like any other.
#[test]
fn an_erase_waits_for_the_bus() {
    // Die 0 has the bus until 18286; the command until 18586, before die 0 is set up at 19286 and goes on as if
    // alone.
    let arrivals = [(0, program(0)), (1_000, erase(1))];
    let ends = [PROGRAM, 18_586 + ERASE_PULSES];
    check("erase", Bench::new(&part(), config(), 2), &arrivals, &ends);
}
