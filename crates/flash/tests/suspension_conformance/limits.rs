//! The cap and every limit, around every scheme, by observed times.

use crate::common::*;
use crate::suspension_conformance::watch::{
    Suspension, arrivals, bench_of, dearest, each, of, record, resetting,
};
use interpulse_engine::Duration;
use interpulse_flash::nand::NandConfig;
use interpulse_flash::nand::txn::{Kind, Txn};
use interpulse_flash::suspend::{ResumePolicy, Scheme, Sliced, SuspendPolicy, SuspendScheme};

const SEEDS: u64 = 25;
/// The longest read: a most significant page, four units.
const LONGEST_READ: u64 = CMD + MSB + 17_986;
const LOOPS: [u64; 2] = [125_000, 1_100_000];

fn every_scheme() -> impl Iterator<Item = (&'static str, Scheme)> {
    Scheme::all()
        .into_iter()
        .filter(|(_, scheme, _)| *scheme != Scheme::None)
        .map(|(name, scheme, _)| (name, scheme))
}

/// Runs random arrivals under `change` and passes the suspensions of each operation to `check`; each scheme needs at least
/// `least` of them.
fn operations(
    change: impl Fn(&mut SuspendPolicy),
    least: usize,
    check: impl Fn(&str, &[Suspension], &Bench, &NandConfig),
) {
    for (name, scheme) in every_scheme() {
        let mut seen = 0;
        for seed in 0..SEEDS {
            let mut config = of(scheme);
            each(&mut config, &change);
            let mut bench = bench_of(&config, &arrivals(seed, 120));
            let record = record(&mut bench, u64::MAX >> 8);
            for suspensions in record.by_operation() {
                check(&format!("{name}, seed {seed}"), suspensions, &bench, &config);
                seen += suspensions.len();
            }
        }
        assert!(seen >= least, "{name}: only {seen} suspensions");
    }
}

#[test]
fn the_cap() {
    for cap in [1, 2, 5] {
        operations(
            |policy| policy.max_suspends = Some(cap),
            50,
            |what, suspensions, bench, _| {
                assert!(suspensions.len() as u32 <= cap, "{what}: {suspensions:?}");
                let c = bench.nand.counters;
                let operations = c.host_programs + c.gc_programs + c.erases;
                assert!(c.program_suspends + c.erase_suspends <= u64::from(cap) * operations);
            },
        );
    }
}

/// From the resumed pulses to the next halt.
#[test]
fn the_least_interval() {
    for least in [1, 40_000, 130_000] {
        operations(
            |policy| policy.min_interval = Duration::from_ns(least),
            50,
            |what, suspensions, _, _| {
                for pair in suspensions.windows(2) {
                    assert!(pair[1].halt >= pair[0].pulses + least, "{what}: {pair:?}");
                }
            },
        );
    }
}

/// After the limit an operation resumes at the end of the current read and is not stopped again. A stop requested just before
/// the limit may halt later.
#[test]
fn the_total_suspended_time_and_the_timeout() {
    // Within 1 ns no entry with a cost can complete.
    for (most, least) in [(1, 0), (100_000, 50), (300_000, 50)] {
        let slack = |config: &NandConfig| {
            LONGEST_READ + dearest(&config.program_suspend.costs).max(dearest(&config.erase_suspend.costs))
        };
        operations(
            |policy| policy.max_suspended_time = Some(Duration::from_ns(most)),
            least,
            |what, suspensions, _, config| {
                let mut total = 0;
                for s in suspensions {
                    assert!(total < most, "{what}: {suspensions:?}");
                    total += s.pulses - s.halt;
                }
                assert!(total <= most + slack(config), "{what}: {suspensions:?}");
            },
        );
        operations(
            |policy| policy.timeout = Some(Duration::from_ns(most)),
            least,
            |what, suspensions, _, config| {
                let over = suspensions[0].halt + most;
                for s in suspensions {
                    assert!(s.halt <= over + LOOPS[1], "{what}: {suspensions:?}");
                    assert!(s.pulses <= s.halt.max(over) + slack(config), "{what}: {suspensions:?}");
                }
            },
        );
    }
}

/// One read at any instant: depending on the remaining work, the result is that without limits or without suspension.
#[test]
fn the_least_time_and_loops_left() {
    let part = resetting();
    for (long, start, total, one) in
        [(program(0), PULSES_AT, 500_000, LOOPS[0]), (erase(0), CMD, 3_300_000, LOOPS[1])]
    {
        let run = |config: &NandConfig, at| {
            let mut bench = Bench::new(&part, config.clone(), 1);
            bench.at(0, long).at(at, read(0)).run();
            (bench.ends(), bench.nand.counters.stops_refused_by_limit)
        };
        let never = NandConfig {
            program_suspend: SuspendPolicy::NEVER,
            erase_suspend: SuspendPolicy::NEVER,
            ..of(Scheme::None)
        };
        for (name, scheme) in every_scheme() {
            // Without time between slices an operation takes as long as whole; its stop is refused at the end of each slice.
            let scheme = match scheme {
                Scheme::Sliced(of) => Scheme::Sliced(Sliced { overhead: Duration::ZERO, ..of }),
                other => other,
            };
            let sliced = scheme.slices().is_some();
            for k in 0..60 {
                let at = start + total * k / 60 + k % 3;
                let left = total - (at - start);
                for limit in [1, one, one + 1, 2 * one, total] {
                    let mut config = of(scheme);
                    let without = run(&config, at).0;
                    each(&mut config, |policy| policy.min_remaining = Duration::from_ns(limit));
                    let (ends, mut refused) = run(&config, at);
                    refused = if sliced { refused.min(1) } else { refused };
                    let stays = left < limit;
                    let expected = if stays { run(&never, at).0 } else { without };
                    let what = format!("{name}: read at {at}, at least {limit} left");
                    assert_eq!((ends, refused), (expected, u64::from(stays)), "{what}");
                }
                for limit in 1..=4 {
                    let mut config = of(scheme);
                    let without = run(&config, at).0;
                    each(&mut config, |policy| policy.min_loops_left = limit);
                    let (ends, mut refused) = run(&config, at);
                    refused = if sliced { refused.min(1) } else { refused };
                    let stays = left.div_ceil(one) < u64::from(limit);
                    let expected = if stays { run(&never, at).0 } else { without };
                    let what = format!("{name}: read at {at}, at least {limit} loops left");
                    assert_eq!((ends, refused), (expected, u64::from(stays)), "{what}");
                }
            }
        }
    }
}

/// Start of a read on the die: its outcome less decoding, transfer, tR and command.
fn began(done: &Done) -> u64 {
    let txn: &Txn = &done.txn;
    let sensing = [LSB, CSB, MSB][txn.page as usize % 3];
    txn.mark.0 - UNITS[txn.units() as usize] - sensing - CMD
}

/// `drained`: no read waits when an operation resumes. `batch`: exactly the reads that arrived before the halt are served.
#[test]
fn drained_and_batch() {
    for batch in [false, true] {
        let resume = if batch { ResumePolicy::Batch } else { ResumePolicy::Drained };
        operations(
            |policy| policy.resume = resume,
            50,
            |what, suspensions, bench, config| {
                for s in suspensions {
                    let kind = bench
                        .done
                        .iter()
                        .find(|d| {
                            d.txn.kind != Kind::HostRead
                                && s.of <= d.at
                                && d.submitted <= s.of
                                && d.at > s.halt
                        })
                        .map(|d| d.txn.kind);
                    let costs = match kind.expect("the operation ends") {
                        Kind::Erase => &config.erase_suspend.costs,
                        _ => &config.program_suspend.costs,
                    };
                    let free = config.program_suspend.scheme == Scheme::Ideal;
                    let leaving = s.pulses - if free { 0 } else { costs.resume.as_ns() };
                    for done in bench.done.iter().filter(|d| d.txn.kind == Kind::HostRead) {
                        let (from, begins) = (done.submitted, began(done));
                        let served = s.halt <= begins && begins < leaving;
                        // A read at the instant of the halt may count as before or after it.
                        let waited = if batch { from < s.halt } else { from < leaving };
                        // Exactly these reads are served.
                        if waited && begins >= s.halt {
                            assert!(served, "{what}: {done:?} is left by {s:?}");
                        }
                        if served && batch {
                            assert!(from <= s.halt, "{what}: {done:?} is served in {s:?}");
                        }
                    }
                }
            },
        );
    }
}

/// `timer`: an operation resumes at the end of the read in progress when the time is over.
#[test]
fn the_timer() {
    let length = 150_000;
    operations(
        |policy| policy.resume = ResumePolicy::Timer(Duration::from_ns(length)),
        50,
        |what, suspensions, _, config| {
            let costs = [&config.program_suspend.costs, &config.erase_suspend.costs];
            let free = config.program_suspend.scheme == Scheme::Ideal;
            // These have no entry cost at a safe point.
            let enters = !matches!(config.program_suspend.scheme, Scheme::Deferred(_) | Scheme::Timeout(_));
            let entry = if enters { costs[0].entry } else { Duration::ZERO };
            let least = match config.program_suspend.scheme {
                Scheme::Ideal => 0,
                Scheme::Sliced(of) => of.overhead.as_ns(),
                _ => (entry + costs[0].resume).as_ns(),
            };
            let most = if free { 0 } else { dearest(costs[1]) };
            for s in suspensions {
                let lasted = s.pulses - s.halt;
                assert!(lasted >= length + least, "{what}: {s:?}");
                assert!(lasted <= length + most + LONGEST_READ, "{what}: {s:?}");
            }
        },
    );
}
