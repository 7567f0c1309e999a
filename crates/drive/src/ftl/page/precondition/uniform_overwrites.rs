//! Uniform overwrites drawn by block, without map look-ups.
//!
//! Where every logical unit that is mapped is as likely to be overwritten as any other, so is every physical unit that is
//! valid. Then a block loses a unit with a probability proportional to its valid units, and which of them it is matters to
//! nobody until the block is looked at: while it is open and more is written behind them, when it is emptied, and at the
//! end. So an overwrite draws a block and counts one unit less in it, which takes a small table and no large one; as many
//! units as it has lost are drawn when it is looked at (*settled*). It is the process of drawing logical units and looking
//! them up, drawn in another order: of write amplification, valid units, ages, free blocks and which units are valid it has
//! the same law to the last unit, for every victim policy and allocation.
//!
//! What is in a unit follows it where the fill put it there. What an overwrite wrote has no name until the end, when
//! the logical units that have been overwritten are dealt out among such units ([`crate::ftl::page::precondition::lpn_assignment`]).

use super::{Partial, Preconditioner};
use crate::ftl::page::blocks::layout::UnitAt;
use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::blocks::write_streams::Stream;
use crate::ftl::page::mapping::table::Map;
use crate::ftl::page::precondition::lpn_assignment::{self, Assignment, UNNAMED};
use crate::ftl::page::precondition::positions::Positions;
use crate::memory::prefetch;
use crate::numbers::{Lane, Lpn, Ppu, SuperBlock};
use interpulse_engine::Rng;

/// Draws that are made at a time, so that what they look at is fetched ahead.
const AHEAD: usize = 32;

/// Any unit of any block, which may be valid.
#[derive(Clone, Copy)]
struct Draw {
    block: SuperBlock,
    /// The draw counts if the block has more valid units than this.
    rank: u32,
}

/// Overwrites, drawn one after the other.
pub struct Draws {
    rng: Rng,
    /// What the deal at the end throws by.
    thrown: Rng,
    blocks: u64,
    units_per_block: u64,
    coming: [Draw; AHEAD],
    next: usize,
    /// Blocks all of whose units are [`UNNAMED`]: what they hold is not written to the tables.
    unnamed: Vec<bool>,
    /// How many validity bits of each block are set: whether it has lost a unit is asked with each program, and counting them
    /// would be most of that.
    marked: Vec<u32>,
    /// Room for the validity bits of a block.
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

    /// Overwrites begin on tables whose validity bits are right.
    fn begin(&mut self, ftl: &BlockManager) {
        let blocks = SuperBlock::first(ftl.layout.super_blocks());
        self.marked.iter_mut().zip(blocks).for_each(|(marked, block)| *marked = ftl.map().valid_units(block));
    }

    /// A unit of the `count` blocks from `first` on. One number has digits enough for both: its first ones are the block, and
    /// what is left of it is as uniform as it was.
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

    /// The block that loses a unit next.
    fn block(&mut self, weights: &[u32]) -> SuperBlock {
        loop {
            let draw = self.next(weights);
            if draw.rank < weights[draw.block.index()] & !Map::NOT_A_CANDIDATE {
                return draw.block;
            }
        }
    }

    /// The same among the blocks of `lane`.
    fn block_of(&mut self, ftl: &BlockManager, lane: Lane) -> SuperBlock {
        let first = ftl.layout.first_block(lane);
        loop {
            let draw = self.any(first.0, u64::from(ftl.layout.blocks));
            if draw.rank < ftl.map().valid_units(draw.block) {
                return draw.block;
            }
        }
    }

    /// `count` units are written from `to` on: if that is the first unit of its block, all of it is without names, or it is not.
    #[inline]
    fn written(&mut self, to: UnitAt, count: u32, unnamed: bool) {
        if to.offset == 0 {
            self.unnamed[to.super_block.index()] = unnamed;
        }
        self.marked[to.super_block.index()] += count;
    }

    /// The host has written the `count` units from `to` on, which have been counted.
    #[inline]
    fn mark(&mut self, ftl: &mut BlockManager, to: UnitAt, count: u32) {
        self.written(to, count, true);
        ftl.units.mark_physically(to, count);
        if !self.unnamed[to.super_block.index()] {
            ftl.units.name_physically(&ftl.layout, UNNAMED, to, count);
        }
    }

    /// The host writes the next unit of `partial`.
    fn write_one(&mut self, ftl: &mut BlockManager, partial: &mut Partial) {
        let to = partial.next();
        ftl.units.weights_mut()[to.super_block.index()] += 1;
        self.mark(ftl, to, 1);
        partial.filled += 1;
    }

    /// Overwrites units by as many that are written to `open`, at most `most`, and no more after one of `open` itself.
    /// Returns how many, and whether that was so.
    #[inline]
    fn overwrite(&mut self, weights: &mut [u32], open: SuperBlock, most: u32) -> (u32, bool) {
        let mut made = 0;
        let mut of_itself = false;
        while made < most {
            let Draw { block, rank } = self.next(weights);
            if block == open {
                // It has those that have been written meanwhile, too.
                of_itself = rank < (weights[open.index()] & !Map::NOT_A_CANDIDATE) + made;
                if of_itself {
                    break;
                }
                continue;
            }
            // Whether a draw counts is as good as a coin: no branch, which would be mispredicted.
            let weight = &mut weights[block.index()];
            let counts = u32::from(rank < *weight & !Map::NOT_A_CANDIDATE);
            *weight -= counts;
            made += counts;
        }
        // One that it loses itself is one written in its place.
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
            ftl.units.thin(block, std::mem::replace(marked, valid), &mut self.rng, &mut self.bits);
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
    /// Overwrites of what is mapped now, with the numbers of `rng`, and of `thrown` at the end.
    pub fn draws(&self, rng: Rng, thrown: Rng) -> Draws {
        Draws::new(self.ftl, rng, thrown)
    }

    /// Makes `count` writes, each to one of the logical units that are mapped, all with the same probability: what
    /// [`Preconditioner::overwrite`] does with such addresses. The map is wrong until [`Preconditioner::assign_lpns`].
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

    /// Fills what is left of the program of the lane whose turn it is, with at most so many units; returns how many.
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
                // What is written after a unit was lost cannot be that unit.
                draws.settle(self.ftl, open);
                draws.write_one(self.ftl, &mut partial);
            }
            left -= made;
        }
        self.ftl.counters.host_units += count;
        self.advance(self.next_lane, Stream::HOST, partial, 0);
        count
    }

    /// One write where the logical unit decides on the lane: a unit does not leave its own.
    fn overwrite_in_a_lane(&mut self, draws: &mut Draws) {
        let mut block = draws.block(self.ftl.units.weights_mut());
        let (lane, _) = self.ftl.layout.lane_of(block);
        if self.partial[lane.index()][Stream::HOST.index()].is_none() {
            self.make_room(lane, draws);
            // What is drawn is a unit of the lane, and collection may have moved it.
            block = draws.block_of(self.ftl, lane);
        }
        let mut partial = self.partial(lane, Stream::HOST);
        self.ftl.units.weights_mut()[block.index()] -= 1;
        draws.settle(self.ftl, partial.place.super_block);
        draws.write_one(self.ftl, &mut partial);
        self.ftl.counters.host_units += 1;
        self.advance(lane, Stream::HOST, partial, 0);
    }

    /// Settles all blocks, deals out what has been overwritten and makes the map anew. `progress` gets units done and in all,
    /// and returns false to stop, after which the state is none; whether it came to its end.
    pub fn assign_lpns(&mut self, draws: &mut Draws, progress: &mut dyn FnMut(u64, u64) -> bool) -> bool {
        if self.unassigned {
            self.ftl.keep_total(false);
            for block in SuperBlock::first(self.ftl.layout.super_blocks()) {
                draws.settle(self.ftl, block);
            }
            let Draws { thrown, rng: shuffled, unnamed, .. } = draws;
            let deal = Assignment { stripe: self.stripe.as_ref(), unnamed, thrown, shuffled };
            self.unassigned = !lpn_assignment::assign_lpns(self.ftl, deal, progress);
            draws.unnamed.fill(false);
        }
        !self.unassigned
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::page::blocks::layout::Layout;
    use crate::ftl::page::blocks::manager::FtlConfig;
    use crate::ftl::page::gc::victim::GcPolicy;
    use interpulse_engine::Streams;
    use interpulse_flash::geometry::Geometry;

    const PIECE: u64 = 509;

    /// Overwrites six times as much as there is, in pieces, where the lanes are weighed as seldom as can be or always; how many of the
    /// pieces ended with lanes that are level for certain.
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
        };
        let layout = Layout::new(&geometry, 1, 0);
        let logical_units = layout.units() as u32 / 16 * 15;
        let config = FtlConfig {
            logical_units,
            policy: GcPolicy::Greedy,
            soft_free: 8,
            soft_pages: None,
            hard_free: 1,
        };
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
    fn seldom_weighed_lanes_give_the_same_state() {
        let ((seldom, known), (always, _)) = (overwritten(false), overwritten(true));
        assert!(known > 20, "lanes were level for certain at the end of {known} pieces");
        assert_eq!(seldom.map().weight, always.map().weight);
        assert!(seldom.cycles == always.cycles && seldom.closed == always.closed);
    }
}
