//! Is the mathematics right? One die under Poisson reads and programs against closed forms of queueing theory:
//! first in first out, priority, preemption at any instant and at the end of a loop.
//!
//! The part has no command, decode or transfer time (a page load takes the least possible, 1 ns of 2 ms), so
//! that a read takes 80 us and a program 2 ms. Each figure is a mean over independent seeds; all comparisons of
//! this file together fail with probability 1e-6 if the formulas hold.

use interpulse_engine::{Agenda, Bytes, Duration, ResourceId, Rng, SimTime, Streams};
use interpulse_flash::geometry::Geometry;
use interpulse_flash::nand::queue::{GcReadRank, Policy};
use interpulse_flash::nand::txn::{Kind, Txn};
use interpulse_flash::nand::{Nand, NandConfig, NandCounters, Outcome};
use interpulse_flash::parts::{EraseWear, PartSpec, ProgramMode, SuspendSupport, TrainSpec};
use interpulse_flash::suspend::{Scheme, SuspendCosts, SuspendPolicy};
use interpulse_flash::variation::LongOperations;
use interpulse_oracle::queueing::{Class, Die, suspends_between_pulses};
use interpulse_oracle::stats;

const READ_US: f64 = 80.0;
const PROGRAM_US: f64 = 2_000.0;
const FAMILY_ERROR: f64 = 1e-6;
/// 3 loads x (fifo 2, priority 2, ideal 3, loop-boundary 2).
const COMPARISONS: usize = 27;
const SEEDS: u64 = 60;
/// Arrivals before this are not counted.
const WARM_UP: SimTime = SimTime(500_000_000);
const END: SimTime = SimTime(15_500_000_000);
/// Arrivals go on after the last counted one, so that it too is overtaken as it should be.
const COOL_DOWN: u64 = 200_000_000;

#[derive(Clone, Copy, Debug)]
struct Load {
    reads_per_s: f64,
    programs_per_s: f64,
    loops: u32,
}

/// The worked case of the oracles, many reads beside few programs, and few beside many; by 40, 16 and 8 loops.
const LOADS: [Load; 3] = [
    Load { reads_per_s: 2_000.0, programs_per_s: 200.0, loops: 40 },
    Load { reads_per_s: 5_000.0, programs_per_s: 100.0, loops: 16 },
    Load { reads_per_s: 1_000.0, programs_per_s: 350.0, loops: 8 },
];

impl Load {
    fn pulse_us(&self) -> f64 {
        PROGRAM_US / f64::from(self.loops)
    }

    /// The oracle's die, in microseconds.
    fn oracle(&self) -> Die {
        let class = |per_s: f64, us| Class::fixed(per_s * 1e-6, us).unwrap();
        Die { reads: class(self.reads_per_s, READ_US), programs: class(self.programs_per_s, PROGRAM_US) }
    }

    fn part(&self) -> PartSpec {
        let zero = Duration::ZERO;
        let pulse = Duration::from_ns((self.pulse_us() * 1e3) as u64);
        PartSpec {
            name: "queue".into(),
            planes: 1,
            blocks_per_plane: 1,
            pages_per_block: 1,
            page_size: Bytes::kib(4),
            page_parity: Bytes(0),
            bits_per_cell: 1,
            layers: 1,
            program_mode: ProgramMode::OneShot,
            read: vec![Duration::from_us(80)],
            buffer_setup: zero,
            program: TrainSpec { loops: self.loops, pulse, reset: zero, verify: zero },
            program_loops_sd: 0.0,
            erase: TrainSpec { loops: 1, pulse: Duration::from_ms(5), reset: zero, verify: zero },
            erase_wear: EraseWear::Fixed,
            suspend_support: SuspendSupport::Nested,
            voltage_reset: zero,
            program_suspend_entry: zero,
            program_resume: zero,
            page_buffer_reload: zero,
            erase_suspend_entry: zero,
            erase_resume: zero,
            bus_rate: u64::MAX,
            command_cycles: zero,
            endurance: 1,
        }
    }
}

/// Means of one run.
#[derive(Clone, Copy)]
struct Measured {
    read_us: f64,
    program_us: f64,
    suspends_per_program: f64,
}

/// A Poisson stream of one kind of transaction.
struct Flow {
    rng: Rng,
    mean_gap_ns: f64,
    next_ns: f64,
    txn: Txn,
}

impl Flow {
    fn new(streams: &Streams, name: &str, per_s: f64, kind: Kind) -> Flow {
        let mut txn = Txn::new(kind, 0);
        if kind == Kind::HostRead {
            txn.block = 0;
        }
        let mut flow = Flow { rng: streams.stream(name, 0), mean_gap_ns: 1e9 / per_s, next_ns: 0.0, txn };
        flow.step();
        flow
    }

    fn step(&mut self) {
        self.next_ns -= self.mean_gap_ns * libm::log(1.0 - self.rng.unit());
    }

    fn next(&self) -> SimTime {
        SimTime(libm::round(self.next_ns) as u64)
    }
}

/// Sum and number of the times of one kind.
#[derive(Default)]
struct Times {
    sum_ns: u64,
    count: u64,
}

impl Times {
    fn mean_us(&self) -> f64 {
        self.sum_ns as f64 / self.count as f64 / 1e3
    }
}

fn simulate(policy: Policy, scheme: Scheme, load: Load, seed: u64) -> Measured {
    let part = load.part();
    let costs = SuspendCosts::default();
    let suspend = SuspendPolicy::unlimited(scheme, costs);
    let config = NandConfig {
        policy,
        program_suspend: suspend,
        erase_suspend: SuspendPolicy::NEVER,
        nesting: false,
        gc_reads: GcReadRank::InOrder,
        long_operations: LongOperations::Real,
        multi_plane_reads: false,
        ecc_latency: Duration::ZERO,
        ecc_interval: Duration::ZERO,
    };
    let geometry = Geometry::new(1, 1, 1, &part);
    let first_flow = Nand::resources(&geometry);
    let mut agenda = Agenda::new(first_flow + 2);
    let mut nand = Nand::new(geometry, &part, config, seed, ResourceId(0));
    nand.dies_mut()[0].blocks_mut().set_programmed(0, 0, 1);
    let streams = Streams::new(seed);
    let mut flows = [
        Flow::new(&streams, "reads", load.reads_per_s, Kind::HostRead),
        Flow::new(&streams, "programs", load.programs_per_s, Kind::HostProgram),
    ];
    for (k, flow) in flows.iter().enumerate() {
        agenda.arm(ResourceId(first_flow + k as u32), flow.next());
    }
    let (mut reads, mut programs) = (Times::default(), Times::default());
    let (mut at_start, mut at_end): (Option<NandCounters>, Option<NandCounters>) = (None, None);
    // The instant of submission of each transaction, found by its owner field.
    let mut submitted = Vec::new();
    while let Some((now, resource)) = agenda.next(SimTime(END.0 + COOL_DOWN)) {
        if now >= WARM_UP {
            at_start.get_or_insert(nand.counters);
        }
        if now >= END {
            at_end.get_or_insert(nand.counters);
        }
        if resource.0 >= first_flow {
            let flow = &mut flows[(resource.0 - first_flow) as usize];
            flow.txn.owner = submitted.len() as u32;
            submitted.push(now);
            nand.submit(&mut agenda, flow.txn);
            flow.step();
            agenda.arm(resource, flow.next());
        } else {
            nand.on_timer(&mut agenda, resource.0);
        }
        agenda.settle(resource);
        for outcome in nand.outcomes.drain(..) {
            let (txn, times) = match outcome {
                Outcome::Read(txn) => (txn, &mut reads),
                Outcome::Program(txn) | Outcome::Erase(txn) => (txn, &mut programs),
            };
            let from = submitted[txn.owner as usize];
            if (WARM_UP..END).contains(&from) {
                times.sum_ns += now.since(from).as_ns();
                times.count += 1;
            }
        }
    }
    let counted = submitted.iter().filter(|t| (WARM_UP..END).contains(t)).count() as u64;
    assert_eq!(reads.count + programs.count, counted, "the cool-down is too short for what was counted");
    let window = at_end.expect("the run has an end").since(&at_start.expect("the run has a start"));
    Measured {
        read_us: reads.mean_us(),
        program_us: programs.mean_us(),
        suspends_per_program: window.program_suspends as f64 / window.host_programs as f64,
    }
}

/// Runs all seeds of a load.
fn runs(policy: Policy, scheme: Scheme, load: Load) -> Vec<Measured> {
    (0..SEEDS).map(|seed| simulate(policy, scheme, load, seed)).collect()
}

#[track_caller]
fn agrees(what: &str, load: Load, runs: &[Measured], value: impl Fn(&Measured) -> f64, expected: f64) {
    let samples: Vec<f64> = runs.iter().map(value).collect();
    let interval = stats::confidence_interval(&samples, FAMILY_ERROR, COMPARISONS).unwrap();
    println!("{what}, {load:?}: {expected} in {interval:?}");
    assert!(interval.contains(expected), "{what}, {load:?}: {expected} is not in {interval:?}");
    // An interval that would also hold a tenth more or less decides nothing.
    assert!(interval.half_width() < 0.1 * expected, "{what}, {load:?}: {interval:?} is too wide");
}

#[test]
fn first_in_first_out() {
    for load in LOADS {
        let (die, runs) = (load.oracle(), runs(Policy::Fifo, Scheme::None, load));
        agrees("read", load, &runs, |m| m.read_us, die.fifo_wait() + READ_US);
        agrees("program", load, &runs, |m| m.program_us, die.fifo_wait() + PROGRAM_US);
    }
}

#[test]
fn reads_first() {
    for load in LOADS {
        let (die, runs) = (load.oracle(), runs(Policy::ReadPriority, Scheme::None, load));
        agrees("read", load, &runs, |m| m.read_us, die.priority_read_wait() + READ_US);
        agrees("program", load, &runs, |m| m.program_us, die.priority_program_wait() + PROGRAM_US);
    }
}

/// Reads see no programs at all; programs give way to each read that comes while they pulse.
#[test]
fn ideal_suspension() {
    for load in LOADS {
        let (die, runs) = (load.oracle(), runs(Policy::ReadPriority, Scheme::Ideal, load));
        agrees("read", load, &runs, |m| m.read_us, die.preemptive_read_time());
        agrees("program", load, &runs, |m| m.program_us, die.preemptive_program_time());
        agrees("suspensions", load, &runs, |m| m.suspends_per_program, die.suspends_per_program());
    }
}

/// Reads wait for the end of a loop; a loop is followed by a suspension if a read came during it.
#[test]
fn suspension_at_the_end_of_a_loop() {
    for load in LOADS {
        let (die, runs) = (load.oracle(), runs(Policy::ReadPriority, Scheme::LoopBoundary, load));
        let loops = vec![load.pulse_us(); load.loops as usize];
        agrees("read", load, &runs, |m| m.read_us, die.phase_end_read_time(&loops).unwrap());
        let suspends = suspends_between_pulses(load.reads_per_s * 1e-6, load.loops, load.pulse_us()).unwrap();
        agrees("suspensions", load, &runs, |m| m.suspends_per_program, suspends);
    }
}
