//! P/E cycles of the super blocks of a drive.

/// P/E cycles of super blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wear {
    /// Of the least worn block.
    pub fewest: u32,
    /// Of the most worn block.
    pub most: u32,
    /// Sum over all blocks.
    pub sum: u64,
}

impl Wear {
    /// Wear of blocks with these P/E cycles.
    pub fn of(cycles: &[u32]) -> Wear {
        let (fewest, most) = (cycles.iter().min(), cycles.iter().max());
        let sum = cycles.iter().map(|&c| u64::from(c)).sum();
        Wear { fewest: fewest.copied().unwrap_or(0), most: most.copied().unwrap_or(0), sum }
    }

    /// Combines the wear of two sets of blocks.
    #[must_use]
    pub fn and(self, other: Wear) -> Wear {
        let (fewest, most) = (self.fewest.min(other.fewest), self.most.max(other.most));
        Wear { fewest, most, sum: self.sum + other.sum }
    }
}
