//! Specification of the FTL: the section `[ftl]`.

use crate::ftl::page::gc::victim::{FreeCount, GcPolicy, ThresholdBase};
use crate::ftl::page::mapping::cached::spec::MappingSpec;
use crate::ftl::page::placement::PlacementPolicy;
use crate::ftl::page::placement::stripe::Allocation;
use crate::ftl::page::reprogram::ReprogramSpec;
use crate::ftl::page::separation::HotnessPolicy;
use crate::ftl::page::slc::SlcSpec;
use interpulse_engine::Bytes;
use interpulse_flash::geometry::Geometry;
use interpulse_settings::{ConfigError, Section, default, keys, optional, required};

keys! {
    /// Mapping, allocation, garbage collection.
    #[derive(Clone, Debug, PartialEq)]
    pub struct FtlSpec, fn keys(s, run: &mut Section, asked: Option<Bytes>) {
        /// (physical - logical) / logical, of the pages that can hold data
        pub over_provisioning: f64 = fraction(required().positive().at_most(20.0).typical(0.07)),
        /// Host capacity, if requested; over-provisioning is then the rest, and at least the configured value.
        pub capacity: Option<Bytes> => asked,
        /// share of the blocks of a plane kept for replacing bad ones
        pub bad_block_reserve: f64 = fraction(default(0.0).at_most(0.5)),
        /// planes of a die programmed and erased together
        pub multi_plane: u32 = u32(default(1).within(1..=64)),
        /// Where the map is.
        pub mapping: MappingSpec => MappingSpec::read(s, run)?,
        /// Allocation of writes to lanes.
        pub allocation: Allocation => Allocation::read(s)?,
        /// policy that chooses the next block for garbage collection
        pub gc: GcPolicy = policy(Some("greedy"), GcPolicy::ROWS),
        /// what gc-soft and gc-hard are shares of
        pub threshold_base: ThresholdBase = ["gc-threshold-base"] choice(Some("spare"), ThresholdBase::ALL),
        /// garbage collection runs while less than this share is free
        pub gc_soft: f64 = fraction(default(0.1).positive().at_most(0.9)),
        /// what gc-soft is compared with: erased blocks, free pages with those of open blocks, or a running count of free
        /// pages
        pub gc_counts: FreeCount = choice(Some("blocks"), FreeCount::ALL),
        /// host data may not take the last this share
        pub gc_hard: f64 = fraction(default(0.005).at_most(0.5)),
        // The following keys affect a run but not its initial state.
        /// programs of moved data that a lane has in the queue of its die at a time; twice as many pages are read ahead
        pub gc_depth: u32 = (run) u32(default(2).within(1..=1024)),
        /// Separation of host data.
        pub hotness: HotnessPolicy => HotnessPolicy::read(run)?,
        /// what a write may say about the place of its data
        pub placement: PlacementPolicy = (run) policy(Some("none"), PlacementPolicy::ROWS),
        /// Reprogrammable blocks for hot data.
        pub reprogram: Option<ReprogramSpec> => ReprogramSpec::read(run, hotness.levels() > 0)?,
        /// SLC cache.
        pub slc: Option<SlcSpec> => SlcSpec::read(run)?,
        /// static wear levelling: difference in erases within a lane at which its least worn block is rewritten
        pub wear_gap: Option<u32> = (run) optional_u32(optional().at_least(1)),
    } check {
        s.check_together(gc_hard <= gc_soft, &["gc-hard", "gc-soft"], "gc-hard must not be larger than gc-soft")?;
    }
}

impl FtlSpec {
    /// Reads the section `[ftl]` of a drive with the requested host `capacity`, if any.
    pub fn read(s: &mut Section, capacity: Option<Bytes>) -> Result<FtlSpec, ConfigError> {
        FtlSpec::keys(s, &mut s.not_shaping_state(), capacity)
    }

    /// Classes of host data that share no dirty list and no open block: hotness levels or placement handles.
    pub fn data_classes(&self) -> u32 {
        (self.hotness.levels() + 1).max(self.placement.handles())
    }

    /// Dirty lists of the write cache, or with static striping those of a lane.
    pub fn lists(&self) -> u32 {
        let sizes = self.slc.is_some_and(|slc| slc.largest_write.is_some());
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
