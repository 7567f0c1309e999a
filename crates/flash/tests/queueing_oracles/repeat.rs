//! Preemptive-repeat: operations that repeat interrupted work.
//!
//! Programs always wait and reads arrive by a Poisson process; the needs of a program do not depend on the number of programs.
//! All programs complete and are counted, without truncation by a window.

use crate::queueing_oracles::station::*;
use interpulse_engine::{Duration, EventQueue, ResourceId, Streams};
use interpulse_flash::DieId;
use interpulse_flash::geometry::Geometry;
use interpulse_flash::ids::BlockId;
use interpulse_flash::nand::queue::Policy;
use interpulse_flash::nand::txn::{Kind, Txn};
use interpulse_flash::nand::{Nand, NandConfig, NandCounters};
use interpulse_flash::parts::{PartSpec, TrainSpec};
use interpulse_flash::suspend::{Scheme, SuspendCosts, SuspendPolicy};
use interpulse_oracle::repeat::{elapsed_time, repeated};

const PROGRAMS: u64 = 400;

/// Sums over the programs of one run.
struct Sum {
    counters: NandCounters,
    /// From the start of a program on the die to its end, in microseconds.
    elapsed_us: f64,
}

fn simulate(part: &PartSpec, config: &NandConfig, reads_per_s: f64, seed: u64) -> Sum {
    let geometry = Geometry::new(1, 1, 1, part);
    let first_flow = Nand::resources(&geometry);
    let mut events = EventQueue::new(first_flow + 1);
    let mut nand = Nand::new(geometry, part, config.clone(), seed, ResourceId(0));
    nand.dies_mut()[0].blocks_mut().set_programmed(0, BlockId(0), 1);
    for _ in 0..PROGRAMS {
        nand.submit(&mut events, Txn::new(Kind::HostProgram, DieId(0)));
    }
    let mut reads = Flow::new(&Streams::new(seed), "reads", reads_per_s, Kind::HostRead);
    events.arm(ResourceId(first_flow), reads.next());
    while nand.counters.host_programs < PROGRAMS {
        let (_, resource) = events.next(events.horizon()).expect("reads come for ever");
        if resource.0 == first_flow {
            nand.submit(&mut events, reads.txn);
            reads.step();
            events.arm(resource, reads.next());
        } else {
            nand.on_timer(&mut events, resource.0);
        }
        events.settle();
        while nand.take_ended().is_some() {}
    }
    let elapsed_us = nand.operations.programs.times.sum_ns() as f64 / 1e3;
    Sum { counters: nand.counters, elapsed_us }
}

/// Loops of pulse, reset and verify in microseconds, and the reads.
#[derive(Clone, Copy)]
struct Case {
    loops: u32,
    times: [u64; 3],
    reads_per_s: f64,
}

/// One loop and many, with rare and frequent interruptions: l P from 0.05 to 1.5.
const CASES: [Case; 4] = [
    Case { loops: 1, times: [700, 0, 0], reads_per_s: 2_000.0 },
    Case { loops: 1, times: [500, 0, 500], reads_per_s: 1_500.0 },
    Case { loops: 12, times: [35, 0, 90], reads_per_s: 400.0 },
    Case { loops: 5, times: [100, 15, 150], reads_per_s: 2_500.0 },
];

impl Case {
    fn load(&self) -> Load {
        // For the output of `agrees`; all programs wait from the start.
        Load {
            reads_per_s: self.reads_per_s,
            programs_per_s: f64::INFINITY,
            loops: self.loops,
            seconds: 0,
            seeds: 40,
        }
    }

    fn runs(&self, scheme: Scheme, entry: u64, cap: Option<u32>) -> Vec<Sum> {
        let [pulse, reset, verify] = self.times.map(Duration::from_us);
        let program = TrainSpec::even(self.loops, pulse, reset, verify);
        let part = PartSpec { program, ..LOADS[0].part() };
        let costs = SuspendCosts { entry: Duration::from_us(entry), ..SuspendCosts::default() };
        let suspend = SuspendPolicy { max_suspends: cap, ..SuspendPolicy::unlimited(scheme, costs) };
        let config = behaving(Policy::ReadPriority, suspend);
        (0..self.load().seeds).map(|seed| simulate(&part, &config, self.reads_per_s, seed)).collect()
    }

    /// Compares the time in pulses and verifies, and the suspensions, with the expected values per program.
    #[track_caller]
    fn check(&self, what: &str, runs: &[Sum], active_us: f64, suspends: f64) {
        let each = PROGRAMS as f64;
        let active = |s: &Sum| s.counters.program_pulse_time as f64 / 1e3 / each;
        agrees(&format!("{what}, active"), self.load(), runs, active, active_us);
        let stops = |s: &Sum| s.counters.program_suspends as f64 / each;
        agrees(&format!("{what}, suspensions"), self.load(), runs, stops, suspends);
    }
}

/// The interrupted loop is repeated: `(e^(l P) - 1) / l` per loop, at any entry cost.
#[test]
fn immediate() {
    for case in CASES {
        let one: u64 = case.times.iter().sum();
        let l1 = case.reads_per_s * 1e-6;
        for (entry, cap) in [(0, None), (30, None), (30, Some(1)), (0, Some(3))] {
            let expected = repeated(l1, &vec![one as f64; case.loops as usize], cap).unwrap();
            let runs = case.runs(Scheme::Immediate, entry, cap);
            let what = format!("immediate, entry {entry}, at most {cap:?}");
            case.check(&what, &runs, expected.active, expected.interruptions);
            if cap.is_none() {
                // An interruption lasts a busy period of reads that starts with the entry and one read.
                let pause = (entry as f64 + READ_US) / (1.0 - l1 * READ_US);
                let elapsed = elapsed_time(l1, case.loops, one as f64, pause).unwrap();
                let took = |s: &Sum| s.elapsed_us / PROGRAMS as f64;
                agrees(&format!("{what}, elapsed"), case.load(), &runs, took, elapsed);
            }
        }
    }
}

/// The interrupted phase is repeated; a voltage reset finishes first, which is a stop without loss.
#[test]
fn intra_phase_cancel_and_pulse_remainder() {
    for case in CASES {
        let [pulse, reset, verify] = case.times.map(|us| us as f64);
        let (l1, loops) = (case.reads_per_s * 1e-6, f64::from(case.loops));
        // A stop follows a reset with a read arrival.
        let in_resets = loops * -libm::expm1(-l1 * reset);
        let phases =
            |lengths: &[f64]| lengths.repeat(case.loops as usize).into_iter().filter(|p| *p > 0.0).collect();
        let all: Vec<f64> = phases(&[pulse, verify]);
        let expected = repeated(l1, &all, None).unwrap();
        let (active, stops) = (expected.active + loops * reset, expected.interruptions + in_resets);
        case.check("cancel", &case.runs(Scheme::IntraPhaseCancel, 25, None), active, stops);
        // The cap counts every stop, so this needs a part without resets.
        if reset == 0.0 {
            let expected = repeated(l1, &all, Some(2)).unwrap();
            let runs = case.runs(Scheme::IntraPhaseCancel, 0, Some(2));
            case.check("cancel, at most 2", &runs, expected.active, expected.interruptions);
        }
        // Pulses keep their progress, but every read stops them; verifies are repeated.
        let verifies: Vec<f64> = phases(&[verify]);
        if verify > 0.0 {
            let expected = repeated(l1, &verifies, None).unwrap();
            let active = expected.active + loops * (pulse + reset);
            let stops = expected.interruptions + in_resets + l1 * loops * pulse;
            case.check("pulse-remainder", &case.runs(Scheme::PulseRemainder, 25, None), active, stops);
        }
    }
}
