//! A script played on one die: operations that arrive at chosen instants, and what the die did when.
//!
//! The die is that of a drive, with its queue, bus and decoder; only the drive above it is missing. Timing diagrams
//! and the characterisation of single dies (Zambelli et al. 2021, Figures 5 to 8) are made with it.

use crate::command::{Effect, Kind};
use crate::die::State;
use crate::geometry::Geometry;
use crate::nand::course::Course;
use crate::nand::observe::{DieChange, FlashObserver};
use crate::nand::txn::Txn;
use crate::nand::{Nand, NandConfig};
use crate::numbers::{BlockId, DieId};
use crate::parts::PartSpec;
use interpulse_engine::random::{Rng, Streams};
use interpulse_engine::{Agenda, Duration, ResourceId, SimTime};

/// The agenda index of the player's own timer: an arrival at the instant of a die's event comes before it.
const OWN: ResourceId = ResourceId(0);
/// The first agenda index of the array.
const ARRAY: u32 = 1;
/// The block that reads find programmed.
const READ_BLOCK: BlockId = BlockId(0);
/// The block that erases erase.
const ERASE_BLOCK: BlockId = BlockId(1);

/// Reads that follow the course of a program or erase, as a tester issues them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// From the first pulse of the operation to the first read.
    pub first: Duration,
    /// From each command to resume to the next read.
    pub then: Duration,
    /// The delays are means: each is drawn from an exponential distribution, as of reads that arrive at random.
    pub random: bool,
}

/// What is to happen.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// Operations by the instant of their arrival; equal instants keep this order.
    pub arrivals: Vec<(SimTime, Kind)>,
    /// Reads on top of these.
    pub probe: Option<Probe>,
    /// Planes that programs and erases span.
    pub planes: u32,
    /// The page that reads read; its type decides how long they sense.
    pub read_page: u32,
    /// Selects the sample of dies: word lines and blocks differ between seeds where the part says so.
    pub seed: u64,
    /// Nothing is simulated beyond this instant.
    pub horizon: SimTime,
}

/// A stretch of time during which the die was in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its first instant.
    pub from: SimTime,
    /// Its end, which is the start of the next.
    pub to: SimTime,
    /// What the die was doing.
    pub state: State,
    /// The program or erase on the die, running or suspended; one that runs inside a suspended erase comes first.
    pub long: Option<Kind>,
    /// How often it has been suspended.
    pub suspends: u32,
    /// What it does from its first instant on.
    pub course: Course,
}

/// What became of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// What it was.
    pub kind: Kind,
    /// When it arrived.
    pub arrived: SimTime,
    /// When it was complete; `None` if that was not before the horizon.
    pub done: Option<SimTime>,
}

/// What happened.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// The die's states one after the other, without the idle time at the end.
    pub spans: Vec<Span>,
    /// Every operation, those of the probe included, in the order of arrival.
    pub operations: Vec<Operation>,
    /// How often programs and erases were suspended.
    pub suspends: u64,
}

/// Plays a script on one die of `part` that behaves as `config` says.
pub fn play(part: &PartSpec, config: NandConfig, script: &Script) -> Timeline {
    // What it shows are operations and their suspension: no read fails.
    let mut player = Player::new(part, NandConfig { errors: None, ..config }, script);
    player.run(script.horizon);
    let spans = player.recorder.end(script.horizon);
    let suspends = player.nand.counters.program_suspends + player.nand.counters.erase_suspends;
    Timeline { spans, operations: player.operations, suspends }
}

struct Player {
    agenda: Agenda,
    nand: Nand,
    planes: u32,
    read_page: u32,
    /// Arrivals to come, the next one last.
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
        let mut nand = Nand::new(geometry, part, config, script.seed, ResourceId(ARRAY));
        nand.follow();
        for plane in 0..part.planes {
            nand.dies_mut()[0].blocks_mut().set_programmed(plane, READ_BLOCK, pages);
        }
        let mut arrivals = script.arrivals.clone();
        arrivals.sort_by_key(|&(at, _)| at);
        arrivals.reverse();
        Player {
            agenda: Agenda::new(resources),
            nand,
            planes: script.planes,
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
        while let Some((now, resource)) = self.agenda.next(horizon) {
            if resource == OWN {
                while self.arrivals.last().is_some_and(|&(at, _)| at == now) {
                    let (_, kind) = self.arrivals.pop().expect("one was seen");
                    self.submit(now, kind);
                    self.follow();
                }
                self.arm();
            } else {
                self.nand.on_timer(&mut self.agenda, resource.0 - ARRAY);
            }
            self.agenda.settle();
            self.follow();
            while let Some(txn) = self.nand.take_ended() {
                self.operations[txn.owner as usize].done = Some(now);
            }
        }
    }

    fn arm(&mut self) {
        if let Some(&(at, _)) = self.arrivals.last() {
            self.agenda.arm(OWN, at);
        }
    }

    fn submit(&mut self, now: SimTime, kind: Kind) {
        let mut txn = Txn::new(kind, DieId(0));
        txn.owner = self.operations.len() as u32;
        match kind.command().effect {
            Effect::Reads => {
                (txn.block, txn.page) = (READ_BLOCK, self.read_page);
                txn.set_units(1);
            }
            Effect::Erases => (txn.block, txn.planes) = (ERASE_BLOCK, self.planes as u8),
            // Without an address: any word line, whose train the seed selects.
            _ => txn.planes = self.planes as u8,
        }
        self.operations.push(Operation { kind, arrived: now, done: None });
        self.nand.submit(&mut self.agenda, txn);
    }

    /// Lets the recorder, and through it the probe, see what the die has done.
    fn follow(&mut self) {
        self.nand.tell(&mut self.recorder);
        let (Some(probe), Some((now, suspends))) = (self.probe, self.recorder.commanded.take()) else {
            return;
        };
        // Pulses may be due just ahead of now; the probe counts from the command, as a tester does.
        let delay = if suspends == 0 { probe.first } else { probe.then };
        let at = now + if probe.random { exponential(&mut self.gaps, delay) } else { delay };
        let place = self.arrivals.partition_point(|&(other, _)| other > at);
        self.arrivals.insert(place, (at, Kind::HostRead));
        self.arm();
    }
}

/// Turns what the die does into spans.
#[derive(Default)]
struct Recorder {
    spans: Vec<Span>,
    /// The change with which the present span began.
    begun: Option<DieChange>,
    /// When pulses were last put on the die or resumed, and how often they had been suspended; until somebody has seen it.
    commanded: Option<(SimTime, u32)>,
}

impl FlashObserver for Recorder {
    fn die_changed(&mut self, change: &DieChange) {
        // A state that is left at once makes no span, and one that comes back (the load of the next page) no second one.
        let stays = self.begun.is_some_and(|b| (b.state, b.operation) == (change.state, change.operation));
        if change.course.is_none() || stays {
            return;
        }
        self.close(change.at);
        let resumed = self.begun.is_some_and(|begun| begun.state == State::Resuming);
        self.begun = Some(*change);
        // A part that resumes in no time goes straight on.
        if change.state == State::Resuming || (change.state == State::Pulsing && !resumed) {
            self.commanded = Some((change.at, change.operation.map_or(0, |op| op.suspends)));
        }
    }
}

impl Recorder {
    /// Ends the present span.
    fn close(&mut self, now: SimTime) {
        let Some(begun) = self.begun.filter(|begun| begun.at < now) else { return };
        if begun.state != State::Idle || !self.spans.is_empty() {
            self.spans.push(Span {
                from: begun.at,
                to: now,
                state: begun.state,
                long: begun.operation.map(|op| op.kind),
                suspends: begun.operation.map_or(0, |op| op.suspends),
                course: begun.course.expect("only such begin a span"),
            });
        }
    }

    /// The spans up to the horizon, without the idle time at the end.
    fn end(mut self, horizon: SimTime) -> Vec<Span> {
        if self.begun.is_some_and(|begun| begun.state != State::Idle) {
            self.close(horizon);
        }
        self.spans
    }
}

/// A delay from an exponential distribution of this mean.
fn exponential(rng: &mut Rng, mean: Duration) -> Duration {
    Duration::from_ns((-libm::log1p(-rng.unit()) * mean.as_ns() as f64) as u64)
}
