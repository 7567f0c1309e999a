//! Write cache of a drive: its keys, its size in proportion to the flash, and the program buffers of a drive without one.

use super::acknowledge::Acknowledge;
use super::ftl::FtlSpec;
use crate::cache_writers::CachePartition;
use crate::ftl::page::placement::stripe::Allocation;
use interpulse_engine::{Bytes, Duration};
use interpulse_flash::geometry::Geometry;
use interpulse_flash::parts::PartSpec;
use interpulse_settings::{ConfigError, Section, default};

/// Write cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheSpec {
    /// Capacity; none for a drive without a write cache, which buffers the programs in formation only.
    pub size: Bytes,
    /// Time of a cache access.
    pub latency: Duration,
    /// Completion of writes; [`Acknowledge::WhenProgrammed`] without a cache.
    pub acknowledge: Acknowledge,
    /// Who shares the slots.
    pub partition: CachePartition,
    /// Capacitors keep the cache content through a power loss.
    pub protected: bool,
}

/// Smallest cache.
const LEAST: Bytes = Bytes::kib(64);
/// Largest cache.
const MOST: Bytes = Bytes::mib(64 << 10);
/// Largest cache that is chosen where none is given.
const MOST_CHOSEN: u64 = 256 << 20;
/// Flash per cache where none is given: 256 MiB for 32 GiB, as 1 GiB of DRAM for 1 TiB has room for the map as well.
const FLASH_PER_CACHE: u64 = 128;

impl CacheSpec {
    /// Reads the section `[cache]` of a drive of `part`, `geometry` and `ftl`; `loses_power` if it has a section `[power-loss]`.
    pub fn read(
        c: &mut Section,
        part: &PartSpec,
        geometry: &Geometry,
        ftl: &FtlSpec,
        loses_power: bool,
    ) -> Result<CacheSpec, ConfigError> {
        let size = c.bytes(
            "size",
            "DRAM for written data; by default the power of two that is at most 1/128 of the flash, at most 256MiB; 0B is \
             a drive without a write cache: writes are complete when they are programmed",
            default(proportional(part, geometry, ftl)).within(Bytes(0)..=MOST),
        )?;
        let none = size == Bytes(0);
        let legal = format!("a size from {LEAST} to {MOST}, or 0B for a drive without a write cache");
        c.check(none || size >= LEAST, "size", legal)?;
        let latency = c.duration(
            "latency",
            "time to write to the cache or to read from it",
            default(Duration::from_ns(500)).at_most(Duration::from_ms(1)),
        )?;
        let doc = "when a write is complete: with its data in the cache, or on flash";
        let usual = if none { "when-programmed" } else { "when-cached" };
        let acknowledge = c.policy_index("acknowledge", doc, Some(usual), Acknowledge::ROWS)?;
        let condition = if none { "[power-loss] and a cache.size above 0B" } else { "[power-loss]" };
        let protected = c.when(loses_power && !none, condition, |c| {
            let doc = "capacitors keep what is in the cache through a loss of power";
            c.bool("protected", doc, default(true))
        })?;
        let protected = protected.unwrap_or(!none);
        let acknowledge = c.policy_keys("acknowledge", acknowledge, Acknowledge::ROWS)?;
        let why = "a drive without a write cache completes a write when it is programmed: leave out cache.acknowledge, or \
                   give cache.size";
        c.check_together(!none || acknowledge.waits_for_programs(), &["acknowledge", "size"], why)?;
        let doc = "who shares the slots of the write cache";
        let partition = c.when(!none, "a cache.size above 0B", |c| {
            c.choice("partition", doc, Some("shared"), CachePartition::ALL)
        })?;
        let partition = partition.unwrap_or(CachePartition::Shared);
        Ok(CacheSpec { size, latency, acknowledge, partition, protected })
    }

    /// Whether the drive has no write cache.
    pub fn is_absent(&self) -> bool {
        self.size == Bytes(0)
    }

    /// Slots of a unit each: the cache, or without one the buffers of a program in flight on every lane and of one in
    /// formation in every dirty list.
    pub fn slots(&self, geometry: &Geometry, ftl: &FtlSpec) -> u64 {
        if !self.is_absent() {
            return self.size.get() / geometry.unit_bytes;
        }
        let of = WriteBackShape::of(geometry, ftl);
        let loads_ahead = geometry.cache_pages > 0 && ftl.data_classes() == 1;
        of.program * (of.lanes * (1 + u64::from(loads_ahead)) + of.lists)
    }
}

/// Fewest cache slots with which write-back always continues: a program for each list, and two without lanes of its own;
/// of a zoned drive, one for each active zone and another, and the random write areas.
pub(super) fn least_slots(geometry: &Geometry, ftl: &FtlSpec) -> u64 {
    let of = WriteBackShape::of(geometry, ftl);
    if let Some(zones) = &ftl.zones {
        if zones.chunks {
            // Only the write that waits for slots has a part of a program in the cache.
            return 2 * of.program;
        }
        // An active zone keeps up to a program until the rest of it arrives.
        let areas =
            zones.zrwa.map_or(0, |zrwa| u64::from(zrwa.zones) * (zrwa.size.get() / geometry.unit_bytes));
        let conventional =
            if zones.conventional > 0 { least_slots(geometry, &ftl.of_conventional_zones()) } else { 0 };
        return of.program * (u64::from(zones.max_active) + 1) + areas + conventional;
    }
    let on_any_lane = matches!(ftl.allocation, Allocation::Dynamic | Allocation::SuperWordLine);
    of.program * if on_any_lane { 2 * of.lists } else { of.lists }
}

/// Size of a cache that is not given.
pub(super) fn proportional(part: &PartSpec, geometry: &Geometry, ftl: &FtlSpec) -> Bytes {
    let g = geometry;
    let blocks =
        u64::from(g.dies()).saturating_mul(u64::from(part.planes) * u64::from(part.blocks_per_plane));
    let flash = blocks.saturating_mul(u64::from(part.pages_per_block)).saturating_mul(part.page_size.get());
    let share = (flash / FLASH_PER_CACHE).max(1);
    let needed = least_slots(geometry, ftl).saturating_mul(g.unit_bytes).next_power_of_two();
    Bytes((1 << share.ilog2()).min(MOST_CHOSEN).max(LEAST.get()).max(needed))
}

/// Numbers of write-back that decide how many slots it needs.
struct WriteBackShape {
    /// Units of a program.
    program: u64,
    lanes: u64,
    /// Dirty lists.
    lists: u64,
}

impl WriteBackShape {
    /// Also of values that the consistency check refuses later.
    fn of(geometry: &Geometry, ftl: &FtlSpec) -> WriteBackShape {
        let together = u64::from(ftl.multi_plane.max(1));
        let lanes = u64::from(geometry.dies()) * (u64::from(geometry.planes) / together).max(1);
        let classes = u64::from(ftl.lists());
        let stripes = if matches!(ftl.allocation, Allocation::Static(_)) { lanes } else { 1 };
        WriteBackShape {
            program: u64::from(geometry.pages_per_program) * u64::from(geometry.units_per_page) * together,
            lanes,
            lists: stripes * classes,
        }
    }
}
