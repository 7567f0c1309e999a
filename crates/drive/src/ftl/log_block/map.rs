//! Map of a drive with log blocks: data blocks by logical block, and where the newest version of each unit is.

use super::geometry::LogicalBlock;
use crate::numbers::{Lpn, Ppu, Slot, SuperBlock};

/// Location of the newest version of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Never written, or trimmed.
    Nowhere,
    /// At its offset in the data block of its logical block.
    DataBlock,
    /// In this slot of the write cache.
    Cache(Slot),
    /// In this physical unit of a log block.
    Log(Ppu),
}

/// An entry as it is stored; a controller has entries of units in log blocks only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry(u32);

impl Entry {
    /// Nothing was copied, or the unit has no data.
    pub(super) const NOWHERE: Entry = Entry(u32::MAX);
    const IN_DATA_BLOCK: Entry = Entry(u32::MAX - 1);
    const CACHED: u32 = 1 << 31;

    fn of(place: Place) -> Entry {
        match place {
            Place::Nowhere => Entry::NOWHERE,
            Place::DataBlock => Entry::IN_DATA_BLOCK,
            Place::Cache(slot) => Entry(Entry::CACHED | slot.0),
            Place::Log(ppu) => Entry(ppu.0),
        }
    }

    #[inline]
    pub(super) fn place(self) -> Place {
        match self {
            Entry::NOWHERE => Place::Nowhere,
            Entry::IN_DATA_BLOCK => Place::DataBlock,
            Entry(of) if of >= Entry::CACHED => Place::Cache(Slot(of & !Entry::CACHED)),
            Entry(of) => Place::Log(Ppu(of)),
        }
    }
}

/// The map.
pub(super) struct LogBlockMap {
    entries: Vec<Entry>,
    data: Vec<SuperBlock>,
}

impl LogBlockMap {
    /// The first `filled` of `units` are in the data blocks `data`.
    pub(super) fn new(units: u32, filled: u32, data: Vec<SuperBlock>) -> LogBlockMap {
        let mut entries = vec![Entry::IN_DATA_BLOCK; filled as usize];
        entries.resize(units as usize, Entry::NOWHERE);
        LogBlockMap { entries, data }
    }

    #[inline]
    pub(super) fn entry(&self, lpn: Lpn) -> Entry {
        self.entries[lpn.index()]
    }

    #[inline]
    pub(super) fn place(&self, lpn: Lpn) -> Place {
        self.entry(lpn).place()
    }

    #[inline]
    pub(super) fn set(&mut self, lpn: Lpn, place: Place) {
        self.entries[lpn.index()] = Entry::of(place);
    }

    /// Data block of a logical block.
    #[inline]
    pub(super) fn data(&self, block: LogicalBlock) -> SuperBlock {
        self.data[block.index()]
    }

    /// Sets the data block of a logical block; returns the one before.
    pub(super) fn set_data(&mut self, block: LogicalBlock, to: SuperBlock) -> SuperBlock {
        std::mem::replace(&mut self.data[block.index()], to)
    }

    /// Data blocks, or [`NO_BLOCK`](crate::ftl::block_pool::NO_BLOCK) of logical blocks without.
    pub(super) fn data_blocks(&self) -> impl Iterator<Item = SuperBlock> {
        self.data.iter().copied()
    }
}
