//! Effective spare factor, for comparison with formulas.

use crate::ftl::page::blocks::manager::BlockManager;

/// Effective spare space of a drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spare {
    /// Effective spare factor: physical units that collection works with over logical ones, less one.
    pub factor: f64,
    /// Effective utilisation rho: logical units over such physical units.
    pub utilisation: f64,
}

impl BlockManager {
    /// Effective spare factor: physical units without the free reserve and the unwritten part of the open blocks, over
    /// logical units, less one.
    ///
    /// It is the mean over the victim choices of preconditioning, where collection takes no time. Host data has then just
    /// opened a block (one program written) and left `soft_free - 1` blocks free; erasing a victim replaces the block that
    /// moving its data may have taken. The open block of moved data holds zero to all but one units, equally likely. In
    /// simulated time a slow collection works with fewer free blocks.
    pub fn effective_spare(&self) -> Spare {
        self.spare_beside(0.0)
    }

    /// [`BlockManager::effective_spare`] of a working drive, which holds one more, mostly moved victim per lane.
    pub fn effective_spare_at_work(&self) -> Spare {
        let left = f64::from(self.layout.units_per_program - 1) / 2.0;
        self.spare_beside(f64::from(self.layout.units_per_block) - left)
    }

    /// Effective spare with `being_collected` more unusable units per lane.
    fn spare_beside(&self, being_collected: f64) -> Spare {
        let block = f64::from(self.layout.units_per_block);
        let unwritten = if self.config().policy.imposes() {
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
