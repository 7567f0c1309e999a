//! Which lane takes the next program of host data.

use super::tables::{Stream, Tables};
use crate::numbers::Lane;

/// The lanes without a host program.
pub(super) struct Placement {
    /// One bit each.
    pub(super) ready: Vec<u64>,
    lanes: u32,
    next: u32,
}

impl Placement {
    pub(super) fn new(lanes: u32) -> Placement {
        let mut placement = Placement { ready: vec![0; lanes.div_ceil(64) as usize], lanes, next: 0 };
        placement.reset();
        placement
    }

    /// All lanes are without a program, the first one is the next.
    pub(super) fn reset(&mut self) {
        self.ready.fill(u64::MAX);
        if !self.lanes.is_multiple_of(64) {
            *self.ready.last_mut().expect("there is a lane") = (1 << (self.lanes % 64)) - 1;
        }
        self.next = 0;
    }

    /// Whether `lane` has no host program under way.
    #[inline]
    pub(super) fn is_free(&self, lane: Lane) -> bool {
        self.ready[(lane.0 / 64) as usize] >> (lane.0 % 64) & 1 != 0
    }

    /// A host program is under way on `lane`.
    #[inline]
    pub(super) fn take(&mut self, lane: Lane) {
        self.ready[(lane.0 / 64) as usize] &= !(1 << (lane.0 % 64));
    }

    /// `lane` has no host program any more.
    #[inline]
    pub(super) fn give_back(&mut self, lane: Lane) {
        self.ready[(lane.0 / 64) as usize] |= 1 << (lane.0 % 64);
    }

    /// Whether `lane` is free and has a place for host data; without addresses (`imposed`) every lane has one.
    #[inline]
    pub(super) fn is_ready(&self, tables: &Tables, lane: Lane, imposed: bool) -> bool {
        self.is_free(lane) && (imposed || tables.has_place(lane, Stream::Host))
    }

    /// The next lane in turn that has no host program and can take one; with nothing in flight any lane that has a place
    /// must do.
    #[inline]
    pub(super) fn next_ready(
        &mut self,
        tables: &Tables,
        imposed: bool,
        nothing_in_flight: bool,
    ) -> Option<Lane> {
        let words = self.ready.len();
        let (start_word, start_bit) = ((self.next / 64) as usize, self.next % 64);
        for step in 0..=words {
            let w = (start_word + step) % words;
            let mut bits = self.ready[w];
            if step == 0 {
                bits &= u64::MAX << start_bit;
            } else if step == words {
                bits &= !(u64::MAX << start_bit);
            }
            while bits != 0 {
                let lane = Lane(w as u32 * 64 + bits.trailing_zeros());
                let welcome = tables.welcomes(lane) || nothing_in_flight;
                if welcome && self.is_ready(tables, lane, imposed) {
                    self.next = if lane.0 + 1 == self.lanes { 0 } else { lane.0 + 1 };
                    return Some(lane);
                }
                bits &= bits - 1;
            }
        }
        None
    }
}
