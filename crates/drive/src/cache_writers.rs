//! Writers of the slots of a write cache that is divided: the queue that filled each slot, and its part of the cache.

use crate::numbers::Slot;
use interpulse_settings::choices;

choices! {
    /// Who shares the slots of the write cache.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CachePartition {
        /// all queues share the cache
        Shared = "shared",
        /// an equal part for each queue of host.queue-weights: writes of a queue wait for slots of its part alone
        // As MQSim's EQUAL_PARTITIONING, whose flows have a queue each.
        ByQueue = "by-queue",
    }
}

/// Writers of the slots of a write cache.
#[derive(Clone, Debug)]
pub struct SlotWriters {
    /// Most slots of a queue.
    most: u32,
    /// Slots of each queue in use.
    used: Vec<u32>,
    of_slot: Vec<u16>,
    /// Queue of the units that are admitted next.
    next: u16,
}

impl SlotWriters {
    /// Writers of a cache of `slots` slots of which each of `queues` queues may have `most`.
    pub fn new(slots: u32, queues: usize, most: u32) -> SlotWriters {
        SlotWriters { most, used: vec![0; queues], of_slot: vec![0; slots as usize], next: 0 }
    }

    pub(crate) fn set_next(&mut self, queue: u16) {
        self.next = queue;
    }

    /// Takes one of the `free` slots for the next writer, if its part has room.
    #[cold]
    pub(crate) fn admit(&mut self, free: &mut Vec<Slot>) -> Option<Slot> {
        let used = &mut self.used[usize::from(self.next)];
        if *used == self.most {
            return None;
        }
        let slot = free.pop()?;
        *used += 1;
        self.of_slot[slot.index()] = self.next;
        Some(slot)
    }

    #[cold]
    pub(crate) fn release(&mut self, slot: Slot) {
        self.used[usize::from(self.of_slot[slot.index()])] -= 1;
    }
}
