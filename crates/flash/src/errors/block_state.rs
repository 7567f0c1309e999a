//! Block state that decides its bit errors: wear, data age, reads.

use crate::geometry::{BlockAddress, PageAddress};
use interpulse_engine::SimTime;

/// State of one block of one plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockState {
    /// Write time of the data, in ns of a clock that is [`BlockStates::age_offset`] ahead of simulated time.
    born: u64,
    /// Reads since the erase, retry steps included.
    pub reads: u32,
    /// Program/erase cycles.
    pub cycles: u32,
    /// Last successful read attempt.
    pub last_step: u8,
}

/// All blocks of an array.
#[derive(Clone, Debug)]
pub struct BlockStates {
    states: Box<[BlockState]>,
    planes: u32,
    blocks: u32,
    /// Age of the oldest data at the start of simulated time, in ns.
    age_offset: u64,
    /// ln of the rate of the errors that a copyback carried to each page, by block; empty without copybacks.
    carried: Vec<Option<Box<[i32]>>>,
}

/// No errors carried.
const NONE_CARRIED: i32 = i32::MIN;

impl BlockStates {
    /// Blocks without wear, with data of age `initial_age` ns.
    pub fn new(dies: u32, planes: u32, blocks: u32, initial_age: u64) -> BlockStates {
        let count = dies as usize * planes as usize * blocks as usize;
        BlockStates {
            states: vec![BlockState::default(); count].into(),
            planes,
            blocks,
            age_offset: initial_age,
            carried: Vec::new(),
        }
    }

    /// ln of the rate of the errors that a copyback carried to a page since the erase of its block.
    #[inline]
    pub fn carried(&self, at: PageAddress) -> Option<i32> {
        if self.carried.is_empty() {
            return None;
        }
        let pages = self.carried[self.index(at.of)].as_ref()?;
        Some(pages[at.page as usize]).filter(|&ln| ln != NONE_CARRIED)
    }

    /// A copyback carries errors with this ln of their rate to a page of a block of `pages` pages.
    pub fn carry(&mut self, to: PageAddress, ln: i32, pages: u32) {
        if self.carried.is_empty() {
            self.carried = vec![None; self.states.len()];
        }
        let at = self.index(to.of);
        let of = self.carried[at].get_or_insert_with(|| vec![NONE_CARRIED; pages as usize].into());
        of[to.page as usize] = ln;
    }

    /// The state of a block.
    #[inline]
    pub fn get(&self, at: BlockAddress) -> &BlockState {
        &self.states[self.index(at)]
    }

    /// Mutable state of a block.
    #[inline]
    pub fn get_mut(&mut self, at: BlockAddress) -> &mut BlockState {
        let at = self.index(at);
        &mut self.states[at]
    }

    /// As [`BlockStates::get_mut`]; `None` beyond the last block of the plane.
    pub fn get_if_any(&mut self, at: BlockAddress) -> Option<&mut BlockState> {
        (at.block.0 < self.blocks).then(|| self.get_mut(at))
    }

    /// Age of a block's data in ns.
    #[inline]
    pub fn age(&self, state: &BlockState, now: SimTime) -> u64 {
        now.as_ns() + self.age_offset - state.born
    }

    /// Sets wear and data age (at most the initial age) of a block at the start of a run.
    pub fn set_history(&mut self, at: BlockAddress, cycles: u32, age: u64) {
        let born = self.age_offset.checked_sub(age).expect("no data is older than the initial age");
        *self.get_mut(at) = BlockState { born, cycles, ..BlockState::default() };
    }

    /// Sets data age in ns and reads of a block at the start of a run; the age may exceed the initial age.
    pub fn set_past(&mut self, at: BlockAddress, age: u64, reads: u32) {
        if age > self.age_offset {
            let older = age - self.age_offset;
            self.states.iter_mut().for_each(|state| state.born += older);
            self.age_offset = age;
        }
        let born = self.age_offset - age;
        let state = self.get_mut(at);
        (state.born, state.reads) = (born, reads);
    }

    /// Records the program of the first page of a block.
    #[inline]
    pub fn programmed(&mut self, at: BlockAddress, now: SimTime) {
        let born = now.as_ns() + self.age_offset;
        self.get_mut(at).born = born;
    }

    /// Records the `cycles`-th erase of a block.
    #[inline]
    pub fn erased(&mut self, at: BlockAddress, cycles: u32) {
        let state = self.get_mut(at);
        *state = BlockState { cycles, born: state.born, ..BlockState::default() };
        let at = self.index(at);
        if let Some(carried) = self.carried.get_mut(at) {
            *carried = None;
        }
    }

    #[inline]
    fn index(&self, at: BlockAddress) -> usize {
        let BlockAddress { die, plane, block } = at;
        debug_assert!(plane < self.planes && block.0 < self.blocks);
        ((die.0 * self.planes + plane) as usize) * self.blocks as usize + block.index()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{BlockId, DieId};

    #[test]
    fn data_ages_from_its_first_program_on() {
        let mut blocks = BlockStates::new(2, 1, 4, 1000);
        let at = BlockAddress { die: DieId(1), plane: 0, block: BlockId(2) };
        assert_eq!(blocks.age(blocks.get(at), SimTime(50)), 1050);
        blocks.set_history(at, 7, 300);
        assert_eq!(blocks.age(blocks.get(at), SimTime(50)), 350);
        blocks.get_mut(at).reads = 9;
        blocks.erased(at, 8);
        assert_eq!((blocks.get(at).cycles, blocks.get(at).reads), (8, 0));
        blocks.programmed(at, SimTime(60));
        assert_eq!(blocks.age(blocks.get(at), SimTime(75)), 15);
        let other = BlockAddress { block: BlockId(3), ..at };
        blocks.set_history(other, 0, 40);
        blocks.set_past(at, 9_000, 5);
        assert_eq!((blocks.age(blocks.get(at), SimTime(1)), blocks.get(at).reads), (9_001, 5));
        assert_eq!((blocks.age(blocks.get(other), SimTime(1)), blocks.get(at).cycles), (41, 8));
    }
}
