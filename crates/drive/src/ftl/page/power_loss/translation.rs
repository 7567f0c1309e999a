//! Translation pages under power loss: their entries on flash, and what recovery reads and changes of them.
//!
//! A translation page holds the entries of its units at the beginning of its program. Its location is found as that of data: from
//! the checkpoint, which writes the directory, and from out-of-band data. Entries have no versions: data programmed since the
//! checkpoint began is newer than they are, except copies of versions that were superseded then, which the checkpoint lists.

use crate::ftl::page::mapping::residency::Residency;
use crate::ftl::page::mapping::state::MappingState;
use crate::ftl::page::mapping::table::{UNMAPPED, Where};
use crate::ftl::page::page_ftl::PageFtl;
use crate::ftl::page::power_loss::mount_time::Reads;
use crate::ftl::page::power_loss::oob::Spare;
use crate::ftl::page::power_loss::recovery::Rebuilt;
use crate::numbers::{Lpn, Ppu};
use std::ops::Range;

impl MappingState {
    /// Notes the content of the translation page with unit `page`, whose program begins: the entries of `units`.
    pub(crate) fn translation_page_begins(&mut self, page: Lpn, units: Range<Lpn>) {
        let Some((record, view)) = self.record_and_view() else { return };
        let oob = &record.oob;
        let entries = record.checkpoint.snapshot(units.start, units.end, |lpn| view.entry(oob, lpn));
        record.programming.insert(page, (units.start, entries));
    }

    /// Writes the out-of-band data of a program of translation pages: each one's unit, its new location, and for a collected
    /// page the location that it had.
    pub(crate) fn describe_translation_pages(
        &mut self,
        pages: impl Iterator<Item = (Lpn, Ppu, Option<Ppu>)>,
    ) {
        let Some(record) = self.record_mut() else { return };
        let written = record.oob.program();
        for (lpn, ppu, source) in pages {
            let version = match source {
                Some(source) => record.oob.read(source).version,
                None => {
                    let (first, entries) = record.programming.remove(&lpn).expect("its program has begun");
                    record.checkpoint.replace_entries(first, &entries);
                    record.oob.next_version()
                }
            };
            record.describe(ppu, Spare { lpn, version, written });
        }
    }
}

impl PageFtl {
    /// Units of which a superseded version is still to be programmed, with the version of their entry; none where the entries
    /// of a checkpoint have versions.
    pub(crate) fn superseded(&self) -> Vec<(Lpn, u32)> {
        let Residency::Cached(cached) = &self.residency else { return Vec::new() };
        let (units, layout) = (&self.blocks.units, &self.blocks.layout);
        let map = units.map();
        let slots = units.cache.occupied().into_iter().filter(|&slot| units.newest_in(slot).is_none());
        let in_cache = slots.map(|slot| units.cache.lpn(slot));
        let lanes = self.collection.lanes.iter().flat_map(|lane| &lane.relocating);
        let moved = self.jobs.in_flight().flat_map(|job| &job.moved).chain(lanes).filter(|unit| {
            let at = (unit.source != UNMAPPED).then(|| layout.split(unit.source));
            at.is_some_and(|at| !map.is_valid(at.super_block, at.offset))
        });
        let host = cached.host_units();
        let mut lpns: Vec<Lpn> =
            in_cache.chain(moved.map(|unit| unit.lpn)).filter(|lpn| *lpn < host).collect();
        lpns.sort_unstable();
        lpns.dedup();
        let record = units.record().expect("power may be lost");
        let version = |lpn| {
            let of_entry = units.flash_entry(lpn).map_or(0, |entry| entry.version);
            of_entry.max(record.checkpoint.trimmed(lpn))
        };
        lpns.into_iter().map(|lpn| (lpn, version(lpn))).collect()
    }

    /// Reads the translation pages whose entries the scan and the journal of trims may change; returns how many.
    pub(crate) fn read_found_pages(&self, rebuilt: &Rebuilt, reads: &mut Reads) -> u64 {
        let Residency::Cached(cached) = &self.residency else { return 0 };
        let layout = &self.blocks.layout;
        let before = reads.pages();
        for (page, units) in cached.pages_and_units() {
            let place = rebuilt.places[page.index()];
            if place != UNMAPPED && rebuilt.found[units.start.index()..units.end.index()].contains(&true) {
                let at = layout.place(place);
                reads.unit(at.die, at.page, self.blocks.cell_mode_at(place));
            }
        }
        reads.pages() - before
    }

    /// Empties the mapping cache after a cut and adds the entries that translation pages on flash do not have to its
    /// write-back buffer.
    pub(crate) fn restore_mapping_cache(&mut self) {
        let Residency::Cached(cached) = &mut self.residency else { return };
        cached.lose_power();
        let (record, view) = self.blocks.units.record_and_view().expect("power may be lost");
        record.programming.clear();
        for (lpn, on_flash) in Lpn::first(cached.host_units().0).zip(record.checkpoint.entries()) {
            // The entry of a unit in the write cache changes when that is programmed.
            let in_cache = matches!(view.map.get(lpn), Where::Cache(_)) && !view.keeps;
            let place = view.entry(&record.oob, lpn).map_or(UNMAPPED, |entry| entry.place);
            if !in_cache && place != on_flash.place {
                cached.recovered(lpn);
            }
        }
    }
}
