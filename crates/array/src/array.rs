//! The array: host requests in, drive commands out, all in one virtual time.
//!
//! ```text
//! requests -+-> reads of what a drive holds, levels without parity ----> drives
//!           \-> pages -> stripe cache -> plans -> outbox (merged) -----> drives
//!           rebuild, scrub --^
//! ```
//!
//! Each drive has a contiguous range of the agenda's resources, the array the ones after them, those of its host last. Drives
//! never call up: after each event of a drive its completions are drained.
//!
//! An array is a device made of devices. They are drives and nothing more general: it asks them not only for requests, but
//! to take turns, to fail fast, to lose power and to change their limits of suspensions.

mod coordinate;
mod copies;
mod device;
mod log;
mod losses;
mod media;
mod mirrors;
mod outage;
mod outbox;
mod requests;
mod sync;

use crate::config::{ArraySpec, Consistency};
use crate::contents::Contents;
use crate::copying::{CopyId, CopyRead, Copying, Sectors};
use crate::layout::{Direct, Layout, Place};
use crate::losses::Losses;
use crate::outage::Recovery;
use crate::outbox::PageMove;
use crate::owners::Owners;
use crate::ppl::Ppl;
use crate::stripe_cache::StripeCache;
use crate::sync::Sync;
use crate::turns::Turns;
use crate::untold::Untold;
use crate::updates::Updates;
use interpulse_drive::drive::Drive;
use interpulse_drive::host_interface::fifo::Line;
use interpulse_engine::account::check;
use interpulse_engine::{
    Agenda, Device, Duration, Latencies, News, Op, Request, RequestId, ResourceId, SimTime, Slab, Tag,
    counters,
};
use std::collections::VecDeque;

/// Sectors of a unit.
pub(crate) const UNIT_SECTORS: u64 = 8;
/// Pages that `sectors` from sector `from` on touch.
#[inline]
fn pages_of(from: u64, sectors: u64) -> u32 {
    (from % UNIT_SECTORS + sectors).div_ceil(UNIT_SECTORS) as u32
}

/// What a drive is asked for so that it does `op` to so many rows from this one on.
#[inline]
fn request_of(op: Op, row: u32, rows: u32) -> Request {
    let sectors = rows * UNIT_SECTORS as u32;
    Request { op, sector: u64::from(row) * UNIT_SECTORS, sectors }
}

/// What a drive is asked for so that it does `op` to `sectors` from sector `from` of the array on, which lie at `at`.
#[inline]
fn request_at(op: Op, at: Place, from: u64, sectors: u64) -> Request {
    let sector = u64::from(at.row) * UNIT_SECTORS + from % UNIT_SECTORS;
    Request { op, sector, sectors: sectors as u32 }
}

/// The array's own resources before those of its host: reads from the stripe cache, the failure, rebuild or scrub, turns of
/// garbage collection, a power cut.
pub(crate) const OWN_RESOURCES: u32 = 5;

counters! {
    /// What the array did.
    pub struct ArrayCounters {
        /// commands to drives that read
        drive_reads: "commands",
        /// commands to drives that write
        drive_writes: "commands",
        /// data pages written to drives by way of the stripe cache
        data_pages: "pages",
        /// parity pages written to drives
        parity_pages: "pages",
        /// pages read so that a parity could be computed
        preread_pages: "pages",
        /// rows written whole
        full_stripe_writes: "rows",
        /// rows written by read-modify-write
        read_modify_writes: "rows",
        /// rows written by reconstruct-write
        reconstruct_writes: "rows",
        /// rows whose writes waited until the rows before them had been read
        delayed: "rows",
        /// page writes that waited for an earlier write of the same sectors
        overlaps: "pages",
        /// requests that waited for room in the stripe cache
        cache_waits: "requests",
        /// pages that the host read from a lost drive
        degraded_reads: "pages",
        /// rows written with a drive missing
        degraded_writes: "rows",
        /// pages of failed commands that were read again, one by one
        reread_pages: "pages",
        /// pages that a drive could not correct
        media_error_pages: "pages",
        /// pages that a drive could not correct, had from the others and written back
        repaired_pages: "pages",
        /// pages that neither a drive nor parity nor a mirror could give
        unrecovered_pages: "pages",
        /// commands that write partial parity
        log_writes: "commands",
        /// pages written with partial parity, headers included
        log_pages: "pages",
        /// rows whose parity was computed again after a power cut
        resynced_rows: "rows",
        /// followed pages of a lost drive that nobody was writing and that a power cut before had made unrecoverable
        write_hole_pages: "pages",
        /// writes of the host that waited while copies of their rows were brought into line
        held_writes: "requests",
        /// rows rebuilt
        rebuilt_rows: "rows",
        /// rows scrubbed
        scrubbed_rows: "rows",
        /// followed rows whose parity or copies a scrub found wrong
        scrub_mismatches: "rows",
        /// reads that drives failed at once because they would have had to wait for garbage collection
        fast_failed_reads: "commands",
        /// of these, reads that were told to wait after all because the stripe cache had no room
        fast_failed_waits: "commands",
        /// page reads, programs and erases of garbage collection that did not wait for their drive's turn
        gc_forced: "operations",
    }
}

/// A request of the host under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    op: Op,
    /// What the host calls it.
    tag: Tag,
    bytes: u64,
    submitted: SimTime,
    /// Some of its data could not be had.
    pub(crate) failed: bool,
    /// What is left to do, its submission included.
    parts: u32,
}

/// What a drive was asked for.
#[derive(Clone, Debug, Default)]
pub(crate) enum Command {
    /// Nothing.
    #[default]
    None,
    /// Part of a host request: a read of this stretch of the array, which has failed so many times, or anything else.
    Host { job: RequestId, read: Option<Sectors>, failures: u32 },
    /// Pages of heads, as the drive in this place.
    Pages { heads: Vec<u32>, drive: u32 },
    /// One of the copies of what a host request writes: the rows from this one on.
    CopiedWrite { job: RequestId, first: Place, rows: u32 },
    /// Rows of copies being brought into line.
    CopyRead(CopyRead),
    /// All such rows, or one page, written as the drive in this place.
    CopyWrite { id: CopyId, drive: u32, all: bool },
    /// Partial parity of rows, as the drive in this place.
    Log { drive: u32, unit: u64 },
    /// Part of mending rows after a power cut.
    Mend,
}

/// What a drive has been asked for.
#[derive(Clone, Default)]
struct Asked {
    /// Commands that it has not completed.
    outstanding: u32,
    /// By number.
    commands: Vec<Command>,
    /// What it has completed since the window began.
    measured: Traffic,
}

impl Asked {
    /// Notes a command with a number that none has had.
    #[cold]
    fn note_first(&mut self, id: usize, what: Command) {
        self.commands.resize_with(id, Command::default);
        self.commands.push(what);
    }
}

/// Commands that a drive completed in a window. Their causes are checked and not kept: a request is several commands, and
/// tables by cause for each of many drives would cost more time than all else that an array does.
#[derive(Clone, Default)]
pub struct Traffic {
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Latencies of its commands.
    pub latencies: Latencies,
}

/// The rest of a host request that waits for room in the stripe cache.
#[derive(Clone, Copy, Debug)]
struct Piece {
    job: RequestId,
    op: Op,
    from: u64,
    to: u64,
    via: Via,
}

/// How a read gets at its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Via {
    /// From the drive that holds it.
    Drive,
    /// The drive could not correct some of it: page by page by way of the stripe cache.
    Reread,
    /// The drive could not correct this page: from all others.
    Parity,
    /// The drive would have had to wait for garbage collection: from all others.
    Others,
}

/// A command of a drive that has come to its end.
struct Ended {
    id: RequestId,
    op: Op,
    bytes: u64,
    latency: Duration,
    failed: bool,
    busy: bool,
}

impl Ended {
    /// What `drive` has to tell now, of which there is at most one after an event; its account is checked. `None` if it is
    /// not the end of a command.
    #[inline(always)]
    fn taken_from(drive: &mut Drive, now: SimTime) -> Option<Ended> {
        let Some(News::Completed(done)) = drive.news() else { return None };
        let latency = now.since(done.submitted);
        if let Some(account) = done.account {
            check(latency, account);
        }
        let ended = Ended {
            id: done.id,
            op: done.op,
            bytes: done.bytes,
            latency,
            failed: done.failed,
            busy: done.busy,
        };
        drive.take_news();
        Some(ended)
    }
}

/// Several drives as one.
pub struct Array {
    pub(crate) spec: ArraySpec,
    pub(crate) layout: Layout,
    /// The same where it is felt; `None` for levels with copies.
    direct: Option<Direct>,
    pub(crate) drives: Vec<Drive>,
    /// The drive of each resource; none while the array is down (power is off, or drives or logs are not ready), so that
    /// only events that find none have to ask whether it is.
    owners: Owners,
    /// Resources of each drive.
    per_drive: u32,
    /// The drive in each place; `None` where one was lost and not replaced.
    pub(crate) slots: Vec<Option<usize>>,
    /// What each drive has been asked for.
    asked: Vec<Asked>,
    pub(crate) jobs: Slab<RequestId, Job>,
    /// What the host has not been told yet.
    news: Untold,
    /// Something has happened since [`Device::flush`] that what waits may wait for.
    unsettled: bool,
    host_timers: u32,
    /// When power is cut, if it is.
    pub(crate) cut_at: Option<Duration>,
    pub(crate) cache: StripeCache,
    pub(crate) contents: Contents,
    pub(crate) outbox: Vec<PageMove>,
    pub(crate) spare_lists: Vec<Vec<u32>>,
    blocked: VecDeque<Piece>,
    pub(crate) delayed: Vec<u32>,
    /// Heads that may read before they write.
    pub(crate) prereading: u32,
    /// The writes to the drives' pages, if they are followed.
    pub(crate) updates: Option<Box<Updates>>,
    cached: Line,
    /// Writes that wait for rows that are closed to them.
    held: Vec<Piece>,
    copying: Slab<CopyId, Copying>,
    /// The partial parity log, if one is kept.
    pub(crate) ppl: Option<Ppl>,
    pub(crate) recovery: Recovery,
    /// Requests that had no answer when power was cut.
    lost_requests: u64,
    pub(crate) losses: Losses,
    pub(crate) sync: Option<Sync>,
    /// The scrub, when the loss of a drive has stopped it.
    pub(crate) scrub: Option<Sync>,
    /// The resync that the loss of a drive has ended.
    pub(crate) ended_resync: Option<Sync>,
    turns: Option<Turns>,
    turns_asleep: bool,
    pub(crate) counters: ArrayCounters,
    before_window: ArrayCounters,
    pub(crate) measured: ArrayCounters,
    /// What each drive measured in the window that has ended.
    pub(crate) of_drives: Vec<Traffic>,
    issued: u64,
    completed: u64,
    pub(crate) closed: bool,
}

impl Array {
    /// An array of `drives`, each with `per_drive` resources from zero on; the one after the array's own takes the place
    /// of a lost one. One in `sample` rows is followed by the audit.
    pub(crate) fn new(
        spec: ArraySpec,
        layout: Layout,
        drives: Vec<Drive>,
        per_drive: u32,
        host_timers: u32,
        sample: u32,
    ) -> Array {
        let n = drives.len();
        Array {
            spec,
            layout,
            direct: Direct::of(&layout),
            owners: Owners::new(per_drive),
            per_drive,
            slots: (0..spec.drives as usize).map(Some).collect(),
            asked: vec![Asked::default(); n],
            jobs: Slab::default(),
            news: Untold::default(),
            unsettled: false,
            host_timers,
            cut_at: None,
            cache: StripeCache::new(spec.stripe_heads, spec.drives),
            contents: Contents::new(layout, sample),
            outbox: Vec::new(),
            spare_lists: Vec::new(),
            blocked: VecDeque::new(),
            delayed: Vec::new(),
            prereading: 0,
            updates: None,
            cached: Line::new(ResourceId(per_drive * n as u32)),
            held: Vec::new(),
            copying: Slab::default(),
            ppl: (spec.consistency == Consistency::Ppl).then(|| Ppl::new(spec.drives, spec.log_units)),
            recovery: Recovery::default(),
            lost_requests: 0,
            losses: Losses::new(spec.drives),
            sync: None,
            scrub: None,
            ended_resync: None,
            turns: spec.coordination.gc_window.map(Turns::new),
            turns_asleep: false,
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
        ResourceId(self.drives.len() as u32 * self.per_drive + k)
    }

    // ---- events ---------------------------------------------------------------------------------------

    #[inline(always)]
    pub(crate) fn on_event(&mut self, agenda: &mut Agenda, resource: ResourceId) -> Option<u32> {
        let d = self.owners.of(resource);
        let Some(drive) = self.drives.get_mut(d) else {
            return self.on_other_event(agenda, resource);
        };
        // The array has no timers among a drive's.
        drive.handle(agenda, resource);
        if drive.has_news() {
            let ended = Ended::taken_from(drive, agenda.now());
            self.on_news(agenda, d, ended);
        }
        None
    }

    /// While power is off, or the array is mended, drives do nothing but come back and what mending asks of them.
    #[cold]
    fn on_event_while_down(&mut self, agenda: &mut Agenda, resource: ResourceId) {
        let physical = (resource.0 / self.per_drive) as usize;
        self.drives[physical].handle(agenda, resource);
        if let Some(News::Served) = self.drives[physical].news() {
            self.drives[physical].take_news();
        }
        if self.starts_again(agenda) || self.drives[physical].has_news() {
            let ended = Ended::taken_from(&mut self.drives[physical], agenda.now());
            self.on_news(agenda, physical, ended);
        }
    }

    /// The array goes down or serves again.
    pub(crate) fn set_down(&mut self, down: bool) {
        self.owners.hide(down);
    }

    /// An event of the array's own, or of a drive while the array is down.
    #[inline(never)]
    fn on_other_event(&mut self, agenda: &mut Agenda, resource: ResourceId) -> Option<u32> {
        if resource < self.own(0) {
            self.on_event_while_down(agenda, resource);
            return None;
        }
        match resource.0 - self.own(0).0 {
            0 => {
                let job = self.cached.pop(agenda);
                self.part_done(job);
            }
            1 => self.fail_chosen(agenda),
            2 => self.on_sync_timer(agenda),
            3 => self.on_turn(agenda),
            4 => self.cut_power(agenda),
            of_host => return Some(of_host - OWN_RESOURCES),
        }
        self.unsettled = true;
        None
    }

    /// A drive has told something: the end of a command, or else that it serves again.
    #[inline(always)]
    fn on_news(&mut self, agenda: &mut Agenda, physical: usize, ended: Option<Ended>) {
        self.unsettled = true;
        let Some(Ended { id, op, bytes, latency, failed, busy }) = ended else { return };
        let asked = &mut self.asked[physical];
        asked.outstanding -= 1;
        match op {
            Op::Read => asked.measured.read_bytes += bytes,
            Op::Write => asked.measured.written_bytes += bytes,
            Op::Trim | Op::Flush => {}
        }
        asked.measured.latencies.record(op, latency);
        let command = &mut asked.commands[id.index()];
        if let Command::Host { job, .. } = *command
            && !failed
            && !busy
        {
            *command = Command::None;
            self.end_part(job);
            return;
        }
        self.command_ended(agenda, physical, id, failed, busy);
    }

    /// Anything but a part of a host request that went well.
    #[inline(never)]
    fn command_ended(
        &mut self,
        agenda: &mut Agenda,
        physical: usize,
        id: RequestId,
        failed: bool,
        busy: bool,
    ) {
        let command = std::mem::take(&mut self.asked[physical].commands[id.index()]);
        if busy {
            self.failed_fast(agenda, physical, command);
        } else {
            self.command_done(agenda, physical, command, failed);
        }
    }

    fn command_done(&mut self, agenda: &mut Agenda, physical: usize, command: Command, failed: bool) {
        match command {
            Command::None => unreachable!("a drive completes what it was asked for"),
            Command::Host { job, read, failures } => {
                self.host_part_failed(agenda, physical, job, read, failures);
            }
            Command::CopiedWrite { job, first, rows } => {
                self.jobs.get_mut(job).failed |= failed;
                self.write_ended(agenda, physical, first, rows);
                self.part_done(job);
            }
            Command::CopyRead(of) => self.copy_read(agenda, of, physical, failed),
            Command::CopyWrite { id, drive, all } => {
                let there = self.slots[drive as usize] == Some(physical);
                self.copy_written(agenda, id, drive, all, there);
            }
            Command::Log { drive, unit } => self.logged(agenda, drive, unit),
            Command::Mend => self.mended(agenda),
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
                    self.page_moved(agenda, h, drive, there);
                }
                heads.clear();
                self.spare_lists.push(heads);
            }
        }
    }
}
