//! Write-back through an SLC cache: the choice between SLC mode and a native block.

use crate::ftl::flash::Flash;
use crate::ftl::page::blocks::write_streams::Stream;
use crate::ftl::page::page_ftl::PageFtl;
use crate::ftl::page::slc::lists::SlcLists;
use crate::ftl::page::write_back::queues::HostLists;
use crate::numbers::Lane;
use interpulse_flash::cell_mode::CellMode;

impl PageFtl {
    /// Starts programs while there is enough dirty data for one and a lane is ready.
    pub(crate) fn destage_cached(&mut self, flash: &mut Flash, of: SlcLists) {
        if self.write_back.stripe.is_some() {
            self.destage_striped(flash, of);
            return;
        }
        for list in 0..of.count as usize {
            let worth = of.worth[usize::from(!of.is_cached(list))];
            while self.blocks.units.cache.dirty(list) >= worth || self.must_program_partly(list) {
                let cached = of.is_cached(list);
                let (blocks, idle) = (&self.blocks, self.write_back.programs_in_flight == 0);
                let room = |lane| cached && blocks.slc_has_room(lane) || blocks.has_room(lane, Stream::HOST);
                let Some(lane) = self.placement.next_ready(blocks, idle, room) else {
                    self.wake_collector(flash);
                    break;
                };
                if !self.program_from(flash, of, lane, list) {
                    break;
                }
            }
        }
    }

    fn destage_striped(&mut self, flash: &mut Flash, of: SlcLists) {
        for word in 0..self.write_back.full_lists.len() {
            let mut bits = self.write_back.full_lists[word];
            while bits != 0 {
                let list = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if self.blocks.units.cache.dirty(list) < self.write_back.worth_starting {
                    self.write_back.full_lists[word] &= !(1 << (list % 64));
                    continue;
                }
                let lane = of.lane(list);
                if self.placement.is_free(lane) && !self.takes(of, lane, list) {
                    self.wake_collector(flash);
                }
                while self.takes(of, lane, list) && self.program_from(flash, of, lane, list) {}
            }
        }
        if !self.is_urged() {
            return;
        }
        for list in 0..self.blocks.units.cache.lists() {
            let lane = of.lane(list);
            while self.must_program_partly(list)
                && self.takes(of, lane, list)
                && self.program_from(flash, of, lane, list)
            {}
        }
        self.wake_collector(flash);
    }

    /// Whether `lane` can take a program of `list` now.
    fn takes(&self, of: SlcLists, lane: Lane, list: usize) -> bool {
        self.placement.is_free(lane)
            && (of.is_cached(list) && self.blocks.slc_has_room(lane)
                || self.blocks.has_room(lane, Stream::HOST))
    }

    /// Programs units of `list` on `lane`, which can take them; false if they are too few for a program there.
    fn program_from(&mut self, flash: &mut Flash, of: SlcLists, lane: Lane, list: usize) -> bool {
        let dirty = self.blocks.units.cache.dirty(list);
        let slc = of.is_cached(list) && self.blocks.slc_has_room(lane);
        if dirty == 0 || dirty < of.worth[usize::from(!slc)] && !self.must_program_partly(list) {
            return false;
        }
        let stream = if slc {
            let stream = self.blocks.slc().expect("a list before an SLC cache").stream;
            self.blocks.open_slc(lane, stream);
            stream
        } else {
            if of.is_cached(list) {
                let units = self.blocks.capacity(Stream::HOST).program;
                self.blocks.slc_overflows(lane, units.min(dirty));
            }
            Stream::HOST
        };
        self.program_host(flash, lane, list, stream);
        true
    }

    /// Opens a super block of the cache for a program of `stream` on `lane`, or notes that these units find no room in it.
    pub(crate) fn enter_cache(&mut self, lane: Lane, stream: Stream, units: u32) {
        if self.blocks.slc().is_some_and(|slc| slc.streams().any(|of| of == stream)) {
            self.blocks.open_slc(lane, stream);
        } else if self.blocks.has_room(lane, stream) {
            self.blocks.slc_overflows(lane, units);
        }
    }

    /// Stream of the cache for data of `level`, a level of hotness or a placement handle; `None` if it is not admitted.
    pub(crate) fn slc_stream_of(&self, level: u32) -> Option<Stream> {
        let (slc, HostLists::ByClass(levels)) = (self.blocks.slc()?, &self.lists) else { return None };
        match &self.handles {
            Some(handles) => slc.by_handle[handles.groups.handle_of(level) as usize],
            None => (level + 1 < levels.count).then_some(slc.stream),
        }
    }

    /// Counts `units` of host data programmed in `mode`.
    pub(crate) fn count_cached(&mut self, mode: CellMode, units: u64) {
        let slc = self.blocks.slc.as_deref_mut().expect("the drive has an SLC cache");
        match mode {
            CellMode::Slc => slc.counters.slc_units += units,
            CellMode::Native | CellMode::Mlc => slc.counters.direct_units += units,
        }
    }
}
