//! Slots of the read cache: copies of units, reservations of units being read, and the order of eviction by partition.

use crate::memory::filled;
use crate::numbers::{FillId, Lpn};
use crate::replacement::MapReplacement;
use crate::replacement::order::Order;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Free,
    /// A copy.
    Valid,
    /// A fill reads the unit.
    Reading(FillId),
    /// A fill reads the unit, which has changed since: the slot is freed when the fill ends.
    Stale,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    lpn: Lpn,
    version: u32,
    state: State,
    /// Read-ahead brought the unit, and no host read has used it.
    unused: bool,
}

/// Slots in which one queue, or all, cache units.
#[derive(Clone, Debug)]
struct Partition {
    free: Vec<u32>,
    /// Slots with copies, numbered from the first of the partition.
    order: Order,
}

/// Cached units.
#[derive(Clone, Debug)]
pub(super) struct Units {
    /// Slot of each logical unit plus one; zero for units without one.
    slot_of: Vec<u32>,
    slots: Vec<Slot>,
    partitions: Vec<Partition>,
    /// Slots of a partition.
    each: u32,
    replacement: MapReplacement,
}

impl Units {
    /// `partitions` empty partitions of `each` slots for `logical` units.
    pub(super) fn new(replacement: MapReplacement, logical: u32, each: u32, partitions: u32) -> Units {
        let partition = Partition { free: (0..each).rev().collect(), order: Order::new(each) };
        let empty = Slot { lpn: Lpn(0), version: 0, state: State::Free, unused: false };
        Units {
            slot_of: filled(0, logical as usize),
            slots: filled(empty, (each * partitions) as usize),
            partitions: vec![partition; partitions as usize],
            each,
            replacement,
        }
    }

    /// Slot of `lpn`, with a copy or reserved.
    #[inline]
    pub(super) fn find(&self, lpn: Lpn) -> Option<u32> {
        self.slot_of[lpn.index()].checked_sub(1)
    }

    /// The fill that reads the unit of `slot`; `None` if the slot holds a copy.
    pub(super) fn fill(&self, slot: u32) -> Option<FillId> {
        match self.slots[slot as usize].state {
            State::Reading(fill) => Some(fill),
            _ => None,
        }
    }

    pub(super) fn version(&self, slot: u32) -> u32 {
        self.slots[slot as usize].version
    }

    /// Notes a host read of the unit of `slot`; whether it is the first one of a unit that read-ahead brought.
    pub(super) fn first_use(&mut self, slot: u32) -> bool {
        std::mem::take(&mut self.slots[slot as usize].unused)
    }

    /// Notes a use of the copy in `slot` for the order of eviction.
    pub(super) fn touch(&mut self, slot: u32) {
        self.replacement.touch(&mut self.partitions[(slot / self.each) as usize].order, slot % self.each);
    }

    /// Takes a slot of `partition`, of an evicted copy if none is free; `None` if all are reserved.
    fn take(&mut self, partition: u32, wasted: &mut u64) -> Option<u32> {
        let of = &mut self.partitions[partition as usize];
        let first = partition * self.each;
        if let Some(slot) = of.free.pop() {
            return Some(first + slot);
        }
        if of.order.used() == 0 {
            return None;
        }
        let victim = self.replacement.victim(&mut of.order);
        of.order.remove(victim);
        let slot = first + victim;
        let evicted = &mut self.slots[slot as usize];
        *wasted += u64::from(std::mem::take(&mut evicted.unused));
        self.slot_of[evicted.lpn.index()] = 0;
        Some(slot)
    }

    /// Reserves a slot of `partition` for `lpn`, which has none.
    pub(super) fn reserve(
        &mut self,
        partition: u32,
        lpn: Lpn,
        version: u32,
        fill: FillId,
        unused: bool,
        wasted: &mut u64,
    ) -> Option<u32> {
        debug_assert!(self.find(lpn).is_none());
        let slot = self.take(partition, wasted)?;
        self.slots[slot as usize] = Slot { lpn, version, state: State::Reading(fill), unused };
        self.slot_of[lpn.index()] = slot + 1;
        Some(slot)
    }

    /// Caches a copy of `lpn`, which has no slot, in `partition`, unless all its slots are reserved.
    pub(super) fn insert(&mut self, partition: u32, lpn: Lpn, version: u32, wasted: &mut u64) {
        let Some(slot) = self.take(partition, wasted) else { return };
        self.slots[slot as usize] = Slot { lpn, version, state: State::Valid, unused: false };
        self.slot_of[lpn.index()] = slot + 1;
        self.partitions[partition as usize].order.insert(slot % self.each);
    }

    /// Ends the reservation of `slot`: with a copy, or free if its unit changed or the read `failed`.
    pub(super) fn filled(&mut self, slot: u32, failed: bool, wasted: &mut u64) {
        let of = &mut self.slots[slot as usize];
        let partition = &mut self.partitions[(slot / self.each) as usize];
        if of.state != State::Stale && !failed {
            of.state = State::Valid;
            partition.order.insert(slot % self.each);
            return;
        }
        if of.state != State::Stale {
            self.slot_of[of.lpn.index()] = 0;
            *wasted += u64::from(std::mem::take(&mut of.unused));
        }
        of.state = State::Free;
        partition.free.push(slot % self.each);
    }

    /// Drops the copy of `lpn`, or the reservation for it.
    pub(super) fn drop_copy(&mut self, lpn: Lpn, wasted: &mut u64) {
        let Some(slot) = self.find(lpn) else { return };
        self.slot_of[lpn.index()] = 0;
        let of = &mut self.slots[slot as usize];
        *wasted += u64::from(std::mem::take(&mut of.unused));
        if of.state == State::Valid {
            of.state = State::Free;
            let partition = &mut self.partitions[(slot / self.each) as usize];
            partition.order.remove(slot % self.each);
            partition.free.push(slot % self.each);
        } else {
            of.state = State::Stale;
        }
    }

    /// First inconsistency; `newest` is the newest version of a unit that holds data.
    pub(super) fn audit(&self, newest: impl Fn(Lpn) -> Option<u32>) -> Result<(), String> {
        let mut found = 0;
        for (lpn, slot) in (0..).map(Lpn).zip(&self.slot_of).filter(|(_, slot)| **slot != 0) {
            let of = &self.slots[*slot as usize - 1];
            if of.lpn != lpn || matches!(of.state, State::Free | State::Stale) {
                return Err(format!("read cache: the slot of unit {lpn} is {of:?}"));
            }
            if newest(lpn) != Some(of.version) {
                let (held, newest) = (of.version, newest(lpn));
                return Err(format!("read cache: unit {lpn} has version {held}, the newest is {newest:?}"));
            }
            found += u32::from(of.state == State::Valid);
        }
        for (k, of) in self.partitions.iter().enumerate() {
            let slots = &self.slots[k * self.each as usize..][..self.each as usize];
            let count = |state| slots.iter().filter(|slot| slot.state == state).count();
            let (valid, free) = (count(State::Valid), count(State::Free));
            if of.order.count() as usize != valid || of.free.len() != free {
                return Err(format!(
                    "read cache: partition {k} orders {} of {valid} copies and has {} of {free} free slots",
                    of.order.count(),
                    of.free.len()
                ));
            }
            found = found.saturating_sub(valid as u32);
        }
        if found != 0 {
            return Err(format!("read cache: {found} units share slots"));
        }
        Ok(())
    }
}
