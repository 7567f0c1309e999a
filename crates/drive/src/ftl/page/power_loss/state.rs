//! Power-loss state: out-of-band data, the last checkpoint, the write-cache record.

use crate::ftl::page::mapping::table::{Map, UNMAPPED, Where};
use crate::ftl::page::power_loss::checkpoint::{Checkpoint, ENTRY_BYTES, Entry};
use crate::ftl::page::power_loss::oob::{Oob, Spare};
use crate::numbers::{Lpn, Ppu};

/// State that recovery relies on.
#[derive(Clone)]
pub struct PowerLossState {
    pub(crate) oob: Oob,
    pub(crate) checkpoint: Checkpoint,
    pub(crate) slots: Vec<u32>,
    /// Trims survive a power loss at once.
    protected: bool,
}

impl PowerLossState {
    /// State after preconditioning left `map`, over blocks in these states.
    pub(crate) fn new(
        map: &Map,
        blocks: Vec<(u32, bool)>,
        units: u64,
        slots: u32,
        page_bytes: u64,
        protected: bool,
    ) -> PowerLossState {
        let entry = |lpn| match map.get(lpn) {
            Where::Flash(place) => Entry { place, version: 0 },
            _ => Entry { place: UNMAPPED, version: 0 },
        };
        let entries = Lpn::first(map.logical_units()).map(entry).collect();
        PowerLossState {
            oob: Oob::new(units as u32),
            checkpoint: Checkpoint::new(entries, blocks, (page_bytes / ENTRY_BYTES) as u32),
            slots: vec![0; slots as usize],
            protected,
        }
    }

    pub(crate) fn describe(&mut self, ppu: Ppu, spare: Spare) {
        self.oob.write(ppu, spare);
        self.checkpoint.touch(spare.lpn);
    }

    pub(crate) fn journal_trim(&mut self, lpn: Lpn) {
        let version = self.oob.next_version();
        self.checkpoint.trim(lpn, version, self.protected);
    }
}
