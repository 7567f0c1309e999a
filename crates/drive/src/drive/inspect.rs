//! Read-only access to counters, wear and free space of a drive's FTL.

use super::Drive;
use crate::cache::Cache;
use crate::ftl::page::blocks::layout::Layout;
use crate::ftl::{
    BlockManager, Ftl, FtlCounters, FtlFamily, GcWindow, MetadataWritten, Rewritten, Spare, Wear,
};
use crate::numbers::{Lane, SuperBlock};

impl Drive {
    /// Counters of the FTL since the start.
    pub fn ftl_counters(&self) -> FtlCounters {
        *self.ftl.counters()
    }

    /// P/E cycles of a super block.
    pub fn pe_cycles(&self, super_block: SuperBlock) -> u32 {
        self.ftl.pe_cycles(super_block)
    }

    /// Spare space that garbage collection works with.
    pub fn effective_spare(&self) -> Spare {
        self.ftl.effective_spare()
    }

    /// P/E cycles over all super blocks.
    pub fn wear(&self) -> Wear {
        self.ftl.wear()
    }

    /// Logical units.
    pub fn logical_units(&self) -> u32 {
        self.ftl.logical_units()
    }

    /// Pages of all planes that hold nothing since their erase.
    pub fn free_pages(&self) -> u64 {
        self.ftl.free_pages()
    }

    /// Free super blocks of each lane, in order.
    pub fn free_blocks_by_lane(&self) -> impl Iterator<Item = u32> {
        Lane::first(self.layout().lanes).map(|lane| self.ftl.free_blocks(lane))
    }

    /// Lanes that need garbage collection.
    pub fn collecting_lanes(&self) -> u32 {
        Lane::first(self.layout().lanes).filter(|&lane| self.ftl.wants_gc(lane)).count() as u32
    }

    /// Whether the FTL chooses victims and collects them.
    pub fn collects(&self) -> bool {
        self.ftl.collects()
    }

    /// Address arithmetic of super blocks and lanes.
    pub fn layout(&self) -> &Layout {
        self.ftl.layout()
    }

    /// The write cache.
    pub fn cache(&self) -> &Cache {
        self.ftl.cache()
    }

    /// Blocks rewritten for age or reads.
    pub fn rewritten(&self) -> Rewritten {
        self.ftl.rewritten()
    }

    /// MetadataRegion programs and checkpoints.
    pub fn metadata_written(&self) -> MetadataWritten {
        self.ftl.metadata_written()
    }

    /// Collections inside and outside the GC window.
    pub fn gc_window(&self) -> &GcWindow {
        self.ftl.gc_window()
    }

    /// Reads whose version the audit has checked.
    pub fn versions_checked(&self) -> u64 {
        self.ftl.versions_checked()
    }

    /// Block manager of the page-mapped FTL.
    pub fn block_manager(&self) -> &BlockManager {
        let FtlFamily::Page(ftl) = &self.ftl;
        &ftl.blocks
    }

    /// Lets every `n`-th look-up of map entries miss, for tests of the waiting path.
    #[cfg(feature = "scripted-misses")]
    pub fn miss_every(&mut self, n: u32) {
        let FtlFamily::Page(ftl) = &mut self.ftl;
        ftl.residency = crate::ftl::page::mapping::residency::Residency::EveryNth { n, looked_up: 0 };
    }
}
