//! Parked state of the page-mapped family: blocks and map after an orderly end.
//!
//! The programs of an orderly end come after the last request, so they take no simulated time, like those of preconditioning.

use crate::cache::NO_FLASH_COPY;
use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::mapping::residency::Residency;
use crate::ftl::page::mapping::table::Where;
use crate::ftl::page::page_ftl::PageFtl;
use crate::ftl::page::placement::stripe::Stripe;
use crate::ftl::page::precondition::Preconditioner;
use crate::numbers::Lpn;

impl PageFtl {
    /// Blocks and map with all data and translation pages on flash, written as `stripe` or dynamic allocation does.
    ///
    /// # Errors
    /// While programs are in flight.
    pub(crate) fn parked(&self, stripe: Option<Stripe>) -> Result<BlockManager, String> {
        if self.blocks.in_flight.iter().any(|&programs| programs > 0) {
            return Err("programs of collection were interrupted: let the drive rest first".into());
        }
        let mut blocks = self.blocks.clone();
        // Blocks whose collection has begun and holds no operation are collected by the next drive. Those of an SLC cache have
        // their place by their mode.
        for victim in self.collection.lanes.iter().flat_map(|lane| &lane.victims) {
            let native = blocks.slc().is_none() || blocks.modes.is_native(victim.super_block);
            blocks.units.map_mut().set_candidate(victim.super_block, native);
        }
        let dirty = self.dirty_units();
        for &(_, slot) in &dirty {
            // A volatile cache keeps the older copy of a unit.
            let copy = self.blocks.units.cache.home(slot);
            if copy != NO_FLASH_COPY {
                blocks.forget_flash(copy);
            }
        }
        let dirty: Vec<Lpn> = dirty.into_iter().map(|(lpn, _)| lpn).collect();
        let mut writer = Preconditioner::resume(&mut blocks, stripe);
        writer.write_each(&dirty);
        writer.write_changed_translation_pages(|blocks| self.changed_translation_pages(blocks));
        writer.close();
        blocks.park_slc();
        Ok(blocks)
    }

    /// Units whose newest version is in the write cache, with their slots.
    fn dirty_units(&self) -> Vec<(Lpn, crate::numbers::Slot)> {
        let map = self.blocks.map();
        let cached = |lpn: Lpn| match map.get(lpn) {
            Where::Cache(slot) => Some((lpn, slot)),
            Where::Flash(_) | Where::Unmapped => None,
        };
        Lpn(0).until(Lpn(map.logical_units())).filter_map(cached).collect()
    }

    /// Translation pages that differ from flash: by changes in memory, and by those that have led to `blocks`.
    fn changed_translation_pages(&self, blocks: &BlockManager) -> Vec<Lpn> {
        let Residency::Cached(cached) = &self.residency else { return Vec::new() };
        let (before, after) = (self.blocks.map(), blocks.map());
        let mut in_memory = cached.pages_in_memory();
        let differs = |units: &std::ops::Range<Lpn>| {
            units.start.until(units.end).any(|lpn| before.get(lpn) != after.get(lpn))
        };
        let pages = cached.pages_and_units();
        let changed = pages.filter(|(_, units)| in_memory.next() == Some(true) || differs(units));
        changed.map(|(page, _)| page).collect()
    }
}
