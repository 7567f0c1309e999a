//! What a die's blocks hold: how many pages of each block have been programmed since its erase.

/// Programmed pages per (plane, block); pages of a block are programmed in order.
#[derive(Clone, Debug)]
pub struct Blocks {
    programmed: Box<[u16]>,
    blocks_per_plane: u32,
}

impl Blocks {
    /// All blocks erased.
    pub fn new(planes: u32, blocks_per_plane: u32) -> Blocks {
        Blocks {
            programmed: vec![0; (planes * blocks_per_plane) as usize].into_boxed_slice(),
            blocks_per_plane,
        }
    }

    /// Pages programmed since the last erase.
    #[inline]
    pub fn programmed(&self, plane: u32, block: u32) -> u16 {
        self.programmed[self.index(plane, block)]
    }

    /// Sets the number of programmed pages (programs, erases, preconditioning).
    #[inline]
    pub fn set_programmed(&mut self, plane: u32, block: u32, pages: u16) {
        self.programmed[self.index(plane, block)] = pages;
    }

    #[inline]
    fn index(&self, plane: u32, block: u32) -> usize {
        // Else it would be a block of the next plane.
        assert!(block < self.blocks_per_plane, "block {block} of {}", self.blocks_per_plane);
        (plane * self.blocks_per_plane + block) as usize
    }
}
