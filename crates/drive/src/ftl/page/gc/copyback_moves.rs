//! Copyback: garbage collection and folding move whole pages inside their planes.
//!
//! A page without a stale unit waits, on its plane, until every plane of the lane has as many as a program takes. Then the dies
//! copy them. All other pages go through the controller: those with a stale unit, which a copy would move as well; those at the
//! limit of successive copybacks; those that are left over at the end of a victim. So no move waits for pages of its plane.

use super::collector::set_bits;
use super::state::Victim;
use crate::ftl::flash::Flash;
use crate::ftl::layout::UnitAt;
use crate::ftl::page::blocks::program_address::ProgramAddress;
use crate::ftl::page::mapping::relocation::Relocation;
use crate::ftl::page::page_ftl::PageFtl;
use crate::ftl::page::write_back::in_flight::ProgramInFlight;
use crate::numbers::{Lane, Ppu};
use crate::owner::Owner;
use interpulse_flash::cell_mode::CellMode;
use interpulse_flash::nand::copyback::Source;
use interpulse_flash::nand::txn::Kind;

impl PageFtl {
    /// Pages of `lane` that wait to be copied.
    #[inline(always)]
    pub(super) fn copies_waiting(&self, lane: Lane) -> u32 {
        self.copyback.as_deref().map_or(0, |of| of.waiting(lane))
    }

    /// Queues the page before the next one of `victim` for a copyback if all its units are valid (`mask`) and it may be copied.
    #[cold]
    #[inline(never)]
    pub(super) fn copies(&mut self, lane: Lane, victim: Victim, mask: u32) -> bool {
        // A rewrite is to correct errors.
        let rewrites = self.collection.lanes[lane.index()].rewriting;
        let page = self.blocks.layout.units_per_page();
        if set_bits(mask) < page || rewrites || victim.apart || !self.has_room_for_copies(lane, page) {
            return false;
        }
        let copyback = self.copyback.as_deref_mut().expect("the caller has looked");
        let layout = &self.blocks.layout;
        let ppu = layout.first_unit(victim.super_block) + victim.next_offset;
        if copyback.generations[copyback.page(ppu)] >= copyback.limit {
            self.blocks.counters.copyback_fallbacks += 1;
            return false;
        }
        let plane = layout.place(ppu).plane - layout.die_of(lane).1;
        copyback.lanes[lane.index()].0[plane as usize].push_back(ppu);
        true
    }

    /// Programs pages of `lane` by copyback as far as programs may begin; returns whether some wait.
    #[cold]
    #[inline(never)]
    pub(super) fn program_copies(&mut self, flash: &mut Flash, lane: Lane) -> bool {
        self.read_stale_copies(flash, lane);
        if !self.has_room_for_copies(lane, 0) {
            self.read_copies_beyond(flash, lane, 0);
        }
        while self.copyback_of(lane).0 > 0
            && self.collection.lanes[lane.index()].programs < self.collection.depth
            && self.program_copy(flash, lane)
        {
            self.read_stale_copies(flash, lane);
        }
        self.copyback_of(lane).1 > 0
    }

    /// Whether all units of `lane` that are to be moved, and `more`, have room. If not, they need the block that the first of
    /// several victims frees, and go through the controller in the order of their reads.
    fn has_room_for_copies(&self, lane: Lane, more: u32) -> bool {
        let units = self.unplaced(lane) + more;
        units.next_multiple_of(self.blocks.gc_capacity.program) <= self.blocks.gc_room(lane)
    }

    /// Programs of `lane` that have all their pages, and pages that wait.
    fn copyback_of(&self, lane: Lane) -> (usize, u32) {
        let copyback = self.copyback.as_ref().expect("the caller has looked");
        (copyback.ready(lane), copyback.waiting(lane))
    }

    /// Pages in which a unit has been overwritten since go through the controller.
    fn read_stale_copies(&mut self, flash: &mut Flash, lane: Lane) {
        let copyback = self.copyback.as_deref_mut().expect("the caller has looked");
        let (layout, map, page) = (&self.blocks.layout, self.blocks.map(), copyback.units_per_page);
        let whole = |&ppu: &Ppu| {
            let UnitAt { super_block, offset } = layout.split(ppu);
            set_bits(map.valid_among(super_block, offset, page)) == page
        };
        let mut stale = Vec::new();
        for plane in &mut copyback.lanes[lane.index()].0 {
            stale.extend(plane.iter().copied().filter(|ppu| !whole(ppu)));
            plane.retain(whole);
        }
        stale.into_iter().for_each(|ppu| self.read_copy(flash, lane, ppu));
    }

    /// The last victim has been looked through: pages that fill no program go through the controller.
    #[cold]
    #[inline(never)]
    pub(super) fn read_last_copies(&mut self, flash: &mut Flash, lane: Lane) {
        let ready = self.copyback_of(lane).0;
        self.read_copies_beyond(flash, lane, ready);
    }

    /// Pages beyond those of the next `ready` programs go through the controller, as far as reads may begin.
    fn read_copies_beyond(&mut self, flash: &mut Flash, lane: Lane, ready: usize) {
        let most = 2 * self.collection.depth;
        for plane in 0..self.blocks.layout.planes as usize {
            while self.collection.lanes[lane.index()].reads < most {
                let copyback = self.copyback.as_deref_mut().expect("the caller has looked");
                let waiting = &mut copyback.lanes[lane.index()].0[plane];
                if waiting.len() <= ready * copyback.pages_per_program {
                    break;
                }
                let ppu = waiting.pop_back().expect("the plane has such a page");
                self.read_copy(flash, lane, ppu);
            }
        }
    }

    /// Reads what is valid of a page that was to be copied.
    fn read_copy(&mut self, flash: &mut Flash, lane: Lane, ppu: Ppu) {
        let page = self.blocks.layout.units_per_page();
        let UnitAt { super_block, offset } = self.blocks.layout.split(ppu);
        let mask = self.blocks.map().valid_among(super_block, offset, page);
        self.blocks.counters.copyback_fallbacks += 1;
        if mask != 0 {
            self.read_victim_page(flash, lane, Victim::new(super_block, false), offset, mask);
        }
        self.units_settled(flash, lane, super_block, page - set_bits(mask));
    }

    /// Submits the next copyback of `lane`, whose pages are there; false if the lane has no address for it.
    fn program_copy(&mut self, flash: &mut Flash, lane: Lane) -> bool {
        let Some(place) = self.blocks.take_address(lane, self.gc_stream(lane)) else { return false };
        debug_assert_eq!(place.mode, CellMode::Native, "moved data goes to native blocks");
        let job = self.jobs.new_program(lane, Some(place));
        let copyback = self.copyback.as_deref_mut().expect("the caller has looked");
        let (pages, page) = (copyback.pages_per_program, copyback.units_per_page);
        let of = &mut copyback.lanes[lane.index()].0;
        let taken: Vec<Ppu> = of.iter_mut().flat_map(|plane| plane.drain(..pages)).collect();
        if place.program == 0 {
            let from = self.blocks.layout.block_of(taken[0]);
            self.blocks.units.inherit_stamp(place.super_block, from);
        }
        let map = self.blocks.map();
        let program = self.jobs.program(job);
        program.copyback = true;
        program.moved.extend(taken.iter().flat_map(|&first| {
            (0..page)
                .map(move |unit| first + unit)
                .map(|source| Relocation { lpn: map.logical(source), source })
        }));
        let first = self.blocks.layout.first_unit(place.super_block);
        for run in place.runs(&self.blocks.layout, program.moved.len()) {
            for (i, unit) in (run.offset..).zip(&program.moved[run.units]) {
                self.blocks.units.assign(first + i, unit.lpn);
            }
        }
        let source = |&ppu: &Ppu| {
            let at = self.blocks.layout.place(ppu);
            let mode = self.blocks.cell_mode(self.blocks.layout.block_of(ppu));
            Source { block: at.block, page: at.page, mode }
        };
        let sources: Vec<Source> = taken.iter().map(source).collect();
        self.blocks.counters.copyback_units += (taken.len() as u32 * page) as u64;
        self.gc_program_begins(job);
        self.collection.lanes[lane.index()].programs += 1;
        self.window.count();
        let txn = self.program_txn(Kind::GcProgram, lane, job, Owner::Program(job));
        flash.submit_copyback(txn, &sources);
        true
    }

    /// The data of a copyback has been copied once more.
    #[cold]
    pub(super) fn copies_programmed(&mut self, job: &ProgramInFlight, place: &ProgramAddress) {
        let copyback = self.copyback.as_deref_mut().expect("a copyback has ended");
        let layout = &self.blocks.layout;
        for k in (0..job.moved.len()).step_by(copyback.units_per_page as usize) {
            let (from, to) = (copyback.page(job.moved[k].source), layout.unit(place.unit(layout, k as u32)));
            let to = copyback.page(to);
            copyback.generations[to] = copyback.generations[from].saturating_add(1);
        }
    }
}
