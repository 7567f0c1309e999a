//! Write cache: DRAM slots of one unit each, written back in order of arrival.
//!
//! A slot is free, dirty (waiting to be programmed), in flight (being programmed) or dead (overwritten or trimmed while
//! dirty or in flight). The map points to the slot of a unit's newest version, so no table here is keyed by logical
//! address. Data in the cache counts as written; `cache.protected` decides whether it survives a power loss.

use crate::cache_writers::SlotWriters;
use crate::numbers::{Lpn, Ppu, Slot};
use interpulse_engine::Ring;
use std::collections::VecDeque;

/// Home of a unit without a flash copy.
pub const NO_FLASH_COPY: Ppu = Ppu(u32::MAX);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SlotState {
    Free,
    Dirty,
    InFlight,
    /// Dead while on a dirty list.
    Dead,
    /// Dirty and on no list: its owner chooses when it is programmed.
    Held,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    lpn: Lpn,
    /// Flash copy of the unit that is kept while this newer version is in the cache.
    home: Ppu,
    epoch: u32,
    list: u32,
    state: SlotState,
}

/// Writes between two flushes.
#[derive(Clone, Copy, Default, Debug)]
struct Epoch {
    number: u32,
    /// Slots not yet programmed.
    left: u32,
}

/// Slots of a write cache by use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheUse {
    /// Free slots.
    pub free: usize,
    /// Dirty units.
    pub dirty: u32,
    /// Units being programmed.
    pub in_flight: u32,
}

impl CacheUse {
    /// Slots of two caches.
    #[must_use]
    pub fn and(self, other: CacheUse) -> CacheUse {
        CacheUse {
            free: self.free + other.free,
            dirty: self.dirty + other.dirty,
            in_flight: self.in_flight + other.in_flight,
        }
    }
}

/// Slots of a write cache.
#[derive(Clone)]
pub struct Cache {
    slots: Vec<Entry>,
    free: Vec<Slot>,
    /// Dirty (and dead) slots by list: one list for dynamic allocation, one per lane for static striping.
    dirty: Vec<Ring<Slot>>,
    /// Dirty slots that are not dead, by list.
    live: Vec<u32>,
    live_total: u32,
    in_flight: u32,
    /// Epoch that ends with the next flush.
    open: Epoch,
    /// Earlier epochs that are not yet durable, in order.
    older: VecDeque<Epoch>,
    /// Writers of the slots; `None` where they do not matter.
    writers: Option<Box<SlotWriters>>,
}

impl Cache {
    /// Cache of `slots` slots with `lists` dirty lists.
    pub fn new(slots: u32, lists: u32) -> Cache {
        let empty = Entry { lpn: Lpn(0), home: NO_FLASH_COPY, epoch: 0, list: 0, state: SlotState::Free };
        Cache {
            slots: vec![empty; slots as usize],
            free: Slot::first(slots).rev().collect(),
            dirty: vec![Ring::default(); lists as usize],
            live: vec![0; lists as usize],
            live_total: 0,
            in_flight: 0,
            open: Epoch::default(),
            older: VecDeque::new(),
            writers: None,
        }
    }

    /// Follows who has written the slots.
    pub fn follow_writers(&mut self, writers: SlotWriters) {
        self.writers = Some(Box::new(writers));
    }

    /// Sets the queue of the units that are admitted next, where it matters.
    pub fn set_writer(&mut self, queue: u16) {
        if let Some(writers) = &mut self.writers {
            writers.set_next(queue);
        }
    }

    /// Takes a free slot.
    #[inline(always)]
    fn take_free(&mut self) -> Option<Slot> {
        match &mut self.writers {
            None => self.free.pop(),
            Some(of) => of.admit(&mut self.free),
        }
    }

    /// Slots by use.
    pub fn slots_by_use(&self) -> CacheUse {
        CacheUse { free: self.free(), dirty: self.live_total, in_flight: self.in_flight }
    }

    /// Free slots.
    #[inline]
    pub fn free(&self) -> usize {
        self.free.len()
    }

    /// Slots, free or not.
    pub fn slots(&self) -> u32 {
        self.slots.len() as u32
    }

    /// List of the unit in a slot.
    pub fn list(&self, slot: Slot) -> usize {
        self.slots[slot.index()].list as usize
    }

    /// Dirty lists.
    pub fn lists(&self) -> usize {
        self.dirty.len()
    }

    /// Dirty units on list `list`.
    #[inline]
    pub fn dirty(&self, list: usize) -> u32 {
        self.live[list]
    }

    /// Dirty units on all lists.
    #[inline]
    pub fn dirty_total(&self) -> u32 {
        self.live_total
    }

    /// Units being programmed.
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Takes a free slot for a new version of `lpn`, dirty on `list`; `None` if there is none.
    #[inline(always)]
    pub fn admit(&mut self, lpn: Lpn, list: usize, home: Ppu) -> Option<Slot> {
        let slot = self.take_free()?;
        self.open.left += 1;
        self.slots[slot.index()] =
            Entry { lpn, home, epoch: self.open.number, list: list as u32, state: SlotState::Dirty };
        self.dirty[list].push(slot);
        self.live[list] += 1;
        self.live_total += 1;
        Some(slot)
    }

    /// Whether a slot may be overwritten in place (its program has not begun).
    #[inline]
    pub fn is_dirty(&self, slot: Slot) -> bool {
        self.slots[slot.index()].state == SlotState::Dirty
    }

    /// The `k`-th oldest slot of `list`, which has no dead slots.
    #[inline]
    pub fn dirty_at(&self, list: usize, k: usize) -> Option<Slot> {
        (k < self.live[list] as usize).then(|| self.dirty[list].get(k))?
    }

    /// Marks a dirty slot of `list` dead (trim): no flush waits for it. It is freed once it is the oldest of the list.
    pub fn kill_dirty(&mut self, slot: Slot) {
        let list = self.slots[slot.index()].list as usize;
        assert_eq!(self.slots[slot.index()].state, SlotState::Dirty);
        self.slots[slot.index()].state = SlotState::Dead;
        self.live[list] -= 1;
        self.live_total -= 1;
        self.leave_epoch(slot);
        self.free_dead(list);
    }

    /// Moves the oldest dirty slot of `list` to flight; [`Cache::free_dead`] must follow the last such call.
    // Two families call it; a call for each unit costs more than a second copy.
    #[inline(always)]
    pub fn take_dirty(&mut self, list: usize) -> Option<(Slot, Lpn)> {
        loop {
            let slot = self.dirty[list].pop()?;
            let entry = &mut self.slots[slot.index()];
            if entry.state == SlotState::Dirty {
                entry.state = SlotState::InFlight;
                let lpn = entry.lpn;
                self.live[list] -= 1;
                self.live_total -= 1;
                self.in_flight += 1;
                return Some((slot, lpn));
            }
            assert_eq!(entry.state, SlotState::Dead, "a slot on a dirty list is dirty or dead");
            self.release_slot(slot);
        }
    }

    /// Frees the dead slots at the head of `list`: no program would ever free a list of dead slots.
    #[inline]
    pub fn free_dead(&mut self, list: usize) {
        while let Some(slot) = self.dirty[list].front() {
            if self.slots[slot.index()].state == SlotState::Dirty {
                break;
            }
            self.dirty[list].pop();
            self.release_slot(slot);
        }
    }

    /// Takes a free slot for `lpn` that is dirty and counted on `list`, but programmed when [`Cache::take_held`] says so.
    pub fn hold(&mut self, lpn: Lpn, list: usize) -> Option<Slot> {
        let slot = self.take_free()?;
        self.open.left += 1;
        let (home, epoch) = (NO_FLASH_COPY, self.open.number);
        self.slots[slot.index()] = Entry { lpn, home, epoch, list: list as u32, state: SlotState::Held };
        self.live[list] += 1;
        self.live_total += 1;
        Some(slot)
    }

    /// Whether a slot is held.
    #[inline]
    pub fn is_held(&self, slot: Slot) -> bool {
        self.slots[slot.index()].state == SlotState::Held
    }

    /// Moves a held slot to flight.
    pub fn take_held(&mut self, slot: Slot) {
        self.leave_hold(slot, SlotState::InFlight);
        self.in_flight += 1;
    }

    /// Frees a held slot, whose data is dropped.
    pub fn drop_held(&mut self, slot: Slot) {
        self.leave_hold(slot, SlotState::Dead);
        self.leave_epoch(slot);
        self.release_slot(slot);
    }

    fn leave_hold(&mut self, slot: Slot, to: SlotState) {
        let entry = &mut self.slots[slot.index()];
        assert_eq!(entry.state, SlotState::Held);
        entry.state = to;
        self.live[entry.list as usize] -= 1;
        self.live_total -= 1;
    }

    /// Frees an in-flight slot whose program is done.
    // As `take_dirty`.
    #[inline(always)]
    pub fn programmed(&mut self, slot: Slot) {
        debug_assert_eq!(self.slots[slot.index()].state, SlotState::InFlight);
        self.in_flight -= 1;
        self.leave_epoch(slot);
        self.release_slot(slot);
    }

    /// Makes a slot dirty again whose program failed, the oldest of its list; returns the list.
    pub fn program_failed(&mut self, slot: Slot) -> usize {
        let entry = &mut self.slots[slot.index()];
        assert_eq!(entry.state, SlotState::InFlight);
        entry.state = SlotState::Dirty;
        let list = entry.list as usize;
        self.dirty[list].push_front(slot);
        self.in_flight -= 1;
        self.live[list] += 1;
        self.live_total += 1;
        list
    }

    /// Logical unit in a slot.
    #[inline]
    pub fn lpn(&self, slot: Slot) -> Lpn {
        self.slots[slot.index()].lpn
    }

    /// Updates the flash copy of the unit in a slot after a relocation.
    pub fn set_home(&mut self, slot: Slot, home: Ppu) {
        self.slots[slot.index()].home = home;
    }

    /// Slots with data: in flight, then dirty in order of arrival, list by list.
    pub fn occupied(&self) -> Vec<Slot> {
        let state = |slot: &Slot| self.slots[slot.index()].state;
        let in_flight = Slot::first(self.slots.len() as u32).filter(|s| state(s) == SlotState::InFlight);
        let dirty = self.dirty.iter().flat_map(Ring::iter).filter(|s| state(s) == SlotState::Dirty);
        in_flight.chain(dirty).collect()
    }

    /// Flash copy kept while the slot's newer version is in the cache: where a power loss would revert to it (or `imposed`).
    #[inline]
    pub fn home(&self, slot: Slot) -> Ppu {
        self.slots[slot.index()].home
    }

    /// Closes the current epoch for a flush, which is done when [`Cache::durable_before`] passes the returned number.
    pub fn begin_flush(&mut self) -> u32 {
        let ended = self.open;
        self.open = Epoch { number: ended.number + 1, left: 0 };
        self.older.push_back(ended);
        self.settle_epochs();
        ended.number
    }

    /// First epoch with unprogrammed data.
    #[inline]
    pub fn durable_before(&self) -> u32 {
        self.older.front().unwrap_or(&self.open).number
    }

    /// Whether the oldest dirty unit of `list` belongs to a flush.
    pub fn flush_wants(&self, list: usize) -> bool {
        self.dirty[list].front().is_some_and(|s| self.slots[s.index()].epoch < self.open.number)
    }

    #[inline]
    fn release_slot(&mut self, slot: Slot) {
        self.slots[slot.index()].state = SlotState::Free;
        self.free.push(slot);
        if let Some(of) = &mut self.writers {
            of.release(slot);
        }
    }

    /// Removes a slot that was programmed or trimmed from its epoch, so that flushes no longer wait for it.
    #[inline]
    fn leave_epoch(&mut self, slot: Slot) {
        let epoch = self.slots[slot.index()].epoch;
        if epoch == self.open.number {
            self.open.left -= 1;
            return;
        }
        let first = self.durable_before();
        self.older[(epoch - first) as usize].left -= 1;
        self.settle_epochs();
    }

    #[inline]
    fn settle_epochs(&mut self) {
        while self.older.front().is_some_and(|epoch| epoch.left == 0) {
            self.older.pop_front();
        }
    }
}
