//! Queries of an array controller before it submits, and suspension limits it may change at run time.

use super::queue::{GcReadRank, Policy};
use super::{FailFastFor, Nand};
use crate::command::Class;
use crate::die::State;
use crate::ids::{DieId, TxnId};
use crate::parts::PartSpec;
use crate::suspend::{Decision, SuspendLimits};
use interpulse_engine::{Bytes, SimTime};

impl Nand {
    /// Sets what fail-fast reads do not wait for.
    pub fn set_fail_fast_for(&mut self, what: FailFastFor) {
        self.fail_fast_for = what;
    }

    /// Whether a fail-fast host read submitted to `die` now would wait: for an active operation that is not stopped for the read,
    /// or for a queued one that goes first. Retries of reads, and limits that apply to an operation about to resume, are not
    /// predicted. Changes nothing.
    pub fn read_fails_fast(&self, die: DieId, now: SimTime) -> bool {
        let d = die.index();
        self.is_in_the_way(d, now) || self.goes_first(d)
    }

    fn is_in_the_way(&self, d: usize, now: SimTime) -> bool {
        let (die, active) = (&self.dies[d], &self.contexts[d].active);
        if die.state() == State::Idle {
            return false;
        }
        if active.moved < active.count {
            // Reads that have moved may be gone already.
            let reads = &active.reads[active.moved as usize..active.count as usize];
            return reads.iter().any(|&id| self.txns.get(id).kind.command().class == Class::GcRead);
        }
        let concerns = |class| self.fail_fast_for.is_for(class);
        let Some(op) = die.long().filter(|op| concerns(op.kind.command().class)) else { return false };
        match die.state() {
            // The operation has stopped, or is about to.
            State::Stopping | State::Entering | State::Suspended | State::Held | State::Retrying => false,
            // The operation resumes and is stopped again.
            State::Resuming => !self.may_preempt(d, Class::HostRead),
            State::Pulsing => {
                let at = die.progress_at(now, self.oldest_write);
                !self.may_preempt(d, Class::HostRead)
                    || active.stop_requested
                    || self.register_refuses(d)
                    || !matches!(self.suspend_policy(op).decide(&at), Decision::Stop(_))
            }
            // Only pulses can be stopped.
            _ => true,
        }
    }

    fn goes_first(&self, d: usize) -> bool {
        let queue = &self.contexts[d].queue;
        let waits = |class| self.fail_fast_for.is_for(class) && queue.first(class) != TxnId::NONE;
        match (self.config.policy, self.config.gc_reads) {
            (Policy::Fifo, _) => {
                [Class::GcRead, Class::GcWrite, Class::Erase, Class::HostWrite].into_iter().any(waits)
            }
            (Policy::ReadPriority | Policy::HostFirst, GcReadRank::WithHostReads) => waits(Class::GcRead),
            (Policy::ReadPriority | Policy::HostFirst, _) => false,
        }
    }

    /// Sets what a read of a part of a unit ([`Txn::PART_OF_UNIT`](super::txn::Txn::PART_OF_UNIT)) moves over the channel of
    /// `part`, whose data has no errors.
    pub fn set_part_of_unit(&mut self, part: &PartSpec, bytes: Bytes) {
        self.timing.set_part_of_unit(part, bytes);
    }

    /// The limits of suspensions of programs and of erases.
    pub fn suspend_limits(&self) -> [SuspendLimits; 2] {
        self.policies.present().map(|policy| policy.limits())
    }

    /// Replaces the limits of suspensions of programs and of erases, for those under way too.
    pub fn set_suspend_limits(&mut self, limits: [SuspendLimits; 2]) {
        for (policy, limits) in self.policies.present_mut().iter_mut().zip(limits) {
            policy.set_limits(limits);
        }
    }
}
