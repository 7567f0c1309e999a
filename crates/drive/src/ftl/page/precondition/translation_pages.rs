//! Translation pages of a preconditioned drive: all those with mapped entries are on flash, in blocks of their own.

use super::Preconditioner;
use crate::ftl::page::blocks::write_streams::Stream;
use crate::ftl::page::mapping::table::Where;
use crate::ftl::page::precondition::positions::Followed;
use crate::numbers::{Lane, Lpn, SuperBlock};

impl Preconditioner<'_> {
    /// Writes the translation pages, round robin over the lanes, as write-back of the whole map leaves them.
    pub(super) fn write_translation_pages(&mut self) {
        let config = self.ftl.config();
        let (logical, pages) = (config.logical_units, config.translation_pages);
        let per_page = if pages == 0 { return } else { logical.div_ceil(pages).next_power_of_two() };
        let (program, lanes) = (self.ftl.layout.units_per_program, self.ftl.layout.lanes);
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
        // Full blocks of valid pages are no victims before the last page is written.
        let mut full: Vec<SuperBlock> = Vec::new();
        let mut lane = Lane(0);
        for pages in mapped.chunks(program as usize) {
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
