//! Configuration of an FTL: capacity, victim policy, thresholds of free space.

use crate::ftl::layout::Layout;
use crate::ftl::page::gc::victim::{GcPolicy, ThresholdBase};

/// Configuration of the FTL.
#[derive(Clone, Debug, PartialEq)]
pub struct FtlConfig {
    /// Logical capacity in units.
    pub logical_units: u32,
    /// Translation pages on flash, one unit each; none where the full table is in memory.
    pub translation_pages: u32,
    /// Victim policy.
    pub policy: GcPolicy,
    /// Garbage collection of a lane runs while it has fewer free super blocks than this.
    pub soft_free: u32,
    /// Replaces `soft_free` by a count of free pages; `None` where blocks are counted.
    pub soft_pages: Option<SoftPages>,
    /// Host data may not take the last this many free super blocks of a lane.
    pub hard_free: u32,
}

impl FtlConfig {
    /// Whether `lanes` lanes hold all logical units beside the blocks that collection keeps free, two that are open, and
    /// `set_aside` blocks of an SLC cache that the thresholds do not include.
    pub(crate) fn holds(&self, layout: &Layout, lanes: u32, set_aside: u32) -> bool {
        if lanes == 0 {
            return false;
        }
        let per_lane = f64::from(self.mapped_units()) / f64::from(lanes) / f64::from(layout.units_per_block);
        let free = match self.soft_pages {
            Some(_) => self.hard_free + 1,
            None => self.soft_free,
        };
        f64::from(layout.blocks - set_aside) - per_lane >= f64::from(free + 2) + 1.0
    }

    /// Full table in memory, thresholds in blocks.
    pub fn new(logical_units: u32, policy: GcPolicy, soft_free: u32, hard_free: u32) -> FtlConfig {
        FtlConfig { logical_units, translation_pages: 0, policy, soft_free, soft_pages: None, hard_free }
    }

    /// Raises the thresholds by `blocks` of each lane that an SLC cache sets aside, for preconditioning, or (`raise` false) lowers
    /// them by these when the cache takes them.
    pub(crate) fn set_aside(&mut self, layout: &Layout, blocks: u32, raise: bool) {
        let pages = blocks * layout.programs_per_block * layout.pages_per_program;
        let by = |of: &mut u32, n: u32| *of = if raise { *of + n } else { *of - n };
        by(&mut self.soft_free, blocks);
        by(&mut self.hard_free, blocks);
        if let Some(soft) = &mut self.soft_pages {
            by(&mut soft.least, pages);
        }
    }

    /// Entries of the map: units of the host, then translation pages.
    pub fn mapped_units(&self) -> u32 {
        self.logical_units + self.translation_pages
    }
}

/// Converts a threshold share to super blocks of a lane.
pub fn threshold_blocks(base: ThresholdBase, share: f64, blocks: u32, spare_blocks: f64) -> u32 {
    let of = match base {
        ThresholdBase::Blocks => f64::from(blocks),
        ThresholdBase::Spare => spare_blocks,
    };
    libm::round(share * of) as u32
}

/// Soft threshold in free pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SoftPages {
    /// Fewest free pages of each plane, those of open blocks included.
    pub least: u32,
    /// A running count, reduced by each programmed page and increased by a block per erase: pages passed over stay in it.
    pub keeps_passed_over: bool,
}
