//! Uniform overwrites drawn by block, without map look-ups.
//!
//! If every mapped logical unit is equally likely to be overwritten, so is every valid physical unit: a block loses units
//! with a probability proportional to its valid units. An overwrite therefore draws a block and decrements its count; the
//! lost units are drawn when the block is next examined (*settled*): while it is open, when it is emptied, and at the end.
//! This has the same distribution as drawing logical units, for every victim policy and allocation.
//!
//! Units of the fill keep their logical unit. Overwritten units stay anonymous until the end, when
//! [`crate::ftl::page::precondition::lpn_assignment`] assigns them.

use super::{Partial, Preconditioner};
use crate::ftl::layout::UnitAt;
use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::blocks::write_streams::Stream;
use crate::ftl::page::mapping::table::Map;
use crate::ftl::page::precondition::lpn_assignment::{self, Assignment, UNNAMED};
use crate::ftl::page::precondition::positions::Positions;
use crate::memory::prefetch;
use crate::numbers::{Lane, Lpn, Ppu, SuperBlock};
use interpulse_engine::Rng;

/// Draws per batch, so that their weights can be prefetched.
const AHEAD: usize = 32;

/// Random unit of any block, which may be invalid.
#[derive(Clone, Copy)]
struct Draw {
    block: SuperBlock,
    /// The draw counts if the block has more valid units than this.
    rank: u32,
}

/// Random overwrites.
pub struct Draws {
    rng: Rng,
    /// Random numbers of the final assignment.
    thrown: Rng,
    blocks: u64,
    units_per_block: u64,
    coming: [Draw; AHEAD],
    next: usize,
    /// Blocks of [`UNNAMED`] units only: their table entries are not written.
    unnamed: Vec<bool>,
    /// Validity bits set in each block: each program needs the number, and counting the bits would dominate its cost.
    marked: Vec<u32>,
    /// Buffer for the validity bits of a block.
    bits: Vec<u64>,
}

impl Draws {
    fn new(ftl: &BlockManager, rng: Rng, thrown: Rng) -> Draws {
        let layout = &ftl.layout;
        let none = Draw { block: SuperBlock(0), rank: 0 };
        let (blocks, units_per_block) = (u64::from(layout.super_blocks()), u64::from(layout.units_per_block));
        let unnamed = vec![false; blocks as usize];
        let coming = [none; AHEAD];
        let marked = vec![0; blocks as usize];
        Draws { rng, thrown, blocks, units_per_block, coming, next: AHEAD, unnamed, marked, bits: Vec::new() }
    }

    fn begin(&mut self, ftl: &BlockManager) {
        let blocks = SuperBlock::first(ftl.layout.super_blocks());
        self.marked.iter_mut().zip(blocks).for_each(|(marked, block)| *marked = ftl.map().valid_units(block));
    }

    /// Random unit of `count` blocks from `first` on. One random number serves both: its high digits choose the block, the
    /// uniform remainder the unit.
    #[inline(always)]
    fn any(&mut self, first: u32, count: u64) -> Draw {
        let scaled = u128::from(self.rng.next_u64()) * u128::from(count);
        let rank = (u128::from(scaled as u64) * u128::from(self.units_per_block)) >> 64;
        Draw { block: SuperBlock(first + (scaled >> 64) as u32), rank: rank as u32 }
    }

    #[inline(never)]
    fn draw_ahead(&mut self, weights: &[u32]) {
        for k in 0..AHEAD {
            let draw = self.any(0, self.blocks);
            prefetch(weights.as_ptr().wrapping_add(draw.block.index()));
            self.coming[k] = draw;
        }
        self.next = 0;
    }

    #[inline(always)]
    fn next(&mut self, weights: &[u32]) -> Draw {
        if self.next == AHEAD {
            self.draw_ahead(weights);
        }
        let draw = self.coming[self.next];
        self.next += 1;
        draw
    }

    fn block(&mut self, weights: &[u32]) -> SuperBlock {
        loop {
            let draw = self.next(weights);
            if draw.rank < weights[draw.block.index()] & !Map::NOT_A_CANDIDATE {
                return draw.block;
            }
        }
    }

    /// [`Draws::block`] within `lane`.
    fn block_of(&mut self, ftl: &BlockManager, lane: Lane) -> SuperBlock {
        let first = ftl.layout.first_block(lane);
        loop {
            let draw = self.any(first.0, u64::from(ftl.layout.blocks));
            if draw.rank < ftl.map().valid_units(draw.block) {
                return draw.block;
            }
        }
    }

    /// Notes a write of `count` units from `to` on: the first unit of a block decides whether the block is all anonymous.
    #[inline]
    fn written(&mut self, to: UnitAt, count: u32, unnamed: bool) {
        if to.offset == 0 {
            self.unnamed[to.super_block.index()] = unnamed;
        }
        self.marked[to.super_block.index()] += count;
    }

    /// Marks `count` host units from `to` on as valid; they are already counted.
    #[inline]
    fn mark(&mut self, ftl: &mut BlockManager, to: UnitAt, count: u32) {
        self.written(to, count, true);
        ftl.units.mark_physically(to, count);
        if !self.unnamed[to.super_block.index()] {
            ftl.units.name_physically(&ftl.layout, UNNAMED, to, count);
        }
    }

    fn write_one(&mut self, ftl: &mut BlockManager, partial: &mut Partial) {
        let to = partial.next();
        ftl.units.weights_mut()[to.super_block.index()] += 1;
        self.mark(ftl, to, 1);
        partial.filled += 1;
    }

    /// Overwrites up to `most` units by writes to `open`, and stops after a unit of `open` itself. Returns the number, and
    /// whether it stopped for that reason.
    #[inline]
    fn overwrite(&mut self, weights: &mut [u32], open: SuperBlock, most: u32) -> (u32, bool) {
        let mut made = 0;
        let mut of_itself = false;
        while made < most {
            let Draw { block, rank } = self.next(weights);
            if block == open {
                // `open` also holds the units written meanwhile.
                of_itself = rank < (weights[open.index()] & !Map::NOT_A_CANDIDATE) + made;
                if of_itself {
                    break;
                }
                continue;
            }
            // Branch-free: whether a draw counts is unpredictable.
            let weight = &mut weights[block.index()];
            let counts = u32::from(rank < *weight & !Map::NOT_A_CANDIDATE);
            *weight -= counts;
            made += counts;
        }
        // A unit of `open` that is lost is replaced by the one written.
        weights[open.index()] += made;
        weights[open.index()] -= u32::from(of_itself);
        (made + u32::from(of_itself), of_itself)
    }
}

impl Positions for Draws {
    #[inline]
    fn expect(&self, block: SuperBlock) {
        prefetch(self.marked.as_ptr().wrapping_add(block.index()));
        prefetch(self.unnamed.as_ptr().wrapping_add(block.index()));
    }

    #[inline]
    fn settle(&mut self, ftl: &mut BlockManager, block: SuperBlock) {
        let (marked, valid) = (&mut self.marked[block.index()], ftl.map().valid_units(block));
        debug_assert_eq!(*marked, ftl.units.marked(block), "validity bits of block {block}");
        if *marked > valid {
            ftl.units.sample_valid(block, std::mem::replace(marked, valid), &mut self.rng, &mut self.bits);
        }
    }

    fn uncover(&mut self, ftl: &mut BlockManager, block: SuperBlock) {
        self.settle(ftl, block);
        if std::mem::take(&mut self.unnamed[block.index()]) {
            let all = UnitAt { super_block: block, offset: 0 };
            ftl.units.name_physically(&ftl.layout, UNNAMED, all, ftl.layout.units_per_block);
        }
    }

    #[inline]
    fn taken(&mut self, block: SuperBlock) {
        self.marked[block.index()] = 0;
    }

    #[inline]
    fn write(&mut self, ftl: &mut BlockManager, lpn: Lpn, to: UnitAt) {
        self.written(to, 1, false);
        ftl.units.weights_mut()[to.super_block.index()] += 1;
        ftl.units.mark_physically(to, 1);
        ftl.units.name_physically(&ftl.layout, lpn, to, 1);
    }

    #[inline]
    fn relocate(&mut self, ftl: &mut BlockManager, units: &[Ppu], count: usize, to: UnitAt) {
        self.written(to, count as u32, false);
        let leave = |block: SuperBlock, count: u32| {
            self.marked[block.index()] -= count;
            self.unnamed[block.index()].then_some(UNNAMED)
        };
        ftl.units.move_physically(&ftl.layout, units, count, to, leave);
    }
}

impl Preconditioner<'_> {
    /// Draws for overwrites of the units mapped now, from `rng`, and from `thrown` for the final assignment.
    pub fn draws(&self, rng: Rng, thrown: Rng) -> Draws {
        Draws::new(self.ftl, rng, thrown)
    }

    /// Makes `count` writes to mapped logical units, all equally likely, as [`Preconditioner::overwrite`] does with such
    /// addresses. The map is invalid until [`Preconditioner::assign_lpns`].
    pub fn overwrite_anywhere(&mut self, count: u64, draws: &mut Draws) {
        if !self.unassigned {
            draws.begin(self.ftl);
            self.ftl.keep_total(count > 0);
        }
        self.unassigned |= count > 0;
        if self.stripe.is_some() {
            (0..count).for_each(|_| self.overwrite_in_a_lane(draws));
            return;
        }
        let mut left = count;
        while left > 0 {
            if self.partial[self.next_lane.index()][Stream::HOST.index()].is_none() {
                self.choose_lane(draws);
            }
            left -= self.overwrite_in_turn(left, draws);
        }
    }

    /// Fills the program of the next lane with at most `most` units; returns how many.
    #[inline]
    fn overwrite_in_turn(&mut self, most: u64, draws: &mut Draws) -> u64 {
        let mut partial = self.partial(self.next_lane, Stream::HOST);
        let open = partial.place.super_block;
        let count = most.min(u64::from(self.ftl.layout.units_per_program - partial.filled));
        draws.settle(self.ftl, open);
        let mut left = count as u32;
        while left > 0 {
            let (made, of_itself) = draws.overwrite(self.ftl.units.weights_mut(), open, left);
            let earlier = made - u32::from(of_itself);
            draws.mark(self.ftl, partial.next(), earlier);
            partial.filled += earlier;
            if of_itself {
                // A unit written after the loss cannot be the lost unit.
                draws.settle(self.ftl, open);
                draws.write_one(self.ftl, &mut partial);
            }
            left -= made;
        }
        self.ftl.counters.host_units += count;
        self.advance(self.next_lane, Stream::HOST, partial, 0);
        count
    }

    /// One write under static striping: a unit stays in its lane.
    fn overwrite_in_a_lane(&mut self, draws: &mut Draws) {
        let mut block = draws.block(self.ftl.units.weights_mut());
        let (lane, _) = self.ftl.layout.lane_of(block);
        if self.partial[lane.index()][Stream::HOST.index()].is_none() {
            self.make_room(lane, draws);
            // Collection may have moved the drawn unit: draw again in the lane.
            block = draws.block_of(self.ftl, lane);
        }
        let mut partial = self.partial(lane, Stream::HOST);
        self.ftl.units.weights_mut()[block.index()] -= 1;
        draws.settle(self.ftl, partial.place.super_block);
        draws.write_one(self.ftl, &mut partial);
        self.ftl.counters.host_units += 1;
        self.advance(lane, Stream::HOST, partial, 0);
    }

    /// Settles all blocks, assigns the overwritten units and rebuilds the map. `progress` receives units done and in total,
    /// and returns false to stop, which leaves the state invalid; returns whether it completed.
    pub fn assign_lpns(&mut self, draws: &mut Draws, progress: &mut dyn FnMut(u64, u64) -> bool) -> bool {
        if self.unassigned {
            self.ftl.keep_total(false);
            for block in SuperBlock::first(self.ftl.layout.super_blocks()) {
                draws.settle(self.ftl, block);
            }
            let Draws { thrown, rng: shuffled, unnamed, .. } = draws;
            let assignment = Assignment { stripe: self.stripe.as_ref(), unnamed, thrown, shuffled };
            self.unassigned = !lpn_assignment::assign_lpns(self.ftl, assignment, progress);
            draws.unnamed.fill(false);
        }
        !self.unassigned
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::layout::Layout;
    use crate::ftl::page::blocks::thresholds::FtlConfig;
    use crate::ftl::page::gc::victim::GcPolicy;
    use interpulse_engine::Streams;
    use interpulse_flash::geometry::Geometry;

    const PIECE: u64 = 509;

    /// Overwrites six times the capacity in pieces, with lanes counted as rarely as possible or always. Returns the number
    /// of pieces that ended with lanes known to be balanced.
    fn overwritten(always: bool) -> (BlockManager, u32) {
        let geometry = Geometry {
            channels: 4,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes: 1,
            blocks_per_plane: 400,
            word_lines: 16,
            pages_per_word_line: 1,
            unit_bytes: 4096,
            units_per_page: 4,
            layers: 16,
            pages_per_program: 1,
            cache_pages: 0,
            cache_reads: false,
            independent_plane_reads: false,
            separate_commands: false,
            sub_blocks: 1,
        };
        let layout = Layout::new(&geometry, 1, 0);
        let logical_units = layout.units() as u32 / 16 * 15;
        let config = FtlConfig::new(logical_units, GcPolicy::Greedy, 8, 1);
        let streams = Streams::new(7);
        let mut ftl = BlockManager::new(layout, config, streams.stream("gc", 0));
        let mut p = Preconditioner::new(&mut ftl, None).working_ahead();
        p.write_in_order(Lpn(0), Lpn(logical_units));
        let mut draws = p.draws(streams.stream("draws", 0), streams.stream("deal", 0));
        let mut known = 0;
        for _ in 0..6 * u64::from(logical_units) / PIECE {
            p.overwrite_anywhere(PIECE, &mut draws);
            known += u32::from(p.ftl.is_known_balanced());
            if always {
                p.ftl.keep_total(false);
            }
        }
        assert!(p.assign_lpns(&mut draws, &mut |_, _| true));
        p.finish();
        (ftl, known)
    }

    #[test]
    fn rarely_counted_lanes_give_the_same_state() {
        let ((seldom, known), (always, _)) = (overwritten(false), overwritten(true));
        assert!(known > 20, "lanes were known to be balanced at the end of {known} pieces");
        assert_eq!(seldom.map().weight, always.map().weight);
        assert!(seldom.cycles == always.cycles && seldom.closed == always.closed);
    }
}
