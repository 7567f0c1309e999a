//! Script of operations on a single die, and the timeline that results.
//!
//! The die has the queue, bus and decoder of a drive, without the drive above. Timing diagrams and the characterisation of
//! single dies (Zambelli et al. 2021, Figures 5 to 8) use it.

use crate::command::{Effect, Kind};
use crate::die::State;
use crate::geometry::Geometry;
use crate::ids::{BlockId, DieId};
use crate::nand::observer::{DieChange, FlashObserver};
use crate::nand::phase_schedule::PhaseSchedule;
use crate::nand::txn::{Owner, Txn};
use crate::nand::{Nand, NandConfig};
use crate::parts::PartSpec;
use interpulse_engine::random::{Rng, Streams};
use interpulse_engine::{Duration, EventQueue, ResourceId, SimTime};

/// Timer of arrivals: the lowest index, so that an arrival precedes a die event at the same instant.
const OWN: ResourceId = ResourceId(0);
/// First timer index of the array.
const ARRAY: u32 = 1;
/// The programmed block that reads access.
const READ_BLOCK: BlockId = BlockId(0);
/// The block that erases access.
const ERASE_BLOCK: BlockId = BlockId(1);

/// Reads timed relative to a program or erase, as a tester issues them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// From the first pulse of the operation to the first read.
    pub first: Duration,
    /// From each command to resume to the next read.
    pub then: Duration,
    /// The delays are means of exponential distributions.
    pub random: bool,
}

/// Operations to play, and the settings of the die.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// Operations and their arrival times; operations of equal times keep this order.
    pub arrivals: Vec<(SimTime, Kind)>,
    /// Additional reads.
    pub probe: Option<Probe>,
    /// Planes that programs and erases span. An erase takes as many blocks as the configuration allows.
    pub planes: u32,
    /// The page that reads access; its type decides tR.
    pub read_page: u32,
    /// Seed of the variation between word lines and blocks.
    pub seed: u64,
    /// End of the simulation.
    pub horizon: SimTime,
}

/// A period during which the die was in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Start.
    pub from: SimTime,
    /// End, which is the start of the next span.
    pub to: SimTime,
    /// State of the die.
    pub state: State,
    /// The program or erase on the die, running or suspended; of two, the program inside a suspended erase.
    pub long: Option<Kind>,
    /// Suspensions of this operation so far.
    pub suspends: u32,
    /// Schedule of the state.
    pub course: PhaseSchedule,
}

/// Arrival and completion of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Kind of the operation.
    pub kind: Kind,
    /// Arrival time.
    pub arrived: SimTime,
    /// Completion time; `None` if the horizon came first.
    pub done: Option<SimTime>,
}

/// Result of a script.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// States of the die in order, without the idle time at the end.
    pub spans: Vec<Span>,
    /// All operations in order of arrival, reads of the probe included.
    pub operations: Vec<Operation>,
    /// Suspensions of programs and erases.
    pub suspends: u64,
}

/// Plays a script on one die of `part` with `config`.
pub fn play(part: &PartSpec, config: NandConfig, script: &Script) -> Timeline {
    let mut player = Player::new(part, config, script);
    player.run(script.horizon);
    let spans = player.recorder.end(script.horizon);
    let suspends = player.nand.counters.program_suspends + player.nand.counters.erase_suspends;
    Timeline { spans, operations: player.operations, suspends }
}

struct Player {
    events: EventQueue,
    nand: Nand,
    planes: u32,
    /// Blocks of an erase.
    blocks: u32,
    read_page: u32,
    /// Remaining arrivals, latest first.
    arrivals: Vec<(SimTime, Kind)>,
    probe: Option<Probe>,
    gaps: Rng,
    recorder: Recorder,
    operations: Vec<Operation>,
}

impl Player {
    fn new(part: &PartSpec, config: NandConfig, script: &Script) -> Player {
        let geometry = Geometry::new(1, 1, 1, part);
        let resources = ARRAY + Nand::resources(&geometry);
        let pages = geometry.pages_per_block() as u16;
        let blocks = config.multi_block.blocks;
        let mut nand = Nand::new(geometry, part, config, script.seed, ResourceId(ARRAY));
        nand.start_observing();
        for plane in 0..part.planes {
            nand.dies_mut()[0].blocks_mut().set_programmed(plane, READ_BLOCK, pages);
        }
        let mut arrivals = script.arrivals.clone();
        arrivals.sort_by_key(|&(at, _)| at);
        arrivals.reverse();
        Player {
            events: EventQueue::new(resources),
            nand,
            planes: script.planes,
            blocks,
            read_page: script.read_page,
            arrivals,
            probe: script.probe,
            gaps: Streams::new(script.seed).stream("bench.probe", 0),
            recorder: Recorder::default(),
            operations: Vec::new(),
        }
    }

    fn run(&mut self, horizon: SimTime) {
        self.arm();
        while let Some((now, resource)) = self.events.next(horizon) {
            if resource == OWN {
                while self.arrivals.last().is_some_and(|&(at, _)| at == now) {
                    let (_, kind) = self.arrivals.pop().expect("one was seen");
                    self.submit(now, kind);
                    self.follow();
                }
                self.arm();
            } else {
                self.nand.on_timer(&mut self.events, resource.0 - ARRAY);
            }
            self.events.settle();
            self.follow();
            while let Some(txn) = self.nand.take_ended() {
                self.operations[txn.owner().index as usize].done = Some(now);
            }
        }
    }

    fn arm(&mut self) {
        if let Some(&(at, _)) = self.arrivals.last() {
            self.events.arm(OWN, at);
        }
    }

    fn submit(&mut self, now: SimTime, kind: Kind) {
        let mut txn = Txn::new(kind, DieId(0));
        txn.set_owner(Owner { class: 0, index: self.operations.len() as u32 });
        match kind.command().effect {
            Effect::Reads => {
                (txn.block, txn.page) = (READ_BLOCK, self.read_page);
                txn.set_units(1);
            }
            Effect::Erases => {
                (txn.block, txn.planes) = (ERASE_BLOCK, self.planes as u8);
                self.operations.push(Operation { kind, arrived: now, done: None });
                let last = self.nand.geometry().blocks_per_plane - 1;
                // All blocks of a multi-block erase count as one operation.
                let blocks = ERASE_BLOCK.0..=self.blocks.min(last);
                let of = |block| {
                    let mut txn = txn;
                    txn.block = BlockId(block);
                    txn
                };
                let erases: Vec<Txn> = blocks.map(of).collect();
                self.nand.submit_erases(&mut self.events, &erases);
                return;
            }
            // Without an address the seed alone selects the train.
            _ => txn.planes = self.planes as u8,
        }
        self.operations.push(Operation { kind, arrived: now, done: None });
        self.nand.submit(&mut self.events, txn);
    }

    /// Passes state changes to the recorder and schedules the next read of the probe.
    fn follow(&mut self) {
        self.nand.notify(&mut self.recorder);
        let (Some(probe), Some((now, suspends))) = (self.probe, self.recorder.commanded.take()) else {
            return;
        };
        // A tester counts from the command, which may precede the first pulse.
        let delay = if suspends == 0 { probe.first } else { probe.then };
        let at = now + if probe.random { exponential(&mut self.gaps, delay) } else { delay };
        let place = self.arrivals.partition_point(|&(other, _)| other > at);
        self.arrivals.insert(place, (at, Kind::HostRead));
        self.arm();
    }
}

/// Builds spans from state changes of the die.
#[derive(Default)]
struct Recorder {
    spans: Vec<Span>,
    /// State change that opened the current span.
    begun: Option<DieChange>,
    /// Time of the last start or resume of pulses and the number of suspensions before it; consumed by the probe.
    commanded: Option<(SimTime, u32)>,
    /// Start and number of suspensions of the operation then.
    last: Option<(SimTime, u32)>,
}

impl FlashObserver for Recorder {
    fn die_changed(&mut self, change: &DieChange) {
        // States without a schedule and repeated states (the load of the next page) open no span, except the steps of a retry.
        let stays = self.begun.is_some_and(|b| {
            b.state != State::Retrying && (b.state, b.operation) == (change.state, change.operation)
        });
        if change.schedule.is_none() || stays {
            return;
        }
        self.close(change.at);
        let resumed = self.begun.is_some_and(|begun| begun.state == State::Resuming);
        self.begun = Some(*change);
        // A part with a resume time of zero skips the state Resuming.
        let commanded = change.state == State::Resuming || (change.state == State::Pulsing && !resumed);
        let op = change.operation.map(|op| (op.started, op.suspends));
        // Another slice is no resume.
        if commanded && (op.is_none() || op != self.last) {
            self.commanded = Some((change.at, op.map_or(0, |(_, suspends)| suspends)));
            self.last = op;
        }
    }
}

impl Recorder {
    /// Ends the current span.
    fn close(&mut self, now: SimTime) {
        let Some(begun) = self.begun.filter(|begun| begun.at < now) else { return };
        if begun.state != State::Idle || !self.spans.is_empty() {
            self.spans.push(Span {
                from: begun.at,
                to: now,
                state: begun.state,
                long: begun.operation.map(|op| op.kind),
                suspends: begun.operation.map_or(0, |op| op.suspends),
                course: begun.schedule.expect("only such begin a span"),
            });
        }
    }

    /// Returns the spans up to the horizon, without the idle time at the end.
    fn end(mut self, horizon: SimTime) -> Vec<Span> {
        if self.begun.is_some_and(|begun| begun.state != State::Idle) {
            self.close(horizon);
        }
        self.spans
    }
}

/// A random delay from an exponential distribution.
fn exponential(rng: &mut Rng, mean: Duration) -> Duration {
    Duration::from_ns((-libm::log1p(-rng.unit()) * mean.as_ns() as f64) as u64)
}
