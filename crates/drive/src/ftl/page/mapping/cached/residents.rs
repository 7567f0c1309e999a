//! Cached objects: slots, their bytes and changes, and the order in which they are evicted.

use crate::replacement::MapReplacement;
use crate::replacement::order::Order;

/// A cached object that was evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Evicted {
    pub(super) object: u32,
    pub(super) dirty: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Resident {
    object: u32,
    bytes: u32,
    /// Entries changed since the object was measured.
    changes: u32,
    /// Part of the cache that has the slot.
    part: u16,
    dirty: bool,
}

/// Part of the cache, which evicts only its own objects.
#[derive(Clone, Debug)]
struct Part {
    /// Its first slot.
    first: u32,
    free: Vec<u32>,
    /// Of its slots, counted from the first.
    order: Order,
    used: u64,
    capacity: u64,
}

/// Objects in the mapping cache.
#[derive(Clone, Debug)]
pub(super) struct Residents {
    /// Slot of each object plus one; zero for objects that are not cached.
    slot_of: Vec<u32>,
    slots: Vec<Resident>,
    /// The only part of a cache that is shared.
    part: Part,
    /// The parts behind it.
    others: Vec<Part>,
    replacement: MapReplacement,
}

impl Residents {
    /// Empty cache with parts of these `capacities` in bytes for some of `objects` objects, each of at least `least` bytes.
    pub(super) fn new(
        replacement: MapReplacement,
        objects: u32,
        least: u32,
        capacities: &[u64],
    ) -> Residents {
        let mut slots = Vec::new();
        let mut parts = (0..).zip(capacities).map(|(part, &capacity)| {
            let (first, count) = (slots.len() as u32, (capacity / u64::from(least)).min(u64::from(objects)));
            slots.extend((0..count).map(|_| Resident { part, ..Resident::default() }));
            let count = count as u32;
            Part { first, free: (0..count).rev().collect(), order: Order::new(count), used: 0, capacity }
        });
        let part = parts.next().expect("a cache has a part");
        let others = parts.collect();
        Residents { slot_of: vec![0; objects as usize], slots, part, others, replacement }
    }

    fn part_mut(&mut self, part: u16) -> &mut Part {
        match part {
            0 => &mut self.part,
            other => &mut self.others[usize::from(other) - 1],
        }
    }

    /// Looks `object` up; notes the use if it is cached.
    #[inline(always)]
    pub(super) fn look_up(&mut self, object: u32) -> bool {
        let slot = self.slot_of[object as usize];
        if slot == 0 {
            return false;
        }
        if self.others.is_empty() {
            self.replacement.touch(&mut self.part.order, slot - 1);
        } else {
            self.touch_in_part(slot - 1);
        }
        true
    }

    #[inline(never)]
    fn touch_in_part(&mut self, slot: u32) {
        let (part, replacement) = (self.slots[slot as usize].part, self.replacement);
        let of = self.part_mut(part);
        replacement.touch(&mut of.order, slot - of.first);
    }

    /// Whether `object` is cached.
    pub(super) fn holds(&self, object: u32) -> bool {
        self.slot_of[object as usize] != 0
    }

    /// Inserts `object`, which is not cached, into `part`; appends what had to be evicted.
    pub(super) fn insert(
        &mut self,
        part: u16,
        object: u32,
        bytes: u32,
        dirty: bool,
        evicted: &mut Vec<Evicted>,
    ) {
        debug_assert!(!self.holds(object));
        loop {
            let of = self.part_mut(part);
            if of.used + u64::from(bytes) <= of.capacity && !of.free.is_empty() {
                break;
            }
            evicted.push(self.evict(part));
        }
        let of = self.part_mut(part);
        let place = of.free.pop().expect("an eviction frees a slot");
        of.order.insert(place);
        of.used += u64::from(bytes);
        let slot = of.first + place;
        self.slots[slot as usize] = Resident { object, bytes, changes: 0, part, dirty };
        self.slot_of[object as usize] = slot + 1;
    }

    fn evict(&mut self, part: u16) -> Evicted {
        let replacement = self.replacement;
        let of = self.part_mut(part);
        let place = replacement.victim(&mut of.order);
        of.order.remove(place);
        of.free.push(place);
        let slot = of.first + place;
        let Resident { object, bytes, dirty, .. } = self.slots[slot as usize];
        self.part_mut(part).used -= u64::from(bytes);
        self.slot_of[object as usize] = 0;
        Evicted { object, dirty }
    }

    /// Notes a changed entry of `object`; `None` if it is not cached. Returns the changes since it was measured.
    pub(super) fn change(&mut self, object: u32) -> Option<u32> {
        let slot = self.slot_of[object as usize].checked_sub(1)?;
        let of = &mut self.slots[slot as usize];
        of.dirty = true;
        of.changes += 1;
        Some(of.changes)
    }

    /// Whether `object` is cached and changed.
    pub(super) fn is_dirty(&self, object: u32) -> bool {
        self.slot_of[object as usize].checked_sub(1).is_some_and(|slot| self.slots[slot as usize].dirty)
    }

    /// Drops all objects.
    pub(super) fn clear(&mut self) {
        for part in 0..=self.others.len() as u16 {
            while self.part_mut(part).order.used() > 0 {
                self.evict(part);
            }
        }
    }

    /// Bytes of a cached object.
    pub(super) fn bytes(&self, object: u32) -> u32 {
        self.slots[self.slot_of[object as usize] as usize - 1].bytes
    }

    /// Sets the bytes of a cached object, `measured` or estimated; appends what had to be evicted, perhaps the object.
    pub(super) fn resize(&mut self, object: u32, bytes: u32, measured: bool, evicted: &mut Vec<Evicted>) {
        let of = &mut self.slots[self.slot_of[object as usize] as usize - 1];
        if measured {
            of.changes = 0;
        }
        let (part, before) = (of.part, of.bytes);
        of.bytes = bytes;
        let of = self.part_mut(part);
        of.used = of.used - u64::from(before) + u64::from(bytes);
        while self.part_mut(part).used > self.part_mut(part).capacity {
            evicted.push(self.evict(part));
        }
    }

    /// Notes that the changes of `object` are being written; returns whether it was cached and dirty.
    pub(super) fn clean(&mut self, object: u32) -> bool {
        let Some(slot) = self.slot_of[object as usize].checked_sub(1) else { return false };
        std::mem::take(&mut self.slots[slot as usize].dirty)
    }

    /// First inconsistency between slots, objects, orders and bytes.
    pub(super) fn audit(&self) -> Result<(), String> {
        let parts = || std::iter::once(&self.part).chain(&self.others);
        let cached = self.slot_of.iter().filter(|&&slot| slot != 0).count();
        let free: usize = parts().map(|part| part.free.len()).sum();
        let used = self.slots.len() - free;
        let listed: u32 = parts().map(|part| part.order.count()).sum();
        let ordered: u32 = parts().map(|part| part.order.used()).sum();
        if cached != used || listed as usize != used || ordered != listed {
            return Err(format!(
                "mapping cache: {cached} objects have {used} slots and {listed} are ordered"
            ));
        }
        let mut bytes = vec![0; 1 + self.others.len()];
        for (object, slot) in (0..).zip(&self.slot_of).filter(|(_, slot)| **slot != 0) {
            let of = self.slots[*slot as usize - 1];
            if of.object != object {
                return Err(format!("mapping cache: the slot of object {object} holds {}", of.object));
            }
            bytes[usize::from(of.part)] += u64::from(of.bytes);
        }
        match parts().zip(&bytes).find(|&(part, &bytes)| bytes != part.used || bytes > part.capacity) {
            Some((part, bytes)) => Err(format!(
                "mapping cache: {bytes} bytes are held, {} counted of {}",
                part.used, part.capacity
            )),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpulse_engine::Rng;

    const SLOTS: u64 = 7;

    fn rng(seed: u64) -> Rng {
        interpulse_engine::Streams::new(seed).stream("test.residents", 0)
    }

    /// Objects of 2 bytes in a cache of [`SLOTS`], looked up and inserted at random; `kept` orders a copy of the cache.
    fn same_as(replacement: MapReplacement, touch: bool) {
        let mut rng = rng(5);
        let mut residents = Residents::new(replacement, 20, 2, &[2 * SLOTS]);
        let (mut model, mut evicted): (Vec<u32>, Vec<Evicted>) = (Vec::new(), Vec::new());
        for _ in 0..5000 {
            let object = rng.below(20) as u32;
            let place = model.iter().position(|&of| of == object);
            assert_eq!(residents.look_up(object), place.is_some());
            match place {
                Some(k) if touch => {
                    model.remove(k);
                    model.push(object);
                }
                Some(_) => {}
                None => {
                    model.push(object);
                    residents.insert(0, object, 2, false, &mut evicted);
                    let out = (model.len() as u64 > SLOTS).then(|| model.remove(0));
                    assert_eq!(evicted.pop().map(|of| of.object), out);
                }
            }
            residents.audit().unwrap();
        }
    }

    #[test]
    fn lru_and_fifo_evict_as_a_list_does() {
        same_as(MapReplacement::Lru, true);
        same_as(MapReplacement::Fifo, false);
    }

    #[test]
    fn clock_spares_what_was_looked_up() {
        let (mut residents, mut evicted) = (Residents::new(MapReplacement::Clock, 9, 1, &[3]), Vec::new());
        (0..3).for_each(|object| residents.insert(0, object, 1, false, &mut evicted));
        assert!(residents.look_up(0) && residents.look_up(1));
        residents.insert(0, 3, 1, false, &mut evicted);
        residents.insert(0, 4, 1, false, &mut evicted);
        let out: Vec<u32> = evicted.iter().map(|of| of.object).collect();
        // The hand passes 0 and 1 and clears their marks; 3 came after them.
        assert_eq!(out, [2, 0]);
    }

    #[test]
    fn a_scan_leaves_the_protected_objects_of_segmented_lru() {
        let rows = MapReplacement::all();
        let segmented = rows.into_iter().find(|row| row.0 == "segmented-lru").unwrap().1;
        let (mut residents, mut evicted) = (Residents::new(segmented, 1000, 1, &[10]), Vec::new());
        (0..10).for_each(|object| residents.insert(0, object, 1, false, &mut evicted));
        (0..5).for_each(|object| assert!(residents.look_up(object)));
        (100..900).for_each(|object| residents.insert(0, object, 1, false, &mut evicted));
        assert!((0..5).all(|object| residents.holds(object)));
        residents.audit().unwrap();
    }

    #[test]
    fn every_policy_keeps_slots_bytes_and_order_together() {
        for (_, replacement, _) in MapReplacement::all() {
            let mut rng = rng(6);
            let mut residents = Residents::new(replacement, 50, 8, &[300]);
            let mut evicted = Vec::new();
            for _ in 0..5000 {
                let (object, bytes) = (rng.below(50) as u32, 8 + rng.below(60) as u32);
                if residents.look_up(object) {
                    residents.change(object);
                    residents.resize(object, bytes, true, &mut evicted);
                } else {
                    residents.insert(0, object, bytes, false, &mut evicted);
                }
                residents.audit().unwrap();
            }
            assert!(evicted.iter().any(|of| of.dirty) && evicted.iter().any(|of| !of.dirty));
        }
    }

    #[test]
    fn a_part_evicts_its_own_objects_only() {
        let (mut residents, mut evicted) = (Residents::new(MapReplacement::Lru, 30, 1, &[2, 3]), Vec::new());
        (0..2).for_each(|object| residents.insert(0, object, 1, false, &mut evicted));
        (10..16).for_each(|object| residents.insert(1, object, 1, false, &mut evicted));
        assert_eq!(evicted.drain(..).map(|of| of.object).collect::<Vec<_>>(), [10, 11, 12]);
        // A look-up finds what another part holds, and counts as a use there.
        assert!(residents.look_up(0) && residents.look_up(13));
        residents.insert(0, 2, 1, false, &mut evicted);
        residents.insert(1, 16, 1, false, &mut evicted);
        assert_eq!(evicted.iter().map(|of| of.object).collect::<Vec<_>>(), [1, 14]);
        residents.audit().unwrap();
    }
}
