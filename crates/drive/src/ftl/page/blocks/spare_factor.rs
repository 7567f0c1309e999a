//! Effective spare factor: of preconditioning in advance, and as victim choices of a run see it.

use crate::ftl::page::blocks::manager::BlockManager;
use crate::numbers::{Lane, SuperBlock};
use interpulse_flash::cell_mode::CellMode;

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
    /// moving its data may have taken. The open block of moved data holds zero to all but one units, equally likely. A run
    /// differs: collection takes time, and the write cache holds units (`BlockManager::victim_chosen`).
    pub fn effective_spare(&self) -> Spare {
        let block = f64::from(self.layout.units_per_block);
        let unwritten = if self.config().policy.imposes() {
            0.0
        } else if let Some(pages) = self.config().soft_pages {
            f64::from(pages.least * self.layout.planes * self.layout.units_per_page())
        } else {
            let host = block - f64::from(self.layout.units_per_program);
            let moved = (block - 1.0) / 2.0;
            f64::from(self.config().soft_free - 1) * block + host + moved
        };
        // The open block of translation pages is half full on average.
        let map_open = if self.config().translation_pages > 0 { block / 2.0 } else { 0.0 };
        let lane = f64::from(self.layout.blocks) * block - unwritten - map_open;
        let usable = lane * f64::from(self.layout.lanes) - f64::from(self.config().translation_pages);
        let logical = f64::from(self.config().logical_units);
        Spare { factor: usable / logical - 1.0, utilisation: logical / usable }
    }

    /// Adds what `lane` holds to the sums, at the choice of `victim`.
    ///
    /// Blocks being emptied (but for `victim`), free ones and the unwritten part of open blocks hold nothing; a unit whose
    /// newest version is in the write cache is not valid on flash. Scans the blocks of the lane, once for each erase.
    pub(crate) fn victim_chosen(&mut self, lane: Lane, victim: SuperBlock) {
        let (block, of) = (u64::from(self.layout.units_per_block), &self.lanes[lane.index()]);
        let full = self.layout.programs_per_block;
        let mut held = block;
        let mut valid = u64::from(self.map().valid_units(victim));
        for super_block in self.layout.blocks_of(lane) {
            // A block whose last programs are under way is no candidate yet.
            let mode = self.cell_mode(super_block);
            let other = mode != CellMode::Native;
            if self.map().is_candidate(super_block) || self.in_flight[super_block.index()] > 0 || other {
                valid += u64::from(self.map().valid_units(super_block));
                held += if other { u64::from(self.layout.units_per_block_in(mode)) } else { block };
            }
        }
        for open in of.write_pointers.iter().filter(|open| open.next_program < full) {
            let programmed = u64::from(open.next_program * self.layout.units_per_program);
            if self.in_flight[open.block.index()] > 0 {
                held -= block - programmed;
            } else {
                valid += u64::from(self.map().valid_units(open.block));
                held += programmed;
            }
        }
        self.spare_seen.held += held;
        self.spare_seen.valid += valid;
    }
}
