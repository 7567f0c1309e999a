//! Order of transactions on a die.

use crate::common::*;
use interpulse_flash::DieId;
use interpulse_flash::command::Effect;
use interpulse_flash::nand::NandConfig;
use interpulse_flash::nand::queue::Policy;
use interpulse_flash::nand::txn::{Kind, Txn};
use interpulse_flash::parts::PartSpec;
use interpulse_flash::suspend::Scheme;

fn with(policy: Policy) -> NandConfig {
    NandConfig { policy, ..config() }
}

fn planes_together(policy: Policy) -> NandConfig {
    NandConfig { policy, multi_plane_reads: true, ..config() }
}

fn kind(kind: Kind) -> Txn {
    match kind.command().effect {
        Effect::Reads => but(read(0), |t| t.kind = kind),
        Effect::Programs | Effect::Nothing => Txn::new(kind, DieId(0)),
        Effect::Erases => erase(0),
    }
}

/// The order in which a die that is busy when they are submitted takes these, by index.
fn order(policy: Policy, urgent: bool, kinds: &[Kind]) -> Vec<u32> {
    let mut bench = Bench::new(&part(), with(policy), 1);
    bench.nand.set_gc_urgent(DieId(0), 0, urgent);
    bench.at(0, program(0));
    for (k, &what) in kinds.iter().enumerate() {
        bench.at(1 + k as u64, kind(what));
    }
    bench.run();
    // Reads come out of the decoder 5 us late, which changes no order here.
    bench.done[1..].iter().map(|d| d.txn.owner().index - 1).collect()
}

#[test]
fn fifo_is_the_order_of_submission_and_read_priority_puts_host_reads_first() {
    use Kind::*;
    let kinds = [Erase, GcRead, HostProgram, HostRead, GcProgram, HostRead];
    assert_eq!(order(Policy::Fifo, false, &kinds), [0, 1, 2, 3, 4, 5]);
    assert_eq!(order(Policy::ReadPriority, false, &kinds), [3, 5, 0, 1, 2, 4]);
}

#[test]
fn urgent_garbage_collection_goes_before_host_programs() {
    use Kind::*;
    let kinds = [HostProgram, GcProgram, HostProgram, GcRead, HostRead, Erase];
    assert_eq!(order(Policy::ReadPriority, false, &kinds), [4, 0, 1, 2, 3, 5]);
    assert_eq!(order(Policy::ReadPriority, true, &kinds), [4, 1, 3, 5, 0, 2]);
    assert_eq!(order(Policy::Fifo, true, &kinds), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn garbage_collection_waits_for_the_host_until_it_is_urgent() {
    use Kind::*;
    let kinds = [GcProgram, Erase, GcRead, HostProgram, HostRead, GcRead, HostProgram];
    assert_eq!(order(Policy::HostFirst, false, &kinds), [4, 3, 6, 0, 1, 2, 5]);
    assert_eq!(order(Policy::HostFirst, true, &kinds), order(Policy::ReadPriority, true, &kinds));
}

/// Two programs, then a read: exact instants under both policies.
#[test]
fn a_read_behind_two_programs() {
    let arrivals = [(0, program(0)), (10, program(0)), (20, read(0))];
    let fifo = [PROGRAM, 2 * PROGRAM, 2 * PROGRAM + READ];
    check("fifo", Bench::new(&part(), with(Policy::Fifo), 1), &arrivals, &fifo);
    let priority = [PROGRAM, PROGRAM + READ_DIE + PROGRAM, PROGRAM + READ];
    check("read-priority", Bench::new(&part(), with(Policy::ReadPriority), 1), &arrivals, &priority);
}

/// Wu and He's case for suspension (FAST'12): priority is of no use to a read that comes after the program
/// has started; a stop of the program is.
#[test]
fn a_read_behind_a_started_program_gains_from_suspension_but_not_from_priority() {
    let time =
        |config| Bench::new(&part(), config, 1).at(0, program(0)).at(100_000, read(0)).run().of(1).time();
    let fifo = time(with(Policy::Fifo));
    assert_eq!(fifo, PROGRAM - 100_000 + READ);
    assert_eq!(time(with(Policy::ReadPriority)), fifo);
    assert_eq!(time(suspending(Scheme::LoopBoundary, &part())), 82_258 + 20_000 + READ);
    assert_eq!(time(suspending(Scheme::Ideal, &part())), READ);
}

/// Behind a read that holds the die until 54797: least significant pages of planes 1 and 1, a most significant
/// page of plane 2.
#[test]
fn reads_of_different_planes_are_sensed_together() {
    let arrivals =
        [(0, read(0)), (1, read_of(0, 1, 0, 0, 1)), (2, read_of(0, 1, 0, 0, 1)), (3, read_of(0, 2, 0, 2, 1))];
    // The first of plane 1 and that of plane 2: two commands until 55397, the longer tR until 130397, data out
    // until 134894 and 139391. The second of plane 1: until 139391 + 54797.
    let ends = [READ, 134_894 + 5_000, 194_188 + 5_000, 139_391 + 5_000];
    let bench = check("together", Bench::new(&part(), planes_together(Policy::Fifo), 1), &arrivals, &ends);
    assert_eq!((bench.nand.counters.multi_plane_reads, bench.nand.counters.host_reads), (1, 4));
    // The longer tR first: out until 134894 and 139391 in the order of the reads.
    let arrivals_turned = [(0, read(0)), (3, read_of(0, 2, 0, 2, 1)), (4, read_of(0, 1, 0, 0, 1))];
    let ends = [READ, 134_894 + 5_000, 139_391 + 5_000];
    check("turned", Bench::new(&part(), planes_together(Policy::Fifo), 1), &arrivals_turned, &ends);
    // One by one: 54797 each, and 300 + 75000 + 4497 for the last.
    let ends = [READ, READ_DIE + READ, 2 * READ_DIE + READ, 3 * READ_DIE + 300 + MSB + 4_497 + 5_000];
    let bench = check("one by one", Bench::new(&part(), with(Policy::Fifo), 1), &arrivals, &ends);
    assert_eq!(bench.nand.counters.multi_plane_reads, 0);
}

#[test]
fn at_most_eight_planes_are_sensed_together() {
    let wide = PartSpec { planes: 16, ..part() };
    let mut bench = Bench::new(&wide, planes_together(Policy::Fifo), 1);
    bench.at(0, read(0));
    for plane in 1..=9 {
        bench.at(1, read_of(0, plane, 0, 0, 1));
    }
    let ends = bench.run().ends();
    // Eight commands, one tR, eight transfers; the ninth alone.
    let eight = READ_DIE + 8 * CMD + LSB + 8 * UNITS[1];
    assert_eq!((ends[8], ends[9]), (eight + DECODE, eight + READ));
    assert_eq!(bench.nand.counters.multi_plane_reads, 7);
}

/// Under `fifo` a read overtakes nothing, not even to be sensed with another.
#[test]
fn sensing_together_keeps_the_order_of_fifo() {
    let arrivals = [(0, read(0)), (1, read_of(0, 1, 0, 0, 1)), (2, program(0)), (3, read_of(0, 2, 0, 0, 1))];
    let program_end = 2 * READ_DIE + PROGRAM;
    let ends = [READ, READ_DIE + READ, program_end, program_end + READ];
    check("fifo", Bench::new(&part(), planes_together(Policy::Fifo), 1), &arrivals, &ends);
    // Reads go first anyway under read-priority: 54797 + 600 + 50000 + 4497 = 109894, and 4497 more.
    let ends = [READ, 109_894 + DECODE, 114_391 + PROGRAM, 114_391 + DECODE];
    let priority = planes_together(Policy::ReadPriority);
    check("read-priority", Bench::new(&part(), priority, 1), &arrivals, &ends);
}

/// Host reads and reads of garbage collection are not sensed together.
#[test]
fn only_reads_of_one_kind_are_sensed_together() {
    let gc = but(read_of(0, 2, 0, 0, 1), |t| t.kind = Kind::GcRead);
    let arrivals = [(0, read(0)), (1, read_of(0, 1, 0, 0, 1)), (2, gc)];
    let ends = [READ, READ_DIE + READ, 2 * READ_DIE + READ];
    check("kinds", Bench::new(&part(), planes_together(Policy::ReadPriority), 1), &arrivals, &ends);
}

#[test]
fn reads_in_a_suspension_are_sensed_together() {
    let config = NandConfig { multi_plane_reads: true, ..suspending(Scheme::LoopBoundary, &part()) };
    let arrivals = [(0, program(0)), (100_000, read(0)), (100_001, read_of(0, 3, 0, 0, 1))];
    // Stopped at 182258, entered at 202258; two commands, one tR: 252858; out until 257355 and 261852; resumed
    // at 271852 with 375000 left.
    let ends = [646_852, 257_355 + 5_000, 261_852 + 5_000];
    check("suspended", Bench::new(&part(), config, 1), &arrivals, &ends);
}
