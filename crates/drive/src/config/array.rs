//! Reads the array: several drives behind one address space, as Linux md joins them.

use crate::drive::build::Impossible;
use crate::drive::spec::DriveSpec;
use crate::ftl::gc::GcPolicy;
use interpulse_engine::{Bytes, Duration};
use interpulse_flash::geometry::UNIT_BYTES;
use interpulse_settings::{ConfigError, Document, Section, default, optional, required};
use interpulse_workload::{FlowSpec, Source};

/// How the drives are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Striped without redundancy.
    Raid0,
    /// Every drive holds everything.
    Raid1,
    /// Striped with one parity chunk per stripe, left-symmetric.
    Raid5,
}

impl Level {
    /// Name, value and one line of documentation.
    pub const ALL: &'static [(&'static str, Level, &'static str)] = &[
        ("raid0", Level::Raid0, "striped without redundancy"),
        ("raid1", Level::Raid1, "every drive holds everything"),
        ("raid5", Level::Raid5, "striped with rotating parity, left-symmetric"),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, level, _)| *level == self).map_or("", |(name, _, _)| name)
    }
}

/// What `array.stripe-cache` counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheUnit {
    /// Stripe heads: one 4 KiB page of every drive, as md counts.
    Page,
    /// Whole stripes: one chunk of every drive.
    Chunk,
}

impl CacheUnit {
    /// Name, value and one line of documentation.
    pub const ALL: &'static [(&'static str, CacheUnit, &'static str)] = &[
        ("page", CacheUnit::Page, "stripe heads of one 4 KiB page per drive, as md counts"),
        ("chunk", CacheUnit::Chunk, "whole stripes of one chunk per drive"),
    ];
}

/// How parity is made to fit again after a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consistency {
    /// That of all rows is computed again.
    Resync,
    /// A log tells which rows, and how.
    Ppl,
}

impl Consistency {
    /// Name, value and one line of documentation.
    pub const ALL: &'static [(&'static str, Consistency, &'static str)] = &[
        (
            "resync",
            Consistency::Resync,
            "parity of all rows is computed again; until then there is a write hole",
        ),
        (
            "ppl",
            Consistency::Ppl,
            "partial parity log: each write is logged on the drive of its parity first",
        ),
    ];
}

/// A drive that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureSpec {
    /// Its place in the array.
    pub drive: u32,
    /// When, in simulated time.
    pub at: Duration,
    /// Bytes a second at which an empty drive takes its place; without it the array stays degraded.
    pub rebuild_rate: Option<Bytes>,
}

/// The array as plain data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArraySpec {
    /// How the drives are joined.
    pub level: Level,
    /// Drives, parity included.
    pub drives: u32,
    /// Consecutive bytes on one drive; the whole drive for [`Level::Raid1`].
    pub chunk: Bytes,
    /// Most stripe heads of one page per drive in the stripe cache.
    pub stripe_heads: u32,
    /// Host time for a read answered from the stripe cache.
    pub cache_latency: Duration,
    /// How parity is made to fit again after a power cut.
    pub consistency: Consistency,
    /// Units of each drive that its log takes; none without one.
    pub log_units: u32,
    /// Bytes of each drive that a resync covers in a second.
    pub resync_rate: Bytes,
    /// The drive that fails, if one does.
    pub failure: Option<FailureSpec>,
    /// Bytes of each drive that a scrub reads in a second; none without it.
    pub scrub_rate: Option<Bytes>,
}

const CACHE_KEYS: [&str; 8] = [
    "stripe-cache",
    "stripe-cache-unit",
    "cache-latency",
    "fail-drive",
    "fail-at",
    "rebuild-rate",
    "scrub-rate",
    "chunk",
];

/// Reads the section `[array]`; none makes a single drive.
pub(super) fn read(document: &Document) -> Result<Option<ArraySpec>, ConfigError> {
    let mut s = document.section("array")?;
    if !document.has("array") {
        return Ok(None);
    }
    let level = s.choice("level", "how the drives are joined", None, &super::drive::options(Level::ALL))?;
    let least = if level == Level::Raid5 { 3 } else { 2 };
    let drives = s.u32("drives", "drives of the array, parity included", required().within(least..=32))?;
    match level {
        Level::Raid0 => {
            for key in &CACHE_KEYS[..7] {
                s.refuse(key, "it belongs to level = \"raid5\"")?;
            }
        }
        Level::Raid1 => {
            for key in &CACHE_KEYS[..7] {
                s.refuse(key, "it belongs to level = \"raid5\"")?;
            }
            s.refuse("chunk", "mirrors are not striped")?;
        }
        Level::Raid5 => {}
    }
    let mut spec = ArraySpec {
        level,
        drives,
        chunk: Bytes(UNIT_BYTES),
        stripe_heads: 0,
        cache_latency: Duration::ZERO,
        consistency: Consistency::Resync,
        log_units: 0,
        resync_rate: Bytes(0),
        failure: None,
        scrub_rate: None,
    };
    read_consistency(&mut s, &mut spec, document.has("power-loss"))?;
    if level != Level::Raid1 {
        spec.chunk = s.bytes(
            "chunk",
            "consecutive bytes on one drive",
            default(Bytes::kib(64)).within(Bytes::kib(4)..=Bytes(64 << 20)),
        )?;
        if !spec.chunk.get().is_power_of_two() {
            return Err(s.invalid("chunk", "a power of two"));
        }
    }
    if level == Level::Raid5 {
        read_cache(&mut s, &mut spec)?;
        spec.failure = read_failure(&mut s, drives)?;
        let doc = "bytes of each drive that a scrub reads in a second, from the start; left out, none runs";
        spec.scrub_rate = s.optional_bytes("scrub-rate", doc, rate())?;
        if spec.failure.is_some() {
            s.refuse("scrub-rate", "an array that loses a drive is not scrubbed")?;
        }
    }
    Ok(Some(spec))
}

/// Reads what a loss of power is prepared for with.
fn read_consistency(s: &mut Section, spec: &mut ArraySpec, loses_power: bool) -> Result<(), ConfigError> {
    if spec.level != Level::Raid5 {
        for key in ["consistency", "ppl-size", "resync-rate"] {
            s.refuse(key, "it belongs to level = \"raid5\"")?;
        }
        return Ok(());
    }
    let doc = "how parity is made to fit again after a power cut";
    spec.consistency =
        s.choice("consistency", doc, Some("resync"), &super::drive::options(Consistency::ALL))?;
    if spec.consistency == Consistency::Ppl {
        let doc = "what the partial parity log takes of each drive";
        let size =
            s.bytes("ppl-size", doc, default(Bytes::mib(1)).within(Bytes::kib(64)..=Bytes::mib(64)))?;
        if !size.get().is_multiple_of(UNIT_BYTES) {
            return Err(s.invalid("ppl-size", "a multiple of 4KiB"));
        }
        spec.log_units = (size.get() / UNIT_BYTES) as u32;
    } else {
        s.refuse("ppl-size", "it belongs to consistency = \"ppl\"")?;
    }
    if loses_power && spec.consistency == Consistency::Resync {
        let doc = "most bytes of each drive that the resync after a power cut covers in a second";
        let range = Bytes::kib(64)..=Bytes(64 << 30);
        spec.resync_rate = s.bytes("resync-rate", doc, default(Bytes::mib(200)).within(range))?;
    } else {
        s.refuse("resync-rate", "it belongs to consistency = \"resync\" and [power-loss]")?;
    }
    Ok(())
}

fn rate() -> interpulse_settings::Spec<Bytes> {
    optional().within(Bytes::kib(64)..=Bytes(64 << 30))
}

fn read_cache(s: &mut Section, spec: &mut ArraySpec) -> Result<(), ConfigError> {
    let count = s.u32(
        "stripe-cache",
        "most stripes in the stripe cache, in stripe-cache-unit",
        default(256).within(17..=32768),
    )?;
    let unit = s.choice(
        "stripe-cache-unit",
        "what stripe-cache counts",
        Some("page"),
        &super::drive::options(CacheUnit::ALL),
    )?;
    spec.stripe_heads = match unit {
        CacheUnit::Page => count,
        CacheUnit::Chunk => count * (spec.chunk.get() / UNIT_BYTES) as u32,
    };
    spec.cache_latency = s.duration(
        "cache-latency",
        "host time for a read answered from the stripe cache",
        default(Duration::from_us(1)).positive().at_most(Duration::from_ms(1000)),
    )?;
    Ok(())
}

fn read_failure(s: &mut Section, drives: u32) -> Result<Option<FailureSpec>, ConfigError> {
    let drive = s.optional_u32(
        "fail-drive",
        "place of the drive that fails, counted from 0; left out, none does",
        optional().within(0..=drives - 1),
    )?;
    let Some(drive) = drive else {
        for key in ["fail-at", "rebuild-rate"] {
            s.refuse(key, "it belongs to fail-drive")?;
        }
        return Ok(None);
    };
    let long = Duration::from_ms(100 * 24 * 3_600_000);
    let at =
        s.duration("fail-at", "simulated time at which it fails", default(Duration::ZERO).at_most(long))?;
    let doc = "most bytes a second that are rebuilt on an empty drive in its place; left out, none is";
    let rebuild_rate = s.optional_bytes("rebuild-rate", doc, rate())?;
    Ok(Some(FailureSpec { drive, at, rebuild_rate }))
}

impl ArraySpec {
    /// Units of 4 KiB of each drive that the array uses: whole chunks.
    pub fn units_per_drive(&self, drive: &DriveSpec) -> Result<u32, Impossible> {
        let units = drive.ftl_config()?.logical_units.saturating_sub(self.log_units);
        Ok(units - units % (self.chunk.get() / UNIT_BYTES) as u32)
    }

    /// Capacity in 512-byte sectors.
    pub fn capacity_sectors(&self, drive: &DriveSpec) -> Result<u64, Impossible> {
        let data = match self.level {
            Level::Raid0 => self.drives,
            Level::Raid1 => 1,
            Level::Raid5 => self.drives - 1,
        };
        Ok(u64::from(self.units_per_drive(drive)?) * u64::from(data) * (UNIT_BYTES / 512))
    }

    /// Drives simulated: those of the array, and the one that takes the place of a lost one.
    pub fn drives_simulated(&self) -> u32 {
        self.drives + u32::from(self.failure.is_some_and(|f| f.rebuild_rate.is_some()))
    }

    /// What a loss of power of the whole array does not go together with.
    fn check_power_loss(&self, drive: &DriveSpec) -> Result<(), Impossible> {
        let Some(at) = drive.power_loss.and_then(|spec| spec.at) else { return Ok(()) };
        let impossible =
            |key, why: &str| Err(Impossible { keys: vec!["power-loss.at", key], message: why.into() });
        if self.level != Level::Raid5 {
            return impossible("array.level", "of arrays, only level = \"raid5\" can lose power");
        }
        if !drive.cache.protected {
            return impossible(
                "cache.protected",
                "the drives of an array keep their caches through a loss of power",
            );
        }
        if self.failure.is_some_and(|f| f.at <= at) {
            return impossible(
                "array.fail-at",
                "an array that has lost a drive cannot lose power: fail later",
            );
        }
        if self.scrub_rate.is_some() {
            return impossible("array.scrub-rate", "an array that loses power is not scrubbed");
        }
        Ok(())
    }

    /// Checks what only the whole shows.
    pub(super) fn check(&self, drive: &DriveSpec, flows: &[FlowSpec]) -> Result<(), Impossible> {
        let impossible = |keys: &[&'static str], message: &str| Impossible {
            keys: keys.to_vec(),
            message: message.into(),
        };
        if self.units_per_drive(drive)? == 0 {
            return Err(impossible(&["array.chunk"], "a chunk is larger than a drive"));
        }
        if drive.nand.power.trace.is_some() {
            let why = "the current of an array is not followed through time";
            return Err(impossible(&["power.trace", "array.level"], why));
        }
        if drive.nand.power.budget.is_some() {
            let why = "the drives of an array have no power budget";
            return Err(impossible(&["power.budget", "array.level"], why));
        }
        if drive.host.queue_weights.len() > 1 {
            let why = "an array submits to one queue pair of each drive";
            return Err(impossible(&["host.queue-weights", "array.level"], why));
        }
        self.check_power_loss(drive)?;
        let rebuilds = self.failure.is_some_and(|f| f.rebuild_rate.is_some());
        if rebuilds && drive.ftl.gc == GcPolicy::Imposed {
            let why = "gc = \"imposed\" needs filled drives, and the one that is rebuilt begins empty";
            return Err(impossible(&["ftl.gc", "array.rebuild-rate"], why));
        }
        let trims = |f: &FlowSpec| matches!(&f.source, Source::Synthetic(s) if s.trim_share > 0.0);
        if let Some(flow) = flows.iter().find(|f| trims(f)) {
            let message =
                format!("flow `{}` trims, and an array passes no trims on: leave `trim` out", flow.name);
            return Err(Impossible { keys: vec!["array.level"], message });
        }
        Ok(())
    }
}
