//! Preconditioner: the FTL's own steps without simulated time.
//!
//! LaneSelector, invalidation, victim choice and erase are the functions that simulated time uses; only the
//! waiting in between is left out. Look-ups are software-pipelined because they are what it costs.

mod lpn_assignment;
pub(crate) mod positions;
mod row_fill;
mod uniform_overwrites;
pub(crate) mod valid_sampling;

use crate::ftl::page::blocks::layout::UnitAt;
use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::blocks::program_address::ProgramAddress;
use crate::ftl::page::blocks::write_streams::Stream;
use crate::ftl::page::gc::untimed::Hand;
use crate::ftl::page::mapping::table::Where;
use crate::ftl::page::placement::stripe::Stripe;
use crate::ftl::page::precondition::positions::{Followed, Positions};
use crate::numbers::{Lane, Lpn};

pub use uniform_overwrites::Draws;

/// PrefetchDistance of a write its map entry is fetched this many writes early, and what the entry points to half as
/// many.
const AHEAD: usize = 64;

/// What came of laying out rows.
enum Rows {
    /// Whole rows up to this unit.
    UpTo(Lpn),
    /// A program operation or a page has been begun: nothing yet.
    Begun,
    /// Nothing, and nothing after some more units either.
    None,
}

/// A program operation being filled unit by unit.
#[derive(Clone, Copy)]
struct Partial {
    place: ProgramAddress,
    filled: u32,
}

impl Partial {
    /// Where the next unit goes.
    #[inline]
    fn next(&self) -> UnitAt {
        UnitAt { super_block: self.place.super_block, offset: self.place.first_offset + self.filled }
    }
}

/// Lets the lanes of a fresh FTL fill their host blocks to different marks, by programs without data. Writes
/// go to all lanes in turn, so otherwise all of them would open a block, and collect garbage, at the same
/// instant for ever.
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

/// Writes to an FTL without simulated time.
pub struct Preconditioner<'a> {
    ftl: &'a mut BlockManager,
    stripe: Option<Stripe>,
    partial: Vec<[Option<Partial>; 2]>,
    next_lane: Lane,
    moved: Vec<Lpn>,
    /// What collection has in hand, lane by lane; empty where it holds nothing back.
    hands: Vec<Hand>,
    /// There are overwrites of which it is not known yet what they have overwritten.
    unassigned: bool,
}

impl<'a> Preconditioner<'a> {
    /// Starts on `ftl`; writes are spread by `stripe`, or over all lanes in turn.
    pub fn new(ftl: &'a mut BlockManager, stripe: Option<Stripe>) -> Self {
        let lanes = ftl.layout.lanes as usize;
        stagger(ftl);
        let partial = vec![[None; 2]; lanes];
        Preconditioner {
            ftl,
            stripe,
            partial,
            next_lane: Lane(0),
            moved: Vec::new(),
            hands: Vec::new(),
            unassigned: false,
        }
    }

    /// From now on collection is one victim ahead, as it is in simulated time; without, a victim is erased as soon as it is
    /// chosen, which is what formulas for write amplification assume.
    pub fn working_ahead(mut self) -> Self {
        self.hands = self.partial.iter().map(|_| Hand::default()).collect();
        self
    }

    /// Writes the logical units `from..to` in order, in rows over all lanes where that is possible, and else as far at a time as
    /// they go into one program operation: arithmetic says where each unit of such a run is. Returns how many runs that were,
    /// all rows together counting as one.
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

    /// Writes logical units from `lpn` on, `most` at most, to one program operation; returns how many.
    fn write_run(&mut self, lpn: Lpn, most: u32) -> u32 {
        let lane = self.lane_for(lpn);
        // Whether there is room is looked at with the map as it was before, but for the first unit: as in a write of one.
        self.forget(lpn, 1);
        debug_assert!(!self.unassigned, "what has been overwritten is dealt out first");
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

    /// What the `count` logical units from `lpn` on were is no longer valid.
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

    /// Writes the logical units `from..to` in order, each as many times in a row as `again` says yes, and once: of what is
    /// programmed the share with which it does so is out of date, block by block at random.
    pub fn write_repeatedly(&mut self, from: Lpn, to: Lpn, mut again: impl FnMut() -> bool) {
        for lpn in from.until(to) {
            self.write(lpn);
            while again() {
                self.write(lpn);
            }
        }
    }

    /// Makes `count` writes to the addresses that `next` gives.
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

    /// Ends preconditioning: partly filled program operations are closed.
    pub fn finish(mut self) {
        assert!(!self.unassigned, "what has been overwritten is dealt out first");
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
        debug_assert!(!self.unassigned, "what has been overwritten is dealt out first");
        let lane = self.lane_for(lpn);
        if let Where::Flash(ppu) = self.ftl.map().get(lpn) {
            self.ftl.forget_flash(ppu);
        }
        self.place(lane, Stream::HOST, lpn, &mut Followed);
        self.ftl.counters.host_units += 1;
    }

    /// The lane that host data of `lpn` goes to next, with room for it.
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

    /// Moves on to the next lane in turn that takes host data.
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

    /// Collects garbage as the thresholds ask; whether the lane then has a place for host data.
    fn make_room(&mut self, lane: Lane, positions: &mut impl Positions) -> bool {
        match self.hands.get_mut(lane.index()) {
            Some(hand) => hand.collect(self.ftl, lane, positions),
            None => while self.ftl.wants_gc(lane) && self.collect(lane, positions) {},
        }
        self.ftl.has_room(lane, Stream::HOST)
    }

    /// Puts `lpn` into the next unit of `stream` on `lane`.
    #[inline]
    fn place(&mut self, lane: Lane, stream: Stream, lpn: Lpn, positions: &mut impl Positions) {
        let partial = self.partial(lane, stream);
        positions.settle(self.ftl, partial.place.super_block);
        positions.write(self.ftl, lpn, partial.next());
        self.advance(lane, stream, partial, 1);
    }

    /// The program operation of `stream` on `lane` that is being filled, a new one if none is.
    #[inline]
    fn partial(&mut self, lane: Lane, stream: Stream) -> Partial {
        self.partial[lane.index()][stream.index()].unwrap_or_else(|| {
            let place = self.ftl.take_address(lane, stream);
            let place = place.expect("the thresholds leave garbage collection a block to work with");
            Partial { place, filled: 0 }
        })
    }

    /// `count` more units of that operation have been written.
    #[inline]
    fn advance(&mut self, lane: Lane, stream: Stream, mut partial: Partial, count: u32) {
        partial.filled += count;
        let full = partial.filled == self.ftl.layout.units_per_program;
        self.partial[lane.index()][stream.index()] = (!full).then_some(partial);
        if full {
            self.ftl.program_done(partial.place.super_block);
        }
    }

    /// Empties one victim of `lane`; false if there was none worth it.
    fn collect(&mut self, lane: Lane, positions: &mut impl Positions) -> bool {
        let Some(victim) = self.ftl.choose_victim(lane) else { return false };
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
