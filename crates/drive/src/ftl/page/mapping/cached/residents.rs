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
    dirty: bool,
}

/// Objects in the mapping cache.
#[derive(Clone, Debug)]
pub(super) struct Residents {
    /// Slot of each object plus one; zero for objects that are not cached.
    slot_of: Vec<u32>,
    slots: Vec<Resident>,
    free: Vec<u32>,
    order: Order,
    replacement: MapReplacement,
    used: u64,
    capacity: u64,
}

impl Residents {
    /// Empty cache of `capacity` bytes for some of `objects` objects, each of at least `least` bytes.
    pub(super) fn new(replacement: MapReplacement, objects: u32, least: u32, capacity: u64) -> Residents {
        let slots = (capacity / u64::from(least)).min(u64::from(objects)) as u32;
        Residents {
            slot_of: vec![0; objects as usize],
            slots: vec![Resident::default(); slots as usize],
            free: (0..slots).rev().collect(),
            order: Order::new(slots),
            replacement,
            used: 0,
            capacity,
        }
    }

    /// Looks `object` up; notes the use if it is cached.
    #[inline(always)]
    pub(super) fn look_up(&mut self, object: u32) -> bool {
        let slot = self.slot_of[object as usize];
        if slot == 0 {
            return false;
        }
        self.replacement.touch(&mut self.order, slot - 1);
        true
    }

    /// Whether `object` is cached.
    pub(super) fn holds(&self, object: u32) -> bool {
        self.slot_of[object as usize] != 0
    }

    /// Inserts `object`, which is not cached; appends what had to be evicted.
    pub(super) fn insert(&mut self, object: u32, bytes: u32, dirty: bool, evicted: &mut Vec<Evicted>) {
        debug_assert!(!self.holds(object));
        while self.used + u64::from(bytes) > self.capacity || self.free.is_empty() {
            evicted.push(self.evict());
        }
        let slot = self.free.pop().expect("an eviction frees a slot");
        self.slots[slot as usize] = Resident { object, bytes, changes: 0, dirty };
        self.slot_of[object as usize] = slot + 1;
        self.order.insert(slot);
        self.used += u64::from(bytes);
    }

    fn evict(&mut self) -> Evicted {
        let slot = self.replacement.victim(&mut self.order);
        let Resident { object, bytes, dirty, .. } = self.slots[slot as usize];
        self.order.remove(slot);
        self.free.push(slot);
        self.slot_of[object as usize] = 0;
        self.used -= u64::from(bytes);
        Evicted { object, dirty }
    }

    /// Notes a changed entry of `object`; false if it is not cached. Returns the changes since it was measured.
    pub(super) fn change(&mut self, object: u32) -> Option<u32> {
        let slot = self.slot_of[object as usize].checked_sub(1)?;
        let of = &mut self.slots[slot as usize];
        of.dirty = true;
        of.changes += 1;
        Some(of.changes)
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
        self.used = self.used - u64::from(of.bytes) + u64::from(bytes);
        of.bytes = bytes;
        while self.used > self.capacity {
            evicted.push(self.evict());
        }
    }

    /// Notes that the changes of `object` are being written; returns whether it was cached and dirty.
    pub(super) fn clean(&mut self, object: u32) -> bool {
        let Some(slot) = self.slot_of[object as usize].checked_sub(1) else { return false };
        std::mem::take(&mut self.slots[slot as usize].dirty)
    }

    /// First inconsistency between slots, objects, order and bytes.
    pub(super) fn audit(&self) -> Result<(), String> {
        let cached = self.slot_of.iter().filter(|&&slot| slot != 0).count();
        let used = self.slots.len() - self.free.len();
        let listed = self.order.count();
        if cached != used || listed as usize != used || self.order.used() != listed {
            return Err(format!(
                "mapping cache: {cached} objects have {used} slots and {listed} are ordered"
            ));
        }
        let mut bytes = 0;
        for (object, slot) in (0..).zip(&self.slot_of).filter(|(_, slot)| **slot != 0) {
            let of = self.slots[*slot as usize - 1];
            if of.object != object {
                return Err(format!("mapping cache: the slot of object {object} holds {}", of.object));
            }
            bytes += u64::from(of.bytes);
        }
        if bytes != self.used || bytes > self.capacity {
            return Err(format!(
                "mapping cache: {bytes} bytes are held, {} counted of {}",
                self.used, self.capacity
            ));
        }
        Ok(())
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
        let mut residents = Residents::new(replacement, 20, 2, 2 * SLOTS);
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
                    residents.insert(object, 2, false, &mut evicted);
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
        let (mut residents, mut evicted) = (Residents::new(MapReplacement::Clock, 9, 1, 3), Vec::new());
        (0..3).for_each(|object| residents.insert(object, 1, false, &mut evicted));
        assert!(residents.look_up(0) && residents.look_up(1));
        residents.insert(3, 1, false, &mut evicted);
        residents.insert(4, 1, false, &mut evicted);
        let out: Vec<u32> = evicted.iter().map(|of| of.object).collect();
        // The hand passes 0 and 1 and clears their marks; 3 came after them.
        assert_eq!(out, [2, 0]);
    }

    #[test]
    fn a_scan_leaves_the_protected_objects_of_segmented_lru() {
        let rows = MapReplacement::all();
        let segmented = rows.into_iter().find(|row| row.0 == "segmented-lru").unwrap().1;
        let (mut residents, mut evicted) = (Residents::new(segmented, 1000, 1, 10), Vec::new());
        (0..10).for_each(|object| residents.insert(object, 1, false, &mut evicted));
        (0..5).for_each(|object| assert!(residents.look_up(object)));
        (100..900).for_each(|object| residents.insert(object, 1, false, &mut evicted));
        assert!((0..5).all(|object| residents.holds(object)));
        residents.audit().unwrap();
    }

    #[test]
    fn every_policy_keeps_slots_bytes_and_order_together() {
        for (_, replacement, _) in MapReplacement::all() {
            let mut rng = rng(6);
            let mut residents = Residents::new(replacement, 50, 8, 300);
            let mut evicted = Vec::new();
            for _ in 0..5000 {
                let (object, bytes) = (rng.below(50) as u32, 8 + rng.below(60) as u32);
                if residents.look_up(object) {
                    residents.change(object);
                    residents.resize(object, bytes, true, &mut evicted);
                } else {
                    residents.insert(object, bytes, false, &mut evicted);
                }
                residents.audit().unwrap();
            }
            assert!(evicted.iter().any(|of| of.dirty) && evicted.iter().any(|of| !of.dirty));
        }
    }
}
