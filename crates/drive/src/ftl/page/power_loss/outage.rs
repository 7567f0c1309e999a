//! FTL recovery: rebuilds the map from flash, compares it with the live one, and resumes.

use crate::audit::loss::{Fate, Held, Losses};
use crate::cache::NO_FLASH_COPY;
use crate::ftl::flash::Flash;
use crate::ftl::page::blocks::program_progress::programs_begun;
use crate::ftl::page::mapping::table::{UNMAPPED, Where};
use crate::ftl::page::page_ftl::PageFtl;
use crate::ftl::page::power_loss::mount_time::Reads;
use crate::ftl::page::power_loss::recovery::{self, Found};
use crate::ftl::page::write_back::queues::HostLists;
use crate::numbers::{Lane, Lpn, Ppu, Slot, SuperBlock};
use interpulse_engine::{Duration, RequestId};
use interpulse_flash::DieId;
use interpulse_flash::die::outage::Torn;
use interpulse_flash::ids::WordLineId;
use std::collections::{BTreeMap, HashMap};

/// Fate of the units of incomplete requests, by tag.
pub type Fates = BTreeMap<RequestId, Vec<Fate>>;

/// Result of a recovery, with the reads it needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Losses of complete and incomplete requests.
    pub losses: Losses,
    /// Units whose trim was undone; no completed flush covered it.
    pub trims_undone: u64,
    /// Word lines (of all planes programmed together) that were being programmed.
    pub torn_word_lines: u64,
    /// Of these, word lines that were being reprogrammed.
    pub torn_reprograms: u64,
    /// Reprograms that capacitors completed.
    pub completed_reprograms: u64,
    /// Super blocks whose erase was interrupted and is repeated.
    pub blocks_erased_again: u64,
    /// Pages of the checkpoint read.
    pub checkpoint_pages: u64,
    /// Pages read for their out-of-band data only.
    pub oob_pages: u64,
    /// Translation pages read whose entries may have changed since the checkpoint.
    pub translation_pages: u64,
    /// Pages read that the capacitors saved of the cache.
    pub cache_pages: u64,
    /// Cache units that survive.
    pub kept_units: u64,
    /// Time of the reads.
    pub mounting: Duration,
}

impl PageFtl {
    /// Power is cut: the operations `torn`, by die, end where they are, and all volatile state is lost, except a
    /// `protected` cache. The map is rebuilt from flash, compared with the live one and replaces it. `decode` is the
    /// latency of ECC. Also returns the fate of the units of incomplete requests, by tag. Panics if durable data is lost.
    pub fn lose_power(
        &mut self,
        flash: &Flash,
        torn: Vec<(DieId, Torn)>,
        protected: bool,
        decode: Duration,
    ) -> (Recovered, Fates) {
        let mut recovered = Recovered::default();
        let metadata = self.metadata.as_mut().expect("power may be lost");
        let mut reprograms = Vec::new();
        for (die, operation) in torn {
            // Torn metadata has no block: the checkpoint is void.
            let Some(block) = operation.block else { continue };
            let layout = &self.blocks.layout;
            let super_block = layout.super_block(layout.lane_at(die, operation.planes.first), block);
            if operation.erase {
                metadata.broken[super_block.index()] = true;
            } else {
                recovered.torn_word_lines += u64::from(!operation.completed);
            }
            if operation.reprograms.is_some() {
                reprograms.push((super_block, operation));
            }
        }
        for (super_block, operation) in reprograms {
            let word_line =
                WordLineId::of_page(operation.pages.first, flash.nand.geometry().pages_per_word_line);
            if operation.completed {
                recovered.completed_reprograms += 1;
                self.reprogram_completed(super_block, word_line);
            } else {
                recovered.torn_reprograms += 1;
                self.reprogram_torn(super_block, word_line);
            }
        }
        let open = self.handles.as_ref().map(|handles| handles.open_units(&self.blocks));
        let (kept, fates) = self.recover(flash, protected, decode, &mut recovered);
        if let (Some(handles), Some(open)) = (&mut self.handles, open) {
            handles.lose_power(&open, &self.blocks);
        }
        self.drop_volatile_state(&kept);
        (recovered, fates)
    }

    /// Rebuilds the map from flash, compares it with the live one and replaces that. Returns the surviving cache and fates.
    fn recover(
        &mut self,
        flash: &Flash,
        protected: bool,
        decode: Duration,
        recovered: &mut Recovered,
    ) -> (Vec<(Slot, Lpn)>, Fates) {
        let programs = programs_begun(&self.blocks, flash.nand.dies());
        self.blocks.units.record_mut().expect("power may be lost").checkpoint.lose_power();
        let broken = &self.metadata.as_ref().expect("power may be lost").broken;
        let (layout, cycles) = (&self.blocks.layout, &self.blocks.cycles);
        let record = self.blocks.units.record().expect("power may be lost");
        let modes = self.blocks.modes.all();
        let found = Found { programs: &programs, broken, cycles, modes };
        let rebuilt = recovery::rebuild(layout, &record.oob, &record.checkpoint, &found);
        recovered.trims_undone = self.compare(&rebuilt.places, protected);

        let (cache, map) = (&self.blocks.units.cache, self.blocks.map());
        let kept = if self.blocks.units.keeps_stale_copies() { Vec::new() } else { cache.occupied() };
        let newest = |slot: &Slot| map.get(cache.lpn(*slot)) == Where::Cache(*slot);
        let kept: Vec<(Slot, Lpn)> = kept.into_iter().filter(newest).map(|s| (s, cache.lpn(s))).collect();

        let mut reads = Reads::new(flash.nand.geometry(), flash.nand.timing());
        recovered.checkpoint_pages = record.checkpoint.pages();
        recovered.cache_pages = (kept.len() as u64).div_ceil(u64::from(layout.units_per_page()));
        reads.spread(recovered.checkpoint_pages + recovered.cache_pages);
        let whole = reads.pages();
        SuperBlock::first(layout.super_blocks()).for_each(|block| reads.probe(layout, block));
        for &block in &rebuilt.scanned {
            reads.scan(layout, block, programs[block.index()], self.blocks.cell_mode(block));
            if self.blocks.reprograms(block) {
                reads.tries_of_codes(layout, block, flash.nand.dies());
            }
        }
        recovered.oob_pages = reads.pages() - whole;
        recovered.translation_pages = self.read_found_pages(&rebuilt, &mut reads);
        recovered.mounting = reads.time(decode);
        recovered.kept_units = kept.len() as u64;
        recovered.blocks_erased_again = broken.iter().filter(|broken| **broken).count() as u64;

        let (mut slots, mut places) = (HashMap::new(), rebuilt.places);
        for &(slot, lpn) in &kept {
            places[lpn.index()] = UNMAPPED;
            slots.insert(lpn, slot);
        }
        let held = |lpn: Lpn| match (slots.get(&lpn), places[lpn.index()]) {
            (Some(&slot), _) => Held::Slot(slot),
            (None, UNMAPPED) => Held::Nothing,
            (None, ppu) => Held::Unit(ppu),
        };
        let (losses, fates) = self.blocks.units.versions().power_lost(held);
        recovered.losses = losses;
        assert_eq!(losses.flushed, 0, "a cut lost units that a flush had covered");
        assert!(!protected || losses.acknowledged == 0, "a cut lost acknowledged units: {losses:?}");
        let broken = &self.metadata.as_ref().expect("power may be lost").broken;
        let handles = self.handles.as_deref();
        let owns = |stream, block| handles.is_none_or(|handles| handles.owns(stream, block));
        self.blocks.restore(&places, &programs, broken, owns);
        self.blocks.restore_two_bit(&programs, flash.nand.dies());
        (kept, fates)
    }

    /// Compares a rebuilt map with the live one where flash must hold the live version. Returns the number of undone trims.
    fn compare(&self, places: &[Ppu], protected: bool) -> u64 {
        let (map, cache) = (self.blocks.map(), &self.blocks.units.cache);
        let keeps = self.blocks.units.keeps_stale_copies();
        let mut undone = 0;
        for (lpn, &place) in (0..).map(Lpn).zip(places) {
            let expected = match map.get(lpn) {
                Where::Flash(ppu) => ppu,
                Where::Cache(slot) if keeps && cache.home(slot) != NO_FLASH_COPY => cache.home(slot),
                Where::Cache(_) => continue,
                Where::Unmapped if protected => UNMAPPED,
                Where::Unmapped => {
                    undone += u64::from(place != UNMAPPED);
                    continue;
                }
            };
            assert_eq!(place, expected, "recovery found unit {lpn} at another location");
        }
        undone
    }

    /// Drops all state that is not on flash, except `kept`, slots and units of a surviving cache.
    fn drop_volatile_state(&mut self, kept: &[(Slot, Lpn)]) {
        self.write_back.lose_power();
        let pairs = self.blocks.units.restore_cache(kept);
        if let HostLists::ByClass(levels) = &mut self.lists {
            levels.lose_power(&pairs);
        } else {
            for &(_, slot) in &pairs {
                let list = self.blocks.units.cache.list(slot);
                self.unit_arrived(list);
            }
        }
        if let Some(folding) = &mut self.folding {
            folding.lose_power();
        }
        self.window.release();
        self.jobs = Default::default();
        self.collection.lose_power();
        if let Some(copyback) = &mut self.copyback {
            copyback.lose_power();
        }
        self.blocks.lanes.iter_mut().for_each(|lane| lane.wear_limit = None);
        self.readers.fill(0);
        self.placement.reset();
        self.metadata.as_mut().expect("power may be lost").lose_power();
        self.outcomes.clear();
        self.restore_mapping_cache();
    }

    /// Resumes after recovery: erases the blocks that need it, restarts collection and flushes the cache;
    /// [`Outcome::Flushed`](crate::ftl::Outcome::Flushed) of [`REFILL`](crate::ftl::REFILL) reports the end.
    pub fn refill(&mut self, flash: &mut Flash) {
        for super_block in SuperBlock::first(self.blocks.layout.super_blocks()) {
            if self.metadata.as_ref().is_some_and(|of| of.broken[super_block.index()]) {
                let (lane, _) = self.blocks.layout.lane_of(super_block);
                let frees = self.frees(super_block);
                self.collection.lanes[lane.index()].erasing += u32::from(frees);
                self.submit_erase(flash, super_block);
            }
        }
        if self.bad_blocks.is_some() {
            self.resume_retirement(flash);
        }
        for lane in Lane::first(self.blocks.layout.lanes) {
            self.advance_gc(flash, lane);
        }
        self.restart_map(flash);
        self.flush_all();
    }
}
