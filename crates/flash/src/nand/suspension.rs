//! Scheduling of suspensions: stop, service and resume. The effect of a stop on the train is decided by the scheme
//! ([`crate::suspend`]) and applied by the die ([`crate::die`]).

use super::Nand;
use super::power::budget::Next;
use super::queue::Queue;
use crate::command::{Class, DieActivity};
use crate::die::{LongOp, State};
use crate::ids::TxnId;
use crate::suspend::{Decision, Reload, ResumePolicy, SuspendScheme, Suspended};
use interpulse_engine::{Duration, EventQueue, SimTime};

impl Nand {
    // ---- stopping -------------------------------------------------------------------------------------

    /// Whether a transaction of this class may stop the operation on die `d`.
    #[inline]
    pub(super) fn may_preempt(&self, d: usize, class: Class) -> bool {
        let op = self.dies[d].long().expect("an operation is on the die");
        self.may_stop_for(op, class, &self.contexts[d].queue)
    }

    /// Whether a transaction of this class may stop `op`, which is on the die of this queue.
    #[inline]
    fn may_stop_for(&self, op: &LongOp, class: Class, queue: &Queue) -> bool {
        if !op.may_stop {
            return false;
        }
        let preemptors = &self.suspend_policy(op).preemptors;
        match class {
            Class::HostRead => preemptors.host_reads,
            Class::GcRead => preemptors.gc_reads,
            // Close to the last free block an erase is what writes wait for.
            Class::HostWrite => preemptors.host_writes && op.erases() && queue.gc_urgent == 0,
            Class::GcWrite | Class::Erase => false,
        }
    }

    /// Whether a waiting transaction may stop the operation on die `d`.
    #[inline]
    pub(super) fn is_preempted(&self, d: usize) -> bool {
        let queue = &self.contexts[d].queue;
        if queue.is_empty() {
            return false;
        }
        let op = self.dies[d].long().expect("an operation is on the die");
        // Most operations give way to one class: what the policy says is looked at before what waits.
        let waits = |class| self.may_stop_for(op, class, queue) && queue.first(class) != TxnId::NONE;
        waits(Class::HostRead) || waits(Class::GcRead) || waits(Class::HostWrite)
    }

    /// Requests a stop of a pulsing die: stops the train if scheme and limits allow, once.
    pub(super) fn request_stop(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        if self.contexts[d].active.stop_requested {
            return;
        }
        if self.nested_erase_is_due(now, d) {
            self.counters.stops_refused_by_limit += 1;
            self.contexts[d].active.stop_requested = true;
            return;
        }
        if self.register_refuses(d) {
            self.counters.stops_refused_by_cache += 1;
            self.contexts[d].active.stop_requested = true;
            return;
        }
        let at = self.dies[d].progress_at(now, self.oldest_write);
        let op = self.dies[d].long().expect("only a pulsing die is asked to stop");
        let effect = op.effect;
        let (elapsed, decision) = (at.elapsed, self.suspend_policy(op).decide(&at));
        self.contexts[d].active.stop_requested = true;
        let stop = match decision {
            Decision::RunsToEnd => return,
            Decision::Refused => {
                self.counters.stops_refused_by_limit += 1;
                return;
            }
            Decision::NotBefore(then) => {
                self.counters.stops_put_off += 1;
                let end = self.dies[d].pulses_end();
                events.arm(self.timer(d), then.min(end));
                return;
            }
            Decision::Stop(stop) => stop,
        };
        let halt = self.dies[d].accept_stop(now, stop);
        self.counters.stop_time += halt.as_ns() - now.as_ns();
        let lost = (elapsed + stop.after - stop.keeps).as_ns();
        *self.counters.trains(effect).redone += lost;
        if halt == now {
            // The timer of the train's end must not outlive the train: the die may wait for the bus.
            events.disarm(self.timer(d));
            self.halted(events, now, d);
        } else {
            events.arm(self.timer(d), halt);
        }
    }

    /// Whether the erase suspended beneath the program on die `d` has used up its limits: the program then runs to its end.
    #[inline]
    fn nested_erase_is_due(&self, now: SimTime, d: usize) -> bool {
        let die = &self.dies[d];
        die.beneath().is_some_and(|erase| {
            let policy = self.suspend_policy(erase);
            policy.has_time_limit()
                && die.suspension_beneath(now).is_some_and(|so_far| policy.suspend_limit_reached(so_far, now))
        })
    }

    /// Timer of a pulsing die: the train ends, or a postponed stop may be requested again.
    pub(super) fn pulsed(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        let end = self.dies[d].pulses_end();
        if now >= end {
            self.count_pulses(now, d);
            self.finished(events, now, d);
            return;
        }
        events.arm(self.timer(d), end);
        self.contexts[d].active.stop_requested = false;
        if self.is_preempted(d) {
            self.request_stop(events, now, d);
        }
    }

    /// Counts the pulses that end now, at a halt or at the train's end.
    pub(super) fn count_pulses(&mut self, now: SimTime, d: usize) {
        let (pulsed, progress) = self.dies[d].pulsed(now);
        let ramp = pulsed - progress;
        let op = self.dies[d].long().expect("an operation has pulsed");
        let kind = op.kind;
        let further = if op.erases() { self.blocks_erased(d) - 1 } else { 0 };
        self.counters.multi_block_pulse_time += pulsed.as_ns() * u64::from(further);
        *self.counters.trains(op.effect).pulsed += pulsed.as_ns();
        // A program's pulses are put on the die as they begin.
        self.supply.tally.book_run(kind, self.dies[d].command_time(now), ramp);
        self.counters.ramp_time += ramp.as_ns();
    }

    /// The train has stopped: enters the suspension.
    pub(super) fn halted(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        self.count_pulses(now, d);
        let op = self.dies[d].long().expect("the halted operation");
        let (kind, effect, planes) = (op.kind, op.effect, op.width);
        let blocks = if op.erases() { self.blocks_erased(d) } else { 1 };
        let addressed = op.block.is_some();
        let stress = self.suspend_policy(op).stress_ppm;
        if let Some(phases) = self.dies[d].thrown_away(now) {
            self.supply.tally.book_phases(kind, phases);
        }
        let entry = self.dies[d].halt(now, stress, self.seq);
        if addressed {
            self.counters.suspend_stress += u64::from(stress) * u64::from(planes * blocks);
            if stress > 0 && self.geometry.sub_blocks > 1 {
                self.stress_whole_block(d, stress);
            }
        }
        *self.counters.trains(effect).suspends += 1;
        self.counters.nested_suspends += u64::from(self.dies[d].beneath().is_some());
        self.contexts[d].active.buffer_used = false;
        if self.has_registers() {
            self.stop_loading_ahead(events, d);
        }
        if entry > Duration::ZERO {
            self.counters.entry_time += entry.as_ns();
            let discharge = self.discharge_of(&self.dies[d]);
            self.supply.tally.book_discharge(discharge);
            events.arm(self.timer(d), now + entry);
        } else {
            self.release_power(d);
            self.next_on(events, now, d);
        }
    }

    // ---- in suspension --------------------------------------------------------------------------------

    /// Whether the suspension on die `d` continues for a waiting transaction.
    pub(super) fn would_serve(&mut self, now: SimTime, d: usize) -> bool {
        let policy = self.suspend_policy(self.dies[d].long().expect("an operation is suspended"));
        !matches!(policy.resume, ResumePolicy::Timer(_))
            && !self.must_resume(now, d)
            && self.served_in_suspension(d).is_some()
    }

    /// Whether a limit ends the suspension on die `d`.
    #[inline]
    pub(super) fn must_resume(&self, now: SimTime, d: usize) -> bool {
        let policy = self.suspend_policy(self.dies[d].long().expect("an operation is suspended"));
        (policy.has_time_limit() && policy.suspend_limit_reached(self.dies[d].suspension(now), now))
            || self.nested_erase_is_due(now, d)
    }

    /// The die is suspended: serves a waiting transaction, holds, or resumes.
    pub(super) fn next_in_suspension(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        let policy = self.suspend_policy(self.dies[d].long().expect("an operation is suspended"));
        let hold_until = match policy.resume {
            ResumePolicy::Timer(length) => {
                // This may be the hold's own end, or come before it.
                events.disarm(self.timer(d));
                let until = self.dies[d].entered() + length;
                if now >= until {
                    self.resume(events, now, d);
                    return;
                }
                Some(until)
            }
            ResumePolicy::Drained | ResumePolicy::Batch => None,
        };
        if self.must_resume(now, d) {
            self.resume(events, now, d);
            return;
        }
        if let Some(class) = self.served_in_suspension(d) {
            let id = self.contexts[d].queue.pop(&self.txns, class);
            self.account_wait(now, d, id);
            self.dispatch(events, now, d, id);
            return;
        }
        match hold_until {
            Some(until) => {
                events.arm(self.timer(d), self.patience_end(now, d).map_or(until, |end| end.min(until)))
            }
            None => self.resume(events, now, d),
        }
    }

    /// Transactions with a number below this are served while the operation on die `d` is suspended.
    #[inline]
    pub(super) fn serves_before(&self, d: usize) -> u64 {
        let op = self.dies[d].long().expect("an operation is suspended");
        if self.suspend_policy(op).resume == ResumePolicy::Batch { op.batch_end } else { u64::MAX }
    }

    /// The class of transactions that the suspended die serves next, if any.
    #[inline]
    pub(super) fn served_in_suspension(&self, d: usize) -> Option<Class> {
        let queue = &self.contexts[d].queue;
        if queue.is_empty() {
            return None;
        }
        let op = self.dies[d].long().expect("an operation is suspended");
        let end = self.serves_before(d);
        let waits = |class| {
            self.may_stop_for(op, class, queue) && {
                let id = queue.first(class);
                id != TxnId::NONE && self.txns.get(id).seq < end
            }
        };
        let host = waits(Class::HostRead);
        if waits(Class::GcRead) {
            let before = queue.urgent_read(&self.txns, self.config.gc_reads) == Some(Class::GcRead);
            if !host || before {
                return Some(Class::GcRead);
            }
        }
        if host {
            return Some(Class::HostRead);
        }
        waits(Class::HostWrite).then_some(Class::HostWrite)
    }

    fn patience_end(&self, now: SimTime, d: usize) -> Option<SimTime> {
        let policy = self.suspend_policy(self.dies[d].long().expect("an operation is suspended"));
        let Suspended { first, spent: suspended, .. } = self.dies[d].suspension(now);
        let by_time = policy.max_suspended_time.map(|most| now + (most - suspended));
        let by_age = policy.timeout.map(|most| first + most);
        by_time.into_iter().chain(by_age).min()
    }

    // ---- resuming -------------------------------------------------------------------------------------

    /// Resumes the operation: its page buffer is loaded again if reads have used it, then the part leaves the suspension.
    fn resume(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        let op = self.dies[d].long().expect("an operation is suspended");
        let planes = op.width;
        let policy = self.suspend_policy(op);
        let (free, reload) = (policy.scheme.has_free_resume(), policy.reload);
        if op.erases() || free || !self.contexts[d].active.buffer_used {
            self.leave(events, now, d, Duration::ZERO);
            return;
        }
        match reload {
            Reload::ShadowBuffer(time) => {
                self.counters.reloads += 1;
                self.counters.reload_time += time.as_ns();
                self.leave(events, now, d, time);
            }
            Reload::Bus => {
                self.counters.reloads += 1;
                // The timer of a hold that this resume cuts short must not outlive it.
                events.disarm(self.timer(d));
                if self.txns.get(self.contexts[d].active.long).is_copyback() {
                    self.sense_sources_again(events, now, d);
                    return;
                }
                // A reprogram needs the old page beside the new one.
                let pages = if op.pages.count > 0 { op.pages.count } else { self.geometry.pages_per_program };
                let txn = self.txns.get(self.contexts[d].active.long);
                let pages = self.pages_of_step(txn).unwrap_or(pages);
                let active = &mut self.contexts[d].active;
                (active.loads, active.reload_from) = (pages * planes, now);
                self.request_load(events, now, d, Duration::ZERO);
            }
        }
    }

    /// The controller has sent the data of the suspended program again.
    pub(super) fn reloaded(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        self.counters.reload_time += now.since(self.contexts[d].active.reload_from).as_ns();
        self.leave(events, now, d, Duration::ZERO);
    }

    /// Leaves the suspension, after `reload` on the die, as soon as the power budget allows.
    fn leave(&mut self, events: &mut EventQueue, now: SimTime, d: usize, reload: Duration) {
        if self.may_draw(events, now, d, Next::Resume(reload)) {
            self.leave_now(events, now, d, reload);
        }
    }

    pub(super) fn leave_now(&mut self, events: &mut EventQueue, now: SimTime, d: usize, reload: Duration) {
        let cost = self.dies[d].resume_cost();
        self.counters.resume_time += cost.as_ns();
        if cost + reload > Duration::ZERO {
            self.supply.tally.book_reload(reload);
            let block = self.long_block(d);
            self.dies[d].go(now, State::Resuming, DieActivity::Suspended, block);
            events.arm(self.timer(d), now + cost + reload);
        } else {
            self.pulses_from(events, now, d, now);
        }
    }
}
