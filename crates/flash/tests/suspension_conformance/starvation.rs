//! Starvation under permanent reads with the resume policy `batch`: progress of each scheme (Kim et al., ATC'19; Wu and He,
//! FAST'12, on cancellation).
//!
//! Three reads are always in flight, so a batch has at most three reads, and a read waits at every resume.

use crate::common::*;
use crate::suspension_conformance::watch::{RAMP, dearest, each, of, record, resetting};
use interpulse_engine::{Duration, SimTime};
use interpulse_flash::nand::NandConfig;
use interpulse_flash::nand::txn::{Kind, Txn};
use interpulse_flash::suspend::{Adaptive, DeferClock, ResumePolicy, SafePoints, Scheme, Sliced, Timeout};

const SAFE_POINTS: Scheme = Scheme::SafePoints(SafePoints { points: 5 });
const ADAPTIVE: Scheme = Scheme::Adaptive(Adaptive { interval: Duration::from_us(60) });
const SLICED: Scheme = Scheme::Sliced(Sliced::DEFAULT);
const BATCH: u64 = 3 * READ_DIE;
/// Starvation limit: 10 s.
const LONG: u64 = 10_000_000_000;
/// Time N of the timeout.
const N: u64 = 64_000_000;
/// An operation, its loops and their length, and the phases of a loop.
const OPERATIONS: [(Kind, u64, u64); 2] = [(Kind::HostProgram, 4, 125_000), (Kind::Erase, 3, 1_100_000)];

fn starving(scheme: Scheme) -> NandConfig {
    let mut config = NandConfig { ecc_latency: Duration::ZERO, ecc_interval: Duration::ZERO, ..of(scheme) };
    each(&mut config, |policy| {
        policy.resume = ResumePolicy::Batch;
        policy.scheme = after(scheme, Duration::from_ns(N));
    });
    config
}

fn long_of(kind: Kind) -> Txn {
    if kind == Kind::Erase { erase(0) } else { program(0) }
}

/// One loop with all costs of a stop after it.
fn round(config: &NandConfig, kind: Kind, one: u64) -> u64 {
    let policy = if kind == Kind::Erase { &config.erase_suspend } else { &config.program_suspend };
    one + dearest(&policy.costs) + BATCH
}

/// Runs the operation at 0, three permanent reads from 1 on, and a host write that waits since `oldest`. Returns the end of the
/// operation, if within `limit`, and its progress.
fn run(config: &NandConfig, kind: Kind, oldest: Option<u64>, limit: u64) -> (Option<u64>, u64) {
    let mut bench = Bench::new(&resetting(), config.clone(), 1);
    bench.at(0, long_of(kind)).at(1, read(0)).at(1, read(0)).at(1, read(0)).feed_reads();
    let (mut ended, mut until) = (None, oldest.unwrap_or(0));
    bench.run_until(until);
    bench.nand.set_oldest_write(oldest.map(SimTime));
    // In slices, to end soon after the operation.
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

/// Schemes that stop between loops or phases finish within (remaining loops) x (loop + entry + resume + batch).
#[test]
fn deferring_schemes_finish() {
    for scheme in [
        DEFERRED,
        DEFERRED_AT_A_COST,
        Scheme::LoopBoundary,
        SAFE_POINTS,
        ADAPTIVE,
        SLICED,
        Scheme::InterPhase,
        Scheme::None,
    ] {
        for (kind, loops, one) in OPERATIONS {
            let config = starving(scheme);
            let (ended, net) = run(&config, kind, None, LONG);
            // Load or command precede the loops; some schemes stop several times per loop.
            let stops = match scheme {
                Scheme::InterPhase => 3,
                Scheme::SafePoints(it) => u64::from(it.points),
                Scheme::Adaptive(it) => one / it.interval.as_ns() + 1,
                _ => 1,
            };
            let bound = PULSES_AT + loops * (one + stops * (round(&config, kind, one) - one + RAMP));
            assert!(ended.is_some_and(|at| at <= bound), "{scheme:?} {kind:?}: {ended:?}, at most {bound}");
            assert_eq!(net, loops * one);
        }
    }
}

/// A scheme that stops at once makes no net progress if a read waits at every resume: it only ramps or repeats work.
#[test]
fn immediate_schemes_starve() {
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

/// With a minimum interval between stops, here enough for a verify, the exact schemes starve by a longer ramp.
#[test]
fn a_ramp_longer_than_the_interval_starves_the_exact_schemes() {
    for scheme in [Scheme::Exact, Scheme::PulseRemainder] {
        for (ramp, starves) in [(120_000, true), (40_000, false), (0, false)] {
            let mut config = starving(scheme);
            each(&mut config, |policy| {
                policy.min_interval = Duration::from_us(110);
                policy.resume_ramp = Duration::from_ns(ramp);
            });
            // The first stop is in a pulse.
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

/// With at most k suspensions, k up to the number of loops, every scheme keeps the bound of deferring schemes, with a ramp each.
#[test]
fn capped_operations_finish() {
    for (name, scheme, _) in Scheme::all() {
        for (kind, loops, one) in OPERATIONS {
            for cap in 1..=loops as u32 {
                let mut config = starving(scheme);
                each(&mut config, |policy| policy.max_suspends = Some(cap));
                let (ended, net) = run(&config, kind, None, LONG);
                let bound = PULSES_AT + loops * round(&config, kind, one) + u64::from(cap) * RAMP;
                assert!(ended.is_some_and(|at| at <= bound), "{name} {kind:?}: {ended:?}, at most {bound}");
                assert_eq!(net, loops * one);
            }
        }
    }
}

/// `timeout` with each clock: no progress for N, then the bound of deferring schemes.
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
            // The oldest write arrived at 5 ms; the other clocks ignore it.
            let write = 5_000_000;
            let (ended, net) = run(&config, kind, Some(write), LONG);
            let ended = ended.unwrap_or_else(|| panic!("{name} {kind:?}: starves"));
            // For the other clocks, the first suspension is at the start of the pulses.
            let from = if clock == DeferClock::HostWrite { write } else { 300 };
            assert!(ended >= from + N, "{name} {kind:?}: {ended}");
            // The suspension during which N elapses ends first.
            let bound = from + N + PULSES_AT + (loops + 1) * round(&config, kind, one);
            assert!(ended <= bound, "{name} {kind:?}: {ended}, at most {bound}");
            assert_eq!(net, loops * one);
        }
    }
    // Without a waiting write the operation starves.
    let config = by(DeferClock::HostWrite);
    assert_eq!(run(&config, Kind::Erase, None, 1_000_000_000), (None, 0));
}

/// The limits on suspended time and on age end the starvation under every scheme: no stop after N.
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

/// Schemes that guarantee progress make progress in every resume: no two stops at the same progress.
#[test]
fn each_resume_of_a_scheme_that_defers_guarantees_progress() {
    let adaptive = Scheme::Adaptive(Adaptive { interval: Duration::from_us(550) });
    for (scheme, stops) in
        [(DEFERRED, 2), (Scheme::LoopBoundary, 2), (SLICED, 2), (adaptive, 5), (Scheme::InterPhase, 8)]
    {
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
