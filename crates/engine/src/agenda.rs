//! The agenda: what happens next in simulated time.
//!
//! Every resource (a die, a channel, a link, a flow) owns exactly one timer. Arming it again replaces the
//! pending wake-up, so an operation that is stopped leaves no tombstone behind. Wake-ups at equal times
//! come in the order of resource indices; an assembly assigns indices class by class, which makes the
//! order (time, class, resource).
//!
//! Time and index share one `u64` key in a winner tree: the path from a leaf to the root is a number of `min` steps
//! without a branch. The paths of the last resources, which an assembly gives to what every request passes, are one step
//! shorter than those of the first, where that leaves room for all.
//!
//! One timer that is set for a moment from now ([`Agenda::arm_soon`]) stands beside the tree: mostly it is next, and then it
//! has neither gone up its path nor to be taken off it.

use crate::time::SimTime;

/// The index of a resource on the agenda, assigned when a simulation is assembled.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ResourceId(pub u32);

const IDLE: u64 = u64::MAX;

/// The place before the root, which is nobody's leaf and never idle: there is no path to repair.
const ASIDE: usize = 0;

/// One replaceable timer per resource, ordered by (time, resource index).
#[derive(Clone)]
pub struct Agenda {
    /// `tree[1]` is the root, `tree[last - r]` the key of resource `r`, and `last` the last of all.
    tree: Box<[u64]>,
    last: usize,
    index_bits: u32,
    /// The bits of a key that are its resource.
    index_mask: u64,
    /// The first instant for which there is no key.
    end: SimTime,
    now: SimTime,
    /// The key of the timer beside the tree, whose leaf is idle.
    soon: u64,
    /// The leaf of the wake-up being handled; [`ASIDE`] of one beside the tree.
    handled: usize,
    /// The resource of the last wake-up beside the tree.
    aside: ResourceId,
    resources: u32,
}

impl Agenda {
    /// An agenda for `resources` timers, all disarmed, at time zero.
    pub fn new(resources: u32) -> Agenda {
        let index_bits = resources.max(2).next_power_of_two().trailing_zeros();
        // As many long paths as a power of two, since dies are mostly that many: a path whose length cannot be foretold
        // costs more than a step.
        let half = 1usize << (index_bits - 1);
        let leaves = half + (resources.max(2) as usize - half).next_power_of_two();
        let mut tree = vec![IDLE; 2 * leaves].into_boxed_slice();
        tree[ASIDE] = 0;
        Agenda {
            tree,
            last: 2 * leaves - 1,
            index_bits,
            index_mask: (1 << index_bits) - 1,
            end: SimTime(IDLE >> index_bits),
            now: SimTime::ZERO,
            soon: IDLE,
            handled: ASIDE,
            aside: ResourceId(0),
            resources,
        }
    }

    /// The time of the wake-up being handled.
    #[inline]
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// The resource of the wake-up being handled; the first one before there is any.
    #[inline]
    pub fn current(&self) -> ResourceId {
        if self.handled == ASIDE { self.aside } else { ResourceId((self.last - self.handled) as u32) }
    }

    /// The last representable instant; arming later than this panics.
    pub fn horizon(&self) -> SimTime {
        SimTime(self.end.0 - 1)
    }

    /// Sets the timer of `resource` to `at`, replacing what was pending.
    ///
    /// Panics if `at` lies in the past or beyond [`Agenda::horizon`].
    #[inline]
    pub fn arm(&mut self, resource: ResourceId, at: SimTime) {
        let key = self.key(resource, at);
        self.put(resource, key);
    }

    /// As [`Agenda::arm`] of a timer that is idle, for an instant before which mostly nothing else is due. Until then it may
    /// only be [disarmed](Agenda::disarm), not armed again.
    #[inline]
    pub fn arm_soon(&mut self, resource: ResourceId, at: SimTime) {
        let key = self.key(resource, at);
        debug_assert_eq!(self.tree[self.leaf(resource)], IDLE, "resource {} is armed", resource.0);
        if self.soon == IDLE {
            self.soon = key;
        } else {
            self.put(resource, key);
        }
    }

    /// The key of a wake-up of `resource` at `at`.
    #[inline(always)]
    fn key(&self, resource: ResourceId, at: SimTime) -> u64 {
        if at < self.now {
            self.in_the_past(resource, at);
        }
        if at >= self.end {
            self.beyond(at);
        }
        at.0 << self.index_bits | u64::from(resource.0)
    }

    /// Puts a key into the tree.
    #[inline(always)]
    fn put(&mut self, resource: ResourceId, key: u64) {
        let leaf = self.leaf(resource);
        debug_assert!(!self.is_soon(resource), "resource {} is armed again", resource.0);
        // SAFETY: a resource has a leaf.
        let before = std::mem::replace(unsafe { self.tree.get_unchecked_mut(leaf) }, key);
        // The path of the wake-up being handled still has its key and has to be repaired. Most others were idle.
        if leaf == self.handled || key > before {
            self.climb(leaf, key);
        } else {
            self.lower(leaf, key);
        }
    }

    /// Nothing that is formatted here has to lie in memory where the timer is set.
    #[cold]
    #[inline(never)]
    fn in_the_past(&self, resource: ResourceId, at: SimTime) -> ! {
        panic!("resource {} armed in the past: {at} before {}", resource.0, self.now);
    }

    #[cold]
    #[inline(never)]
    fn beyond(&self, at: SimTime) -> ! {
        panic!("simulated time {at} is beyond the agenda's horizon");
    }

    /// Clears the timer of `resource`.
    #[inline]
    pub fn disarm(&mut self, resource: ResourceId) {
        if self.is_soon(resource) {
            self.soon = IDLE;
        }
        let leaf = self.leaf(resource);
        // SAFETY: a resource has a leaf.
        unsafe { *self.tree.get_unchecked_mut(leaf) = IDLE };
        self.climb(leaf, IDLE);
    }

    /// The next wake-up without taking it.
    #[inline]
    pub fn peek(&self) -> Option<(SimTime, ResourceId)> {
        let key = self.root().min(self.soon);
        (key != IDLE).then(|| self.split(key))
    }

    /// Advances to the next wake-up if it is not later than `limit`.
    ///
    /// The timer stays armed in the tree while it is handled; the caller handles it, then calls
    /// [`Agenda::settle`] so that a handler which re-armed its timer pays for one tree update, not two.
    #[inline]
    pub fn next(&mut self, limit: SimTime) -> Option<(SimTime, ResourceId)> {
        let key = self.root();
        if self.soon < key {
            return self.next_aside(limit);
        }
        if key == IDLE {
            return None;
        }
        let (at, resource) = self.split(key);
        if at > limit {
            return None;
        }
        self.now = at;
        // A sentinel one above IDLE's neighbour cannot exist, so mark the leaf alone: the path above still
        // names it, and `settle` or `arm` repairs the path.
        self.handled = self.last - resource.0 as usize;
        // SAFETY: the key was put into the tree for this resource, by `put`, which has shown that it has a leaf.
        unsafe { *self.tree.get_unchecked_mut(self.handled) = IDLE };
        Some((at, resource))
    }

    /// [`Agenda::next`] of the timer beside the tree.
    #[inline(always)]
    fn next_aside(&mut self, limit: SimTime) -> Option<(SimTime, ResourceId)> {
        let (at, resource) = self.split(self.soon);
        if at > limit {
            return None;
        }
        (self.now, self.aside) = (at, resource);
        (self.soon, self.handled) = (IDLE, ASIDE);
        Some((at, resource))
    }

    /// Repairs the path of the resource that [`Agenda::next`] gave last if its handler left it disarmed.
    #[inline]
    pub fn settle(&mut self) {
        // SAFETY: `handled` is a leaf or the place before the root.
        if unsafe { *self.tree.get_unchecked(self.handled) } == IDLE {
            self.climb(self.handled, IDLE);
        }
    }

    /// Moves the clock to `at` without handling anything; panics if a wake-up is due earlier.
    pub fn advance_to(&mut self, at: SimTime) {
        assert!(at >= self.now, "the clock cannot go back");
        assert!(self.peek().is_none_or(|(t, _)| t >= at), "a wake-up would be skipped");
        self.now = at;
    }

    /// How many resources the agenda was made for.
    pub fn resources(&self) -> u32 {
        self.resources
    }

    /// Whether the timer of `resource` is the one beside the tree.
    #[inline]
    fn is_soon(&self, resource: ResourceId) -> bool {
        self.soon != IDLE && self.split(self.soon).1 == resource
    }

    #[inline(always)]
    fn root(&self) -> u64 {
        // SAFETY: there are at least two leaves.
        unsafe { *self.tree.get_unchecked(1) }
    }

    #[inline]
    fn split(&self, key: u64) -> (SimTime, ResourceId) {
        (SimTime(key >> self.index_bits), ResourceId((key & self.index_mask) as u32))
    }

    /// The leaf of a resource.
    #[inline(always)]
    fn leaf(&self, resource: ResourceId) -> usize {
        if resource.0 >= self.resources {
            self.unknown(resource);
        }
        self.last - resource.0 as usize
    }

    /// Has the winners on the path of a leaf whose key has become less give way to it. No other key has changed, so that
    /// their neighbours need no look. The place before the root is nobody's.
    #[inline]
    fn lower(&mut self, leaf: usize, key: u64) {
        let mut i = leaf >> 1;
        while i > 0 {
            // SAFETY: a leaf is in bounds, and these are less.
            unsafe {
                let winner = self.tree.get_unchecked_mut(i);
                *winner = key.min(*winner);
                let winner = self.tree.get_unchecked_mut(i >> 1);
                *winner = key.min(*winner);
            }
            i >>= 2;
        }
    }

    /// Repairs the path of a leaf, which holds `key`.
    #[inline]
    fn climb(&mut self, leaf: usize, key: u64) {
        let (mut i, mut winner) = (leaf, key);
        // No loop of the simulator runs more often: its bounds checks alone were 5 % of all instructions, and two steps
        // in one turn save another 3 %.
        while i > 3 {
            winner = self.step(&mut i, winner);
            winner = self.step(&mut i, winner);
        }
        if i > 1 {
            self.step(&mut i, winner);
        }
    }

    /// Goes on to the parent of `i`, whose winner is `winner`; returns that of the parent.
    #[inline(always)]
    fn step(&mut self, i: &mut usize, winner: u64) -> u64 {
        // SAFETY: a leaf is in bounds, and `i` has only become smaller since. The length is even, so the neighbour of an
        // index in bounds is in bounds too.
        unsafe {
            let winner = winner.min(*self.tree.get_unchecked(*i ^ 1));
            *i >>= 1;
            *self.tree.get_unchecked_mut(*i) = winner;
            winner
        }
    }

    #[cold]
    #[inline(never)]
    fn unknown(&self, resource: ResourceId) -> ! {
        panic!("resource {} of {}", resource.0, self.resources);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn equal_times_come_in_index_order_and_rearming_replaces() {
        let mut agenda = Agenda::new(5);
        for r in [3, 1, 4] {
            agenda.arm(ResourceId(r), SimTime(10));
        }
        agenda.arm(ResourceId(1), SimTime(20));
        let mut seen = Vec::new();
        while let Some((t, r)) = agenda.next(SimTime(100)) {
            seen.push((t.0, r.0));
            agenda.settle();
        }
        assert_eq!(seen, [(10, 3), (10, 4), (20, 1)]);
    }

    #[test]
    #[should_panic(expected = "armed in the past")]
    fn arming_in_the_past_is_a_bug() {
        let mut agenda = Agenda::new(2);
        agenda.arm(ResourceId(0), SimTime(5));
        agenda.next(SimTime(9));
        agenda.arm(ResourceId(1), SimTime(4));
    }

    proptest! {
        /// Against an ordered set: the same arms and disarms give the same order of wake-ups, whether they stand beside the
        /// tree or not.
        #[test]
        fn agrees_with_an_ordered_set(ops in prop::collection::vec((0u32..37, 0u64..50, 0u32..8), 1..200)) {
            let mut agenda = Agenda::new(37);
            let mut model: BTreeSet<(u64, u32)> = BTreeSet::new();
            for (r, delay, what) in ops {
                let (resource, at) = (ResourceId(r), SimTime(agenda.now().0 + delay));
                if what < 4 {
                    let idle = model.iter().all(|&(_, other)| other != r);
                    model.retain(|&(_, other)| other != r);
                    model.insert((at.0, r));
                    if what < 2 && !agenda.is_soon(resource) {
                        agenda.arm(resource, at);
                    } else {
                        if !idle {
                            agenda.disarm(resource);
                        }
                        agenda.arm_soon(resource, at);
                    }
                } else if what == 4 {
                    model.retain(|&(_, other)| other != r);
                    agenda.disarm(resource);
                } else if let Some((t, r)) = agenda.next(SimTime(u64::MAX >> 8)) {
                    prop_assert_eq!(model.pop_first(), Some((t.0, r.0)));
                    prop_assert_eq!(agenda.current(), r);
                    agenda.settle();
                } else {
                    prop_assert!(model.is_empty());
                }
                prop_assert_eq!(agenda.peek().map(|(t, r)| (t.0, r.0)), model.first().copied());
            }
        }
    }
}
