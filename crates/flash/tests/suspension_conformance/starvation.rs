//! A read always waits, and an operation resumes when those that waited at its stop are served (`batch`): who
//! finishes, and who starves? Kim et al., ATC'19, and Wu and He, FAST'12, on cancellation.
//!
//! Three reads are under way at any time, so a batch is at most three reads, and one waits at every resume.

use crate::common::*;
use crate::suspension_conformance::watch::{dearest, each, of, record, resetting};
use interpulse_engine::{Duration, SimTime};
use interpulse_flash::nand::NandConfig;
use interpulse_flash::nand::txn::{Kind, Txn};
use interpulse_flash::suspend::{DeferClock, ResumeWhen, Scheme, Timeout};

const BATCH: u64 = 3 * READ_DIE;
/// What starves is given up after 10 s.
const LONG: u64 = 10_000_000_000;
/// N of the timeout.
const N: u64 = 64_000_000;
/// An operation, its loops and their length, and the phases of a loop.
const OPERATIONS: [(Kind, u64, u64); 2] = [(Kind::HostProgram, 4, 125_000), (Kind::Erase, 3, 1_100_000)];

fn starving(scheme: Scheme) -> NandConfig {
    let mut config = NandConfig { ecc_latency: Duration::ZERO, ecc_interval: Duration::ZERO, ..of(scheme) };
    each(&mut config, |policy| {
        policy.resume = ResumeWhen::Batch;
        policy.scheme = after(scheme, Duration::from_ns(N));
    });
    config
}

fn long_of(kind: Kind) -> Txn {
    if kind == Kind::Erase { erase(0) } else { program(0) }
}

/// One loop with all that a stop after it costs.
fn round(config: &NandConfig, kind: Kind, one: u64) -> u64 {
    let policy = if kind == Kind::Erase { &config.erase_suspend } else { &config.program_suspend };
    one + dearest(&policy.costs) + BATCH
}

/// The operation at 0, three reads for ever from 1 on, and a host write that waits since `oldest`: when the operation
/// ended, if within `limit`; how much it had done.
fn run(config: &NandConfig, kind: Kind, oldest: Option<u64>, limit: u64) -> (Option<u64>, u64) {
    let mut bench = Bench::new(&resetting(), config.clone(), 1);
    bench.at(0, long_of(kind)).at(1, read(0)).at(1, read(0)).at(1, read(0)).feed_reads();
    let (mut ended, mut until) = (None, oldest.unwrap_or(0));
    bench.run_until(until);
    bench.nand.set_oldest_write(oldest.map(SimTime));
    // In slices, not to go on once it has ended.
    while ended.is_none() && until < limit {
        until = (until + 20_000_000).min(limit);
        bench.run_until(until);
        ended = bench.done.iter().find(|d| d.txn.kind == kind).map(|d| d.at);
        bench.done.retain(|d| d.txn.kind == kind);
    }
    let c = bench.nand.counters;
    let net =
        c.program_pulse_time + c.erase_pulse_time - c.program_redone_time - c.erase_redone_time - c.ramp_time;
    (ended, net)
}

/// What stops between loops or phases finishes within (loops left) x (loop + entry + resume + batch).
#[test]
fn what_defers_finishes() {
    for scheme in [DEFERRED, DEFERRED_AT_A_COST, Scheme::LoopBoundary, Scheme::InterPhase, Scheme::None] {
        for (kind, loops, one) in OPERATIONS {
            let config = starving(scheme);
            let (ended, net) = run(&config, kind, None, LONG);
            // Loading, or the command, comes before the loops; inter-phase stops up to three times in each.
            let stops = if scheme == Scheme::InterPhase { 3 } else { 1 };
            let bound = PULSES_AT + loops * (one + stops * (round(&config, kind, one) - one));
            assert!(ended.is_some_and(|at| at <= bound), "{scheme:?} {kind:?}: {ended:?}, at most {bound}");
            assert_eq!(net, loops * one);
        }
    }
}

/// A scheme whose stops come at once and which a read waits for at every resume makes no net progress: what it does
/// in a resume is a ramp, or done again.
#[test]
fn what_stops_at_once_starves() {
    for scheme in [
        Scheme::Immediate,
        Scheme::IntraPhaseCancel,
        Scheme::PulseRemainder,
        Scheme::Exact,
        Scheme::Ideal,
        TIMEOUT,
    ] {
        for (kind, ..) in OPERATIONS {
            let mut config = starving(scheme);
            each(&mut config, |policy| policy.scheme = after(scheme, Duration::from_ns(2 * LONG)));
            let (ended, net) = run(&config, kind, None, LONG);
            assert_eq!((ended, net), (None, 0), "{scheme:?} {kind:?}");
        }
    }
}

/// If each resumed pulse is given some time, here enough for a verify, the exact schemes starve by a ramp alone.
#[test]
fn a_ramp_longer_than_the_interval_starves_the_exact_schemes() {
    for scheme in [Scheme::Exact, Scheme::PulseRemainder] {
        for (ramp, starves) in [(120_000, true), (40_000, false), (0, false)] {
            let mut config = starving(scheme);
            each(&mut config, |policy| {
                policy.min_interval = Duration::from_us(110);
                policy.resume_ramp = Duration::from_ns(ramp);
            });
            // The first stop comes in a pulse.
            let mut bench = Bench::new(&resetting(), config, 1);
            bench.at(0, erase(0));
            (0..3).for_each(|_| {
                bench.at(400_000, read(0));
            });
            bench.feed_reads().run_until(1_000_000_000);
            let ended = bench.done.iter().any(|d| d.txn.kind == Kind::Erase);
            assert_eq!(ended, !starves, "{scheme:?}, ramp of {ramp}");
            if starves {
                let c = bench.nand.counters;
                assert_eq!(c.erase_pulse_time - c.ramp_time - c.erase_redone_time, 400_000 - CMD);
            }
        }
    }
}

/// With at most k suspensions, k below the number of loops, every scheme keeps the bound of those that defer.
#[test]
fn what_is_capped_finishes() {
    for (name, scheme, _) in Scheme::all() {
        for (kind, loops, one) in OPERATIONS {
            for cap in 1..=loops as u32 {
                let mut config = starving(scheme);
                each(&mut config, |policy| policy.max_suspends = Some(cap));
                let (ended, net) = run(&config, kind, None, LONG);
                let bound = PULSES_AT + loops * round(&config, kind, one);
                assert!(ended.is_some_and(|at| at <= bound), "{name} {kind:?}: {ended:?}, at most {bound}");
                assert_eq!(net, loops * one);
            }
        }
    }
}

/// `timeout` by each of its clocks: nothing for N, then all within the bound of those that defer.
#[test]
fn the_timeout_finishes_after_n() {
    let by = |clock| {
        let mut config = starving(TIMEOUT);
        each(&mut config, |policy| {
            policy.scheme =
                Scheme::Timeout(Timeout { after: Duration::from_ns(N), clock, ..Timeout::DEFAULT });
        });
        config
    };
    for &(name, clock, _) in DeferClock::ALL {
        for (kind, loops, one) in OPERATIONS {
            let config = by(clock);
            // The oldest write came at 5 ms; nobody else looks at it.
            let write = 5_000_000;
            let (ended, net) = run(&config, kind, Some(write), LONG);
            let ended = ended.unwrap_or_else(|| panic!("{name} {kind:?}: starves"));
            // Of the operation's own clocks the first suspension comes as its pulses would start.
            let from = if clock == DeferClock::HostWrite { write } else { 300 };
            assert!(ended >= from + N, "{name} {kind:?}: {ended}");
            // The stop in which N elapses is served first.
            let bound = from + N + PULSES_AT + (loops + 1) * round(&config, kind, one);
            assert!(ended <= bound, "{name} {kind:?}: {ended}, at most {bound}");
            assert_eq!(net, loops * one);
        }
    }
    // No write waits: it goes on starving.
    let config = by(DeferClock::HostWrite);
    assert_eq!(run(&config, Kind::Erase, None, 1_000_000_000), (None, 0));
}

/// The limits on suspended time and on age end the starvation under every scheme, too: not stopped again after N.
#[test]
fn a_limit_on_time_ends_starvation() {
    for (name, scheme, _) in Scheme::all() {
        for by_age in [false, true] {
            let mut config = starving(scheme);
            each(&mut config, |policy| {
                policy.scheme = after(scheme, Duration::from_ns(2 * LONG));
                let limit = Some(Duration::from_ns(N));
                if by_age {
                    policy.timeout = limit;
                } else {
                    policy.max_suspended_time = limit;
                }
            });
            for (kind, loops, one) in OPERATIONS {
                let (ended, net) = run(&config, kind, None, LONG);
                let bound = PULSES_AT + N + round(&config, kind, one) + loops * one;
                assert!(ended.is_some_and(|at| at <= bound), "{name} {kind:?}: {ended:?}, at most {bound}");
                assert_eq!(net, loops * one);
            }
        }
    }
}

/// In starvation, too, what promises progress makes some in every resume: no two stops at the same progress.
#[test]
fn each_resume_of_a_scheme_that_defers_progresses() {
    for (scheme, stops) in [(DEFERRED, 2), (Scheme::LoopBoundary, 2), (Scheme::InterPhase, 8)] {
        let mut bench = Bench::new(&resetting(), starving(scheme), 1);
        bench.at(0, erase(0));
        (0..3).for_each(|_| {
            bench.at(1_000, read(0));
        });
        bench.feed_reads();
        let record = record(&mut bench, 20_000_000);
        let progress: Vec<u64> = record.progress.iter().map(|&(_, progress)| progress).collect();
        assert_eq!(progress.len(), stops, "{scheme:?}: {progress:?}");
        assert!(progress.windows(2).all(|pair| pair[0] < pair[1]), "{scheme:?}: {progress:?}");
    }
}
