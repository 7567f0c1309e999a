//! The transactions waiting for one die, one first-in first-out list per kind, and the policies that pick
//! the next one.

use super::txn::{KINDS, Kind, NONE, Slab};

/// Which waiting transaction a die takes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The one submitted first.
    Fifo,
    /// A host read if there is one, else the one submitted first; near the hard threshold garbage
    /// collection goes before host programs.
    ReadPriority,
}

impl Policy {
    /// Name, value and one line of documentation of every policy.
    pub const ALL: &'static [(&'static str, Policy, &'static str)] = &[
        ("fifo", Policy::Fifo, "operations of a die in the order they were submitted"),
        ("read-priority", Policy::ReadPriority, "host reads first, without stopping what runs"),
    ];
}

/// How reads of garbage collection rank under [`Policy::ReadPriority`] (Starblaze, FMS: "SMART processing mechanism
/// between GC read and host read").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GcReadRank {
    /// With programs and erases, in order of submission.
    InOrder,
    /// After host reads, before programs and erases.
    BeforePrograms,
    /// As host reads, in order of submission.
    WithHostReads,
}

impl GcReadRank {
    /// Name, value and one line of documentation of each.
    pub const ALL: &'static [(&'static str, GcReadRank, &'static str)] = &[
        ("in-order", GcReadRank::InOrder, "with programs and erases, in order of submission"),
        ("before-programs", GcReadRank::BeforePrograms, "after host reads, before programs and erases"),
        ("with-host-reads", GcReadRank::WithHostReads, "as host reads, in order of submission"),
    ];
}

/// The waiting transactions of one die.
#[derive(Clone, Copy)]
pub struct Queue {
    head: [u32; KINDS],
    tail: [u32; KINDS],
    waiting: u32,
    /// Garbage collection goes before host programs.
    pub gc_urgent: bool,
}

impl Default for Queue {
    fn default() -> Self {
        Queue { head: [NONE; KINDS], tail: [NONE; KINDS], waiting: 0, gc_urgent: false }
    }
}

impl Queue {
    /// Appends transaction `id`.
    #[inline]
    pub fn push(&mut self, slab: &mut Slab, id: u32) {
        let k = slab.get(id).kind as usize;
        slab.get_mut(id).next = NONE;
        if self.head[k] == NONE {
            self.head[k] = id;
        } else {
            slab.get_mut(self.tail[k]).next = id;
        }
        self.tail[k] = id;
        self.waiting += 1;
    }

    /// Puts transaction `id` before the others of its kind.
    pub fn push_front(&mut self, slab: &mut Slab, id: u32) {
        let k = slab.get(id).kind as usize;
        slab.get_mut(id).next = self.head[k];
        if self.head[k] == NONE {
            self.tail[k] = id;
        }
        self.head[k] = id;
        self.waiting += 1;
    }

    /// Whether nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Transactions waiting.
    #[inline]
    pub fn waiting(&self) -> u32 {
        self.waiting
    }

    /// The first waiting transaction of a kind, or [`NONE`].
    #[inline]
    pub fn first(&self, kind: Kind) -> u32 {
        self.head[kind as usize]
    }

    /// The place in the order of submission of the oldest waiting transaction of any other kind, or `u64::MAX`.
    pub fn oldest_but(&self, slab: &Slab, kind: Kind) -> u64 {
        let others = self.head.iter().enumerate().filter(|&(k, &id)| k != kind as usize && id != NONE);
        others.map(|(_, &id)| slab.get(id).seq).min().unwrap_or(u64::MAX)
    }

    /// Takes the first waiting transaction of a kind, which must exist.
    #[inline]
    pub fn pop(&mut self, slab: &Slab, kind: Kind) -> u32 {
        let k = kind as usize;
        let id = self.head[k];
        debug_assert!(id != NONE);
        self.head[k] = slab.get(id).next;
        self.waiting -= 1;
        id
    }

    /// Takes `id` out of the list of its kind, given its predecessor (or [`NONE`] for the head).
    pub fn unlink(&mut self, slab: &mut Slab, before: u32, id: u32) {
        let k = slab.get(id).kind as usize;
        let next = slab.get(id).next;
        if before == NONE {
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
    pub fn urgent_read(&self, slab: &Slab, rank: GcReadRank) -> Option<Kind> {
        let (host, gc) = (self.head[Kind::HostRead as usize], self.head[Kind::GcRead as usize]);
        if host != NONE {
            let older =
                rank == GcReadRank::WithHostReads && gc != NONE && slab.get(gc).seq < slab.get(host).seq;
            return Some(if older { Kind::GcRead } else { Kind::HostRead });
        }
        (gc != NONE && rank != GcReadRank::InOrder).then_some(Kind::GcRead)
    }

    /// Takes the next transaction by `policy` and, under read priority, `rank`.
    #[inline]
    pub fn take(&mut self, slab: &Slab, policy: Policy, rank: GcReadRank) -> Option<u32> {
        if self.waiting == 0 {
            return None;
        }
        if policy == Policy::ReadPriority
            && let Some(kind) = self.urgent_read(slab, rank)
        {
            return Some(self.pop(slab, kind));
        }
        const ALL: [Kind; KINDS] =
            [Kind::HostRead, Kind::GcRead, Kind::HostProgram, Kind::GcProgram, Kind::Erase];
        let mut best: Option<(bool, u64, Kind)> = None;
        for kind in ALL {
            let id = self.head[kind as usize];
            if id != NONE {
                let late = self.gc_urgent && kind == Kind::HostProgram && policy == Policy::ReadPriority;
                let key = (late, slab.get(id).seq, kind);
                if best.is_none_or(|(l, s, _)| (key.0, key.1) < (l, s)) {
                    best = Some(key);
                }
            }
        }
        best.map(|(_, _, kind)| self.pop(slab, kind))
    }
}
