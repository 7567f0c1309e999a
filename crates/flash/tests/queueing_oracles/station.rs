//! Simulation of one die under Poisson reads and programs.
//!
//! The part has no command, decode or transfer time (a page load takes the minimum of 1 ns of 2 ms), so that a read takes 80 us
//! and a program 2 ms.

use interpulse_engine::{Bytes, Duration, EventQueue, ResourceId, Rng, SimTime, Streams};
use interpulse_flash::DieId;
use interpulse_flash::command::Effect;
use interpulse_flash::erase::{EraseMethod, MultiBlock};
use interpulse_flash::geometry::Geometry;
use interpulse_flash::ids::BlockId;
use interpulse_flash::nand::channel::ChannelOrder;
use interpulse_flash::nand::flow_order::HostOrder;
use interpulse_flash::nand::queue::{GcReadRank, Policy};
use interpulse_flash::nand::txn::{Kind, Owner, Txn};
use interpulse_flash::nand::{Nand, NandConfig, NandCounters};
use interpulse_flash::parts::{
    CacheRegister, CommandBus, EraseWear, PartSpec, PlaneAddress, ProgramMode, SubBlocks, SuspendSupport,
    TrainSpec,
};
use interpulse_flash::suspend::SuspendPolicy;
use interpulse_flash::variation::LongOperations;
use interpulse_oracle::queueing::{Class, Die};
use interpulse_oracle::stats;

pub const READ_US: f64 = 80.0;
pub const PROGRAM_US: f64 = 2_000.0;
const FAMILY_ERROR: f64 = 1e-6;
/// Upper bound on the comparisons of this program.
const COMPARISONS: usize = 200;
/// Warm-up: earlier arrivals are not counted.
const WARM_UP: SimTime = SimTime(200_000_000);
/// Arrivals continue after the last counted one, so that later arrivals can overtake it.
const COOL_DOWN: u64 = 200_000_000;

#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub reads_per_s: f64,
    pub programs_per_s: f64,
    pub loops: u32,
    /// Simulated seconds per seed, and number of seeds; both increase with the load.
    pub seconds: u64,
    pub seeds: u64,
}

/// The worked case of the oracles, read-heavy and program-heavy loads; with 40, 16 and 8 loops.
pub const LOADS: [Load; 3] = [
    Load { reads_per_s: 2_000.0, programs_per_s: 200.0, loops: 40, seconds: 3, seeds: 60 },
    Load { reads_per_s: 5_000.0, programs_per_s: 100.0, loops: 16, seconds: 3, seeds: 60 },
    Load { reads_per_s: 1_000.0, programs_per_s: 350.0, loops: 8, seconds: 10, seeds: 60 },
];

impl Load {
    pub fn pulse_us(&self) -> f64 {
        PROGRAM_US / f64::from(self.loops)
    }

    /// The die of the oracle, in microseconds.
    pub fn oracle(&self) -> Die {
        let class = |per_s: f64, us| Class::fixed(per_s * 1e-6, us).unwrap();
        Die { reads: class(self.reads_per_s, READ_US), programs: class(self.programs_per_s, PROGRAM_US) }
    }

    pub fn part(&self) -> PartSpec {
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
            independent_plane_reads: false,
            plane_address: PlaneAddress::Any,
            sub_blocks: SubBlocks::ONE,
            buffer_setup: zero,
            program: TrainSpec::even(self.loops, pulse, zero, zero),
            program_loops_sd: 0.0,
            erase: TrainSpec::even(1, Duration::from_ms(5), zero, zero),
            erase_wear: EraseWear::Fixed,
            suspend_support: SuspendSupport::Nested,
            voltage_reset: zero,
            program_suspend_entry: zero,
            program_resume: zero,
            page_buffer_reload: zero,
            erase_suspend_entry: zero,
            erase_resume: zero,
            bus_rate: u64::MAX,
            command_bus: CommandBus::Shared,
            page_load: None,
            read_transfer: Default::default(),
            command_cycles: zero,
            endurance: 1,
            reprogram: None,
            slc_mode: None,
            two_step: None,
            cache: CacheRegister::NONE,
            power: Default::default(),
        }
    }
}

/// Means of one run.
#[derive(Clone, Copy)]
pub struct Measured {
    pub read_us: f64,
    pub program_us: f64,
    pub suspends_per_program: f64,
}

/// A Poisson stream of one kind of transaction.
pub struct Flow {
    rng: Rng,
    mean_gap_ns: f64,
    next_ns: f64,
    pub txn: Txn,
}

impl Flow {
    pub fn new(streams: &Streams, name: &str, per_s: f64, kind: Kind) -> Flow {
        let mut txn = Txn::new(kind, DieId(0));
        if kind == Kind::HostRead {
            txn.block = BlockId(0);
        }
        let mut flow = Flow { rng: streams.stream(name, 0), mean_gap_ns: 1e9 / per_s, next_ns: 0.0, txn };
        flow.step();
        flow
    }

    pub fn step(&mut self) {
        self.next_ns -= self.mean_gap_ns * libm::log(1.0 - self.rng.unit());
    }

    pub fn next(&self) -> SimTime {
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

/// Configuration: only programs are suspended, without costs.
pub fn behaving(policy: Policy, suspend: SuspendPolicy) -> NandConfig {
    NandConfig {
        policy,
        program_suspend: suspend,
        erase_suspend: SuspendPolicy::NEVER,
        nesting: false,
        gc_reads: GcReadRank::InOrder,
        long_operations: LongOperations::Real,
        erase_method: EraseMethod::Ispe,
        multi_block: MultiBlock::ONE,
        multi_plane_reads: false,
        multi_plane_programs: false,
        host_order: HostOrder::Arrival,
        channel_order: ChannelOrder::CommandsFirst,
        power: Default::default(),
        super_layer: 0,
        ecc_latency: Duration::ZERO,
        ecc_interval: Duration::ZERO,
        errors: None,
    }
}

fn simulate(config: NandConfig, load: Load, seed: u64) -> Measured {
    let part = load.part();
    let end = SimTime(WARM_UP.0 + load.seconds * 1_000_000_000);
    let geometry = Geometry::new(1, 1, 1, &part);
    let first_flow = Nand::resources(&geometry);
    let mut events = EventQueue::new(first_flow + 2);
    let mut nand = Nand::new(geometry, &part, config, seed, ResourceId(0));
    nand.dies_mut()[0].blocks_mut().set_programmed(0, BlockId(0), 1);
    let streams = Streams::new(seed);
    let mut flows = [
        Flow::new(&streams, "reads", load.reads_per_s, Kind::HostRead),
        Flow::new(&streams, "programs", load.programs_per_s, Kind::HostProgram),
    ];
    for (k, flow) in flows.iter().enumerate() {
        events.arm(ResourceId(first_flow + k as u32), flow.next());
    }
    let (mut reads, mut programs) = (Times::default(), Times::default());
    let (mut at_start, mut at_end): (Option<NandCounters>, Option<NandCounters>) = (None, None);
    // Submission time of each transaction, by its owner field.
    let mut submitted = Vec::new();
    while let Some((now, resource)) = events.next(SimTime(end.0 + COOL_DOWN)) {
        if now >= WARM_UP {
            at_start.get_or_insert(nand.counters);
        }
        if now >= end {
            at_end.get_or_insert(nand.counters);
        }
        if resource.0 >= first_flow {
            let flow = &mut flows[(resource.0 - first_flow) as usize];
            flow.txn.set_owner(Owner { class: 0, index: submitted.len() as u32 });
            submitted.push(now);
            nand.submit(&mut events, flow.txn);
            flow.step();
            events.arm(resource, flow.next());
        } else {
            nand.on_timer(&mut events, resource.0);
        }
        events.settle();
        while let Some(txn) = nand.take_ended() {
            let reading = txn.kind.command().effect == Effect::Reads;
            let times = if reading { &mut reads } else { &mut programs };
            let from = submitted[txn.owner().index as usize];
            if (WARM_UP..end).contains(&from) {
                times.sum_ns += now.since(from).as_ns();
                times.count += 1;
            }
        }
    }
    let counted = submitted.iter().filter(|t| (WARM_UP..end).contains(t)).count() as u64;
    assert_eq!(reads.count + programs.count, counted, "the cool-down is too short for what was counted");
    let window = at_end.expect("the run has an end").since(&at_start.expect("the run has a start"));
    Measured {
        read_us: reads.mean_us(),
        program_us: programs.mean_us(),
        suspends_per_program: window.program_suspends as f64 / window.host_programs as f64,
    }
}

/// Runs all seeds of a load.
pub fn runs(policy: Policy, suspend: &SuspendPolicy, load: Load) -> Vec<Measured> {
    (0..load.seeds).map(|seed| simulate(behaving(policy, suspend.clone()), load, seed)).collect()
}

/// Fails if the mean over the runs differs from the expected value.
#[track_caller]
pub fn agrees<T>(what: &str, load: Load, runs: &[T], value: impl Fn(&T) -> f64, expected: f64) {
    let samples: Vec<f64> = runs.iter().map(value).collect();
    let interval = stats::confidence_interval(&samples, FAMILY_ERROR, COMPARISONS).unwrap();
    println!("{what}, {load:?}: {expected} in {interval:?}");
    assert!(interval.contains(expected), "{what}, {load:?}: {expected} is not in {interval:?}");
    // The interval must be narrower than 10 % of the value.
    assert!(interval.half_width() < 0.1 * expected, "{what}, {load:?}: {interval:?} is too wide");
}
