//! Event queue: one replaceable timer per resource, ordered by simulated time.
//!
//! A resource is a die, a channel, a link or a flow. Arming its timer again replaces the pending wake-up, so a stopped
//! operation leaves nothing behind. Wake-ups at equal times come in the order of resource indices; indices are assigned
//! class by class, so the order is (time, class, resource).
//!
//! A winner tree holds one `u64` key per resource, time above index: repairing the path from a leaf to the root takes a
//! `min` per level and no branch. The paths of the last resources, which every request passes, are one level shorter where
//! the number of resources permits. One timer ([`EventQueue::arm_soon`]) is stored beside the tree: it is mostly the next
//! one, and then needs no path at all.
//!
//! The index takes bits from the time, so keys hold the time within an epoch, and the epochs are aligned: a key needs no
//! arithmetic but the shift. A timer in a later epoch has the key `LATER`, which sorts behind all others; its time is stored
//! beside the tree until the queue enters that epoch.

use crate::time::SimTime;

/// Index of a resource in the event queue, assigned when a simulation is assembled.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ResourceId(pub u32);

/// Key of a disarmed timer.
const IDLE: u64 = u64::MAX;

/// Key of a timer in a later epoch.
const LATER: u64 = IDLE - 1;

/// Tree index before the root: no resource's leaf and never idle, so there is no path to repair.
const ASIDE: usize = 0;

/// One replaceable timer per resource, ordered by (time, resource index).
#[derive(Clone)]
pub struct EventQueue {
    /// `tree[1]` is the root, `tree[last_leaf - r]` the key of resource `r`.
    tree: Box<[u64]>,
    last_leaf: usize,
    index_bits: u32,
    /// The bits of a key that hold its resource.
    index_mask: u64,
    /// First instant of the current epoch, in ns: a multiple of the length of an epoch.
    epoch: u64,
    /// Last instant of the current epoch.
    epoch_end: SimTime,
    now: SimTime,
    /// The key of the timer beside the tree, whose leaf is idle.
    soon: u64,
    /// The leaf of the wake-up being handled; [`ASIDE`] for the timer beside the tree.
    handled: usize,
    /// The resource of the last wake-up beside the tree.
    aside: ResourceId,
    /// Times of the timers whose key is [`LATER`], by resource.
    later: Box<[SimTime]>,
    resources: u32,
}

impl EventQueue {
    /// An event queue for `resources` timers, all disarmed, at time zero.
    pub fn new(resources: u32) -> EventQueue {
        // Two indices more than there are resources, so that no key is `IDLE` or `LATER`.
        let index_bits = (resources + 2).next_power_of_two().trailing_zeros();
        // As many long paths as the greatest power of two below the number of resources, because the number of dies mostly is
        // one: a mispredicted path length costs more than a level.
        let half = resources.max(2).next_power_of_two() as usize / 2;
        let leaves = half + (resources.max(2) as usize - half).next_power_of_two();
        let mut tree = vec![IDLE; 2 * leaves].into_boxed_slice();
        tree[ASIDE] = 0;
        EventQueue {
            tree,
            last_leaf: 2 * leaves - 1,
            index_bits,
            index_mask: (1 << index_bits) - 1,
            epoch: 0,
            epoch_end: SimTime(u64::MAX >> index_bits),
            now: SimTime::ZERO,
            soon: IDLE,
            handled: ASIDE,
            aside: ResourceId(0),
            later: vec![SimTime::ZERO; resources as usize].into(),
            resources,
        }
    }

    /// The time of the wake-up being handled.
    #[inline]
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// The resource of the wake-up being handled; the first resource before any wake-up.
    #[inline]
    pub fn current(&self) -> ResourceId {
        if self.handled == ASIDE { self.aside } else { ResourceId((self.last_leaf - self.handled) as u32) }
    }

    /// The last instant of simulated time.
    pub fn horizon(&self) -> SimTime {
        SimTime(u64::MAX)
    }

    /// Sets the timer of `resource` to `at`, replacing the pending wake-up. Panics if `at` lies in the past.
    #[inline]
    pub fn arm(&mut self, resource: ResourceId, at: SimTime) {
        let key = self.key(resource, at);
        self.put(resource, key);
    }

    /// As [`EventQueue::arm`], for an idle timer that is probably the next one. Until it fires it must not be armed again,
    /// only [disarmed](EventQueue::disarm).
    #[inline]
    pub fn arm_soon(&mut self, resource: ResourceId, at: SimTime) {
        let key = self.key(resource, at);
        debug_assert_eq!(self.tree[self.leaf(resource)], IDLE, "resource {} is armed", resource.0);
        if self.soon == IDLE && key != LATER {
            self.soon = key;
        } else {
            self.put(resource, key);
        }
    }

    /// The key of a wake-up of `resource` at `at`. The shift drops the bits that the epoch has in common.
    #[inline(always)]
    fn key(&mut self, resource: ResourceId, at: SimTime) -> u64 {
        if at < self.now {
            self.in_the_past(resource, at);
        }
        if at > self.epoch_end {
            // No call: it would cost the callers registers.
            self.later[resource.0 as usize] = at;
            return LATER;
        }
        at.0 << self.index_bits | u64::from(resource.0)
    }

    /// Puts a key into the tree.
    #[inline(always)]
    fn put(&mut self, resource: ResourceId, key: u64) {
        let leaf = self.leaf(resource);
        debug_assert!(!self.is_soon(resource), "resource {} is armed again", resource.0);
        // SAFETY: `leaf` is in bounds.
        let before = std::mem::replace(unsafe { self.tree.get_unchecked_mut(leaf) }, key);
        // The path of the wake-up being handled still has its old key and needs a repair. Most other timers were idle.
        if leaf == self.handled || key > before {
            self.climb(leaf, key);
        } else {
            self.lower(leaf, key);
        }
    }

    // Out of line, so that the callers keep nothing in memory for the message.
    #[cold]
    #[inline(never)]
    fn in_the_past(&self, resource: ResourceId, at: SimTime) -> ! {
        panic!("resource {} armed in the past: {at} before {}", resource.0, self.now);
    }

    /// The timers in later epochs.
    fn later_timers(&self) -> impl Iterator<Item = (SimTime, ResourceId)> + '_ {
        let timers = self.later.iter().zip(0..).map(|(&at, r)| (at, ResourceId(r)));
        timers.filter(|&(_, resource)| self.tree[self.leaf(resource)] == LATER)
    }

    /// Enters the epoch of the next timer, once no timer is left in the current one, and returns that timer's key; `IDLE` if
    /// there is none up to `limit`.
    #[cold]
    #[inline(never)]
    fn next_epoch(&mut self, limit: SimTime) -> u64 {
        let next = self.later_timers().min().map(|(at, _)| at);
        let Some(next) = next.filter(|&at| at <= limit) else { return IDLE };
        let offsets = u64::MAX >> self.index_bits;
        (self.epoch, self.epoch_end) = (next.0 & !offsets, SimTime(next.0 | offsets));
        let timers: Vec<_> = self.later_timers().filter(|&(at, _)| at <= self.epoch_end).collect();
        timers.into_iter().for_each(|(at, resource)| self.arm(resource, at));
        self.root()
    }

    /// Clears the timer of `resource`.
    #[inline]
    pub fn disarm(&mut self, resource: ResourceId) {
        if self.is_soon(resource) {
            self.soon = IDLE;
        }
        let leaf = self.leaf(resource);
        // SAFETY: `leaf` is in bounds.
        unsafe { *self.tree.get_unchecked_mut(leaf) = IDLE };
        self.climb(leaf, IDLE);
    }

    /// The next wake-up without taking it.
    #[inline]
    pub fn peek(&self) -> Option<(SimTime, ResourceId)> {
        let key = self.root().min(self.soon);
        if key >= LATER { self.later_timers().min() } else { Some(self.split(key)) }
    }

    /// Advances to the next wake-up if it is not later than `limit`.
    ///
    /// The path of the timer keeps its old key while the wake-up is handled; the caller handles it and then calls
    /// [`EventQueue::settle`], so that a handler which arms the timer again pays for one tree update, not two.
    #[inline]
    pub fn next(&mut self, limit: SimTime) -> Option<(SimTime, ResourceId)> {
        let mut key = self.root();
        if self.soon < key {
            return self.next_aside(limit);
        }
        if key >= LATER {
            key = self.next_epoch(limit);
            if key == IDLE {
                return None;
            }
        }
        let (at, resource) = self.split(key);
        if at > limit {
            return None;
        }
        self.now = at;
        // Only the leaf is cleared: `arm` or `settle` repairs the path above.
        self.handled = self.last_leaf - resource.0 as usize;
        // SAFETY: the key was put into the tree for this resource by `put`, which checks that it has a leaf.
        unsafe { *self.tree.get_unchecked_mut(self.handled) = IDLE };
        Some((at, resource))
    }

    /// [`EventQueue::next`] for the timer beside the tree.
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

    /// Repairs the path of the last wake-up's resource if its handler did not arm the timer again.
    #[inline]
    pub fn settle(&mut self) {
        // SAFETY: `handled` is a leaf or `ASIDE`.
        if unsafe { *self.tree.get_unchecked(self.handled) } == IDLE {
            self.climb(self.handled, IDLE);
        }
    }

    /// Moves simulated time to `at` without handling anything; panics if a wake-up is due earlier.
    pub fn advance_to(&mut self, at: SimTime) {
        assert!(at >= self.now, "simulated time cannot go back");
        assert!(self.peek().is_none_or(|(t, _)| t >= at), "a wake-up would be skipped");
        self.now = at;
    }

    /// Number of resources.
    pub fn resources(&self) -> u32 {
        self.resources
    }

    /// Whether the timer of `resource` is stored beside the tree.
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
        (SimTime(key >> self.index_bits | self.epoch), ResourceId((key & self.index_mask) as u32))
    }

    /// The leaf of a resource.
    #[inline(always)]
    fn leaf(&self, resource: ResourceId) -> usize {
        if resource.0 >= self.resources {
            self.unknown(resource);
        }
        self.last_leaf - resource.0 as usize
    }

    /// Updates the path of a leaf whose key has decreased. No other key has changed, so the siblings need no comparison.
    #[inline]
    fn lower(&mut self, leaf: usize, key: u64) {
        let mut i = leaf >> 1;
        while i > 0 {
            // SAFETY: a leaf is in bounds, and these indices are less. Index 0 is `ASIDE`, which is less than any key.
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
        // No loop of the simulator runs more often: bounds checks took 5 % of all instructions, and two levels per iteration
        // save another 3 %.
        while i > 3 {
            winner = self.step(&mut i, winner);
            winner = self.step(&mut i, winner);
        }
        if i > 1 {
            self.step(&mut i, winner);
        }
    }

    /// Moves `i`, whose winner is `winner`, to its parent; returns the parent's winner.
    #[inline(always)]
    fn step(&mut self, i: &mut usize, winner: u64) -> u64 {
        // SAFETY: a leaf is in bounds, and `i` has only decreased since. The length is even, so a sibling is in bounds too.
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
    fn equal_times_come_in_index_order_and_arming_again_replaces() {
        let mut events = EventQueue::new(5);
        for r in [3, 1, 4] {
            events.arm(ResourceId(r), SimTime(10));
        }
        events.arm(ResourceId(1), SimTime(20));
        let mut seen = Vec::new();
        while let Some((t, r)) = events.next(SimTime(100)) {
            seen.push((t.0, r.0));
            events.settle();
        }
        assert_eq!(seen, [(10, 3), (10, 4), (20, 1)]);
    }

    #[test]
    #[should_panic(expected = "armed in the past")]
    fn arming_in_the_past_is_a_bug() {
        let mut events = EventQueue::new(2);
        events.arm(ResourceId(0), SimTime(5));
        events.next(SimTime(9));
        events.arm(ResourceId(1), SimTime(4));
    }

    #[test]
    fn timers_of_later_epochs_fire_in_order_up_to_the_last_instant() {
        const RESOURCES: u32 = 1 << 16;
        let mut events = EventQueue::new(RESOURCES);
        let epoch = 1u64 << 47;
        assert_eq!(events.epoch_end, SimTime(epoch - 1));
        let times = [epoch, u64::MAX, epoch - 1, 9 * epoch + 5, 9 * epoch + 4, epoch + 1, u64::MAX, 0];
        times.iter().zip(0..).for_each(|(&at, r)| events.arm(ResourceId(RESOURCES - 1 - r), SimTime(at)));
        events.disarm(ResourceId(RESOURCES - 6));
        let mut seen = Vec::new();
        while let Some(next) = events.peek() {
            assert!(next.0 == SimTime::ZERO || events.next(SimTime(next.0.0 - 1)).is_none());
            assert_eq!(events.next(SimTime(u64::MAX)), Some(next));
            events.settle();
            seen.push((next.0.0, RESOURCES - 1 - next.1.0));
        }
        assert_eq!(seen, [7, 2, 0, 4, 3, 6, 1].map(|r| (times[r as usize], r)));
    }

    /// Operations of a script: resource, delay and what happens.
    type Script = Vec<(u32, u64, u32)>;

    /// The wake-ups of a script that begins at `start`, each compared with an ordered set of timers; times from `start` on.
    fn wake_ups(start: u64, script: &Script) -> Result<Vec<(u64, u32)>, TestCaseError> {
        let mut events = EventQueue::new(37);
        events.advance_to(SimTime(start));
        let mut model: BTreeSet<(u64, u32)> = BTreeSet::new();
        let mut woken = Vec::new();
        for &(r, delay, what) in script {
            let (resource, at) = (ResourceId(r), SimTime(events.now().0 + delay));
            if what < 4 {
                let idle = model.iter().all(|&(_, other)| other != r);
                model.retain(|&(_, other)| other != r);
                model.insert((at.0, r));
                if what < 2 && !events.is_soon(resource) {
                    events.arm(resource, at);
                } else {
                    if !idle {
                        events.disarm(resource);
                    }
                    events.arm_soon(resource, at);
                }
            } else if what == 4 {
                model.retain(|&(_, other)| other != r);
                events.disarm(resource);
            } else if let Some((t, r)) = events.next(SimTime(u64::MAX)) {
                prop_assert_eq!(model.pop_first(), Some((t.0, r.0)));
                prop_assert_eq!(events.current(), r);
                events.settle();
                woken.push((t.0 - start, r.0));
            } else {
                prop_assert!(model.is_empty());
            }
            prop_assert_eq!(events.peek().map(|(t, r)| (t.0, r.0)), model.first().copied());
        }
        Ok(woken)
    }

    fn script(delay: impl Strategy<Value = u64>) -> impl Strategy<Value = Script> {
        prop::collection::vec((0u32..37, delay, 0u32..8), 1..200)
    }

    proptest! {
        /// Timers beside the tree and in it give the order of an ordered set, also where an epoch ends in between.
        #[test]
        fn the_order_is_that_of_a_set_and_does_not_depend_on_the_epoch(script in script(0u64..50), before in 0u64..200) {
            let order = wake_ups(0, &script)?;
            prop_assert_eq!(&order, &wake_ups((1 << 58) - before, &script)?);
            prop_assert_eq!(&order, &wake_ups((5 << 58) - before, &script)?);
        }

        /// Delays of up to half an epoch, so that a script passes several.
        #[test]
        fn scripts_that_pass_many_epochs_give_the_order_of_a_set(script in script(prop_oneof![0u64..50, 0u64..1 << 57])) {
            wake_ups(0, &script)?;
        }
    }
}
