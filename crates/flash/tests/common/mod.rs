//! Test bench for one channel of dies: a synthetic part, transactions at given times, and the exact time of each outcome.
//!
//! The times of the part are chosen so that sums of them do not coincide by chance; tests derive expected times by hand from
//! the constants below. The timer of the bench has the last index, as the flows of a drive do: an arrival at the instant of a
//! die event comes after the event, unless [`Bench::arrivals_first`] selects the other order.

use interpulse_engine::{Bytes, Duration, EventQueue, ResourceId, SimTime};
use interpulse_flash::DieId;
use interpulse_flash::command::WAITS;
use interpulse_flash::erase::{EraseMethod, MultiBlock};
use interpulse_flash::errors::{Ecc, ErrorSpec, ErrorTable, InitialAges, PowerOff};
use interpulse_flash::geometry::Geometry;
use interpulse_flash::ids::BlockId;
use interpulse_flash::nand::channel::ChannelOrder;
use interpulse_flash::nand::copyback::Source;
use interpulse_flash::nand::flow_order::HostOrder;
use interpulse_flash::nand::power::PowerConfig;
use interpulse_flash::nand::queue::{GcReadRank, Policy};
use interpulse_flash::nand::txn::{Kind, Owner, Txn};
use interpulse_flash::nand::{Nand, NandConfig};
use interpulse_flash::parts::{
    CacheRegister, CommandBus, EraseWear, PartSpec, PlaneAddress, PowerSpec, ProgramMode, ReadTransfer,
    SubBlocks, SuspendSupport, TrainSpec,
};
use interpulse_flash::pulse::PulseTrain;
use interpulse_flash::suspend::{
    Deferred, LongOpStatus, SafePointEntry, Scheme, Stop, StopRequest, SuspendCosts, SuspendPolicy,
    SuspendScheme, Timeout,
};
use interpulse_flash::variation::LongOperations;
use std::sync::Arc;

/// `timeout` with defaults.
pub const TIMEOUT: Scheme = Scheme::Timeout(Timeout::DEFAULT);

/// `deferred` with defaults.
pub const DEFERRED: Scheme = Scheme::Deferred(Deferred::DEFAULT);

/// `deferred` with the entry cost of the part at a safe point.
pub const DEFERRED_AT_A_COST: Scheme = Scheme::Deferred(Deferred { entry: SafePointEntry::Part });

/// `scheme`; for `timeout`, with this time to defer.
pub fn after(scheme: Scheme, after: Duration) -> Scheme {
    match scheme {
        Scheme::Timeout(of) => Scheme::Timeout(Timeout { after, ..of }),
        other => other,
    }
}

/// The stop of a `train` without earlier suspensions at progress `elapsed`; `None` also if the train ends before.
pub fn answer(scheme: Scheme, train: &TrainSpec, costs: &SuspendCosts, elapsed: Duration) -> Option<Stop> {
    let train = train_of(train);
    let at = LongOpStatus {
        train: &train,
        elapsed,
        // A slice is commanded whether or not a read waits.
        committed: scheme.slices().is_some(),
        planes: 1,
        suspends: 0,
        first_suspend: SimTime::ZERO,
        resumed: SimTime::ZERO,
        suspended: Duration::ZERO,
        now: SimTime(elapsed.as_ns()),
        oldest_write: None,
    };
    scheme.stop(&StopRequest { op: &at, costs }).filter(|stop| elapsed + stop.after < train.total())
}

/// The train of an operation at its nominal number of loops.
pub fn train_of(spec: &TrainSpec) -> PulseTrain {
    PulseTrain::even(spec.loops, spec.pulse, spec.reset, spec.verify)
}

/// Command and address cycles.
pub const CMD: u64 = 300;
/// tR of the least, central and most significant page.
pub const LSB: u64 = 50_000;
pub const CSB: u64 = 60_000;
pub const MSB: u64 = 75_000;
/// Transfer of 1 to 4 units at a byte per nanosecond: 4096 each, plus their share of 1602 B of parity, rounded up.
pub const UNITS: [u64; 5] = [0, 4_497, 8_993, 13_490, 17_986];
/// Page buffer set-up, during which the bus is free.
pub const SETUP: u64 = 1_000;
/// Die time of a page load: a whole page over the bus, then the set-up.
pub const LOAD: u64 = UNITS[4] + SETUP;
/// One program loop: pulse 35 us, verify 90 us; four of them.
pub const LOOP: u64 = 125_000;
pub const PULSES: u64 = 4 * LOOP;
/// One erase loop: pulse 1 ms, verify 100 us; three of them.
pub const ERASE_LOOP: u64 = 1_100_000;
pub const ERASE_PULSES: u64 = 3 * ERASE_LOOP;
/// Decode of a codeword, and the interval between two decodes.
pub const DECODE: u64 = 5_000;
pub const INTERVAL: u64 = 700;
/// Start of the pulses and end of a single one-shot program submitted at 0.
pub const PULSES_AT: u64 = CMD + 3 * LOAD;
pub const PROGRAM: u64 = PULSES_AT + PULSES;
/// Die time and outcome of a read of one unit of a least significant page on a free bus.
pub const READ_DIE: u64 = CMD + LSB + 4_497;
pub const READ: u64 = READ_DIE + DECODE;

pub fn part() -> PartSpec {
    let us = Duration::from_us;
    PartSpec {
        name: "bench".into(),
        planes: 4,
        blocks_per_plane: 8,
        pages_per_block: 24,
        page_size: Bytes::kib(16),
        page_parity: Bytes(1602),
        bits_per_cell: 3,
        layers: 1,
        program_mode: ProgramMode::OneShot,
        read: [LSB, CSB, MSB].map(Duration::from_ns).to_vec(),
        independent_plane_reads: false,
        plane_address: PlaneAddress::Any,
        sub_blocks: SubBlocks::ONE,
        buffer_setup: Duration::from_ns(SETUP),
        program: TrainSpec::even(4, us(35), us(0), us(90)),
        program_loops_sd: 0.0,
        erase: TrainSpec::even(3, us(1000), us(0), us(100)),
        erase_wear: EraseWear::Fixed,
        suspend_support: SuspendSupport::Nested,
        voltage_reset: us(4),
        program_suspend_entry: us(20),
        program_resume: us(10),
        page_buffer_reload: us(0),
        erase_suspend_entry: us(40),
        erase_resume: us(30),
        bus_rate: 1_000_000_000,
        command_bus: CommandBus::Shared,
        page_load: None,
        read_transfer: ReadTransfer::Codewords,
        command_cycles: Duration::from_ns(CMD),
        endurance: 1000,
        reprogram: None,
        slc_mode: None,
        two_step: None,
        cache: CacheRegister::NONE,
        power: PowerSpec::default(),
    }
}

/// FIFO, no suspension, no multi-plane reads.
pub fn config() -> NandConfig {
    NandConfig {
        policy: Policy::Fifo,
        gc_reads: GcReadRank::InOrder,
        long_operations: LongOperations::Real,
        erase_method: EraseMethod::Ispe,
        multi_block: MultiBlock::ONE,
        program_suspend: SuspendPolicy::NEVER,
        erase_suspend: SuspendPolicy::NEVER,
        nesting: false,
        multi_plane_reads: false,
        multi_plane_programs: false,
        host_order: HostOrder::Arrival,
        channel_order: ChannelOrder::CommandsFirst,
        power: PowerConfig::default(),
        super_layer: 0,
        ecc_latency: Duration::from_ns(DECODE),
        ecc_interval: Duration::from_ns(INTERVAL),
        errors: None,
    }
}

/// Error rates by attempt of the least and the most significant page; a central page has none. The code corrects 10 of 1024
/// bits: rate 0 always succeeds, 0.5 never.
pub fn errors(lsb: &[f64], msb: &[f64], change: impl FnOnce(&mut ErrorSpec)) -> Option<Arc<ErrorSpec>> {
    let attempts = (0..lsb.len()).map(|k| format!("attempt {k}")).collect();
    let rber = [lsb.to_vec(), vec![0.0; lsb.len()], msb.to_vec()].concat();
    let mut spec = ErrorSpec {
        table: ErrorTable { attempts, rber, ..ErrorTable::ideal(3) },
        ecc: Ecc { codeword_bits: 1024, capability: 10, ..Ecc::default() },
        temperature_c: 40.0,
        activation_ev: 1.1,
        reprograms: 0.0,
        initial_age: Duration::ZERO,
        initial_ages: InitialAges::Equal,
        initial_reads: 0,
        initial_off: PowerOff::default(),
        reclaim_reads: None,
        refresh_after: None,
    };
    change(&mut spec);
    Some(Arc::new(spec))
}

/// Read priority, and suspension of programs and erases of `part` by `scheme` without limits.
pub fn suspending(scheme: Scheme, part: &PartSpec) -> NandConfig {
    let policy = |entry, resume| {
        SuspendPolicy::unlimited(scheme, SuspendCosts { entry, resume, ..SuspendCosts::default() })
    };
    NandConfig {
        policy: Policy::ReadPriority,
        program_suspend: policy(part.program_suspend_entry, part.program_resume),
        erase_suspend: policy(part.erase_suspend_entry, part.erase_resume),
        ..config()
    }
}

/// A host read of one unit of page 0 of block 0, plane 0.
pub fn read(die: u32) -> Txn {
    read_of(die, 0, 0, 0, 1)
}

pub fn read_of(die: u32, plane: u32, block: u32, page: u32, units: u32) -> Txn {
    let address = |t: &mut Txn| {
        (t.plane, t.block, t.page) = (plane as u8, BlockId(block), page);
        t.set_units(units);
    };
    but(Txn::new(Kind::HostRead, DieId(die)), address)
}

/// A program of host data without an address.
pub fn program(die: u32) -> Txn {
    Txn::new(Kind::HostProgram, DieId(die))
}

/// An erase of block 7 of plane 0.
pub fn erase(die: u32) -> Txn {
    but(Txn::new(Kind::Erase, DieId(die)), |t| t.block = BlockId(7))
}

/// `txn` with a change.
pub fn but(mut txn: Txn, change: impl FnOnce(&mut Txn)) -> Txn {
    change(&mut txn);
    txn
}

/// A finished transaction.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    /// Time of submission.
    pub submitted: u64,
    /// Time of the outcome.
    pub at: u64,
    pub txn: Txn,
}

impl Done {
    /// Submission to outcome.
    pub fn time(&self) -> u64 {
        self.at - self.submitted
    }

    /// Sum of the account.
    pub fn waited(&self) -> u64 {
        let power = if matches!(self.txn.kind, Kind::HostRead | Kind::GcRead) { self.txn.held } else { 0 };
        self.txn.waits.iter().sum::<u64>() + power
    }

    /// The account in the order of `Wait`.
    pub fn waits(&self) -> [u64; WAITS] {
        self.txn.waits
    }
}

/// One channel of dies and the bench that drives it.
pub struct Bench {
    pub events: EventQueue,
    pub nand: Nand,
    arrivals: Vec<(u64, Txn)>,
    submitted: Vec<u64>,
    next: usize,
    own: ResourceId,
    /// Timer index of the first resource of the array.
    first: u32,
    /// Whether the end of a read submits a new one.
    feeding: bool,
    pub done: Vec<Done>,
}

impl Bench {
    /// `dies` chips of one die on one channel; blocks 0 to 3 of each plane are fully programmed.
    pub fn new(part: &PartSpec, config: NandConfig, dies: u32) -> Bench {
        Bench::with_seed(part, config, dies, 1)
    }

    /// As [`Bench::new`], with variation by `seed`.
    pub fn with_seed(part: &PartSpec, config: NandConfig, dies: u32, seed: u64) -> Bench {
        let own = Nand::resources(&Geometry::new(1, dies, 1, part));
        Bench::with_indices(part, config, dies, seed, (0, own))
    }

    /// As [`Bench::new`], but an arrival at the instant of a die event comes before the event.
    pub fn arrivals_first(part: &PartSpec, config: NandConfig, dies: u32) -> Bench {
        Bench::with_indices(part, config, dies, 1, (1, 0))
    }

    /// With the timer indices of the array and of the bench.
    fn with_indices(
        part: &PartSpec,
        config: NandConfig,
        dies: u32,
        seed: u64,
        (first, own): (u32, u32),
    ) -> Bench {
        let geometry = Geometry::new(1, dies, 1, part);
        let pages = geometry.pages_per_block() as u16;
        let resources = Nand::resources(&geometry) + 1;
        let mut nand = Nand::new(geometry, part, config, seed, ResourceId(first));
        for die in nand.dies_mut() {
            for plane in 0..part.planes {
                for block in 0..part.blocks_per_plane.min(4) {
                    die.blocks_mut().set_programmed(plane, BlockId(block), pages);
                }
            }
        }
        Bench {
            events: EventQueue::new(resources),
            nand,
            arrivals: Vec::new(),
            submitted: Vec::new(),
            next: 0,
            own: ResourceId(own),
            first,
            feeding: false,
            done: Vec::new(),
        }
    }

    /// Schedules the arrival of `txn` at `at` ns; equal times keep the order of the calls. The owner's index is the number of the
    /// call.
    pub fn at(&mut self, at: u64, txn: Txn) -> &mut Bench {
        let owner = self.submitted.len() as u32;
        self.submitted.push(at);
        self.arrivals.push((at, but(txn, |t| t.set_owner(Owner { class: 0, index: owner }))));
        self
    }

    /// Submits a copyback at once; it counts as a call of [`Bench::at`].
    pub fn copyback(&mut self, txn: Txn, sources: &[Source]) -> u32 {
        let owner = self.submitted.len() as u32;
        self.submitted.push(self.events.now().0);
        let txn = but(txn, |t| t.set_owner(Owner { class: 0, index: owner }));
        self.nand.submit_copyback(&mut self.events, txn, sources);
        owner
    }

    /// Submits erases at once, for one operation; each counts as a call of [`Bench::at`].
    pub fn erases(&mut self, erases: &[Txn]) -> &mut Bench {
        let first = self.submitted.len() as u32;
        self.submitted.resize(self.submitted.len() + erases.len(), self.events.now().0);
        let owned = |(&txn, index)| but(txn, |t| t.set_owner(Owner { class: 0, index }));
        let erases: Vec<Txn> = erases.iter().zip(first..).map(owned).collect();
        self.nand.submit_erases(&mut self.events, &erases);
        self
    }

    /// Runs until no event is left.
    pub fn run(&mut self) -> &mut Bench {
        self.run_until(u64::MAX >> 8)
    }

    /// Handles all events up to and including `limit` ns.
    pub fn run_until(&mut self, limit: u64) -> &mut Bench {
        self.watch(limit, |_, _| ())
    }

    /// Closed loop: each end of a read submits a new read of die 0.
    pub fn feed_reads(&mut self) -> &mut Bench {
        self.feeding = true;
        self
    }

    /// As [`Bench::run_until`], calling `see` after each event.
    pub fn watch(&mut self, limit: u64, mut see: impl FnMut(u64, &Nand)) -> &mut Bench {
        self.arrivals[self.next..].sort_by_key(|&(at, _)| at);
        self.arm();
        while let Some((now, resource)) = self.events.next(SimTime(limit)) {
            if resource == self.own {
                while let Some(&(_, txn)) = self.arrivals.get(self.next).filter(|(at, _)| *at == now.0) {
                    self.next += 1;
                    self.nand.submit(&mut self.events, txn);
                }
                self.arm();
            } else {
                self.nand.on_timer(&mut self.events, resource.0 - self.first);
            }
            self.events.settle();
            let mut ended = 0;
            while let Some(txn) = self.nand.take_ended() {
                ended += u32::from(txn.kind == Kind::HostRead);
                self.done.push(Done {
                    submitted: self.submitted[txn.owner().index as usize],
                    at: now.0,
                    txn,
                });
            }
            for _ in 0..if self.feeding { ended } else { 0 } {
                let owner = self.submitted.len() as u32;
                self.submitted.push(now.0);
                self.nand.submit(
                    &mut self.events,
                    but(read(0), |t| t.set_owner(Owner { class: 0, index: owner })),
                );
            }
            see(now.0, &self.nand);
        }
        self
    }

    fn arm(&mut self) {
        if let Some(&(at, _)) = self.arrivals.get(self.next) {
            self.events.arm(self.own, SimTime(at));
        }
    }

    /// The outcome of the transaction of call number `owner` of [`Bench::at`].
    pub fn of(&self, owner: u32) -> Done {
        let found = self.done.iter().find(|d| d.txn.owner().index == owner);
        *found.unwrap_or_else(|| panic!("transaction {owner} has not finished"))
    }

    /// The times of all outcomes in order of submission; panics if one is missing.
    pub fn ends(&self) -> Vec<u64> {
        (0..self.submitted.len() as u32).map(|owner| self.of(owner).at).collect()
    }

    /// All transactions, by call.
    pub fn submitted(&self) -> usize {
        self.submitted.len()
    }
}

/// Runs the arrivals and compares the times of all outcomes, in the order of the calls.
#[track_caller]
pub fn check(name: &str, mut bench: Bench, arrivals: &[(u64, Txn)], ends: &[u64]) -> Bench {
    for &(at, txn) in arrivals {
        bench.at(at, txn);
    }
    bench.run();
    assert_eq!(bench.ends(), ends, "{name}");
    assert_eq!(bench.nand.pending(), 0, "{name}");
    bench
}
