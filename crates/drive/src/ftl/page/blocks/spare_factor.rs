//! Effective spare factor, for comparison with formulas.

use crate::ftl::page::blocks::manager::BlockManager;

/// Spare space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spare {
    /// The effective spare factor: physical units that collection works with over logical ones, less one.
    pub factor: f64,
    /// The effective utilisation rho, logical over such physical units.
    pub utilisation: f64,
}

impl BlockManager {
    /// The share of spare space that garbage collection works with: physical units without the free reserve
    /// and the unwritten part of the open blocks, over logical units, less one.
    ///
    /// It is the mean over the choices of a victim in preconditioning, where collection is instantaneous. Host
    /// data has then just opened a block (one program of it is written) and left `soft_free - 1` blocks
    /// free; erasing a victim makes up for the block that moving its data may have taken. The open
    /// block of moved data holds any number of units from none (there is none open) to one less than all,
    /// equally likely. In simulated time a slow collection works with fewer free blocks than that.
    pub fn effective_spare(&self) -> Spare {
        self.spare_beside(0.0)
    }

    /// As [`BlockManager::effective_spare`], of a drive at work, which has one more victim in hand on each lane, of which only what
    /// did not fill a program has not been moved.
    pub fn effective_spare_at_work(&self) -> Spare {
        let left = f64::from(self.layout.units_per_program - 1) / 2.0;
        self.spare_beside(f64::from(self.layout.units_per_block) - left)
    }

    /// With so many more units of each lane that are not usable.
    fn spare_beside(&self, being_collected: f64) -> Spare {
        let block = f64::from(self.layout.units_per_block);
        let unwritten = if self.config().policy.imposes() {
            // No victims: nothing is kept free.
            0.0
        } else if let Some(pages) = self.config().soft_pages {
            being_collected + f64::from(pages.least * self.layout.planes * self.layout.units_per_page())
        } else {
            let host = block - f64::from(self.layout.units_per_program);
            let moved = (block - 1.0) / 2.0;
            being_collected + f64::from(self.config().soft_free - 1) * block + host + moved
        };
        let usable = (f64::from(self.layout.blocks) * block - unwritten) * f64::from(self.layout.lanes);
        let logical = f64::from(self.config().logical_units);
        Spare { factor: usable / logical - 1.0, utilisation: logical / usable }
    }
}
