//! Stops of programs and erases for a read: instant, cost, resumption.
//!
//! One program (or erase) is submitted at 0; its pulses start at 57258 (300) and would end at 557258 (3300300).
//! A read has the die for 54797 and its outcome comes 5000 later.

use crate::common::*;
use interpulse_engine::Duration;
use interpulse_flash::DieId;
use interpulse_flash::die::State;
use interpulse_flash::nand::txn::{Kind, Txn};
use interpulse_flash::nand::{NandConfig, NandCounters};
use interpulse_flash::suspend::{Scheme, SuspendPolicy};

const ENTRY: u64 = 20_000;
const RESUME: u64 = 10_000;

fn of(scheme: Scheme) -> NandConfig {
    suspending(scheme, &part())
}

/// The long operation at 0 and reads at the given instants: the ends of the reads, the end of the operation.
fn run(config: NandConfig, long: Txn, reads: &[u64]) -> (Vec<u64>, u64, NandCounters) {
    run_on(Bench::new(&part(), config, 1), long, reads)
}

fn run_on(mut bench: Bench, long: Txn, reads: &[u64]) -> (Vec<u64>, u64, NandCounters) {
    bench.at(0, long);
    for &at in reads {
        bench.at(at, read(0));
    }
    let mut ends = bench.run().ends();
    let end = ends.remove(0);
    (ends, end, bench.nand.counters)
}

#[test]
fn without_suspension_a_read_waits_for_the_end() {
    let after = PROGRAM + READ;
    for scheme in [of(Scheme::None), config()] {
        for at in [1, 300, 19_285, 57_257, 57_258, 57_259, 182_258, 432_259, 557_257, 557_258] {
            let (reads, end, counters) = run(scheme.clone(), program(0), &[at]);
            assert_eq!((reads[0], end, counters.program_suspends), (after, PROGRAM, 0), "read at {at}");
        }
        assert_eq!(run(scheme.clone(), program(0), &[557_259]).0, [after + 1]);
    }
}

#[test]
fn ideal_stops_at_any_instant_and_pays_nothing() {
    // (read, end of the read, end of the program, suspensions)
    let cases = [
        // In the first, second, third load: the pulses stop before they start.
        (1, PULSES_AT + READ, PROGRAM + READ_DIE, 1),
        (19_286, PULSES_AT + READ, PROGRAM + READ_DIE, 1),
        (57_257, PULSES_AT + READ, PROGRAM + READ_DIE, 1),
        // As the pulses start, in a pulse, in a verify, about a loop's end.
        (57_258, 57_258 + READ, PROGRAM + READ_DIE, 1),
        (60_000, 60_000 + READ, PROGRAM + READ_DIE, 1),
        (150_000, 150_000 + READ, PROGRAM + READ_DIE, 1),
        (182_257, 182_257 + READ, PROGRAM + READ_DIE, 1),
        (182_258, 182_258 + READ, PROGRAM + READ_DIE, 1),
        (182_259, 182_259 + READ, PROGRAM + READ_DIE, 1),
        // A nanosecond before the end, and at the end, where there is nothing left to stop.
        (557_257, 557_257 + READ, PROGRAM + READ_DIE, 1),
        (557_258, 557_258 + READ, PROGRAM, 0),
    ];
    for (at, read_end, program_end, suspends) in cases {
        let (reads, end, counters) = run(of(Scheme::Ideal), program(0), &[at]);
        assert_eq!(
            (reads[0], end, counters.program_suspends),
            (read_end, program_end, suspends),
            "read at {at}"
        );
        assert_eq!((counters.stop_time, counters.entry_time, counters.resume_time), (0, 0, 0));
    }
}

#[test]
fn loop_boundary_stops_at_the_end_of_the_loop_and_pays_entry_and_resume() {
    // (read, where the pulses stop)
    let cases = [
        (1, 57_258),
        (40_000, 57_258),
        (57_257, 57_258),
        // Exactly as the pulses start: no loop has begun yet.
        (57_258, 57_258),
        (57_259, 182_258),
        (100_000, 182_258),
        (182_257, 182_258),
        (182_258, 182_258),
        (182_259, 307_258),
        (432_257, 432_258),
        (432_258, 432_258),
    ];
    for (at, stop) in cases {
        let (reads, end, counters) = run(of(Scheme::LoopBoundary), program(0), &[at]);
        assert_eq!(reads[0], stop + ENTRY + READ, "read at {at}");
        assert_eq!(end, PROGRAM + ENTRY + READ_DIE + RESUME, "read at {at}");
        assert_eq!(counters.program_suspends, 1);
        assert_eq!(counters.stop_time, stop - at.max(PULSES_AT), "read at {at}");
        assert_eq!((counters.entry_time, counters.resume_time), (ENTRY, RESUME));
    }
    // In the last loop there is nothing to stop for.
    for at in [432_259, 557_257, 557_258] {
        let (reads, end, counters) = run(of(Scheme::LoopBoundary), program(0), &[at]);
        assert_eq!((reads[0], end, counters.program_suspends), (PROGRAM + READ, PROGRAM, 0), "read at {at}");
    }
}

#[test]
fn reads_that_come_while_it_stops_enters_or_reads_are_drained_before_it_resumes() {
    // Asked at 100000, stopped at 182258, entered at 202258, first read's data out at 257055.
    for second in [100_000, 150_000, 182_258, 190_000, 202_258, 230_000, 257_054] {
        let (reads, end, counters) = run(of(Scheme::LoopBoundary), program(0), &[100_000, second]);
        assert_eq!(reads, [262_055, 262_055 + READ_DIE], "second read at {second}");
        // Resumed at 311852, pulsing from 321852 for the 375000 that are left.
        assert_eq!((end, counters.program_suspends), (696_852, 1), "second read at {second}");
    }
}

#[test]
fn a_read_that_comes_during_the_resume_waits_for_one_more_loop() {
    // The first read's data is out at 257055, the program resumes until 267055, and its next loop, already
    // commanded, lasts until 392055; entered at 412055; read until 466852; resumed at 476852; 250000 left. So too
    // as the resume ends, in the loop, and at its end, which again is a boundary to stop at to the nanosecond.
    for second in [257_055, 260_000, 267_054, 267_055, 267_056, 392_055] {
        let (reads, end, counters) = run(of(Scheme::LoopBoundary), program(0), &[100_000, second]);
        assert_eq!(
            (reads[1], end, counters.program_suspends),
            (471_852, 726_852, 2),
            "second read at {second}"
        );
    }
    // A nanosecond later it is the end of the loop after that, 517055: entered at 537055.
    let (reads, ..) = run(of(Scheme::LoopBoundary), program(0), &[100_000, 392_056]);
    assert_eq!(reads[1], 537_055 + READ);
}

/// A read as the resume ends finds the same, whether the die or the read comes first in the event queue.
#[test]
fn at_the_end_of_the_resume_the_order_of_events_does_not_matter() {
    // As above: 392055 ends the loop that the resume is for.
    for bench in [Bench::new, Bench::arrivals_first] {
        let bench = bench(&part(), of(Scheme::LoopBoundary), 1);
        let (reads, end, counters) = run_on(bench, program(0), &[100_000, 267_055]);
        assert_eq!((reads[1], end, counters.program_suspends), (471_852, 726_852, 2));
    }
    // Stopped before its first pulse, at 57258, entered at 77258, read until 132055, resumed at 142055: now the
    // first loop, until 267055; entered at 287055, read until 341852, resumed at 351852 with 375000 left.
    for bench in [Bench::new, Bench::arrivals_first] {
        let bench = bench(&part(), of(Scheme::LoopBoundary), 1);
        let (reads, end, counters) = run_on(bench, program(0), &[1, 142_055]);
        assert_eq!((reads, end, counters.program_suspends), (vec![137_055, 346_852], 726_852, 2));
    }
}

/// Reads that come as each resume ends hold a program back for as many loops as it has, not for ever.
#[test]
fn a_program_progresses_by_a_loop_in_each_resume() {
    // Stopped at 57258, resumed at 142055; from each resume to the next a loop and 20000 + 54797 + 10000, that
    // is 209797: at 351852, 561649, 771446. The last loop has nothing to stop for, until 896446.
    let (reads, end, counters) =
        run(of(Scheme::LoopBoundary), program(0), &[1, 142_055, 351_852, 561_649, 771_446]);
    assert_eq!(reads, [137_055, 346_852, 556_649, 766_446, 896_446 + READ]);
    assert_eq!((end, counters.program_suspends), (896_446, 4));
}

#[test]
fn a_read_that_comes_during_the_resume_into_the_last_loop_waits_for_the_end() {
    // Stopped at 432258, resumed at 432258 + 20000 + 54797 + 10000 = 517055, ended at 642055.
    for second in [510_000, 517_054, 517_055, 517_056] {
        let (reads, end, counters) = run(of(Scheme::LoopBoundary), program(0), &[432_258, second]);
        assert_eq!((reads[1], end, counters.program_suspends), (642_055 + READ, 642_055, 1));
    }
}

#[test]
fn no_more_suspensions_than_the_limit() {
    let limited = |scheme, max| {
        let config = of(scheme);
        let program_suspend = SuspendPolicy { max_suspends: Some(max), ..config.program_suspend.clone() };
        NandConfig { program_suspend, ..config }
    };
    // One allowed: the read during the resume waits for the end at 267055 + 375000; so does a third.
    let (reads, end, counters) =
        run(limited(Scheme::LoopBoundary, 1), program(0), &[100_000, 260_000, 300_000]);
    assert_eq!(end, 642_055);
    assert_eq!(reads[1..], [642_055 + READ, 642_055 + READ_DIE + READ]);
    assert_eq!((counters.program_suspends, counters.stops_refused_by_limit), (1, 1));
    // None allowed is no suspension at all, and no refusal either.
    let (reads, end, counters) = run(limited(Scheme::Ideal, 0), program(0), &[100_000]);
    assert_eq!((reads[0], end, counters.stops_refused_by_limit), (PROGRAM + READ, PROGRAM, 0));
    // Two allowed, three reads: 60000 and 150000 stop it, 250000 waits for the end.
    let (reads, end, counters) = run(limited(Scheme::Ideal, 2), program(0), &[60_000, 150_000, 250_000]);
    assert_eq!((end, counters.program_suspends), (PROGRAM + 2 * READ_DIE, 2));
    assert_eq!(reads, [60_000 + READ, 150_000 + READ, PROGRAM + 2 * READ_DIE + READ]);
}

#[test]
fn the_limit_counts_each_operation_anew() {
    let config = of(Scheme::Ideal);
    let program_suspend = SuspendPolicy { max_suspends: Some(1), ..config.program_suspend.clone() };
    let mut bench = Bench::new(&part(), NandConfig { program_suspend, ..config }, 1);
    bench.at(0, program(0)).at(0, program(0)).at(100_000, read(0)).at(700_000, read(0)).run();
    assert_eq!(bench.ends()[2..], [100_000 + READ, 700_000 + READ]);
    assert_eq!(bench.nand.counters.program_suspends, 2);
}

#[test]
fn nearly_finished_operations_are_left_alone() {
    let config = of(Scheme::LoopBoundary);
    let min_remaining = Duration::from_ns(300_000);
    let program_suspend = SuspendPolicy { min_remaining, ..config.program_suspend.clone() };
    let config = NandConfig { program_suspend, ..config };
    // 200000 into the pulses exactly 300000 are left, which still is a reason to stop, at 307258.
    let (reads, end, _) = run(config.clone(), program(0), &[257_258]);
    assert_eq!((reads[0], end), (307_258 + ENTRY + READ, PROGRAM + ENTRY + READ_DIE + RESUME));
    let (reads, end, _) = run(config.clone(), program(0), &[257_259]);
    assert_eq!((reads[0], end), (PROGRAM + READ, PROGRAM));
}

#[test]
fn erases_stop_by_their_own_policy_and_costs() {
    let (entry, resume) = (40_000, 30_000);
    // In the command of the erase, at the first boundary, in the second loop.
    for (at, stop) in
        [(100, 300), (300, 300), (301, 1_100_300), (1_100_300, 1_100_300), (1_500_000, 2_200_300)]
    {
        let (reads, end, counters) = run(of(Scheme::LoopBoundary), erase(0), &[at]);
        assert_eq!(reads[0], stop + entry + READ, "read at {at}");
        assert_eq!(end, 3_300_300 + entry + READ_DIE + resume, "read at {at}");
        assert_eq!((counters.erase_suspends, counters.program_suspends), (1, 0));
    }
    let (reads, end, counters) = run(of(Scheme::LoopBoundary), erase(0), &[2_200_301]);
    assert_eq!((reads[0], end, counters.erase_suspends), (3_300_300 + READ, 3_300_300, 0));
    let (reads, end, _) = run(of(Scheme::Ideal), erase(0), &[500_000]);
    assert_eq!((reads[0], end), (500_000 + READ, 3_300_300 + READ_DIE));
    // The command of the erase is on the bus until 300.
    let (reads, end, _) = run(of(Scheme::Ideal), erase(0), &[100]);
    assert_eq!((reads[0], end), (300 + READ, 3_300_300 + READ_DIE));
    // Programs may stop while erases may not.
    let only_programs = NandConfig { erase_suspend: SuspendPolicy::NEVER, ..of(Scheme::Ideal) };
    assert_eq!(run(only_programs.clone(), erase(0), &[500_000]).0, [3_300_300 + READ]);
    assert_eq!(run(only_programs.clone(), program(0), &[100_000]).0, [100_000 + READ]);
}

/// Only host reads stop anything, and only they are served in a suspension.
#[test]
fn garbage_collection_waits_for_the_end() {
    let gc_read = but(read(0), |t| t.kind = Kind::GcRead);
    let mut bench = Bench::new(&part(), of(Scheme::Ideal), 1);
    bench.at(0, program(0)).at(100_000, gc_read).at(150_000, read(0)).run();
    let end = PROGRAM + READ_DIE;
    assert_eq!(bench.ends(), [end, end + READ, 150_000 + READ]);
}

#[test]
fn a_program_behind_a_suspended_one_waits_for_it() {
    let mut bench = Bench::new(&part(), of(Scheme::Ideal), 1);
    bench.at(0, program(0)).at(90_000, program(0)).at(100_000, read(0)).run_until(120_000);
    assert_eq!(bench.nand.dies()[0].state(), State::Sensing);
    assert_eq!(bench.nand.waiting_at(DieId(0)), 1);
    let end = PROGRAM + READ_DIE;
    assert_eq!(bench.run().ends(), [end, end + PROGRAM, 100_000 + READ]);
}

/// The read's command waits for the bus, beyond the instant at which the stopped program would have ended.
#[test]
fn a_program_stopped_while_the_bus_is_taken() {
    let mut bench = Bench::new(&part(), of(Scheme::Ideal), 2);
    bench.at(0, program(0)).at(540_000, program(1)).at(550_000, read(0)).run();
    // Die 1's first load has the bus until 540000 + 300 + 17986 = 558286. Then the command, until 558586, while
    // die 1 is set up, until 559286, and goes on as if alone, until 597258; sensed at 608586, out at 613083.
    // Die 0 has 7258 of its pulses left.
    assert_eq!(bench.ends(), [613_083 + 7_258, 597_258 + PULSES, 613_083 + 5_000]);
}
