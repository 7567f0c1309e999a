//! What a die's blocks hold: how many pages of each block have been programmed since its erase, and how much wear
//! suspensions have added.

/// Programmed pages per (plane, block); pages of a block are programmed in order.
#[derive(Clone, Debug)]
pub struct Blocks {
    programmed: Box<[u16]>,
    /// Wear by suspensions in millionths of a program/erase cycle; empty until there is some.
    stress_ppm: Vec<u64>,
    blocks_per_plane: u32,
}

impl Blocks {
    /// All blocks erased.
    pub fn new(planes: u32, blocks_per_plane: u32) -> Blocks {
        Blocks {
            programmed: vec![0; (planes * blocks_per_plane) as usize].into_boxed_slice(),
            stress_ppm: Vec::new(),
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

    /// Adds the wear of a suspension, in millionths of a program/erase cycle.
    pub fn add_stress(&mut self, plane: u32, block: u32, ppm: u32) {
        if self.stress_ppm.is_empty() {
            self.stress_ppm = vec![0; self.programmed.len()];
        }
        let at = self.index(plane, block);
        self.stress_ppm[at] += u64::from(ppm);
    }

    /// Whole program/erase cycles that suspensions have added to a block's wear.
    #[inline]
    pub fn stress_cycles(&self, plane: u32, block: u32) -> u32 {
        let ppm = self.stress_ppm.get(self.index(plane, block)).copied().unwrap_or(0);
        u32::try_from(ppm / 1_000_000).unwrap_or(u32::MAX)
    }

    #[inline]
    fn index(&self, plane: u32, block: u32) -> usize {
        // Else it would be a block of the next plane.
        assert!(block < self.blocks_per_plane, "block {block} of {}", self.blocks_per_plane);
        (plane * self.blocks_per_plane + block) as usize
    }
}
