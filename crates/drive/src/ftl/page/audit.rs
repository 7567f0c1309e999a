//! Audit of the page-mapped FTL at the end of a run, and its diagnostics.

use crate::cache::NO_FLASH_COPY;
use crate::ftl::page::mapping::bit_scan;
use crate::ftl::page::mapping::table::Where;
use crate::ftl::page::page_ftl::PageFtl;
use crate::numbers::{Lane, Lpn, Ppu, SuperBlock};
use std::fmt::Write;

/// Prefetch distance in lanes for physical-to-logical entries, limited to what is checked together.
const AHEAD: u32 = 3;
/// Prefetch distance in units for map entries of scattered units.
const MAP_AHEAD: usize = 64;
/// Prefetch distance in units for physical-to-logical entries.
const UNITS_AHEAD: u32 = 64;

impl PageFtl {
    /// Checks that valid units equal mapped units block by block, and that the map points to each valid unit (one unit in
    /// `stride` is checked). Returns the units mapped to flash, or the first inconsistency.
    pub fn audit(&self, stride: usize) -> Result<u64, String> {
        let (mapped, cached) = self.audit_entries()?;
        let valid = self.audit_units(u32::try_from(stride).unwrap_or(u32::MAX))?;
        let expected = if self.keeps_flash_copies() { mapped + cached } else { mapped };
        if valid != expected {
            return Err(format!("{valid} units are valid on flash, {expected} are mapped there"));
        }
        if let Some(bad_blocks) = &self.bad_blocks {
            bad_blocks.audit(&self.blocks)?;
        }
        if let Some(injected) = &self.injected {
            injected.lost.audit()?;
        }
        if let Some(handles) = &self.handles {
            handles.audit(&self.blocks)?;
        }
        Ok(mapped - self.audit_mapping()?)
    }

    /// Whether cached units keep a valid flash copy: under synthetic write amplification, and with a volatile cache.
    fn keeps_flash_copies(&self) -> bool {
        self.imposed.is_some() || self.blocks.units.keeps_stale_copies()
    }

    /// Numbers of units mapped to flash and of cached units with a flash copy. Checks the cache against the map.
    fn audit_entries(&self) -> Result<(u64, u64), String> {
        let (map, keeps) = (self.blocks.map(), self.blocks.units.keeps_stale_copies());
        let (mut mapped, mut cached) = (0, 0);
        for entries in map.runs_of_entries() {
            let (on_flash, elsewhere) = map.held(&entries);
            mapped += u64::from(on_flash);
            if elsewhere == 0 {
                continue;
            }
            for lpn in entries.start.until(entries.end) {
                let Where::Cache(slot) = map.get(lpn) else { continue };
                if self.cache().lpn(slot) != lpn {
                    return Err(format!("unit {lpn} is mapped to a cache slot that holds another"));
                }
                cached += u64::from(!keeps || self.cache().home(slot) != NO_FLASH_COPY);
            }
        }
        Ok((mapped, cached))
    }

    /// Number of valid units. Checks the count of every block, and the map entry of one unit in `stride`.
    fn audit_units(&self, stride: u32) -> Result<u64, String> {
        let (map, layout) = (self.blocks.map(), &self.blocks.layout);
        let mut valid = 0;
        for block in SuperBlock::first(layout.super_blocks()) {
            let bits = bit_scan::ones(map.valid_words(block));
            if bits != map.valid_units(block) {
                return Err(format!(
                    "block {block} counts {} valid units, its bits say {bits}",
                    map.valid_units(block)
                ));
            }
            valid += u64::from(bits);
        }
        let misplaced = if stride == 1 { self.misplaced() } else { self.misplaced_in(stride) };
        misplaced.map_or(Ok(valid), |ppu| {
            let lpn = map.logical(ppu);
            let mapped = if lpn.0 < map.logical_units() { map.get(lpn) } else { Where::Unmapped };
            Err(format!("the valid unit {ppu} holds {lpn}, which is mapped to {mapped:?}"))
        })
    }

    /// First valid unit that the map does not point to.
    fn misplaced(&self) -> Option<Ppu> {
        let (map, layout) = (self.blocks.map(), &self.blocks.layout);
        // Units striped over all lanes have similar offsets in each lane and are close together in the map.
        for (row, word) in
            (0..layout.blocks).flat_map(|row| map.words_of_block().map(move |word| (row, word)))
        {
            let first_of = |block: SuperBlock| layout.first_unit(block) + word * u64::BITS;
            for lane in Lane::first(layout.lanes) {
                let block = layout.in_row(lane, row);
                if lane.0 + AHEAD < layout.lanes {
                    map.prefetch_logical(first_of(layout.in_row(lane + AHEAD, row)), u64::BITS);
                }
                let mut valid = map.valid_words(block)[word as usize];
                // Fast path: most words are full and contiguous where nothing has been overwritten.
                if valid == u64::MAX && map.are_at(first_of(block), u64::BITS) {
                    continue;
                }
                while valid != 0 {
                    let ppu = first_of(block) + valid.trailing_zeros();
                    if !self.is_at(map.logical(ppu), ppu) {
                        return Some(ppu);
                    }
                    valid &= valid - 1;
                }
            }
        }
        None
    }

    /// [`PageFtl::misplaced`] for one unit in `stride`. The entries of sampled units are unrelated, so they are prefetched.
    fn misplaced_in(&self, stride: u32) -> Option<Ppu> {
        let (map, layout) = (self.blocks.map(), &self.blocks.layout);
        let (mut coming, mut count) = ([(Lpn(0), Ppu(0)); MAP_AHEAD], 0);
        for block in SuperBlock::first(layout.super_blocks()) {
            let first = layout.first_unit(block);
            let skipped = first.0.next_multiple_of(stride) - first.0;
            for k in (skipped..layout.units_per_block).step_by(stride as usize) {
                map.prefetch_logical(Ppu((first.0 + k).wrapping_add(stride.wrapping_mul(UNITS_AHEAD))), 1);
                if !map.is_valid(block, k) {
                    continue;
                }
                let lpn = map.logical(first + k);
                map.prefetch(lpn);
                let (due, ppu) = std::mem::replace(&mut coming[count % MAP_AHEAD], (lpn, first + k));
                if count >= MAP_AHEAD && !self.is_at(due, ppu) {
                    return Some(ppu);
                }
                count += 1;
            }
        }
        let last = (count.saturating_sub(MAP_AHEAD)..count).map(|k| coming[k % MAP_AHEAD]);
        last.into_iter().find(|&(lpn, ppu)| !self.is_at(lpn, ppu)).map(|(_, ppu)| ppu)
    }

    /// Whether `lpn` is mapped to `ppu`, or is in the cache with its flash copy there.
    #[inline]
    fn is_at(&self, lpn: Lpn, ppu: Ppu) -> bool {
        let map = self.blocks.map();
        lpn.0 < map.logical_units()
            && match map.get(lpn) {
                Where::Flash(at) => at == ppu,
                Where::Cache(slot) => self.keeps_flash_copies() && self.cache().home(slot) == ppu,
                Where::Unmapped => false,
            }
    }

    /// Reads checked by the version audit.
    pub fn versions_checked(&self) -> u64 {
        self.blocks.units.versions_checked()
    }

    /// Audits a read of every logical unit.
    pub fn read_everything(&mut self) {
        self.blocks.units.read_everything(self.blocks.config().logical_units);
    }

    /// Whether every stream of host data has room on a lane.
    fn has_room_for_host_data(&self, lane: Lane) -> bool {
        let mut host = self.blocks.streams.all().filter(|stream| !stream.relocates());
        host.all(|stream| self.blocks.has_room(lane, stream))
    }

    /// Lanes without a block for host data, for diagnostics.
    pub fn diagnosis(&self) -> String {
        let lanes = self.blocks.layout.lanes;
        let short: Vec<Lane> = Lane::first(lanes).filter(|&l| !self.has_room_for_host_data(l)).collect();
        let mut text = format!("{} of {lanes} lanes have no block for host data", short.len());
        if let Some(&lane) = short.first() {
            let _ = write!(text, ", such as {}", self.gc_diagnosis(lane));
        }
        text
    }
}
