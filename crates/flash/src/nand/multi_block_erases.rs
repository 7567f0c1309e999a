//! Multi-block erases: an erase that starts takes waiting erases of other blocks of the same planes along.
//!
//! They are one operation: commands of all, one train, one suspension. Each is a transaction of its own to its owner. Under `fifo`
//! no transaction of another class is overtaken.

use super::Nand;
use super::queue::Policy;
use super::txn::Txn;
use crate::command::{Class, Effect};
use crate::die::State;
use crate::ids::{BlockId, TxnId};
use crate::pulse::PulseTrain;
use crate::suspend::eligibility::Candidate;
use interpulse_engine::{EventQueue, SimTime};

impl Nand {
    /// Submits erases of blocks of the same planes, of one operation at most; an idle die starts all of them together.
    pub fn submit_erases(&mut self, events: &mut EventQueue, erases: &[Txn]) {
        let Some((&first, rest)) = erases.split_first() else { return };
        let d = first.die.index();
        // A die between the steps of its word lines, or a deterministic window, may make the first erase wait.
        let held = self.held_back.as_ref().is_some_and(|of| of.active);
        let starts = self.dies[d].state() == State::Idle && self.two_step.is_none() && !held;
        if !starts || self.erased_with.is_empty() {
            erases.iter().for_each(|&erase| self.submit(events, erase));
            return;
        }
        for &erase in rest {
            let mut txn = erase;
            (txn.seq, txn.mark) = (self.seq, events.now());
            self.seq += 1;
            let id = self.txns.insert(txn);
            self.erased_with[d].push(id);
        }
        self.submit(events, first);
    }

    /// The idle die `d` starts the erase `id`: takes waiting ones that can be erased with it out of the queue.
    #[cold]
    #[inline(never)]
    pub(super) fn gather_erases(&mut self, now: SimTime, d: usize, id: TxnId) {
        let first = *self.txns.get(id);
        if first.block == BlockId::NONE {
            return;
        }
        let before_seq = match self.config.policy {
            Policy::Fifo => self.contexts[d].queue.oldest_but(&self.txns, Class::Erase),
            Policy::ReadPriority | Policy::HostFirst => u64::MAX,
        };
        let (mut before, mut next) = (TxnId::NONE, self.contexts[d].queue.first(Class::Erase));
        while next != TxnId::NONE && self.erased_with[d].len() as u32 + 1 < self.config.multi_block.blocks {
            let (id, txn) = (next, *self.txns.get(next));
            if txn.seq >= before_seq {
                break;
            }
            next = txn.next;
            let others = || self.erased_with[d].iter().map(|&id| self.txns.get(id).block);
            let fits = txn.block != BlockId::NONE && (txn.plane, txn.planes) == (first.plane, first.planes);
            if fits && txn.block != first.block && others().all(|block| block != txn.block) {
                self.contexts[d].queue.unlink(&mut self.txns, before, id);
                self.account_wait(now, d, id);
                self.erased_with[d].push(id);
            } else {
                before = id;
            }
        }
    }

    /// Train and candidate of the erase of die `d` with the gathered ones, given those of its first block.
    #[cold]
    #[inline(never)]
    pub(super) fn with_gathered(&self, d: usize, train: &mut PulseTrain, of: &mut Candidate) {
        let gathered = &self.erased_with[d];
        for &id in gathered {
            let txn = self.txns.get(id);
            let (other, _) = self.train_of(d, txn);
            if other.total() > train.total() {
                *train = other;
            }
            of.cycles = of.cycles.max(self.most_worn(d, txn));
        }
        *train = self.config.multi_block.train(*train, gathered.len() as u32 + 1);
    }

    /// Puts the gathered erases on the die, beside the one that has begun.
    #[cold]
    #[inline(never)]
    pub(super) fn put_gathered(&mut self, now: SimTime, d: usize) {
        for &id in &self.erased_with[d] {
            self.dies[d].join_erase(now, self.txns.get(id).block);
        }
        self.counters.multi_block_erases += self.erased_with[d].len() as u64;
    }

    /// Blocks of each plane that the operation on die `d` works on.
    #[inline]
    pub(super) fn blocks_erased(&self, d: usize) -> u32 {
        if self.erased_with.is_empty() { 1 } else { self.dies[d].blocks_of_operation() }
    }

    /// The erase on die `d` has ended, and with it the gathered ones. The owner takes the transaction that ended last first: the
    /// one that began, then these in their order.
    #[cold]
    #[inline(never)]
    pub(super) fn gathered_finished(&mut self, now: SimTime, d: usize) {
        let mut ended = std::mem::take(&mut self.erased_with[d]);
        for id in ended.drain(..).rev() {
            debug_assert_eq!(self.txns.get(id).kind.command().effect, Effect::Erases);
            self.counters.erases += 1;
            if let Some(reliability) = &mut self.reliability {
                reliability.finished(self.txns.get(id), now);
            }
            self.ends(now, id);
        }
        // Its memory serves the next operation.
        self.erased_with[d] = ended;
    }
}
