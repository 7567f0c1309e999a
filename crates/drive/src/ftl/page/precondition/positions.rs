//! Position tracking during preconditioning.

use crate::ftl::layout::UnitAt;
use crate::ftl::page::blocks::manager::BlockManager;
use crate::numbers::{Lpn, Ppu, SuperBlock};

/// Prefetch distance in map entries.
const AHEAD: usize = 16;

/// Tracking of unit positions, or of valid counts only.
pub(crate) trait Positions {
    /// Prefetch hint: units will be moved to `block`.
    #[inline]
    fn expect(&self, _: SuperBlock) {}

    /// Makes the validity bits of `block` correct, not only their number.
    fn settle(&mut self, ftl: &mut BlockManager, block: SuperBlock);

    /// [`Positions::settle`] that also makes the table entries of `block` correct.
    fn uncover(&mut self, ftl: &mut BlockManager, block: SuperBlock);

    /// Notes that `block` has been emptied.
    fn taken(&mut self, block: SuperBlock);

    /// Notes a write of `lpn` to the unit `to`.
    fn write(&mut self, ftl: &mut BlockManager, lpn: Lpn, to: UnitAt);

    /// Moves the first `count` of `units`, which are valid, to the unit `to` and those after it.
    fn relocate(&mut self, ftl: &mut BlockManager, units: &[Ppu], count: usize, to: UnitAt);
}

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
