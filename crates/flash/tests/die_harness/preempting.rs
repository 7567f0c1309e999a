//! Preemption: who may stop what, order of service in a suspension, nested suspensions.
//!
//! `exact` and `loop-boundary` on the bench's part: programs enter in 20000 and leave in 10000, erases in 40000 and
//! 30000. An erase submitted at 0 pulses from 300 to 3300300.

use crate::common::*;
use interpulse_engine::{Duration, SimTime};
use interpulse_flash::DieId;
use interpulse_flash::die::State;
use interpulse_flash::ids::BlockId;
use interpulse_flash::nand::NandConfig;
use interpulse_flash::nand::queue::{GcReadRank, Policy};
use interpulse_flash::nand::txn::{Kind, Txn};
use interpulse_flash::suspend::{Eligibility, MultiPlane, Preemptors, Scheme};
use interpulse_flash::variation::LongOperations;

const EVERYTHING: Preemptors = Preemptors { host_reads: true, gc_reads: true, host_writes: true };

fn of(scheme: Scheme, preemptors: Preemptors) -> NandConfig {
    let mut config = suspending(scheme, &part());
    config.program_suspend.preemptors = preemptors;
    config.erase_suspend.preemptors = preemptors;
    config
}

fn gc_read() -> Txn {
    but(read(0), |t| t.kind = Kind::GcRead)
}

/// Wu and He, Journal of Systems Architecture 2014: a write may suspend an erase.
#[test]
fn a_write_suspends_an_erase() {
    let config = of(Scheme::Exact, Preemptors { host_writes: true, ..Preemptors::HOST_READS });
    // Stopped at 500000, entered 540000; the program has the die until 540000 + 557258 = 1097258; resumed at
    // 1127258 with 2800300 left: 3927558.
    let arrivals = [(0, erase(0)), (500_000, program(0))];
    let bench = check("write", Bench::new(&part(), config.clone(), 1), &arrivals, &[3_927_558, 1_097_258]);
    let c = bench.nand.counters;
    assert_eq!((c.erase_suspends, c.program_suspends, c.programs_in_suspension), (1, 0, 1));
    assert_eq!((c.entry_time, c.resume_time), (40_000, 30_000));
    assert_eq!(c.erase_suspended_time, 1_127_258 - 500_000);
    // Not what garbage collection writes, and not while free blocks are urgently needed.
    let moving = but(program(0), |t| t.kind = Kind::GcProgram);
    let late = [ERASE_PULSES + 300, ERASE_PULSES + 300 + PROGRAM];
    let bench = Bench::new(&part(), config.clone(), 1);
    check("moving", bench, &[(0, erase(0)), (500_000, moving)], &late);
    let mut bench = Bench::new(&part(), config, 1);
    bench.nand.set_gc_urgent(DieId(0), 0, true);
    check("urgent", bench, &arrivals, &late);
    // Nor if only reads may, and never a program by a program.
    check("reads only", Bench::new(&part(), suspending(Scheme::Exact, &part()), 1), &arrivals, &late);
    let two = [(0, program(0)), (100_000, program(0))];
    let bench = Bench::new(&part(), of(Scheme::Exact, EVERYTHING), 1);
    check("program", bench, &two, &[PROGRAM, 2 * PROGRAM]);
}

/// Erase, in it a program, in it a read.
#[test]
fn two_levels() {
    let arrivals = [(0, erase(0)), (500_000, program(0)), (650_000, read(0))];
    // The program's pulses start at 540000 + 57258 = 597258; stopped at 650000, entered 670000, read until 724797,
    // resumed 734797 with 447258 left: 1182055. Then the erase: resumed 1212055 with 2800300 left: 4012355.
    let config = of(Scheme::Exact, Preemptors { host_writes: true, ..Preemptors::HOST_READS });
    let nested = NandConfig { nesting: true, ..config.clone() };
    let ends = [4_012_355, 1_182_055, 729_797];
    let bench = check("nested", Bench::new(&part(), nested.clone(), 1), &arrivals, &ends);
    let c = bench.nand.counters;
    assert_eq!((c.erase_suspends, c.program_suspends, c.nested_suspends), (1, 1, 1));
    assert_eq!((c.programs_in_suspension, c.reads_in_suspension), (1, 1));
    assert_eq!((c.entry_time, c.resume_time), (60_000, 40_000));
    assert_eq!((c.erase_suspended_time, c.program_suspended_time), (712_055, 84_797));
    assert_eq!((c.program_redone_time, c.erase_redone_time), (0, 0));
    // What the die does on the way.
    let mut bench = Bench::new(&part(), nested, 1);
    for (at, txn) in arrivals {
        bench.at(at, txn);
    }
    for (at, state, beneath) in [
        (520_000, State::Entering, false),
        (560_000, State::Load, true),
        (600_000, State::Pulsing, true),
        (660_000, State::Entering, true),
        (700_000, State::Sensing, true),
        (730_000, State::Resuming, true),
        (1_000_000, State::Pulsing, true),
        (1_200_000, State::Resuming, false),
        (1_212_055, State::Pulsing, false),
    ] {
        bench.run_until(at);
        let die = &bench.nand.dies()[0];
        assert_eq!((die.state(), die.beneath().is_some()), (state, beneath), "at {at}");
    }
    // A part that cannot: the read waits for the program's end at 1097258 and is then served beside the erase, until
    // 1152055; resumed 1182055: 3982355.
    let ends = [3_982_355, 1_097_258, 1_097_258 + READ];
    let bench = check("not nested", Bench::new(&part(), config, 1), &arrivals, &ends);
    assert_eq!((bench.nand.counters.program_suspends, bench.nand.counters.nested_suspends), (0, 0));
}

/// Starblaze's rank of a read of garbage collection against one for the host.
#[test]
fn the_rank_of_a_gc_read_in_a_suspension() {
    // Asked at 100000, stopped at 182258, entered 202258; the two reads until 257055 and 311852; resumed 321852 with
    // 375000 left.
    let arrivals = [(0, program(0)), (100_000, gc_read()), (110_000, read(0))];
    for (rank, gc_first) in
        [(GcReadRank::InOrder, false), (GcReadRank::BeforePrograms, false), (GcReadRank::WithHostReads, true)]
    {
        let config = NandConfig { gc_reads: rank, ..of(Scheme::LoopBoundary, EVERYTHING) };
        let ends = if gc_first { [696_852, 262_055, 316_852] } else { [696_852, 316_852, 262_055] };
        check("rank", Bench::new(&part(), config, 1), &arrivals, &ends);
        // If only host reads may stop a program, those of garbage collection wait for its end, whatever their rank.
        let config = NandConfig { gc_reads: rank, ..of(Scheme::LoopBoundary, Preemptors::HOST_READS) };
        let ends = [642_055, 642_055 + READ, 262_055];
        check("host only", Bench::new(&part(), config, 1), &arrivals, &ends);
    }
    // And the other way round: here reads for the host wait, those of garbage collection do not.
    let only_gc = Preemptors { host_reads: false, gc_reads: true, host_writes: false };
    let ends = [642_055, 262_055, 642_055 + READ];
    check("gc only", Bench::new(&part(), of(Scheme::LoopBoundary, only_gc), 1), &arrivals, &ends);
}

/// The order in which a die takes what has gathered behind a program.
#[test]
fn the_rank_of_a_gc_read_in_the_queue() {
    use Kind::*;
    let kinds = [GcRead, HostProgram, HostRead, GcRead, HostRead];
    for (rank, expected) in [
        (GcReadRank::InOrder, [2, 4, 0, 1, 3]),
        (GcReadRank::BeforePrograms, [2, 4, 0, 3, 1]),
        (GcReadRank::WithHostReads, [0, 2, 3, 4, 1]),
    ] {
        let mut bench =
            Bench::new(&part(), NandConfig { policy: Policy::ReadPriority, gc_reads: rank, ..config() }, 1);
        bench.at(0, program(0));
        for (k, kind) in kinds.into_iter().enumerate() {
            let txn = if kind == HostProgram { program(0) } else { but(read(0), |t| t.kind = kind) };
            bench.at(1 + k as u64, txn);
        }
        let order: Vec<u32> = bench.run().done[1..].iter().map(|d| d.txn.owner().index - 1).collect();
        assert_eq!(order, expected, "{rank:?}");
    }
}

/// What an operation on two planes does to a suspension: pulses from 600 + 6 * 18986 = 114516 to 614516.
#[test]
fn several_planes() {
    let wide = but(program(0), |t| t.planes = 2);
    for (multi_plane, scheme, starts, ends, entry) in [
        // 614516 + 20000 + 54797 + 10000
        (MultiPlane::Together, Scheme::Exact, 220_000, 699_313, 20_000),
        (MultiPlane::InTurn, Scheme::Exact, 240_000, 719_313, 40_000),
        // Cancelled 85484 into the train, 50484 of them into the verify, which is done again.
        (MultiPlane::Together, Scheme::IntraPhaseCancel, 224_000, 753_797, 24_000),
        (MultiPlane::InTurn, Scheme::IntraPhaseCancel, 248_000, 777_797, 48_000),
        (MultiPlane::InTurn, Scheme::Ideal, 200_000, 669_313, 0),
        (MultiPlane::Refuse, Scheme::Exact, 614_516, 614_516, 0),
    ] {
        let mut config = suspending(scheme, &part());
        config.program_suspend.costs.reset = Duration::from_us(4);
        config.program_suspend.eligible = Eligibility { multi_plane, ..Eligibility::ALL };
        let arrivals = [(0, wide), (200_000, read(0))];
        let bench =
            check(scheme.name(), Bench::new(&part(), config.clone(), 1), &arrivals, &[ends, starts + READ]);
        assert_eq!(bench.nand.counters.entry_time, entry);
        // On one plane it is as ever.
        config.program_suspend.costs.reset = Duration::ZERO;
        let mut alone = Bench::new(&part(), config, 1);
        alone.at(0, program(0)).at(100_000, read(0)).run();
        assert_eq!(alone.nand.counters.program_suspends, 1);
    }
}

/// A suspension counts as a fraction of a P/E cycle of each block it concerns.
#[test]
fn stress() {
    let mut config = suspending(Scheme::Exact, &part());
    config.erase_suspend.stress_ppm = 250_000;
    // What has been through more than 0 cycles is not suspended any more.
    config.erase_suspend.eligible = Eligibility { max_cycles: Some(0), ..Eligibility::ALL };
    let mut bench = Bench::new(&part(), config, 1);
    let both = but(erase(0), |t| t.planes = 2);
    bench.at(0, both);
    for at in [500_000, 1_000_000, 1_500_000, 2_000_000] {
        bench.at(at, read(0));
    }
    // Four suspensions are one cycle on each of the two planes; the next erase of the block runs to its end.
    bench.at(10_000_000, both).at(11_000_000, read(0));
    bench.at(20_000_000, but(erase(0), |t| t.plane = 2)).at(21_000_000, read(0)).run();
    let c = bench.nand.counters;
    assert_eq!((c.erase_suspends, c.suspend_stress), (5, 9 * 250_000));
    let blocks = bench.nand.dies()[0].blocks();
    assert_eq!([0, 1, 2, 3].map(|plane| blocks.stress_cycles(plane, BlockId(7))), [1, 1, 0, 0]);
    assert_eq!(bench.of(6).at, 10_000_000 + 600 + ERASE_PULSES + READ);
    assert_eq!(bench.of(8).at, 21_000_000 + 40_000 + READ);
}

/// FAST'12, slide 5: programs and erases as long as a read (PER), or no time at all (PE0); loading the page buffer
/// remains.
#[test]
fn operations_as_long_as_a_read_or_shorter() {
    // 57258 + 75000, the longest tR; 300 + 75000.
    let lengths = [(LongOperations::AsRead, 132_258, 75_300), (LongOperations::Zero, 57_258, 300)];
    for (long_operations, program_end, erase_end) in lengths {
        let with = |scheme| NandConfig { long_operations, ..suspending(scheme, &part()) };
        for at in [100, 57_257] {
            let bench = Bench::new(&part(), with(Scheme::None), 1);
            let arrivals = [(0, program(0)), (at, read(0))];
            check("program", bench, &arrivals, &[program_end, program_end + READ]);
        }
        let arrivals = [(0, erase(0)), (100, read(0))];
        check("erase", Bench::new(&part(), with(Scheme::None), 1), &arrivals, &[erase_end, erase_end + READ]);
        // Of what takes no time nothing is stopped.
        for (name, scheme, _) in Scheme::all() {
            let mut bench = Bench::new(&part(), with(scheme), 1);
            bench.at(0, program(0)).at(10_000, read(0)).at(1_000_000, erase(0)).at(1_000_100, read(0)).run();
            let c = bench.nand.counters;
            if long_operations == LongOperations::Zero {
                assert_eq!((c.program_suspends, c.erase_suspends), (0, 0), "{name}");
                assert_eq!((bench.of(0).at, bench.of(1).at), (57_258, 57_258 + READ), "{name}");
            } else {
                assert_eq!((c.program_owed_time, c.erase_owed_time), (MSB, MSB), "{name}");
            }
        }
    }
}

/// The write that `timeout` watches may be the host's oldest, on any die.
#[test]
fn a_host_write_that_starves_defers_the_whole_array() {
    use interpulse_flash::suspend::{DeferClock, Timeout};
    let of = |after| Scheme::Timeout(Timeout { after, clock: DeferClock::HostWrite, ..Timeout::DEFAULT });
    let mut config = suspending(of(Duration::from_us(50)), &part());
    // Immediate: entered at 120000. Deferred: the loop ends at 182258, and nothing is to be entered.
    let (at_once, deferred) = (120_000 + READ, 182_258 + READ);
    for (oldest, expected) in
        [(None, at_once), (Some(50_001), at_once), (Some(50_000), deferred), (Some(0), deferred)]
    {
        let mut bench = Bench::new(&part(), config.clone(), 1);
        bench.nand.set_oldest_write(oldest.map(SimTime));
        bench.at(0, program(0)).at(100_000, read(0)).run();
        assert_eq!(bench.of(1).at, expected, "{oldest:?}");
    }
    // Without any patience everything is deferred, as in the authors' program.
    config.program_suspend.scheme = of(Duration::ZERO);
    for oldest in [None, Some(100_000)] {
        let mut bench = Bench::new(&part(), config.clone(), 1);
        bench.nand.set_oldest_write(oldest.map(SimTime));
        bench.at(0, program(0)).at(100_000, read(0)).run();
        assert_eq!(bench.of(1).at, deferred, "{oldest:?}");
    }
}

/// An erase that waits beneath a program keeps its own limits: once its timeout is over, the program is stopped no
/// more, and the erase goes on before anything else is served.
#[test]
fn a_program_inside_an_erase_whose_time_is_over_runs_to_its_end() {
    let mut config = NandConfig { nesting: true, ..suspending(Scheme::Ideal, &part()) };
    config.erase_suspend.preemptors.host_writes = true;
    config.erase_suspend.timeout = Some(Duration::from_us(300));
    let mut bench = Bench::new(&part(), config, 1);
    bench.at(0, erase(0)).at(1_000_000, program(0)).at(1_100_000, read(0)).at(1_400_000, read(0)).run();
    // The erase is stopped at 1000000. The program pulses from 1057258; the read 100 us into the suspension stops it
    // for 54797, the one at 400 us does not, so it ends at 1557258 + 54797 = 1612055. The erase has 2300300 left.
    let erase_end = 1_612_055 + 2_300_300;
    assert_eq!(bench.ends(), [erase_end, 1_612_055, 1_100_000 + READ, erase_end + READ]);
    let c = bench.nand.counters;
    assert_eq!((c.erase_suspends, c.program_suspends, c.nested_suspends), (1, 1, 1));
    // One of the program, one of the erase when it went on.
    assert_eq!(c.stops_refused_by_limit, 2);
}

/// Entering takes 20 us: a suspension that would be over by then is not begun.
#[test]
fn a_suspension_that_could_serve_nothing_is_not_begun() {
    for (timeout, stops) in [(20_000, false), (20_001, true)] {
        for limit in ["timeout", "total"] {
            let mut config = suspending(Scheme::Exact, &part());
            let most = Some(Duration::from_ns(timeout));
            if limit == "timeout" {
                config.program_suspend.timeout = most;
            } else {
                config.program_suspend.max_suspended_time = most;
            }
            let mut bench = Bench::new(&part(), config, 1);
            bench.at(0, program(0)).at(100_000, read(0)).run();
            let expected = if stops { 120_000 + READ } else { PROGRAM + READ };
            assert_eq!(bench.of(1).at, expected, "{limit} {timeout}");
            assert_eq!(bench.nand.counters.program_suspends, u64::from(stops));
        }
    }
}
