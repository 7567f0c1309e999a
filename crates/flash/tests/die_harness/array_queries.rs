//! Prediction of the waits of a fail-fast read, against the account of the read submitted afterwards.

use crate::common::*;
use interpulse_engine::{Rng, SimTime, Streams};
use interpulse_flash::DieId;
use interpulse_flash::command::Wait;
use interpulse_flash::nand::queue::{GcReadRank, Policy};
use interpulse_flash::nand::txn::{Kind, Txn};
use interpulse_flash::nand::{FailFastFor, NandConfig};
use interpulse_flash::suspend::{Scheme, SuspendLimits};

/// A transaction of any kind.
fn any(rng: &mut Rng) -> Txn {
    match rng.below(8) {
        0 | 1 => read(0),
        2 | 3 => but(read(0), |t| t.kind = Kind::GcRead),
        4 => program(0),
        5 | 6 => but(program(0), |t| t.kind = Kind::GcProgram),
        _ => erase(0),
    }
}

#[test]
fn a_read_waits_for_collection_if_and_only_if_that_was_foreseen() {
    waits_if_and_only_if_foreseen(FailFastFor::Collection, &[Wait::Gc, Wait::Erases]);
}

#[test]
fn a_read_waits_for_any_operation_if_and_only_if_that_was_foreseen() {
    waits_if_and_only_if_foreseen(FailFastFor::AnyOperation, &[Wait::Gc, Wait::Erases, Wait::Programs]);
}

fn waits_if_and_only_if_foreseen(what: FailFastFor, causes: &[Wait]) {
    let first = |gc_reads| NandConfig { policy: Policy::ReadPriority, gc_reads, ..config() };
    let configs = [
        ("fifo", config()),
        ("reads first", first(GcReadRank::InOrder)),
        ("reads of collection as those of the host", first(GcReadRank::WithHostReads)),
        ("suspending at once", suspending(Scheme::Ideal, &part())),
        ("suspending at loops", suspending(Scheme::LoopBoundary, &part())),
    ];
    for (name, config) in configs {
        let (mut waited, mut passed) = (0, 0);
        for case in 0..400 {
            let mut rng = Streams::new(7).stream("foresight", case);
            let mut bench = Bench::new(&part(), config.clone(), 1);
            bench.nand.set_fail_fast_for(what);
            let n = 1 + rng.below(5) as u32;
            for _ in 0..n {
                let at = rng.below(700_000);
                bench.at(at, any(&mut rng));
            }
            let at = 1 + rng.below(1_000_000);
            bench.run_until(at);
            let foreseen = bench.nand.read_fails_fast(DieId(0), SimTime(at));
            let waits = bench.at(at, read(0)).run().of(n).waits();
            let behind: u64 = causes.iter().map(|&cause| waits[cause as usize]).sum();
            assert_eq!(foreseen, behind > 0, "{name}, case {case}: {waits:?}");
            (waited, passed) = (waited + u32::from(behind > 0), passed + u32::from(behind == 0));
        }
        assert!(waited >= 15 && passed >= 40, "{name}: {waited} waited, {passed} did not");
    }
}

/// A program of collection that has been stopped as often as it may be is in the way, until the limit is another.
#[test]
fn limits_that_change_count_from_then_on() {
    let once = |limits: [SuspendLimits; 2], max| limits.map(|l| SuspendLimits { max_suspends: max, ..l });
    let mut bench = Bench::new(&part(), suspending(Scheme::LoopBoundary, &part()), 1);
    let limits = bench.nand.suspend_limits();
    bench.nand.set_suspend_limits(once(limits, Some(1)));
    // Pulses from 57258 on; the read stops them at 182258. They go on at 182258 + 20000 + READ_DIE + 10000 = 267055.
    bench.at(0, but(program(0), |t| t.kind = Kind::GcProgram)).at(100_000, read(0)).run_until(300_000);
    assert!(bench.nand.read_fails_fast(DieId(0), SimTime(300_000)));
    bench.nand.set_suspend_limits(once(limits, Some(2)));
    assert!(!bench.nand.read_fails_fast(DieId(0), SimTime(300_000)));
    bench.at(300_000, read(0)).run();
    assert_eq!(bench.nand.counters.program_suspends, 2);
    assert_eq!(bench.of(2).waits()[Wait::Gc as usize], 0);
    assert_eq!(bench.nand.suspend_limits()[0].max_suspends, Some(2));
}

/// A program of the host pulses from 57258 to 557258; a read of it waits for the rest, and only `any-operation` says so. One that a
/// suspension stops at the end of its loop is in nobody's way.
#[test]
fn programs_of_the_host_are_in_the_way_of_any_operation_alone() {
    let says = |config: NandConfig, what| {
        let mut bench = Bench::new(&part(), config, 1);
        bench.nand.set_fail_fast_for(what);
        bench.at(0, program(0)).run_until(100_000);
        let says = bench.nand.read_fails_fast(DieId(0), SimTime(100_000));
        (says, bench.at(100_000, read(0)).run().of(1).waits()[Wait::Programs as usize])
    };
    assert_eq!(says(config(), FailFastFor::Collection), (false, 457_258));
    assert_eq!(says(config(), FailFastFor::AnyOperation), (true, 457_258));
    let stopped = suspending(Scheme::LoopBoundary, &part());
    assert_eq!(says(stopped, FailFastFor::AnyOperation), (false, 0));
}
