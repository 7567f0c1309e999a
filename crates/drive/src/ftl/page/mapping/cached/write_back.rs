//! Write-back of changed translation pages: batches, reads of what is not in memory, programs.

use super::{CachedMap, Progress};
use crate::ftl::flash::Flash;
use crate::ftl::page::blocks::write_streams::Stream;
use crate::ftl::page::mapping::relocation::Relocation;
use crate::ftl::page::mapping::residency::Residency;
use crate::ftl::page::mapping::table::{UNMAPPED, Where};
use crate::ftl::page::page_ftl::PageFtl;
use crate::ftl::page::write_back::in_flight::ProgramInFlight;
use crate::numbers::{JobId, Lane, Lpn, Slot};
use crate::owner::Owner;
use interpulse_flash::nand::txn::Kind;

/// Source of a translation page that comes from memory.
pub(super) const FROM_MEMORY: crate::numbers::Ppu = UNMAPPED;

impl PageFtl {
    /// Notes, before the map changes, the units whose entries the program `job` changes.
    #[cold]
    pub(crate) fn note_changes(&mut self, job: &ProgramInFlight) {
        let Residency::Cached(cached) = &mut self.residency else { return };
        let units = &self.blocks.units;
        // A copy that is not the newest is one that a power loss may revert to.
        let keeps = units.keeps_stale_copies();
        let changed = |&slot: &Slot| if keeps { Some(units.cache.lpn(slot)) } else { units.newest_in(slot) };
        cached.changing.extend(job.slots.iter().filter_map(changed));
        let layout = &self.blocks.layout;
        let valid = |unit: &&Relocation| {
            let at = layout.split(unit.source);
            units.map().is_valid(at.super_block, at.offset)
        };
        cached.changing.extend(job.moved.iter().filter(valid).map(|unit| unit.lpn));
    }

    /// Applies the changes noted before the map changed.
    #[cold]
    pub(crate) fn apply_changes(&mut self, flash: &mut Flash) {
        let Residency::Cached(cached) = &mut self.residency else { return };
        let mut changing = std::mem::take(&mut cached.changing);
        for &lpn in &changing {
            cached.change(&mut self.blocks.counters, self.blocks.units.map(), lpn);
        }
        changing.clear();
        cached.changing = changing;
        self.write_map_back(flash);
    }

    /// Applies the trim of the mapped ones of the units `from..to`. What it starts begins with the next event of the map.
    #[cold]
    pub(crate) fn map_trimmed(&mut self, from: Lpn, to: Lpn) {
        let Residency::Cached(cached) = &mut self.residency else { return };
        let map = self.blocks.units.map();
        for lpn in from.until(to).filter(|&lpn| map.get(lpn) != Where::Unmapped) {
            cached.change(&mut self.blocks.counters, map, lpn);
        }
    }

    /// Starts what write-back can do now.
    pub(super) fn write_map_back(&mut self, flash: &mut Flash) {
        let cached = self.cached();
        cached.feed_flush();
        if cached.buffer.preparing == 0 && cached.buffer.ready.is_empty() {
            if cached.buffer.waiting < cached.batch && !cached.is_flushing() {
                return;
            }
            self.prepare_batch(flash);
        }
        self.program_ready_pages(flash);
    }

    /// Takes a batch of pages and reads those of which only changed entries are in memory.
    fn prepare_batch(&mut self, flash: &mut Flash) {
        for _ in 0..self.cached().batch {
            let Residency::Cached(cached) = &mut self.residency else { return };
            let Some(page) = cached.take_queued() else { break };
            cached.set_buffered(page, cached.page_bytes);
            let held =
                cached.pages[page as usize].whole || !cached.is_on_flash(self.blocks.units.map(), page);
            let of = &mut cached.pages[page as usize];
            if held {
                of.progress = Progress::Ready;
                cached.buffer.ready.push_back(page);
                continue;
            }
            of.progress = Progress::Preparing;
            cached.buffer.preparing += 1;
            if !of.reading {
                self.blocks.counters.map_update_reads += 1;
                self.read_translation_page(flash, page, None);
            }
        }
    }

    /// Programs pages that are ready: full programs, and the rest of a batch.
    fn program_ready_pages(&mut self, flash: &mut Flash) {
        let full = self.blocks.layout.units_per_program as usize;
        loop {
            let buffer = &self.cached().buffer;
            let ready = buffer.ready.len();
            if ready == 0 || ready < full && buffer.preparing > 0 {
                return;
            }
            let Some(lane) = self.next_map_lane() else {
                self.wake_collector(flash);
                return;
            };
            self.program_translation_pages(flash, lane, Stream::MAP);
        }
    }

    /// Next lane in round-robin order with room for translation pages.
    fn next_map_lane(&mut self) -> Option<Lane> {
        let lanes = self.blocks.layout.lanes;
        let next = self.cached().buffer.next_lane;
        let lane = (0..lanes).map(|k| Lane((next.0 + k) % lanes)).find(|&lane| self.takes_map(lane))?;
        self.cached().buffer.next_lane = Lane((lane.0 + 1) % lanes);
        Some(lane)
    }

    /// Whether write-back may program on `lane`. It leaves the reserved blocks to collection, and the open one while
    /// translation pages are being collected there.
    fn takes_map(&self, lane: Lane) -> bool {
        let collecting = || self.collection.lanes[lane.index()].victims.iter().any(|v| v.apart);
        self.blocks.free_blocks(lane) > self.blocks.config().hard_free
            || self.blocks.has_room(lane, Stream::MAP) && !collecting()
    }

    /// Programs pages on `lane`, which has room: those that collection moves there, then those ready for write-back.
    pub(super) fn program_translation_pages(&mut self, flash: &mut Flash, lane: Lane, stream: Stream) {
        let place = self.blocks.take_address(lane, stream).expect("the lane has room for translation pages");
        let job = self.jobs.new_program(lane, Some(place));
        let most = self.blocks.layout.units_per_program as usize;
        let moved = &mut self.jobs.program(job).moved;
        if stream.relocates() {
            let collected = &mut self.collection.lanes[lane.index()].apart;
            // Apart from the `extend` of the collector, which is in line while it is the only one.
            for unit in collected.drain(..collected.len().min(most)) {
                moved.push(unit);
            }
        }
        let Residency::Cached(cached) = &mut self.residency else { unreachable!("it has translation pages") };
        while moved.len() < most
            && let Some(page) = cached.begin_program()
        {
            moved.push(Relocation { lpn: cached.unit(page), source: FROM_MEMORY });
            self.blocks.units.translation_page_begins(cached.unit(page), cached.entries_of(page));
        }
        for (offset, unit) in (place.first_offset..).zip(&*moved) {
            self.blocks.units.assign(self.blocks.layout.first_unit(place.super_block) + offset, unit.lpn);
        }
        self.blocks.counters.map_programs += 1;
        self.submit_program_of(flash, Kind::GcProgram, lane, job, Owner::TranslationProgram(job));
        if !stream.relocates() {
            self.advance_gc(flash, lane);
        }
    }

    /// Completes a program of translation pages.
    #[cold]
    pub(crate) fn map_program_done(&mut self, flash: &mut Flash, id: JobId) {
        let job = self.jobs.take_program(id);
        let place = job.place.expect("translation pages have a place");
        let described = (place.first_offset..).zip(&job.moved).map(|(offset, unit)| {
            let ppu = self.blocks.layout.first_unit(place.super_block) + offset;
            (unit.lpn, ppu, (unit.source != FROM_MEMORY).then_some(unit.source))
        });
        self.blocks.units.describe_translation_pages(described);
        let mut collected = false;
        for (offset, unit) in (place.first_offset..).zip(&job.moved) {
            if unit.source == FROM_MEMORY {
                self.blocks.units.replace(&self.blocks.layout, unit.lpn, place.super_block, offset);
                let Residency::Cached(cached) = &mut self.residency else { unreachable!("as above") };
                cached.programmed(unit.lpn.0 - cached.logical);
                self.blocks.counters.map_units += 1;
            } else {
                collected = true;
                self.page_moved(flash, job.lane, *unit, place.super_block, offset);
            }
        }
        self.blocks.counters.padding_units +=
            u64::from(self.blocks.layout.units_per_program) - job.moved.len() as u64;
        self.blocks.program_done(place.super_block);
        let lane = job.lane;
        self.jobs.free_program(id, job);
        if collected {
            self.collection.lanes[lane.index()].programs -= 1;
            self.advance_gc(flash, lane);
        }
        self.write_map_back(flash);
        self.resume_stalled();
        if self.cached().take_flushed() {
            self.write_checkpoint(flash);
        }
    }
}

impl CachedMap {
    /// Takes the page that has waited longest for a batch.
    fn take_queued(&mut self) -> Option<u32> {
        loop {
            let page = self.buffer.queued.pop_front()?;
            if self.pages[page as usize].progress == Progress::Queued {
                self.buffer.waiting -= 1;
                return Some(page);
            }
        }
    }

    /// Takes a page that is ready for its program, which will hold all changes of its entries so far.
    fn begin_program(&mut self) -> Option<u32> {
        let page = self.buffer.ready.pop_front()?;
        self.pages[page as usize].progress = Progress::Programming;
        self.buffer.programming += 1;
        self.flush_begins(page);
        if self.spec.format.holds_entries() {
            for lpn in self.entries_of(page).start.until(self.entries_of(page).end) {
                self.residents.clean(lpn.0);
            }
        } else {
            self.residents.clean(page);
        }
        Some(page)
    }

    /// Completes the program of `page`; its entries may have changed again.
    fn programmed(&mut self, page: u32) {
        let of = &mut self.pages[page as usize];
        let (again, whole) = (of.again, of.whole_again);
        (of.progress, of.whole, of.again, of.whole_again) = (Progress::Idle, false, false, false);
        self.buffer.programming -= 1;
        self.set_buffered(page, 0);
        self.flush_ended(page);
        if again {
            self.add(page, whole);
        }
    }
}
