//! Collection by handle: each persistently isolated handle has its own relocation stream, whose units a lane gathers apart.
//!
//! A lane reads victims of one stream at a time. The units gathered for the others are parked until a victim of theirs is
//! read, or until space is so short that no victim fits: then they are programmed although they do not fill a program.

use crate::ftl::flash::Flash;
use crate::ftl::page::blocks::write_streams::Stream;
use crate::ftl::page::gc::destination::Destination;
use crate::ftl::page::page_ftl::PageFtl;
use crate::ftl::page::placement::handles::Handles;
use crate::ftl::page::write_back::in_flight::ProgramInFlight;
use crate::numbers::{JobId, Lane, SuperBlock};

impl Handles {
    pub(super) fn parked_at(&self, lane: Lane, stream: Stream) -> usize {
        lane.index() * (self.parked.len() / self.current.len()) + stream.index()
    }

    /// Stream that `lane` gathers units for.
    #[inline]
    pub(crate) fn gathers_for(&self, lane: Lane) -> Stream {
        self.current[lane.index()]
    }

    /// Whether `lane` has units parked.
    fn has_parked(&self, lane: Lane) -> bool {
        self.streams.iter().any(|&stream| !self.parked[self.parked_at(lane, stream)].is_empty())
    }
}

/// Each persistently isolated handle has a relocation stream; the other handles share one.
pub(crate) struct ByHandle;

impl Destination for ByHandle {
    fn fits(ftl: &PageFtl, lane: Lane, victim: SuperBlock) -> bool {
        ftl.fits_by_handle(lane, victim)
    }

    fn victim_begins(ftl: &mut PageFtl, lane: Lane, victim: SuperBlock) {
        ftl.turn_to(lane, victim);
    }

    fn program_rest(ftl: &mut PageFtl, flash: &mut Flash, lane: Lane) {
        ftl.program_parked(flash, lane);
    }

    #[inline]
    fn stream(ftl: &PageFtl, lane: Lane) -> Stream {
        ftl.handles().gathers_for(lane)
    }

    fn program_begins(ftl: &mut PageFtl, job: JobId) {
        let handles = ftl.handles.as_deref_mut().expect("the drive has handles");
        let job = ftl.jobs.program(job);
        let place = job.place.expect("moved data has a place");
        handles.relocation_program(&ftl.blocks.layout, job.lane, &place, &job.moved);
    }

    fn program_committed(ftl: &mut PageFtl, _flash: &mut Flash, job: &ProgramInFlight) {
        let padding = job.padding(&ftl.blocks.layout);
        let place = job.place.expect("moved data has a place");
        let handles = ftl.handles.as_deref_mut().expect("the drive has handles");
        handles.relocation_program_done(&ftl.blocks.layout, &place, &job.moved, padding);
    }

    fn diagnosis(ftl: &PageFtl, lane: Lane) -> String {
        ftl.handles().diagnosis(&ftl.blocks, lane)
    }
}

impl PageFtl {
    /// Whether the valid units of `victim` fit: the units that wait for each stream, with those of `victim`, fit the open blocks of the
    /// streams and the free blocks that host data may not take.
    #[cold]
    fn fits_by_handle(&self, lane: Lane, victim: SuperBlock) -> bool {
        let (handles, layout) = (self.handles(), &self.blocks.layout);
        let gc = &self.collection.lanes[lane.index()];
        let (program, block) = (self.blocks.gc_capacity.program, self.blocks.gc_capacity.block);
        let (current, stream) = (handles.gathers_for(lane), handles.relocation_of(victim));
        if stream != current && (gc.reads > 0 || gc.relocating.len() as u32 >= program) {
            return false;
        }
        let needed = handles.streams.iter().map(|&of| {
            let waiting = if of == current {
                gc.relocating.len() as u32 + gc.reads * layout.units_per_page()
            } else {
                handles.parked[handles.parked_at(lane, of)].len() as u32
            };
            let units = waiting + if of == stream { self.blocks.map().valid_units(victim) } else { 0 };
            units.next_multiple_of(program).saturating_sub(self.blocks.open_room(lane, of)).div_ceil(block)
        });
        let needed: u32 = needed.sum();
        let free = self.blocks.free_blocks(lane);
        // As in `fits`, but a victim with units for another stream frees no block before these units go first.
        let frees = || gc.victims.iter().any(|victim| self.frees(victim.super_block));
        let first = stream == current && frees() && !handles.has_parked(lane);
        let coming = gc.reads == 0 && (gc.erasing > 0 || first);
        let hard = self.blocks.config().hard_free;
        needed <= free.min(hard) + u32::from(coming && free < hard)
    }

    /// Gathers for the stream of `victim`, whose reads begin; parks the units of another stream.
    #[cold]
    fn turn_to(&mut self, lane: Lane, victim: SuperBlock) {
        let moves = self.blocks.map().valid_units(victim) > 0;
        let handles = self.handles_mut();
        handles.counters.events.media_reallocated += u64::from(moves);
        let stream = handles.relocation_of(victim);
        self.gather_for(lane, stream);
    }

    fn gather_for(&mut self, lane: Lane, stream: Stream) {
        let handles = self.handles.as_deref_mut().expect("the drive has handles");
        let relocating = &mut self.collection.lanes[lane.index()].relocating;
        let current = std::mem::replace(&mut handles.current[lane.index()], stream);
        if current != stream {
            let (old, new) = (handles.parked_at(lane, current), handles.parked_at(lane, stream));
            std::mem::swap(relocating, &mut handles.parked[old]);
            std::mem::swap(relocating, &mut handles.parked[new]);
        }
    }

    /// Programs parked units of `lane`, if nothing of its collection is in flight.
    #[cold]
    fn program_parked(&mut self, flash: &mut Flash, lane: Lane) {
        for k in 0..self.handles().streams.len() {
            let gc = &self.collection.lanes[lane.index()];
            if gc.reads > 0 || gc.programs > 0 {
                return;
            }
            let stream = self.handles().streams[k];
            if !self.handles().parked[self.handles().parked_at(lane, stream)].is_empty() {
                self.gather_for(lane, stream);
                self.program_gathered(flash, lane, 1);
            }
        }
    }

    pub(crate) fn handles(&self) -> &Handles {
        self.handles.as_deref().expect("the drive has handles")
    }

    pub(crate) fn handles_mut(&mut self) -> &mut Handles {
        self.handles.as_deref_mut().expect("the drive has handles")
    }
}
