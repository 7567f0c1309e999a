//! Opportunistic multi-plane programs: a program that starts takes waiting programs of other planes along.
//!
//! They are one operation: commands and page loads of all, one train as long as the slowest, one suspension. Each is a
//! transaction of its own to its owner. Programs of a class come in the order of submission on each plane; under `fifo` no
//! transaction of another class is overtaken.

use super::queue::Policy;
use super::txn::Txn;
use super::{MAX_BATCH, Nand};
use crate::command::{Class, Effect};
use crate::geometry::Pages;
use crate::ids::{BlockId, TxnId};
use crate::parts::PlaneAddress;
use crate::pulse::PulseTrain;
use crate::suspend::eligibility::Candidate;
use interpulse_engine::SimTime;

impl Nand {
    /// The idle die `d` starts `id`: takes waiting programs that can pulse with it out of the queue.
    #[cold]
    #[inline(never)]
    pub(super) fn gather_programs(&mut self, now: SimTime, d: usize, id: TxnId) {
        debug_assert!(self.joined[d].is_empty());
        let first = *self.txns.get(id);
        if !joins(&first) || self.dies[d].long().is_some() {
            return;
        }
        let class = first.kind.command().class;
        let before_seq = match self.config.policy {
            Policy::Fifo => self.contexts[d].queue.oldest_but(&self.txns, class),
            Policy::ReadPriority | Policy::HostFirst => u64::MAX,
        };
        let mut busy = planes_of(&first);
        let (mut before, mut next) = (TxnId::NONE, self.contexts[d].queue.first(class));
        while next != TxnId::NONE && self.joined[d].len() + 1 < MAX_BATCH {
            let (id, txn) = (next, *self.txns.get(next));
            if txn.seq >= before_seq {
                break;
            }
            next = txn.next;
            let planes = planes_of(&txn);
            let alike = joins(&txn) && txn.kind == first.kind && txn.cell_mode() == first.cell_mode();
            let addressed = may_share(self.plane_address, &first, &txn, self.geometry.pages_per_word_line);
            if alike && addressed && busy & planes == 0 {
                self.contexts[d].queue.unlink(&mut self.txns, before, id);
                self.account_wait(now, d, id);
                self.joined[d].push(id);
                self.counters.multi_plane_programs += 1;
            } else {
                before = id;
            }
            // What comes later on these planes comes later.
            busy |= planes;
        }
    }

    /// Train, types of pages and candidate of an operation, given those of its first program.
    #[cold]
    #[inline(never)]
    pub(super) fn with_joined(&self, d: usize, train: &mut PulseTrain, of: &mut Candidate) {
        for &id in &self.joined[d] {
            let txn = self.txns.get(id);
            let (other, types) = self.train_of(d, txn);
            if other.loops > train.loops {
                *train = other;
            }
            of.page_types |= types;
            of.planes += u32::from(txn.planes);
            of.cycles = of.cycles.max(self.most_worn(d, txn));
        }
    }

    /// Puts the gathered programs on the die, beside the one that has begun; returns their page loads.
    #[cold]
    #[inline(never)]
    pub(super) fn put_joined(&mut self, now: SimTime, d: usize) -> u32 {
        let mut loads = 0;
        for &id in &self.joined[d] {
            let txn = self.txns.get(id);
            let count = self.geometry.pages_per_program(txn.cell_mode());
            self.dies[d].join_program(now, txn.planes(), txn.block, Pages { first: txn.page, count });
            loads += u32::from(txn.planes) * count;
        }
        loads
    }

    /// The operation on die `d` has ended, and with it the gathered programs. The owner takes the
    /// transaction that ended last first: the one that began, then these in their order.
    #[cold]
    #[inline(never)]
    pub(super) fn joined_finished(&mut self, now: SimTime, d: usize) {
        let mut ended = std::mem::take(&mut self.joined[d]);
        for id in ended.drain(..).rev() {
            let kind = self.txns.get(id).kind;
            *kind.count(&mut self.counters) += 1;
            if kind.command().class == Class::HostWrite {
                self.account_program(now, d, id);
            }
            if let Some(reliability) = &mut self.reliability {
                reliability.finished(self.txns.get(id), now);
            }
            self.ends(now, id);
        }
        // Its memory serves the next operation.
        self.joined[d] = ended;
    }
}

/// Whether an operation may address the pages of both transactions, on word lines of `pages` pages.
#[inline]
pub(super) fn may_share(rule: PlaneAddress, one: &Txn, other: &Txn, pages: u32) -> bool {
    match rule {
        PlaneAddress::Any => true,
        PlaneAddress::PageType => {
            one.page % pages == other.page % pages && one.cell_mode() == other.cell_mode()
        }
        PlaneAddress::Page => one.page == other.page,
        PlaneAddress::BlockAndPage => one.page == other.page && one.block == other.block,
    }
}

/// Whether a transaction can be part of such a program.
fn joins(txn: &Txn) -> bool {
    let programs = txn.kind.command().effect == Effect::Programs;
    programs && txn.block != BlockId::NONE && !txn.is_special()
}

fn planes_of(txn: &Txn) -> u64 {
    txn.planes().each().fold(0, |planes, plane| planes | 1 << plane)
}
