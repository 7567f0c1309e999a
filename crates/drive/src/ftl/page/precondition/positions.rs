//! Position tracking during preconditioning.

use crate::ftl::page::blocks::layout::UnitAt;
use crate::ftl::page::blocks::manager::BlockManager;
use crate::numbers::{Lpn, Ppu, SuperBlock};

/// So many map entries ahead are fetched.
const AHEAD: usize = 16;

/// Whether every unit is followed, or only their number in each block.
pub(crate) trait Positions {
    /// Units are going to be moved to `block`: the time to fetch what will be looked up.
    #[inline]
    fn expect(&self, _: SuperBlock) {}

    /// From here on the validity bits of `block` are right, not only their number.
    fn settle(&mut self, ftl: &mut BlockManager, block: SuperBlock);

    /// As [`Positions::settle`], and the tables know what is in `block`, too.
    fn uncover(&mut self, ftl: &mut BlockManager, block: SuperBlock);

    /// All of `block` has been taken out of it.
    fn taken(&mut self, block: SuperBlock);

    /// `lpn` is written to the unit `to`.
    fn write(&mut self, ftl: &mut BlockManager, lpn: Lpn, to: UnitAt);

    /// What is in the first `count` of `units`, which are valid, moves to the unit `to` and those after it.
    fn relocate(&mut self, ftl: &mut BlockManager, units: &[Ppu], count: usize, to: UnitAt);
}

/// Every unit is followed.
pub(crate) struct Followed;

impl Positions for Followed {
    #[inline]
    fn settle(&mut self, _: &mut BlockManager, _: SuperBlock) {}

    #[inline]
    fn uncover(&mut self, _: &mut BlockManager, _: SuperBlock) {}

    #[inline]
    fn taken(&mut self, _: SuperBlock) {}

    #[inline]
    fn write(&mut self, ftl: &mut BlockManager, lpn: Lpn, to: UnitAt) {
        ftl.write(lpn, to.super_block, to.offset);
    }

    #[inline]
    fn relocate(&mut self, ftl: &mut BlockManager, units: &[Ppu], count: usize, to: UnitAt) {
        for (k, offset) in (0..count).zip(to.offset..) {
            if let Some(&ahead) = units.get(k + AHEAD) {
                ftl.map().prefetch(ftl.map().logical(ahead));
            }
            let lpn = ftl.map().logical(units[k]);
            ftl.forget_flash(units[k]);
            ftl.write(lpn, to.super_block, offset);
        }
    }
}
