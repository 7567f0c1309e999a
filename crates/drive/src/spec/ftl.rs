//! Specification of the FTL: the section `[ftl]`.

use crate::ftl::log_block::spec::LogBlockSpec;
use crate::ftl::page::blocks::free_block::FreeBlock;
use crate::ftl::page::gc::copyback::CopybackSpec;
use crate::ftl::page::gc::victim::{FreeCount, GcPolicy, ThresholdBase};
use crate::ftl::page::mapping::cached::spec::MappingSpec;
use crate::ftl::page::placement::PlacementPolicy;
use crate::ftl::page::placement::stripe::Allocation;
use crate::ftl::page::reprogram::ReprogramSpec;
use crate::ftl::page::separation::HotnessPolicy;
use crate::ftl::page::slc::SlcSpec;
use crate::ftl::zoned::spec::{ChunkSpec, ZoneSpec};
use interpulse_engine::Bytes;
use interpulse_flash::geometry::Geometry;
use interpulse_settings::{
    ConfigError, Document, Section, Variant, choices, default, keys, optional, required,
};

choices! {
    /// FTL family.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Family {
        /// page-mapped: any unit may be written, and garbage collection moves what is in use
        Page = "page",
        /// zones that the host writes in order and resets (NVMe Zoned Namespaces)
        Zoned = "zoned",
        /// data blocks mapped by block and log blocks mapped by unit, which merges move to data blocks (BAST, FAST)
        LogBlock = "log-block",
        /// chunks of parallel units that the host writes, reads and resets by lists of physical addresses (Open-Channel SSD 2.0)
        OpenChannel = "open-channel",
    }
}

choices! {
    /// What a read of a unit without data does: one that was never written, or trimmed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum UnmappedReads {
        /// the controller returns zeroes and reads no flash
        Zeroes = "zeroes",
        /// a page is read, of the lane that the address would have
        Flash = "flash",
    }
}

/// Mapping, allocation, garbage collection, zones.
#[derive(Clone, Debug, PartialEq)]
pub struct FtlSpec {
    /// (physical - logical) / logical, of the pages that can hold data.
    pub over_provisioning: f64,
    /// Host capacity, if requested; over-provisioning is then the rest, and at least the configured value.
    pub capacity: Option<Bytes>,
    /// Share of the blocks of a plane kept for replacing bad ones.
    pub bad_block_reserve: f64,
    /// Planes of a die programmed and erased together.
    pub multi_plane: u32,
    /// Where the map is.
    pub mapping: MappingSpec,
    /// Allocation of writes to lanes.
    pub allocation: Allocation,
    /// Victim policy.
    pub gc: GcPolicy,
    /// What `gc_soft` and `gc_hard` are shares of.
    pub threshold_base: ThresholdBase,
    /// Garbage collection runs while less than this share is free.
    pub gc_soft: f64,
    /// What `gc_soft` is compared with.
    pub gc_counts: FreeCount,
    /// Host data may not take the last this share.
    pub gc_hard: f64,
    /// Programs of moved data that a lane has in the queue of its die at a time.
    pub gc_depth: u32,
    /// Moves of whole pages by copyback.
    pub copyback: Option<CopybackSpec>,
    /// Separation of host data.
    pub hotness: HotnessPolicy,
    /// What a write may say about the place of its data.
    pub placement: PlacementPolicy,
    /// Reprogrammable blocks for hot data.
    pub reprogram: Option<ReprogramSpec>,
    /// SLC cache.
    pub slc: Option<SlcSpec>,
    /// Dynamic wear levelling.
    pub free_block: FreeBlock,
    /// Reads of units without data.
    pub unmapped_reads: UnmappedReads,
    /// Static wear levelling.
    pub wear_gap: Option<u32>,
    /// Zones of the zoned family, or chunks of the Open-Channel one; its values of the page-mapped family are defaults without effect.
    pub zones: Option<ZoneSpec>,
    /// Log blocks of the log-block family, as [`FtlSpec::zones`].
    pub log_blocks: Option<LogBlockSpec>,
}

keys! {
    /// Keys of every family, of a drive or a namespace.
    struct CommonKeys, fn read(s) {
        /// (physical - logical) / logical, of the pages that can hold data
        over_provisioning: f64 = fraction(required().positive().at_most(20.0).typical(0.07)),
        /// how the drive presents its flash to the host
        family: Family = choice(Some("page"), Family::ALL),
    }
}

keys! {
    /// Keys of the whole drive.
    struct DriveKeys, fn read(s) {
        /// share of the blocks of a plane kept for replacing bad ones
        bad_block_reserve: f64 = fraction(default(0.0).at_most(0.5)),
        /// planes of a die programmed and erased together
        multi_plane: u32 = u32(default(1).within(1..=64)),
    }
}

keys! {
    /// Keys of the page-mapped family.
    struct PageKeys, fn read(s, run: &mut Section) {
        /// Where the map is.
        mapping: MappingSpec => MappingSpec::read(s, run)?,
        /// Allocation of writes to lanes.
        allocation: Allocation => Allocation::read(s)?,
        /// policy that chooses the next block for garbage collection
        gc: GcPolicy = policy(Some("greedy"), GcPolicy::ROWS),
        /// what gc-soft and gc-hard are shares of
        threshold_base: ThresholdBase = ["gc-threshold-base"] choice(Some("spare"), ThresholdBase::ALL),
        /// garbage collection runs while less than this share is free
        gc_soft: f64 = fraction(default(0.1).positive().at_most(0.9)),
        /// what gc-soft is compared with: erased blocks, free pages with those of open blocks, or a running count of free
        /// pages
        gc_counts: FreeCount = choice(Some("blocks"), FreeCount::ALL),
        /// host data may not take the last this share
        gc_hard: f64 = fraction(default(0.005).at_most(0.5)),
        // The following keys affect a run but not its initial state.
        /// programs of moved data that a lane has in the queue of its die at a time; twice as many pages are read ahead
        gc_depth: u32 = (run) u32(default(2).within(1..=1024)),
        /// Moves of whole pages by copyback.
        copyback: Option<CopybackSpec> => CopybackSpec::read(run)?,
        /// Separation of host data.
        hotness: HotnessPolicy => HotnessPolicy::read(run)?,
        /// what a write may say about the place of its data
        placement: PlacementPolicy = (run) policy(Some("none"), PlacementPolicy::ROWS),
        /// Reprogrammable blocks for hot data.
        reprogram: Option<ReprogramSpec> => ReprogramSpec::read(run, hotness.levels() > 0)?,
        /// SLC cache.
        slc: Option<SlcSpec> => SlcSpec::read(run)?,
        /// dynamic wear levelling: the free block of a lane that data opens
        free_block: FreeBlock = (run) choice(Some("erased-first"), FreeBlock::ALL),
        /// static wear levelling: difference in erases within a lane at which its least worn block is rewritten
        wear_gap: Option<u32> = (run) optional_u32(optional().at_least(1)),
        /// what a read of a unit without data does: one that was never written, or trimmed
        unmapped_reads: UnmappedReads = (run) choice(Some("zeroes"), UnmappedReads::ALL),
    } check {
        s.check_together(gc_hard <= gc_soft, &["gc-hard", "gc-soft"], "gc-hard must not be larger than gc-soft")?;
    }
}

impl PageKeys {
    /// Their defaults, for a drive of another family.
    fn defaults() -> PageKeys {
        let mut section = Document::empty().top();
        PageKeys::read(&mut section.clone(), &mut section).expect("every key has a default")
    }
}

/// Keys of a family.
enum FamilyKeys {
    Page(Box<PageKeys>),
    Zoned(ZoneSpec),
    LogBlock(LogBlockSpec),
    OpenChannel(ChunkSpec),
}

impl FtlSpec {
    /// Reads the section `[ftl]` of a drive with the requested host `capacity`, if any.
    pub fn read(s: &mut Section, capacity: Option<Bytes>) -> Result<FtlSpec, ConfigError> {
        let (common, drive) = (CommonKeys::read(s)?, DriveKeys::read(s)?);
        FtlSpec::read_family(s, common, drive, capacity)
    }

    /// Reads the FTL keys of a namespace with the requested host `capacity`, if any, on a drive with the section `drive`.
    pub(super) fn read_of_namespace(
        s: &mut Section,
        drive: &FtlSpec,
        capacity: Option<Bytes>,
    ) -> Result<FtlSpec, ConfigError> {
        let common = CommonKeys::read(s)?;
        // The reserve is that of the drive, whose other blocks the namespaces divide.
        let drive = DriveKeys { bad_block_reserve: 0.0, multi_plane: drive.multi_plane };
        FtlSpec::read_family(s, common, drive, capacity)
    }

    fn read_family(
        s: &mut Section,
        common: CommonKeys,
        drive: DriveKeys,
        capacity: Option<Bytes>,
    ) -> Result<FtlSpec, ConfigError> {
        let of = |family: Family| format!("family = \"{}\"", family.name());
        let variants: [Variant<FamilyKeys>; 4] = [
            (of(Family::Page), &|s| {
                PageKeys::read(s, &mut s.not_shaping_state()).map(|keys| FamilyKeys::Page(Box::new(keys)))
            }),
            (of(Family::Zoned), &|s| ZoneSpec::read(s, &mut s.not_shaping_state()).map(FamilyKeys::Zoned)),
            (of(Family::LogBlock), &|s| {
                LogBlockSpec::read(s, &mut s.not_shaping_state()).map(FamilyKeys::LogBlock)
            }),
            (of(Family::OpenChannel), &|s| {
                ChunkSpec::read(s, &mut s.not_shaping_state()).map(FamilyKeys::OpenChannel)
            }),
        ];
        let (page, zones, log_blocks) = match s.read_variant(common.family as usize, &variants)? {
            FamilyKeys::Page(keys) => (*keys, None, None),
            FamilyKeys::Zoned(zones) => (PageKeys::defaults(), Some(zones), None),
            FamilyKeys::LogBlock(of) => (PageKeys::defaults(), None, Some(of)),
            FamilyKeys::OpenChannel(chunks) => (PageKeys::defaults(), Some(chunks.into()), None),
        };
        Ok(FtlSpec {
            over_provisioning: common.over_provisioning,
            capacity,
            bad_block_reserve: drive.bad_block_reserve,
            multi_plane: drive.multi_plane,
            mapping: page.mapping,
            allocation: page.allocation,
            gc: page.gc,
            threshold_base: page.threshold_base,
            gc_soft: page.gc_soft,
            gc_counts: page.gc_counts,
            gc_hard: page.gc_hard,
            gc_depth: page.gc_depth,
            copyback: page.copyback,
            hotness: page.hotness,
            placement: page.placement,
            reprogram: page.reprogram,
            slc: page.slc,
            free_block: page.free_block,
            wear_gap: page.wear_gap,
            unmapped_reads: page.unmapped_reads,
            zones,
            log_blocks,
        })
    }

    /// FTL of the conventional zones of this zoned one: page-mapped, with the defaults of its keys.
    pub(super) fn of_conventional_zones(&self) -> FtlSpec {
        FtlSpec { zones: None, ..self.clone() }
    }

    /// Key that selects the family.
    pub const FAMILY: &'static str = "family";

    /// Keys of the section `[ftl]` that belong to the whole drive, not to a namespace.
    pub const DRIVE_WIDE: &'static [&'static str] = &["mapping-unit", "bad-block-reserve", "multi-plane"];

    /// Whether the FTL is of the Open-Channel family.
    pub fn is_open_channel(&self) -> bool {
        self.zones.as_ref().is_some_and(|zones| zones.chunks)
    }

    /// Whether the FTL is of the page-mapped family.
    pub fn is_page_mapped(&self) -> bool {
        self.zones.is_none() && self.log_blocks.is_none()
    }

    /// Keys that belong to the page-mapped family alone; a preset's are left out for another family.
    pub fn page_keys() -> Vec<String> {
        declared(&|s| PageKeys::read(s, &mut s.clone()).is_ok())
    }

    /// Keys that belong to other families than the named one; without a name it is the page-mapped one.
    pub fn keys_of_other_families(family: Option<&str>) -> Vec<String> {
        let own = |of: Family| family.unwrap_or(Family::Page.name()) == of.name();
        let families = [
            (Family::Page, FtlSpec::page_keys()),
            (Family::Zoned, declared(&|s| ZoneSpec::read(s, &mut s.clone()).is_ok())),
            (Family::LogBlock, declared(&|s| LogBlockSpec::read(s, &mut s.clone()).is_ok())),
            (Family::OpenChannel, declared(&|s| ChunkSpec::read(s, &mut s.clone()).is_ok())),
        ];
        families.into_iter().filter(|(of, _)| !own(*of)).flat_map(|(_, keys)| keys).collect()
    }

    /// Classes of host data that share no dirty list and no open block: hotness levels or placement handles.
    pub fn data_classes(&self) -> u32 {
        (self.hotness.levels() + 1).max(self.placement.classes())
    }

    /// Dirty lists of the write cache, or with static striping those of a lane.
    pub fn lists(&self) -> u32 {
        let sizes = self.slc.is_some_and(|slc| slc.admission.largest_write().is_some());
        self.data_classes() + u32::from(sizes)
    }

    /// Super blocks of each lane of `geometry` that an SLC cache sets aside.
    pub(super) fn set_aside(&self, geometry: &Geometry) -> u32 {
        self.slc.map_or(0, |slc| slc.own_blocks_of_lane(geometry, self.multi_plane))
    }

    /// Blocks of a plane of `blocks` that replace bad ones.
    pub(super) fn reserved(&self, blocks: u32) -> u32 {
        libm::ceil(self.bad_block_reserve * f64::from(blocks)) as u32
    }

    /// Logical mapping units for `units` physical ones if over-provisioning alone decides: whole MiB, of units of 4 KiB.
    pub(super) fn logical(&self, units: u64) -> u64 {
        (units as f64 / (1.0 + self.over_provisioning)) as u64 / 256 * 256
    }
}

/// Paths of the keys that `read` reads from the section `[ftl]`.
fn declared(read: &dyn Fn(&mut Section) -> bool) -> Vec<String> {
    let document = Document::empty().declaring();
    let legal = document.section("ftl").is_ok_and(|mut s| read(&mut s));
    assert!(legal, "every key has an example");
    document.keys().expect("every key is declared").into_iter().map(|key| key.path).collect()
}
