//! Host requests: admission, direct drive commands, stripe-cache entry and completion.

use crate::array::{Array, Command, Job, SubRequest, UNIT_SECTORS, Via, pages_of, request_at};
use crate::failure::mirror_resync::Sectors;
use crate::raid::bits;
use crate::raid::layout::PageAddress;
use crate::stripes::cache::{PageRead, PageWrite};
use interpulse_engine::{Device, DeviceEvent, EventQueue, Op, PrefetchDistance, Request, RequestId, Tag};

impl Array {
    #[inline(always)]
    pub(crate) fn accept(&mut self, events: &mut EventQueue, tag: Tag, request: Request) -> RequestId {
        self.issued += 1;
        if self.gc_windows_asleep {
            self.wake_gc_windows(events);
        }
        let bytes = u64::from(request.sectors) * 512;
        let job = Job { op: request.op, tag, bytes, submitted: events.now(), failed: false, parts: 1 };
        let job = self.jobs.insert(job);
        let whole = match request.op {
            Op::Read => self.read_whole(events, job, request.sector, request.end()),
            Op::Write => self.write_whole(events, job, request.sector, request.end()),
            _ => false,
        };
        if !whole {
            self.spread(events, job, request);
        }
        job
    }

    /// Passes prefetch hints to the drives, for the first page of `request` only: most requests have one.
    #[inline(always)]
    pub(crate) fn hint_drives(&self, request: &Request) {
        if request.op == Op::Read {
            self.hint_drive(request);
        } else {
            self.hint_drives_of_write(request);
        }
    }

    /// A write also updates, and usually reads, the parity of its row.
    #[inline(never)]
    fn hint_drives_of_write(&self, request: &Request) {
        if request.op == Op::Write
            && let Some(place) = self.hint_drive(request)
            && self.spec.level.parities() > 0
        {
            bits(self.layout.parity_mask(place.row))
                .for_each(|drive| self.hint_at(request, PageAddress { drive, ..place }));
        }
    }

    /// Hints the drive or the copies of the first page and returns its address.
    #[inline(always)]
    fn hint_drive(&self, request: &Request) -> Option<PageAddress> {
        let first = request.sector / UNIT_SECTORS;
        let Some(direct) = &self.direct else { return Some(self.hint_copies(request, first)) };
        let place = direct.place(first, first)?;
        self.hint_at(request, place);
        Some(place)
    }

    /// Hints all copies, since the read policy chooses one only at submission.
    #[inline(never)]
    fn hint_copies(&self, request: &Request, unit: u64) -> PageAddress {
        let place = self.layout.place(unit);
        self.layout.copies(place).for_each(|at| self.hint_at(request, at));
        place
    }

    #[inline(always)]
    fn hint_at(&self, request: &Request, at: PageAddress) {
        if let Some(physical) = self.slots[at.drive as usize] {
            let sector = u64::from(at.row) * UNIT_SECTORS;
            self.drives[physical].hint(&Request { sector, ..*request }, PrefetchDistance::Far);
        }
    }

    /// Distributes a request that is not a direct access to one drive.
    #[inline(never)]
    fn spread(&mut self, events: &mut EventQueue, job: RequestId, request: Request) {
        match request.op {
            Op::Flush => {
                for physical in self.slots.clone().into_iter().flatten() {
                    self.part(events, job, physical, Request::FLUSH, None);
                }
                self.part_done(job);
            }
            Op::Trim | Op::WriteZeroes | Op::Compare | Op::Append | Op::Zone(_) | Op::Vector(_) => {
                unreachable!("{:?} of arrays is rejected by the configuration", request.op)
            }
            Op::Read | Op::Write => {
                let (op, from, to) = (request.op, request.sector, request.end());
                let part = SubRequest { job, op, from, to, via: Via::Drive };
                if self.spec.level.parities() == 0 {
                    self.pass_through(events, part);
                } else {
                    self.enter_or_wait(events, part);
                }
            }
        }
    }

    /// Reads `job` directly if one drive holds all of it and no copy has to be chosen: most small reads.
    #[inline(always)]
    fn read_whole(&mut self, events: &mut EventQueue, job: RequestId, from: u64, to: u64) -> bool {
        let Some(direct) = &self.direct else { return false };
        let (first, last) = (from / UNIT_SECTORS, (to - 1) / UNIT_SECTORS);
        let Some(place) = direct.place(first, last) else { return false };
        let more = (last - first) as u32;
        if direct.has_parity() {
            let there = self.failures.absent == 0 || self.readable(place.row + more) >> place.drive & 1 == 1;
            if !there || !self.blocked.is_empty() {
                return false;
            }
        }
        let (physical, request) = self.through(place, more + 1, from, to - from);
        let what = Command::Host { job, read: Some(Sectors { from, to }), failures: 0 };
        if self.observes_reads {
            self.observed_read(events, physical, place.row + more, request, what);
        } else {
            self.send_hinted(events, physical, request, what);
        }
        true
    }

    /// Drive and request of a direct read.
    #[inline(always)]
    fn through(&mut self, place: PageAddress, units: u32, from: u64, sectors: u64) -> (usize, Request) {
        // Usually one page, never none.
        let (mut row, last) = (place.row, place.row + units - 1);
        loop {
            if self.contents.samples(row) {
                self.contents.read_through(row, place.drive, PageAddress { row, ..place });
            }
            if row == last {
                break;
            }
            row += 1;
        }
        let physical = self.slots[place.drive as usize].expect("a readable drive is present");
        (physical, request_at(Op::Read, place, from, sectors))
    }

    /// Submits one part of `job`; `read` is its range in the array.
    fn part(
        &mut self,
        events: &mut EventQueue,
        job: RequestId,
        physical: usize,
        request: Request,
        read: Option<Sectors>,
    ) {
        self.jobs.get_mut(job).parts += 1;
        self.command(events, physical, request, Command::Host { job, read, failures: 0 });
    }

    pub(crate) fn command(
        &mut self,
        events: &mut EventQueue,
        physical: usize,
        request: Request,
        what: Command,
    ) {
        self.send(events, physical, request, what);
    }

    /// Inlined body of [`Array::command`] for the hot paths.
    #[inline(always)]
    fn send(&mut self, events: &mut EventQueue, physical: usize, request: Request, what: Command) {
        self.drives[physical].hint(&request, PrefetchDistance::Far);
        self.send_hinted(events, physical, request, what);
    }

    /// Submits a request that [was hinted](Array::hint_drives).
    #[inline(always)]
    fn send_hinted(&mut self, events: &mut EventQueue, physical: usize, request: Request, what: Command) {
        match request.op {
            Op::Read => self.counters.drive_reads += 1,
            Op::Write => self.counters.drive_writes += 1,
            _ => {}
        }
        match self.drives[physical].submit(events, 0, Tag(0), request) {
            Some(id) => self.drive_commands[physical].note(id, what),
            None => self.drive_commands[physical].hold(what, false),
        }
    }

    /// Submits a read that may be hedged, fail-fast if [allowed](Array::may_fail_fast).
    #[cold]
    fn observed_read(
        &mut self,
        events: &mut EventQueue,
        physical: usize,
        row: u32,
        request: Request,
        what: Command,
    ) {
        let what = self.hedged(events, physical, what);
        if self.may_fail_fast(row) {
            self.fail_fast_command(events, physical, request, what);
        } else {
            self.send(events, physical, request, what);
        }
    }

    #[cold]
    pub(crate) fn fail_fast_command(
        &mut self,
        events: &mut EventQueue,
        physical: usize,
        request: Request,
        what: Command,
    ) {
        self.counters.drive_reads += 1;
        let (drive, commands) = (&mut self.drives[physical], &mut self.drive_commands[physical]);
        match drive.submit(events, 0, Tag(0), request) {
            Some(id) => {
                drive.allow_fail_fast(id);
                commands.note(id, what);
            }
            None => commands.hold(what, true),
        }
    }

    /// Distributes a request of a level without parity over the drives.
    pub(crate) fn pass_through(&mut self, events: &mut EventQueue, mut part: SubRequest) {
        while part.from < part.to {
            let (place, sectors) = self.stretch(part.from, part.to);
            if part.op == Op::Read {
                self.read_a_copy(events, &part, place, sectors);
            } else if self.spec.level.mirrors() {
                self.write_copies(events, &part, place, sectors);
            } else {
                self.write_directly(events, &part, place, sectors);
            }
            part.from += sectors;
        }
        self.part_done(part.job);
    }

    fn read_a_copy(&mut self, events: &mut EventQueue, part: &SubRequest, place: PageAddress, sectors: u64) {
        let units = pages_of(part.from, sectors);
        let (at, physical) = if self.spec.level.mirrors() {
            self.nearest(place, units, 0).expect("no drive is lost with all copies")
        } else {
            (place, place.drive as usize)
        };
        for k in 0..units {
            if self.contents.samples(place.row + k) {
                self.contents.read_through(place.row + k, place.drive, PageAddress { row: at.row + k, ..at });
            }
        }
        let request = request_at(Op::Read, at, part.from, sectors);
        let read = Some(Sectors { from: part.from, to: part.from + sectors });
        let mut what = Command::Host { job: part.job, read, failures: 0 };
        if self.observes_reads {
            what = self.hedged(events, physical, what);
        }
        self.jobs.get_mut(part.job).parts += 1;
        self.command(events, physical, request, what);
    }

    /// Writes `job` directly if one drive holds all of it and nothing else has to be written: small writes of RAID-0.
    #[inline(always)]
    fn write_whole(&mut self, events: &mut EventQueue, job: RequestId, from: u64, to: u64) -> bool {
        let Some(direct) = self.direct.as_ref().filter(|direct| !direct.has_parity()) else { return false };
        let (first, last) = (from / UNIT_SECTORS, (to - 1) / UNIT_SECTORS);
        let Some(place) = direct.place(first, last) else { return false };
        self.write_through(place, (last - first) as u32 + 1);
        let request = request_at(Op::Write, place, from, to - from);
        self.send_hinted(
            events,
            place.drive as usize,
            request,
            Command::Host { job, read: None, failures: 0 },
        );
        true
    }

    fn write_directly(
        &mut self,
        events: &mut EventQueue,
        part: &SubRequest,
        place: PageAddress,
        sectors: u64,
    ) {
        self.write_through(place, pages_of(part.from, sectors));
        let request = request_at(Op::Write, place, part.from, sectors);
        self.part(events, part.job, place.drive as usize, request, None);
    }

    /// Records a RAID-0 write of `units` pages from `place` for the audit.
    #[inline(always)]
    fn write_through(&mut self, place: PageAddress, units: u32) {
        for row in place.row..place.row + units {
            if self.contents.samples(row) {
                let version = self.contents.issue(row, place.drive);
                self.contents.write_through(row, place.drive, version, u32::MAX);
                // Acknowledged at submission for the audit: until completion a read may return either version, and the
                // drive's own audits check the order.
                self.contents.acknowledge(row, place.drive, version);
            }
        }
    }

    /// Address of sector `from`, and the number of contiguous sectors on the same drive, up to `to`.
    #[inline(always)]
    pub(crate) fn stretch(&self, from: u64, to: u64) -> (PageAddress, u64) {
        let unit = from / UNIT_SECTORS;
        let (place, units) = self.layout.run(unit, to.div_ceil(UNIT_SECTORS) - unit);
        (place, to.min((unit + units) * UNIT_SECTORS) - from)
    }

    /// RAID-5 and RAID-6: enters the stripe cache, in FIFO order with the requests that wait for a head.
    pub(crate) fn enter_or_wait(&mut self, events: &mut EventQueue, part: SubRequest) {
        if self.blocked.is_empty() {
            self.enter(events, part);
        } else {
            self.counters.cache_waits += 1;
            self.blocked.push_back(part);
        }
    }

    /// RAID-5 and RAID-6: readable data is read directly from its drive; every other page enters the stripe cache. The
    /// stripes are handled after the whole request has entered.
    pub(crate) fn enter(&mut self, events: &mut EventQueue, mut part: SubRequest) {
        let mut touched = self.spare_lists.pop().unwrap_or_default();
        let mut blocked = false;
        while part.from < part.to {
            let (place, sectors) = self.stretch(part.from, part.to);
            let units = pages_of(part.from, sectors);
            let there = self.readable(place.row + units - 1) >> place.drive & 1 == 1;
            if part.op == Op::Read && there && part.via == Via::Drive {
                self.read_directly(events, &part, place, units, sectors);
                part.from += sectors;
                continue;
            }
            let Some(h) = self.take_head(place.row) else {
                self.counters.cache_waits += 1;
                self.blocked.push_front(part);
                blocked = true;
                break;
            };
            let first = part.from % UNIT_SECTORS;
            let end = (first + part.to - part.from).min(UNIT_SECTORS);
            self.jobs.get_mut(part.job).parts += 1;
            let sampled = self.contents.samples(place.row);
            if part.op == Op::Read {
                let least = if sampled { self.contents.acknowledged(place.row, place.drive) } else { 0 };
                match part.via {
                    Via::Drive => self.counters.degraded_reads += 1,
                    Via::Reread => self.cache.head_mut(h).alone = true,
                    Via::Parity => self.cache.head_mut(h).mark_bad(place.drive),
                    Via::Others => self.cache.head_mut(h).avoid(place.drive),
                }
                self.cache.head_mut(h).reads.push(PageRead { job: part.job, drive: place.drive, least });
            } else {
                let version = if sampled { self.contents.issue(place.row, place.drive) } else { 0 };
                let sectors = ((1u32 << end) - (1u32 << first)) as u8;
                self.add_write(h, PageWrite { job: part.job, drive: place.drive, sectors, version });
            }
            touched.push(h);
            part.from += end - first;
        }
        for &h in &touched {
            if !self.cache.is_idle(h) {
                self.handle_stripe(events, h);
            }
        }
        touched.clear();
        self.spare_lists.push(touched);
        if !blocked {
            self.part_done(part.job);
        }
    }

    fn read_directly(
        &mut self,
        events: &mut EventQueue,
        part: &SubRequest,
        place: PageAddress,
        units: u32,
        sectors: u64,
    ) {
        let (physical, request) = self.through(place, units, part.from, sectors);
        self.jobs.get_mut(part.job).parts += 1;
        let read = Some(Sectors { from: part.from, to: part.from + sectors });
        let what = Command::Host { job: part.job, read, failures: 0 };
        if self.observes_reads {
            self.observed_read(events, physical, place.row + units - 1, request, what);
        } else {
            self.send(events, physical, request, what);
        }
    }

    /// Acquires a stripe head for `row`, if one is free.
    pub(crate) fn take_head(&mut self, row: u32) -> Option<u32> {
        let (h, given_up) = self.cache.take(row)?;
        if let Some(old) = given_up
            && self.contents.samples(old)
        {
            self.contents.evict(old);
        }
        Some(h)
    }

    /// Schedules the completion of a page served by the stripe cache.
    pub(crate) fn answer_cached(&mut self, events: &mut EventQueue, job: RequestId) {
        let at = events.now() + self.spec.cache_latency;
        self.cached.push(events, at, job);
    }

    #[inline(never)]
    pub(crate) fn part_done(&mut self, job: RequestId) {
        self.end_part(job);
    }

    /// Inlined body of `part_done` for the hot path: direct reads.
    #[inline(always)]
    pub(crate) fn end_part(&mut self, job: RequestId) {
        let of = self.jobs.get_mut(job);
        of.parts -= 1;
        if of.parts == 0 {
            self.completed += 1;
            self.completions.push(DeviceEvent::Completed(job));
        }
    }
}
