//! Super blocks of a family that owns them one by one: free ones by lane, wear, and erases of those that are released.

use crate::ftl::layout::Layout;
use crate::numbers::{Lane, SuperBlock};
use std::collections::VecDeque;

/// No super block.
pub(super) const NO_BLOCK: SuperBlock = SuperBlock(u32::MAX);

/// State of a super block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockState {
    Free,
    /// Holds data, or will.
    Used,
    /// No longer used; operations on it are in flight.
    Released,
    Erasing,
    /// Failed, and in use no more.
    Retired,
}

/// Super blocks of a drive that are free, used, or wait for their erase.
#[derive(Clone)]
pub(super) struct BlockPool {
    /// Erased super blocks of each lane in order of erase; taking the oldest first levels wear.
    pub(super) free: Vec<VecDeque<SuperBlock>>,
    /// P/E cycles of each super block.
    pub(super) cycles: Vec<u32>,
    states: Vec<BlockState>,
    /// Programs and repeatable reads in flight on each super block.
    operations: Vec<u16>,
}

impl BlockPool {
    /// Blocks of which `free` are erased and the others used.
    pub(super) fn new(free: Vec<VecDeque<SuperBlock>>, cycles: Vec<u32>) -> BlockPool {
        let mut states = vec![BlockState::Used; cycles.len()];
        free.iter().flatten().for_each(|block| states[block.index()] = BlockState::Free);
        BlockPool { free, operations: vec![0; cycles.len()], cycles, states }
    }

    /// Takes the super block of a lane that has been erased for the longest time.
    pub(super) fn take(&mut self, lane: Lane) -> Option<SuperBlock> {
        let block = self.free[lane.index()].pop_front()?;
        self.states[block.index()] = BlockState::Used;
        Some(block)
    }

    /// Begins an operation on a super block.
    #[inline]
    pub(super) fn begin(&mut self, block: SuperBlock) {
        self.operations[block.index()] += 1;
    }

    /// Ends an operation on a super block; true if it must be erased now.
    #[inline]
    pub(super) fn end(&mut self, block: SuperBlock) -> bool {
        self.operations[block.index()] -= 1;
        self.operations[block.index()] == 0 && self.erases(block)
    }

    /// Releases a used super block; true if it must be erased now, otherwise when its operations have ended.
    pub(super) fn release(&mut self, block: SuperBlock) -> bool {
        debug_assert_eq!(self.states[block.index()], BlockState::Used);
        self.states[block.index()] = BlockState::Released;
        self.operations[block.index()] == 0 && self.erases(block)
    }

    fn erases(&mut self, block: SuperBlock) -> bool {
        let erases = self.states[block.index()] == BlockState::Released;
        if erases {
            self.states[block.index()] = BlockState::Erasing;
        }
        erases
    }

    /// Frees an erased super block.
    pub(super) fn erased(&mut self, layout: &Layout, block: SuperBlock) {
        debug_assert_eq!(self.states[block.index()], BlockState::Erasing);
        self.states[block.index()] = BlockState::Free;
        self.cycles[block.index()] += 1;
        let (lane, _) = layout.lane_of(block);
        self.free[lane.index()].push_back(block);
    }

    /// Retires a super block that has just been [erased](BlockPool::erased).
    pub(super) fn retire(&mut self, layout: &Layout, block: SuperBlock) {
        let (lane, _) = layout.lane_of(block);
        let last = self.free[lane.index()].pop_back();
        debug_assert_eq!(last, Some(block));
        self.states[block.index()] = BlockState::Retired;
    }

    /// Gives up a super block that was used when power was lost; it will be erased.
    pub(super) fn abandon(&mut self, block: SuperBlock) {
        self.states[block.index()] = BlockState::Erasing;
    }

    /// Ends all operations at a loss of power.
    pub(super) fn end_operations(&mut self) {
        self.operations.fill(0);
    }

    /// Super blocks that must be erased after a loss of power.
    pub(super) fn unerased(&mut self) -> Vec<SuperBlock> {
        let unerased = |state: &BlockState| matches!(state, BlockState::Released | BlockState::Erasing);
        let blocks: Vec<SuperBlock> = (0..)
            .map(SuperBlock)
            .zip(&self.states)
            .filter(|(_, state)| unerased(state))
            .map(|(block, _)| block)
            .collect();
        blocks.iter().for_each(|block| self.states[block.index()] = BlockState::Erasing);
        blocks
    }

    /// Checks that every super block is free, or in `used`, or being erased.
    pub(super) fn audit(&self, used: impl Iterator<Item = SuperBlock>) -> Result<(), String> {
        let mut seen = vec![0u8; self.states.len()];
        let mut count = |block: SuperBlock, state: BlockState| {
            seen[block.index()] += 1;
            match self.states[block.index()] {
                of if of == state => Ok(()),
                of => Err(format!("super block {block} is {of:?}, expected {state:?}")),
            }
        };
        self.free.iter().flatten().try_for_each(|&block| count(block, BlockState::Free))?;
        for block in used {
            count(block, BlockState::Used)?;
        }
        let expected = |state: BlockState| u8::from(matches!(state, BlockState::Free | BlockState::Used));
        match seen.iter().zip(&self.states).position(|(&n, &state)| n != expected(state)) {
            Some(block) => Err(format!(
                "super block {block} is {:?} and in use {} times",
                self.states[block], seen[block]
            )),
            None => Ok(()),
        }
    }
}
