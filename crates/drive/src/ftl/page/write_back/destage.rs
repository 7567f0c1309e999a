//! Destaging: cache admission, host programs, flushes and trims.

use crate::ftl::flash::Flash;
use crate::ftl::outcome::Admitted;
use crate::ftl::outcome::Outcome;
use crate::ftl::page::blocks::program_address::ProgramAddress;
use crate::ftl::page::blocks::write_streams::Stream;
use crate::ftl::page::mapping::residency::Residency;
use crate::ftl::page::page_ftl::PageFtl;
use crate::ftl::page::power_loss::metadata_region::Then;
use crate::ftl::page::write_back::in_flight::ProgramInFlight;
use crate::ftl::page::write_back::queues::{HostLists, REFILL};
use crate::numbers::{JobId, Lane, Lpn};
use crate::owner::Owner;
use interpulse_engine::{RequestId, SimTime};
use interpulse_flash::nand::txn::{Kind, Txn};

impl PageFtl {
    /// Whether writes wait for their programs.
    #[inline]
    pub fn writes_through(&self) -> bool {
        self.write_back.writes_through()
    }

    /// Puts unit `lpn` of the write of `units` with `tag`, submitted by the host at `arrived`, into the cache. A write that waits for
    /// its programs gets an [`Outcome::Landed`] or [`Outcome::Dropped`] for each slot.
    #[inline(always)]
    pub fn admit(&mut self, tag: RequestId, lpn: Lpn, units: u32, arrived: SimTime, handle: u8) -> Admitted {
        let at = self.blocks.map().get(lpn);
        let absorbs = self.write_back.absorbs;
        let (list, absorbs) = match &self.lists {
            HostLists::One => (0, absorbs),
            HostLists::ByLane => (self.write_back.lane_of(lpn), absorbs),
            HostLists::ByPage(of) => (of.list(), absorbs),
            HostLists::ByClass(_) => self.list_by_class(lpn, at, arrived, handle),
            HostLists::BySize(of) => (of.list(self.write_back.lane_of(lpn), units), absorbs),
        };
        let admitted = self.blocks.units.admit(&self.blocks.layout, tag, lpn, at, list, absorbs);
        if self.follows_admissions {
            self.follow_admission(tag, lpn, admitted);
        }
        if let Admitted::Slot(slot) = admitted {
            if let HostLists::ByClass(levels) = &mut self.lists {
                levels.slot_arrived(slot, list, arrived);
            } else {
                self.unit_arrived(list);
            }
        }
        admitted
    }

    /// Notes an admission of the write `tag`: the data of `lpn` is new, and the write may wait for the program of a slot.
    #[inline(never)]
    fn follow_admission(&mut self, tag: RequestId, lpn: Lpn, admitted: Admitted) {
        if admitted == Admitted::Full {
            return;
        }
        if let Some(injected) = &mut self.injected {
            injected.lost.replaced(lpn);
        }
        if let Admitted::Slot(slot) = admitted
            && self.writes_through()
        {
            self.write_back.writers[slot.index()] = tag;
        }
    }

    /// Notes that a unit joined dirty list `list`, which may now hold enough for a program.
    #[inline]
    pub(crate) fn unit_arrived(&mut self, list: usize) {
        match &mut self.lists {
            HostLists::One => {}
            HostLists::ByPage(of) => of.arrived(),
            HostLists::ByLane | HostLists::ByClass(_) | HostLists::BySize(_) => {
                let enough = self.blocks.units.cache.dirty(list) >= self.write_back.worth_starting;
                if enough && self.write_back.stripe.is_some() {
                    self.write_back.set_full(list);
                }
            }
        }
    }

    /// Sets whether writes wait for cache slots: partial programs then start if nothing else frees slots.
    #[inline]
    pub fn set_backpressure(&mut self, backpressure: bool) {
        self.write_back.backpressure = backpressure;
    }

    /// Starts programs while there is enough dirty data for one and a lane is ready.
    pub fn destage(&mut self, flash: &mut Flash) {
        match self.lists {
            HostLists::One => self.destage_dynamic(flash),
            HostLists::ByLane => self.destage_static(flash),
            HostLists::ByPage(_) => self.destage_super_word_lines(flash),
            HostLists::ByClass(_) => self.destage_levels(flash),
            HostLists::BySize(of) => self.destage_cached(flash, of),
        }
    }

    fn destage_dynamic(&mut self, flash: &mut Flash) {
        while self.dirty(0) >= self.write_back.worth_starting || self.must_program_partly(0) {
            let Some(lane) = self.next_ready_lane() else {
                self.wake_collector(flash);
                return;
            };
            self.program_host(flash, lane, 0, Stream::HOST);
        }
    }

    fn destage_super_word_lines(&mut self, flash: &mut Flash) {
        loop {
            let HostLists::ByPage(of) = &self.lists else { return };
            let cache = &self.blocks.units.cache;
            let wanted = !self.write_back.flushes.is_empty() && of.flush_wants(cache);
            let stuck = self.write_back.backpressure && self.write_back.programs_in_flight == 0;
            let partly = cache.dirty_total() > 0 && (wanted || stuck);
            if !partly && !of.is_worth_starting(cache) {
                return;
            }
            let Some(lane) = self.next_ready_lane() else {
                self.wake_collector(flash);
                return;
            };
            self.program_host(flash, lane, 0, Stream::HOST);
        }
    }

    #[inline]
    fn dirty(&self, list: usize) -> u32 {
        self.blocks.units.cache.dirty(list)
    }

    fn destage_static(&mut self, flash: &mut Flash) {
        let enough = self.write_back.worth_starting;
        for word in 0..self.write_back.full_lists.len() {
            let mut bits = self.write_back.full_lists[word] & self.placement.open(word);
            while bits != 0 {
                let lane = Lane(word as u32 * 64 + bits.trailing_zeros());
                bits &= bits - 1;
                if self.dirty(lane.index()) < enough {
                    // A trim has emptied the list.
                    self.write_back.full_lists[word] &= !(1 << (lane.0 % 64));
                    continue;
                }
                if !self.lane_is_ready(lane) {
                    self.wake_collector(flash);
                }
                while self.dirty(lane.index()) >= enough && self.lane_is_ready(lane) {
                    self.program_host(flash, lane, lane.index(), Stream::HOST);
                }
            }
        }
        if !self.is_urged() {
            return;
        }
        for lane in Lane::first(self.blocks.layout.lanes) {
            while self.must_program_partly(lane.index()) && self.lane_is_ready(lane) {
                self.program_host(flash, lane, lane.index(), Stream::HOST);
            }
        }
        self.wake_collector(flash);
    }

    /// Whether partial programs must start: for a flush, or because writes wait and nothing else frees slots.
    #[inline]
    pub(crate) fn is_urged(&self) -> bool {
        let of = &self.write_back;
        !of.flushes.is_empty() || (of.backpressure && of.programs_in_flight == 0)
    }

    /// Whether less than a program's worth of `list` must be programmed.
    #[inline]
    pub(crate) fn must_program_partly(&self, list: usize) -> bool {
        if self.dirty(list) == 0 {
            return false;
        }
        let stuck = self.write_back.backpressure && self.write_back.programs_in_flight == 0;
        stuck || (!self.write_back.flushes.is_empty() && self.blocks.units.cache.flush_wants(list))
    }

    #[inline]
    fn lane_is_ready(&self, lane: Lane) -> bool {
        self.placement.is_free(lane) && (self.imposed.is_some() || self.blocks.has_room(lane, Stream::HOST))
    }

    /// Next lane in round-robin order that has no host program and can take one.
    #[inline(never)]
    pub(crate) fn next_ready_lane(&mut self) -> Option<Lane> {
        let (blocks, imposed) = (&self.blocks, self.imposed.is_some());
        let idle = self.write_back.programs_in_flight == 0;
        self.placement.next_ready(blocks, idle, |lane| imposed || blocks.has_room(lane, Stream::HOST))
    }

    /// Programs units of `list` in the open super block of `stream` on `lane`, which has room.
    pub(crate) fn program_host(&mut self, flash: &mut Flash, lane: Lane, list: usize, stream: Stream) {
        let imposed = self.imposed.is_some();
        let place = (!imposed).then(|| self.blocks.take_address(lane, stream).expect("the lane has room"));
        let job = self.jobs.new_program(lane, place);
        let (units, layout) = (&mut self.blocks.units, &self.blocks.layout);
        let most = place.map_or(layout.units_per_program, |place| place.units(layout));
        let slots = &mut self.jobs.program(job).slots;
        if let HostLists::ByPage(of) = &self.lists {
            for (list, share) in of.shares() {
                let share = share.min(most - slots.len() as u32);
                units.take_dirty(layout, list, share, place.as_ref(), slots);
            }
        } else {
            units.take_dirty(layout, list, most, place.as_ref(), slots);
        }
        if self.write_back.stripe.is_some() && self.dirty(list) < self.write_back.worth_starting {
            self.write_back.full_lists[list / 64] &= !(1 << (list % 64));
        }
        if imposed {
            self.impose_erase(flash, lane);
        }
        self.submit_program(flash, Kind::HostProgram, lane, job);
        self.hold_lane(lane);
        if imposed {
            self.impose(flash);
        } else {
            self.advance_gc(flash, lane);
        }
    }

    /// Blocks further host programs on `lane` until this one is done, unless a write in a cache waits for its program: a
    /// free lane is a better place.
    #[inline]
    pub(crate) fn hold_lane(&mut self, lane: Lane) {
        if self.write_back.holds_lanes {
            self.placement.take(lane);
        }
        self.write_back.programs_in_flight += 1;
    }

    pub(crate) fn submit_program(&mut self, flash: &mut Flash, kind: Kind, lane: Lane, job: JobId) {
        self.submit_program_of(flash, kind, lane, job, Owner::Program(job));
    }

    /// Submits the program `job` for `owner`.
    #[inline]
    pub(crate) fn submit_program_of(
        &mut self,
        flash: &mut Flash,
        kind: Kind,
        lane: Lane,
        job: JobId,
        owner: Owner,
    ) {
        let txn = self.program_txn(kind, lane, job, owner);
        flash.submit(txn);
    }

    /// The transaction of program `job`.
    #[inline(always)]
    pub(crate) fn program_txn(&mut self, kind: Kind, lane: Lane, job: JobId, owner: Owner) -> Txn {
        let layout = &self.blocks.layout;
        let (die, plane) = layout.die_of(lane);
        let mut txn = Txn::new(kind, die);
        txn.plane = plane as u8;
        txn.planes = layout.planes as u8;
        txn.set_owner(owner.into());
        if let Some(place) = self.jobs.program(job).place {
            txn.block = layout.lane_of(place.super_block).1;
            txn.page = layout.page_of_program(place.program);
            txn.set_cell_mode(place.mode);
            if let Some(page) = place.reprogram {
                txn.set_validity(self.jobs.program(job).validity);
                txn.set_reprogram(page);
            }
            txn.set_cycles(self.blocks.wear_of(place.super_block));
        }
        txn
    }

    pub(crate) fn host_program_done(&mut self, flash: &mut Flash, id: JobId) {
        let job = self.jobs.take_program(id);
        let blocks = &mut self.blocks;
        for &slot in &job.slots {
            blocks.units.map().prefetch(blocks.units.cache.lpn(slot));
        }
        if self.metadata.is_some() {
            let place = job.place.expect("synthetic write amplification excludes power loss");
            blocks.units.describe_landing(&blocks.layout, &job.slots, &place);
            if !job.moved.is_empty() {
                let first = job.slots.len() as u32;
                blocks.units.describe_move(&blocks.layout, &job.moved, &place, first);
            }
        }
        let cached = matches!(self.residency, Residency::Cached(_));
        if cached {
            self.note_changes(&job);
        }
        let blocks = &mut self.blocks;
        for (k, &slot) in job.slots.iter().enumerate() {
            let layout = &blocks.layout;
            let to = || job.place.map(|p| p.unit(layout, k as u32));
            let arrived = || match &self.lists {
                HostLists::ByClass(levels) => Some(levels.arrived(slot)),
                HostLists::One | HostLists::ByLane | HostLists::ByPage(_) | HostLists::BySize(_) => None,
            };
            blocks.units.commit_program(layout, slot, to, arrived);
        }
        if self.write_back.writes_through() {
            let writers = job.slots.iter().map(|slot| self.write_back.writers[slot.index()]);
            self.outcomes.extend(writers.map(Outcome::Landed));
        }
        blocks.counters.host_units += job.slots.len() as u64;
        let layout = &self.blocks.layout;
        let taken = job.place.as_ref().map_or(layout.units_per_program, |place| place.units(layout));
        let padding = u64::from(taken) - job.units() as u64;
        self.blocks.counters.padding_units += padding;
        if let Some(place) = &job.place {
            match self.lists {
                HostLists::One | HostLists::ByLane | HostLists::ByPage(_) => {}
                HostLists::ByClass(_) => {
                    self.moved_along(&job, place);
                    if self.blocks.slc().is_some() {
                        self.count_cached(place.mode, job.slots.len() as u64);
                    }
                    if let Some(handles) = &mut self.handles {
                        handles.host_program_done(
                            &self.blocks.layout,
                            place,
                            job.slots.len() as u64,
                            padding,
                        );
                    }
                }
                HostLists::BySize(_) => self.count_cached(place.mode, job.slots.len() as u64),
            }
            if self.blocks.reprograms(place.super_block) {
                let word_line = place.word_line(&self.blocks.layout);
                self.blocks.two_bit_done(job.lane, place.super_block, word_line);
            } else {
                self.blocks.program_done(place.super_block);
            }
        }
        if cached {
            self.apply_changes(flash);
        }
        self.lane_changed(job.lane);
        self.placement.give_back(job.lane);
        self.write_back.programs_in_flight -= 1;
        self.jobs.free_program(id, job);
    }

    /// Commits units relocated along with host data; a reprogram takes no new space.
    fn moved_along(&mut self, job: &ProgramInFlight, place: &ProgramAddress) {
        let blocks = &mut self.blocks;
        for (k, &unit) in job.moved.iter().enumerate() {
            let to = place.unit(&blocks.layout, (job.slots.len() + k) as u32);
            let from = blocks.layout.split(unit.source);
            blocks.units.moved(&blocks.layout, unit, from, to);
        }
        if let Some(candidate) = job.candidate {
            blocks.moved_out(job.lane, candidate);
        }
        blocks.counters.moved_early_units += job.moved.len() as u64;
        if place.reprogram.is_some() {
            blocks.counters.reprogrammed_units += job.slots.len() as u64;
        }
    }

    /// Begins the flush with `tag`; [`Outcome::Flushed`] follows once everything written before is on flash.
    pub fn flush(&mut self, flash: &mut Flash, tag: RequestId) {
        self.command_starts(flash);
        if self.metadata.is_some() {
            self.blocks.units.versions().flush_begins(tag);
        }
        let epoch = self.blocks.units.cache.begin_flush();
        if self.blocks.units.cache.durable_before() > epoch {
            self.flushed(flash, tag);
        } else {
            self.write_back.flushes.push_back((epoch, tag));
            self.destage(flash);
        }
    }

    /// Flushes everything that a recovery left in the cache.
    pub(crate) fn flush_all(&mut self) {
        let epoch = self.blocks.units.cache.begin_flush();
        self.write_back.flushes.push_back((epoch, REFILL));
    }

    /// Whether flushes wait.
    #[inline]
    pub fn has_flushes(&self) -> bool {
        !self.write_back.flushes.is_empty()
    }

    /// Completes flushes whose data is on flash.
    pub fn settle_flushes(&mut self, flash: &mut Flash) {
        while let Some(&(epoch, tag)) = self.write_back.flushes.front() {
            if self.blocks.units.cache.durable_before() <= epoch {
                break;
            }
            self.write_back.flushes.pop_front();
            self.flushed(flash, tag);
        }
    }

    fn flushed(&mut self, flash: &mut Flash, tag: RequestId) {
        if tag == REFILL || !self.journal(flash, Then::Flush(tag)) {
            self.outcomes.push_back(Outcome::Flushed(tag));
        }
    }

    /// Unmaps the units `from..to` for the request with `tag`; returns how many of them were mapped.
    pub fn trim(&mut self, tag: RequestId, from: Lpn, to: Lpn) -> u64 {
        // Without victims and erases, unmapping gains nothing.
        if self.imposed.is_some() {
            return 0;
        }
        if matches!(self.residency, Residency::Cached(_)) {
            self.map_trimmed(from, to);
        }
        let mut trimmed = 0;
        for lpn in from.until(to) {
            let (held, killed) = self.blocks.units.trim(&self.blocks.layout, tag, lpn);
            trimmed += u64::from(held);
            if let Some(injected) = &mut self.injected {
                injected.lost.replaced(lpn);
            }
            if let Some(&writer) = killed.and_then(|slot| self.write_back.writers.get(slot.index())) {
                self.outcomes.push_back(Outcome::Dropped(writer));
            }
        }
        trimmed
    }

    /// Notes that the host has the completion of `tag`.
    #[inline]
    pub fn acknowledged(&mut self, tag: RequestId) {
        if self.metadata.is_some() {
            self.blocks.units.versions().acknowledged(tag);
        }
    }

    /// Flushes in progress.
    pub fn flushes(&self) -> usize {
        self.write_back.flushes.len()
    }
}
