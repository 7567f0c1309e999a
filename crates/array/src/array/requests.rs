//! Requests of the host on their way into the array, to the drives or into the stripe cache, and back.

use super::{Array, Command, Job, Piece, UNIT_SECTORS, Via, pages_of, request_at};
use crate::bits::bits;
use crate::copying::Sectors;
use crate::layout::Place;
use crate::stripe_cache::{PageRead, PageWrite};
use interpulse_engine::{Agenda, Ahead, Device, News, Op, Request, RequestId, Tag};

impl Array {
    #[inline(always)]
    pub(super) fn accept(&mut self, agenda: &mut Agenda, tag: Tag, request: Request) -> RequestId {
        self.issued += 1;
        if self.turns_asleep {
            self.wake_turns(agenda);
        }
        let bytes = u64::from(request.sectors) * 512;
        let job = Job { op: request.op, tag, bytes, submitted: agenda.now(), failed: false, parts: 1 };
        let job = self.jobs.insert(job);
        let whole = match request.op {
            Op::Read => self.read_whole(agenda, job, request.sector, request.end()),
            Op::Write => self.write_whole(agenda, job, request.sector, request.end()),
            Op::Trim | Op::Flush => false,
        };
        if !whole {
            self.spread(agenda, job, request);
        }
        job
    }

    /// Has drives fetch ahead what they will look up for `request`: for its first unit, since most have no other.
    #[inline(always)]
    pub(super) fn tell_drives(&self, request: &Request) {
        if request.op == Op::Read {
            self.tell_drive(request);
        } else {
            self.tell_drives_of_write(request);
        }
    }

    /// The parity of a row is written with it, and mostly read before.
    #[inline(never)]
    fn tell_drives_of_write(&self, request: &Request) {
        if request.op == Op::Write
            && let Some(place) = self.tell_drive(request)
            && self.spec.level.parities() > 0
        {
            bits(self.layout.parity_mask(place.row))
                .for_each(|drive| self.tell(request, Place { drive, ..place }));
        }
    }

    /// Tells the drive that holds the first unit, or those that do, and returns where it lies.
    #[inline(always)]
    fn tell_drive(&self, request: &Request) -> Option<Place> {
        let first = request.sector / UNIT_SECTORS;
        let Some(direct) = &self.direct else { return Some(self.tell_copies(request, first)) };
        let place = direct.place(first, first)?;
        self.tell(request, place);
        Some(place)
    }

    /// Which one will be read is not known yet.
    #[inline(never)]
    fn tell_copies(&self, request: &Request, unit: u64) -> Place {
        let place = self.layout.place(unit);
        self.layout.copies(place).for_each(|at| self.tell(request, at));
        place
    }

    #[inline(always)]
    fn tell(&self, request: &Request, at: Place) {
        if let Some(physical) = self.slots[at.drive as usize] {
            let sector = u64::from(at.row) * UNIT_SECTORS;
            self.drives[physical].expect(&Request { sector, ..*request }, Ahead::Far);
        }
    }

    /// Anything but a read or a write of what one drive holds.
    #[inline(never)]
    fn spread(&mut self, agenda: &mut Agenda, job: RequestId, request: Request) {
        match request.op {
            Op::Flush => {
                for physical in self.slots.clone().into_iter().flatten() {
                    self.part(agenda, job, physical, Request::FLUSH, None);
                }
                self.part_done(job);
            }
            Op::Trim => unreachable!("a configuration that trims an array is refused"),
            Op::Read | Op::Write => {
                let (op, from, to) = (request.op, request.sector, request.end());
                let piece = Piece { job, op, from, to, via: Via::Drive };
                if self.spec.level.parities() == 0 {
                    self.pass_through(agenda, piece);
                } else {
                    self.enter_or_wait(agenda, piece);
                }
            }
        }
    }

    /// Reads all of `job` from the drive that holds it, if one does and no copy has to be chosen: most small reads.
    #[inline(always)]
    fn read_whole(&mut self, agenda: &mut Agenda, job: RequestId, from: u64, to: u64) -> bool {
        let Some(direct) = &self.direct else { return false };
        let (first, last) = (from / UNIT_SECTORS, (to - 1) / UNIT_SECTORS);
        let Some(place) = direct.place(first, last) else { return false };
        let more = (last - first) as u32;
        if direct.has_parity() {
            let there = self.losses.absent == 0 || self.readable(place.row + more) >> place.drive & 1 == 1;
            if !there || !self.blocked.is_empty() {
                return false;
            }
        }
        let (physical, request) = self.through(place, more + 1, from, to - from);
        let what = Command::Host { job, read: Some(Sectors { from, to }), failures: 0 };
        if self.may_fail_fast(place.row + more) {
            self.fail_fast_command(agenda, physical, request, what);
        } else {
            self.send_told(agenda, physical, request, what);
        }
        true
    }

    /// The read of `sectors` from `from` on, which lie at `place`, and its drive.
    #[inline(always)]
    fn through(&mut self, place: Place, units: u32, from: u64, sectors: u64) -> (usize, Request) {
        // Mostly it is one, and never none.
        let (mut row, last) = (place.row, place.row + units - 1);
        loop {
            if self.contents.follows(row) {
                self.contents.read_through(row, place.drive, Place { row, ..place });
            }
            if row == last {
                break;
            }
            row += 1;
        }
        let physical = self.slots[place.drive as usize].expect("a drive that can be read is there");
        (physical, request_at(Op::Read, place, from, sectors))
    }

    /// Sends part of `job` to a drive: a `read` of this stretch of the array, or anything else.
    fn part(
        &mut self,
        agenda: &mut Agenda,
        job: RequestId,
        physical: usize,
        request: Request,
        read: Option<Sectors>,
    ) {
        self.jobs.get_mut(job).parts += 1;
        self.command(agenda, physical, request, Command::Host { job, read, failures: 0 });
    }

    pub(crate) fn command(&mut self, agenda: &mut Agenda, physical: usize, request: Request, what: Command) {
        self.send(agenda, physical, request, what);
    }

    /// As [`Array::command`], where it is felt.
    #[inline(always)]
    fn send(&mut self, agenda: &mut Agenda, physical: usize, request: Request, what: Command) {
        self.drives[physical].expect(&request, Ahead::Far);
        self.send_told(agenda, physical, request, what);
    }

    /// The same of what the drive [has been told of](Array::tell_drives).
    #[inline(always)]
    fn send_told(&mut self, agenda: &mut Agenda, physical: usize, request: Request, what: Command) {
        match request.op {
            Op::Read => self.counters.drive_reads += 1,
            Op::Write => self.counters.drive_writes += 1,
            Op::Trim | Op::Flush => {}
        }
        let id = self.drives[physical].submit(agenda, 0, Tag(0), request);
        self.note_command(physical, id, what);
    }

    /// A read of a row that fails fast if it may, see [`Array::may_fail_fast`].
    #[inline]
    fn read_command(
        &mut self,
        agenda: &mut Agenda,
        physical: usize,
        row: u32,
        request: Request,
        what: Command,
    ) {
        if self.may_fail_fast(row) {
            self.fail_fast_command(agenda, physical, request, what);
        } else {
            self.send(agenda, physical, request, what);
        }
    }

    #[cold]
    fn fail_fast_command(&mut self, agenda: &mut Agenda, physical: usize, request: Request, what: Command) {
        self.counters.drive_reads += 1;
        let id = self.drives[physical].submit_fail_fast(agenda, request);
        self.note_command(physical, id, what);
    }

    #[inline(always)]
    fn note_command(&mut self, physical: usize, id: RequestId, what: Command) {
        let id = id.index();
        let asked = &mut self.asked[physical];
        asked.outstanding += 1;
        let Some(free) = asked.commands.get_mut(id) else { return asked.note_first(id, what) };
        let nothing = std::mem::replace(free, what);
        // What would be found out again in every request: that there is nothing to drop.
        debug_assert!(matches!(nothing, Command::None), "the drive has told the end of {nothing:?}");
        std::mem::forget(nothing);
    }

    /// Levels without parity: straight to the drives, chunk by chunk.
    pub(super) fn pass_through(&mut self, agenda: &mut Agenda, mut piece: Piece) {
        while piece.from < piece.to {
            let (place, sectors) = self.stretch(piece.from, piece.to);
            if piece.op == Op::Read {
                self.read_a_copy(agenda, &piece, place, sectors);
            } else if self.spec.level.mirrors() {
                self.write_copies(agenda, &piece, place, sectors);
            } else {
                self.write_directly(agenda, &piece, place, sectors);
            }
            piece.from += sectors;
        }
        self.part_done(piece.job);
    }

    fn read_a_copy(&mut self, agenda: &mut Agenda, piece: &Piece, place: Place, sectors: u64) {
        let units = pages_of(piece.from, sectors);
        let (at, physical) = if self.spec.level.mirrors() {
            self.nearest(place, units, 0).expect("no drive is lost with all copies")
        } else {
            (place, place.drive as usize)
        };
        for k in 0..units {
            if self.contents.follows(place.row + k) {
                self.contents.read_through(place.row + k, place.drive, Place { row: at.row + k, ..at });
            }
        }
        let request = request_at(Op::Read, at, piece.from, sectors);
        self.part(
            agenda,
            piece.job,
            physical,
            request,
            Some(Sectors { from: piece.from, to: piece.from + sectors }),
        );
    }

    /// Writes all of `job` to the drive that holds it, if one does and nothing else has to be written: small writes of
    /// RAID-0.
    #[inline(always)]
    fn write_whole(&mut self, agenda: &mut Agenda, job: RequestId, from: u64, to: u64) -> bool {
        let Some(direct) = self.direct.as_ref().filter(|direct| !direct.has_parity()) else { return false };
        let (first, last) = (from / UNIT_SECTORS, (to - 1) / UNIT_SECTORS);
        let Some(place) = direct.place(first, last) else { return false };
        self.write_through(place, (last - first) as u32 + 1);
        let request = request_at(Op::Write, place, from, to - from);
        self.send_told(agenda, place.drive as usize, request, Command::Host { job, read: None, failures: 0 });
        true
    }

    /// RAID-0.
    fn write_directly(&mut self, agenda: &mut Agenda, piece: &Piece, place: Place, sectors: u64) {
        self.write_through(place, pages_of(piece.from, sectors));
        let request = request_at(Op::Write, place, piece.from, sectors);
        self.part(agenda, piece.job, place.drive as usize, request, None);
    }

    /// Follows what a write of RAID-0 does to `units` units from `place` on.
    #[inline(always)]
    fn write_through(&mut self, place: Place, units: u32) {
        for row in place.row..place.row + units {
            if self.contents.follows(row) {
                let version = self.contents.issue(row, place.drive);
                self.contents.write_through(row, place.drive, version, u32::MAX);
                // Complete when its drive says so: until then a read may return either, and the drive's
                // own audits hold it to the order of submission.
                self.contents.acknowledge(row, place.drive, version);
            }
        }
    }

    /// Where sector `from` lies, and how many sectors up to `to` follow it on the same drive.
    #[inline(always)]
    pub(super) fn stretch(&self, from: u64, to: u64) -> (Place, u64) {
        let unit = from / UNIT_SECTORS;
        let (place, units) = self.layout.run(unit, to.div_ceil(UNIT_SECTORS) - unit);
        (place, to.min((unit + units) * UNIT_SECTORS) - from)
    }

    /// RAID-5 and RAID-6: goes on with this piece, behind those that wait for room in the stripe cache.
    pub(super) fn enter_or_wait(&mut self, agenda: &mut Agenda, piece: Piece) {
        if self.blocked.is_empty() {
            self.enter(agenda, piece);
        } else {
            self.counters.cache_waits += 1;
            self.blocked.push_back(piece);
        }
    }

    /// RAID-5 and RAID-6: reads of what a drive holds go to it; all else goes page by page into the stripe cache, and what is there
    /// is looked at when the whole request is.
    pub(super) fn enter(&mut self, agenda: &mut Agenda, mut piece: Piece) {
        let mut touched = self.spare_lists.pop().unwrap_or_default();
        let mut blocked = false;
        while piece.from < piece.to {
            let (place, sectors) = self.stretch(piece.from, piece.to);
            let units = pages_of(piece.from, sectors);
            let there = self.readable(place.row + units - 1) >> place.drive & 1 == 1;
            if piece.op == Op::Read && there && piece.via == Via::Drive {
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
                match piece.via {
                    Via::Drive => self.counters.degraded_reads += 1,
                    Via::Reread => self.cache.head_mut(h).alone = true,
                    Via::Parity => self.cache.head_mut(h).mark_bad(place.drive),
                    Via::Others => self.cache.head_mut(h).avoid(place.drive),
                }
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
            self.part_done(piece.job);
        }
    }

    fn read_directly(&mut self, agenda: &mut Agenda, piece: &Piece, place: Place, units: u32, sectors: u64) {
        let (physical, request) = self.through(place, units, piece.from, sectors);
        self.jobs.get_mut(piece.job).parts += 1;
        let read = Some(Sectors { from: piece.from, to: piece.from + sectors });
        let what = Command::Host { job: piece.job, read, failures: 0 };
        self.read_command(agenda, physical, place.row + units - 1, request, what);
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
    pub(crate) fn answer_cached(&mut self, agenda: &mut Agenda, job: RequestId) {
        let at = agenda.now() + self.spec.cache_latency;
        self.cached.push(agenda, at, job);
    }

    /// One part less of `job`.
    #[inline(never)]
    pub(crate) fn part_done(&mut self, job: RequestId) {
        self.end_part(job);
    }

    /// The same where it is felt: reads of the host that a drive has completed.
    #[inline(always)]
    pub(super) fn end_part(&mut self, job: RequestId) {
        let of = self.jobs.get_mut(job);
        of.parts -= 1;
        if of.parts == 0 {
            self.completed += 1;
            self.news.push(News::Completed(job));
        }
    }
}
