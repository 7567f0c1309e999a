//! The array: host requests in, drive commands out, all in one virtual time.
//!
//! ```text
//! flows -> requests -+-> reads of what a drive holds, RAID-0 and RAID-1 --------> drives
//!                    \-> pages -> stripe cache -> plans -> outbox (merged) -----> drives
//!                    rebuild, scrub --^
//! ```
//!
//! Each drive has a contiguous range of the agenda's resources, the array the ones after them. Drives never call up: after
//! each event of a drive its completions are drained.

use crate::contents::Contents;
use crate::layout::Layout;
use crate::outbox::PageMove;
use crate::stripe_cache::{PageRead, PageWrite, StripeCache};
use crate::sync::Sync;
use interpulse_drive::config::{ArraySpec, FailureSpec, Level};
use interpulse_drive::drive::Drive;
use interpulse_drive::drive::stats::WindowStats;
use interpulse_drive::host::line::Line;
use interpulse_engine::{Agenda, Duration, ResourceId, SimTime, Slab, counters};
use interpulse_workload::{Flow, Op, Pacing, Request};
use std::collections::VecDeque;

/// Sectors of a unit.
pub(crate) const UNIT_SECTORS: u64 = 8;
/// The array's own resources before its flows: reads from the stripe cache, the failure, rebuild or scrub.
pub(crate) const OWN_RESOURCES: u32 = 3;

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
        /// rows rebuilt
        rebuilt_rows: "rows",
        /// rows scrubbed
        scrubbed_rows: "rows",
        /// followed rows whose parity a scrub found wrong
        scrub_mismatches: "rows",
    }
}

/// A flow of the host.
pub(crate) struct FlowState {
    pub(crate) flow: Flow,
    depth: u32,
    next: Option<Request>,
    exhausted: bool,
}

/// A request of the host under way.
#[derive(Clone, Copy, Debug)]
struct Job {
    op: Op,
    flow: u32,
    bytes: u64,
    submitted: SimTime,
    /// What is left to do, its submission included.
    parts: u32,
}

/// What a drive was asked for.
#[derive(Clone, Debug, Default)]
pub(crate) enum Command {
    /// Nothing.
    #[default]
    None,
    /// Part of a host request.
    Host { job: u32 },
    /// Pages of heads, as the drive in this place.
    Pages { heads: Vec<u32>, drive: u32 },
}

/// The rest of a host request that waits for room in the stripe cache.
#[derive(Clone, Copy, Debug)]
struct Piece {
    job: u32,
    op: Op,
    from: u64,
    to: u64,
}

/// Several drives as one.
pub struct Array {
    pub(crate) spec: ArraySpec,
    pub(crate) layout: Layout,
    pub(crate) drives: Vec<Drive>,
    /// Resources of a drive.
    per_drive: u32,
    /// The drive in each place; `None` where one was lost and not replaced.
    pub(crate) slots: Vec<Option<usize>>,
    /// Commands outstanding, by drive and number.
    commands: Vec<Vec<Command>>,
    /// Their number by drive.
    pending: Vec<u32>,
    pub(crate) flows: Vec<FlowState>,
    jobs: Slab<Job>,
    /// Flows to ask for their next request.
    refill: Vec<u32>,
    pub(crate) cache: StripeCache,
    pub(crate) contents: Contents,
    pub(crate) outbox: Vec<PageMove>,
    pub(crate) spare_lists: Vec<Vec<u32>>,
    blocked: VecDeque<Piece>,
    pub(crate) delayed: Vec<u32>,
    /// Heads that may read before they write.
    pub(crate) prereading: u32,
    cached: Line,
    /// The place of the drive that was lost, and when.
    pub(crate) lost: Option<(u32, SimTime)>,
    pub(crate) sync: Option<Sync>,
    pub(crate) counters: ArrayCounters,
    before_window: ArrayCounters,
    pub(crate) measured: ArrayCounters,
    /// What each drive measured in the window that has ended.
    pub(crate) drive_windows: Vec<WindowStats>,
    window: WindowStats,
    issued: u64,
    completed: u64,
    pub(crate) closed: bool,
    failure: Option<String>,
}

impl Array {
    /// An array of `drives`, each with `per_drive` resources from zero on; the one after the array's own takes the place
    /// of a lost one. One in `sample` rows is followed by the audit.
    pub fn new(
        spec: ArraySpec,
        layout: Layout,
        drives: Vec<Drive>,
        per_drive: u32,
        flows: Vec<Flow>,
        sample: u32,
    ) -> Array {
        let n = drives.len();
        let state = |flow: Flow| {
            let depth = match flow.pacing() {
                Pacing::Closed { depth } => depth,
                Pacing::Open => 0,
            };
            FlowState { flow, depth, next: None, exhausted: false }
        };
        let flows: Vec<FlowState> = flows.into_iter().map(state).collect();
        Array {
            spec,
            layout,
            per_drive,
            slots: (0..spec.drives as usize).map(Some).collect(),
            commands: vec![Vec::new(); n],
            pending: vec![0; n],
            window: WindowStats::new(flows.len()),
            flows,
            jobs: Slab::default(),
            refill: Vec::new(),
            cache: StripeCache::new(spec.stripe_heads, spec.drives),
            contents: Contents::new(layout, sample),
            outbox: Vec::new(),
            spare_lists: Vec::new(),
            blocked: VecDeque::new(),
            delayed: Vec::new(),
            prereading: 0,
            cached: Line::new(ResourceId(per_drive * n as u32)),
            lost: None,
            sync: None,
            counters: ArrayCounters::default(),
            before_window: ArrayCounters::default(),
            measured: ArrayCounters::default(),
            drive_windows: Vec::new(),
            issued: 0,
            completed: 0,
            closed: false,
            failure: None,
            drives,
        }
    }

    pub(crate) fn own(&self, k: u32) -> ResourceId {
        ResourceId(self.per_drive * self.drives.len() as u32 + k)
    }

    // ---- flows --------------------------------------------------------------------------------------

    fn start_flows(&mut self, agenda: &mut Agenda) {
        for f in 0..self.flows.len() {
            if let Some((at, request)) = self.next_of(f) {
                self.arm_flow(agenda, f, at, request);
            }
        }
    }

    fn arm_flow(&mut self, agenda: &mut Agenda, f: usize, at: SimTime, request: Request) {
        if at > agenda.horizon() {
            self.flows[f].exhausted = true;
            self.failure = Some(format!(
                "flow `{}`: a request arrives at {at}, later than the {} that an array of this size can simulate",
                self.flows[f].flow.name(),
                agenda.horizon()
            ));
            return;
        }
        self.flows[f].next = Some(request);
        agenda.arm(self.own(OWN_RESOURCES + f as u32), at.max(agenda.now()));
    }

    fn next_of(&mut self, f: usize) -> Option<(SimTime, Request)> {
        let state = &mut self.flows[f];
        if state.exhausted {
            return None;
        }
        match state.flow.next() {
            Ok(Some(next)) => Some(next),
            Ok(None) => {
                state.exhausted = true;
                None
            }
            Err(error) => {
                state.exhausted = true;
                self.failure = Some(error.to_string());
                None
            }
        }
    }

    fn on_flow(&mut self, agenda: &mut Agenda, f: usize) {
        let request = self.flows[f].next.take().expect("a flow's timer is armed for a request");
        if self.closed {
            return;
        }
        self.submit(agenda, f, request);
        if self.flows[f].depth > 0 {
            self.refill.extend((1..self.flows[f].depth).map(|_| f as u32));
        } else if let Some((at, request)) = self.next_of(f) {
            self.arm_flow(agenda, f, at, request);
        }
    }

    fn submit_next(&mut self, agenda: &mut Agenda, f: usize) {
        if self.closed {
            return;
        }
        if self.flows[f].flow.stop().is_some_and(|stop| agenda.now() >= stop) {
            self.flows[f].exhausted = true;
        }
        if let Some((_, request)) = self.next_of(f) {
            self.submit(agenda, f, request);
        }
    }

    // ---- requests -------------------------------------------------------------------------------------

    fn submit(&mut self, agenda: &mut Agenda, f: usize, request: Request) {
        self.issued += 1;
        let bytes = u64::from(request.sectors) * 512;
        let job = Job { op: request.op, flow: f as u32, bytes, submitted: agenda.now(), parts: 1 };
        let job = self.jobs.insert(job);
        match request.op {
            Op::Flush => {
                for physical in self.slots.clone().into_iter().flatten() {
                    self.part(agenda, job, physical, Request::FLUSH);
                }
                self.part_done(agenda, job);
            }
            Op::Trim => unreachable!("a configuration that trims an array is refused"),
            Op::Read | Op::Write => {
                let piece = Piece { job, op: request.op, from: request.sector, to: request.end() };
                if self.spec.level != Level::Raid5 {
                    self.pass_through(agenda, piece);
                } else if self.blocked.is_empty() {
                    self.enter(agenda, piece);
                } else {
                    self.counters.cache_waits += 1;
                    self.blocked.push_back(piece);
                }
            }
        }
    }

    /// Sends part of `job` to a drive.
    fn part(&mut self, agenda: &mut Agenda, job: u32, physical: usize, request: Request) {
        self.jobs.get_mut(job).parts += 1;
        self.command(agenda, physical, request, Command::Host { job });
    }

    pub(crate) fn command(&mut self, agenda: &mut Agenda, physical: usize, request: Request, what: Command) {
        match request.op {
            Op::Read => self.counters.drive_reads += 1,
            Op::Write => self.counters.drive_writes += 1,
            Op::Trim | Op::Flush => {}
        }
        self.pending[physical] += 1;
        let id = self.drives[physical].submit_request(agenda, request) as usize;
        let commands = &mut self.commands[physical];
        if commands.len() <= id {
            commands.resize_with(id + 1, Command::default);
        }
        commands[id] = what;
    }

    /// RAID-0 and RAID-1: straight to the drives, chunk by chunk.
    fn pass_through(&mut self, agenda: &mut Agenda, piece: Piece) {
        let mut from = piece.from;
        while from < piece.to {
            let (place, sectors) = self.stretch(from, piece.to);
            let units = (from % UNIT_SECTORS + sectors).div_ceil(UNIT_SECTORS) as u32;
            let request = Request {
                op: piece.op,
                sector: u64::from(place.row) * UNIT_SECTORS + from % UNIT_SECTORS,
                sectors: sectors as u32,
            };
            let mirrored = self.spec.level == Level::Raid1;
            if piece.op == Op::Read {
                let nearest = (0..self.drives.len()).min_by_key(|&d| self.pending[d]);
                let drive =
                    if mirrored { nearest.expect("an array has drives") } else { place.drive as usize };
                for row in place.row..place.row + units {
                    if self.contents.follows(row) {
                        self.contents.read_through(row, place.drive, drive as u32);
                    }
                }
                self.part(agenda, piece.job, drive, request);
            } else {
                for row in place.row..place.row + units {
                    if self.contents.follows(row) {
                        let version = self.contents.issue(row, place.drive);
                        self.contents.write_through(row, place.drive, version);
                        // Complete when its drives say so: until then a read may return either, and the drives'
                        // own audits hold them to the order of submission.
                        self.contents.acknowledge(row, place.drive, version);
                    }
                }
                let all = if mirrored {
                    0..self.drives.len()
                } else {
                    place.drive as usize..place.drive as usize + 1
                };
                for drive in all {
                    self.part(agenda, piece.job, drive, request);
                }
            }
            from += sectors;
        }
        self.part_done(agenda, piece.job);
    }

    /// Where sector `from` lies, and how many sectors up to `to` follow it on the same drive.
    fn stretch(&self, from: u64, to: u64) -> (crate::layout::Place, u64) {
        let unit = from / UNIT_SECTORS;
        let (place, units) = self.layout.run(unit, to.div_ceil(UNIT_SECTORS) - unit);
        (place, to.min((unit + units) * UNIT_SECTORS) - from)
    }

    /// RAID-5: reads of what a drive holds go to it; all else goes page by page into the stripe cache, and what is there
    /// is looked at when the whole request is.
    fn enter(&mut self, agenda: &mut Agenda, mut piece: Piece) {
        let mut touched = self.spare_lists.pop().unwrap_or_default();
        let mut blocked = false;
        while piece.from < piece.to {
            let (place, sectors) = self.stretch(piece.from, piece.to);
            let units = (piece.from % UNIT_SECTORS + sectors).div_ceil(UNIT_SECTORS) as u32;
            if piece.op == Op::Read && self.readable(place.row + units - 1) >> place.drive & 1 == 1 {
                self.read_directly(agenda, &piece, place, units, sectors);
                piece.from += sectors;
                continue;
            }
            let Some(h) = self.take_head(place.row) else {
                self.counters.cache_waits += 1;
                self.blocked.push_front(piece);
                blocked = true;
                break;
            };
            let first = piece.from % UNIT_SECTORS;
            let end = (first + piece.to - piece.from).min(UNIT_SECTORS);
            self.jobs.get_mut(piece.job).parts += 1;
            let followed = self.contents.follows(place.row);
            if piece.op == Op::Read {
                let least = if followed { self.contents.acknowledged(place.row, place.drive) } else { 0 };
                self.counters.degraded_reads += 1;
                self.cache.head_mut(h).reads.push(PageRead { job: piece.job, drive: place.drive, least });
            } else {
                let version = if followed { self.contents.issue(place.row, place.drive) } else { 0 };
                let sectors = ((1u32 << end) - (1u32 << first)) as u8;
                self.add_write(h, PageWrite { job: piece.job, drive: place.drive, sectors, version });
            }
            touched.push(h);
            piece.from += end - first;
        }
        for &h in &touched {
            if !self.cache.is_idle(h) {
                self.look_at(agenda, h);
            }
        }
        touched.clear();
        self.spare_lists.push(touched);
        if !blocked {
            self.part_done(agenda, piece.job);
        }
    }

    fn read_directly(
        &mut self,
        agenda: &mut Agenda,
        piece: &Piece,
        place: crate::layout::Place,
        units: u32,
        sectors: u64,
    ) {
        for row in place.row..place.row + units {
            if self.contents.follows(row) {
                self.contents.read_through(row, place.drive, place.drive);
            }
        }
        let sector = u64::from(place.row) * UNIT_SECTORS + piece.from % UNIT_SECTORS;
        let request = Request { op: Op::Read, sector, sectors: sectors as u32 };
        let physical = self.slots[place.drive as usize].expect("a drive that can be read is there");
        self.part(agenda, piece.job, physical, request);
    }

    /// A head for `row`, if there is one.
    pub(crate) fn take_head(&mut self, row: u32) -> Option<u32> {
        let (h, given_up) = self.cache.take(row)?;
        if let Some(old) = given_up
            && self.contents.follows(old)
        {
            self.contents.evict(old);
        }
        Some(h)
    }

    /// A page has been answered from the stripe cache.
    pub(crate) fn answer_cached(&mut self, agenda: &mut Agenda, job: u32) {
        let at = agenda.now() + self.spec.cache_latency;
        self.cached.push(agenda, at, job);
    }

    /// One part less of `job`.
    pub(crate) fn part_done(&mut self, agenda: &mut Agenda, job: u32) {
        let of = self.jobs.get_mut(job);
        of.parts -= 1;
        if of.parts > 0 {
            return;
        }
        let done = self.jobs.remove(job);
        self.completed += 1;
        let latency = agenda.now().since(done.submitted);
        self.window.flows[done.flow as usize].record(done.op, latency);
        let counters = &mut self.window.counters;
        counters.requests += 1;
        match done.op {
            Op::Read => counters.read_bytes += done.bytes,
            Op::Write => counters.written_bytes += done.bytes,
            Op::Trim | Op::Flush => {}
        }
        if self.flows[done.flow as usize].depth > 0 {
            self.refill.push(done.flow);
        }
    }

    // ---- events ---------------------------------------------------------------------------------------

    /// Arms the flows, the failure and the scrub.
    pub(crate) fn begin(&mut self, agenda: &mut Agenda) {
        for drive in &mut self.drives {
            drive.start(agenda);
        }
        self.start_flows(agenda);
        if let Some(FailureSpec { at, .. }) = self.spec.failure {
            agenda.arm(self.own(1), SimTime::ZERO + at);
        }
        self.start_scrub(agenda);
    }

    pub(crate) fn on_event(&mut self, agenda: &mut Agenda, resource: ResourceId) {
        let d = (resource.0 / self.per_drive) as usize;
        if d < self.drives.len() {
            self.drives[d].handle(agenda, resource);
            let mut any = false;
            while let Some(id) = self.drives[d].next_completion() {
                any = true;
                self.command_done(agenda, d, id);
            }
            if !any {
                return;
            }
        } else {
            match resource.0 - self.own(0).0 {
                0 => {
                    let job = self.cached.pop(agenda);
                    self.part_done(agenda, job);
                }
                1 => self.fail(agenda),
                2 => self.on_sync_timer(agenda),
                flow => self.on_flow(agenda, (flow - OWN_RESOURCES) as usize),
            }
        }
        self.settle(agenda);
    }

    fn command_done(&mut self, agenda: &mut Agenda, physical: usize, id: u32) {
        self.pending[physical] -= 1;
        match std::mem::take(&mut self.commands[physical][id as usize]) {
            Command::None => unreachable!("a drive completes what it was asked for"),
            Command::Host { job } => self.part_done(agenda, job),
            Command::Pages { mut heads, drive } => {
                let there = self.slots[drive as usize] == Some(physical);
                for &h in &heads {
                    self.page_moved(agenda, h, drive, there);
                }
                heads.clear();
                self.spare_lists.push(heads);
            }
        }
    }

    /// Goes on with what has been waiting for something that may have happened.
    fn settle(&mut self, agenda: &mut Agenda) {
        loop {
            if self.prereading == 0 && !self.delayed.is_empty() {
                self.activate_delayed(agenda);
            } else if !self.blocked.is_empty() && self.cache.has_room() {
                let piece = self.blocked.pop_front().expect("one is waiting");
                self.enter(agenda, piece);
            } else if let Some(f) = self.refill.pop() {
                self.submit_next(agenda, f as usize);
            } else if !self.sync_rows(agenda) {
                break;
            }
        }
        self.flush_outbox(agenda);
    }

    // ---- accounts -------------------------------------------------------------------------------------

    pub(crate) fn unfinished(&self) -> usize {
        let commands: u32 = if self.closed { self.pending.iter().sum() } else { 0 };
        self.jobs.live() + commands as usize
    }

    pub(crate) fn is_exhausted(&self) -> bool {
        self.closed || self.flows.iter().all(|f| f.exhausted)
    }

    pub(crate) fn issued_and_completed(&self) -> (u64, u64) {
        (self.issued, self.completed)
    }

    pub(crate) fn why_failed(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    pub(crate) fn begin_window(&mut self) {
        self.window = WindowStats::new(self.flows.len());
        self.before_window = self.counters;
        self.drives.iter_mut().for_each(Drive::reset_window);
    }

    pub(crate) fn close_window(&mut self, now: SimTime) -> WindowStats {
        self.drive_windows = self.drives.iter_mut().map(|drive| drive.end_window(now)).collect();
        self.measured = self.counters.since(&self.before_window);
        let mut window = std::mem::replace(&mut self.window, WindowStats::new(self.flows.len()));
        for (_, job) in self.jobs.iter() {
            window.outstanding(job.op, Duration::from_ns(now.as_ns() - job.submitted.as_ns()));
        }
        // What is counted inside the drives; requests and bytes are the host's.
        for of in self.drive_windows.iter().map(|w| &w.counters) {
            let all = &mut window.counters;
            all.cache_read_hits += of.cache_read_hits;
            all.unmapped_reads += of.unmapped_reads;
            all.cache_overwrites += of.cache_overwrites;
            all.cache_stalls += of.cache_stalls;
            all.read_modify_writes += of.read_modify_writes;
            all.command_timeouts_read += of.command_timeouts_read;
            all.command_timeouts_write += of.command_timeouts_write;
            all.command_timeouts_other += of.command_timeouts_other;
        }
        window
    }

    pub(crate) fn standing(&self, agenda: &Agenda) -> String {
        let mut text = format!(
            "at {} nothing is going to happen, yet {} requests are outstanding: {} wait for the stripe cache ({} of {} \
             heads in use), {} rows are delayed, {} read ahead, commands by drive {:?}",
            agenda.now(),
            self.jobs.live(),
            self.blocked.len(),
            self.cache.active(),
            self.cache.most(),
            self.delayed.len(),
            self.prereading,
            self.pending
        );
        for drive in self.drives.iter().filter(|d| d.outstanding() > 0) {
            text += &format!("; {}", drive.diagnosis(agenda));
        }
        text
    }
}
