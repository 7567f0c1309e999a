//! Commands inside the drive: execution after firmware, reads, completion.

use super::Drive;
use crate::ftl::{Flash, Ftl};
use crate::host_interface::egress_queue::Ready;
use crate::host_interface::request::FailFast;
use crate::numbers::Lpn;
use crate::owner::Owner;
use interpulse_engine::account::Cause;
use interpulse_engine::{Duration, EventQueue, Op, Request, RequestId, SimTime, Status, Tag};
use interpulse_flash::nand::Ended;
use interpulse_flash::nand::txn::Txn;

impl Drive {
    #[inline(always)]
    pub(super) fn firmware_done(&mut self, events: &mut EventQueue, id: RequestId) {
        if self.has_detours {
            self.takes_detours(events, id);
        } else {
            self.execute(events, id, Cause::Firmware);
        }
    }

    /// As [`Drive::firmware_done`] of a drive with formats, faults, firmware cores by task, a read cache, or queues that matter to the
    /// dies or to the write cache.
    #[cold]
    #[inline(never)]
    fn takes_detours(&mut self, events: &mut EventQueue, id: RequestId) {
        if self.formats.is_some() && self.meets_format(events, id) {
            return;
        }
        if self.faults.is_some() && self.meets_fault(events, id) {
            return;
        }
        if self.firmware.is_some() && (self.looks_up(events, id) || self.deallocates_ranges(events, id)) {
            return;
        }
        self.execute_out_of_line(events, id, Cause::Firmware);
    }

    /// Resumes the command `id`, whose map entries are in memory.
    #[cold]
    pub(super) fn mapped(&mut self, events: &mut EventQueue, id: RequestId) {
        self.execute_out_of_line(events, id, Cause::Mapping);
    }

    /// As [`Drive::execute`], which is in line where all commands come from, of any drive.
    #[cold]
    #[inline(never)]
    pub(super) fn execute_out_of_line(&mut self, events: &mut EventQueue, id: RequestId, waited: Cause) {
        self.rank_reads(id);
        if self.read_cache.is_some() && self.host.requests.get(id).op == Op::Read {
            let now = events.now();
            self.host.requests.get_mut(id).book(waited, now);
            if self.reads_copies(events, id) {
                return;
            }
        }
        self.execute(events, id, waited);
    }

    /// Books the time since the last booking on `waited` and executes the command, once its map entries are in memory.
    #[inline(always)]
    fn execute(&mut self, events: &mut EventQueue, id: RequestId, waited: Cause) {
        let now = events.now();
        let request = self.host.requests.get_mut(id);
        request.book(waited, now);
        let mut flash = Flash { nand: &mut self.nand, events };
        if request.op != Op::Flush
            && !self.ftl.map_entries(&mut flash, id, request.queue, request.lpn, request.units)
        {
            return;
        }
        match request.op {
            Op::Read => {
                let (lpn, units, bytes, fail_fast) =
                    (request.lpn, request.units, request.bytes, request.fail_fast);
                if fail_fast != FailFast::No && self.fails_fast(events, id) {
                    return;
                }
                let reads = self.read_units(events, id, lpn, lpn + units, self.reads_end_early);
                match reads {
                    0 => match self.ftl.accept_read(lpn, lpn + units) {
                        Ok(()) => self.pass_dram(events, id, bytes),
                        Err(status) => self.refuse(events, id, status),
                    },
                    // The end of the only read is the end of the request.
                    1 => {}
                    _ => self.host.requests.get_mut(id).reads_left = reads,
                }
            }
            Op::Write => {
                let (lpn, units, bytes) = (request.lpn, request.units, request.bytes);
                if let Err(status) = self.ftl.accept_write(lpn, units, request.partial == [false; 2]) {
                    return self.refuse(events, id, status);
                }
                // No prefetch hint was given: the owner is an array, or a host without flows.
                if self.place.host_timers == 0 {
                    self.ftl.prefetch_older(lpn);
                }
                self.host.ask_for_data(events, now, id, bytes);
            }
            op => self.execute_other(events, id, op),
        }
    }

    /// As [`Drive::execute`] of a command that is neither a read nor a write. Out of line, those two take less.
    #[inline(never)]
    fn execute_other(&mut self, events: &mut EventQueue, id: RequestId, op: Op) {
        match op {
            Op::Read | Op::Write => unreachable!("executed in line"),
            Op::Trim => {
                if let Err(status) = self.ftl.accept_trim() {
                    return self.refuse(events, id, status);
                }
                let now = events.now();
                self.trim(events, id);
                self.host.leave(events, now, id, 0);
            }
            Op::WriteZeroes => self.write_zeroes(events, id),
            Op::Compare => self.compare(events, id),
            Op::Flush => self.flush(events, id),
            Op::Append => self.append(events, id),
            Op::Zone(action) => self.zone_command(events, id, action),
            Op::Vector(action) => self.vector_command(events, id, action),
        }
    }

    /// Reads the logical units `from..to` for request `id`, with early completion as in
    /// [`Ftl::read`](crate::ftl::Ftl::read); returns the number of flash reads.
    #[inline(never)]
    pub(super) fn read_units(
        &mut self,
        events: &mut EventQueue,
        id: RequestId,
        from: Lpn,
        to: Lpn,
        early: bool,
    ) -> u32 {
        if self.read_cache.is_some() {
            return self.read_through(events, id, from, to);
        }
        let owner = Owner::Host(id).into();
        let mut flash = Flash { nand: &mut self.nand, events };
        let found = self.ftl.read_in_line(&mut flash, owner, from, to, early);
        self.counters.cache_read_hits += u64::from(found.cached);
        self.counters.unmapped_reads += u64::from(found.unmapped);
        found.reads
    }

    /// Completes an error-free page read that the flash array still holds.
    #[inline(always)]
    pub(super) fn read_ended(&mut self, events: &mut EventQueue, ended: Ended) {
        let now = events.now();
        let txn = self.nand.ended_txn(ended);
        let id = match Owner::of(txn) {
            Owner::Host(id) => id,
            Owner::Gc(read) if self.firmware.is_none() => {
                let block = txn.block;
                self.nand.remove_ended(ended);
                self.ftl.page_collected(&mut Flash { nand: &mut self.nand, events }, read, block);
                return;
            }
            _ => return self.other_read_ended(events, ended),
        };
        let request = self.host.requests.get_mut(id);
        let last = request.page_read(txn, ended.at);
        let (op, bytes) = (request.op, request.bytes);
        self.nand.remove_ended(ended);
        let ready = Ready { at: ended.at, by: ended.by };
        if ready > Ready::now(events) {
            self.host.will_leave(events, ready, id, bytes);
        } else if last {
            self.all_read(events, now, id, op, bytes);
        }
    }

    /// As [`Drive::read_ended`] of reads that few drives have.
    #[cold]
    #[inline(never)]
    fn other_read_ended(&mut self, events: &mut EventQueue, ended: Ended) {
        let txn = self.nand.remove_ended(ended);
        match Owner::of(&txn) {
            Owner::Gc(read) => self.units_read(events, read, &txn),
            Owner::ReadAhead(fill) => self.ahead_read_done(events, fill, false),
            _ => self.map_read_done(events, &txn),
        }
    }

    /// Completes the read of a translation page, which may resume commands.
    #[cold]
    #[inline(never)]
    pub(super) fn map_read_done(&mut self, events: &mut EventQueue, txn: &Txn) {
        let mut flash = Flash { nand: &mut self.nand, events };
        match Owner::of(txn) {
            Owner::Map(id) => self.ftl.map_read_done(&mut flash, id, txn),
            Owner::Translation(page) => self.ftl.translation_page_read(&mut flash, page, txn),
            owner => unreachable!("a translation page read by {owner:?}"),
        }
        self.drain_ftl(events, None);
    }

    /// Completes a page read of request `id`; `failed` if its data is uncorrectable.
    pub(super) fn host_read_done(&mut self, events: &mut EventQueue, id: RequestId, txn: &Txn, failed: bool) {
        let now = events.now();
        let request = self.host.requests.get_mut(id);
        if failed {
            request.status = Status::UnrecoveredReadError;
        }
        let submitted = request.mark;
        let last = request.page_read(txn, now);
        if last && self.faults.is_some() {
            Drive::account_stalls(&self.nand, &mut request.account, txn, submitted, txn.mark);
        }
        let (op, bytes) = (request.op, request.bytes);
        if last {
            self.all_read(events, now, id, op, bytes);
        }
    }

    #[inline]
    fn all_read(&mut self, events: &mut EventQueue, now: SimTime, id: RequestId, op: Op, bytes: u64) {
        if self.read_cache.is_some() {
            self.end_fill_of(events, id);
        }
        self.data_ready(events, now, id, op, bytes);
    }

    /// Continues a request whose data from flash is in the controller.
    #[inline]
    pub(super) fn data_ready(
        &mut self,
        events: &mut EventQueue,
        now: SimTime,
        id: RequestId,
        op: Op,
        bytes: u64,
    ) {
        if op == Op::Read {
            self.host.leave(events, now, id, bytes);
        } else {
            self.stored_data_ready(events, now, id, op);
        }
    }

    /// As [`Drive::data_ready`] of a command that does not return the data.
    #[inline(never)]
    fn stored_data_ready(&mut self, events: &mut EventQueue, now: SimTime, id: RequestId, op: Op) {
        match op {
            Op::Compare => self.host.leave(events, now, id, 0),
            Op::WriteZeroes => self.admit_zeroes(events, id),
            _ => self.admit(events, id),
        }
    }

    /// Lets the read `id`, which has just been submitted or has just entered its queue, fail in firmware if it would
    /// [wait](interpulse_flash::nand::FailFastFor).
    pub fn allow_fail_fast(&mut self, id: RequestId) {
        debug_assert_eq!(self.host.requests.get(id).op, Op::Read);
        self.host.allow_fail_fast(id);
    }

    /// As [`Device::submit`](interpulse_engine::Device::submit) of a drive whose host splits requests or aborts commands.
    #[cold]
    #[inline(never)]
    pub(super) fn submit_watched(
        &mut self,
        events: &mut EventQueue,
        queue: u32,
        tag: Tag,
        request: Request,
    ) -> Option<RequestId> {
        self.watch_timeouts(events);
        let commands = self.host.commands_of(&request);
        if commands > 1 {
            self.counters.split_requests += 1;
            self.counters.split_commands += u64::from(commands);
            return self.host.submit_split(events, queue as usize, tag, request);
        }
        self.host.submit(events, queue, tag, request)
    }

    /// Fails the fail-fast read `id` if it would wait: its completion leaves without data.
    #[cold]
    pub(super) fn fails_fast(&mut self, events: &mut EventQueue, id: RequestId) -> bool {
        let now = events.now();
        let (lpn, units) = {
            let request = self.host.requests.get(id);
            (request.lpn, request.units)
        };
        let waits = self.ftl.waits_for_collection(&Flash { nand: &mut self.nand, events }, lpn, units);
        if waits {
            let request = self.host.requests.get_mut(id);
            (request.fail_fast, request.bytes) = (FailFast::Failed, 0);
            self.host.leave(events, now, id, 0);
        }
        waits
    }

    pub(super) fn dram_done(&mut self, events: &mut EventQueue, id: RequestId) {
        let now = events.now();
        let request = self.host.requests.get_mut(id);
        request.book(Cause::Cache, now);
        let bytes = if request.op == Op::Read { request.bytes } else { 0 };
        self.host.leave(events, now, id, bytes);
    }

    /// Counts a command that has taken longer than the timeout of the host.
    #[inline(never)]
    fn compare_with_timeout(&mut self, events: &mut EventQueue, op: Op, latency: Duration, limit: Duration) {
        if latency > limit {
            self.counters.timed_out(op);
        }
        self.watch_entering(events);
    }

    pub(super) fn complete(&mut self, events: &mut EventQueue, id: RequestId) {
        let now = events.now();
        let request = self.host.requests.get_mut(id);
        request.book(Cause::Link, now);
        let (queue, op) = (request.queue, request.op);
        let latency = now.since(request.submitted);
        if let Some(limit) = self.spec.host.command_timeout {
            self.compare_with_timeout(events, op, latency, limit);
        }
        if self.outage.is_some() {
            self.ftl.acknowledged(id);
        }
        self.host.complete(events, now, id, queue);
    }
}
