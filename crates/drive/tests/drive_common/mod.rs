//! Small drives for tests: parts, a spec to start from, preconditioning, and a drive with its event queue.
#![allow(dead_code, reason = "every test file uses its own part of the harness")]

pub mod features;
pub mod zones;

pub use features::{with_faults, with_injected_faults, with_stalls};
use interpulse_drive::cache_writers::CachePartition;
use interpulse_drive::drive::Drive;
use interpulse_drive::ftl::log_block::tables::LogBlockTables;
use interpulse_drive::ftl::page::gc::victim::{FreeCount, GcPolicy, ThresholdBase};
use interpulse_drive::ftl::page::placement::PlacementPolicy;
use interpulse_drive::ftl::page::placement::stripe::Allocation;
use interpulse_drive::ftl::page::precondition::Preconditioner;
use interpulse_drive::ftl::page::separation::HotnessPolicy;
use interpulse_drive::ftl::zoned::tables::ZoneTables;
use interpulse_drive::host_interface::link::{LinkSpec, Pcie};
use interpulse_drive::host_interface::queues::Arbitration;
use interpulse_drive::numbers::Lpn;
use interpulse_drive::spec::{
    Acknowledge, CacheSpec, DriveSpec, FreeBlock, FtlSpec, HostSpec, MappingSpec, NamespacePlace,
    PowerConstants, UnmappedReads, WriteZeroes,
};
use interpulse_drive::{EachNamespace, PreconditionedState};
use interpulse_engine::{
    AuditReport, Bytes, Device, Duration, EventQueue, LatencyHistogram, ResourceId, SimTime, Streams,
};
use interpulse_flash::erase::{EraseMethod, MultiBlock};
use interpulse_flash::errors::{Ecc, ErrorSpec, ErrorTable, InitialAges, PowerOff};
use interpulse_flash::geometry::Geometry;
use interpulse_flash::nand::NandConfig;
use interpulse_flash::nand::channel::ChannelOrder;
use interpulse_flash::nand::flow_order::HostOrder;
use interpulse_flash::nand::power::PowerConfig;
use interpulse_flash::nand::queue::{GcReadRank, Policy};
use interpulse_flash::parts::{
    CacheRegister, CommandBus, EraseWear, PartSpec, PlaneAddress, PowerSpec, ProgramMode, ReadTransfer,
    ReprogramSpec, SubBlocks, SuspendSupport, TrainSpec,
};
use interpulse_flash::suspend::SuspendPolicy;
use interpulse_flash::variation::LongOperations;
use interpulse_host::{Host, MOST_TIMERS_WITHOUT_COMPLETION};
use interpulse_workload::{FlowSpec, SyntheticPacing, SyntheticSpec};

/// How many bits a cell holds and how they are programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cells {
    /// One page a word line.
    Slc,
    /// Two pages, programmed one by one.
    MlcPages,
    /// Three pages at once.
    Tlc,
    /// Five pages at once.
    Plc,
}

impl Cells {
    /// Bits per cell.
    pub fn bits(self) -> u32 {
        match self {
            Cells::Slc => 1,
            Cells::MlcPages => 2,
            Cells::Tlc => 3,
            Cells::Plc => 5,
        }
    }
}

/// A fast little part: tR 40 us, programs of a few hundred us, erases of 1.2 ms.
pub fn part(cells: Cells, planes: u32, blocks_per_plane: u32, page_kib: u64) -> PartSpec {
    let us = Duration::from_us;
    let bits = cells.bits();
    let mode = if cells == Cells::MlcPages { ProgramMode::Page } else { ProgramMode::OneShot };
    PartSpec {
        name: "little".into(),
        planes,
        blocks_per_plane,
        pages_per_block: 24,
        page_size: Bytes::kib(page_kib),
        page_parity: Bytes(page_kib * 128),
        bits_per_cell: bits,
        layers: 4,
        program_mode: mode,
        read: vec![us(40); bits as usize],
        independent_plane_reads: false,
        plane_address: PlaneAddress::Any,
        sub_blocks: SubBlocks::ONE,
        buffer_setup: us(1),
        program: TrainSpec::even(4 * bits, us(20), us(0), us(30)),
        program_loops_sd: 0.0,
        erase: TrainSpec::even(3, us(360), us(0), us(40)),
        erase_wear: EraseWear::Fixed,
        suspend_support: SuspendSupport::Nested,
        voltage_reset: us(0),
        program_suspend_entry: us(0),
        program_resume: us(0),
        page_buffer_reload: us(0),
        erase_suspend_entry: us(0),
        erase_resume: us(0),
        bus_rate: 800_000_000,
        command_bus: CommandBus::Shared,
        page_load: None,
        read_transfer: ReadTransfer::Codewords,
        command_cycles: Duration::from_ns(200),
        endurance: 3000,
        reprogram: (cells == Cells::Tlc).then_some(ReprogramSpec {
            mlc_program: TrainSpec::even(9, us(20), us(0), us(25)),
            reprogram: TrainSpec::even(8, us(20), us(0), us(25)),
            read: us(35),
        }),
        slc_mode: None,
        two_step: None,
        cache: CacheRegister::NONE,
        power: PowerSpec::default(),
    }
}

/// A drive of 2 channels x 2 chips of TLC in 8 KiB pages, one queue, dynamic allocation, greedy collection,
/// a 4 MiB cache, no suspension. Change what a test is about.
pub fn little() -> DriveSpec {
    of_part(part(Cells::Tlc, 1, 24, 8), 2, 2, 1)
}

/// [`little`] of another part and array.
pub fn of_part(part: PartSpec, channels: u32, chips: u32, dies: u32) -> DriveSpec {
    let geometry = Geometry::new(channels, chips, dies, &part);
    DriveSpec {
        part,
        geometry,
        nand: NandConfig {
            policy: Policy::ReadPriority,
            program_suspend: SuspendPolicy::NEVER,
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
            power: PowerConfig::default(),
            super_layer: 0,
            ecc_latency: Duration::from_us(4),
            ecc_interval: Duration::ZERO,
            errors: None,
        },
        ftl: FtlSpec {
            capacity: None,
            mapping: MappingSpec::Full,
            over_provisioning: 0.4,
            bad_block_reserve: 0.0,
            multi_plane: 1,
            allocation: Allocation::Dynamic,
            gc: GcPolicy::Greedy,
            threshold_base: ThresholdBase::Blocks,
            gc_soft: 0.1,
            gc_counts: FreeCount::Blocks,
            gc_hard: 0.04,
            gc_depth: 2,
            copyback: None,
            hotness: HotnessPolicy::None,
            placement: PlacementPolicy::None,
            reprogram: None,
            slc: None,
            free_block: FreeBlock::ErasedFirst,
            wear_gap: None,
            unmapped_reads: UnmappedReads::Zeroes,
            zones: None,
            log_blocks: None,
        },
        cache: CacheSpec {
            size: Bytes::mib(4),
            latency: Duration::from_ns(500),
            acknowledge: Acknowledge::DEFAULT,
            partition: CachePartition::Shared,
            protected: true,
        },
        dram: None,
        predictable_latency: None,
        read_cache: None,
        firmware: None,
        host: HostSpec {
            queue_weights: vec![1],
            queue_depth: 1024,
            arbitration: Arbitration::RoundRobin,
            classes: None,
            frame_buffer: 1024,
            link: LinkSpec::Pcie(Pcie { generation: 3, lanes: 4, max_payload: 256 }),
            firmware: Duration::from_us(5),
            firmware_cores: None,
            delays: None,
            command_timeout: None,
            abort_limit: None,
            max_transfer: None,
            write_zeroes: WriteZeroes::Deallocate,
        },
        constants: PowerConstants::default(),
        audit_sample: 1,
        power_loss: None,
        faults: None,
        wear_before: None,
        namespaces: Vec::new(),
        place: NamespacePlace::default(),
        schedule: Vec::new(),
        formats: Vec::new(),
    }
}

/// Errors by the rates of the table's attempts, on pages of every type; 80 bits in 1 KiB are corrected.
pub fn errors(page_types: usize, rates: &[f64]) -> ErrorSpec {
    let attempts = (0..rates.len()).map(|k| format!("attempt {k}")).collect();
    let rber = rates.repeat(page_types);
    ErrorSpec {
        table: ErrorTable { attempts, rber, ..ErrorTable::ideal(page_types) },
        ecc: Ecc::default(),
        temperature_c: 40.0,
        activation_ev: 1.1,
        reprograms: 0.0,
        initial_age: Duration::ZERO,
        initial_ages: InitialAges::Equal,
        initial_reads: 0,
        initial_off: PowerOff::default(),
        reclaim_reads: None,
        refresh_after: None,
    }
}

/// An FTL whose first `share` of the capacity is written in order.
pub fn filled(spec: &DriveSpec, share: f64) -> PreconditionedState {
    preconditioned(spec, share, 0.0, 1)
}

/// As [`filled`], then overwritten uniformly `overwrites` times over.
pub fn preconditioned(spec: &DriveSpec, share: f64, overwrites: f64, seed: u64) -> PreconditionedState {
    spec.check().unwrap_or_else(|why| panic!("the spec is impossible: {why:?}"));
    let streams = Streams::new(seed);
    if spec.is_divided() {
        let each = spec.namespaces().unwrap();
        let states = each.iter().map(|of| preconditioned(of, share, overwrites, seed)).collect();
        return EachNamespace(states).into();
    }
    if let Some(zones) = spec.zone_geometry().unwrap() {
        let mut tables = ZoneTables::new(spec.layout().unwrap(), zones);
        tables.fill((f64::from(tables.geometry.zones) * share) as u32);
        return PreconditionedState::Zoned(tables);
    }
    if let Some(blocks) = spec.log_block_geometry().unwrap() {
        let units = (f64::from(blocks.logical_units()) * share) as u32;
        let mut tables = LogBlockTables::new(spec.layout().unwrap(), blocks);
        tables.fill(units);
        return PreconditionedState::LogBlock(tables);
    }
    let mut ftl = spec.fresh_ftl(streams.stream("test.ftl", 0)).unwrap();
    let units = (f64::from(ftl.config().logical_units) * share) as u32;
    let stripe = spec.stripe().unwrap();
    let mut pre = Preconditioner::new(&mut ftl, stripe);
    pre.write_in_order(Lpn(0), Lpn(units));
    let mut rng = streams.stream("test.precondition", 0);
    pre.overwrite((f64::from(units) * overwrites) as u64, || Lpn(rng.below(u64::from(units)) as u32));
    pre.finish();
    PreconditionedState::Page(ftl)
}

/// Runs the worlds of the seeds from `first` on until `count` of them have made a drive. `world` returns whether its values did.
pub fn run_worlds(first: u64, count: usize, world: impl FnMut(u64) -> bool) {
    let mut world = world;
    let seeds = first..first + 100 * count as u64;
    let made = seeds.filter(|&seed| world(seed)).take(count).count();
    assert_eq!(made, count, "many drawn values make a drive");
}

/// A closed loop of `depth`; change the rest with the update syntax of `mix`.
pub fn closed(name: &str, depth: u32, mix: SyntheticSpec) -> FlowSpec {
    FlowSpec::synthetic(name, SyntheticSpec { pacing: SyntheticPacing::Closed { depth }, ..mix })
}

/// 4 KiB requests, `read_share` of them reads, the others writes.
pub fn mix(read_share: f64) -> SyntheticSpec {
    SyntheticSpec { read_share, write_share: 1.0 - read_share, ..SyntheticSpec::default() }
}

/// What a histogram holds, for comparing runs.
pub type Histogram = (u64, u128, Vec<(u64, u64, u64)>);

/// The content of a histogram.
pub fn content(h: &LatencyHistogram) -> Histogram {
    (h.count(), h.sum_ns(), h.buckets().collect())
}

/// A drive with its host, and the event queue they run on.
pub struct Bench {
    pub host: Host<Drive>,
    pub events: EventQueue,
}

impl Bench {
    /// Assembles and starts a drive.
    pub fn new(spec: &DriveSpec, state: PreconditionedState, flows: &[FlowSpec], seed: u64) -> Bench {
        spec.check().unwrap_or_else(|why| panic!("the spec is impossible: {why:?}"));
        let drive = Drive::new(spec.clone(), state, seed, ResourceId(0), flows.len() as u32);
        let mut host = Host::new(drive, flows, seed, ()).unwrap();
        let mut events = EventQueue::new(host.device.resources().end);
        host.start(&mut events).unwrap();
        Bench { host, events }
    }

    /// Handles the next event up to `limit`; false if there is none.
    pub fn step(&mut self, limit: SimTime) -> bool {
        let Some((_, resource)) = self.events.next(limit) else { return false };
        self.host.handle(&mut self.events, resource);
        self.events.settle();
        true
    }

    /// Handles all events up to and including `at` and moves the clock there.
    pub fn run_to(&mut self, at: SimTime) {
        while self.step(at) {}
        self.events.advance_to(at);
    }

    /// As [`Bench::run_to`], `span` from now.
    pub fn run_for(&mut self, span: Duration) {
        self.run_to(self.events.now() + span);
    }

    /// Runs until `count` more requests have completed. Panics with a diagnosis if that never happens.
    pub fn run_requests(&mut self, count: u64) {
        let target = self.host.device.completed() + count;
        self.run_while(|bench| bench.host.device.completed() < target);
    }

    /// Runs until the flows have ended and everything has completed. Panics as [`Bench::run_requests`].
    pub fn run_out(&mut self) {
        self.run_while(|bench| !bench.host.is_done());
    }

    pub fn run_while(&mut self, goes_on: impl Fn(&Bench) -> bool) {
        let mut last = (self.host.device.completed(), 0);
        while goes_on(self) {
            let stepped = self.step(self.events.horizon());
            let completed = self.host.device.completed();
            last = if completed == last.0 { (completed, last.1 + 1) } else { (completed, 0) };
            let goes_on = stepped && last.1 < MOST_TIMERS_WITHOUT_COMPLETION;
            assert!(goes_on, "{}", self.host.device.diagnosis(&self.events));
        }
    }

    /// Makes no more requests, lets those outstanding complete, and audits.
    pub fn finish(&mut self) -> AuditReport {
        self.host.close();
        self.run_out();
        assert_eq!(self.host.failure(), None);
        self.assert_dies_add_up();
        self.host.device.audit(self.events.now(), 1).unwrap_or_else(|why| panic!("{why}"))
    }

    /// The uses of every die add up to the clock.
    pub fn assert_dies_add_up(&mut self) {
        let now = self.events.now();
        for (d, die) in self.host.device.nand_mut().dies_mut().iter_mut().enumerate() {
            die.usage.settle(now);
            let sum: u64 = die.usage.uses().iter().sum();
            assert_eq!(sum, now.as_ns(), "the uses of die {d} do not add up to the clock");
        }
    }
}
