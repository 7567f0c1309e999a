//! Power-loss state: out-of-band data, the last checkpoint, the write-cache record.

use crate::cache::{Cache, NO_FLASH_COPY};
use crate::ftl::page::mapping::table::{Map, UNMAPPED, Where};
use crate::ftl::page::power_loss::checkpoint::Programming;
use crate::ftl::page::power_loss::checkpoint::{Checkpoint, ENTRY_BYTES, Entry};
use crate::ftl::page::power_loss::oob::{Oob, Spare};
use crate::numbers::{Lpn, Ppu};

/// Locations of units, as a checkpoint or a translation page writes them.
pub(crate) struct FlashView<'a> {
    pub(crate) map: &'a Map,
    pub(crate) cache: &'a Cache,
    /// Flash copies stay valid until newer versions are on flash.
    pub(crate) keeps: bool,
}

impl FlashView<'_> {
    /// Flash location of `lpn`, if it has one; its version is in `oob`.
    pub(crate) fn entry(&self, oob: &Oob, lpn: Lpn) -> Option<Entry> {
        let place = match self.map.get(lpn) {
            Where::Flash(ppu) => ppu,
            Where::Cache(slot) if self.keeps && self.cache.home(slot) != NO_FLASH_COPY => {
                self.cache.home(slot)
            }
            Where::Cache(_) | Where::Unmapped => return None,
        };
        Some(Entry { place, version: oob.read(place).version })
    }
}

/// State that recovery relies on.
#[derive(Clone)]
pub struct PowerLossState {
    pub(crate) oob: Oob,
    pub(crate) checkpoint: Checkpoint,
    pub(crate) slots: Vec<u32>,
    /// Translation pages that are being programmed.
    pub(crate) programming: Programming,
    /// Trims survive a power loss at once.
    protected: bool,
}

impl PowerLossState {
    /// State after preconditioning left `map`, over blocks in these states. Entries of units before `first` are in translation
    /// pages.
    pub(crate) fn new(
        map: &Map,
        first: Lpn,
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
            checkpoint: Checkpoint::new(entries, first, blocks, (page_bytes / ENTRY_BYTES) as u32),
            slots: vec![0; slots as usize],
            programming: Programming::default(),
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

    /// Takes the changed pages for the checkpoint that has begun; returns the pages to be written.
    pub(crate) fn take_pages(&mut self, view: &FlashView) -> u64 {
        let oob = &self.oob;
        self.checkpoint.take_pages(|lpn| view.entry(oob, lpn))
    }
}
