//! Random write area of a zone (ZRWA, NVMe TP4076): data behind the write pointer that is kept in the write cache, where the
//! host may overwrite it.
//!
//! A program of the zone begins when the write pointer has passed all of its units and the data of every accepted write to
//! them has arrived. A unit that the host has not written is padding on flash, and a read finds nothing there.

use crate::numbers::Slot;
use std::collections::VecDeque;

/// A unit without data.
pub(super) const NO_SLOT: Slot = Slot(u32::MAX);

/// A unit of an area.
#[derive(Clone, Copy, Debug)]
pub(super) struct AreaUnit {
    /// Cache slot, or [`NO_SLOT`].
    pub(super) slot: Slot,
    /// Accepted writes whose data has not arrived.
    pub(super) coming: u32,
}

const NOTHING: AreaUnit = AreaUnit { slot: NO_SLOT, coming: 0 };

/// Units of a zone from the first that is in no program on.
#[derive(Clone, Debug)]
pub(super) struct ZoneArea {
    base: u32,
    units: VecDeque<AreaUnit>,
}

impl ZoneArea {
    /// Units from offset `base` on, without data.
    pub(super) fn from(base: u32) -> ZoneArea {
        ZoneArea { base, units: VecDeque::new() }
    }

    /// Puts the data of the unit at `offset` back, which has survived a loss of power in `slot`.
    pub(super) fn restore(&mut self, offset: u32, slot: Slot) {
        let place = (offset - self.base) as usize;
        if self.units.len() <= place {
            self.units.resize(place + 1, NOTHING);
        }
        self.units[place] = AreaUnit { slot, coming: 0 };
    }

    /// Expects the data of a write to `units` from `offset`.
    pub(super) fn expect(&mut self, offset: u32, units: u32) {
        let first = (offset - self.base) as usize;
        let end = first + units as usize;
        if self.units.len() < end {
            self.units.resize(end, NOTHING);
        }
        self.units.range_mut(first..end).for_each(|unit| unit.coming += 1);
    }

    /// Unit at an offset for which data is expected.
    pub(super) fn unit_mut(&mut self, offset: u32) -> &mut AreaUnit {
        &mut self.units[(offset - self.base) as usize]
    }

    /// Cache slot of the unit at an offset that is in no program; [`NO_SLOT`] if it has no data.
    pub(super) fn slot(&self, offset: u32) -> Slot {
        self.units.get((offset - self.base) as usize).map_or(NO_SLOT, |unit| unit.slot)
    }

    /// Whether all expected data of the first `units` units has arrived.
    pub(super) fn has_arrived(&self, units: u32) -> bool {
        self.units.iter().take(units as usize).all(|unit| unit.coming == 0)
    }

    /// Takes the slot of the first unit out.
    pub(super) fn take(&mut self) -> Slot {
        self.base += 1;
        self.units.pop_front().map_or(NO_SLOT, |unit| unit.slot)
    }

    /// Units with data.
    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> {
        self.units.iter().map(|unit| unit.slot).filter(|&slot| slot != NO_SLOT)
    }

    /// Units whose data has not arrived, once for each write.
    pub(super) fn coming(&self) -> u32 {
        self.units.iter().map(|unit| unit.coming).sum()
    }
}
