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
mod host;
pub mod outage;
mod owner;
pub mod request;
pub mod stats;
pub mod verify;
mod writes;

use crate::ftl::{Flash, Ftl, Outcome as FtlOutcome, REFILL, Tables};
use crate::host::line::Line;
use crate::host::link::Direction;
use crate::host::queues::Queues;
use crate::spec::DriveSpec;
use interpulse_engine::{Agenda, Duration, ResourceId, SimTime};
use interpulse_flash::nand::txn::{Kind, Txn};
use interpulse_flash::nand::{Nand, Outcome};
use interpulse_workload::Flow;
use outage::Outage;
use request::Requests;
use stats::WindowStats;
use std::collections::VecDeque;

pub use crate::ftl::GcTurn;
pub use crate::ftl::Rewritten;
pub use build::PreconditionedState;
pub use outage::{Cut, CutWrite};
pub use owner::Completion;

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
    /// Writes waiting for cache slots, in order.
    stalled: VecDeque<u32>,
    /// Whether there is power, if it may be lost.
    outage: Option<Outage>,
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
        self.ftl.start(&mut Flash { nand: &mut self.nand, agenda });
        self.arm_cut(agenda);
    }

    /// The timers behind those of the flows: the patrol, if blocks are rewritten for their age, then a cut and checkpoints.
    #[cold]
    #[inline(never)]
    fn on_later_timer(&mut self, agenda: &mut Agenda, index: u32) {
        match (self.spec.refreshes(), index) {
            (true, 0) => self.ftl.patrol(&mut Flash { nand: &mut self.nand, agenda }),
            (refreshes, index) if index == u32::from(refreshes) => self.on_power_timer(agenda),
            _ => self.ftl.checkpoint(&mut Flash { nand: &mut self.nand, agenda }),
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
        self.ftl.close();
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

    /// The tables of the FTL.
    pub fn tables(&self) -> &Tables {
        self.ftl.tables()
    }

    /// From now on garbage collection starts nothing but in lanes that are at the hard threshold, or goes on. What the
    /// flash array has been given runs to its end.
    pub fn hold_gc(&mut self, agenda: &mut Agenda, hold: bool) {
        self.ftl.hold_gc(&mut Flash { nand: &mut self.nand, agenda }, hold);
    }

    /// How the drive was set up.
    pub fn spec(&self) -> &DriveSpec {
        &self.spec
    }

    /// Blocks rewritten for their age or their reads.
    pub fn rewritten(&self) -> Rewritten {
        self.ftl.rewritten()
    }

    /// What garbage collection did in and out of turn, if an owner says when it may run.
    pub fn gc_turn(&self) -> &GcTurn {
        self.ftl.gc_turn()
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
        self.ftl.versions_checked()
    }

    fn drain_outcomes(&mut self, agenda: &mut Agenda) {
        while let Some(outcome) = self.nand.outcomes.pop() {
            // A timer of the array finishes at most one transaction, so the order is that of the events.
            debug_assert!(self.nand.outcomes.is_empty());
            let mut flash = Flash { nand: &mut self.nand, agenda };
            match outcome {
                Outcome::Read(txn) if txn.kind == Kind::HostRead => {
                    let failed = self.ftl.read_done(&mut flash, &txn);
                    self.host_read_done(agenda, &txn, failed);
                }
                Outcome::Read(txn) => self.ftl.gc_read_done(&mut flash, &txn),
                Outcome::Program(txn) => {
                    let room = self.ftl.program_done(&mut flash, &txn);
                    self.drain_ftl(agenda, Some(&txn));
                    if room {
                        self.room_in_cache(agenda);
                    }
                }
                Outcome::Erase(txn) => self.ftl.erase_done(&mut flash, &txn),
            }
        }
    }

    /// Goes on with the requests for which the FTL has done something; `program` is the one that has just ended.
    #[inline]
    fn drain_ftl(&mut self, agenda: &mut Agenda, program: Option<&Txn>) {
        while let Some(outcome) = self.ftl.next_outcome() {
            match outcome {
                FtlOutcome::Landed(id) => self.unit_landed(agenda, id, program.expect("by a program")),
                FtlOutcome::Dropped(id) => self.unit_dropped(agenda, id),
                FtlOutcome::Flushed(REFILL) => self.refilled(agenda),
                FtlOutcome::Flushed(id) => self.flush_ends(agenda, id),
            }
        }
    }
}
