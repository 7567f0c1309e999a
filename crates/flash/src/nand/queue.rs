//! Queue of one die: a FIFO per scheduling class, and the policies that pick the next transaction.

use super::txn::Slab;
use crate::command::{CLASSES, Class};
use crate::ids::TxnId;
use interpulse_settings::choices;

choices! {
    /// Which waiting transaction a die takes next.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Policy {
        /// operations of a die in the order they were submitted
        Fifo = "fifo",
        /// host reads first, without stopping what runs
        // Else the one submitted first; near the hard threshold garbage collection goes before host programs.
        ReadPriority = "read-priority",
        /// host reads first, then host writes; garbage collection waits for both until its lane is short of blocks
        // Preemption of garbage collection by the FTL, as MQSim's `Preemptible_GC_Enabled` and SSDSim's `interrupt_gc`.
        HostFirst = "host-first",
    }
}

impl Policy {
    /// Whether a program of this class, or an erase, waits for those that are not late.
    #[inline(always)]
    fn is_late(self, class: Class, gc_urgent: bool) -> bool {
        match self {
            Policy::Fifo => false,
            _ if gc_urgent => class == Class::HostWrite,
            Policy::ReadPriority => false,
            Policy::HostFirst => class != Class::HostWrite,
        }
    }
}

choices! {
    /// How reads of garbage collection rank under [`Policy::ReadPriority`] (Starblaze, FMS: "SMART processing mechanism
    /// between GC read and host read").
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum GcReadRank {
        /// with programs and erases, in order of submission
        InOrder = "in-order",
        /// after host reads, before programs and erases
        BeforePrograms = "before-programs",
        /// as host reads, in order of submission
        WithHostReads = "with-host-reads",
    }
}

/// The waiting transactions of one die.
#[derive(Clone, Copy)]
pub struct Queue {
    head: [TxnId; CLASSES],
    tail: [TxnId; CLASSES],
    /// Transactions waiting, and [`Queue::HELD`]: one value, as the ends of operations look for either.
    waiting: u32,
    /// Garbage collection goes before host programs while any bit is set: one for each FTL on the die.
    pub gc_urgent: u32,
}

impl Default for Queue {
    fn default() -> Self {
        Queue { head: [TxnId::NONE; CLASSES], tail: [TxnId::NONE; CLASSES], waiting: 0, gc_urgent: 0 }
    }
}

impl Queue {
    /// Bit of `waiting` while the queue is held.
    const HELD: u32 = 1 << 31;

    /// Holds the queue, which then gives no transaction, or releases it.
    pub fn hold(&mut self, held: bool) {
        self.waiting = self.waiting & !Queue::HELD | u32::from(held) << 31;
    }

    /// Whether the queue is held.
    #[inline]
    pub fn is_held(&self) -> bool {
        self.waiting & Queue::HELD != 0
    }

    /// Whether nothing waits and the queue is not held.
    #[inline]
    pub fn is_empty_and_free(&self) -> bool {
        self.waiting == 0
    }

    /// Appends transaction `id`, which is of this class.
    #[inline]
    pub fn push(&mut self, slab: &mut Slab, id: TxnId, class: Class) {
        let k = class as usize;
        slab.get_mut(id).next = TxnId::NONE;
        if self.head[k] == TxnId::NONE {
            self.head[k] = id;
        } else {
            slab.get_mut(self.tail[k]).next = id;
        }
        self.tail[k] = id;
        self.waiting += 1;
    }

    /// Inserts transaction `id`, which is of this class, behind `before`, or with [`TxnId::NONE`] before all others.
    pub(super) fn insert(&mut self, slab: &mut Slab, before: TxnId, id: TxnId, class: Class) {
        let k = class as usize;
        let next = if before == TxnId::NONE { self.head[k] } else { slab.get(before).next };
        slab.get_mut(id).next = next;
        if before == TxnId::NONE {
            self.head[k] = id;
        } else {
            slab.get_mut(before).next = id;
        }
        if next == TxnId::NONE {
            self.tail[k] = id;
        }
        self.waiting += 1;
    }

    /// Puts transaction `id` before the others of its class.
    pub fn push_front(&mut self, slab: &mut Slab, id: TxnId) {
        let k = slab.get(id).kind.command().class as usize;
        slab.get_mut(id).next = self.head[k];
        if self.head[k] == TxnId::NONE {
            self.tail[k] = id;
        }
        self.head[k] = id;
        self.waiting += 1;
    }

    /// Whether nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.waiting & !Queue::HELD == 0
    }

    /// Transactions waiting.
    #[inline]
    pub fn waiting(&self) -> u32 {
        self.waiting & !Queue::HELD
    }

    /// The first waiting transaction of a class, or [`TxnId::NONE`].
    #[inline]
    pub fn first(&self, class: Class) -> TxnId {
        self.head[class as usize]
    }

    /// The place in the order of submission of the oldest waiting transaction of any other class, or `u64::MAX`.
    pub fn oldest_but(&self, slab: &Slab, class: Class) -> u64 {
        let others =
            self.head.iter().enumerate().filter(|&(k, &id)| k != class as usize && id != TxnId::NONE);
        others.map(|(_, &id)| slab.get(id).seq).min().unwrap_or(u64::MAX)
    }

    /// Takes the first waiting transaction of a class, which must exist.
    #[inline]
    pub fn pop(&mut self, slab: &Slab, class: Class) -> TxnId {
        let k = class as usize;
        let id = self.head[k];
        debug_assert!(id != TxnId::NONE);
        self.head[k] = slab.get(id).next;
        self.waiting -= 1;
        id
    }

    /// Takes `id` out of the list of its class, given its predecessor (or [`TxnId::NONE`] for the head).
    pub fn unlink(&mut self, slab: &mut Slab, before: TxnId, id: TxnId) {
        let k = slab.get(id).kind.command().class as usize;
        let next = slab.get(id).next;
        if before == TxnId::NONE {
            self.head[k] = next;
        } else {
            slab.get_mut(before).next = next;
        }
        if self.tail[k] == id {
            self.tail[k] = before;
        }
        self.waiting -= 1;
    }

    /// Which of the waiting reads comes first by `rank`, of those that count as urgent; `None` if none does.
    #[inline]
    pub fn urgent_read(&self, slab: &Slab, rank: GcReadRank) -> Option<Class> {
        let (host, gc) = (self.head[Class::HostRead as usize], self.head[Class::GcRead as usize]);
        if host != TxnId::NONE {
            let older = rank == GcReadRank::WithHostReads
                && gc != TxnId::NONE
                && slab.get(gc).seq < slab.get(host).seq;
            return Some(if older { Class::GcRead } else { Class::HostRead });
        }
        (gc != TxnId::NONE && rank != GcReadRank::InOrder).then_some(Class::GcRead)
    }

    /// Takes the next transaction by `policy` and, where host reads go first, `rank`; `None` if none waits or the queue is held.
    #[inline]
    pub fn take(&mut self, slab: &Slab, policy: Policy, rank: GcReadRank) -> Option<TxnId> {
        if !(1..Queue::HELD).contains(&self.waiting) {
            return None;
        }
        if policy != Policy::Fifo
            && let Some(class) = self.urgent_read(slab, rank)
        {
            return Some(self.pop(slab, class));
        }
        self.first_of(slab, policy, |_| true).map(|class| self.pop(slab, class))
    }

    /// The transaction that [`Queue::take`] takes next; with `past_reads` the one that it would take if no read waited.
    pub fn next(&self, slab: &Slab, policy: Policy, rank: GcReadRank, past_reads: bool) -> Option<TxnId> {
        let reads = |class| matches!(class, Class::HostRead | Class::GcRead);
        let urgent = if policy != Policy::Fifo { self.urgent_read(slab, rank) } else { None };
        let class = match urgent.filter(|_| !past_reads) {
            Some(class) => Some(class),
            None => self.first_of(slab, policy, |class| !(past_reads && reads(class))),
        };
        class.map(|class| self.first(class))
    }

    /// The class among these whose first transaction comes first, urgent reads apart.
    #[inline(always)]
    fn first_of(&self, slab: &Slab, policy: Policy, among: impl Fn(Class) -> bool) -> Option<Class> {
        let mut best: Option<(bool, u64, Class)> = None;
        for class in Class::ALL {
            let id = self.head[class as usize];
            if id != TxnId::NONE && among(class) {
                let late = policy.is_late(class, self.gc_urgent != 0);
                let key = (late, slab.get(id).seq, class);
                if best.is_none_or(|(l, s, _)| (key.0, key.1) < (l, s)) {
                    best = Some(key);
                }
            }
        }
        best.map(|(_, _, class)| class)
    }
}
