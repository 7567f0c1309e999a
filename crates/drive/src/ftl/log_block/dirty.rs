//! Dirty units of the write cache in groups that share log blocks: those of a logical block, or of a lane.
//!
//! Units are held in the cache. A group has them in order of arrival, and a lane its groups. Entries of these queues whose unit
//! has been taken or trimmed are dropped when they are the first, or when they outnumber the others.

use crate::cache::Cache;
use crate::numbers::Slot;
use std::collections::VecDeque;

/// Stale entries that a queue may have beside as many as it has units.
const STALE: usize = 64;

/// Units of a group.
#[derive(Clone, Debug, Default)]
struct Group {
    units: VecDeque<Slot>,
    in_order: bool,
    is_ready: bool,
}

/// Groups of a lane.
#[derive(Clone, Debug, Default)]
struct LaneGroups {
    /// Those with dirty units, in the order in which they got the first.
    order: VecDeque<u32>,
    /// Those with at least a program of them, in the order in which they got it.
    ready: VecDeque<u32>,
}

/// Dirty units of a drive; list k of its cache counts those of group k.
pub(super) struct DirtyUnits {
    groups: Vec<Group>,
    lanes: Vec<LaneGroups>,
    /// Units of a program.
    program: u32,
}

impl DirtyUnits {
    pub(super) fn new(groups: u32, lanes: u32, program: u32) -> DirtyUnits {
        DirtyUnits {
            groups: vec![Group::default(); groups as usize],
            lanes: vec![LaneGroups::default(); lanes as usize],
            program,
        }
    }

    /// Whether the unit in a slot is one of `group`.
    #[inline]
    fn is_of(cache: &Cache, group: u32, slot: Slot) -> bool {
        cache.is_held(slot) && cache.list(slot) == group as usize
    }

    /// Adds the unit in `slot`, the newest of its group; returns whether the group has a program.
    pub(super) fn add(&mut self, cache: &Cache, lane: usize, group: u32, slot: Slot) -> bool {
        let (of, queues) = (&mut self.groups[group as usize], &mut self.lanes[lane]);
        let live = cache.dirty(group as usize);
        if of.units.len() > 2 * live as usize + STALE {
            of.units.retain(|&slot| DirtyUnits::is_of(cache, group, slot));
        }
        of.units.push_back(slot);
        if !std::mem::replace(&mut of.in_order, true) {
            queues.order.push_back(group);
        }
        let ready = live >= self.program;
        if ready && !std::mem::replace(&mut of.is_ready, true) {
            queues.ready.push_back(group);
        }
        ready
    }

    /// The first group of a lane that has a program.
    pub(super) fn first_ready(&mut self, cache: &Cache, lane: usize) -> Option<u32> {
        let ready = &mut self.lanes[lane].ready;
        while let Some(&group) = ready.front() {
            if cache.dirty(group as usize) >= self.program {
                return Some(group);
            }
            self.groups[group as usize].is_ready = false;
            ready.pop_front();
        }
        None
    }

    /// The group of a lane that has had dirty units for the longest time.
    pub(super) fn first(&mut self, cache: &Cache, lane: usize) -> Option<u32> {
        let order = &mut self.lanes[lane].order;
        while let Some(&group) = order.front() {
            if cache.dirty(group as usize) > 0 {
                return Some(group);
            }
            self.groups[group as usize].in_order = false;
            order.pop_front();
        }
        None
    }

    /// Moves a group whose log block is full behind the others of its lane.
    pub(super) fn postpone(&mut self, lane: usize, group: u32) {
        let LaneGroups { order, ready } = &mut self.lanes[lane];
        for queue in [order, ready] {
            if queue.front() == Some(&group) {
                queue.rotate_left(1);
            }
        }
    }

    /// Drops the stale entries before the first unit of a group.
    pub(super) fn taken(&mut self, cache: &Cache, group: u32) {
        let units = &mut self.groups[group as usize].units;
        while units.front().is_some_and(|&slot| !DirtyUnits::is_of(cache, group, slot)) {
            units.pop_front();
        }
    }

    /// Moves the oldest units of a group to flight, at most a program, but not those that `keeps` holds for; appends their slots.
    pub(super) fn take_oldest(
        &mut self,
        cache: &mut Cache,
        group: u32,
        keeps: impl Fn(&Cache, Slot) -> bool,
        slots: &mut Vec<Slot>,
    ) {
        let units = &mut self.groups[group as usize].units;
        let mut kept = Vec::new();
        while slots.len() < self.program as usize {
            let Some(slot) = units.pop_front() else { break };
            if !DirtyUnits::is_of(cache, group, slot) {
                continue;
            }
            if keeps(cache, slot) {
                kept.push(slot);
                continue;
            }
            cache.take_held(slot);
            slots.push(slot);
        }
        kept.into_iter().rev().for_each(|slot| units.push_front(slot));
    }

    /// Checks the queues against the cache.
    pub(super) fn audit(&self, cache: &Cache) -> Result<(), String> {
        let mut queued = vec![false; cache.slots() as usize];
        for (k, group) in (0..).zip(&self.groups) {
            group.units.iter().filter(|&&slot| DirtyUnits::is_of(cache, k, slot)).for_each(|slot| {
                queued[slot.index()] = true;
            });
            if cache.dirty(k as usize) > 0 && !group.in_order {
                return Err(format!("group {k} has dirty units and is in no order"));
            }
        }
        let lost = Slot::first(cache.slots()).find(|&slot| cache.is_held(slot) && !queued[slot.index()]);
        lost.map_or(Ok(()), |slot| Err(format!("dirty unit {} is in no queue", cache.lpn(slot))))
    }
}
