//! SLC cache: host data first goes to blocks in SLC mode and is folded into native blocks later.
//!
//! ```text
//! host -> write cache -> super blocks in SLC mode -- fold --> native super blocks
//!                   \--- direct, where a lane has no room ---^
//! ```
//!
//! Each lane has its share of the cache. Folding is a collection of the lane: reads of the valid pages, native programs of the
//! relocation stream, an erase. It runs in idle time, above a share of blocks in use, and, with borrowed blocks, where the lane
//! is short of free ones. Data overwritten in the cache is never folded.

pub mod admission;
mod blocks;
mod cache;
pub(in crate::ftl::page) mod folding;
pub(in crate::ftl::page) mod folding_by_handle;
mod idle;
mod kept;
mod lists;
mod write_back;

use interpulse_engine::{Bytes, Duration, counters};
use interpulse_flash::geometry::Geometry;
use interpulse_settings::{ConfigError, Section, default, keys, optional, registry};

pub use admission::Admission;
pub(crate) use cache::KeptSlc;
pub use cache::SlcCache;
pub(crate) use idle::Folding;
pub(crate) use lists::SlcLists;

registry! {
    $ /// Where the blocks of an SLC cache come from.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SlcBlocks, each_kind {
        "static" => r#static::Static(it): "blocks set aside, used in SLC mode alone";
        "static-and-dynamic" => static_and_dynamic::StaticAndDynamic(it): "some blocks set aside, and others borrowed when these are in use";
        "dynamic" => dynamic::Dynamic(it): "blocks borrowed from the free ones, which collection does not need";
    }
}

/// Blocks of a lane when its cache wants another.
struct Space {
    /// Super blocks of the lane in SLC mode.
    used: u32,
    /// Most of them.
    most: u32,
    /// Erased super blocks set aside for the cache.
    own: u32,
    /// Free super blocks beyond those with which collection begins.
    to_spare: u32,
}

/// Source of the blocks of an SLC cache.
trait Region {
    /// Data that its blocks hold in SLC mode.
    fn size(&self) -> Bytes;

    /// Of this, data in blocks that are set aside.
    fn own_size(&self) -> Bytes;

    /// Whether a lane may open another block.
    fn may_open(&self, lane: &Space) -> bool;
}

const DAY: Duration = Duration::from_ms(24 * 3_600_000);

keys! {
    /// SLC cache.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct SlcSpec, fn keys(s) {
        /// where the blocks of the SLC cache come from
        pub kind: SlcBlocks = policy(None, SlcBlocks::ROWS),
        /// host data that goes through the SLC cache; other data goes to native blocks directly
        pub admission: Admission = policy(Some("all-writes"), Admission::ROWS),
        /// time without commands after which the SLC cache is folded
        pub idle_delay: Duration = duration(default(Duration::from_ms(100)).positive().at_most(DAY)),
        /// share of a lane's blocks of the SLC cache in use at which folding begins though commands arrive; if left out, they are
        /// folded in idle time, and where borrowed ones are needed
        pub fold_above: Option<f64> = optional_fraction(optional().positive().at_most(1.0)),
        /// share of these blocks at which it ends
        pub fold_below: f64 => {
            let doc = "share of these blocks in use at which folding ends";
            let read = |s: &mut Section| s.fraction("fold-below", doc, default(0.0).at_most(1.0));
            s.when(fold_above.is_some(), "a given fold-above", read)?.unwrap_or(0.0)
        },
    } check {
        let lower = fold_above.is_none_or(|above| fold_below < above);
        s.check_together(lower, &["fold-below", "fold-above"], "folding ends below the share at which it begins")?;
    }
}

impl SlcSpec {
    /// Reads the section `slc-cache` of the FTL; `None` without it.
    pub fn read(ftl: &mut Section) -> Result<Option<SlcSpec>, ConfigError> {
        let mut section = ftl.section("slc-cache")?;
        let given = !section.is_empty();
        section.when(given, "a section [ftl.slc-cache]", SlcSpec::keys)
    }

    /// Super blocks of each lane with which the cache reaches its size, on lanes of `planes` planes.
    pub fn blocks_of_lane(&self, geometry: &Geometry, planes: u32) -> u32 {
        let (size, own) = each_kind!(self.kind, it => (it.size(), it.own_size()));
        let borrowed = blocks_for(Bytes(size.get() - own.get()), geometry, planes);
        self.own_blocks_of_lane(geometry, planes).saturating_add(borrowed)
    }

    /// Of [`SlcSpec::blocks_of_lane`], those that are set aside.
    pub fn own_blocks_of_lane(&self, geometry: &Geometry, planes: u32) -> u32 {
        blocks_for(each_kind!(self.kind, it => it.own_size()), geometry, planes)
    }

    /// Whether the cache borrows free blocks.
    pub fn borrows_blocks(&self) -> bool {
        each_kind!(self.kind, it => it.own_size() < it.size())
    }

    /// Mapping units of the largest write that goes through the cache, if there is a limit.
    pub(crate) fn largest_units(&self, geometry: &Geometry) -> Option<u32> {
        let units = |bytes: Bytes| bytes.get() / geometry.unit_bytes;
        self.admission.largest_write().map(|bytes| units(bytes).min(u64::from(u32::MAX)) as u32)
    }

    fn may_open(&self, lane: &Space) -> bool {
        each_kind!(self.kind, it => it.may_open(lane))
    }
}

/// Super blocks of each lane, of `planes` planes, that hold `size` in SLC mode.
fn blocks_for(size: Bytes, geometry: &Geometry, planes: u32) -> u32 {
    let page = geometry.unit_bytes * u64::from(geometry.units_per_page);
    let lanes = u64::from(geometry.dies()) * u64::from(geometry.planes / planes.max(1));
    let row = page * u64::from(geometry.word_lines) * u64::from(planes.max(1)) * lanes.max(1);
    size.get().div_ceil(row).min(u64::from(u32::MAX)) as u32
}

counters! {
    /// Counters of an SLC cache.
    pub struct SlcCounters {
        /// units of host data programmed in SLC mode
        slc_units: "units",
        /// units of host data programmed in native blocks directly
        direct_units: "units",
        /// of these, units that the cache admits, without room for them
        overflow_units: "units",
        /// units moved from SLC mode to native blocks; gc_units has them too
        folded_units: "units",
        /// native programs with such units
        fold_programs: "operations",
        /// super blocks opened in SLC mode
        opened_blocks: "blocks",
        /// super blocks chosen for folding
        folded_blocks: "blocks",
        /// of these, super blocks without valid units
        empty_blocks: "blocks",
        /// erases of super blocks in SLC mode
        slc_erases: "blocks",
    }
}
