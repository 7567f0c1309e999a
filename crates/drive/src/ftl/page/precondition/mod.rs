//! Preconditioner: the FTL's own steps without simulated time.
//!
//! Placement, invalidation, victim choice and erase are the functions that simulated time uses. Look-ups dominate the cost,
//! so they are prefetched.

mod lpn_assignment;
pub(crate) mod positions;
mod row_fill;
mod translation_pages;
mod uniform_overwrites;
pub(crate) mod valid_sampling;

use crate::ftl::layout::UnitAt;
use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::blocks::program_address::ProgramAddress;
use crate::ftl::page::blocks::write_streams::Stream;
use crate::ftl::page::gc::untimed::UntimedCollector;
use crate::ftl::page::mapping::table::Where;
use crate::ftl::page::placement::stripe::Stripe;
use crate::ftl::page::precondition::positions::{Followed, Positions};
use crate::numbers::{Lane, Lpn};
use interpulse_flash::cell_mode::CellMode;

pub use uniform_overwrites::Draws;

/// Prefetch distance in writes for map entries; their targets are prefetched at half of it.
const AHEAD: usize = 64;

enum Rows {
    /// Whole rows up to this unit.
    UpTo(Lpn),
    /// No rows: a program operation or a page is partly filled.
    Begun,
    /// No rows now or later in this fill.
    None,
}

/// Program operation being filled unit by unit.
#[derive(Clone, Copy)]
struct Partial {
    place: ProgramAddress,
    filled: u32,
}

impl Partial {
    #[inline]
    fn next(&self) -> UnitAt {
        UnitAt { super_block: self.place.super_block, offset: self.place.first_offset + self.filled }
    }
}

/// Fills the host blocks of a fresh FTL's lanes to different levels by programs without data. Round-robin writes would
/// otherwise make all lanes open blocks and collect garbage at the same instants.
fn stagger(ftl: &mut BlockManager) {
    let (lanes, programs) = (u64::from(ftl.layout.lanes), u64::from(ftl.layout.programs_per_block));
    for lane in Lane::first(ftl.layout.lanes) {
        for _ in 0..u64::from(lane.0) * programs / lanes {
            let place = ftl.take_address(lane, Stream::HOST).expect("a fresh lane has blocks");
            ftl.counters.padding_units += u64::from(ftl.layout.units_per_program);
            ftl.program_done(place.super_block);
        }
    }
}

/// Preconditioner of an FTL, without simulated time.
pub struct Preconditioner<'a> {
    ftl: &'a mut BlockManager,
    stripe: Option<Stripe>,
    partial: Vec<[Option<Partial>; 2]>,
    next_lane: Lane,
    moved: Vec<Lpn>,
    /// Victims held by collection, by lane; empty where collection holds none.
    collectors: Vec<UntimedCollector>,
    /// Overwrites have been made whose logical units are not yet assigned.
    unassigned: bool,
}

impl<'a> Preconditioner<'a> {
    /// Starts on `ftl`; `stripe` or round-robin order distributes writes.
    pub fn new(ftl: &'a mut BlockManager, stripe: Option<Stripe>) -> Self {
        stagger(ftl);
        Preconditioner::resume(ftl, stripe)
    }

    /// Continues on `ftl`, which has been written before.
    pub(crate) fn resume(ftl: &'a mut BlockManager, stripe: Option<Stripe>) -> Self {
        let lanes = ftl.layout.lanes as usize;
        let native = |stream| ftl.streams.spec(stream).mode == CellMode::Native;
        assert!(native(Stream::HOST) && native(Stream::GC), "a preconditioned state is native");
        let partial = vec![[None; 2]; lanes];
        Preconditioner {
            ftl,
            stripe,
            partial,
            next_lane: Lane(0),
            moved: Vec::new(),
            collectors: Vec::new(),
            unassigned: false,
        }
    }

    /// Makes collection hold one victim per lane, as in simulated time. Otherwise victims are erased as soon as they are
    /// chosen, as formulas for write amplification assume.
    pub fn working_ahead(mut self) -> Self {
        self.collectors = self.partial.iter().map(|_| UntimedCollector::default()).collect();
        self
    }

    /// Writes from now on one program operation at a time to the lanes in turn, as dynamic allocation does.
    pub fn forget_stripe(&mut self) {
        self.stripe = None;
    }

    /// Writes the logical units `from..to` in order, in rows over all lanes where possible, otherwise one program operation
    /// at a time. Returns the number of such runs, all rows together counting as one.
    pub fn write_in_order(&mut self, from: Lpn, to: Lpn) -> u64 {
        let (mut next, mut runs, mut may_have_rows) = (from, 0, true);
        while next < to {
            runs += 1;
            if may_have_rows {
                let rows = self.write_rows(next, to);
                may_have_rows = matches!(rows, Rows::Begun);
                if let Rows::UpTo(end) = rows {
                    next = end;
                    continue;
                }
            }
            next = next + self.write_run(next, to.0 - next.0);
        }
        runs
    }

    /// Writes up to `most` logical units from `lpn` on to one program operation; returns how many.
    fn write_run(&mut self, lpn: Lpn, most: u32) -> u32 {
        let lane = self.lane_for(lpn);
        // Only the first unit is invalidated before the room check, as in a write of one unit.
        self.forget(lpn, 1);
        debug_assert!(!self.unassigned, "overwritten units are assigned first");
        let partial = self.partial(lane, Stream::HOST);
        let together = self.stripe.as_ref().map_or(most, |stripe| stripe.rest_of_page(lpn));
        let count = most.min(together).min(self.ftl.layout.units_per_program - partial.filled);
        self.forget(lpn + 1, count - 1);
        let offset = partial.place.first_offset + partial.filled;
        self.ftl.write_run(lpn, count, partial.place.super_block, offset);
        self.advance(lane, Stream::HOST, partial, count);
        self.ftl.counters.host_units += u64::from(count);
        count
    }

    /// Invalidates the flash copies of `count` logical units from `lpn` on.
    fn forget(&mut self, lpn: Lpn, count: u32) {
        if self.ftl.map().are_nowhere(lpn, count) {
            return;
        }
        for lpn in lpn.until(lpn + count) {
            if let Where::Flash(ppu) = self.ftl.map().get(lpn) {
                self.ftl.forget_flash(ppu);
            }
        }
    }

    /// Writes the logical units `from..to` in order, each once and again while `again` returns true, so that the same share
    /// of programmed data is stale in each block at random.
    pub fn write_repeatedly(&mut self, from: Lpn, to: Lpn, mut again: impl FnMut() -> bool) {
        for lpn in from.until(to) {
            self.write(lpn);
            while again() {
                self.write(lpn);
            }
        }
    }

    /// Writes each of these logical units once.
    pub(crate) fn write_each(&mut self, lpns: &[Lpn]) {
        lpns.iter().for_each(|&lpn| self.write(lpn));
    }

    /// Makes `count` writes to the addresses that `next` returns.
    pub fn overwrite(&mut self, count: u64, mut next: impl FnMut() -> Lpn) {
        let mut ring = [Lpn(0); AHEAD];
        let mut made: u64 = 0;
        for step in 0..count + AHEAD as u64 {
            if step < count {
                let lpn = next();
                let due = std::mem::replace(&mut ring[(step % AHEAD as u64) as usize], lpn);
                self.ftl.map().prefetch(lpn);
                if step < AHEAD as u64 {
                    continue;
                }
                let soon = ring[((step + AHEAD as u64 / 2) % AHEAD as u64) as usize];
                if let Where::Flash(ppu) = self.ftl.map().get(soon) {
                    let UnitAt { super_block: block, offset } = self.ftl.layout.split(ppu);
                    self.ftl.map().prefetch_valid(block, offset);
                }
                self.write(due);
                made += 1;
            } else if made < count {
                let due = ring[(step % AHEAD as u64) as usize];
                if step >= AHEAD as u64 {
                    self.write(due);
                    made += 1;
                }
            }
        }
    }

    /// Ends preconditioning: writes the translation pages and closes partly filled program operations.
    pub fn finish(mut self) {
        assert!(!self.unassigned, "overwritten units are assigned first");
        self.write_all_translation_pages();
        self.close();
    }

    /// Closes partly filled program operations.
    pub(crate) fn close(mut self) {
        for lane in 0..self.partial.len() {
            for stream in [Stream::HOST, Stream::GC] {
                if let Some(p) = self.partial[lane][stream.index()].take() {
                    let unused = self.ftl.layout.units_per_program - p.filled;
                    self.ftl.counters.padding_units += u64::from(unused);
                    self.ftl.program_done(p.place.super_block);
                }
            }
        }
    }

    /// Host and GC units written so far.
    pub fn written(&self) -> (u64, u64) {
        (self.ftl.counters.host_units, self.ftl.counters.gc_units)
    }

    #[inline]
    fn write(&mut self, lpn: Lpn) {
        debug_assert!(!self.unassigned, "overwritten units are assigned first");
        let lane = self.lane_for(lpn);
        if let Where::Flash(ppu) = self.ftl.map().get(lpn) {
            self.ftl.forget_flash(ppu);
        }
        self.place(lane, Stream::HOST, lpn, &mut Followed);
        self.ftl.counters.host_units += 1;
    }

    #[inline]
    fn lane_for(&mut self, lpn: Lpn) -> Lane {
        match &self.stripe {
            Some(stripe) => {
                let lane = stripe.lane(lpn);
                if self.partial[lane.index()][Stream::HOST.index()].is_none() {
                    self.make_room(lane, &mut Followed);
                }
                lane
            }
            None => {
                if self.partial[self.next_lane.index()][Stream::HOST.index()].is_none() {
                    self.choose_lane(&mut Followed);
                }
                self.next_lane
            }
        }
    }

    fn choose_lane(&mut self, positions: &mut impl Positions) {
        let lanes = self.ftl.layout.lanes;
        for overfull in [false, true] {
            for _ in 0..lanes {
                self.next_lane = if self.next_lane.0 + 1 >= lanes { Lane(0) } else { self.next_lane + 1 };
                if (overfull || self.ftl.accepts_writes(self.next_lane))
                    && self.make_room(self.next_lane, positions)
                {
                    return;
                }
            }
        }
        panic!("no lane has room for host data: the capacity checks let an impossible drive pass");
    }

    /// Collects garbage up to the thresholds; returns whether the lane then has room for host data.
    fn make_room(&mut self, lane: Lane, positions: &mut impl Positions) -> bool {
        match self.collectors.get_mut(lane.index()) {
            Some(hand) => hand.collect(self.ftl, lane, positions),
            None => while self.ftl.wants_gc(lane) && self.collect(lane, positions) {},
        }
        self.ftl.has_room(lane, Stream::HOST)
    }

    #[inline]
    fn place(&mut self, lane: Lane, stream: Stream, lpn: Lpn, positions: &mut impl Positions) {
        let partial = self.partial(lane, stream);
        positions.settle(self.ftl, partial.place.super_block);
        positions.write(self.ftl, lpn, partial.next());
        self.advance(lane, stream, partial, 1);
    }

    /// Program operation of `stream` on `lane` being filled, or a new one.
    #[inline]
    fn partial(&mut self, lane: Lane, stream: Stream) -> Partial {
        self.partial[lane.index()][stream.index()].unwrap_or_else(|| {
            let place = self.ftl.take_address(lane, stream);
            let place = place.expect("the thresholds leave garbage collection a block to work with");
            Partial { place, filled: 0 }
        })
    }

    /// Accounts for `count` further units of that operation.
    #[inline]
    fn advance(&mut self, lane: Lane, stream: Stream, mut partial: Partial, count: u32) {
        partial.filled += count;
        let full = partial.filled == self.ftl.layout.units_per_program;
        self.partial[lane.index()][stream.index()] = (!full).then_some(partial);
        if full {
            self.ftl.program_done(partial.place.super_block);
        }
    }

    /// Empties one victim of `lane`; false if no block is worth it.
    fn collect(&mut self, lane: Lane, positions: &mut impl Positions) -> bool {
        let victim = self.ftl.choose_victim(lane).or_else(|| self.ftl.take_borrowed_slc(lane));
        let Some(victim) = victim else { return false };
        let mut moved = std::mem::take(&mut self.moved);
        moved.clear();
        positions.uncover(self.ftl, victim);
        self.ftl.units.take_all(&self.ftl.layout, victim, &mut moved);
        positions.taken(victim);
        for i in 0..moved.len() {
            if let Some(&ahead) = moved.get(i + 16) {
                self.ftl.map().prefetch(ahead);
            }
            self.place(lane, Stream::GC, moved[i], positions);
        }
        self.ftl.counters.gc_units += moved.len() as u64;
        self.moved = moved;
        self.ftl.erased(victim);
        true
    }
}
