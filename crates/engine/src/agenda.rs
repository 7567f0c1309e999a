//! The agenda: what happens next in simulated time.
//!
//! Every resource (a die, a channel, a link, a flow) owns exactly one timer. Arming it again replaces the
//! pending wake-up, so an operation that is stopped leaves no tombstone behind. Wake-ups at equal times
//! come in the order of resource indices; an assembly assigns indices class by class, which makes the
//! order (time, class, resource).
//!
//! Time and index share one `u64` key in a winner tree: the path from a leaf to the root is a fixed number
//! of `min` steps without a branch.

use crate::time::SimTime;

/// The index of a resource on the agenda, assigned when a simulation is assembled.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ResourceId(pub u32);

const IDLE: u64 = u64::MAX;

/// One replaceable timer per resource, ordered by (time, resource index).
#[derive(Clone)]
pub struct Agenda {
    /// `tree[1]` is the root, `tree[leaves + r]` the key of resource `r`.
    tree: Box<[u64]>,
    leaves: usize,
    index_bits: u32,
    now: SimTime,
    resources: u32,
}

impl Agenda {
    /// An agenda for `resources` timers, all disarmed, at time zero.
    pub fn new(resources: u32) -> Agenda {
        let leaves = (resources.max(2) as usize).next_power_of_two();
        Agenda {
            tree: vec![IDLE; 2 * leaves].into_boxed_slice(),
            leaves,
            index_bits: leaves.trailing_zeros(),
            now: SimTime::ZERO,
            resources,
        }
    }

    /// The time of the wake-up being handled.
    #[inline]
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// The last representable instant; arming later than this panics.
    pub fn horizon(&self) -> SimTime {
        SimTime((IDLE >> self.index_bits) - 1)
    }

    /// Sets the timer of `resource` to `at`, replacing what was pending.
    ///
    /// Panics if `at` lies in the past or beyond [`Agenda::horizon`].
    #[inline]
    pub fn arm(&mut self, resource: ResourceId, at: SimTime) {
        assert!(at >= self.now, "resource {} armed in the past: {at} before {}", resource.0, self.now);
        assert!(at.0 < IDLE >> self.index_bits, "simulated time {at} is beyond the agenda's horizon");
        self.set(resource, at.0 << self.index_bits | u64::from(resource.0));
    }

    /// Clears the timer of `resource`.
    #[inline]
    pub fn disarm(&mut self, resource: ResourceId) {
        self.set(resource, IDLE);
    }

    /// The next wake-up without taking it.
    #[inline]
    pub fn peek(&self) -> Option<(SimTime, ResourceId)> {
        let key = self.tree[1];
        (key != IDLE).then(|| self.split(key))
    }

    /// Advances to the next wake-up if it is not later than `limit`.
    ///
    /// The timer stays armed in the tree while it is handled; the caller handles it, then calls
    /// [`Agenda::settle`] so that a handler which re-armed its timer pays for one tree update, not two.
    #[inline]
    pub fn next(&mut self, limit: SimTime) -> Option<(SimTime, ResourceId)> {
        let key = self.tree[1];
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
        self.tree[self.leaves + resource.0 as usize] = IDLE;
        Some((at, resource))
    }

    /// Repairs the path of a resource handled after [`Agenda::next`] if its handler left it disarmed.
    #[inline]
    pub fn settle(&mut self, resource: ResourceId) {
        if self.tree[self.leaves + resource.0 as usize] == IDLE {
            self.set(resource, IDLE);
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

    #[inline]
    fn split(&self, key: u64) -> (SimTime, ResourceId) {
        (SimTime(key >> self.index_bits), ResourceId((key & ((1 << self.index_bits) - 1)) as u32))
    }

    #[inline]
    fn set(&mut self, resource: ResourceId, key: u64) {
        debug_assert!(resource.0 < self.resources, "resource {} of {}", resource.0, self.resources);
        let mut i = self.leaves + resource.0 as usize;
        self.tree[i] = key;
        let mut winner = key;
        // No loop of the simulator runs more often: its bounds checks alone were 5 % of all instructions.
        while i > 1 {
            // SAFETY: indexing above has shown that `i` was in bounds, and it has only become smaller since. The length
            // is even, so the neighbour of an index in bounds is in bounds too.
            unsafe {
                winner = winner.min(*self.tree.get_unchecked(i ^ 1));
                i >>= 1;
                *self.tree.get_unchecked_mut(i) = winner;
            }
        }
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
            agenda.settle(r);
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
        /// Against an ordered set: the same arms and disarms give the same order of wake-ups.
        #[test]
        fn agrees_with_an_ordered_set(ops in prop::collection::vec((0u32..37, 0u64..50, any::<bool>()), 1..200)) {
            let mut agenda = Agenda::new(37);
            let mut model: BTreeSet<(u64, u32)> = BTreeSet::new();
            for (r, delay, arm) in ops {
                if arm {
                    let at = agenda.now().0 + delay;
                    model.retain(|&(_, other)| other != r);
                    model.insert((at, r));
                    agenda.arm(ResourceId(r), SimTime(at));
                } else if let Some((t, r)) = agenda.next(SimTime(u64::MAX >> 8)) {
                    prop_assert_eq!(model.pop_first(), Some((t.0, r.0)));
                    agenda.settle(r);
                } else {
                    prop_assert!(model.is_empty());
                }
                prop_assert_eq!(agenda.peek().map(|(t, r)| (t.0, r.0)), model.first().copied());
            }
        }
    }
}
