//! Random arrivals at one die, and a record of its suspensions.

use crate::common::*;
use interpulse_engine::{Duration, Rng, SimTime, Streams};
use interpulse_flash::die::State;
use interpulse_flash::nand::NandConfig;
use interpulse_flash::nand::txn::{Kind, Txn};
use interpulse_flash::parts::{PartSpec, TrainSpec};
use interpulse_flash::suspend::{Scheme, SuspendCosts, SuspendPolicy};

pub const DISCHARGE: u64 = 4_000;
pub const RAMP: u64 = 7_000;

/// The part of the bench with a voltage reset of 50 us in erases and 5 us in programs.
pub fn resetting() -> PartSpec {
    let us = Duration::from_us;
    PartSpec {
        program: TrainSpec::even(4, us(30), us(5), us(90)),
        erase: TrainSpec::even(3, us(950), us(50), us(100)),
        ..part()
    }
}

/// `scheme` for programs and erases of [`resetting`] with distinct costs and a ramp; `timeout` changes from immediate to
/// deferred within these tests.
pub fn of(scheme: Scheme) -> NandConfig {
    let mut config = suspending(after(scheme, Duration::from_us(400)), &resetting());
    each(&mut config, |policy| {
        policy.costs.reset = Duration::from_ns(DISCHARGE);
        policy.resume_ramp = Duration::from_ns(RAMP);
    });
    config
}

/// Changes the policies of programs and erases.
pub fn each(config: &mut NandConfig, change: impl Fn(&mut SuspendPolicy)) {
    change(&mut config.program_suspend);
    change(&mut config.erase_suspend);
}

/// Entry with discharge, and resume, of the more expensive kind.
pub fn dearest(costs: &SuspendCosts) -> u64 {
    (costs.entry + costs.resume + costs.reset).as_ns()
}

/// Arrivals, mostly reads, with gaps of about a read, a loop and an operation.
pub fn arrivals(seed: u64, count: u32) -> Vec<(u64, Txn)> {
    let mut rng = Streams::new(seed).stream("test.arrivals", 0);
    let mut now = 0;
    (0..count)
        .map(|_| {
            now += gap(&mut rng);
            let txn = match rng.below(8) {
                0 => program(0),
                1 => erase(0),
                2 => but(program(0), |t| t.kind = Kind::GcProgram),
                _ => read_of(0, 0, 0, rng.below(24) as u32, 1 + rng.below(4) as u32),
            };
            (now, txn)
        })
        .collect()
}

fn gap(rng: &mut Rng) -> u64 {
    let longest = [1, 60_000, 200_000, 1_500_000][rng.below(4) as usize];
    rng.below(longest)
}

/// One suspension of an operation, which is identified by its start on the die.
#[derive(Clone, Copy, Debug)]
pub struct Suspension {
    pub of: u64,
    pub halt: u64,
    /// Time of the resumed pulses.
    pub pulses: u64,
}

/// Suspensions of a die, and the progress at each resume.
#[derive(Default, Debug)]
pub struct Record {
    pub suspensions: Vec<Suspension>,
    /// Progress of an operation at each observed resume.
    pub progress: Vec<(u64, u64)>,
}

impl Record {
    /// Suspensions of each operation, in order.
    pub fn by_operation(&self) -> Vec<&[Suspension]> {
        self.suspensions.chunk_by(|a, b| a.of == b.of).collect()
    }
}

/// Runs the bench to its end (or `limit`) and records die 0. Suspensions within one instant are detected by the count of the
/// operation.
pub fn record(bench: &mut Bench, limit: u64) -> Record {
    let mut record = Record::default();
    let (mut of, mut suspends, mut halted) = (u64::MAX, 0, None);
    bench.watch(limit, |now, nand| {
        let die = &nand.dies()[0];
        let Some(op) = die.long() else { return };
        if op.started.0 != of {
            (of, suspends, halted) = (op.started.0, 0, None);
        }
        let pulses = matches!(die.state(), State::Pulsing | State::Stopping);
        if op.suspends > suspends || pulses {
            // Further halts within the instant resumed at once.
            if let Some(halt) = halted.take() {
                record.suspensions.push(Suspension { of, halt, pulses: now });
                if pulses {
                    record.progress.push((of, die.progress(SimTime(now)).0.as_ns()));
                }
            }
        }
        if op.suspends > suspends {
            assert_eq!(op.suspends, suspends + 1, "two suspensions in one event at {now}");
            (suspends, halted) = (op.suspends, Some(now));
        }
    });
    record
}

/// A bench of [`resetting`] with these arrivals.
pub fn bench_of(config: &NandConfig, arrivals: &[(u64, Txn)]) -> Bench {
    let mut bench = Bench::new(&resetting(), config.clone(), 1);
    for &(at, txn) in arrivals {
        bench.at(at, txn);
    }
    bench
}
