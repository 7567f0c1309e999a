//! The host's side: flows, submission, firmware, reads, completion.

use super::request::{NO_ACCOUNT, Request};
use super::{Drive, FlowState};
use crate::account::{Cause, book_flash};
use crate::ftl::Flash;
use interpulse_engine::{Agenda, Duration, SimTime};
use interpulse_flash::nand::txn::Txn;
use interpulse_workload::{Op, Pacing};

impl Drive {
    // ---- flows --------------------------------------------------------------------------------------

    pub(super) fn start_flow(&mut self, agenda: &mut Agenda, f: usize) {
        if let Some((at, request)) = self.next_of(f) {
            self.arm_flow(agenda, f, at, request);
        }
    }

    /// Sets the timer of a flow for the arrival of its next request.
    pub(super) fn arm_flow(
        &mut self,
        agenda: &mut Agenda,
        f: usize,
        at: SimTime,
        request: interpulse_workload::Request,
    ) {
        if at > agenda.horizon() {
            self.flows[f].exhausted = true;
            self.failure = Some(format!(
                "flow `{}`: a request arrives at {at}, later than the {} that a drive of this size can simulate",
                self.flows[f].name,
                agenda.horizon()
            ));
            return;
        }
        self.flows[f].next = Some((at, request));
        agenda.arm(self.flow_timer(f), at.max(agenda.now()));
    }

    /// The timer of a flow: the start of a closed flow, an arrival of an open one.
    pub(super) fn on_flow(&mut self, agenda: &mut Agenda, f: usize) {
        let (_, request) = self.flows[f].next.take().expect("a flow's timer is armed for a request");
        if self.closed {
            return;
        }
        let queue = self.flows[f].queue as usize;
        self.submit(agenda, f, queue, request);
        if self.flows[f].depth > 0 {
            for _ in 1..self.flows[f].depth {
                self.submit_next(agenda, f);
            }
            return;
        }
        if let Some((at, request)) = self.next_of(f) {
            self.arm_flow(agenda, f, at, request);
        }
    }

    #[inline]
    pub(super) fn submit_next(&mut self, agenda: &mut Agenda, f: usize) {
        if agenda.now() >= self.flows[f].stop {
            self.flows[f].exhausted = true;
        }
        if let Some((_, request)) = self.next_of(f) {
            let queue = self.flows[f].queue as usize;
            self.submit(agenda, f, queue, request);
        }
    }

    #[inline]
    fn next_of(&mut self, f: usize) -> Option<(SimTime, interpulse_workload::Request)> {
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

    pub(super) fn flow_timer(&self, f: usize) -> interpulse_engine::ResourceId {
        interpulse_engine::ResourceId(self.first + self.flash_resources + super::OWN_LINES + f as u32)
    }

    // ---- submission -----------------------------------------------------------------------------------

    #[inline]
    pub(super) fn submit(
        &mut self,
        agenda: &mut Agenda,
        f: usize,
        queue: usize,
        request: interpulse_workload::Request,
    ) -> u32 {
        let now = agenda.now();
        self.issued += 1;
        let end = request.sector + u64::from(request.sectors);
        let unit = 1u64 << self.unit_shift;
        let lpn = (request.sector >> self.unit_shift) as u32;
        let units = (((end + unit - 1) >> self.unit_shift) - u64::from(lpn)) as u32;
        // The first look-up of a random address misses every cache: start it now, use it after firmware.
        if request.sectors > 0 {
            self.ftl.prefetch(lpn);
        }
        let id = self.requests.insert(Request {
            op: request.op,
            flow: f as u32,
            lpn,
            units: if request.op == Op::Flush { 0 } else { units },
            bytes: u64::from(request.sectors) * 512,
            partial: [request.sector & (unit - 1) != 0, end & (unit - 1) != 0],
            reads_left: 0,
            admitted: 0,
            unprogrammed: 0,
            submitted: now,
            mark: now,
            failed: false,
            fail_fast: false,
            busy: false,
            account: NO_ACCOUNT,
        });
        if self.queues.submit(queue, id) {
            self.fetch(agenda, now, id);
        }
        id
    }

    /// The controller fetches the command and starts its firmware.
    #[inline]
    fn fetch(&mut self, agenda: &mut Agenda, now: SimTime, id: u32) {
        let fetched = self.link_in.send(now, self.submission_time);
        let request = self.requests.get_mut(id);
        request.book(Cause::Queue, now);
        request.book(Cause::Link, fetched);
        self.firmware.push(agenda, fetched + self.spec.host.firmware, id);
    }

    pub(super) fn firmware_done(&mut self, agenda: &mut Agenda, id: u32) {
        let now = agenda.now();
        let request = self.requests.get_mut(id);
        request.book(Cause::Firmware, now);
        match request.op {
            Op::Read => self.read(agenda, now, id),
            Op::Write => {
                let (lpn, bytes) = (request.lpn, request.bytes);
                self.ftl.prefetch_older(lpn);
                let at = self.link_in.send(now, self.link_in.time(bytes));
                self.arriving.push(agenda, at, id);
            }
            Op::Trim => {
                self.trim(agenda, id);
                self.leave(agenda, now, id, 0);
            }
            Op::Flush => self.flush(agenda, id),
        }
    }

    // ---- reads ----------------------------------------------------------------------------------------

    #[inline]
    fn read(&mut self, agenda: &mut Agenda, now: SimTime, id: u32) {
        let (lpn, units) = {
            let request = self.requests.get(id);
            (request.lpn, request.units)
        };
        if self.requests.get(id).fail_fast && self.fails_fast(agenda, id) {
            return;
        }
        let reads = self.read_units(agenda, id, lpn, lpn + units);
        if reads == 0 {
            self.dram.push(agenda, now + self.spec.cache.latency, id);
        }
    }

    /// Reads the logical units `from..to` for request `id`; returns the flash reads it takes.
    pub(super) fn read_units(&mut self, agenda: &mut Agenda, id: u32, from: u32, to: u32) -> u32 {
        let look = self.ftl.read(&mut Flash { nand: &mut self.nand, agenda }, id, from, to);
        self.window.counters.cache_read_hits += u64::from(look.cached);
        self.window.counters.unmapped_reads += u64::from(look.unmapped);
        self.requests.get_mut(id).reads_left += look.reads;
        look.reads
    }

    pub(super) fn host_read_done(&mut self, agenda: &mut Agenda, txn: &Txn, failed: bool) {
        let now = agenda.now();
        let request = self.requests.get_mut(txn.owner);
        request.failed |= failed;
        request.reads_left -= 1;
        if request.reads_left > 0 {
            return;
        }
        // The last read to finish is the one the request waited for.
        book_flash(&mut request.account, txn);
        request.account[Cause::Retry as usize] = txn.own;
        request.mark = txn.mark + Duration::from_ns(txn.own);
        request.book(Cause::Decode, now);
        if request.op == Op::Read {
            let bytes = request.bytes;
            self.leave(agenda, now, txn.owner, bytes);
        } else {
            self.admit(agenda, txn.owner);
        }
    }

    // ---- completion -----------------------------------------------------------------------------------

    pub(super) fn dram_done(&mut self, agenda: &mut Agenda, id: u32) {
        let now = agenda.now();
        let request = self.requests.get_mut(id);
        request.book(Cause::Cache, now);
        let bytes = if request.op == Op::Read { request.bytes } else { 0 };
        self.leave(agenda, now, id, bytes);
    }

    /// Sends `bytes` of data and the completion to the host.
    #[inline]
    pub(super) fn leave(&mut self, agenda: &mut Agenda, now: SimTime, id: u32, bytes: u64) {
        let time = if bytes == 0 {
            self.completion_time
        } else {
            self.link_out.time(bytes + crate::host::link::COMPLETION_BYTES)
        };
        let at = self.link_out.send(now, time);
        self.leaving.push(agenda, at, id);
    }

    pub(super) fn complete(&mut self, agenda: &mut Agenda, id: u32) {
        let now = agenda.now();
        let request = self.requests.get_mut(id);
        request.book(Cause::Link, now);
        let latency = Duration::from_ns(now.as_ns() - request.submitted.as_ns());
        let f = request.flow as usize;
        if f < self.flows.len() {
            self.window.complete(f, request.op, request.bytes, latency, &request.account);
        } else {
            self.window.complete_owned(request.op, request.bytes, latency, &request.account);
        }
        if self.spec.host.command_timeout.is_some_and(|limit| latency > limit) {
            self.window.timed_out(request.op);
        }
        if request.failed {
            self.window.uncorrectable(request.op);
        }
        let (failed, busy) = (request.failed, request.busy);
        self.requests.remove(id);
        self.completed += 1;
        self.ftl.acknowledged(id);
        let (queue, again) = match self.flows.get(f) {
            Some(flow) => (flow.queue as usize, flow.depth > 0 && !self.closed),
            None => {
                self.completions.push_back(super::owner::Completion { id, failed, busy });
                (super::owner::QUEUE, false)
            }
        };
        if let Some(next) = self.queues.complete(queue) {
            self.fetch(agenda, now, next);
        }
        if again {
            self.submit_next(agenda, f);
        }
    }
}

impl FlowState {
    pub(super) fn new(flow: interpulse_workload::Flow, name: String, queue: u32) -> FlowState {
        let depth = match flow.pacing() {
            Pacing::Closed { depth } => depth,
            Pacing::Open => 0,
        };
        let stop = flow.stop().unwrap_or(SimTime(u64::MAX));
        FlowState { flow, name, queue, depth, next: None, stop, exhausted: false }
    }
}
