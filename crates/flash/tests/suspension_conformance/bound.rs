//! `ideal` as the bound of all schemes, and the benefit of suspension.
//!
//! With one die, arrivals independent of the die and FIFO order, the bound holds read by read: under `ideal` a read waits only
//! for reads and for page loads. It does not hold if a program waits behind another: a faster scheme reaches the page loads of
//! the second program earlier, where the next read may have to wait.

use crate::common::*;
use crate::suspension_conformance::watch::{each, of};
use interpulse_engine::{Bytes, Duration, Rng, Streams};
use interpulse_flash::nand::NandConfig;
use interpulse_flash::nand::queue::Policy;
use interpulse_flash::nand::txn::{Kind, Txn};
use interpulse_flash::parts::PartSpec;
use interpulse_flash::suspend::{Reload, ResumePolicy, Scheme};

const SEEDS: u64 = 60;

fn rng(seed: u64) -> Rng {
    Streams::new(seed).stream("test.bound", 0)
}

fn a_read(rng: &mut Rng) -> Txn {
    read_of(0, 0, 0, rng.below(24) as u32, 1 + rng.below(4) as u32)
}

/// Times of the reads in order of submission.
fn read_times(part: &PartSpec, config: &NandConfig, arrivals: &[(u64, Txn)]) -> Vec<u64> {
    let mut bench = Bench::new(part, config.clone(), 1);
    for &(at, txn) in arrivals {
        bench.at(at, txn);
    }
    bench.run();
    let reads = arrivals.iter().zip(0..).filter(|((_, txn), _)| txn.kind == Kind::HostRead);
    reads.map(|(_, owner)| bench.of(owner).time()).collect()
}

/// Compares each scheme with `ideal`; returns the number of schemes with longer total read times.
fn no_scheme_is_faster(part: &PartSpec, policy: Policy, arrivals: &[(u64, Txn)], seed: u64) -> usize {
    let with = |scheme| {
        let mut config = NandConfig { policy, ..of(scheme) };
        each(&mut config, |policy| {
            policy.reload =
                if seed.is_multiple_of(2) { Reload::Bus } else { Reload::ShadowBuffer(Duration::from_us(9)) };
        });
        config
    };
    let ideal = read_times(part, &with(Scheme::Ideal), arrivals);
    let mut slower = 0;
    for (name, scheme, _) in Scheme::all() {
        let ours = read_times(part, &with(scheme), arrivals);
        for (k, (ideal, other)) in ideal.iter().zip(&ours).enumerate() {
            assert!(
                ideal <= other,
                "{name}, {policy:?}, seed {seed}: read {k} takes {other}, {ideal} under ideal"
            );
        }
        slower += usize::from(ideal.iter().sum::<u64>() < ours.iter().sum());
    }
    slower
}

/// Any number of erases that wait for each other; commands take no time.
#[test]
fn ideal_is_the_bound_beside_erases() {
    let part = PartSpec { command_cycles: Duration::ZERO, ..part() };
    for policy in [Policy::Fifo, Policy::ReadPriority] {
        let mut slower = 0;
        for seed in 0..SEEDS {
            let (mut rng, mut now) = (rng(seed), 0);
            let list: Vec<_> = (0..60)
                .map(|_| {
                    now +=
                        [0, 50_000, 300_000, 2_000_000][rng.below(4) as usize] * (1 + rng.below(100)) / 100;
                    (now, if rng.below(6) == 0 { erase(0) } else { a_read(&mut rng) })
                })
                .collect();
            slower += no_scheme_is_faster(&part, policy, &list, seed);
        }
        assert!(slower > 400, "only {slower} comparisons had anything to compare");
    }
}

/// Programs with page loads, none of which waits behind another.
#[test]
fn ideal_is_the_bound_beside_programs() {
    for policy in [Policy::Fifo, Policy::ReadPriority] {
        let mut slower = 0;
        for seed in 0..SEEDS {
            let (mut rng, mut list) = (rng(seed), Vec::new());
            for program_at in (0..10).map(|k| k * 20_000_000) {
                list.push((program_at, program(0)));
                // Up to five reads per millisecond: too few to last until the next program.
                for _ in 0..rng.below(6) {
                    list.push((program_at + rng.below(1_000_000), a_read(&mut rng)));
                }
            }
            slower += no_scheme_is_faster(&part(), policy, &list, seed);
        }
        assert!(slower > 400, "only {slower} comparisons had anything to compare");
    }
}

/// Programs that wait behind each other, with page loads of 1 ns.
#[test]
fn ideal_is_the_bound_on_the_mean() {
    let quick = PartSpec {
        bus_rate: u64::MAX,
        command_cycles: Duration::ZERO,
        buffer_setup: Duration::ZERO,
        page_size: Bytes::kib(16),
        ..part()
    };
    for seed in 0..SEEDS {
        let (mut rng, mut now) = (rng(seed), 0);
        let list: Vec<_> = (0..80)
            .map(|_| {
                now += [0, 50_000, 200_000, 600_000][rng.below(4) as usize] * (1 + rng.below(100)) / 100;
                (now, if rng.below(4) == 0 { program(0) } else { a_read(&mut rng) })
            })
            .collect();
        let with = |scheme| NandConfig { policy: Policy::ReadPriority, ..of(scheme) };
        let ideal = read_times(&quick, &with(Scheme::Ideal), &list);
        for (name, scheme, _) in Scheme::all() {
            let ours = read_times(&quick, &with(scheme), &list);
            let most = ours.iter().sum::<u64>() + 3 * ours.len() as u64;
            assert!(ideal.iter().sum::<u64>() <= most, "{name}, seed {seed}");
        }
    }
}

/// Motivating case of Wu and He (FAST'12): a read that arrives after the start of a program gains from suspension and not from
/// read priority; a read that arrives while the program waits gains from priority too.
#[test]
fn fast12_a_read_after_the_program_has_started_gains_nothing_from_read_priority() {
    let time = |config: NandConfig, behind: &[(u64, Txn)], at: u64| {
        let mut bench = Bench::new(&part(), config, 1);
        for &(at, txn) in behind {
            bench.at(at, txn);
        }
        bench.at(at, read(0)).run().of(behind.len() as u32).time()
    };
    let fifo = || config();
    let priority = || NandConfig { policy: Policy::ReadPriority, ..config() };
    let one = [(0, program(0))];
    for at in [1, PULSES_AT, 100_000, 400_000, PROGRAM - 1] {
        assert_eq!(time(fifo(), &one, at), PROGRAM - at + READ);
        assert_eq!(time(priority(), &one, at), PROGRAM - at + READ);
        for (name, scheme, _) in Scheme::all() {
            let ours = time(suspending(scheme, &part()), &one, at);
            // Except in the last loop for schemes that finish the loop.
            let gains = ours < PROGRAM - at + READ;
            let always = [Scheme::Ideal, Scheme::Exact, Scheme::Immediate, Scheme::PulseRemainder];
            if at < 400_000 || always.contains(&scheme) && at < PROGRAM - 1 {
                assert_eq!(gains, scheme != Scheme::None, "{name}, read at {at}: {ours}");
            }
        }
    }
    // Behind a running and a waiting program, priority saves the time of the waiting one.
    let two = [(0, program(0)), (10, program(0))];
    assert_eq!(time(fifo(), &two, 20), 2 * PROGRAM - 20 + READ);
    assert_eq!(time(priority(), &two, 20), PROGRAM - 20 + READ);
    // Suspension saves the rest, except for the page load in progress.
    assert_eq!(time(suspending(Scheme::Ideal, &part()), &two, 20), PULSES_AT - 20 + READ);
    assert_eq!(time(suspending(Scheme::Ideal, &part()), &two, 100_000), READ);
    let mut batch = suspending(Scheme::Ideal, &part());
    each(&mut batch, |policy| policy.resume = ResumePolicy::Batch);
    assert_eq!(time(batch, &two, 100_000), READ);
}
