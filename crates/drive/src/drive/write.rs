//! Writes: arrival, admission to the cache, programs, flush and trim.

use super::Drive;
use super::jobs::ProgramJob;
use crate::account::Cause;
use crate::cache::NO_SLOT;
use crate::ftl::gc::GcPolicy;
use crate::ftl::map::Where;
use crate::ftl::{ProgramPlace, Stream};
use interpulse_engine::{Agenda, Duration};
use interpulse_flash::nand::txn::{Kind, NONE, Txn};

impl Drive {
    /// The data of a write has arrived in the controller.
    pub(super) fn data_arrived(&mut self, agenda: &mut Agenda, id: u32) {
        let now = agenda.now();
        let request = self.requests.get_mut(id);
        request.book(Cause::Link, now);
        if request.partial != [false; 2] && self.read_for_merge(agenda, id) {
            return;
        }
        self.admit(agenda, id);
    }

    /// Reads the units a write covers only in part; true if it has to wait for flash.
    fn read_for_merge(&mut self, agenda: &mut Agenda, id: u32) -> bool {
        let request = *self.requests.get(id);
        let last = request.lpn + request.units - 1;
        let mut reads = 0;
        if request.partial[0] {
            reads += self.read_units(agenda, id, request.lpn, request.lpn + 1);
        }
        if request.partial[1] && !(request.partial[0] && last == request.lpn) {
            reads += self.read_units(agenda, id, last, last + 1);
        }
        self.window.counters.read_modify_writes += u64::from(reads);
        reads > 0
    }

    /// Puts a write into the cache as far as there is room; the rest waits.
    pub(super) fn admit(&mut self, agenda: &mut Agenda, id: u32) {
        if !self.stalled.is_empty() || !self.admit_units(id) {
            self.window.counters.cache_stalls += 1;
            self.stalled.push_back(id);
            if self.stalled.len() == 1 {
                self.tell_oldest_write();
            }
        } else {
            self.admitted(agenda, id);
        }
        self.destage(agenda);
    }

    /// Tells the flash array since when the first write in the line for cache slots has waited.
    fn tell_oldest_write(&mut self) {
        let oldest = self.stalled.front().map(|&id| self.requests.get(id).submitted);
        self.nand.set_oldest_write(oldest);
    }

    /// Admits units of a write until the cache is full; true if all are in.
    #[inline]
    fn admit_units(&mut self, id: u32) -> bool {
        let (first, units, mut done) = {
            let r = self.requests.get(id);
            (r.lpn, r.units, r.admitted)
        };
        while done < units {
            if !self.admit_unit(id, first + done) {
                break;
            }
            done += 1;
        }
        self.requests.get_mut(id).admitted = done;
        done == units
    }

    #[inline]
    fn admit_unit(&mut self, id: u32, lpn: u32) -> bool {
        let keeps = self.spec.ftl.gc == GcPolicy::Imposed || self.keeps_homes;
        let now_at = self.ftl.map.get(lpn);
        let list =
            if self.levels.is_some() { self.list_by_level(id, lpn, now_at) } else { self.list_of(lpn) };
        let mut home = NO_SLOT;
        match now_at {
            Where::Cache(slot) if self.absorbs && self.cache.is_dirty(slot) => {
                self.window.counters.cache_overwrites += 1;
                if self.versions.follows(lpn) {
                    self.versions.written(lpn, slot);
                    self.note_write(id, lpn, slot);
                }
                return true;
            }
            Where::Cache(slot) => home = self.cache.home(slot),
            Where::Flash(ppu) if keeps => home = ppu,
            Where::Flash(_) | Where::Unmapped => {}
        }
        let Some(slot) = self.cache.admit(lpn, list, home) else { return false };
        if let (Where::Flash(ppu), false) = (now_at, keeps) {
            self.ftl.forget_flash(ppu);
        }
        if self.writes_through() {
            self.wait_for_program(id, slot);
        }
        if self.levels.is_some() {
            let arrived = self.requests.get(id).submitted;
            self.slot_arrived(slot, list, arrived);
        } else if self.stripe.is_some() && self.cache.dirty(list) >= self.worth_starting {
            self.full_lists[list / 64] |= 1 << (list % 64);
        }
        self.ftl.map.set_cached(lpn, slot);
        if self.versions.follows(lpn) {
            self.versions.written(lpn, slot);
            self.note_write(id, lpn, slot);
        }
        true
    }

    #[inline]
    fn admitted(&mut self, agenda: &mut Agenda, id: u32) {
        let now = agenda.now();
        if self.writes_through() {
            // It is complete when its last program is.
            debug_assert!(self.requests.get(id).unprogrammed > 0);
            return;
        }
        self.requests.get_mut(id).book(Cause::Cache, now);
        if self.spec.cache.latency > Duration::ZERO {
            self.dram.push(agenda, now + self.spec.cache.latency, id);
        } else {
            self.leave(agenda, now, id, 0);
        }
    }

    /// The list for a write to `lpn`, whose data is where `now_at` says, by its level.
    fn list_by_level(&self, id: u32, lpn: u32, now_at: Where) -> usize {
        let hotness = self.ftl.hotness.as_ref().expect("host data is separated");
        let level = match now_at {
            Where::Flash(ppu) => {
                hotness.level(self.ftl.layout.block_of(ppu), ppu, self.requests.get(id).submitted)
            }
            // It was written a moment ago.
            Where::Cache(_) => 0,
            Where::Unmapped => hotness.levels(),
        };
        self.list_of_level(lpn, level)
    }

    #[inline]
    fn list_of(&self, lpn: u32) -> usize {
        self.stripe.as_ref().map_or(0, |s| s.lane(lpn) as usize)
    }

    // ---- write-back -----------------------------------------------------------------------------------

    /// Starts programs while there is enough dirty data for one and a lane ready for it.
    pub(super) fn destage(&mut self, agenda: &mut Agenda) {
        if self.levels.is_some() {
            self.destage_levels(agenda);
            return;
        }
        if self.stripe.is_some() {
            self.destage_static(agenda);
            return;
        }
        while self.cache.dirty(0) >= self.worth_starting || self.must_program_partly(0) {
            let Some(lane) = self.next_ready_lane() else {
                self.wake_gc(agenda);
                return;
            };
            self.program_host(agenda, lane, 0);
        }
    }

    fn destage_static(&mut self, agenda: &mut Agenda) {
        for word in 0..self.full_lists.len() {
            let mut bits = self.full_lists[word] & self.ready_lanes[word];
            while bits != 0 {
                let lane = word as u32 * 64 + bits.trailing_zeros();
                bits &= bits - 1;
                if self.cache.dirty(lane as usize) < self.worth_starting {
                    // A trim emptied the list since.
                    self.full_lists[word] &= !(1 << (lane % 64));
                    continue;
                }
                if !self.lane_is_ready(lane) {
                    self.wake_gc(agenda);
                }
                while self.cache.dirty(lane as usize) >= self.worth_starting && self.lane_is_ready(lane) {
                    self.program_host(agenda, lane, lane as usize);
                }
            }
        }
        if self.flushes.is_empty() && (self.stalled.is_empty() || self.programs_in_flight > 0) {
            return;
        }
        for lane in 0..self.ftl.layout.lanes {
            while self.must_program_partly(lane as usize) && self.lane_is_ready(lane) {
                self.program_host(agenda, lane, lane as usize);
            }
        }
        self.wake_gc(agenda);
    }

    /// Less than a program's worth must go: for a flush, or because the cache is full and nothing else will
    /// make room.
    #[inline]
    pub(super) fn must_program_partly(&self, list: usize) -> bool {
        if self.cache.dirty(list) == 0 {
            return false;
        }
        let stuck = !self.stalled.is_empty() && self.programs_in_flight == 0;
        stuck || (!self.flushes.is_empty() && self.cache.flush_wants(list))
    }

    #[inline]
    fn lane_is_ready(&self, lane: u32) -> bool {
        self.ready_lanes[(lane / 64) as usize] >> (lane % 64) & 1 != 0
            && (self.spec.ftl.gc == GcPolicy::Imposed || self.ftl.has_place(lane, Stream::Host))
    }

    /// The next lane in turn that has no host program and can take one.
    #[inline]
    pub(super) fn next_ready_lane(&mut self) -> Option<u32> {
        let lanes = self.ftl.layout.lanes;
        let words = self.ready_lanes.len();
        let (start_word, start_bit) = ((self.next_lane / 64) as usize, self.next_lane % 64);
        for step in 0..=words {
            let w = (start_word + step) % words;
            let mut bits = self.ready_lanes[w];
            if step == 0 {
                bits &= u64::MAX << start_bit;
            } else if step == words {
                bits &= !(u64::MAX << start_bit);
            }
            while bits != 0 {
                let lane = w as u32 * 64 + bits.trailing_zeros();
                // With nothing in flight any lane that has a place must do.
                let welcome = self.ftl.welcomes(lane) || self.programs_in_flight == 0;
                if welcome && self.lane_is_ready(lane) {
                    self.next_lane = if lane + 1 == lanes { 0 } else { lane + 1 };
                    return Some(lane);
                }
                bits &= bits - 1;
            }
        }
        None
    }

    /// Programs the oldest dirty units of `list` on `lane`.
    fn program_host(&mut self, agenda: &mut Agenda, lane: u32, list: usize) {
        let imposed = self.spec.ftl.gc == GcPolicy::Imposed;
        let place =
            (!imposed).then(|| self.ftl.take_place(lane, Stream::Host).expect("the lane has been asked"));
        let job = self.jobs.new_program(lane, place);
        let first = place.map(|p| self.ftl.layout.first_unit(p.super_block) + p.first_offset);
        for k in 0..self.ftl.layout.units_per_program {
            let Some(slot) = self.cache.take_dirty(list) else { break };
            if let Some(first) = first {
                self.ftl.map.set_logical(first + k, self.cache.lpn(slot));
            }
            self.jobs.program(job).units.push(slot);
        }
        if self.stripe.is_some() && self.cache.dirty(list) < self.worth_starting {
            self.full_lists[list / 64] &= !(1 << (list % 64));
        }
        self.submit_program(agenda, Kind::HostProgram, lane, job);
        if !self.writes_through() {
            // Data is better placed late, on a lane that is free, unless a write waits for it.
            self.ready_lanes[(lane / 64) as usize] &= !(1 << (lane % 64));
        }
        self.programs_in_flight += 1;
        if imposed {
            self.impose(agenda);
        } else {
            self.pump_gc(agenda, lane);
        }
    }

    /// Hands a program job to the flash array.
    pub(super) fn submit_program(&mut self, agenda: &mut Agenda, kind: Kind, lane: u32, job: u32) {
        let (die, plane) = self.ftl.layout.die_of(lane);
        let mut txn = Txn::new(kind, die);
        txn.plane = plane as u8;
        txn.planes = self.ftl.layout.planes as u8;
        txn.owner = job;
        if job != NONE
            && let Some(place) = self.jobs.program(job).place
        {
            txn.block = self.ftl.layout.lane_of(place.super_block).1;
            txn.page = self.ftl.layout.page_of_program(place.program);
            if let Some(how) = place.two_bit {
                txn.set_two_bit(how);
                txn.units = u32::from(self.jobs.program(job).validity);
            }
            txn.cycles = self.ftl.cycles[place.super_block as usize];
        }
        self.nand.submit(agenda, txn);
    }

    /// Imposed write amplification: one host program brings (WAF - 1) extra ones, on dies drawn at random.
    fn impose(&mut self, agenda: &mut Agenda) {
        self.imposed_credit += self.spec.ftl.imposed_waf - 1.0;
        while self.imposed_credit >= 1.0 {
            self.imposed_credit -= 1.0;
            let lane = self.imposed_rng.below(u64::from(self.ftl.layout.lanes)) as u32;
            self.submit_program(agenda, Kind::GcProgram, lane, NONE);
        }
    }

    pub(super) fn host_program_done(&mut self, agenda: &mut Agenda, txn: &Txn) {
        let job = self.jobs.take_program(txn.owner);
        let (slots, moved) = job.units.split_at(job.host_units());
        for &slot in slots {
            self.ftl.map.prefetch(self.cache.lpn(slot));
        }
        if self.power.is_some() {
            self.host_units_written(&job);
        }
        for (k, &slot) in slots.iter().enumerate() {
            let lpn = self.cache.lpn(slot);
            // Only the newest version is mapped; what was overwritten or trimmed meanwhile is stale on flash.
            if self.ftl.map.get(lpn) == Where::Cache(slot) {
                let ppu = match job.place {
                    Some(p) => {
                        let offset = p.offset(&self.ftl.layout, k as u32);
                        self.ftl.map.commit(lpn, p.super_block, offset);
                        self.ftl.layout.first_unit(p.super_block) + offset
                    }
                    None => {
                        self.ftl.map.set_physical(lpn, self.cache.home(slot));
                        self.cache.home(slot)
                    }
                };
                if self.versions.follows(lpn) {
                    self.versions.programmed(lpn, slot, ppu);
                }
                if self.levels.is_some() {
                    self.stamp_unit(slot, ppu);
                }
            }
            self.cache.programmed(slot);
            if self.writes_through() {
                self.slot_programmed(agenda, slot, txn);
            }
        }
        let units = slots.len() as u64;
        self.ftl.counters.host_units += units;
        let taken = match job.place {
            Some(place) if self.levels.is_some() => {
                self.moved_along(&job, moved, &place);
                u64::from(place.units(&self.ftl.layout))
            }
            _ => u64::from(self.ftl.layout.units_per_program),
        };
        self.ftl.counters.padding_units += taken - job.units.len() as u64;
        match job.place {
            Some(place) if place.two_bit.is_some() => {
                self.ftl.two_bit_done(job.lane, place.super_block, place.program);
            }
            Some(place) => self.ftl.program_done(place.super_block),
            None => {}
        }
        self.lane_changed(job.lane);
        self.ready_lanes[(job.lane / 64) as usize] |= 1 << (job.lane % 64);
        self.programs_in_flight -= 1;
        self.jobs.free_program(txn.owner, job);
        self.room_in_cache(agenda);
    }

    /// What was moved from a candidate along with host data is on flash; a reprogram takes no new space.
    fn moved_along(&mut self, job: &ProgramJob, moved: &[u32], place: &ProgramPlace) {
        let first = self.ftl.layout.first_unit(place.super_block);
        for (k, (&lpn, &source)) in moved.iter().zip(&job.sources).enumerate() {
            let (super_block, from) = self.ftl.layout.split(source);
            if self.ftl.map.is_valid(super_block, from) {
                let offset = place.offset(&self.ftl.layout, (job.host_units() + k) as u32);
                self.ftl.map.invalidate(super_block, from);
                self.ftl.map.commit(lpn, place.super_block, offset);
                if let Some(hotness) = &mut self.ftl.hotness {
                    hotness.moved_unit(source, first + offset);
                }
                if self.versions.follows(lpn) {
                    self.versions.moved(lpn, source, first + offset);
                }
            }
        }
        if let Some(candidate) = job.candidate {
            self.ftl.moved_out(job.lane, candidate);
        }
        let counters = &mut self.ftl.counters;
        counters.moved_early_units += moved.len() as u64;
        if place.two_bit.is_some_and(|how| how.bit().is_some()) {
            counters.reprogrammed_units += job.host_units() as u64;
        }
    }

    /// Slots have become free: stalled writes go on, flushes may be done, the next programs start.
    pub(super) fn room_in_cache(&mut self, agenda: &mut Agenda) {
        while let Some(&id) = self.stalled.front() {
            if !self.admit_units(id) {
                break;
            }
            self.stalled.pop_front();
            self.tell_oldest_write();
            self.admitted(agenda, id);
        }
        while let Some(&(epoch, id)) = self.flushes.front() {
            if self.cache.durable_before() <= epoch {
                break;
            }
            self.flushes.pop_front();
            self.flushed(agenda, id);
        }
        self.destage(agenda);
    }

    // ---- flush and trim -------------------------------------------------------------------------------

    pub(super) fn flush(&mut self, agenda: &mut Agenda, id: u32) {
        if self.power.is_some() {
            self.versions.flush_begins(id);
        }
        let epoch = self.cache.begin_flush();
        if self.cache.durable_before() > epoch {
            self.flushed(agenda, id);
        } else {
            self.flushes.push_back((epoch, id));
            self.destage(agenda);
        }
    }

    fn flushed(&mut self, agenda: &mut Agenda, id: u32) {
        if id == super::power_loss::REFILL {
            self.refilled(agenda);
            return;
        }
        if self.power.is_some() && self.journal_before_flush_ends(agenda, id) {
            return;
        }
        self.flush_ends(agenda, id);
    }

    pub(super) fn flush_ends(&mut self, agenda: &mut Agenda, id: u32) {
        let now = agenda.now();
        self.requests.get_mut(id).book(Cause::Cache, now);
        self.leave(agenda, now, id, 0);
    }

    /// Unmaps the units a trim covers whole.
    pub(super) fn trim(&mut self, agenda: &mut Agenda, id: u32) {
        let request = *self.requests.get(id);
        let from = request.lpn + u32::from(request.partial[0]);
        let to = (request.lpn + request.units).saturating_sub(u32::from(request.partial[1]));
        // Without victims and erases nothing is gained by forgetting where a unit is.
        if self.spec.ftl.gc == GcPolicy::Imposed {
            return;
        }
        for lpn in from..to {
            match self.ftl.map.get(lpn) {
                Where::Unmapped => continue,
                Where::Flash(ppu) => self.ftl.forget_flash(ppu),
                Where::Cache(slot) => {
                    if self.keeps_homes && self.cache.home(slot) != NO_SLOT {
                        self.ftl.forget_flash(self.cache.home(slot));
                    }
                    if self.cache.is_dirty(slot) {
                        self.cache.kill_dirty(slot);
                        if self.writes_through() {
                            self.slot_trimmed(agenda, slot);
                        }
                    }
                }
            }
            self.ftl.map.set_unmapped(lpn);
            self.window.counters.trimmed_units += 1;
            if self.versions.follows(lpn) {
                self.versions.trimmed(lpn);
            }
            if self.power.is_some() {
                self.versions.belongs(id, lpn);
                self.journal_trim(lpn);
            }
        }
        // Dead slots may have been all that stalled writes and flushes waited for.
        if !(self.stalled.is_empty() && self.flushes.is_empty()) {
            self.room_in_cache(agenda);
        }
    }
}
