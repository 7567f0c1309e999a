//! One drive in simulated time.
//!
//! ```text
//! queues -> link in -> firmware -> map -> dies -> decode -> link out -> completion
//!                          \-> (data over the link) -> cache -> programs -> map
//!                                           garbage collection -> reads, programs, erases
//! ```
//!
//! The drive owns a contiguous range of the event queue's resources but not the queue: its host (a run, an array) passes
//! that in, so that several drives share one virtual time.

mod abort_state;
mod aborts;
mod address_lists;
mod build;
mod commands;
mod compare;
mod device;
mod dram_accesses;
mod fault_injector;
mod faults;
mod firmware_tasks;
mod format;
mod format_state;
mod history;
pub mod hold_up;
mod inspect;
mod outage;
mod parked;
pub mod power_state;
mod queue_parts;
mod read_through;
mod state;
mod unit_events;
mod vectors;
pub mod verify;
mod window_state;
mod windows;
mod write_zeroes;
mod writes;
mod zones;

use crate::counters::DriveCounters;
use crate::dram::Dram;
use crate::firmware::Firmware;
use crate::ftl::{Flash, Ftl, FtlFamily, Outcome as FtlOutcome, REFILL};
use crate::host_interface::HostInterface;
use crate::host_interface::request::Requests;
use crate::host_interface::splitter::PartOf;
use crate::owner::Owner;
use crate::read_cache::ReadCache;
use crate::spec::DriveSpec;
use abort_state::Aborts;
use address_lists::AddressLists;
use fault_injector::FaultInjector;
use format_state::Formats;
use interpulse_engine::account::Cause;
use interpulse_engine::{EventQueue, RequestId, ResourceId, SimTime};
use interpulse_flash::command::Effect;
use interpulse_flash::nand::txn::{Kind, Txn};
use interpulse_flash::nand::{Nand, Suspension};
use power_state::Outage;
use window_state::LatencyWindows;

pub use crate::ftl::GcWindow;
pub use crate::ftl::Rewritten;
pub use format_state::Formatted;
pub use history::{BlockPast, History, StateFigures};
pub use power_state::{Cut, CutWrite};

/// One drive.
pub struct Drive {
    spec: DriveSpec,
    nand: Nand,
    ftl: FtlFamily,
    host: HostInterface,
    /// Firmware cores by task, if there are.
    firmware: Option<Box<Firmware>>,
    /// Read cache, if the drive has one.
    read_cache: Option<Box<ReadCache>>,
    /// Bus of the DRAM, if it has timing.
    dram: Option<Box<Dram>>,
    /// Whether formats, faults, firmware cores by task, a read cache, the queues of commands or a host that follows units take part in
    /// their execution.
    has_detours: bool,
    /// Whether writes of different namespaces or queues wait for different slots of the write cache.
    waits_apart: bool,
    place: ResourceMap,
    /// Power state, if power may be lost.
    outage: Option<Outage>,
    /// Whether the FTL follows the page reads of the host; see [`Ftl::follows_reads`].
    follows_reads: bool,
    /// Whether the end of a page read of the host may be computed ahead of time: the link queues ahead, and the FTL does not
    /// follow page reads.
    reads_end_early: bool,
    /// The run has ended: no more requests arrive.
    closed: bool,
    /// Faults to come, if the configuration has any.
    faults: Option<Box<FaultInjector>>,
    /// Formats, if the configuration has any.
    formats: Option<Box<Formats>>,
    /// Commands that the host aborts, if it does.
    aborts: Option<Box<Aborts>>,
    /// Windows of predictable latency mode, if the drive has it.
    windows: Option<Box<LatencyWindows>>,
    /// Lists of addresses of vector commands.
    vectors: AddressLists,
    /// Whether the host splits requests or aborts commands.
    watches_submissions: bool,
    /// Counters since the start.
    pub counters: DriveCounters,
}

/// Resources of a drive, in order: flash array, queues of the host interface, timers of the host, later timers.
#[derive(Clone, Copy)]
struct ResourceMap {
    first: u32,
    flash: u32,
    host_timers: u32,
}

impl ResourceMap {
    fn lines(&self) -> ResourceId {
        ResourceId(self.first + self.flash)
    }

    /// The `k`-th timer after those of the host.
    fn later(&self, k: u32) -> ResourceId {
        ResourceId(self.first + self.flash + HostInterface::LINES + self.host_timers + k)
    }
}

impl Drive {
    /// Event queue resources of a drive with this spec and `host_timers` timers of its host.
    pub fn resources(spec: &DriveSpec, host_timers: u32) -> u32 {
        Nand::resources(&spec.geometry)
            + HostInterface::LINES
            + host_timers
            + u32::from(spec.refreshes())
            + 2 * u32::from(spec.power_loss.is_some())
            + u32::from(spec.ftl.slc.is_some())
            + u32::from(spec.injects_faults())
            + Firmware::TIMERS * u32::from(spec.firmware.is_some())
            + u32::from(!spec.formats.is_empty())
            + u32::from(spec.host.abort_limit.is_some())
            + u32::from(spec.predictable_latency.is_some())
    }

    /// Number of the first timer of firmware cores by task among the later ones, if there are such cores.
    fn firmware_timer(spec: &DriveSpec) -> u32 {
        Drive::idle_timer(spec) + u32::from(spec.ftl.slc.is_some()) + u32::from(spec.injects_faults())
    }

    /// Number of the timer of formats among the later ones, if there are any.
    fn format_timer_index(spec: &DriveSpec) -> u32 {
        Drive::firmware_timer(spec) + Firmware::TIMERS * u32::from(spec.firmware.is_some())
    }

    /// Number of the timer of aborts among the later ones, if the host aborts commands.
    fn abort_timer_index(spec: &DriveSpec) -> u32 {
        Drive::format_timer_index(spec) + u32::from(!spec.formats.is_empty())
    }

    /// Number of the timer of predictable latency mode among the later ones, if the drive has it.
    fn window_timer_index(spec: &DriveSpec) -> u32 {
        Drive::abort_timer_index(spec) + u32::from(spec.host.abort_limit.is_some())
    }

    /// Number of the timer of idle time among the later ones, if the drive has an SLC cache.
    fn idle_timer(spec: &DriveSpec) -> u32 {
        u32::from(spec.refreshes()) + 2 * u32::from(spec.power_loss.is_some())
    }

    /// Timers after those of the host: the patrol, if blocks are refreshed, power loss and checkpoints, idle time, faults,
    /// firmware cores by task, formats, aborts, predictable latency mode.
    #[cold]
    #[inline(never)]
    fn on_later_timer(&mut self, events: &mut EventQueue, index: u32) {
        if self.faults.is_some() && index == Drive::fault_timer_index(&self.spec) {
            self.on_fault_timer(events);
            return;
        }
        if self.windows.is_some() && index == Drive::window_timer_index(&self.spec) {
            return self.on_window_timer(events);
        }
        if self.aborts.is_some() && index == Drive::abort_timer_index(&self.spec) {
            return self.on_abort_timer(events);
        }
        if self.formats.is_some() && index == Drive::format_timer_index(&self.spec) {
            return self.on_format_timer(events);
        }
        if self.firmware.is_some() && index >= Drive::firmware_timer(&self.spec) {
            return self.on_firmware_timer(events, index - Drive::firmware_timer(&self.spec));
        }
        match (self.spec.refreshes(), index) {
            (_, index) if self.spec.ftl.slc.is_some() && index == Drive::idle_timer(&self.spec) => {
                let outstanding = self.host.requests.live() > 0;
                self.ftl.idle_timer(&mut Flash { nand: &mut self.nand, events }, outstanding);
            }
            (true, 0) => self.ftl.patrol(&mut Flash { nand: &mut self.nand, events }),
            (refreshes, index) if index == u32::from(refreshes) => self.on_power_timer(events),
            _ => self.ftl.checkpoint(&mut Flash { nand: &mut self.nand, events }),
        }
    }

    /// Commands outstanding for longer than the host's timeout; they have no latency yet at the end of a window.
    pub fn overdue(&self, now: SimTime) -> DriveCounters {
        let mut counters = DriveCounters::default();
        if let Some(limit) = self.spec.host.command_timeout {
            let late = self.host.all_commands().filter(|&(_, submitted)| now.since(submitted) > limit);
            late.for_each(|(op, _)| counters.timed_out(op));
        }
        counters
    }

    /// Requests in the drive and its queues, by number.
    pub fn requests(&self) -> &Requests {
        &self.host.requests
    }

    /// Request of the host that the entry `id` of [`Drive::requests`] is a command of.
    pub fn part_of(&self, id: RequestId) -> PartOf {
        self.host.splitter.part_of(id)
    }

    /// The flash array.
    pub fn nand(&self) -> &Nand {
        &self.nand
    }

    /// Flash array, to settle its accounts at the end of a window.
    pub fn nand_mut(&mut self) -> &mut Nand {
        &mut self.nand
    }

    /// Replaces the suspension of programs and of erases, between two events; operations on their dies keep theirs. At a loss
    /// of power and in the energy that it needs, the new policies count.
    pub fn set_suspension(&mut self, suspension: Suspension) {
        self.spec.nand.set_suspension(suspension.clone());
        self.nand.set_suspension(suspension);
    }

    /// Operations issued to the flash array and not complete.
    pub fn operations(&self, events: &EventQueue) -> usize {
        let flash = self.place.first..self.place.first + self.place.flash;
        self.nand.pending() + self.host.leaving.to_come(events, flash)
    }

    /// Closes or opens the GC window. While closed, only lanes at the hard threshold start a collection; operations already
    /// issued to the flash array complete.
    pub fn hold_gc(&mut self, events: &mut EventQueue, hold: bool) {
        self.ftl.hold_gc(&mut Flash { nand: &mut self.nand, events }, hold);
    }

    /// Specification of the drive.
    pub fn spec(&self) -> &DriveSpec {
        &self.spec
    }

    fn take_ended(&mut self, events: &mut EventQueue) {
        while let Some(ended) = self.nand.next_ended() {
            let kind = self.nand.ended_txn(ended).kind;
            if matches!(kind, Kind::HostRead | Kind::GcRead) && !self.follows_reads {
                self.read_ended(events, ended);
                continue;
            }
            let txn = self.nand.remove_ended(ended);
            // A timer of the array ends at most one transaction, so the order is that of the events; or it ends programs or erases
            // that have pulsed together.
            let together = match txn.kind.command().effect {
                Effect::Programs => self.spec.nand.multi_plane_programs,
                Effect::Erases => self.spec.nand.multi_block.is_used(),
                Effect::Reads | Effect::Nothing => false,
            };
            debug_assert!(together || !self.nand.has_ended());
            let mut flash = Flash { nand: &mut self.nand, events };
            match txn.kind.command().effect {
                Effect::Reads => match Owner::of(&txn) {
                    Owner::Host(id) => {
                        let failed = self.ftl.read_done(&mut flash, &txn);
                        self.host_read_done(events, id, &txn, failed);
                    }
                    Owner::Gc(read) if self.firmware.is_some() => self.units_read(events, read, &txn),
                    Owner::Gc(read) => self.ftl.gc_read_done(&mut flash, read, &txn),
                    Owner::Map(_) | Owner::Translation(_) => self.map_read_done(events, &txn),
                    Owner::ReadAhead(fill) => {
                        let failed = self.ftl.read_done(&mut flash, &txn);
                        self.ahead_read_done(events, fill, failed);
                    }
                    owner => unreachable!("a page read of {owner:?}"),
                },
                Effect::Programs => {
                    let room = self.ftl.program_done(&mut flash, &txn);
                    self.drain_ftl(events, Some(&txn));
                    if room {
                        self.room_in_cache(events);
                    }
                }
                Effect::Erases => {
                    if self.ftl.erase_done(&mut flash, &txn) {
                        self.drain_ftl(events, None);
                    }
                }
                Effect::Nothing => unreachable!("the drive gives no {:?}", txn.kind),
            }
        }
    }

    /// Processes the outcomes of the FTL; `program` is the program that just ended.
    #[inline]
    fn drain_ftl(&mut self, events: &mut EventQueue, program: Option<&Txn>) {
        while let Some(outcome) = self.ftl.next_outcome() {
            match outcome {
                FtlOutcome::Landed(id) => self.unit_landed(events, id, program.expect("by a program")),
                FtlOutcome::Dropped(id) => self.unit_dropped(events, id),
                FtlOutcome::Mapped(id) => self.mapped(events, id),
                FtlOutcome::Formatted(number) => self.blocks_formatted(events, number),
                FtlOutcome::ZoneReset(id) => self.zone_changed(events, id, Cause::Erases),
                FtlOutcome::ZoneFinished(id) => self.zone_changed(events, id, Cause::OwnProgram),
                FtlOutcome::Flushed(REFILL) => self.refilled(events),
                FtlOutcome::Flushed(id) => self.flush_ends(events, id),
            }
        }
    }
}
