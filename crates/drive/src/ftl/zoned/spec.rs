//! Zones of a drive: their keys in the section `[ftl]`.

use super::state::AreaLimits;
use crate::ftl::layout::Layout;
use interpulse_engine::Bytes;
use interpulse_settings::{ConfigError, Section, choices, default, keys, optional, required};

choices! {
    /// End of a zone finish.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FinishEnd {
        /// at once; the last program of its data is padded, and what is left of the zone stays erased
        AtOnce = "at-once",
        /// when all of the zone is programmed: padding fills what is left
        // ConfZNS++; measured of drives whose finish takes as long as writing the rest.
        WhenFilled = "when-filled",
    }
}

choices! {
    /// End of a zone reset.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ResetEnd {
        /// when the blocks of the zone are erased
        WhenErased = "when-erased",
        /// at once; the blocks are erased afterwards
        AtOnce = "at-once",
    }
}

keys! {
    /// Zones of a drive.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ZoneSpec, pub(crate) fn read(s, run: &mut Section) {
        /// lanes that a zone spreads over: its programs go to them in turn; left out, all lanes of the drive
        // A lane is `multi-plane` planes of a die. Consecutive lanes of a zone are on different channels first.
        pub width: Option<u32> = ["zone-width"] optional_u32(optional().within(1..=65536)),
        /// super blocks of each lane that a zone takes
        pub rows: u32 = ["zone-rows"] u32(default(1).within(1..=4096)),
        /// distance between the starts of neighbouring zones (ZSZE); left out, the capacity of a zone. Addresses between the end
        /// of a zone's capacity and the next zone hold nothing
        pub size: Option<Bytes> = ["zone-size"] optional_bytes(optional().positive()),
        /// conventional zones: the first zones of the drive, which are written at any place and again, by a page-mapped FTL
        // It has blocks of its own, with the same over-provisioning.
        pub conventional: u32 = ["conventional-zones"] u32(default(0).at_most(1 << 20)),
        // The following keys affect a run but not its initial state.
        /// most zones that are open at a time; left out, no limit
        pub max_open: Option<u32> = (run) optional_u32(optional().at_least(1)),
        /// most zones that are active (open or closed) at a time
        pub max_active: u32 = (run) u32(default(14).at_least(1)),
        /// when a zone finish is complete
        pub finish_end: FinishEnd = ["zone-finish"] (run) choice(Some("at-once"), FinishEnd::ALL),
        /// when a zone reset is complete
        pub reset_end: ResetEnd = ["zone-reset"] (run) choice(Some("when-erased"), ResetEnd::ALL),
        /// Random write areas.
        pub zrwa: Option<ZrwaSpec> => ZrwaSpec::of(run, max_active)?,
        /// The zones are chunks of an Open-Channel drive: vector commands access them, and writes have whole programs.
        pub chunks: bool => false,
    } check {
        let why = "an open zone is active: give a max-active that is at least max-open";
        s.check_together(max_open.is_none_or(|open| open <= max_active), &["max-open", "max-active"], why)?;
    }
}

keys! {
    /// Chunks of an Open-Channel drive.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ChunkSpec, pub(crate) fn read(s, run: &mut Section) {
        /// super blocks of a parallel unit that a chunk takes
        // A parallel unit is a lane, `multi-plane` planes of a die.
        pub blocks: u32 = ["chunk-blocks"] u32(default(1).within(1..=4096)),
        // The following key affects a run but not its initial state.
        /// most chunks that are open at a time (MAXOC); left out, no limit
        pub max_open: Option<u32> = ["max-open-chunks"] (run) optional_u32(optional().at_least(1)),
    }
}

impl From<ChunkSpec> for ZoneSpec {
    /// Chunks as zones of one lane.
    fn from(ChunkSpec { blocks, max_open }: ChunkSpec) -> ZoneSpec {
        ZoneSpec {
            width: Some(1),
            rows: blocks,
            size: None,
            conventional: 0,
            max_open: None,
            max_active: max_open.unwrap_or(u32::MAX),
            finish_end: FinishEnd::AtOnce,
            reset_end: ResetEnd::WhenErased,
            zrwa: None,
            chunks: true,
        }
    }
}

/// Random write areas of zones (ZRWA, NVMe TP4076).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZrwaSpec {
    /// Size of an area.
    pub size: Bytes,
    /// Size of which commits have a whole number.
    pub granularity: Bytes,
    /// Most zones that have an area at a time.
    pub zones: u32,
}

impl ZrwaSpec {
    /// Reads the keys; `None` without `zrwa-size`.
    fn of(s: &mut Section, max_active: u32) -> Result<Option<ZrwaSpec>, ConfigError> {
        let doc = "size of the random write area of a zone (ZRWA): data behind the write pointer that is kept in the write cache \
                   and may be overwritten there; left out, zones have none";
        let size = s.optional_bytes("zrwa-size", doc, optional().within(Bytes(512)..=Bytes::mib(64)))?;
        s.when(size.is_some(), "a given zrwa-size", |s| {
            ZrwaSpec::keys(s, size.unwrap_or(Bytes::mib(64)), max_active)
        })
    }

    fn keys(s: &mut Section, size: Bytes, max_active: u32) -> Result<ZrwaSpec, ConfigError> {
        let doc = "granularity of commits of a random write area, explicit and implicit ones (ZRWAFG)";
        let range = required().within(Bytes(512)..=Bytes::mib(64)).typical(Bytes::kib(16));
        let granularity = s.bytes("zrwa-granularity", doc, range)?;
        let whole = size.get().is_multiple_of(granularity.get());
        s.check(whole, "zrwa-granularity", format!("a divisor of zrwa-size = {size}"))?;
        let doc = "most zones that have a random write area at a time; left out, max-active of them";
        let zones = s.optional_u32("zrwa-zones", doc, optional().at_least(1))?;
        Ok(ZrwaSpec { size, granularity, zones: zones.unwrap_or(max_active) })
    }
}

impl ZoneSpec {
    /// Random write areas on a drive with units of `unit` bytes.
    pub fn area_limits(&self, unit: u64) -> Option<AreaLimits> {
        let limits = |zrwa: ZrwaSpec| AreaLimits {
            units: (zrwa.size.get() / unit) as u32,
            granularity: (zrwa.granularity.get() / unit) as u32,
            zones: zrwa.zones,
        };
        self.zrwa.map(limits)
    }

    /// Units of a zone on a drive of `layout`.
    pub fn units(&self, layout: &Layout) -> u64 {
        let width = self.width.unwrap_or(layout.lanes);
        u64::from(width) * u64::from(self.rows) * u64::from(layout.units_per_block)
    }

    /// Units between the starts of neighbouring zones on a drive of `layout` with units of `unit` bytes.
    pub fn distance(&self, layout: &Layout, unit: u64) -> u64 {
        self.size.map_or_else(|| self.units(layout), |size| size.get() / unit)
    }

    /// Key of the super blocks of a zone on each lane.
    pub fn rows_key(&self) -> &'static str {
        if self.chunks { "ftl.chunk-blocks" } else { "ftl.zone-rows" }
    }

    /// Limit of open zones.
    pub fn open_limit(&self) -> u32 {
        self.max_open.unwrap_or(self.max_active)
    }
}
