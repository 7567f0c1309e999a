//! What a die's blocks hold: how many pages of each block have been programmed since its erase, and how much wear
//! suspensions have added.

use crate::numbers::{BlockId, WordLineId};
use crate::reprogram::Status;

/// Programmed pages per (plane, block); pages of a block are programmed in order.
#[derive(Clone, Debug)]
pub struct Blocks {
    programmed: Box<[u16]>,
    /// One bit for each that is full, which most are: a read looks at one line of the cache a die, not at one a few blocks.
    full: Box<[u64]>,
    /// Wear by suspensions in millionths of a program/erase cycle; empty until there is some.
    stress_ppm: Vec<u64>,
    /// Status of each word line of the blocks that hold two bits per cell; empty until there is one.
    two_bit: Vec<Option<Box<[Option<Status>]>>>,
    blocks_per_plane: u32,
    pages_per_block: u32,
}

impl Blocks {
    /// All blocks erased.
    pub fn new(planes: u32, blocks_per_plane: u32, pages_per_block: u32) -> Blocks {
        let blocks = (planes * blocks_per_plane) as usize;
        Blocks {
            programmed: vec![0; blocks].into_boxed_slice(),
            full: vec![0; blocks.div_ceil(64)].into_boxed_slice(),
            stress_ppm: Vec::new(),
            two_bit: Vec::new(),
            blocks_per_plane,
            pages_per_block,
        }
    }

    /// Pages programmed since the last erase.
    #[inline]
    pub fn programmed(&self, plane: u32, block: BlockId) -> u16 {
        self.programmed[self.index(plane, block)]
    }

    /// Whether a page has been programmed since the last erase.
    #[inline(always)]
    pub fn is_programmed(&self, plane: u32, block: BlockId, page: u32) -> bool {
        let at = self.index(plane, block);
        let full = self.full[at / 64] >> (at % 64) & 1 != 0;
        full && page < self.pages_per_block || page < u32::from(self.programmed[at])
    }

    /// Sets the number of programmed pages (programs, erases, preconditioning).
    #[inline]
    pub fn set_programmed(&mut self, plane: u32, block: BlockId, pages: u16) {
        let at = self.index(plane, block);
        self.set(at, pages);
        if !self.two_bit.is_empty() {
            self.two_bit[at] = None;
        }
    }

    /// Sets the number of programmed pages of a block whose word lines hold two bits per cell, the unused ones counted.
    pub(super) fn set_programmed_two_bit(&mut self, plane: u32, block: BlockId, pages: u16) {
        let at = self.index(plane, block);
        self.set(at, pages);
    }

    #[inline]
    fn set(&mut self, at: usize, pages: u16) {
        self.programmed[at] = pages;
        let bit = 1 << (at % 64);
        if u32::from(pages) == self.pages_per_block {
            self.full[at / 64] |= bit;
        } else {
            self.full[at / 64] &= !bit;
        }
    }

    /// Whether the word lines of a block hold two bits per cell.
    #[inline]
    pub fn is_two_bit(&self, plane: u32, block: BlockId) -> bool {
        !self.two_bit.is_empty() && self.two_bit[self.index(plane, block)].is_some()
    }

    /// RPCnt and Distribution ID of a word line with two bits per cell, as the die keeps them; panics on any other.
    pub fn status(&self, plane: u32, block: BlockId, word_line: WordLineId) -> Status {
        let of = self.two_bit.get(self.index(plane, block)).and_then(Option::as_ref);
        of.and_then(|lines| lines[word_line.index()]).expect("a word line with two bits per cell")
    }

    /// Notes the status of a word line; a block of which this is the first has so many.
    pub(super) fn set_status(
        &mut self,
        plane: u32,
        block: BlockId,
        word_line: WordLineId,
        status: Status,
        word_lines: u32,
    ) {
        if self.two_bit.is_empty() {
            self.two_bit = vec![None; self.programmed.len()];
        }
        let at = self.index(plane, block);
        let lines = self.two_bit[at].get_or_insert_with(|| vec![None; word_lines as usize].into());
        lines[word_line.index()] = Some(status);
    }

    /// Adds the wear of a suspension, in millionths of a program/erase cycle.
    pub fn add_stress(&mut self, plane: u32, block: BlockId, ppm: u32) {
        if self.stress_ppm.is_empty() {
            self.stress_ppm = vec![0; self.programmed.len()];
        }
        let at = self.index(plane, block);
        self.stress_ppm[at] += u64::from(ppm);
    }

    /// Whole program/erase cycles that suspensions have added to a block's wear.
    #[inline]
    pub fn stress_cycles(&self, plane: u32, block: BlockId) -> u32 {
        let ppm = self.stress_ppm.get(self.index(plane, block)).copied().unwrap_or(0);
        u32::try_from(ppm / 1_000_000).unwrap_or(u32::MAX)
    }

    #[inline]
    fn index(&self, plane: u32, block: BlockId) -> usize {
        // Else it would be a block of the next plane.
        assert!(block.0 < self.blocks_per_plane, "block {block} of {}", self.blocks_per_plane);
        (plane * self.blocks_per_plane + block.0) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpulse_engine::Streams;

    const PLANES: u32 = 2;
    const BLOCKS: u32 = 70;
    const PAGES: u32 = 12;

    /// What is programmed goes by the count, and only full blocks have their bit, whatever they held before.
    #[test]
    fn full_blocks_are_those_with_all_pages() {
        let mut blocks = Blocks::new(PLANES, BLOCKS, PAGES);
        let mut rng = Streams::new(7).stream("blocks", 0);
        let mut full = 0;
        for _ in 0..5_000 {
            let (plane, block) =
                (rng.below(u64::from(PLANES)) as u32, BlockId(rng.below(u64::from(BLOCKS)) as u32));
            let pages = [0, rng.below(u64::from(PAGES)) as u16, PAGES as u16][rng.below(3) as usize];
            if rng.below(2) == 0 {
                blocks.set_programmed(plane, block, pages);
            } else {
                blocks.set_programmed_two_bit(plane, block, pages);
            }
            (0..PAGES + 2).for_each(|page| {
                assert_eq!(
                    blocks.is_programmed(plane, block, page),
                    page < u32::from(pages),
                    "page {page} of {pages}"
                );
            });
            let at = blocks.index(plane, block);
            assert_eq!(blocks.full[at / 64] >> (at % 64) & 1 == 1, u32::from(pages) == PAGES);
            full += u32::from(u32::from(pages) == PAGES);
        }
        let bits: u32 = blocks.full.iter().map(|word| word.count_ones()).sum();
        let counted = blocks.programmed.iter().filter(|&&pages| u32::from(pages) == PAGES).count();
        assert_eq!(bits as usize, counted, "no other block is full");
        assert!(full > 1_000 && counted > 20, "{full} times full, {counted} in the end");
    }
}
