//! Suspend and resume costs, and caps on suspensions: read times, and suspensions per program.

use crate::queueing_oracles::station::*;
use interpulse_engine::Duration;
use interpulse_flash::nand::queue::Policy;
use interpulse_flash::suspend::{Deferred, SafePointEntry, Scheme, SuspendCosts, SuspendPolicy};
use interpulse_oracle::queueing::StopDelay;
use interpulse_oracle::suspension::*;

/// (entry, resume) in microseconds; the last pair is expensive.
const COSTS: [(u64, u64); 3] = [(70, 0), (20, 15), (150, 120)];

/// A wider range of loads than that of the disciplines.
const LOADS: [Load; 3] = [
    Load { reads_per_s: 700.0, programs_per_s: 250.0, loops: 20, seconds: 3, seeds: 40 },
    Load { reads_per_s: 3_000.0, programs_per_s: 120.0, loops: 5, seconds: 3, seeds: 40 },
    Load { reads_per_s: 2_000.0, programs_per_s: 200.0, loops: 40, seconds: 3, seeds: 40 },
];

fn policy(scheme: Scheme, (entry, resume): (u64, u64), cap: Option<u32>) -> SuspendPolicy {
    let costs = SuspendCosts {
        entry: Duration::from_us(entry),
        resume: Duration::from_us(resume),
        reset: Duration::ZERO,
    };
    SuspendPolicy { max_suspends: cap, ..SuspendPolicy::unlimited(scheme, costs) }
}

fn oracle_costs((entry, resume): (u64, u64)) -> Costs {
    Costs { entry: entry as f64, resume: resume as f64 }
}

#[test]
fn stopped_at_any_instant() {
    for load in LOADS {
        let (die, l1) = (load.oracle(), load.reads_per_s * 1e-6);
        for costs in COSTS {
            let runs = runs(Policy::ReadPriority, &policy(Scheme::Exact, costs, None), load);
            let of = oracle_costs(costs);
            let what = format!("exact, {costs:?}");
            agrees(&what, load, &runs, |m| m.read_us, stop_anywhere_read_time(&die, of).unwrap());
            let suspends = stop_anywhere_suspends(l1, PROGRAM_US, of.resume).unwrap();
            agrees(&what, load, &runs, |m| m.suspends_per_program, suspends);
            if costs.1 == 0 {
                let delay = StopDelay::fixed(of.entry).unwrap();
                agrees("F7", load, &runs, |m| m.read_us, die.stop_delay_read_time(delay));
            }
        }
    }
}

#[test]
fn stopped_at_any_instant_under_a_cap() {
    for load in LOADS {
        let (die, l1) = (load.oracle(), load.reads_per_s * 1e-6);
        for cap in [1, 3] {
            let runs = runs(Policy::ReadPriority, &policy(Scheme::Ideal, (0, 0), Some(cap)), load);
            let what = format!("ideal, at most {cap}");
            agrees(&what, load, &runs, |m| m.read_us, ideal_capped_read_time(&die, cap).unwrap());
            let suspends = stop_anywhere_suspends_capped(l1, PROGRAM_US, 0.0, cap).unwrap();
            agrees(&what, load, &runs, |m| m.suspends_per_program, suspends);
        }
        let costs = (20, 90);
        let runs = runs(Policy::ReadPriority, &policy(Scheme::Exact, costs, Some(4)), load);
        let suspends = stop_anywhere_suspends_capped(l1, PROGRAM_US, 90.0, 4).unwrap();
        agrees("exact, at most 4", load, &runs, |m| m.suspends_per_program, suspends);
    }
}

#[test]
fn stopped_at_the_end_of_a_loop() {
    let paying = Scheme::Deferred(Deferred { entry: SafePointEntry::Part });
    for load in LOADS {
        for (costs, cap) in [((70, 0), None), ((20, 15), Some(2)), ((150, 120), None), ((0, 0), Some(1))] {
            let expected = loop_end(&load.oracle(), load.loops, oracle_costs(costs), cap).unwrap();
            let runs = runs(Policy::ReadPriority, &policy(paying, costs, cap), load);
            let what = format!("deferred, {costs:?}, at most {cap:?}");
            agrees(&what, load, &runs, |m| m.read_us, expected.read_time);
            agrees(&what, load, &runs, |m| m.suspends_per_program, expected.suspends);
        }
    }
}
