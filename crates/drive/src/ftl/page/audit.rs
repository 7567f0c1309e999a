//! Audit of the page-mapped FTL at the end of a run, and its part of a diagnosis.

use crate::cache::NO_FLASH_COPY;
use crate::ftl::page::blocks::write_streams::Stream;
use crate::ftl::page::mapping::bit_scan;
use crate::ftl::page::mapping::table::Where;
use crate::ftl::page::page_ftl::PageFtl;
use crate::numbers::{Lane, Lpn, Ppu, SuperBlock};
use interpulse_flash::ids::BlockId;
use std::fmt::Write;

/// What a lane holds is fetched so many lanes early: no more of it comes than is looked at together.
const AHEAD: u32 = 3;
/// Of units that lie apart, the entries in the map are fetched so many units early.
const COMING: usize = 64;
/// And what they hold so many of them early.
const SOON: u32 = 64;

impl PageFtl {
    /// Checks that nothing was lost: valid units = mapped units, block by block, and what each valid unit holds is mapped to
    /// it and to nothing else, so that every map entry is confirmed by the physical side. `stride` > 1 confirms one unit in so
    /// many. Returns the units mapped to flash. Err names what does not hold.
    pub fn audit(&self, stride: usize) -> Result<u64, String> {
        let (mapped, cached) = self.audit_entries()?;
        let valid = self.audit_units(u32::try_from(stride).unwrap_or(u32::MAX))?;
        let expected = if self.keeps_valid_homes() { mapped + cached } else { mapped };
        if valid != expected {
            return Err(format!("{valid} units are valid on flash, {expected} are mapped there"));
        }
        Ok(mapped)
    }

    /// Under imposed write amplification, and where power may be lost with the cache, a cached unit keeps its valid home.
    fn keeps_valid_homes(&self) -> bool {
        self.imposed.is_some() || self.blocks.units.keeps_stale_copies()
    }

    /// How many logical units are mapped to flash, and how many of those in the cache have a home there; the cache says of
    /// each that is mapped to it that it holds it.
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

    /// How many units are valid. Every block counts its own, and one unit in `stride` is where the map says.
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

    /// A valid unit that is not where the map says.
    fn misplaced(&self) -> Option<Ppu> {
        let (map, layout) = (self.blocks.map(), &self.blocks.layout);
        // What goes to all lanes in turn is at about the same height in each, and near each other in the map.
        for (row, word) in
            (0..layout.blocks).flat_map(|row| map.words_of_block().map(move |word| (row, word)))
        {
            let first_of = |block: SuperBlock| layout.first_unit(block) + word * u64::BITS;
            for lane in Lane::first(layout.lanes) {
                let block = layout.super_block(lane, BlockId(row));
                if lane.0 + AHEAD < layout.lanes {
                    map.prefetch_logical(first_of(layout.super_block(lane + AHEAD, BlockId(row))), u64::BITS);
                }
                let mut valid = map.valid_words(block)[word as usize];
                // Most words are like that where nothing has been overwritten.
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

    /// The same among one unit in `stride`. What one unit holds says nothing about where the next one's is mapped, so that the
    /// entries are fetched while those before are looked at.
    fn misplaced_in(&self, stride: u32) -> Option<Ppu> {
        let (map, layout) = (self.blocks.map(), &self.blocks.layout);
        let (mut coming, mut count) = ([(Lpn(0), Ppu(0)); COMING], 0);
        for block in SuperBlock::first(layout.super_blocks()) {
            let first = layout.first_unit(block);
            let skipped = first.0.next_multiple_of(stride) - first.0;
            for k in (skipped..layout.units_per_block).step_by(stride as usize) {
                map.prefetch_logical(Ppu((first.0 + k).wrapping_add(stride.wrapping_mul(SOON))), 1);
                if !map.is_valid(block, k) {
                    continue;
                }
                let lpn = map.logical(first + k);
                map.prefetch(lpn);
                let (due, ppu) = std::mem::replace(&mut coming[count % COMING], (lpn, first + k));
                if count >= COMING && !self.is_at(due, ppu) {
                    return Some(ppu);
                }
                count += 1;
            }
        }
        let last = (count.saturating_sub(COMING)..count).map(|k| coming[k % COMING]);
        last.into_iter().find(|&(lpn, ppu)| !self.is_at(lpn, ppu)).map(|(_, ppu)| ppu)
    }

    /// Whether `lpn` is mapped to `ppu`, or in the cache with its home there.
    #[inline]
    fn is_at(&self, lpn: Lpn, ppu: Ppu) -> bool {
        let map = self.blocks.map();
        lpn.0 < map.logical_units()
            && match map.get(lpn) {
                Where::Flash(at) => at == ppu,
                Where::Cache(slot) => self.keeps_valid_homes() && self.cache().home(slot) == ppu,
                Where::Unmapped => false,
            }
    }

    /// Reads checked by the version audit.
    pub fn versions_checked(&self) -> u64 {
        self.blocks.units.versions_checked()
    }

    /// Looks every logical unit up and has the version audit check what a read of it would return now.
    pub fn read_everything(&mut self) {
        self.blocks.units.read_everything();
    }

    /// Which lanes have no block for host data, for a diagnosis.
    pub fn diagnosis(&self) -> String {
        let lanes = self.blocks.layout.lanes;
        let short: Vec<Lane> =
            Lane::first(lanes).filter(|&l| !self.blocks.has_room(l, Stream::HOST)).collect();
        let mut text = format!("{} of {lanes} lanes have no block for host data", short.len());
        if let Some(&lane) = short.first() {
            let _ = write!(text, ", such as {}", self.gc_standing(lane));
        }
        text
    }
}
