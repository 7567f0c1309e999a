//! Programs and erases in slices: the controller commands each slice on its own, whether or not reads wait between them.

use super::Nand;
use crate::command::DieActivity;
use crate::die::State;
use crate::suspend::SuspendScheme;
use interpulse_engine::{Duration, EventQueue, SimTime};

impl Nand {
    /// A slice of the operation on die `d` has ended, and no stop was accepted: commands the next one. The die keeps its share
    /// of the power budget.
    #[cold]
    #[inline(never)]
    pub(super) fn next_slice(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        let op = self.dies[d].long().expect("an operation has slices");
        let slices = self.suspend_policy(op).scheme.slices();
        let overhead = slices.expect("only `sliced` ends pulses before those of the train").overhead;
        self.counters.slices += 1;
        self.counters.slice_time += overhead.as_ns();
        self.contexts[d].active.buffer_used = false;
        self.dies[d].end_slice(now, overhead);
        if overhead > Duration::ZERO {
            let block = self.long_block(d);
            self.dies[d].go(now, State::Resuming, DieActivity::Suspended, block);
            events.arm(self.timer(d), now + overhead);
        } else {
            self.slice_from(events, now, d, now);
        }
    }

    /// As [`Nand::pulses_from`], of an operation in slices.
    #[cold]
    #[inline(never)]
    pub(super) fn slice_from(&mut self, events: &mut EventQueue, now: SimTime, d: usize, start: SimTime) {
        let die = &self.dies[d];
        let op = die.long().expect("an operation has slices");
        let resumed = op.suspends > 0 && !die.is_between_slices();
        if resumed && self.suspend_policy(op).compensation.is_used() {
            self.compensate(now, d);
        }
        let die = &self.dies[d];
        let op = die.long().expect("an operation has slices");
        let (effect, train) = (op.effect, op.train);
        let policy = self.suspend_policy(op);
        let slices = policy.scheme.slices().expect("the operation was started with slices");
        let kept = op.kept();
        // With `long-operations = "zero"` a train is empty.
        let until = if kept < train.total() { slices.end(&train, kept) } else { kept };
        let inside = kept > Duration::ZERO && die.resumes_inside_pulse();
        let ramp = if inside { policy.resume_ramp } else { Duration::ZERO };
        if resumed {
            let suspended = now.since(die.halted()).as_ns();
            *self.counters.trains(effect).suspended += suspended;
        }
        let end = self.dies[d].start_slice(now, start, ramp, until);
        self.contexts[d].active.stop_requested = false;
        events.arm(self.timer(d), end);
        if self.is_preempted(d) {
            self.request_stop(events, now, d);
        }
        if self.has_registers() {
            self.load_ahead(events, now, d);
        }
    }
}
