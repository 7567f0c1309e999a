//! Read-only view of a drive for reports, warm-up, recordings and arrays.

use super::Drive;
use crate::ftl::layout::Layout;
use crate::ftl::log_block::tables::LogBlockTables;
use crate::ftl::page::mapping::table::Where;
use crate::ftl::page::placement::counters::PlacementCounters;
use crate::ftl::page::power_loss::oob::Oob;
use crate::ftl::page::wear::health::Health;
use crate::ftl::zoned::tables::ZoneTables;
use crate::ftl::{
    BlockManager, Ftl, FtlCounters, FtlFamily, GcWindow, LogBlockFtl, MetadataWritten, NamespacedFtl,
    Rewritten, SlcCache, SpareSeen, Wear, ZonedFtl,
};
use crate::numbers::{Lane, Lpn};
use crate::spec::DriveSpec;
use interpulse_engine::Bytes;
use interpulse_flash::DieId;

impl Drive {
    /// FTL counters since the start.
    pub fn ftl_counters(&self) -> FtlCounters {
        self.ftl.counters()
    }

    /// P/E cycles of all super blocks.
    pub fn wear(&self) -> Wear {
        self.ftl.wear()
    }

    /// P/E cycles of the super blocks `first..first + count` of every lane of a die.
    pub fn block_cycles(&self, die: DieId, first: u32, count: u32) -> impl Iterator<Item = u32> {
        let layout = self.layout();
        let blocks = move |lane| layout.blocks_of(lane).skip(first as usize).take(count as usize);
        layout.lanes_of(die).flat_map(blocks).map(|block| self.ftl.pe_cycles(block))
    }

    /// Logical capacity in mapping units.
    pub fn logical_units(&self) -> u32 {
        self.ftl.logical_units()
    }

    /// Lanes.
    pub fn lanes(&self) -> u32 {
        self.layout().lanes
    }

    /// Super blocks of a lane.
    pub fn blocks_per_lane(&self) -> u32 {
        self.layout().blocks
    }

    /// Super blocks of all lanes.
    pub fn super_blocks(&self) -> u32 {
        self.layout().super_blocks()
    }

    /// Mapping units of a band: one super block of every lane.
    pub fn band_units(&self) -> u64 {
        u64::from(self.lanes()) * u64::from(self.layout().units_per_block)
    }

    /// Mapping units that fill what every lane collects first.
    pub fn cycle_units(&self) -> u64 {
        u64::from(self.ftl.blocks_before_steady_collection()) * self.band_units()
    }

    /// Free super blocks of each lane.
    pub fn free_blocks(&self) -> impl Iterator<Item = u32> {
        Lane::first(self.lanes()).map(|lane| self.ftl.free_blocks(lane))
    }

    /// Free super blocks of a lane that host data may not take.
    pub fn hard_free_blocks(&self) -> u32 {
        self.block_manager().config().hard_free
    }

    /// Pages without a program since their erase.
    pub fn free_pages(&self) -> u64 {
        self.ftl.free_pages()
    }

    /// Spare space that garbage collection saw at its victim choices since the start.
    pub fn spare_seen(&self) -> SpareSeen {
        self.ftl.spare_seen()
    }

    /// Counters of the placement handles since the start; `None` without handles.
    pub fn placement(&self) -> Option<&PlacementCounters> {
        self.ftl.placement()
    }

    /// Placement handle that wrote the flash copy of `lpn`; `None` without handles or without such a copy.
    pub fn handle_of(&self, lpn: Lpn) -> Option<u8> {
        let FtlFamily::Page(ftl) = &self.ftl else { return None };
        match ftl.blocks.map().get(lpn) {
            Where::Flash(ppu) => ftl.handles.as_ref().map(|handles| handles.of_unit(ppu)),
            Where::Cache(_) | Where::Unmapped => None,
        }
    }

    /// Reclaim group that has the flash copy of `lpn`, as [`Drive::handle_of`].
    pub fn group_of(&self, lpn: Lpn) -> Option<u32> {
        let FtlFamily::Page(ftl) = &self.ftl else { return None };
        let (groups, layout) = (&ftl.handles.as_ref()?.groups, &ftl.blocks.layout);
        match ftl.blocks.map().get(lpn) {
            Where::Flash(ppu) => Some(groups.of_block(layout, layout.block_of(ppu))),
            Where::Cache(_) | Where::Unmapped => None,
        }
    }

    /// Whether garbage collection runs; false with synthetic write amplification.
    pub fn collects_garbage(&self) -> bool {
        self.ftl.collects()
    }

    /// Lanes below the soft threshold of garbage collection.
    pub fn collecting_lanes(&self) -> u32 {
        Lane::first(self.lanes()).filter(|&lane| self.ftl.wants_gc(lane)).count() as u32
    }

    /// Garbage collection inside and outside the GC windows of an array.
    pub fn gc_window(&self) -> GcWindow {
        self.ftl.gc_window()
    }

    /// Look-ups of map entries and hits by submission queue, since the start; empty with the full table or one queue.
    pub fn map_lookups_by_queue(&self) -> &[[u64; 2]] {
        self.ftl.map_lookups_by_queue()
    }

    /// SLC cache, if the drive has one.
    pub fn slc(&self) -> Option<&SlcCache> {
        self.ftl.slc()
    }

    /// Blocks rewritten because of their age or their reads.
    pub fn rewritten(&self) -> Rewritten {
        self.ftl.rewritten()
    }

    /// Bad blocks, reserved blocks and failures; `None` if no block can fail.
    pub fn health(&self) -> Option<Health> {
        self.ftl.health()
    }

    /// Stalls that faults have caused; `None` if the configuration injects no faults.
    pub fn stalls(&self) -> Option<u64> {
        self.faults.as_ref().map(|of| of.stalls)
    }

    /// Power-loss metadata written to flash.
    pub fn metadata_written(&self) -> MetadataWritten {
        self.ftl.metadata_written()
    }

    /// Reads whose version the audit has checked.
    pub fn versions_checked(&self) -> u64 {
        self.ftl.versions_checked()
    }

    /// Write cache slots in use: dirty or being programmed.
    pub fn cache_used(&self) -> u32 {
        let cache = self.ftl.cache_use();
        cache.dirty + cache.in_flight
    }

    /// Free write cache slots.
    pub fn cache_free(&self) -> usize {
        self.ftl.cache_use().free
    }

    /// Address arithmetic of lanes and super blocks.
    pub fn layout(&self) -> &Layout {
        self.ftl.layout()
    }

    /// Block manager. Panics if the FTL is not page-mapped.
    pub fn block_manager(&self) -> &BlockManager {
        match &self.ftl {
            FtlFamily::Page(ftl) => &ftl.blocks,
            FtlFamily::Zoned(_) | FtlFamily::LogBlock(_) | FtlFamily::Namespaces(_) => {
                panic!("the drive has no block manager")
            }
        }
    }

    /// FTL of the sequential zones of a zoned drive.
    pub fn zoned(&self) -> Option<&ZonedFtl> {
        self.ftl.zoned()
    }

    /// FTL of a drive with log blocks.
    pub fn log_block(&self) -> Option<&LogBlockFtl> {
        self.ftl.log_block()
    }

    /// FTLs of the namespaces, if the drive has namespaces; of a drive with conventional zones, that of these and the zoned one.
    #[inline]
    pub fn namespaces(&self) -> Option<&NamespacedFtl> {
        self.ftl.namespaces()
    }

    /// Zones from the one that holds `lpn` on.
    pub(super) fn zones_from(&self, lpn: Lpn) -> u32 {
        let (ftl, lpn) = match self.namespaces() {
            Some(of) if of.is_one_namespace() => {
                let units = self.zoned().map_or(1, |ftl| ftl.geometry().distance);
                return of.logical_units() / units - lpn.0 / units;
            }
            None => (self.zoned(), lpn),
            Some(of) => {
                let namespace = &of.all()[of.namespace_of(lpn)];
                (namespace.zoned(), Lpn(lpn.0 - namespace.first().0))
            }
        };
        ftl.map_or(0, |ftl| ftl.geometry().zones - ftl.geometry().split(lpn).zone)
    }

    /// Lets every `n`-th look-up of map entries miss, for tests of the waiting path.
    #[cfg(feature = "scripted-misses")]
    pub fn miss_every(&mut self, n: u32) {
        let FtlFamily::Page(ftl) = &mut self.ftl else { panic!("a zoned drive has no map") };
        ftl.residency = crate::ftl::page::mapping::residency::Residency::EveryNth { n, looked_up: 0 };
    }
}

impl DriveSpec {
    /// Bytes of memory that the mapping tables of such a drive take at most; `sampled` if preconditioning samples uniform
    /// overwrites. The spec must be valid.
    pub fn mapping_bytes(&self, sampled: bool) -> u64 {
        if self.is_divided() {
            let namespaces = self.namespaces().expect("the spec is valid");
            return namespaces.iter().map(|of| of.mapping_bytes(sampled)).sum();
        }
        let layout = self.layout().expect("the spec is valid");
        if let Some(zones) = self.zone_geometry().expect("the spec is valid") {
            let oob = if self.power_loss.is_some() { Oob::bytes(layout.units()) } else { 0 };
            return ZoneTables::file_bytes(&layout, &zones) + oob;
        }
        if let Some(blocks) = self.log_block_geometry().expect("the spec is valid") {
            // The state as in a file, an entry of the map for each unit, and one for each that a merge copies.
            return LogBlockTables::file_bytes(&layout, &blocks) + 4 * u64::from(blocks.logical_units());
        }
        let logical_units = self.ftl_config().expect("the spec is valid").mapped_units();
        let (logical, physical) = (u64::from(logical_units), layout.units());
        // Out-of-band data, checkpoint entries and the map that recovery rebuilds beside the live one.
        let power_loss = if self.power_loss.is_some() { Oob::bytes(physical) + 28 * logical } else { 0 };
        // One number per logical unit and one bit per unit, released before the power-loss data is allocated.
        let sampling = if sampled { 4 * logical + (logical + physical) / 8 } else { 0 };
        // Slots by entry or page, and the state of each page.
        let cached =
            self.ftl.mapping.cached().map_or(0, |of| if of.format.holds_entries() { 4 * logical } else { 0 });
        let copies = self.read_cache.map_or(0, |of| of.table_bytes(logical, self.geometry.unit_bytes));
        BlockManager::map_bytes(&layout, logical_units) + cached + copies + power_loss.max(sampling)
    }

    /// Memory of the modelled controller for the map. The spec must be valid.
    pub fn map_memory(&self) -> Bytes {
        let logical = u64::from(self.ftl_config().expect("the spec is valid").logical_units);
        let program = self.layout().expect("the spec is valid").units_per_program;
        self.ftl.mapping.memory(logical, self.geometry.unit_bytes, program)
    }
}
