//! Dirty queues by hotness level.

use crate::numbers::{JobId, Lane, Slot};
use interpulse_engine::SimTime;

pub(crate) struct HotnessQueues {
    /// Lists per lane, or of the drive: hot levels, then cold data.
    pub(crate) count: u32,
    /// Lists to check, one bit each.
    changed: Vec<u64>,
    /// Arrival of the write in each cache slot.
    arrived: Vec<SimTime>,
    /// Programs (lane, job) that are complete except for an address.
    pub(crate) placeless: Vec<(Lane, JobId)>,
}

impl HotnessQueues {
    /// `count` levels in `lists` lists, for a drive with `slots` cache slots.
    pub(crate) fn new(count: u32, lists: u32, slots: u32) -> HotnessQueues {
        HotnessQueues {
            count,
            changed: vec![0; lists.div_ceil(64) as usize],
            arrived: vec![SimTime::ZERO; slots as usize],
            placeless: Vec::new(),
        }
    }

    /// Notes that the write in `slot`, on `list`, arrived at `at`.
    pub(crate) fn slot_arrived(&mut self, slot: Slot, list: usize, at: SimTime) {
        self.arrived[slot.index()] = at;
        self.look_at(list);
    }

    #[inline]
    pub(crate) fn arrived(&self, slot: Slot) -> SimTime {
        self.arrived[slot.index()]
    }

    #[inline]
    pub(crate) fn look_at(&mut self, list: usize) {
        self.changed[list / 64] |= 1 << (list % 64);
    }

    /// Power loss: drops all programs and moves each slot's arrival from the first slot of a pair to the second.
    pub(crate) fn lose_power(&mut self, moved: &[(Slot, Slot)]) {
        let before = self.arrived.clone();
        for &(from, to) in moved {
            self.arrived[to.index()] = before[from.index()];
        }
        self.placeless.clear();
        self.look_at_all();
    }

    pub(crate) fn look_at_all(&mut self) {
        self.changed.fill(u64::MAX);
    }

    pub(crate) fn next_changed(&mut self) -> Option<usize> {
        let word = self.changed.iter().position(|&bits| bits != 0)?;
        let bit = self.changed[word].trailing_zeros() as usize;
        self.changed[word] &= !(1 << bit);
        Some(word * 64 + bit)
    }
}
