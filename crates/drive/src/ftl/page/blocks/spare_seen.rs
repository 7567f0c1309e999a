//! Spare space as the victim choices of a run see it.

/// Sums over victim choices: what spare space garbage collection worked with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpareSeen {
    /// Units of the blocks that hold data.
    pub held: u64,
    /// Valid units.
    pub valid: u64,
}

impl SpareSeen {
    /// Adds the sums of another drive.
    pub fn add(&mut self, other: &SpareSeen) {
        self.held += other.held;
        self.valid += other.valid;
    }

    /// Sums since an earlier reading.
    pub fn since(&self, before: &SpareSeen) -> SpareSeen {
        SpareSeen { held: self.held - before.held, valid: self.valid - before.valid }
    }

    /// Effective spare factor: units that collection works with over valid ones, less one; `None` if no victim was chosen,
    /// or nothing is valid.
    pub fn factor(&self) -> Option<f64> {
        (self.valid > 0).then(|| self.held as f64 / self.valid as f64 - 1.0)
    }
}
