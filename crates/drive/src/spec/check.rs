//! Derived figures of a drive specification and its consistency check.

use super::{DriveSpec, cache};
use crate::ftl::layout::Layout;
use crate::ftl::log_block::geometry::LogBlockGeometry;
use crate::ftl::page::gc::victim::{FreeCount, ThresholdBase};
use crate::ftl::page::mapping::table::{MAX_UNITS, Map};
use crate::ftl::page::placement::stripe::{Allocation, Axis, Stripe};
use crate::ftl::zoned::geometry::ZoneGeometry;
use crate::ftl::{BlockManager, FtlConfig, SoftPages, threshold_blocks};
use interpulse_engine::{Bytes, Rng};
use interpulse_flash::suspend::{SuspendPolicy, SuspendScheme};
use std::borrow::Cow;

/// Set of values that do not make a drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Impossible {
    /// Keys concerned, the most likely culprit first.
    pub keys: Vec<Cow<'static, str>>,
    /// Error and legal values.
    pub message: String,
}

impl Impossible {
    /// Error that the values of `keys` are inconsistent.
    pub fn new(keys: &[&'static str], message: impl Into<String>) -> Impossible {
        Impossible { keys: keys.iter().copied().map(Cow::Borrowed).collect(), message: message.into() }
    }

    /// Fails unless the values of `keys` are consistent (`holds`).
    pub fn unless(holds: bool, keys: &[&'static str], message: impl Into<String>) -> Result<(), Impossible> {
        if holds { Ok(()) } else { Err(Impossible::new(keys, message)) }
    }
}

impl DriveSpec {
    /// Address layout of the drive.
    pub fn layout(&self) -> Result<Layout, Impossible> {
        let g = &self.geometry;
        let m = self.ftl.multi_plane;
        Impossible::unless(
            m != 0 && g.planes.is_multiple_of(m),
            &["ftl.multi-plane", "part.planes"],
            format!("{m} planes together do not divide the {} planes of a die", g.planes),
        )?;
        let reserved = self.ftl.reserved(g.blocks_per_plane);
        Impossible::unless(
            reserved + 4 <= g.blocks_per_plane,
            &["ftl.bad-block-reserve", "part.blocks-per-plane"],
            format!(
                "a plane of {} blocks less {reserved} in reserve leaves fewer than 4",
                g.blocks_per_plane
            ),
        )?;
        let units_per_block = u64::from(g.units_per_block()) * u64::from(m);
        Impossible::unless(
            units_per_block <= u64::from(Map::MAX_UNITS_PER_BLOCK),
            &["part.pages-per-block", "part.page-size", "ftl.multi-plane", "ftl.mapping-unit"],
            format!(
                "a super block of {units_per_block} mapping units is larger than the {} supported",
                Map::MAX_UNITS_PER_BLOCK
            ),
        )?;
        let dies = u64::from(g.channels) * u64::from(g.chips_per_channel) * u64::from(g.dies_per_chip);
        let units =
            dies * u64::from(g.planes) * u64::from(g.blocks_per_plane) * u64::from(g.units_per_block());
        Impossible::unless(
            units < MAX_UNITS,
            &["geometry.channels", "geometry.chips-per-channel", "part.blocks-per-plane", "ftl.mapping-unit"],
            format!(
                "{} GiB of flash is more than the {} GiB that the map's {MAX_UNITS} units address",
                (units * g.unit_bytes) >> 30,
                (MAX_UNITS * g.unit_bytes) >> 30
            ),
        )?;
        Ok(Layout::new(g, m, reserved).from_block(self.place.first_block))
    }

    /// FTL configuration: capacity, and thresholds in blocks.
    pub fn ftl_config(&self) -> Result<FtlConfig, Impossible> {
        let layout = self.layout()?;
        let f = &self.ftl;
        let own = self.set_aside(&layout)?;
        let most = f.logical(layout.units_outside(own));
        let logical = f.capacity.map_or(most, |c| most.min(c.get() / self.geometry.unit_bytes));
        Impossible::unless(
            logical != 0,
            &["ftl.over-provisioning", "drive.capacity"],
            "this much over-provisioning leaves less than 1 MiB of capacity",
        )?;
        let pages = f.mapping.translation_pages(logical, self.geometry.unit_bytes);
        let per_lane = (logical + pages) as f64 / f64::from(layout.lanes) / f64::from(layout.units_per_block);
        let spare = f64::from(layout.blocks - own) - per_lane;
        // With one reserved block the units of a victim that fill no program are padded. Where a program is larger than the
        // mean spare space of a block, padding would take all that a collection gains.
        let padding = f64::from(layout.blocks - own) > spare * f64::from(layout.programs_per_block);
        // Failed programs take room of a collection that has begun.
        let fails = self.fails_programs();
        let hard = threshold_blocks(f.threshold_base, f.gc_hard, layout.blocks, spare)
            .max(1 + u32::from(padding) + u32::from(fails));
        let open = if pages > 0 { 3 } else { 2 };
        let soft = threshold_blocks(f.threshold_base, f.gc_soft, layout.blocks, spare).max(hard + 1);
        let usable = spare - f64::from(soft) - f64::from(open);
        let why = format!(
            "a lane has {spare:.1} spare blocks; keeping {soft} free (gc-soft) and {open} open leaves garbage collection nothing \
             to work with"
        );
        let keys = ["ftl.gc-soft", "ftl.over-provisioning", "ftl.gc-threshold-base"];
        Impossible::unless(f.gc.imposes() || usable >= 1.0, &keys, why)?;
        let needed = if layout.lanes > 1 || !self.ftl.gc.imposes() { 2.0 } else { 1.0 };
        let why = format!("a lane has {spare:.1} spare blocks; writing needs at least {needed}");
        Impossible::unless(spare >= needed, &["ftl.over-provisioning", "part.blocks-per-plane"], why)?;
        let pages_per_block = u64::from(layout.programs_per_block) * u64::from(layout.pages_per_program);
        let soft_pages = (f.gc_counts != FreeCount::Blocks).then(|| {
            let of = match f.threshold_base {
                ThresholdBase::Blocks => f64::from(layout.blocks),
                ThresholdBase::Spare => spare,
            };
            SoftPages {
                least: libm::round(f.gc_soft * of * pages_per_block as f64) as u32,
                keeps_passed_over: f.gc_counts == FreeCount::RunningPages,
            }
        });
        let mut config = FtlConfig {
            logical_units: logical as u32,
            translation_pages: pages as u32,
            policy: f.gc,
            soft_free: soft,
            soft_pages,
            hard_free: hard,
        };
        config.set_aside(&layout, own, true);
        Ok(config)
    }

    /// Logical capacity in units.
    pub fn logical_units(&self) -> Result<u32, Impossible> {
        if self.is_divided() {
            return self.namespaces()?.iter().map(DriveSpec::logical_units).sum();
        }
        if let Some(blocks) = self.log_block_geometry()? {
            return Ok(blocks.logical_units());
        }
        match self.zone_geometry()? {
            Some(zones) => Ok(zones.logical_units()),
            None => Ok(self.ftl_config()?.logical_units),
        }
    }

    /// Units that the drive holds: its logical capacity but for addresses beyond the capacity of zones.
    pub(super) fn usable_units(&self) -> Result<u32, Impossible> {
        if self.is_divided() {
            return self.namespaces()?.iter().map(DriveSpec::usable_units).sum();
        }
        match self.zone_geometry()? {
            Some(zones) => Ok(zones.usable_units()),
            None => self.logical_units(),
        }
    }

    /// Zones of a zoned drive; none of a drive with namespaces, or with conventional zones.
    pub fn zone_geometry(&self) -> Result<Option<ZoneGeometry>, Impossible> {
        let Some(zones) = self.ftl.zones.as_ref().filter(|_| !self.is_divided()) else {
            return Ok(None);
        };
        let layout = self.layout()?;
        // A requested capacity decides the number of blocks; all the zones that these hold are there.
        let most = self.ftl.logical(layout.units());
        let made = ZoneGeometry::new(zones, &self.geometry, &layout, most);
        let keys = [
            "ftl.zone-size",
            "ftl.zone-width",
            zones.rows_key(),
            "part.blocks-per-plane",
            "ftl.over-provisioning",
        ];
        made.map(Some).map_err(|why| Impossible::new(&keys, why))
    }

    /// Logical blocks of a drive with log blocks.
    pub fn log_block_geometry(&self) -> Result<Option<LogBlockGeometry>, Impossible> {
        let Some(of) = self.ftl.log_blocks.filter(|_| !self.is_divided()) else { return Ok(None) };
        let layout = self.layout()?;
        // A requested capacity decides the number of blocks, as with zones.
        let most = self.ftl.logical(layout.units());
        let sub_blocks = of.sub_blocks(self.geometry.sub_blocks);
        let why =
            format!("{} blocks of a plane hold data, no multiple of {sub_blocks} sub-blocks", layout.blocks);
        let keys = ["ftl.bad-block-reserve", "ftl.log-block-merge"];
        Impossible::unless(layout.blocks.is_multiple_of(sub_blocks), &keys, why)?;
        let made = LogBlockGeometry::new(&self.geometry, &layout, sub_blocks, most, of.blocks_of_lane());
        let keys = ["ftl.log-blocks", "ftl.over-provisioning", "part.blocks-per-plane"];
        made.map(Some).map_err(|why| Impossible::new(&keys, why))
    }

    /// Checks the consistency of all values.
    pub fn check(&self) -> Result<(), Impossible> {
        let layout = self.layout()?;
        self.check_read_cache()?;
        self.check_firmware()?;
        self.check_queues()?;
        self.check_commands()?;
        self.check_formats()?;
        self.check_stalls()?;
        self.check_predictable_latency()?;
        if !self.namespaces.is_empty() {
            return self.check_namespaces();
        }
        if self.is_divided() {
            return self.check_conventional_zones();
        }
        if self.ftl.log_blocks.is_some() {
            self.log_block_geometry()?;
            self.check_log_blocks()?;
            self.check_suspension()?;
            return self.check_cache(&layout);
        }
        if self.ftl.zones.is_some() {
            self.zone_geometry()?;
            self.check_zones()?;
            self.check_suspension()?;
            return self.check_cache(&layout);
        }
        self.ftl_config()?;
        self.check_suspension()?;
        self.check_power_loss()?;
        self.check_mapping()?;
        self.check_reprogramming()?;
        self.check_slc(&layout)?;
        self.check_placement()?;
        self.check_copyback()?;
        self.check_two_steps()?;
        self.check_sub_blocks()?;
        self.check_rewriting()?;
        self.check_faults()?;
        self.check_allocation()?;
        self.check_unmapped_reads()?;
        self.check_cache(&layout)
    }

    fn check_allocation(&self) -> Result<(), Impossible> {
        if self.ftl.allocation != Allocation::SuperWordLine {
            return Ok(());
        }
        let why = "a super word line gathers in the write cache, and writes would wait for it: use dynamic or a static order";
        let gathers = !self.cache.acknowledge.waits_for_programs();
        Impossible::unless(gathers, &["ftl.allocation", "cache.acknowledge"], why)?;
        let why = "a super word line gathers for native programs, not for those of an SLC cache: use dynamic or a static order";
        Impossible::unless(self.ftl.slc.is_none(), &["ftl.allocation", "ftl.slc-cache.kind"], why)?;
        let why = "hot and cold data gather by level: use dynamic or a static order";
        Impossible::unless(self.ftl.hotness.levels() == 0, &["ftl.allocation", "ftl.hotness"], why)
    }

    fn check_cache(&self, layout: &Layout) -> Result<(), Impossible> {
        let (size, unit) = (self.cache.size, self.geometry.unit_bytes);
        if self.cache.is_absent() {
            return Ok(());
        }
        let slots = self.cache.slots(&self.geometry, &self.ftl);
        let least = cache::least_slots(&self.geometry, &self.ftl);
        let why = format!(
            "{size} holds {slots} units of {}; programs of {} units on this drive need at least {}",
            Bytes(unit),
            layout.units_per_program,
            Bytes(least * unit)
        );
        Impossible::unless(slots >= least, &["cache.size"], why)
    }

    /// Whether the write cache is at most as large as the drive. A larger one would absorb a whole run.
    pub fn check_scale(&self) -> Result<(), Impossible> {
        let (size, unit) = (self.cache.size, self.geometry.unit_bytes);
        let usable = Bytes(u64::from(self.usable_units()?) * unit);
        let why = format!(
            "a cache of {size} is larger than the drive's capacity of {usable}: leave out cache.size for one in proportion"
        );
        Impossible::unless(size <= usable, &["cache.size"], why)
    }

    /// Checks that garbage collection is on: it performs the rewrites.
    fn check_rewriting(&self) -> Result<(), Impossible> {
        let Some(errors) = &self.nand.errors else { return Ok(()) };
        let why = "imposed write amplification has no victims and no erases, so no block can be rewritten";
        let goes = |rewrites: bool, key| {
            Impossible::unless(!rewrites || !self.ftl.gc.imposes(), &[key, "ftl.gc"], why)
        };
        goes(errors.refresh_after.is_some(), "errors.refresh-after")?;
        goes(errors.reclaim_reads.is_some(), "errors.reclaim-reads")
    }

    pub(crate) fn refreshes(&self) -> bool {
        self.nand.errors.as_ref().is_some_and(|e| e.refresh_after.is_some())
    }

    fn check_suspension(&self) -> Result<(), Impossible> {
        let watches_writes = |p: &SuspendPolicy| p.scheme.watches_writes();
        let policies = [&self.nand.program_suspend, &self.nand.erase_suspend];
        let keys = ["suspend.program.defer-clock", "suspend.erase.defer-clock", "cache.acknowledge"];
        let why = "the clock \"host-write\" watches writes that wait for the write cache; with \
                   cache.acknowledge = \"when-programmed\" they wait for their programs instead: use another clock";
        let watched = self.cache.acknowledge.waits_for_programs() && policies.into_iter().any(watches_writes);
        Impossible::unless(!watched, &keys, why)?;
        let all_types = (1 << self.part.bits_per_cell) - 1;
        let chooses = self.nand.program_suspend.eligible.page_types & all_types != all_types;
        let why = "the programs of imposed write amplification have no pages to choose by";
        Impossible::unless(!chooses || !self.ftl.gc.imposes(), &["suspend.program.pages", "ftl.gc"], why)?;
        let why = "the programs of imposed write amplification have no address that planes could share";
        let merges = self.nand.multi_plane_programs && self.ftl.gc.imposes();
        Impossible::unless(!merges, &["schedule.multi-plane-programs", "ftl.gc"], why)?;
        let why = "imposed write amplification erases no blocks that could be erased together";
        let together = self.nand.multi_block.is_used() && self.ftl.gc.imposes();
        Impossible::unless(!together, &["erase.blocks-per-operation", "ftl.gc"], why)
    }

    /// Capacity in 512-byte sectors.
    pub fn capacity_sectors(&self) -> Result<u64, Impossible> {
        Ok(u64::from(self.logical_units()?) * (self.geometry.unit_bytes / 512))
    }

    /// Block manager of a page-mapped FTL over erased flash. `rng` drives random victim choice.
    pub fn fresh_ftl(&self, rng: Rng) -> Result<BlockManager, Impossible> {
        Ok(BlockManager::new(self.layout()?, self.ftl_config()?, rng))
    }

    /// Order of the lanes in which a fill distributes pages, if it is not program by program.
    pub fn fill_stripe(&self) -> Result<Option<Stripe>, Impossible> {
        let order = match self.ftl.allocation {
            Allocation::SuperWordLine => Allocation::Static([Axis::C, Axis::W, Axis::D, Axis::P]),
            other => other,
        };
        Ok(Stripe::new(order, &self.geometry, self.layout()?.lanes_per_die))
    }

    /// The static stripe, if allocation is static.
    pub fn stripe(&self) -> Result<Option<Stripe>, Impossible> {
        Ok(Stripe::new(self.ftl.allocation, &self.geometry, self.layout()?.lanes_per_die))
    }
}
