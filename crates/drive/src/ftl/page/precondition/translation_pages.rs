//! Translation pages written without simulated time, to blocks of their own: all those of a preconditioned drive with mapped entries,
//! and those that an orderly end finds changed.

use super::Preconditioner;
use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::blocks::write_streams::Stream;
use crate::ftl::page::mapping::table::Where;
use crate::ftl::page::precondition::positions::Followed;
use crate::numbers::{Lane, Lpn, SuperBlock};

impl Preconditioner<'_> {
    /// Writes the translation pages, round robin over the lanes, as write-back of the whole map leaves them.
    pub(super) fn write_all_translation_pages(&mut self) {
        let config = self.ftl.config();
        let (logical, pages) = (config.logical_units, config.translation_pages);
        let per_page = if pages == 0 { return } else { logical.div_ceil(pages).next_power_of_two() };
        let mapped: Vec<Lpn> = (0..pages)
            .filter(|page| {
                let first = page * per_page;
                let map = self.ftl.map();
                Lpn(first)
                    .until(Lpn((first + per_page).min(logical)))
                    .any(|lpn| map.get(lpn) != Where::Unmapped)
            })
            .map(|page| Lpn(logical + page))
            .collect();
        self.write_translation_pages(&mapped);
    }

    /// Writes the translation pages that `changed` names. Entries that garbage collection moves meanwhile are among them.
    pub(crate) fn write_changed_translation_pages(
        &mut self,
        changed: impl FnOnce(&BlockManager) -> Vec<Lpn>,
    ) {
        let changed = changed(self.ftl);
        self.write_translation_pages(&changed);
    }

    fn write_translation_pages(&mut self, units: &[Lpn]) {
        let (program, lanes) = (self.ftl.layout.units_per_program, self.ftl.layout.lanes);
        // Full blocks of valid pages are no victims before the last page is written.
        let mut full: Vec<SuperBlock> = Vec::new();
        let mut lane = Lane(0);
        for pages in units.chunks(program as usize) {
            for _ in 0..lanes {
                lane = Lane((lane.0 + 1) % lanes);
                self.make_room(lane, &mut Followed);
                if self.ftl.has_room(lane, Stream::MAP) {
                    break;
                }
            }
            let place = self.ftl.take_address(lane, Stream::MAP);
            let place = place.expect("the capacity checks leave room for translation pages");
            for (offset, &page) in (place.first_offset..).zip(pages) {
                if let Where::Flash(ppu) = self.ftl.map().get(page) {
                    self.ftl.forget_flash(ppu);
                }
                self.ftl.write(page, place.super_block, offset);
            }
            self.ftl.program_done(place.super_block);
            if place.program + 1 == self.ftl.layout.programs_per_block {
                self.ftl.units.set_candidate(place.super_block, false);
                full.push(place.super_block);
            }
        }
        full.iter().for_each(|&block| self.ftl.units.set_candidate(block, true));
    }
}
