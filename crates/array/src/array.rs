//! Array device: host requests in, drive commands out, all in one virtual time.
//!
//! ```text
//! requests -+-> direct reads, levels without parity ------------------> drives
//!           \-> pages -> stripe cache -> write plans -> command batcher -> drives
//! rebuild, scrub ---^
//! ```
//!
//! Resource numbers: a contiguous range for each drive, then the array's own, then the host's. Drives never call the array:
//! the array drains the completions of a drive after each of its events. Drives are not generic devices: the array also
//! controls their GC windows, fail-fast reads, power and suspend limits.

mod assemble;
pub(crate) mod command_batcher;
mod command_submission;
mod completion_queue;
mod device;
mod drive_commands;
mod gc_coordination;
pub(crate) mod gc_windows;
mod mirrored_requests;
mod report;
mod requests;
mod resource_map;

use crate::array::command_batcher::PageCommand;
use crate::array::completion_queue::CompletionQueue;
pub(crate) use crate::array::drive_commands::Command;
use crate::array::drive_commands::DriveCommands;
pub use crate::array::drive_commands::Traffic;
use crate::array::gc_windows::GcWindows;
use crate::array::resource_map::ResourceToDrive;
use crate::config::{ArraySpec, Consistency};
use crate::content_audit::ContentAudit;
use crate::failure::background_sync::BackgroundSync;
use crate::failure::drive_failures::DriveFailures;
use crate::failure::mirror_resync::{CopyId, MirrorResync};
use crate::hedging::hedged_reads::{HedgedReads, Progress};
use crate::power_loss::partial_parity_log::Ppl;
use crate::power_loss::recovery::PowerRecovery;
use crate::raid::layout::{FastLayout, Layout, PageAddress};
use crate::stripes::cache::StripeCache;
use crate::stripes::update_statistics::UpdateStatistics;
use interpulse_drive::drive::Drive;
use interpulse_drive::host_interface::fifo::Line;
use interpulse_engine::account::check;
use interpulse_engine::{
    Device, DeviceEvent, Duration, EventQueue, Op, Request, RequestId, ResourceId, SimTime, Slab, Status,
    Tag, counters,
};
use std::collections::VecDeque;

/// Sectors of a 4 KiB page.
pub(crate) const UNIT_SECTORS: u64 = 8;
/// Pages that `sectors` sectors from sector `from` touch.
#[inline]
pub(crate) fn pages_of(from: u64, sectors: u64) -> u32 {
    (from % UNIT_SECTORS + sectors).div_ceil(UNIT_SECTORS) as u32
}

/// Drive request: `op` on `rows` rows from `row`.
#[inline]
pub(crate) fn request_of(op: Op, row: u32, rows: u32) -> Request {
    let sectors = rows * UNIT_SECTORS as u32;
    Request::new(op, u64::from(row) * UNIT_SECTORS, sectors)
}

/// Drive request: `op` on `sectors` sectors of the array from sector `from`, which are stored at `at`.
#[inline]
pub(crate) fn request_at(op: Op, at: PageAddress, from: u64, sectors: u64) -> Request {
    let sector = u64::from(at.row) * UNIT_SECTORS + from % UNIT_SECTORS;
    Request::new(op, sector, sectors as u32)
}

/// Timers of the array, before those of its host: stripe-cache hits, scheduled failures, background sync, GC windows, power
/// cut.
const OWN_RESOURCES: u32 = 5;

counters! {
    /// Array activity.
    pub struct ArrayCounters {
        /// read commands to drives
        drive_reads: "commands",
        /// write commands to drives
        drive_writes: "commands",
        /// data pages written to drives through the stripe cache
        data_pages: "pages",
        /// parity pages written to drives
        parity_pages: "pages",
        /// pages read to compute parity
        preread_pages: "pages",
        /// full-stripe writes, in rows
        full_stripe_writes: "rows",
        /// rows written by read-modify-write
        read_modify_writes: "rows",
        /// rows written by reconstruct-write
        reconstruct_writes: "rows",
        /// rows whose writes were delayed until the prereads before them completed
        delayed: "rows",
        /// page writes that waited for an earlier write of the same sectors
        overlaps: "pages",
        /// requests that waited for a free stripe head
        cache_waits: "requests",
        /// pages that the host read from a missing drive
        degraded_reads: "pages",
        /// rows written with a drive missing
        degraded_writes: "rows",
        /// pages of failed commands that were reread one by one
        reread_pages: "pages",
        /// uncorrectable page reads
        media_error_pages: "pages",
        /// uncorrectable pages that were reconstructed from the other drives and written back
        repaired_pages: "pages",
        /// pages that could be reconstructed neither from parity nor from a mirror
        unrecovered_pages: "pages",
        /// write commands to the partial parity log
        log_writes: "commands",
        /// pages written to the partial parity log, headers included
        log_pages: "pages",
        /// rows whose parity was recomputed after a power cut
        resynced_rows: "rows",
        /// sampled pages of a failed drive that no request was writing and that a power cut made unrecoverable (write hole)
        write_hole_pages: "pages",
        /// host writes that waited for a mirror resync of their rows
        held_writes: "requests",
        /// rows rebuilt
        rebuilt_rows: "rows",
        /// rows scrubbed
        scrubbed_rows: "rows",
        /// sampled rows with wrong parity or different copies found by a scrub
        scrub_mismatches: "rows",
        /// reads that drives failed at once instead of waiting for an operation
        fast_failed_reads: "commands",
        /// of these, reads that were reissued and waited because the stripe cache had no room
        fast_failed_waits: "commands",
        /// pages of such reads that were read from their drive after all, because a page to reconstruct them from failed fast, too
        abandoned_reconstructions: "pages",
        /// page reads, programs and erases of garbage collection outside the drive's GC window
        gc_forced: "operations",
        /// reads issued a second time because their drive had not completed them in time
        hedged_reads: "commands",
        /// of these, reads whose second read answered first
        hedges_won: "commands",
        /// reads that were not issued a second time: no other copy, a row that was being written or repaired, or a full stripe cache
        hedges_refused: "commands",
        /// pages of second reads that were given up because their row was written or repaired meanwhile
        hedges_given_up: "pages",
        /// 4 KiB pages that second reads read from drives
        hedge_pages: "pages",
    }
}

/// Host request in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    op: Op,
    pub(crate) tag: Tag,
    bytes: u64,
    submitted: SimTime,
    /// Some of its data could not be read.
    pub(crate) failed: bool,
    /// Parts in flight, the submission itself included.
    parts: u32,
}

/// Rest of a host request that waits for a stripe head.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubRequest {
    pub(crate) job: RequestId,
    pub(crate) op: Op,
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) via: Via,
}

/// Source of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Via {
    /// Drive that stores the data.
    Drive,
    /// Page by page through the stripe cache: the drive could not correct part of the range.
    Reread,
    /// Reconstruction: the drive could not correct this page.
    Parity,
    /// Reconstruction: the read failed fast on the drive.
    Others,
}

struct DriveCompletion {
    id: RequestId,
    /// Command that entered the queue with it.
    entered: Option<RequestId>,
    op: Op,
    bytes: u64,
    latency: Duration,
    failed: bool,
    busy: bool,
}

impl DriveCompletion {
    /// Removes the completion of `drive` (at most one per event) and checks its latency attribution. `None` for another
    /// event.
    #[inline(always)]
    fn pop(drive: &mut Drive, now: SimTime) -> Option<DriveCompletion> {
        let Some(DeviceEvent::Completed(done)) = drive.event() else { return None };
        let latency = now.since(done.submitted);
        if let Some(account) = done.account {
            check(latency, account);
        }
        let mut ended = DriveCompletion {
            id: done.id,
            entered: None,
            op: done.op,
            bytes: done.bytes,
            latency,
            failed: done.status != Status::Success,
            busy: done.busy,
        };
        drive.pop_event();
        ended.entered = drive.entered().map(|(id, _)| id);
        Some(ended)
    }
}

/// Several drives behind one address space.
pub struct Array {
    pub(crate) spec: ArraySpec,
    pub(crate) layout: Layout,
    /// Precomputed layout for the hot paths; `None` for mirrored levels.
    pub(crate) direct: Option<FastLayout>,
    pub(crate) drives: Vec<Drive>,
    /// Drive of each resource; hidden while the array is down, so that only events without a drive need a check.
    pub(crate) resource_map: ResourceToDrive,
    pub(crate) resources_per_drive: u32,
    /// Drive at each array position; `None` after a failure without replacement.
    pub(crate) slots: Vec<Option<usize>>,
    pub(crate) drive_commands: Vec<DriveCommands>,
    pub(crate) jobs: Slab<RequestId, Job>,
    /// Completions not yet reported to the host.
    pub(crate) completions: CompletionQueue,
    /// An event since [`Device::flush`] may allow waiting work to continue.
    pub(crate) unsettled: bool,
    pub(crate) host_timers: u32,
    /// Time of the power cut, if configured.
    pub(crate) cut_at: Option<Duration>,
    pub(crate) cache: StripeCache,
    pub(crate) contents: ContentAudit,
    pub(crate) batch: Vec<PageCommand>,
    pub(crate) spare_lists: Vec<Vec<u32>>,
    pub(crate) blocked: VecDeque<SubRequest>,
    pub(crate) delayed: Vec<u32>,
    /// Stripe heads that are prereading.
    pub(crate) prereading: u32,
    /// Update statistics, if configured.
    pub(crate) updates: Option<Box<UpdateStatistics>>,
    pub(crate) cached: Line,
    /// Host writes that wait for a mirror resync.
    pub(crate) held: Vec<SubRequest>,
    pub(crate) mirror_resyncs: Slab<CopyId, MirrorResync>,
    /// Partial parity log, if configured.
    pub(crate) ppl: Option<Ppl>,
    pub(crate) recovery: PowerRecovery,
    /// Requests outstanding at the power cut.
    pub(crate) lost_requests: u64,
    pub(crate) failures: DriveFailures,
    pub(crate) sync: Option<BackgroundSync>,
    /// Scrub that a drive failure has stopped.
    pub(crate) scrub: Option<BackgroundSync>,
    /// Resync that a drive failure has ended.
    pub(crate) ended_resync: Option<BackgroundSync>,
    pub(crate) gc_windows: Option<GcWindows>,
    pub(crate) gc_windows_asleep: bool,
    /// Hedged reads, if a flow hedges.
    pub(crate) hedging: Option<Box<HedgedReads>>,
    /// The drives have predictable latency mode.
    pub(crate) has_windows: bool,
    /// Reads may fail fast or be hedged.
    pub(crate) observes_reads: bool,
    pub(crate) counters: ArrayCounters,
    pub(crate) before_window: ArrayCounters,
    pub(crate) measured: ArrayCounters,
    /// Traffic of each drive in the last measurement window.
    pub(crate) of_drives: Vec<Traffic>,
    pub(crate) issued: u64,
    pub(crate) completed: u64,
    pub(crate) closed: bool,
}

impl Array {
    /// Creates an array of `drives`; drives after the first `spec.drives` replace failed ones. The audit samples one in
    /// `sample` rows.
    pub(crate) fn new(
        spec: ArraySpec,
        layout: Layout,
        drives: Vec<Drive>,
        resources_per_drive: u32,
        host_timers: u32,
        sample: u32,
    ) -> Array {
        let n = drives.len();
        Array {
            spec,
            layout,
            direct: FastLayout::of(&layout),
            resource_map: ResourceToDrive::new(resources_per_drive),
            resources_per_drive,
            slots: (0..spec.drives as usize).map(Some).collect(),
            drive_commands: vec![DriveCommands::default(); n],
            jobs: Slab::default(),
            completions: CompletionQueue::default(),
            unsettled: false,
            host_timers,
            cut_at: None,
            cache: StripeCache::new(spec.stripe_heads, spec.drives),
            contents: ContentAudit::new(layout, sample),
            batch: Vec::new(),
            spare_lists: Vec::new(),
            blocked: VecDeque::new(),
            delayed: Vec::new(),
            prereading: 0,
            updates: None,
            cached: Line::new(ResourceId(resources_per_drive * n as u32)),
            held: Vec::new(),
            mirror_resyncs: Slab::default(),
            ppl: (spec.consistency == Consistency::Ppl).then(|| Ppl::new(spec.drives, spec.log_units)),
            recovery: PowerRecovery::default(),
            lost_requests: 0,
            failures: DriveFailures::new(spec.drives),
            sync: None,
            scrub: None,
            ended_resync: None,
            gc_windows: spec.coordination.gc_window.map(GcWindows::new),
            gc_windows_asleep: false,
            hedging: None,
            has_windows: false,
            observes_reads: spec.coordination.fail_fast,
            counters: ArrayCounters::default(),
            before_window: ArrayCounters::default(),
            measured: ArrayCounters::default(),
            of_drives: Vec::new(),
            issued: 0,
            completed: 0,
            closed: false,
            drives,
        }
    }

    pub(crate) fn own(&self, k: u32) -> ResourceId {
        ResourceId(self.drives.len() as u32 * self.resources_per_drive + k)
    }

    /// Resource of the host's `k`-th timer.
    #[inline(always)]
    pub(crate) fn host_resource(&self, k: u32) -> ResourceId {
        self.own(OWN_RESOURCES + k)
    }

    // ---- events ---------------------------------------------------------------------------------------

    #[inline(always)]
    pub(crate) fn on_event(&mut self, events: &mut EventQueue, resource: ResourceId) -> Option<u32> {
        let d = self.resource_map.drive(resource);
        let Some(drive) = self.drives.get_mut(d) else {
            return self.on_other_event(events, resource);
        };
        drive.handle(events, resource);
        if drive.has_event() {
            let ended = DriveCompletion::pop(drive, events.now());
            self.on_completion(events, d, ended);
        }
        None
    }

    /// While the array is down, drives only power up and execute recovery commands.
    #[cold]
    fn on_event_while_down(&mut self, events: &mut EventQueue, resource: ResourceId) {
        let physical = (resource.0 / self.resources_per_drive) as usize;
        self.drives[physical].handle(events, resource);
        if let Some(DeviceEvent::PowerRestored) = self.drives[physical].event() {
            self.drives[physical].pop_event();
        }
        if self.restart_if_ready(events) || self.drives[physical].has_event() {
            let ended = DriveCompletion::pop(&mut self.drives[physical], events.now());
            self.on_completion(events, physical, ended);
        }
    }

    pub(crate) fn set_down(&mut self, down: bool) {
        self.resource_map.hide(down);
    }

    /// Handles an event of the array, or of a drive while the array is down.
    #[inline(never)]
    fn on_other_event(&mut self, events: &mut EventQueue, resource: ResourceId) -> Option<u32> {
        if resource < self.own(0) {
            self.on_event_while_down(events, resource);
            return None;
        }
        match resource.0 - self.own(0).0 {
            0 => {
                let reader = self.cached.pop(events);
                self.cached_page_done(events, reader);
            }
            1 => self.fail_scheduled(events),
            2 => self.on_sync_timer(events),
            3 => self.on_gc_window(events),
            4 => drop(self.cut_power(events)),
            k if k == OWN_RESOURCES + self.host_timers => self.on_hedge_timer(events),
            of_host => return Some(of_host - OWN_RESOURCES),
        }
        self.unsettled = true;
        None
    }

    /// Gives a command of a drive its number, if it has entered its queue while none has completed.
    #[cold]
    fn on_entered(&mut self, physical: usize) {
        let drive = &mut self.drives[physical];
        if let Some(DeviceEvent::Entered) = drive.event() {
            drive.pop_event();
            if let Some((entered, _)) = drive.entered()
                && self.drive_commands[physical].enter(entered)
            {
                drive.allow_fail_fast(entered);
            }
        }
    }

    /// Handles an event of a drive: a completed command, or power restored.
    #[inline(always)]
    fn on_completion(&mut self, events: &mut EventQueue, physical: usize, ended: Option<DriveCompletion>) {
        self.unsettled = true;
        let Some(DriveCompletion { id, entered, op, bytes, latency, failed, busy }) = ended else {
            return self.on_entered(physical);
        };
        let drive_commands = &mut self.drive_commands[physical];
        if let Some(entered) = entered
            && drive_commands.enter(entered)
        {
            self.drives[physical].allow_fail_fast(entered);
        }
        drive_commands.outstanding -= 1;
        match op {
            Op::Read => drive_commands.measured.read_bytes += bytes,
            Op::Write => drive_commands.measured.written_bytes += bytes,
            Op::Flush => {}
            _ => unreachable!("an array passes no {op:?} to its drives"),
        }
        drive_commands.measured.latencies.record(op, latency);
        let command = &mut drive_commands.commands[id.index()];
        if let Command::Host { job, .. } = *command
            && !failed
            && !busy
        {
            *command = Command::None;
            self.end_part(job);
            return;
        }
        self.command_ended(events, physical, id, failed, busy);
    }

    /// Handles every completion except a successful part of a host request.
    #[inline(never)]
    fn command_ended(
        &mut self,
        events: &mut EventQueue,
        physical: usize,
        id: RequestId,
        failed: bool,
        busy: bool,
    ) {
        let command = std::mem::take(&mut self.drive_commands[physical].commands[id.index()]);
        if busy {
            match command {
                Command::Pages { heads, drive } => self.sources_failed_fast(events, heads, drive),
                Command::Hedged { id, second } => {
                    self.hedged_read_ended(events, physical, id, second, Progress::Busy);
                }
                other => self.failed_fast(events, physical, other),
            }
        } else {
            self.command_done(events, physical, command, failed);
        }
    }

    fn command_done(&mut self, events: &mut EventQueue, physical: usize, command: Command, failed: bool) {
        match command {
            Command::None => unreachable!("a drive completes only issued commands"),
            Command::Host { job, read, failures } => {
                self.host_part_failed(events, physical, job, read, failures);
            }
            Command::Hedged { id, second } => {
                let how = if failed { Progress::Failed } else { Progress::Done };
                self.hedged_read_ended(events, physical, id, second, how);
            }
            Command::CopiedWrite { job, first, rows } => {
                self.jobs.get_mut(job).failed |= failed;
                self.write_ended(events, physical, first, rows);
                self.part_done(job);
            }
            Command::CopyRead(of) => self.copy_read(events, of, physical, failed),
            Command::CopyWrite { id, drive, all } => {
                let there = self.slots[drive as usize] == Some(physical);
                self.copy_written(events, id, drive, all, there);
            }
            Command::Log { drive, unit } => self.logged(events, drive, unit),
            Command::Recovery => self.recovery_command_done(events),
            Command::Pages { mut heads, drive } => {
                let there = self.slots[drive as usize] == Some(physical);
                for &h in &heads {
                    if failed && there && heads.len() > 1 {
                        self.reread(h, drive);
                        continue;
                    }
                    if failed {
                        self.page_failed(h, drive, there);
                    }
                    self.page_moved(events, h, drive, there);
                }
                heads.clear();
                self.spare_lists.push(heads);
            }
        }
    }
}
