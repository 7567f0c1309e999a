//! One drive in simulated time.
//!
//! ```text
//! queues -> link in -> firmware -> map -> dies -> decode -> link out -> completion
//!                          \-> (data over the link) -> cache -> programs -> map
//!                                           garbage collection -> reads, programs, erases
//! ```
//!
//! The drive holds a contiguous range of the event queue's resources and never the event queue itself: its host (a
//! run, an array) passes it down, so several drives share one virtual time.

mod build;
mod commands;
pub mod counters;
mod device;
pub mod hold_up;
mod inspect;
mod outage;
pub mod power_state;
mod state;
pub mod verify;
mod writes;

use crate::ftl::{Flash, Ftl, FtlFamily, Outcome as FtlOutcome, REFILL};
use crate::host_interface::HostInterface;
use crate::host_interface::request::Requests;
use crate::spec::DriveSpec;
use counters::DriveCounters;
use interpulse_engine::{EventQueue, ResourceId, SimTime};
use interpulse_flash::command::Effect;
use interpulse_flash::nand::Nand;
use interpulse_flash::nand::txn::{Kind, Txn};
use power_state::Outage;

pub use crate::ftl::GcWindow;
pub use crate::ftl::Rewritten;
pub use power_state::{Cut, CutWrite};
pub use state::PreconditionedState;

/// One drive.
pub struct Drive {
    spec: DriveSpec,
    nand: Nand,
    ftl: FtlFamily,
    /// Queues, link, firmware, requests.
    host: HostInterface,
    /// Its resources on the event queue.
    place: ResourceMap,
    /// Whether there is power, if it may be lost.
    outage: Option<Outage>,
    /// No more requests are made (the end of a run).
    closed: bool,
    /// What it has counted since the start.
    pub counters: DriveCounters,
}

/// The resources of a drive, in their order: the flash array, the lines of the front, timers of the host, later timers.
#[derive(Clone, Copy)]
struct ResourceMap {
    first: u32,
    flash: u32,
    host_timers: u32,
}

impl ResourceMap {
    /// The first line of the front.
    fn lines(&self) -> ResourceId {
        ResourceId(self.first + self.flash)
    }

    /// The `k`-th timer behind those of the host.
    fn later(&self, k: u32) -> ResourceId {
        ResourceId(self.first + self.flash + HostInterface::LINES + self.host_timers + k)
    }
}

impl Drive {
    /// EventQueue resources a drive with this spec and so many timers of its host takes.
    pub fn resources(spec: &DriveSpec, host_timers: u32) -> u32 {
        Nand::resources(&spec.geometry)
            + HostInterface::LINES
            + host_timers
            + u32::from(spec.refreshes())
            + 2 * u32::from(spec.power_loss.is_some())
    }

    /// The timers behind those of the host: the patrol, if blocks are rewritten for their age, then a cut and checkpoints.
    #[cold]
    #[inline(never)]
    fn on_later_timer(&mut self, events: &mut EventQueue, index: u32) {
        match (self.spec.refreshes(), index) {
            (true, 0) => self.ftl.patrol(&mut Flash { nand: &mut self.nand, events }),
            (refreshes, index) if index == u32::from(refreshes) => self.on_power_timer(events),
            _ => self.ftl.checkpoint(&mut Flash { nand: &mut self.nand, events }),
        }
    }

    /// Commands that have been outstanding for longer than the host waits. Counted at the end of a measurement window: they
    /// have no latency yet.
    pub fn overdue(&self, now: SimTime) -> DriveCounters {
        let mut counters = DriveCounters::default();
        if let Some(limit) = self.spec.host.command_timeout {
            let late = self.host.requests.iter().filter(|(_, request)| now.since(request.submitted) > limit);
            late.for_each(|(_, request)| counters.timed_out(request.op));
        }
        counters
    }

    /// Requests made by the host and not completed, with their numbers.
    pub fn requests(&self) -> &Requests {
        &self.host.requests
    }

    /// The flash array.
    pub fn nand(&self) -> &Nand {
        &self.nand
    }

    /// The flash array, to settle its accounts at the end of a window.
    pub fn nand_mut(&mut self) -> &mut Nand {
        &mut self.nand
    }

    /// Operations that the flash array has been given and that have not ended.
    pub fn operations(&self, events: &EventQueue) -> usize {
        let flash = self.place.first..self.place.first + self.place.flash;
        self.nand.pending() + self.host.leaving.to_come(events, flash)
    }

    /// From now on garbage collection starts nothing but in lanes that are at the hard threshold, or goes on. What the
    /// flash array has been given runs to its end.
    pub fn hold_gc(&mut self, events: &mut EventQueue, hold: bool) {
        self.ftl.hold_gc(&mut Flash { nand: &mut self.nand, events }, hold);
    }

    /// How the drive was set up.
    pub fn spec(&self) -> &DriveSpec {
        &self.spec
    }

    /// Goes on with what has come to its end in the flash array.
    fn take_ended(&mut self, events: &mut EventQueue) {
        while let Some(ended) = self.nand.last_ended() {
            if matches!(ended.txn.kind, Kind::HostRead | Kind::GcRead) && !self.ftl.follows_reads() {
                self.read_ended(events);
                continue;
            }
            let Some(txn) = self.nand.take_ended() else { return };
            // A timer of the array ends at most one transaction, so the order is that of the events.
            debug_assert!(!self.nand.has_ended());
            let mut flash = Flash { nand: &mut self.nand, events };
            match txn.kind.command().effect {
                Effect::Reads if txn.kind == Kind::HostRead => {
                    let failed = self.ftl.read_done(&mut flash, &txn);
                    self.host_read_done(events, &txn, failed);
                }
                Effect::Reads => {
                    self.ftl.gc_read_done(&mut flash, &txn);
                    self.drain_ftl(events, None);
                }
                Effect::Programs => {
                    let room = self.ftl.program_done(&mut flash, &txn);
                    self.drain_ftl(events, Some(&txn));
                    if room {
                        self.room_in_cache(events);
                    }
                }
                Effect::Erases => self.ftl.erase_done(&mut flash, &txn),
                Effect::Nothing => unreachable!("the drive gives no {:?}", txn.kind),
            }
        }
    }

    /// Goes on with the requests for which the FTL has done something; `program` is the one that has just ended.
    #[inline]
    fn drain_ftl(&mut self, events: &mut EventQueue, program: Option<&Txn>) {
        while let Some(outcome) = self.ftl.next_outcome() {
            match outcome {
                FtlOutcome::Landed(id) => self.unit_landed(events, id, program.expect("by a program")),
                FtlOutcome::Dropped(id) => self.unit_dropped(events, id),
                FtlOutcome::Mapped(id) => self.mapped(events, id),
                FtlOutcome::Flushed(REFILL) => self.refilled(events),
                FtlOutcome::Flushed(id) => self.flush_ends(events, id),
            }
        }
    }
}
