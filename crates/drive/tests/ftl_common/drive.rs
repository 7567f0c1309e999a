//! A small drive in simulated time that does nothing but write.

use interpulse_drive::PreconditionedState;
use interpulse_drive::cache_writers::CachePartition;
use interpulse_drive::drive::Drive;
use interpulse_drive::ftl::BlockManager;
use interpulse_drive::ftl::page::gc::victim::{FreeCount, GcPolicy, ThresholdBase};
use interpulse_drive::ftl::page::mapping::table::Map;
use interpulse_drive::ftl::page::placement::PlacementPolicy;
use interpulse_drive::ftl::page::placement::stripe::Allocation;
use interpulse_drive::ftl::page::separation::HotnessPolicy;
use interpulse_drive::host_interface::link::{LinkSpec, Pcie};
use interpulse_drive::host_interface::queues::Arbitration;
use interpulse_drive::numbers::{Lane, SuperBlock};
use interpulse_drive::spec::{
    Acknowledge, CacheSpec, DriveSpec, FreeBlock, FtlSpec, HostSpec, MappingSpec, PowerConstants,
    UnmappedReads, WriteZeroes,
};
use interpulse_engine::{Bytes, Device, Duration, EventQueue, ResourceId, SimTime};
use interpulse_flash::erase::{EraseMethod, MultiBlock};
use interpulse_flash::geometry::Geometry;
use interpulse_flash::nand::NandConfig;
use interpulse_flash::nand::channel::ChannelOrder;
use interpulse_flash::nand::flow_order::HostOrder;
use interpulse_flash::nand::power::PowerConfig;
use interpulse_flash::nand::queue::{GcReadRank, Policy};
use interpulse_flash::parts::{
    CacheRegister, CommandBus, EraseWear, PartSpec, PlaneAddress, PowerSpec, ProgramMode, SubBlocks,
    SuspendSupport, TrainSpec,
};
use interpulse_flash::suspend::SuspendPolicy;
use interpulse_flash::variation::LongOperations;
use interpulse_host::Host;
use interpulse_workload::{FlowSpec, SyntheticPacing, SyntheticSpec};

/// Dies on channels of their own with blocks of 64 units programmed 4 units at a time, spare factor 0.3,
/// greedy victims; `gc_soft` is a share of all blocks.
pub fn spec(lanes: u32, blocks: u32, gc_soft: f64) -> DriveSpec {
    let us = Duration::from_us;
    let part = PartSpec {
        name: "small".into(),
        planes: 1,
        blocks_per_plane: blocks,
        pages_per_block: 16,
        page_size: Bytes::kib(16),
        page_parity: Bytes(2048),
        bits_per_cell: 1,
        layers: 16,
        program_mode: ProgramMode::Page,
        read: vec![us(25)],
        independent_plane_reads: false,
        plane_address: PlaneAddress::Any,
        sub_blocks: SubBlocks::ONE,
        buffer_setup: us(0),
        program: TrainSpec::even(4, us(40), us(0), us(10)),
        program_loops_sd: 0.0,
        erase: TrainSpec::even(5, us(500), us(0), us(100)),
        erase_wear: EraseWear::Fixed,
        suspend_support: SuspendSupport::Nested,
        voltage_reset: us(0),
        program_suspend_entry: us(0),
        program_resume: us(0),
        page_buffer_reload: us(0),
        erase_suspend_entry: us(0),
        erase_resume: us(0),
        bus_rate: 400_000_000,
        command_bus: CommandBus::Shared,
        page_load: None,
        read_transfer: Default::default(),
        command_cycles: Duration::from_ns(200),
        endurance: 1000,
        reprogram: None,
        slc_mode: None,
        two_step: None,
        cache: CacheRegister::NONE,
        power: PowerSpec::default(),
    };
    DriveSpec {
        geometry: Geometry::new(lanes, 1, 1, &part),
        part,
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
            ecc_latency: us(4),
            ecc_interval: Duration::ZERO,
            errors: None,
        },
        ftl: FtlSpec {
            capacity: None,
            mapping: MappingSpec::Full,
            over_provisioning: 0.3,
            bad_block_reserve: 0.0,
            multi_plane: 1,
            allocation: Allocation::Dynamic,
            gc: GcPolicy::Greedy,
            threshold_base: ThresholdBase::Blocks,
            gc_soft,
            gc_counts: FreeCount::Blocks,
            gc_hard: 0.0,
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
            size: Bytes::kib(128),
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
            queue_depth: 64,
            arbitration: Arbitration::RoundRobin,
            classes: None,
            frame_buffer: 64,
            link: LinkSpec::Pcie(Pcie { generation: 3, lanes: 4, max_payload: 256 }),
            firmware: us(1),
            firmware_cores: None,
            delays: None,
            command_timeout: None,
            abort_limit: None,
            max_transfer: None,
            write_zeroes: WriteZeroes::Deallocate,
        },
        constants: PowerConstants::default(),
        audit_sample: 64,
        namespaces: Vec::new(),
        place: Default::default(),
        power_loss: None,
        faults: None,
        wear_before: None,
        schedule: Vec::new(),
        formats: Vec::new(),
    }
}

/// A window of a drive under random writes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Window {
    /// Host and moved units over host units.
    pub write_amplification: f64,
    /// Mean free blocks of a lane when a victim of any has just been chosen.
    pub free: f64,
    /// Valid units over the units of blocks that hold data, at those instants, if the drive has one lane.
    /// Blocks being emptied (but for the newest) and the unwritten part of open blocks do not count.
    pub rho: f64,
    /// Effective spare factor that the drive reports.
    pub spare: f64,
    /// Units of programs that carried no data.
    pub padding_units: u64,
}

/// Runs `state` under uniform 4 KiB writes, 32 outstanding: `writes` to settle and `writes` to measure.
pub fn run(spec: &DriveSpec, state: PreconditionedState, writes: u64, seed: u64) -> Window {
    let pacing = SyntheticPacing::Closed { depth: 32 };
    let mix = SyntheticSpec { pacing, read_share: 0.0, write_share: 1.0, ..SyntheticSpec::default() };
    let flow = FlowSpec::synthetic("writes", mix);
    let drive = Drive::new(spec.clone(), state, seed, ResourceId(0), 1);
    let mut host = Host::new(drive, &[flow], seed, ()).unwrap();
    let mut events = EventQueue::new(host.device.resources().end);
    host.start(&mut events).unwrap();
    let mut before = None;
    let (mut choices, mut free, mut valid, mut held) = (0, 0.0, 0.0, 0.0);
    let mut runs = 0;
    while host.device.completed() < 2 * writes {
        let (_, resource) = events.next(SimTime(u64::MAX >> 12)).expect("a drive with requests has a timer");
        host.handle(&mut events, resource);
        events.settle();
        let ftl = host.device.block_manager();
        if host.device.completed() >= writes && before.is_none() {
            before = Some((ftl.counters, host.device.spare_seen()));
        }
        if before.is_some() && ftl.counters.gc_runs != runs {
            let lanes = f64::from(ftl.layout.lanes);
            choices += 1;
            free += Lane::first(ftl.layout.lanes).map(|l| f64::from(ftl.free_blocks(l))).sum::<f64>() / lanes;
            let (v, h) = occupancy(ftl);
            valid += v;
            held += h;
        }
        runs = ftl.counters.gc_runs;
    }
    let (counters, seen) = before.expect("the window has begun");
    let counted = host.device.ftl_counters().since(&counters);
    let spare = host.device.spare_seen().since(&seen).factor().expect("victims were chosen");
    host.close();
    while host.device.outstanding() > 0 {
        let (_, resource) = events.next(SimTime(u64::MAX >> 12)).expect("a drive with requests has a timer");
        host.handle(&mut events, resource);
        events.settle();
    }
    Window {
        write_amplification: 1.0 + counted.gc_units as f64 / counted.host_units as f64,
        free: free / f64::from(choices),
        rho: valid / held,
        spare,
        padding_units: counted.padding_units,
    }
}

/// Valid units, and units of blocks that hold data. Of blocks being emptied only the newest counts, the one
/// with the most valid units; what is still valid in the others is on its way.
fn occupancy(ftl: &BlockManager) -> (f64, f64) {
    let (mut valid, mut held, mut newest) = (0, 0, 0);
    for (block, done) in SuperBlock::first(ftl.layout.super_blocks()).zip(ftl.programs_done()) {
        let units = ftl.map().valid_units(block);
        let closed = done == ftl.layout.programs_per_block;
        if closed && ftl.map().weight[block.index()] & Map::NOT_A_CANDIDATE != 0 {
            newest = units.max(newest);
        } else {
            valid += units;
            held += done * ftl.layout.units_per_program;
        }
    }
    (f64::from(valid + newest), f64::from(held + ftl.layout.units_per_block))
}
