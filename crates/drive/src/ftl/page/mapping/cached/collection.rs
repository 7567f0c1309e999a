//! Collection of blocks with translation pages.

use crate::ftl::flash::Flash;
use crate::ftl::layout::UnitAt;
use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::blocks::write_streams::Stream;
use crate::ftl::page::gc::destination::Destination;
use crate::ftl::page::mapping::relocation::Relocation;
use crate::ftl::page::page_ftl::PageFtl;
use crate::ftl::page::write_back::in_flight::{GcRead, ProgramInFlight};
use crate::numbers::{Lane, SuperBlock};

/// Moved data and translation pages go to blocks of their own.
pub(crate) struct WithTranslationPages;

impl Destination for WithTranslationPages {
    fn fits(ftl: &PageFtl, lane: Lane, victim: SuperBlock) -> bool {
        ftl.fits_with_map(lane, victim)
    }

    fn gathers_apart(blocks: &BlockManager, victim: SuperBlock) -> bool {
        blocks.holds_map(victim)
    }

    fn victim_chosen(ftl: &mut PageFtl, victim: SuperBlock) {
        ftl.blocks.counters.map_gc_runs += u64::from(ftl.blocks.holds_map(victim));
    }

    fn page_read(ftl: &mut PageFtl, flash: &mut Flash, read: GcRead) {
        ftl.translation_pages_collected(flash, read);
    }

    fn program_apart(ftl: &mut PageFtl, flash: &mut Flash, lane: Lane) {
        while !ftl.collection.lanes[lane.index()].apart.is_empty() && ftl.program_collected_pages(flash, lane)
        {
        }
    }

    fn program_ended(ftl: &mut PageFtl, job: &ProgramInFlight) {
        ftl.note_changes(job);
    }

    fn program_committed(ftl: &mut PageFtl, flash: &mut Flash, _job: &ProgramInFlight) {
        ftl.apply_changes(flash);
    }

    fn space_freed(ftl: &mut PageFtl, flash: &mut Flash) {
        ftl.write_map_back(flash);
    }
}

impl BlockManager {
    /// Whether `super_block`, written since its erase, holds translation pages.
    pub(crate) fn holds_map(&self, super_block: SuperBlock) -> bool {
        // Drawn preconditioning leaves units that were overwritten without a number.
        let first = self.map().logical(self.layout.first_unit(super_block)).0;
        (self.config.logical_units..self.config.mapped_units()).contains(&first)
    }
}

impl PageFtl {
    /// Gathers the valid translation pages of a page that collection read.
    #[cold]
    fn translation_pages_collected(&mut self, flash: &mut Flash, read: GcRead) {
        let gc = &mut self.collection.lanes[read.lane.index()];
        gc.reads -= 1;
        let UnitAt { super_block, offset } = self.blocks.layout.split(read.first_ppu);
        let map = self.blocks.map();
        let mut valid = read.mask & map.valid_among(super_block, offset, self.blocks.layout.units_per_page());
        let overwritten = (read.mask & !valid).count_ones();
        while valid != 0 {
            let source = read.first_ppu + valid.trailing_zeros();
            valid &= valid - 1;
            gc.apart.push_back(Relocation { lpn: map.logical(source), source });
        }
        self.units_settled(flash, read.lane, super_block, overwritten);
        self.advance_gc(flash, read.lane);
    }

    /// Programs gathered translation pages of `lane`: as many as fill a program, and what is left once no more are being
    /// read, so that a victim never waits for another one. Returns whether a program began.
    #[cold]
    #[inline(never)]
    fn program_collected_pages(&mut self, flash: &mut Flash, lane: Lane) -> bool {
        let l = lane.index();
        while let Some(k) = self.collection.lanes[l].apart.iter().position(|unit| {
            let UnitAt { super_block, offset } = self.blocks.layout.split(unit.source);
            !self.blocks.map().is_valid(super_block, offset)
        }) {
            let unit = self.collection.lanes[l].apart.remove(k).expect("found above");
            let super_block = self.blocks.layout.block_of(unit.source);
            self.units_settled(flash, lane, super_block, 1);
        }
        let gc = &self.collection.lanes[l];
        let full = self.blocks.layout.units_per_program as usize;
        let end = self.blocks.layout.units_per_block;
        let in_memory = (gc.relocating.len() + gc.apart.len()) as u32;
        let enough = self.collection.depth * self.blocks.gc_capacity.program;
        let unread = gc.victims.last().is_some_and(|v| v.apart && v.next_offset < end);
        let more = gc.reads > 0 || unread && in_memory < enough;
        let waits = gc.apart.is_empty() || gc.apart.len() < full && more;
        if waits || gc.programs >= self.collection.depth || !self.blocks.has_room(lane, Stream::MAP_GC) {
            return false;
        }
        self.collection.lanes[l].programs += 1;
        self.window.count();
        self.program_translation_pages(flash, lane, Stream::MAP_GC);
        true
    }

    /// Commits the move of a translation page, if its source is still needed, and settles its victim.
    pub(super) fn page_moved(
        &mut self,
        flash: &mut Flash,
        lane: Lane,
        unit: Relocation,
        super_block: SuperBlock,
        offset: u32,
    ) {
        let from = self.blocks.layout.split(unit.source);
        if self.blocks.map().is_valid(from.super_block, from.offset) {
            self.blocks.units.replace(&self.blocks.layout, unit.lpn, super_block, offset);
        }
        self.blocks.counters.map_gc_units += 1;
        self.units_settled(flash, lane, from.super_block, 1);
    }

    /// Whether the valid units of `victim` fit where data and translation pages are moved to blocks of their own.
    #[cold]
    fn fits_with_map(&self, lane: Lane, victim: SuperBlock) -> bool {
        let (layout, gc) = (&self.blocks.layout, &self.collection.lanes[lane.index()]);
        let of_map = self.blocks.holds_map(victim);
        let (valid, reading) = (self.blocks.map().valid_units(victim), gc.reads * layout.units_per_page());
        let data = gc.relocating.len() as u32 + reading + if of_map { 0 } else { valid };
        let pages = gc.apart.len() as u32 + reading + if of_map { valid } else { 0 };
        let free = self.blocks.free_blocks(lane);
        let hard = self.blocks.config().hard_free;
        // As in `fits`; units of the other kind that wait for a program would keep their victim from being erased.
        let others = if of_map { gc.relocating.is_empty() } else { gc.apart.is_empty() };
        let coming = gc.reads == 0 && others && (!gc.victims.is_empty() || gc.erasing > 0);
        let available = free.min(hard) + u32::from(coming && free < hard);
        let of = self.blocks.gc_capacity;
        let for_data = blocks_for(data, self.blocks.open_room(lane, Stream::GC), of.program, of.block);
        let (program, block) = (layout.units_per_program, layout.units_per_block);
        let for_pages = blocks_for(pages, self.blocks.open_room(lane, Stream::MAP_GC), program, block);
        for_data + for_pages <= available
    }
}

/// Blocks of `block` units to open for `units` in whole programs, `room` of which fit the open block.
fn blocks_for(units: u32, room: u32, program: u32, block: u32) -> u32 {
    units.next_multiple_of(program).saturating_sub(room).div_ceil(block)
}
