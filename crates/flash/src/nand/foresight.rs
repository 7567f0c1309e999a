//! What an owner of several arrays may ask before it submits, and the limits it may change while they run.

use super::Nand;
use super::queue::{GcReadRank, Policy};
use crate::command::Class;
use crate::die::State;
use crate::numbers::{DieId, TxnId};
use crate::suspend::{Decision, SuspendLimits};
use interpulse_engine::SimTime;

impl Nand {
    /// Whether a host read that is submitted to `die` now has to wait for garbage collection: for a read, a program or
    /// an erase of it that the die has in hand and that will not be stopped for the read, or for one in the queue that
    /// goes first. Not foreseen are reads of it that are repeated, and what a limit does
    /// to an operation that is about to go on. Nothing is changed by the question.
    pub fn gc_is_in_the_way(&self, die: DieId, now: SimTime) -> bool {
        let d = die.index();
        self.gc_in_hand(d, now) || self.gc_goes_first(d)
    }

    fn gc_in_hand(&self, d: usize, now: SimTime) -> bool {
        let (die, hand) = (&self.dies[d], &self.bays[d].hand);
        if die.state() == State::Idle {
            return false;
        }
        if hand.moved < hand.count {
            // Those that have moved may be gone already.
            let reads = &hand.reads[hand.moved as usize..hand.count as usize];
            return reads.iter().any(|&id| self.txns.get(id).kind.command().class == Class::GcRead);
        }
        let of_gc = |class| class != Class::HostWrite;
        let Some(op) = die.long().filter(|op| of_gc(op.kind.command().class)) else { return false };
        match die.state() {
            // It has stopped, or is about to.
            State::Stopping | State::Entering | State::Suspended | State::Held | State::Retrying => false,
            // It goes on, and is asked again.
            State::Resuming => !self.may_preempt(d, Class::HostRead),
            State::Pulsing => {
                let at = die.stands_at(now, self.oldest_write);
                !self.may_preempt(d, Class::HostRead)
                    || hand.stop_asked
                    || self.register_refuses(d)
                    || !matches!(self.suspend_policy(op).decide(&at), Decision::Stop(_))
            }
            // It has to be on the die before it can be stopped.
            _ => true,
        }
    }

    fn gc_goes_first(&self, d: usize) -> bool {
        let queue = &self.bays[d].queue;
        let waits = |class| queue.first(class) != TxnId::NONE;
        match (self.config.policy, self.config.gc_reads) {
            (Policy::Fifo, _) => waits(Class::GcRead) || waits(Class::GcWrite) || waits(Class::Erase),
            (Policy::ReadPriority, GcReadRank::WithHostReads) => waits(Class::GcRead),
            (Policy::ReadPriority, _) => false,
        }
    }

    /// The limits of suspensions of programs and of erases.
    pub fn suspend_limits(&self) -> [SuspendLimits; 2] {
        [self.config.program_suspend.limits(), self.config.erase_suspend.limits()]
    }

    /// Replaces the limits of suspensions of programs and of erases, for those under way too.
    pub fn set_suspend_limits(&mut self, [program, erase]: [SuspendLimits; 2]) {
        self.config.program_suspend.set_limits(program);
        self.config.erase_suspend.set_limits(erase);
    }
}
