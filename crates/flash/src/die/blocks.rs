//! Content of a die's blocks: programmed pages since the erase, cell mode, wear added by suspensions.

use crate::cell_mode::CellMode;
use crate::ids::{BlockId, WordLineId};
use crate::reprogram::Status;

/// Programmed pages per (plane, block); pages of a block are programmed in order.
#[derive(Clone, Debug)]
pub struct Blocks {
    programmed: Box<[u16]>,
    /// One bit for each that is full, which most are: a read looks at one line of the cache a die, not at one a few blocks.
    full: Box<[u64]>,
    /// Wear by suspensions in millionths of a program/erase cycle; empty until there is some.
    stress_ppm: Vec<u64>,
    /// Cell mode of each block; empty while all are native.
    modes: Vec<CellMode>,
    /// Status of each word line of the reprogrammable blocks; empty until there is one.
    statuses: Vec<Option<Box<[Option<Status>]>>>,
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
            modes: Vec::new(),
            statuses: Vec::new(),
            blocks_per_plane,
            pages_per_block,
        }
    }

    /// Pages programmed since the last erase.
    #[inline]
    pub fn programmed(&self, plane: u32, block: BlockId) -> u16 {
        self.programmed[self.index(plane, block)]
    }

    /// Panics if the die has no such block.
    #[inline(always)]
    pub(super) fn check_address(&self, block: BlockId) {
        assert!(block.0 < self.blocks_per_plane, "block {block} of {}", self.blocks_per_plane);
    }

    /// Whether a page has been programmed since the last erase.
    #[inline(always)]
    pub fn is_programmed(&self, plane: u32, block: BlockId, page: u32) -> bool {
        if block.0 >= self.blocks_per_plane {
            return false;
        }
        let at = self.index(plane, block);
        let full = self.full[at / 64] >> (at % 64) & 1 != 0;
        full && page < self.pages_per_block || page < u32::from(self.programmed[at])
    }

    /// Sets the number of programmed pages (programs, erases, preconditioning) of a block, which is native from now on.
    #[inline]
    pub fn set_programmed(&mut self, plane: u32, block: BlockId, pages: u16) {
        let at = self.index(plane, block);
        self.set(at, pages);
        if !self.modes.is_empty() {
            self.reset_mode(at);
        }
    }

    #[inline(never)]
    fn reset_mode(&mut self, at: usize) {
        self.modes[at] = CellMode::Native;
        if !self.statuses.is_empty() {
            self.statuses[at] = None;
        }
    }

    /// Sets the number of programmed pages, unused ones included, of a block in a mode other than native.
    pub fn set_programmed_in(&mut self, mode: CellMode, plane: u32, block: BlockId, pages: u16) {
        if self.modes.is_empty() {
            self.modes = vec![CellMode::Native; self.programmed.len()];
        }
        let at = self.index(plane, block);
        self.modes[at] = mode;
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

    /// Whether no block has been in another mode so far.
    #[inline]
    pub(super) fn are_native(&self) -> bool {
        self.modes.is_empty()
    }

    /// Cell mode of a block; native while it is erased.
    #[inline]
    pub fn mode(&self, plane: u32, block: BlockId) -> CellMode {
        if self.modes.is_empty() { CellMode::Native } else { self.modes[self.index(plane, block)] }
    }

    /// RPCnt and Distribution ID of a reprogrammable word line; panics on any other.
    pub fn status(&self, plane: u32, block: BlockId, word_line: WordLineId) -> Status {
        self.status_if_whole(plane, block, word_line).expect("a reprogrammable word line")
    }

    /// As [`Blocks::status`]; `None` for a word line that is erased or torn.
    pub fn status_if_whole(&self, plane: u32, block: BlockId, word_line: WordLineId) -> Option<Status> {
        let of = self.statuses.get(self.index(plane, block)).and_then(Option::as_ref);
        of.and_then(|lines| lines[word_line.index()])
    }

    /// Reprograms of all word lines of a block since its erase, of word lines that are not torn.
    pub fn reprograms(&self, plane: u32, block: BlockId) -> u32 {
        let of = self.statuses.get(self.index(plane, block)).and_then(Option::as_ref);
        of.map_or(0, |lines| lines.iter().flatten().map(|status| u32::from(status.reprograms)).sum())
    }

    /// A power cut has torn a word line of a reprogrammable block.
    pub(super) fn tear(&mut self, plane: u32, block: BlockId, word_line: WordLineId) {
        let at = self.index(plane, block);
        if let Some(Some(lines)) = self.statuses.get_mut(at) {
            lines[word_line.index()] = None;
        }
    }

    /// Sets the status of a word line of a reprogrammable block, which has `word_lines` word lines.
    pub(super) fn set_status(
        &mut self,
        plane: u32,
        block: BlockId,
        word_line: WordLineId,
        status: Status,
        word_lines: u32,
    ) {
        if self.statuses.is_empty() {
            self.statuses = vec![None; self.programmed.len()];
        }
        let at = self.index(plane, block);
        let lines = self.statuses[at].get_or_insert_with(|| vec![None; word_lines as usize].into());
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
        self.check_address(block);
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
                blocks.set_programmed_in(CellMode::Mlc, plane, block, pages);
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
