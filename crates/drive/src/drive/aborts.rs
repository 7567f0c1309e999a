//! Abort commands: the host aborts commands that take longer than its timeout.
//!
//! An Abort command ends a command that waits in its submission queue, or a write of which no unit has a cache slot yet. Any
//! other command continues: the drive has begun it (NVMe leaves this to the drive).

use super::Drive;
use super::abort_state::Target;
use crate::ftl::Ftl;
use interpulse_engine::account::Cause;
use interpulse_engine::{EventQueue, Op, RequestId, SimTime, Status};

impl Drive {
    /// Arms the timer of aborts for what is next, if anything is.
    fn arm_aborts(&mut self, events: &mut EventQueue) {
        let next = self.aborts.as_ref().and_then(|of| of.next());
        if let Some(at) = next.filter(|&at| at <= events.horizon()) {
            events.arm(self.place.later(Drive::abort_timer_index(&self.spec)), at.max(events.now()));
        }
    }

    /// Watches the timeout of a command that is submitted now, if the host aborts commands.
    pub(super) fn watch_timeouts(&mut self, events: &mut EventQueue) {
        let Some(of) = self.aborts.as_mut().filter(|of| of.next_timeout.is_none()) else { return };
        of.next_timeout = Some(events.now() + of.timeout);
        self.arm_aborts(events);
    }

    /// Watches the timeout of a command that enters its queue now, if the host aborts commands: it may have waited in the host
    /// for longer.
    pub(super) fn watch_entering(&mut self, events: &mut EventQueue) {
        let Some(of) = self.aborts.as_mut().filter(|of| of.next_timeout.is_none()) else { return };
        if self.host.queues.waiting() > 0 {
            of.next_timeout = Some(events.now());
            self.arm_aborts(events);
        }
    }

    /// Looks for commands that have timed out, executes Abort commands, completes aborted commands.
    pub(super) fn on_abort_timer(&mut self, events: &mut EventQueue) {
        let now = events.now();
        if self.aborts.as_ref().is_some_and(|of| of.next_timeout.is_some_and(|at| at <= now)) {
            self.abort_late_commands(now);
        }
        let of = self.aborts.as_mut().expect("its timer is armed");
        if of.sent.front().is_some_and(|of| of.0 <= now)
            && let Some((_, target)) = of.sent.pop_front()
        {
            self.execute_abort(events, target);
        }
        // One completion for each event of the timer.
        let of = self.aborts.as_mut().expect("its timer is armed");
        if of.completing.front().is_some_and(|of| of.0 <= now)
            && let Some((_, id)) = of.completing.pop_front()
        {
            let request = self.host.requests.get_mut(id);
            request.book(Cause::Link, now);
            let (queue, op) = (request.queue, request.op);
            self.counters.timed_out(op);
            self.watch_entering(events);
            self.host.complete_unfetched(events, now, id, queue);
        }
        self.arm_aborts(events);
    }

    /// Sends Abort commands for the commands that have timed out, as many as the limit allows.
    fn abort_late_commands(&mut self, now: SimTime) {
        let of = self.aborts.as_mut().expect("its timer is armed");
        let in_progress = |target: &Target| {
            self.host.commands().any(|(id, request)| id == target.id && request.submitted == target.submitted)
        };
        of.tried.retain(in_progress);
        let mut next = None;
        let mut late = Vec::new();
        for (id, request) in self.host.commands() {
            let target = Target { id, submitted: request.submitted };
            if of.tried.contains(&target) {
                continue;
            }
            let expires = request.submitted + of.timeout;
            if expires > now {
                next = next.into_iter().chain([expires]).min();
            } else {
                late.push(target);
            }
        }
        late.sort_by_key(|of| of.submitted);
        for target in late {
            if of.sent.len() < of.most {
                of.tried.push(target);
                of.sent.push_back((self.host.send_abort(now, of.firmware), target));
                self.counters.aborts += 1;
            } else {
                // The host tries again after another timeout.
                self.counters.aborts_postponed += 1;
                next = next.into_iter().chain([now + of.timeout]).min();
            }
        }
        of.next_timeout = next;
    }

    fn execute_abort(&mut self, events: &mut EventQueue, target: Target) {
        let now = events.now();
        let found = self.host.commands().find(|(id, _)| *id == target.id).map(|(_, request)| *request);
        let Some(request) = found.filter(|request| request.submitted == target.submitted) else { return };
        let Target { id, .. } = target;
        if self.host.queues.take_out(usize::from(request.queue), id) {
            let at = now + self.host.completion_time();
            let request = self.host.requests.get_mut(id);
            request.book(Cause::Queue, now);
            self.vectors.forget(request);
            (request.status, request.bytes) = (Status::CommandAbortRequested, 0);
            self.counters.commands_aborted += 1;
            self.aborts.as_mut().expect("an Abort command").completing.push_back((at, id));
        } else if request.op == Op::Write && request.admitted == 0 && self.ftl.deallocates(request.lpn) {
            self.abort_stalled_write(events, id);
        }
    }

    /// Ends a write that waits for its first cache slot; nothing if `id` does not.
    fn abort_stalled_write(&mut self, events: &mut EventQueue, id: RequestId) {
        let Some(at) = self.host.stalled.iter().position(|&of| of == id) else { return };
        let now = events.now();
        self.host.stalled.remove(at);
        self.host.requests.get_mut(id).book(Cause::Cache, now);
        self.counters.commands_aborted += 1;
        self.stall_ended(id);
        self.refuse(events, id, Status::CommandAbortRequested);
    }
}
