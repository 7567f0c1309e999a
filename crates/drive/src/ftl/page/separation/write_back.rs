//! Write-back of hot and cold data, and its programs on reprogrammable blocks.
//!
//! Each level has one dirty list, per lane under static striping. A list is checked after a change: data arrived, its lane
//! became free, a block of its lane was erased.

use crate::ftl::flash::Flash;
use crate::ftl::layout::UnitAt;
use crate::ftl::page::blocks::program_address::ProgramAddress;
use crate::ftl::page::blocks::write_streams::Stream;
use crate::ftl::page::mapping::relocation::Relocation;
use crate::ftl::page::mapping::table::Where;
use crate::ftl::page::page_ftl::PageFtl;
use crate::ftl::page::power_loss::metadata_region::Then;
use crate::ftl::page::reprogram::{Step, page_planes, program_of_page};
use crate::ftl::page::separation::queues::HotnessQueues;
use crate::ftl::page::write_back::in_flight::{GcRead, Purpose};
use crate::ftl::page::write_back::queues::HostLists;
use crate::numbers::{JobId, Lane, Lpn, SuperBlock};
use crate::owner::Owner;
use interpulse_engine::SimTime;
use interpulse_flash::ids::WordLineId;
use interpulse_flash::nand::txn::{Kind, Txn};
use interpulse_flash::reprogram::Bit;

impl PageFtl {
    fn levels(&self) -> &HotnessQueues {
        let HostLists::ByClass(levels) = &self.lists else { panic!("host data is separated") };
        levels
    }

    fn levels_mut(&mut self) -> &mut HotnessQueues {
        let HostLists::ByClass(levels) = &mut self.lists else { panic!("host data is separated") };
        levels
    }

    /// List by level or `handle` for a write to `lpn`, submitted at `arrived`, whose data is at `at`; and whether the write
    /// replaces a dirty version, which it does not if that belongs to another handle.
    pub(crate) fn list_by_class(&self, lpn: Lpn, at: Where, arrived: SimTime, handle: u8) -> (usize, bool) {
        let absorbs = self.write_back.absorbs;
        if self.handles.is_some() {
            let list = self.list_of_level(lpn, u32::from(handle));
            let same = matches!(at, Where::Cache(slot) if self.blocks.units.cache.list(slot) == list);
            return (list, absorbs && same);
        }
        let hotness = self.blocks.hotness().expect("host data is separated");
        let level = match at {
            Where::Flash(ppu) => hotness.level(self.blocks.layout.block_of(ppu), ppu, arrived),
            // Written very recently.
            Where::Cache(_) => 0,
            Where::Unmapped => hotness.levels(),
        };
        (self.list_of_level(lpn, level), absorbs)
    }

    fn list_of_level(&self, lpn: Lpn, level: u32) -> usize {
        let lane = self.write_back.stripe.as_ref().map_or(0, |stripe| stripe.lane(lpn).0);
        (lane * self.levels().count + level) as usize
    }

    /// Marks the lists of `lane`, which may accept a program again.
    pub(crate) fn lane_changed(&mut self, lane: Lane) {
        let one_list_a_lane = self.write_back.stripe.is_some();
        let HostLists::ByClass(levels) = &mut self.lists else { return };
        let first = if one_list_a_lane { lane.0 * levels.count } else { 0 };
        for list in first..first + levels.count {
            levels.look_at(list as usize);
        }
    }

    /// Starts programs from the changed lists.
    pub(crate) fn destage_levels(&mut self, flash: &mut Flash) {
        let lists = self.blocks.units.cache.lists();
        if self.is_urged() {
            self.levels_mut().look_at_all();
        }
        if !self.levels().placeless.is_empty() {
            let waiting = std::mem::take(&mut self.levels_mut().placeless);
            for (lane, job) in waiting {
                if !self.place_and_submit(flash, lane, job) {
                    self.levels_mut().placeless.push((lane, job));
                }
            }
        }
        if self.handles.is_none() {
            self.destage_changed(flash, lists, true);
            return;
        }
        // A partial program of one handle would precede the full one of another.
        self.destage_changed(flash, lists, false);
        if self.is_urged() {
            self.levels_mut().look_at_all();
            self.destage_changed(flash, lists, true);
        }
    }

    /// Starts programs from the changed ones of `lists` lists, partial ones only if `partly`.
    fn destage_changed(&mut self, flash: &mut Flash, lists: usize, partly: bool) {
        while let Some(list) = self.levels_mut().next_changed() {
            if list < lists {
                while self.blocks.units.cache.dirty(list) > 0 && self.destage_list(flash, list, partly) {}
            }
        }
    }

    /// Starts one program from `list`; false if it cannot or need not start now.
    fn destage_list(&mut self, flash: &mut Flash, list: usize, partly: bool) -> bool {
        let levels = self.levels().count;
        let level = list as u32 % levels;
        let lane = match &self.write_back.stripe {
            Some(_) => {
                let lane = Lane(list as u32 / levels);
                if !self.placement.is_free(lane) {
                    return false;
                }
                lane
            }
            None => match self.next_lane_of_level(level) {
                Some(lane) => lane,
                None => {
                    self.wake_collector(flash);
                    return false;
                }
            },
        };
        let partly = self.writes_through() || partly && self.must_program_partly(list);
        let dirty = self.blocks.units.cache.dirty(list);
        let page = self.blocks.layout.units_per_page() * self.blocks.layout.planes;
        let enough = |units: u32| dirty >= units || partly;
        let cold = level + 1 == levels;
        let step = if cold || self.blocks.reprogramming().is_none() {
            Step::Normal
        } else {
            let readers = &self.readers;
            self.blocks.next_step(lane, level, |block| readers.get(block.index()).is_some_and(|&n| n > 0))
        };
        match step {
            Step::Program | Step::Open => {
                let stream = self.blocks.streams.of_level(level);
                if !enough(self.blocks.capacity(stream).program) {
                    return false;
                }
                if step == Step::Open {
                    self.blocks.open_two_bit(lane, level);
                }
                let (super_block, word_line, bit, first) = self.blocks.take_word_line(lane, level);
                let place = self.word_line(super_block, word_line, bit);
                self.program_two_bit(flash, lane, list, place, first, 0b11);
            }
            Step::Reprogram { word_line, bit } => {
                if !enough(page) {
                    return false;
                }
                let (super_block, validity) = self.blocks.take_reprogram(lane, level, word_line, bit);
                let place = self.word_line(super_block, word_line, Some(bit));
                let place = ProgramAddress { reprogram: Some(bit), ..place };
                self.program_two_bit(flash, lane, list, place, false, validity);
            }
            Step::Reclaim if self.blocks.has_room(lane, Stream::HOST) => {
                if !enough(page) {
                    return false;
                }
                self.program_with_candidate(flash, lane, level, list);
            }
            Step::Normal => {
                let stream = self.stream_of_level(lane, level);
                let full = self.blocks.capacity(stream).program;
                if !enough(full) {
                    return false;
                }
                if dirty <= full.saturating_sub(page)
                    && self.blocks.has_room(lane, stream)
                    && let Some(level) = self.blocks.level_to_empty(lane)
                {
                    // The word line has room for candidate pages that have to move.
                    self.program_with_candidate(flash, lane, level, list);
                    return true;
                }
                if self.slc_stream_of(level).is_some() {
                    self.enter_cache(lane, stream, full.min(dirty));
                }
                let Some(place) = self.blocks.take_address(lane, stream) else {
                    self.wake_collector(flash);
                    return false;
                };
                let job = self.jobs.new_program(lane, Some(place));
                self.fill_from_cache(job, list, place.units(&self.blocks.layout));
                if let Some(handles) = &mut self.handles {
                    let units = self.jobs.program(job).slots.len();
                    handles.host_program(&self.blocks.layout, &place, units, level);
                } else {
                    self.stamp_block(place.super_block, place.program == 0, job);
                }
                self.start_host_job(flash, lane, job);
            }
            Step::Reclaim => {
                self.wake_collector(flash);
                return false;
            }
        }
        true
    }

    /// Next ready lane for a level or handle; one with room in an SLC cache is ready for hot data.
    fn next_lane_of_level(&mut self, level: u32) -> Option<Lane> {
        let cached = self.slc_stream_of(level);
        let (blocks, idle) = (&self.blocks, self.write_back.programs_in_flight == 0);
        let native = match &mut self.handles {
            Some(handles) => {
                let stream = handles.host_stream(handles.groups.handle_of(level));
                if handles.groups.count > 1 {
                    return handles.groups.next_lane(&mut self.placement, blocks, idle, level, stream);
                }
                stream
            }
            None if cached.is_none() => return self.next_ready_lane(),
            None => Stream::HOST,
        };
        let (Some(stream), Some(slc)) = (cached, blocks.slc()) else {
            return self.placement.next_ready(blocks, idle, |lane| blocks.has_room(lane, native));
        };
        let room = |lane| blocks.slc_has_room_for(slc, lane, stream) || blocks.has_room(lane, native);
        self.placement.next_ready(blocks, idle, room)
    }

    /// Stream of the next normal program of `level` on `lane`.
    fn stream_of_level(&self, lane: Lane, level: u32) -> Stream {
        if self.blocks.reprogramming().is_some() {
            return Stream::HOST;
        }
        if let (Some(stream), Some(slc)) = (self.slc_stream_of(level), self.blocks.slc())
            && self.blocks.slc_has_room_for(slc, lane, stream)
        {
            return stream;
        }
        match &self.handles {
            Some(handles) => handles.host_stream(handles.groups.handle_of(level)),
            None => self.blocks.streams.of_level(level),
        }
    }

    fn fill_from_cache(&mut self, job: JobId, list: usize, most: u32) {
        let (units, layout) = (&mut self.blocks.units, &self.blocks.layout);
        units.take_dirty(layout, list, most, None, &mut self.jobs.program(job).slots);
    }

    /// Stamps the block with the arrival of the first unit of `job`, if `first`; relocated data keeps its stamp.
    fn stamp_block(&mut self, super_block: SuperBlock, first: bool, job: JobId) {
        if !first {
            return;
        }
        let of = self.jobs.program(job);
        match (of.slots.first(), of.candidate) {
            (Some(&slot), _) => {
                let at = self.levels().arrived(slot);
                self.blocks.units.stamp_block(super_block, at);
            }
            (None, Some(from)) => self.blocks.units.inherit_stamp(super_block, from),
            (None, None) => {}
        }
    }

    /// Address of an operation on a two-bit word line, or on one of its pages.
    fn word_line(&self, super_block: SuperBlock, word_line: WordLineId, page: Option<Bit>) -> ProgramAddress {
        let layout = &self.blocks.layout;
        let program = match page {
            Some(bit) if layout.programs_per_word_line > 1 => program_of_page(layout, word_line, bit),
            _ => word_line.0,
        };
        ProgramAddress::new(layout, super_block, program, self.blocks.cell_mode(super_block))
    }

    /// Programs or reprograms a two-bit word line from `list`.
    fn program_two_bit(
        &mut self,
        flash: &mut Flash,
        lane: Lane,
        list: usize,
        place: ProgramAddress,
        first_of_layer: bool,
        validity: u8,
    ) {
        let units = place.units(&self.blocks.layout);
        let job = self.jobs.new_program(lane, Some(place));
        self.jobs.program(job).validity = validity;
        self.fill_from_cache(job, list, units);
        self.stamp_block(place.super_block, first_of_layer, job);
        self.start_host_job(flash, lane, job);
    }

    /// Programs one or two pages of `list` on a normal word line along with pages in use in a candidate, which are read
    /// first (Section 4.2.2).
    fn program_with_candidate(&mut self, flash: &mut Flash, lane: Lane, level: u32, list: usize) {
        if self.blocks.layout.programs_per_word_line > 1 {
            self.program_beside_candidate(flash, lane, level, list);
            return;
        }
        let layout = &self.blocks.layout;
        let page = layout.units_per_page() * layout.planes;
        let units = (self.blocks.units.cache.dirty(list)).min(2 * page);
        let pages = (layout.units_per_program / page - units.div_ceil(page)) as usize;
        let job = self.jobs.new_program(lane, None);
        self.fill_from_cache(job, list, units);
        self.hold_lane(lane);
        let (candidate, moved) = self.blocks.pages_in_the_way(lane, level, pages);
        // Keeps the program from starting before all its reads are submitted.
        self.jobs.program(job).reads = 1;
        self.jobs.program(job).candidate = Some(candidate);
        for (word_line, bit) in moved {
            self.read_page_of(flash, lane, job, candidate, word_line, bit);
        }
        self.candidate_read_done(flash, lane, job);
    }

    /// Programs a page of `list` and two candidate pages on a normal block of a part that programs page by page.
    fn program_beside_candidate(&mut self, flash: &mut Flash, lane: Lane, level: u32, list: usize) {
        let layout = &self.blocks.layout;
        let along = (layout.programs_per_word_line - 1) as usize;
        let (candidate, moved) = self.blocks.pages_in_the_way(lane, level, along);
        let place = self.blocks.take_address(lane, Stream::HOST).expect("the lane has room");
        let job = self.jobs.new_program(lane, Some(place));
        self.fill_from_cache(job, list, self.blocks.layout.units_per_program);
        self.stamp_block(place.super_block, place.program == 0, job);
        self.start_host_job(flash, lane, job);
        for (word_line, bit) in moved {
            let job = self.jobs.new_program(lane, None);
            self.hold_lane(lane);
            self.jobs.program(job).reads = 1;
            self.jobs.program(job).candidate = Some(candidate);
            self.read_page_of(flash, lane, job, candidate, word_line, bit);
            self.candidate_read_done(flash, lane, job);
        }
    }

    /// Reads the valid units of a page of a reprogrammable word line, plane by plane, for `job`.
    fn read_page_of(
        &mut self,
        flash: &mut Flash,
        lane: Lane,
        job: JobId,
        super_block: SuperBlock,
        word_line: WordLineId,
        bit: Bit,
    ) {
        for of_plane in page_planes(&self.blocks.layout, word_line, bit) {
            let valid = |(u, offset)| u32::from(self.blocks.map().is_valid(super_block, offset)) << u;
            let mask: u32 = (0..).zip(of_plane.clone()).map(valid).sum();
            if mask == 0 {
                continue;
            }
            let first_ppu = self.blocks.layout.first_unit(super_block) + of_plane.start;
            let at = self.blocks.layout.place(first_ppu);
            let mut txn = Txn::new(Kind::GcRead, at.die);
            (txn.plane, txn.block, txn.page) = (at.plane as u8, at.block, at.page);
            txn.set_units(mask.count_ones());
            txn.set_cell_mode(self.blocks.cell_mode(super_block));
            let read = GcRead { lane, first_ppu, mask, purpose: Purpose::Program(job) };
            txn.set_owner(Owner::Gc(self.jobs.reads.insert(read)).into());
            self.jobs.program(job).reads += 1;
            flash.submit(txn);
        }
    }

    pub(crate) fn candidate_page_read(&mut self, flash: &mut Flash, read: &GcRead, job: JobId) {
        let UnitAt { super_block, offset } = self.blocks.layout.split(read.first_ppu);
        for u in 0..self.blocks.layout.units_per_page() {
            if read.mask >> u & 1 == 1 && self.blocks.map().is_valid(super_block, offset + u) {
                let ppu = read.first_ppu + u;
                let lpn = self.blocks.map().logical(ppu);
                self.jobs.program(job).moved.push(Relocation { lpn, source: ppu });
            }
        }
        self.candidate_read_done(flash, read.lane, job);
    }

    /// Counts down the reads of `job`; after the last one it is programmed once it has an address.
    fn candidate_read_done(&mut self, flash: &mut Flash, lane: Lane, job: JobId) {
        let of = self.jobs.program(job);
        of.reads -= 1;
        if of.reads > 0 {
            return;
        }
        if of.units() == 0 {
            // All units to relocate have been overwritten.
            self.drop_job(job);
        } else if !self.place_and_submit(flash, lane, job) {
            self.levels_mut().placeless.push((lane, job));
            self.wake_collector(flash);
        }
    }

    fn drop_job(&mut self, id: JobId) {
        let job = self.jobs.take_program(id);
        if let Some(candidate) = job.candidate {
            self.blocks.moved_out(job.lane, candidate);
        }
        self.lane_changed(job.lane);
        self.placement.give_back(job.lane);
        self.write_back.programs_in_flight -= 1;
        self.jobs.free_program(id, job);
    }

    /// Assigns `job`, whose data is complete, an address on a normal block and submits it; false if there is none.
    fn place_and_submit(&mut self, flash: &mut Flash, lane: Lane, job: JobId) -> bool {
        let Some(place) = self.blocks.take_address(lane, Stream::HOST) else { return false };
        let layout = &self.blocks.layout;
        let page = layout.units_per_page() * layout.planes;
        let of = self.jobs.program(job);
        of.place = Some(place);
        let moved = (of.moved.len() as u32).div_ceil(page);
        let counters = &mut self.blocks.counters;
        counters.consumed_host_pages -= u64::from(moved * layout.planes);
        counters.consumed_early_pages += u64::from(moved * layout.planes);
        self.stamp_block(place.super_block, place.program == 0, job);
        self.submit_host_job(flash, lane, job);
        true
    }

    fn start_host_job(&mut self, flash: &mut Flash, lane: Lane, job: JobId) {
        self.hold_lane(lane);
        self.submit_host_job(flash, lane, job);
    }

    /// Notes the assignments of `job` and submits its program.
    fn submit_host_job(&mut self, flash: &mut Flash, lane: Lane, job: JobId) {
        let place = self.jobs.program(job).place.expect("the job has a place");
        let first = self.blocks.layout.first_unit(place.super_block);
        let host = self.jobs.program(job).slots.len();
        for k in 0..self.jobs.program(job).units() {
            let of = self.jobs.program(job);
            let lpn =
                if k < host { self.blocks.units.cache.lpn(of.slots[k]) } else { of.moved[k - host].lpn };
            let offset = place.offset(&self.blocks.layout, k as u32);
            self.blocks.units.assign(first + offset, lpn);
        }
        let waits =
            place.reprogram.is_some() && self.metadata.is_some() && self.journal(flash, Then::Reprogram(job));
        if !waits {
            self.submit_program(flash, Kind::HostProgram, lane, job);
        }
        self.advance_gc(flash, lane);
    }
}
