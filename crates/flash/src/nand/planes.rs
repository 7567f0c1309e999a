//! Planes of the dies that read on their own: their reads, and the time they have spent.

use super::power::tally::Tally;
use super::sequence::NEVER;
use super::txn::{Slab, Txn};
use crate::command::EnergyCategory;
use crate::geometry::Geometry;
use crate::ids::TxnId;
use crate::parts::power::Draw;
use interpulse_engine::{Duration, SimTime};

/// Step of a plane's read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    CommandWait,
    Senses,
    /// Predicts whether what it sensed can be corrected.
    Predicts,
    OutWait,
    Moves,
}

/// One plane.
#[derive(Clone, Copy)]
pub(super) struct Plane {
    /// Its read, or [`TxnId::NONE`].
    pub(super) id: TxnId,
    pub(super) step: Step,
    /// When the sensing or transfer under way begins (behind its command); [`NEVER`] without one.
    pub(super) from: SimTime,
    /// Times that the sensing has been repeated.
    pub(super) repeats: u8,
    /// The sensing is taken for uncorrectable.
    pub(super) fails: bool,
}

impl Plane {
    pub(super) fn draw(&self, txn: &Txn, pages_per_word_line: u32) -> Draw {
        match self.step {
            Step::Senses => Draw::sense((txn.page % pages_per_word_line) as usize),
            Step::Moves => Draw::Out,
            Step::CommandWait | Step::Predicts | Step::OutWait => Draw::Idle,
        }
    }
}

pub(super) const IDLE: Plane =
    Plane { id: TxnId::NONE, step: Step::CommandWait, from: NEVER, repeats: 0, fails: false };

/// The planes that read on their own; empty if the part has none.
#[derive(Clone)]
pub(super) struct PlaneReads {
    /// Planes of a die.
    pub(super) planes: usize,
    /// Of every die, one after the other.
    of: Vec<Plane>,
    /// Of each die: planes that read, and the instant up to which their time is booked.
    pub(super) dies: Vec<(u64, SimTime)>,
}

impl PlaneReads {
    pub(super) fn new(geometry: &Geometry) -> PlaneReads {
        let dies = if geometry.independent_plane_reads { geometry.dies() as usize } else { 0 };
        let planes = geometry.planes as usize;
        PlaneReads { planes, of: vec![IDLE; dies * planes], dies: vec![(0, SimTime::ZERO); dies] }
    }

    /// Timers needed.
    pub(super) fn timers(geometry: &Geometry) -> u32 {
        if geometry.independent_plane_reads { geometry.dies() * geometry.planes } else { 0 }
    }

    /// Cuts the power: no plane reads.
    pub(super) fn outage(&mut self) {
        self.of.fill(IDLE);
        self.dies.fill((0, SimTime::ZERO));
    }

    #[inline]
    pub(super) fn plane(&mut self, d: usize, plane: u8) -> &mut Plane {
        &mut self.of[d * self.planes + usize::from(plane)]
    }

    /// The planes of die `d` that read.
    pub(super) fn reading(&self, d: usize) -> impl Iterator<Item = &Plane> {
        self.of[d * self.planes..][..self.planes].iter().filter(|plane| plane.id != TxnId::NONE)
    }

    /// The plane of die `d` whose sensing or transfer began first; if there is none, the first that reads.
    pub(super) fn leading(&self, d: usize) -> Option<&Plane> {
        self.reading(d).min_by_key(|plane| plane.from)
    }

    /// What the planes of die `d` have done since it was last booked. The leading plane has been at it for all the time that
    /// any has. A word line has `pages` pages.
    pub(super) fn spans(
        &self,
        txns: &Slab,
        pages: u32,
        now: SimTime,
        d: usize,
    ) -> impl Iterator<Item = Span> {
        let booked = self.dies[d].1;
        let leading = self.leading(d).map(|plane| plane.id);
        self.reading(d).filter(move |plane| plane.from < now).map(move |plane| {
            let txn = txns.get(plane.id);
            let (category, draw) = (txn.kind.command().category, plane.draw(txn, pages));
            let time = now.since(plane.from.max(booked));
            Span { category, draw, time, leads: Some(plane.id) == leading }
        })
    }
}

/// Time for which a plane sensed or moved data.
pub(super) struct Span {
    category: EnergyCategory,
    draw: Draw,
    time: Duration,
    leads: bool,
}

impl Span {
    pub(super) fn book(self, tally: &mut Tally) {
        tally.book_plane(self.category, self.draw, self.time, self.leads);
    }
}
