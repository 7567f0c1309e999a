//! Lane selector: the lane that takes the next host program.

use crate::ftl::page::blocks::manager::BlockManager;
use crate::numbers::Lane;

/// Lanes that may take a host program: idle ones, and with cache programming those with one program.
pub(crate) struct LaneSelector {
    ready: Vec<u64>,
    /// Number of ready lanes: mostly zero under load, which ends the search early.
    ready_lanes: u32,
    /// Lanes with one program that may queue another; zero unless dies load ahead.
    behind: Vec<u64>,
    loads_ahead: bool,
    lanes: u32,
    next: u32,
}

impl LaneSelector {
    pub(crate) fn new(lanes: u32, loads_ahead: bool) -> LaneSelector {
        let none = vec![0; lanes.div_ceil(64) as usize];
        let mut placement =
            LaneSelector { ready: none.clone(), ready_lanes: 0, behind: none, loads_ahead, lanes, next: 0 };
        placement.reset();
        placement
    }

    /// Marks all lanes idle and restarts the rotation.
    pub(crate) fn reset(&mut self) {
        self.ready.fill(u64::MAX);
        self.ready_lanes = self.lanes;
        self.behind.fill(0);
        if !self.lanes.is_multiple_of(64) {
            *self.ready.last_mut().expect("there is a lane") = (1 << (self.lanes % 64)) - 1;
        }
        self.next = 0;
    }

    /// Lanes of a word that may take a program.
    #[inline]
    pub(crate) fn open(&self, word: usize) -> u64 {
        if self.loads_ahead { self.ready[word] | self.behind[word] } else { self.ready[word] }
    }

    /// Whether `lane` may take a host program: it has none in flight, or can queue one behind it.
    #[inline]
    pub(crate) fn is_free(&self, lane: Lane) -> bool {
        self.open((lane.0 / 64) as usize) >> (lane.0 % 64) & 1 != 0
    }

    #[inline]
    pub(crate) fn take(&mut self, lane: Lane) {
        let (word, bit) = ((lane.0 / 64) as usize, 1 << (lane.0 % 64));
        if self.loads_ahead {
            // The first program leaves room for one more, the second does not.
            self.behind[word] = self.behind[word] & !bit | self.ready[word] & bit;
        }
        self.ready_lanes -= u32::from(self.ready[word] & bit != 0);
        self.ready[word] &= !bit;
    }

    #[inline]
    pub(crate) fn give_back(&mut self, lane: Lane) {
        let (word, bit) = ((lane.0 / 64) as usize, 1 << (lane.0 % 64));
        if self.loads_ahead {
            if self.behind[word] & bit == 0 {
                self.behind[word] |= bit;
                return;
            }
            self.behind[word] &= !bit;
        }
        self.ready_lanes += u32::from(self.ready[word] & bit == 0);
        self.ready[word] |= bit;
    }

    /// Continues the rotation at lane number `next`, or behind the last lane at the first one.
    pub(crate) fn rotate_to(&mut self, next: u32) {
        self.next = if next < self.lanes { next } else { 0 };
    }

    /// Next lane in round-robin order without a host program that has `room` for one; with nothing in flight, any lane with
    /// room. In line, for each kind of room.
    #[inline(always)]
    pub(crate) fn next_ready(
        &mut self,
        blocks: &BlockManager,
        nothing_in_flight: bool,
        room: impl Fn(Lane) -> bool + Copy,
    ) -> Option<Lane> {
        let mut lane = None;
        if self.ready_lanes > 0 {
            lane = self.next_of(&self.ready, blocks, nothing_in_flight, room);
        }
        if lane.is_none() && self.loads_ahead {
            lane = self.next_behind(blocks, nothing_in_flight, room);
        }
        let lane = lane?;
        self.next = if lane.0 + 1 == self.lanes { 0 } else { lane.0 + 1 };
        Some(lane)
    }

    /// Next lane that can queue a program behind another: data goes to free lanes first.
    #[cold]
    #[inline(never)]
    fn next_behind(
        &self,
        blocks: &BlockManager,
        nothing_in_flight: bool,
        room: impl Fn(Lane) -> bool + Copy,
    ) -> Option<Lane> {
        self.next_of(&self.behind, blocks, nothing_in_flight, room)
    }

    #[inline(always)]
    fn next_of(
        &self,
        lanes: &[u64],
        blocks: &BlockManager,
        nothing_in_flight: bool,
        room: impl Fn(Lane) -> bool + Copy,
    ) -> Option<Lane> {
        let (start, behind) = ((self.next / 64) as usize, u64::MAX << (self.next % 64));
        let mut word = start;
        let mut bits = lanes[word] & behind;
        // Wraps around to the lanes of the first word before the start.
        for _ in 0..=lanes.len() {
            while bits != 0 {
                let lane = Lane(word as u32 * 64 + bits.trailing_zeros());
                let welcome = blocks.accepts_writes(lane) || nothing_in_flight;
                if welcome && self.is_free(lane) && room(lane) {
                    return Some(lane);
                }
                bits &= bits - 1;
            }
            word = if word + 1 == lanes.len() { 0 } else { word + 1 };
            bits = if word == start { lanes[word] & !behind } else { lanes[word] };
        }
        None
    }
}
