//! Block management of two-bit blocks: the next step of a hot level, and closing of used blocks.

use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::reprogram::{
    Block, FullyInvalidates, Reprogramming, Step, WhenValid, WordLine, is_used,
};
use crate::numbers::{Lane, SuperBlock};
use interpulse_flash::cell_mode::CellMode;
use interpulse_flash::ids::WordLineId;
use interpulse_flash::reprogram::{Bit, Status};

impl BlockManager {
    /// Reprogrammable blocks, if the drive has any.
    #[inline]
    pub fn reprogramming(&self) -> Option<&Reprogramming> {
        self.reprogramming.as_deref()
    }

    /// Whether a super block is reprogrammable.
    #[inline]
    pub fn reprograms(&self, super_block: SuperBlock) -> bool {
        self.reprogramming.is_some() && self.cell_mode(super_block) == CellMode::Mlc
    }

    fn of(&self) -> &Reprogramming {
        self.reprogramming.as_deref().expect("the drive reprograms")
    }

    fn of_mut(&mut self) -> &mut Reprogramming {
        self.reprogramming.as_deref_mut().expect("the drive reprograms")
    }

    /// Action for the next write of `level` on `lane`. Also updates the roles of blocks: an exhausted super layer is
    /// followed by the next one, a full block becomes a candidate, an overwritten candidate becomes active.
    ///
    /// `busy` is true for super blocks with reads that may be repeated; their data is not overwritten.
    pub fn next_step(&mut self, lane: Lane, level: u32, busy: impl Fn(SuperBlock) -> bool) -> Step {
        let word_lines = self.layout.word_lines_per_block();
        loop {
            let of = self.of();
            let at = of.at(lane, level);
            let Some(block) = &of.active[at] else {
                return self.without_active(lane, level, busy);
            };
            if (block.lines.len() as u32) < of.lines_of(block.super_layer, word_lines) || block.is_half() {
                return Step::Program;
            }
            if !busy(block.super_block)
                && let Some((k, bit)) = block.reprogrammable(self.units.map(), &self.layout, of)
            {
                return Step::Reprogram { word_line: block.word_line(k, of.word_lines), bit };
            }
            if block.is_busy() {
                // Operations in flight decide; until then writes use other blocks.
                return self.without_active_place(lane, level);
            }
            let last = block.super_layer + 1 == of.super_layers;
            let next_layer = block.is_exhausted() || of.spec.when_valid == WhenValid::NextSuperLayer;
            let exhausted = block.is_exhausted();
            if next_layer && !last {
                let lost: u32 = block.lines.iter().map(|l| 2 - u32::from(l.status.reprograms)).sum();
                self.counters.lost_reprograms += u64::from(lost);
                let block = self.of_mut().active[at].as_mut().expect("the lane has an active block");
                block.super_layer += 1;
                block.lines.clear();
                block.next = 0;
            } else {
                let leaves = exhausted && self.of().spec.fully_invalidates == FullyInvalidates::SuperLayer;
                let block = self.of_mut().active[at].take().expect("the lane has an active block");
                if leaves {
                    self.close_two_bit(block.super_block);
                } else {
                    self.counters.candidates += 1;
                    self.of_mut().candidates[at].push(block);
                }
            }
        }
    }

    /// Without an active block: activates a reprogrammable candidate, opens a block or reclaims one.
    fn without_active(&mut self, lane: Lane, level: u32, busy: impl Fn(SuperBlock) -> bool) -> Step {
        self.close_cleared(lane);
        let of = self.of();
        let at = of.at(lane, level);
        let back = of.candidates[at].iter().position(|block| {
            (!block.draining || block.is_clear(self.units.map(), &self.layout, of))
                && block.moving == 0
                && !busy(block.super_block)
                && block.reprogrammable(self.units.map(), &self.layout, of).is_some()
        });
        if let Some(k) = back {
            let of = self.of_mut();
            let mut block = of.candidates[at].remove(k);
            self.counters.candidates_back += u64::from(!block.draining);
            block.draining = false;
            let (k, bit) = {
                let of = self.of();
                block
                    .reprogrammable(self.units.map(), &self.layout, of)
                    .expect("the candidate is reprogrammable")
            };
            let of = self.of_mut();
            let word_line = block.word_line(k, of.word_lines);
            of.active[at] = Some(block);
            return Step::Reprogram { word_line, bit };
        }
        if (of.candidates[at].len() as u32) < of.spec.candidates && self.may_open(lane) {
            return Step::Open;
        }
        self.without_active_place(lane, level)
    }

    fn without_active_place(&self, lane: Lane, level: u32) -> Step {
        let of = self.of();
        let candidates = &of.candidates[of.at(lane, level)];
        if candidates.is_empty() || candidates.iter().any(|block| block.moving > 0) {
            Step::Normal
        } else {
            Step::Reclaim
        }
    }

    fn may_open(&self, lane: Lane) -> bool {
        self.free_blocks(lane) > self.config().hard_free
    }

    /// Opens a reprogrammable block for `level` of `lane` if none is active.
    pub fn open_two_bit(&mut self, lane: Lane, level: u32) {
        let at = self.of().at(lane, level);
        if self.of().active[at].is_some() {
            return;
        }
        let stream = self.streams.of_level(level);
        let super_block = self.open(lane, stream).expect("the caller has checked");
        self.counters.reprogrammable_blocks += 1;
        self.of_mut().active[at] = Some(Block {
            super_block,
            super_layer: 0,
            lines: Vec::new(),
            next: 0,
            draining: false,
            moving: 0,
        });
    }

    /// Assigns the next word line, or page of one, of the active block of `level` on `lane`. Returns super block, word
    /// line, page if programmed page by page, and whether it is the first of its super layer.
    pub fn take_word_line(&mut self, lane: Lane, level: u32) -> (SuperBlock, WordLineId, Option<Bit>, bool) {
        let by_page = self.layout.programs_per_word_line > 1;
        let of = self.of_mut();
        let at = of.at(lane, level);
        let per_layer = of.word_lines;
        let block = of.active[at].as_mut().expect("there is an active block");
        let second = block.is_half();
        if second {
            let line = block.lines.last_mut().expect("a word line has half of its pages");
            line.half = false;
            line.busy += 1;
        } else {
            block.lines.push(WordLine { status: Status::INITIAL, busy: 1, half: by_page });
        }
        let k = block.lines.len() - 1;
        let (super_block, word_line) = (block.super_block, block.word_line(k, per_layer));
        self.in_flight[super_block.index()] += 1;
        let pages = self.layout.pages_per_program_in(CellMode::Mlc);
        self.counters.consumed_host_pages += u64::from(pages * self.layout.planes);
        let page = by_page.then_some(if second { Bit::Msb } else { Bit::Lsb });
        (super_block, word_line, page, k == 0 && !second)
    }

    /// Assigns the reprogram found by [`BlockManager::next_step`]. Returns the super block and the word line's Validity.
    pub fn take_reprogram(
        &mut self,
        lane: Lane,
        level: u32,
        word_line: WordLineId,
        bit: Bit,
    ) -> (SuperBlock, u8) {
        let of = self.of();
        let at = of.at(lane, level);
        let super_block = of.active[at].as_ref().expect("there is an active block").super_block;
        let used = |bit| u8::from(is_used(self.units.map(), &self.layout, super_block, word_line, bit));
        let validity = used(Bit::Msb) << 1 | used(Bit::Lsb);
        let of = self.of_mut();
        let per_layer = of.word_lines;
        let block = of.active[at].as_mut().expect("there is an active block");
        let k = (word_line.0 - block.super_layer * per_layer) as usize;
        let line = &mut block.lines[k];
        debug_assert!(line.busy == 0 && !line.half);
        line.status = line.status.invalidate(bit).next(bit).expect("the word line can be reprogrammed");
        line.busy = 1;
        block.next = (k + 1) % block.lines.len();
        self.in_flight[super_block.index()] += 1;
        (super_block, validity)
    }

    /// Completes the operation on `word_line` of a reprogrammable block of `lane`.
    pub fn two_bit_done(&mut self, lane: Lane, super_block: SuperBlock, word_line: WordLineId) {
        let of = self.of_mut();
        let places = of.at(lane, 0)..of.at(lane + 1, 0);
        let per_layer = of.word_lines;
        let active = of.active[places.clone()].iter_mut().flatten();
        let open = active.chain(of.candidates[places].iter_mut().flatten());
        if let Some(block) = open.into_iter().find(|block| block.super_block == super_block) {
            let k = word_line.0 - block.super_layer * per_layer;
            block.lines[k as usize].busy -= 1;
        }
        self.in_flight[super_block.index()] -= 1;
    }

    /// Candidate of `level` on `lane` with the fewest pages in use, and at most `most` of these (word line, page). The
    /// first call starts draining it, until none is left.
    pub fn pages_in_the_way(
        &mut self,
        lane: Lane,
        level: u32,
        most: usize,
    ) -> (SuperBlock, Vec<(WordLineId, Bit)>) {
        let of = self.of();
        let at = of.at(lane, level);
        let count = |block: &Block| {
            let first = block.draining || block.is_exhausted();
            (!first, block.in_the_way(self.units.map(), &self.layout, of, usize::MAX).len())
        };
        let k = (0..of.candidates[at].len()).min_by_key(|&k| count(&of.candidates[at][k]));
        let k = k.expect("the caller has checked the step");
        let block = &mut self.of_mut().candidates[at][k];
        if !std::mem::replace(&mut block.draining, true) {
            self.counters.candidates_reclaimed += 1;
        }
        let of = self.of();
        let block = &of.candidates[at][k];
        let pages = block.in_the_way(self.units.map(), &self.layout, of, most);
        // One program takes all pages; page by page each has its own program.
        let programs = if self.layout.programs_per_word_line > 1 { pages.len() as u32 } else { 1 };
        let block = &mut self.of_mut().candidates[at][k];
        block.moving = programs;
        (block.super_block, pages)
    }

    /// Level of `lane` with a block that is being drained, or is used up and to be drained.
    pub fn level_to_empty(&self, lane: Lane) -> Option<u32> {
        let of = self.reprogramming.as_deref()?;
        if of.spec.fully_invalidates == FullyInvalidates::SuperLayer {
            return None;
        }
        let map = self.units.map();
        (0..of.levels).find(|&level| {
            let candidates = &of.candidates[of.at(lane, level)];
            let waits = |b: &Block| map.valid_units(b.super_block) > 0 && (b.draining || b.is_exhausted());
            candidates.iter().all(|b| b.moving == 0) && candidates.iter().any(waits)
        })
    }

    /// Counts a finished program that moved data of `super_block` to a normal block.
    pub fn moved_out(&mut self, lane: Lane, super_block: SuperBlock) {
        let of = self.of_mut();
        let places = of.at(lane, 0)..of.at(lane + 1, 0);
        let mut candidates = of.candidates[places].iter_mut().flatten();
        if let Some(block) = candidates.find(|block| block.super_block == super_block) {
            block.moving -= 1;
        }
        self.close_cleared(lane);
    }

    /// Closes used-up blocks of `lane` without valid data, so that garbage collection only erases them.
    pub(crate) fn close_cleared(&mut self, lane: Lane) {
        let Some(of) = &mut self.reprogramming else { return };
        if of.spec.fully_invalidates == FullyInvalidates::SuperLayer {
            return;
        }
        let places = of.at(lane, 0)..of.at(lane + 1, 0);
        let map = self.units.map();
        let cleared = |b: &Block| b.moving == 0 && map.valid_units(b.super_block) == 0 && b.is_exhausted();
        let mut found = Vec::new();
        for candidates in &mut of.candidates[places] {
            candidates.retain(|block| {
                let cleared = cleared(block);
                if cleared {
                    found.push(block.super_block);
                }
                !cleared
            });
        }
        found.into_iter().for_each(|block| self.close_two_bit(block));
    }

    fn close_two_bit(&mut self, super_block: SuperBlock) {
        debug_assert_eq!(self.in_flight[super_block.index()], 0);
        self.close(super_block);
    }

    /// Releases the candidates of `lane` to garbage collection, as the last resort; returns whether there were any.
    pub(crate) fn give_up_candidates(&mut self, lane: Lane) -> bool {
        if self.reprogramming.is_none() {
            return false;
        }
        let of = self.of_mut();
        let places = of.at(lane, 0)..of.at(lane + 1, 0);
        let mut given = Vec::new();
        for candidates in &mut of.candidates[places] {
            candidates.retain(|block| {
                if block.moving == 0 {
                    given.push(block.super_block);
                }
                block.moving > 0
            });
        }
        self.counters.candidates_given_up += given.len() as u64;
        given.iter().for_each(|&block| self.close_two_bit(block));
        !given.is_empty()
    }
}
