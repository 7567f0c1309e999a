//! One drive in simulated time.
//!
//! ```text
//! flows -> queues -> link in -> firmware -> map -> dies -> decode -> link out -> completion
//!                                   \-> (data over the link) -> cache -> programs -> map
//!                                                    garbage collection -> reads, programs, erases
//! ```
//!
//! The drive holds a contiguous range of the agenda's resources and never the agenda itself: the owner (a
//! run, an array) passes it down, so several drives share one virtual time.

pub mod build;
mod collect;
mod coordinate;
mod host;
mod hot;
pub mod jobs;
mod metadata;
mod mount;
mod owner;
pub mod power_loss;
mod refresh;
pub mod request;
pub mod spec;
pub mod stats;
mod through;
pub mod verify;
mod write;

use crate::audit::VersionAudit;
use crate::cache::Cache;
use crate::ftl::Ftl;
use crate::ftl::stripe::Stripe;
use crate::host::line::Line;
use crate::host::link::Direction;
use crate::host::queues::Queues;
use collect::GcLane;
use interpulse_engine::{Agenda, Duration, ResourceId, Rng, SimTime};
use interpulse_flash::nand::txn::Kind;
use interpulse_flash::nand::{Nand, Outcome};
use interpulse_workload::Flow;
use jobs::Jobs;
use request::Requests;
use spec::DriveSpec;
use stats::WindowStats;
use std::collections::VecDeque;

pub use build::{Impossible, PreconditionedState};
pub use coordinate::GcTurn;
pub use owner::Completion;
pub use power_loss::{Cut, CutWrite};
pub use refresh::Rewritten;

/// A flow with its place in the drive.
struct FlowState {
    flow: Flow,
    name: String,
    queue: u32,
    /// Requests outstanding in closed loop; zero for open loop.
    depth: u32,
    /// The next request of an open flow, waiting for its arrival.
    next: Option<(SimTime, interpulse_workload::Request)>,
    /// A closed flow makes no request from this instant on (an open one ends by itself).
    stop: SimTime,
    exhausted: bool,
}

/// One drive.
pub struct Drive {
    spec: DriveSpec,
    nand: Nand,
    ftl: Ftl,
    cache: Cache,
    stripe: Option<Stripe>,
    queues: Queues,
    link_in: Direction,
    link_out: Direction,
    submission_time: Duration,
    completion_time: Duration,
    /// Commands in firmware.
    firmware: Line,
    /// Write data arriving.
    arriving: Line,
    /// Units moving to or from DRAM.
    dram: Line,
    /// Data and completions leaving.
    leaving: Line,
    /// log2 of the sectors of a unit.
    unit_shift: u32,
    first: u32,
    flash_resources: u32,
    /// Empty if the requests come from an owner.
    flows: Vec<FlowState>,
    requests: Requests,
    /// Requests of the owner that have completed and that it has not asked for yet.
    completions: VecDeque<owner::Completion>,
    jobs: Jobs,
    gc_lanes: Vec<GcLane>,
    /// Lanes whose collection is asleep.
    gc_asleep: u32,
    /// When collection may run, for an owner of several drives.
    gc_turn: GcTurn,
    /// Page reads of the host under way by super block, where they may have to be repeated: a block is not erased while
    /// one of it is. Empty where no read fails.
    readers: Vec<u16>,
    /// Blocks rewritten for their age or their reads.
    pub rewritten: Rewritten,
    /// Writes waiting for cache slots, in order.
    stalled: VecDeque<u32>,
    /// Flushes waiting for their epoch, in order.
    flushes: VecDeque<(u32, u32)>,
    /// Lanes without a host program, one bit each.
    ready_lanes: Vec<u64>,
    /// Lanes whose own list holds a program's worth of dirty data, one bit each (static striping).
    full_lists: Vec<u64>,
    next_lane: u32,
    /// Lists of dirty data by hotness, if host data is separated.
    levels: Option<Box<hot::Levels>>,
    /// A write to a unit that waits in the cache takes its place there.
    absorbs: bool,
    /// Dirty units that make a program worth starting.
    worth_starting: u32,
    /// The write that waits for the program of each cache slot; empty if writes are complete in the cache.
    writers: Vec<u32>,
    programs_in_flight: u32,
    imposed_credit: f64,
    imposed_rng: Rng,
    versions: VersionAudit,
    /// What is kept for a loss of power, if power may be lost.
    power: Option<Box<power_loss::PowerLoss>>,
    /// The copy on flash of a unit is kept until the newer version in the cache is programmed: a loss of power would
    /// bring it back.
    keeps_homes: bool,
    issued: u64,
    completed: u64,
    /// No more requests are made (the end of a run).
    closed: bool,
    /// A flow could not go on (its trace became unreadable).
    failure: Option<String>,
    /// Measured since the last [`Drive::reset_window`].
    pub window: WindowStats,
}

/// The resources a drive has besides its flash array and its flows.
const OWN_LINES: u32 = 4;

impl Drive {
    /// Agenda resources a drive with this spec and number of flows takes.
    pub fn resources(spec: &DriveSpec, flows: u32) -> u32 {
        Nand::resources(&spec.geometry)
            + OWN_LINES
            + flows
            + u32::from(spec.refreshes())
            + 2 * u32::from(spec.power_loss.is_some())
    }

    /// Arms the flows; call once, at time zero.
    pub fn start(&mut self, agenda: &mut Agenda) {
        for f in 0..self.flows.len() {
            self.start_flow(agenda, f);
        }
        self.start_patrol(agenda);
        self.start_power_loss(agenda);
    }

    /// The timers behind those of the flows: the patrol, if blocks are rewritten for their age, then a cut and checkpoints.
    #[cold]
    #[inline(never)]
    fn on_later_timer(&mut self, agenda: &mut Agenda, index: u32) {
        match (self.spec.refreshes(), index) {
            (true, 0) => self.patrol(agenda),
            (refreshes, index) if index == u32::from(refreshes) => self.on_power_timer(agenda),
            _ => self.checkpoint(agenda),
        }
    }

    /// Handles the timer of `resource`, which must be one of this drive's.
    #[inline(always)]
    pub fn handle(&mut self, agenda: &mut Agenda, resource: ResourceId) {
        let index = resource.0 - self.first;
        if index < self.flash_resources {
            self.nand.on_timer(agenda, index);
            self.drain_outcomes(agenda);
            return;
        }
        match index - self.flash_resources {
            0 => {
                let id = self.firmware.pop(agenda);
                self.firmware_done(agenda, id);
            }
            1 => {
                let id = self.arriving.pop(agenda);
                self.data_arrived(agenda, id);
            }
            2 => {
                let id = self.dram.pop(agenda);
                self.dram_done(agenda, id);
            }
            3 => {
                let id = self.leaving.pop(agenda);
                self.complete(agenda, id);
            }
            other => match (other - OWN_LINES) as usize {
                flow if flow < self.flows.len() => self.on_flow(agenda, flow),
                later => self.on_later_timer(agenda, (later - self.flows.len()) as u32),
            },
        }
    }

    /// Requests made by the host and not completed.
    pub fn outstanding(&self) -> usize {
        self.requests.live() + usize::from(self.is_down())
    }

    /// Requests completed since the start.
    pub fn completed(&self) -> u64 {
        self.completed
    }

    /// Why the drive cannot go on, if it cannot.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// No flow will make another request.
    pub fn exhausted(&self) -> bool {
        self.closed || self.flows.iter().all(|f| f.exhausted)
    }

    /// Stops making requests; those outstanding go on.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Starts a new measurement window.
    pub fn reset_window(&mut self) {
        self.window = WindowStats::new(self.flows.len().max(1));
        self.nand.reset_window();
    }

    /// Ends the measurement window and starts a new one. What is outstanding has no latency yet, but it may
    /// have waited for the whole window: how long the oldest ones have, and which the host would have given
    /// up, is part of the window that ends.
    pub fn end_window(&mut self, now: SimTime) -> WindowStats {
        let limit = self.spec.host.command_timeout;
        for (_, request) in self.requests.iter() {
            let age = Duration::from_ns(now.as_ns() - request.submitted.as_ns());
            self.window.outstanding(request.op, age);
            if limit.is_some_and(|limit| age > limit) {
                self.window.timed_out(request.op);
            }
        }
        std::mem::replace(&mut self.window, WindowStats::new(self.flows.len().max(1)))
    }

    /// Requests made by the host and not completed, with their numbers.
    pub fn requests(&self) -> &Requests {
        &self.requests
    }

    /// The flash array.
    pub fn nand(&self) -> &Nand {
        &self.nand
    }

    /// The flash array, to settle its accounts at the end of a window.
    pub fn nand_mut(&mut self) -> &mut Nand {
        &mut self.nand
    }

    /// The FTL.
    pub fn ftl(&self) -> &Ftl {
        &self.ftl
    }

    /// How the drive was set up.
    pub fn spec(&self) -> &DriveSpec {
        &self.spec
    }

    /// Names of the flows.
    pub fn flow_names(&self) -> impl Iterator<Item = &str> {
        self.flows.iter().map(|f| f.name.as_str())
    }

    /// What the first reading of each replayed trace found.
    pub fn trace_summaries(&self) -> Vec<interpulse_workload::TraceSummary> {
        self.flows.iter().filter_map(|f| f.flow.trace_summary().cloned()).collect()
    }

    /// Reads checked by the version audit.
    pub fn versions_checked(&self) -> u64 {
        self.versions.checked
    }

    fn drain_outcomes(&mut self, agenda: &mut Agenda) {
        while let Some(outcome) = self.nand.outcomes.pop() {
            // A timer of the array finishes at most one transaction, so the order is that of the events.
            debug_assert!(self.nand.outcomes.is_empty());
            match outcome {
                Outcome::Read(txn) if txn.kind == Kind::HostRead => self.host_read_done(agenda, &txn),
                Outcome::Read(txn) => self.gc_read_done(agenda, &txn),
                Outcome::Program(txn) if txn.kind == Kind::HostProgram => {
                    self.host_program_done(agenda, &txn);
                }
                Outcome::Program(txn) => self.gc_program_done(agenda, &txn),
                Outcome::Erase(txn) => self.erase_done(agenda, &txn),
            }
        }
    }
}
