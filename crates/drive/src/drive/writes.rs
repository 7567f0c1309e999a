//! Writes, flushes and trims inside the drive.

use super::Drive;
use crate::account::book_program;
use crate::ftl::{Admitted, Flash, Ftl};
use crate::numbers::Lpn;
use crate::spec::UnmappedReads;
use interpulse_engine::account::Cause;
use interpulse_engine::{Duration, EventQueue, Op, RequestId};
use interpulse_flash::nand::txn::Txn;

impl Drive {
    /// Continues a write whose data has arrived in the controller.
    pub(super) fn data_arrived(&mut self, events: &mut EventQueue, id: RequestId) {
        let now = events.now();
        let request = self.host.requests.get_mut(id);
        request.book(Cause::Link, now);
        if request.op == Op::Compare {
            return self.read_to_compare(events, id);
        }
        if request.partial != [false; 2] && self.read_for_merge(events, id) {
            return;
        }
        self.admit_in_line(events, id);
    }

    /// Reads the partly covered units of a write; true if it has to wait for flash.
    pub(super) fn read_for_merge(&mut self, events: &mut EventQueue, id: RequestId) -> bool {
        let request = *self.host.requests.get(id);
        let last = request.lpn + (request.units - 1);
        let mut reads = 0;
        self.rank_reads(id);
        if request.partial[0] && self.has_data_to_merge(request.lpn) {
            reads += self.read_units(events, id, request.lpn, request.lpn + 1, false);
        }
        if request.partial[1] && !(request.partial[0] && last == request.lpn) && self.has_data_to_merge(last)
        {
            reads += self.read_units(events, id, last, last + 1, false);
        }
        self.counters.read_modify_writes += u64::from(reads);
        self.host.requests.get_mut(id).reads_left = reads;
        reads > 0
    }

    /// Whether a write of a part of unit `lpn` has to look for the rest. Where reads of units without data go to flash
    /// ([`UnmappedReads::Flash`]), a write does not: the controller knows that there is nothing to merge.
    fn has_data_to_merge(&self, lpn: Lpn) -> bool {
        let asks = self.spec.ftl.unmapped_reads == UnmappedReads::Zeroes || self.spec.ftl.zones.is_some();
        asks || self.namespaces().is_some() || self.ftl.version(lpn).is_some()
    }

    /// Admits a write to the cache as far as there is room; the rest waits.
    #[inline(never)]
    pub(super) fn admit(&mut self, events: &mut EventQueue, id: RequestId) {
        self.admit_in_line(events, id);
    }

    /// As [`Drive::admit`], for the call that almost every write makes.
    #[inline(always)]
    fn admit_in_line(&mut self, events: &mut EventQueue, id: RequestId) {
        if self.waits_apart {
            self.admit_in_part(events, id);
        } else if !self.host.stalled.is_empty() || !self.admit_units(id) {
            self.counters.cache_stalls += 1;
            self.host.stalled.push_back(id);
            if self.host.stalled.len() == 1 {
                self.oldest_stall_changed();
                self.leave_deterministic_window(events);
            }
        } else {
            self.admitted(events, id);
        }
        self.ftl.destage(&mut Flash { nand: &mut self.nand, events });
    }

    /// As [`Drive::stalls_changed`] of a drive without namespaces, which has one cache.
    fn oldest_stall_changed(&mut self) {
        let waiting = !self.host.stalled.is_empty();
        self.stalls_changed(Lpn(0), waiting);
    }

    /// Reports that write `id` no longer waits for cache slots.
    pub(super) fn stall_ended(&mut self, id: RequestId) {
        let lpn = self.host.requests.get(id).lpn;
        let waiting = if self.waits_apart { self.waits_beside(id) } else { !self.host.stalled.is_empty() };
        self.stalls_changed(lpn, waiting);
    }

    /// Reports to the FTL whether writes of the namespace that holds `lpn` wait for cache slots, and to the flash array since
    /// when the oldest write waits.
    #[inline(always)]
    pub(super) fn stalls_changed(&mut self, lpn: Lpn, waiting: bool) {
        let oldest = self.host.stalled.front().map(|&id| self.host.requests.get(id).submitted);
        self.ftl.set_backpressure(lpn, waiting);
        self.nand.set_oldest_write(oldest);
    }

    /// Admits units of a write until the cache is full; true if all are in.
    #[inline(always)]
    pub(super) fn admit_units(&mut self, id: RequestId) -> bool {
        if self.has_detours { self.admit_cached_units(id) } else { self.admit_to_cache(id) }
    }

    /// As [`Drive::admit_to_cache`]; the read cache, if there is one, replaces or drops its copies, and a host that follows units
    /// learns who writes them.
    #[cold]
    #[inline(never)]
    fn admit_cached_units(&mut self, id: RequestId) -> bool {
        if matches!(self.host.requests.get(id).op, Op::Vector(_)) {
            return self.admit_vector(id);
        }
        self.name_writer(id);
        let before = self.host.requests.get(id).admitted;
        let writer = self.host.requests.get(id).tag;
        if let Some(log) = self.unit_log() {
            log.writer = writer;
        }
        let all = self.admit_to_cache(id);
        if self.read_cache.is_some() {
            let of = self.host.requests.get(id);
            let (queue, first, done) = (of.queue, of.lpn, of.admitted);
            self.cache_written(queue, first + before, first + done);
        }
        all
    }

    // One function, so that the admission of a unit is in line.
    #[inline(never)]
    fn admit_to_cache(&mut self, id: RequestId) -> bool {
        let (first, units, mut done, arrived, handle) = {
            let r = self.host.requests.get(id);
            (r.lpn, r.units, r.admitted, r.submitted, r.handle)
        };
        let mut slots = 0;
        while done < units {
            match self.ftl.admit(id, first + done, units, arrived, handle) {
                Admitted::Slot(_) => slots += 1,
                Admitted::Absorbed => self.counters.cache_overwrites += 1,
                Admitted::Full => break,
            }
            done += 1;
        }
        let request = self.host.requests.get_mut(id);
        request.admitted = done;
        request.unprogrammed += slots;
        done == units
    }

    // Out of line: inlined into both callers it costs more instructions than the call.
    #[inline(never)]
    pub(super) fn admitted(&mut self, events: &mut EventQueue, id: RequestId) {
        if !self.host.second_edges.is_empty() && self.admits_second_edge(events, id) {
            return;
        }
        if self.ftl.writes_through() {
            // The write completes with its last program.
            if self.host.requests.get(id).unprogrammed > 0 {
                return;
            }
            // A reset of its chunk has overtaken all its data.
        }
        let now = events.now();
        self.host.requests.get_mut(id).book(Cause::Cache, now);
        if self.spec.cache.latency > Duration::ZERO || self.dram.is_some() {
            self.pass_dram(events, id, 0);
        } else {
            self.host.leave(events, now, id, 0);
        }
    }

    /// Uses freed slots: stalled writes continue, flushes may complete, the next programs start.
    pub(super) fn room_in_cache(&mut self, events: &mut EventQueue) {
        if self.waits_apart {
            self.room_in_parts(events);
        } else {
            self.room_in_one_cache(events);
        }
        if self.ftl.has_flushes() {
            self.ftl.settle_flushes(&mut Flash { nand: &mut self.nand, events });
            self.drain_ftl(events, None);
        }
        self.ftl.destage(&mut Flash { nand: &mut self.nand, events });
    }

    #[inline(always)]
    fn room_in_one_cache(&mut self, events: &mut EventQueue) {
        while let Some(&id) = self.host.stalled.front() {
            if !self.admit_units(id) {
                break;
            }
            self.host.stalled.pop_front();
            self.oldest_stall_changed();
            self.admitted(events, id);
        }
    }

    /// Accounts for a unit of write `id` stored by `program`; the write waits for the program that ends last.
    pub(super) fn unit_landed(&mut self, events: &mut EventQueue, id: RequestId, program: &Txn) {
        if !self.was_the_last(id) {
            return;
        }
        let now = events.now();
        let request = self.host.requests.get_mut(id);
        // Waiting for a slot and a block precedes the submission of the program.
        request.book(Cause::Cache, program.mark);
        book_program(&mut request.account, program);
        if self.faults.is_some() {
            Drive::account_stalls(&self.nand, &mut request.account, program, program.mark, now);
        }
        request.mark = now;
        self.host.leave(events, now, id, 0);
    }

    /// Drops a unit of write `id` that was trimmed before its program began.
    pub(super) fn unit_dropped(&mut self, events: &mut EventQueue, id: RequestId) {
        if self.was_the_last(id) {
            let now = events.now();
            self.host.requests.get_mut(id).book(Cause::Cache, now);
            self.host.leave(events, now, id, 0);
        }
    }

    /// Counts down the units that a write waits for; true if none is left in the cache or in flight.
    fn was_the_last(&mut self, id: RequestId) -> bool {
        let request = self.host.requests.get_mut(id);
        request.unprogrammed -= 1;
        request.unprogrammed == 0 && request.admitted == request.units
    }

    pub(super) fn flush(&mut self, events: &mut EventQueue, id: RequestId) {
        let lpn = self.host.requests.get(id).lpn;
        self.ftl.flush(&mut Flash { nand: &mut self.nand, events }, id, lpn);
        if self.ftl.has_flushes() {
            self.leave_deterministic_window(events);
        }
        self.drain_ftl(events, None);
    }

    pub(super) fn flush_ends(&mut self, events: &mut EventQueue, id: RequestId) {
        let now = events.now();
        self.host.requests.get_mut(id).book(Cause::Cache, now);
        self.host.leave(events, now, id, 0);
    }

    pub(super) fn trim(&mut self, events: &mut EventQueue, id: RequestId) {
        self.counters.trimmed_units += self.deallocate(events, id);
    }

    /// Deallocates the units that request `id` covers; returns how many of them were mapped.
    pub(super) fn deallocate(&mut self, events: &mut EventQueue, id: RequestId) -> u64 {
        let request = *self.host.requests.get(id);
        let from = request.lpn + u32::from(request.partial[0]);
        let to = Lpn((request.lpn.0 + request.units).saturating_sub(u32::from(request.partial[1])));
        let mapped = self.ftl.trim(id, from, to);
        if let Some(cache) = &mut self.read_cache {
            cache.invalidate(&mut self.counters, from, to);
        }
        self.drain_ftl(events, None);
        // Stalled writes and flushes may have waited for the trimmed slots only.
        if !self.host.stalled.is_empty() || self.ftl.has_flushes() {
            self.room_in_cache(events);
        }
        mapped
    }
}
