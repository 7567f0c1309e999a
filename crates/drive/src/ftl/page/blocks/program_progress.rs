//! Programming progress of each super block, from its dies.

use crate::ftl::layout::Layout;
use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::reprogram::Reprogramming;
use crate::numbers::SuperBlock;
use interpulse_flash::die::Die;

/// Program operations ended or torn in each super block since its last erase.
pub(crate) fn programs_begun(blocks: &BlockManager, dies: &[Die]) -> Vec<u32> {
    programs_begun_in(&blocks.layout, dies)
}

/// As [`programs_begun`], of any family with super blocks of this layout.
pub(crate) fn programs_begun_in(layout: &Layout, dies: &[Die]) -> Vec<u32> {
    let programs = |super_block: SuperBlock| {
        let (lane, block) = layout.lane_of(super_block);
        let (die, plane) = layout.die_of(lane);
        u32::from(dies[die.index()].blocks().programmed(plane, block)) / layout.pages_per_program
    };
    SuperBlock::first(layout.super_blocks()).map(programs).collect()
}

/// Erases of each super block, and whether all of its programs and reprograms have ended.
pub(crate) fn block_states(blocks: &BlockManager, dies: &[Die]) -> Vec<(u32, bool)> {
    let full = blocks.layout.programs_per_block;
    let programs = programs_begun(blocks, dies);
    let mut states: Vec<_> =
        programs.iter().zip(&blocks.cycles).map(|(&p, &cycles)| (cycles, p == full)).collect();
    let open = blocks.reprogramming().into_iter().flat_map(Reprogramming::open_blocks);
    open.for_each(|block| states[block.super_block.index()].1 = false);
    states
}
