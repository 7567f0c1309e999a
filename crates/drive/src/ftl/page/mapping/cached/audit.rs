//! Audit of the mapping cache: directory, blocks of translation pages, cached objects, write-back buffer.

use super::{CachedMap, NOBODY, Progress};
use crate::ftl::page::mapping::residency::Residency;
use crate::ftl::page::mapping::table::Where;
use crate::ftl::page::page_ftl::PageFtl;
use crate::numbers::{Lpn, SuperBlock};

impl PageFtl {
    /// Checks the mapping cache and its translation pages on flash. Returns the translation pages on flash, or the first
    /// inconsistency.
    pub(crate) fn audit_mapping(&self) -> Result<u64, String> {
        let Residency::Cached(cached) = &self.residency else { return Ok(0) };
        cached.residents.audit()?;
        cached.audit_buffer()?;
        let (map, layout) = (self.blocks.map(), &self.blocks.layout);
        let mut on_flash = 0;
        for (page, state) in (0..).zip(&cached.pages) {
            let Where::Flash(ppu) = map.get(cached.unit(page)) else {
                if state.progress == Progress::Idle && !cached.is_known(page) && cached.is_mapped(map, page) {
                    return Err(format!(
                        "translation page {page} with mapped entries is neither on flash nor in memory"
                    ));
                }
                continue;
            };
            on_flash += 1;
            let super_block = layout.block_of(ppu);
            if !self.blocks.holds_map(super_block) {
                return Err(format!("translation page {page} is in block {super_block}, which holds data"));
            }
        }
        for block in SuperBlock::first(layout.super_blocks()).filter(|&block| self.blocks.holds_map(block)) {
            let first = layout.first_unit(block);
            let data = (0..layout.units_per_block)
                .find(|&k| map.is_valid(block, k) && map.logical(first + k).0 < cached.logical);
            if let Some(k) = data {
                return Err(format!(
                    "block {block} of translation pages holds unit {}",
                    map.logical(first + k)
                ));
            }
        }
        Ok(on_flash)
    }
}

impl CachedMap {
    /// Whether an object of `page` is cached.
    fn is_known(&self, page: u32) -> bool {
        let of = self.entries_of(page);
        let last = (of.end.0 - 1) >> self.object_shift;
        (of.start.0 >> self.object_shift..=last).any(|object| self.residents.holds(object))
    }

    /// Whether an entry of `page` is a physical unit.
    fn is_mapped(&self, map: &crate::ftl::page::mapping::table::Map, page: u32) -> bool {
        let of = self.entries_of(page);
        of.start.until(of.end).any(|lpn: Lpn| matches!(map.get(lpn), Where::Flash(_)))
    }

    /// Compares the counts of the write-back buffer with the states of the pages.
    fn audit_buffer(&self) -> Result<(), String> {
        let count = |progress| self.pages.iter().filter(|of| of.progress == progress).count();
        let counted = [
            (Progress::Queued, self.buffer.waiting as usize),
            (Progress::Preparing, self.buffer.preparing as usize),
            (Progress::Ready, self.buffer.ready.len()),
            (Progress::Programming, self.buffer.programming as usize),
        ];
        for (progress, pages) in counted {
            if count(progress) != pages {
                return Err(format!(
                    "{} translation pages are {progress:?}, {pages} are counted",
                    count(progress)
                ));
            }
        }
        let bytes = self.pages.iter().map(|of| u64::from(of.bytes)).sum::<u64>();
        if bytes != self.buffer.bytes {
            return Err(format!(
                "the write-back buffer holds {bytes} bytes, {} are counted",
                self.buffer.bytes
            ));
        }
        for (page, of) in self.pages.iter().enumerate() {
            if !of.reading && (of.progress == Progress::Preparing || of.first != NOBODY) {
                return Err(format!("translation page {page} is waited for and not being read: {of:?}"));
            }
        }
        Ok(())
    }
}
