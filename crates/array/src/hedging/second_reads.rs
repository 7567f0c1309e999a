//! Second reads of hedged reads: from another copy, or reconstructed from the other drives. The first complete answer answers the host;
//! the other read runs to its end and is ignored.

use crate::array::{Array, Command, pages_of, request_at};
use crate::hedging::hedged_reads::{HedgeId, HedgedRead, Progress};
use crate::raid::layout::PageAddress;
use crate::stripes::cache::PageRead;
use interpulse_engine::{EventQueue, Op, RequestId, ResourceId};

impl Array {
    /// The timer of hedged reads: behind those of the host, so that without hedging the resources are the same.
    pub(crate) fn hedge_timer(&self) -> ResourceId {
        self.host_resource(self.host_timers)
    }

    /// The command of a host read on drive `physical`, observed if its flow hedges.
    #[cold]
    pub(crate) fn hedged(&mut self, events: &mut EventQueue, physical: usize, what: Command) -> Command {
        let (now, horizon) = (events.now(), events.horizon());
        let Some(hedging) = &mut self.hedging else { return what };
        let Command::Host { job, read: Some(read), .. } = what else { return what };
        let flow = self.jobs.get(job).tag;
        let Some(id) = hedging.begin(now, horizon, flow, job, read, physical) else { return what };
        self.arm_hedge_timer(events);
        Command::Hedged { id, second: false }
    }

    fn arm_hedge_timer(&mut self, events: &mut EventQueue) {
        let timer = self.hedge_timer();
        match self.hedging.as_ref().and_then(|hedging| hedging.next()) {
            Some(at) => events.arm(timer, at),
            None => events.disarm(timer),
        }
    }

    fn hedge(&self, id: HedgeId) -> &HedgedRead {
        self.hedging.as_ref().expect("a read is hedged").get(id)
    }

    fn hedge_mut(&mut self, id: HedgeId) -> &mut HedgedRead {
        self.hedging.as_mut().expect("a read is hedged").get_mut(id)
    }

    fn forget_if_over(&mut self, id: HedgeId) {
        self.hedging.as_mut().expect("a read is hedged").forget_if_over(id);
    }

    // ---- issuing ----------------------------------------------------------------------------------------

    /// Issues the second reads whose time has come.
    pub(crate) fn on_hedge_timer(&mut self, events: &mut EventQueue) {
        while let Some(id) = self.hedging.as_mut().and_then(|hedging| hedging.due(events.now())) {
            let of = *self.hedge(id);
            let (place, sectors) = self.stretch(of.read.from, of.read.to);
            let pages = pages_of(of.read.from, sectors);
            let issued = if self.spec.level.mirrors() {
                self.read_other_copy(events, id, &of, place, pages)
            } else {
                self.reconstruct_hedged(events, id, place, pages)
            };
            if issued {
                self.counters.hedged_reads += 1;
            } else {
                self.counters.hedges_refused += 1;
            }
        }
        self.arm_hedge_timer(events);
    }

    /// Reads the data from another copy, if there is one.
    fn read_other_copy(
        &mut self,
        events: &mut EventQueue,
        id: HedgeId,
        of: &HedgedRead,
        place: PageAddress,
        pages: u32,
    ) -> bool {
        let Some((at, other)) = self.nearest(place, pages, 1 << of.physical) else { return false };
        for k in 0..pages {
            if self.contents.samples(place.row + k) {
                self.contents.read_through(place.row + k, place.drive, PageAddress { row: at.row + k, ..at });
            }
        }
        self.hedge_mut(id).second = Progress::Running;
        self.counters.hedge_pages += u64::from(pages);
        let request = request_at(Op::Read, at, of.read.from, of.read.to - of.read.from);
        self.command(events, other, request, Command::Hedged { id, second: true });
        true
    }

    /// Reconstructs the pages in the stripe cache, if nothing else uses their rows and there is room.
    fn reconstruct_hedged(
        &mut self,
        events: &mut EventQueue,
        id: HedgeId,
        place: PageAddress,
        pages: u32,
    ) -> bool {
        let rows = place.row..place.row + pages;
        let room = self.blocked.is_empty() && self.cache.has_room_for(pages as usize);
        if !room || !rows.clone().all(|row| self.may_reconstruct(row, place.drive)) {
            return false;
        }
        let of = self.hedge_mut(id);
        (of.second, of.pages) = (Progress::Running, pages);
        let mut touched = self.spare_lists.pop().unwrap_or_default();
        for row in rows {
            let h = self.take_head(row).expect("there is room");
            let sampled = self.contents.samples(row);
            let least = if sampled { self.contents.acknowledged(row, place.drive) } else { 0 };
            let head = self.cache.head_mut(h);
            head.avoid(place.drive);
            head.hedged = true;
            head.reads.push(PageRead { job: id.as_reader(), drive: place.drive, least });
            touched.push(h);
        }
        for &h in &touched {
            self.handle_stripe(events, h);
        }
        touched.clear();
        self.spare_lists.push(touched);
        true
    }

    /// Whether the page of `row` on `drive` can be reconstructed without waiting for writes or repairs of its row.
    fn may_reconstruct(&self, row: u32, drive: u32) -> bool {
        let whole = self.readable(row).count_ones() == self.spec.drives;
        let unused = self
            .cache
            .head_of(row)
            .is_none_or(|head| !head.is_written() && head.may_avoid() && head.avoided & !(1 << drive) == 0);
        whole && unused && !self.recovery.inconsistent.contains(&row)
    }

    // ---- answers ----------------------------------------------------------------------------------------

    /// Handles the end of a command of a hedged read.
    #[cold]
    pub(crate) fn hedged_read_ended(
        &mut self,
        events: &mut EventQueue,
        physical: usize,
        id: HedgeId,
        second: bool,
        how: Progress,
    ) {
        if how == Progress::Failed && (second || self.hedge(id).answered) {
            // The recovery of a failed host read counts the others.
            self.hedge_failed(physical);
        }
        if second {
            self.second_read_ended(events, id, how);
            return;
        }
        let hedging = self.hedging.as_mut().expect("a read is hedged");
        hedging.first_ended(id, events.now(), how);
        self.arm_hedge_timer(events);
        let of = *self.hedge(id);
        if how == Progress::Done && !of.answered {
            self.answer_hedged(id);
        } else if !of.answered && of.second != Progress::Running {
            self.recover_hedged(events, &of);
        } else if how == Progress::Busy {
            self.counters.fast_failed_reads += 1;
        }
        self.forget_if_over(id);
    }

    fn second_read_ended(&mut self, events: &mut EventQueue, id: HedgeId, how: Progress) {
        self.hedge_mut(id).second = how;
        let of = *self.hedge(id);
        if how == Progress::Done && !of.answered {
            self.counters.hedges_won += 1;
            if of.first == Progress::Failed {
                self.hedge_failed(of.physical);
            }
            self.answer_hedged(id);
        } else if !of.answered && of.first != Progress::Running {
            self.recover_hedged(events, &of);
        }
        self.forget_if_over(id);
    }

    fn answer_hedged(&mut self, id: HedgeId) {
        let of = self.hedge_mut(id);
        of.answered = true;
        let job = of.job;
        self.part_done(job);
    }

    /// Both reads have ended without data: recovers as without hedging.
    #[cold]
    fn recover_hedged(&mut self, events: &mut EventQueue, of: &HedgedRead) {
        if of.first == Progress::Busy {
            let what = Command::Host { job: of.job, read: Some(of.read), failures: 0 };
            self.failed_fast(events, of.physical, what);
        } else {
            self.host_part_failed(events, of.physical, of.job, Some(of.read), 0);
        }
    }

    /// Counts an uncorrectable page that the other read of the pair replaces.
    fn hedge_failed(&mut self, physical: usize) {
        self.counters.media_error_pages += 1;
        self.count_errors_of(physical, 1);
    }

    /// A page that the stripe cache returns to `reader`: a part of a host request, or of a hedged read.
    #[inline(always)]
    pub(crate) fn cached_page_done(&mut self, events: &mut EventQueue, reader: RequestId) {
        match HedgeId::of_reader(reader) {
            Some(id) => self.hedged_page_done(events, id),
            None => self.part_done(reader),
        }
    }

    #[cold]
    fn hedged_page_done(&mut self, events: &mut EventQueue, id: HedgeId) {
        let of = self.hedge_mut(id);
        of.pages -= 1;
        if of.pages == 0 {
            let how = if of.spoiled { Progress::Failed } else { Progress::Done };
            self.second_read_ended(events, id, how);
        }
    }

    /// `reader` gets a page with errors.
    #[cold]
    pub(crate) fn page_spoiled(&mut self, reader: RequestId) {
        match HedgeId::of_reader(reader) {
            Some(id) => self.hedge_mut(id).spoiled = true,
            None => self.jobs.get_mut(reader).failed = true,
        }
    }

    // ---- rows -------------------------------------------------------------------------------------------

    /// Whether the reads of a page to reconstruct fail fast; counts those of second reads, which wait.
    #[cold]
    pub(crate) fn reads_around(&mut self, h: u32, need: u32) -> bool {
        let hedged = self.cache.head(h).hedged;
        if hedged {
            self.counters.hedge_pages += u64::from(need.count_ones());
        }
        !hedged && self.spec.coordination.sources_fail_fast()
    }

    /// The row cannot be reconstructed any more. Reads that failed fast read their page from its drive; second reads are given up, since
    /// their first reads do so already.
    #[cold]
    pub(crate) fn stop_avoiding(&mut self, events: &mut EventQueue, h: u32) {
        let head = self.cache.head_mut(h);
        head.avoided = 0;
        if !std::mem::take(&mut head.hedged) {
            return;
        }
        let uptodate = head.uptodate;
        let mut reads = std::mem::take(&mut head.reads);
        reads.retain(|read| {
            let given_up = uptodate >> read.drive & 1 == 0 && HedgeId::of_reader(read.job).is_some();
            if given_up {
                self.page_spoiled(read.job);
                // Through the cache's timer: the row is being handled.
                self.answer_cached(events, read.job);
                self.counters.hedges_given_up += 1;
            }
            !given_up
        });
        self.cache.head_mut(h).reads = reads;
    }
}
