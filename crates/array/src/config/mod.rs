//! What an array is configured by: several drives behind one address space, as Linux md joins them.

mod coordination;

use interpulse_drive::ftl::gc::GcPolicy;
use interpulse_drive::spec::DriveSpec;
use interpulse_drive::spec::Impossible;
use interpulse_engine::{Bytes, Duration};
use interpulse_flash::geometry::UNIT_BYTES;
use interpulse_settings::{ConfigError, Document, Section, default, optional, options, required};
use interpulse_workload::{FlowSpec, Source};

pub use coordination::{CoordinationSpec, RebuildLimits};

/// How the drives are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Striped without redundancy.
    Raid0,
    /// Every drive holds everything.
    Raid1,
    /// Striped with one parity chunk per stripe, left-symmetric.
    Raid5,
    /// Striped with two parity chunks per stripe, left-symmetric.
    Raid6,
    /// Striped over pairs of copies, the second one next to the first.
    Raid10,
}

impl Level {
    /// Name, value and one line of documentation.
    pub const ALL: &'static [(&'static str, Level, &'static str)] = &[
        ("raid0", Level::Raid0, "striped without redundancy"),
        ("raid1", Level::Raid1, "every drive holds everything"),
        ("raid5", Level::Raid5, "striped with rotating parity, left-symmetric"),
        ("raid6", Level::Raid6, "striped with two rotating parities, left-symmetric"),
        ("raid10", Level::Raid10, "striped, each chunk on two drives next to one another (near=2)"),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, level, _)| *level == self).map_or("", |(name, _, _)| name)
    }

    /// Parity pages in a row.
    #[inline]
    pub fn parities(self) -> u32 {
        match self {
            Level::Raid0 | Level::Raid1 | Level::Raid10 => 0,
            Level::Raid5 => 1,
            Level::Raid6 => 2,
        }
    }

    /// Whether its redundancy is copies.
    #[inline]
    pub fn mirrors(self) -> bool {
        matches!(self, Level::Raid1 | Level::Raid10)
    }

    fn least_drives(self) -> u32 {
        match self {
            Level::Raid0 | Level::Raid1 | Level::Raid10 => 2,
            Level::Raid5 => 3,
            Level::Raid6 => 4,
        }
    }

    /// Whether nothing is lost with these of so many drives, one bit each.
    pub fn survives(self, drives: u32, lost: u32) -> bool {
        let all = ((1u64 << drives) - 1) as u32;
        match self {
            Level::Raid0 => lost == 0,
            Level::Raid1 => lost != all,
            Level::Raid5 | Level::Raid6 => lost.count_ones() <= self.parities(),
            Level::Raid10 => {
                // Every chunk is on two neighbours; with an even number of drives the pairs are always the same.
                let next = lost >> 1 | (lost & 1) << (drives - 1);
                let both = lost & next;
                let pairs = if drives.is_multiple_of(2) { 0x5555_5555 } else { all };
                both & pairs == 0
            }
        }
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

/// A drive that fails at a chosen time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureSpec {
    /// Its place in the array.
    pub drive: u32,
    /// When, in simulated time.
    pub at: Duration,
}

/// Most drives that fail at chosen times.
const MOST_FAILURES: usize = 2;

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
    /// Heads of one entry of what `stripe-cache` counts.
    pub heads_per_stripe: u32,
    /// Host time for a read answered from the stripe cache.
    pub cache_latency: Duration,
    /// How parity is made to fit again after a power cut.
    pub consistency: Consistency,
    /// Units of each drive that its log takes; none without one.
    pub log_units: u32,
    /// Bytes of each drive that a resync covers in a second.
    pub resync_rate: Bytes,
    /// The drives that fail at chosen times, in the order of these.
    pub failures: [Option<FailureSpec>; MOST_FAILURES],
    /// Uncorrectable pages after which a drive is taken out; none is without it.
    pub fail_after_errors: Option<u32>,
    /// Bytes a second at which an empty drive takes a lost one's place; without it the array stays degraded.
    pub rebuild_rate: Option<Bytes>,
    /// Bytes of each drive that a scrub reads in a second; none without it.
    pub scrub_rate: Option<Bytes>,
    /// How often and at which intervals each page of the drives is written is followed.
    pub follow_updates: bool,
    /// How the drives keep out of one another's way.
    pub coordination: CoordinationSpec,
}

const CACHE_KEYS: [&str; 4] = ["stripe-cache", "stripe-cache-unit", "cache-latency", "follow-updates"];
const REDUNDANCY_KEYS: [&str; 5] =
    ["fail-drive", "fail-at", "fail-after-errors", "rebuild-rate", "scrub-rate"];

/// Reads the section `[array]`; none makes a single drive.
pub fn read(document: &Document) -> Result<Option<ArraySpec>, ConfigError> {
    let mut s = document.section("array")?;
    if !document.has("array") {
        return Ok(None);
    }
    let level = s.choice("level", "how the drives are joined", None, &options(Level::ALL))?;
    let doc = "drives of the array, parity included";
    let drives = s.u32("drives", doc, required().within(level.least_drives()..=32))?;
    if level.parities() == 0 {
        let why = "it belongs to level = \"raid5\" and \"raid6\"";
        for key in CACHE_KEYS {
            s.refuse(key, why)?;
        }
        coordination::refuse(&mut s, why)?;
    }
    if level == Level::Raid0 {
        for key in REDUNDANCY_KEYS {
            s.refuse(key, "it belongs to levels with redundancy, and raid0 has none")?;
        }
    }
    let mut spec = ArraySpec {
        level,
        drives,
        chunk: Bytes(UNIT_BYTES),
        stripe_heads: 0,
        heads_per_stripe: 1,
        cache_latency: Duration::ZERO,
        consistency: Consistency::Resync,
        log_units: 0,
        resync_rate: Bytes(0),
        failures: [None; MOST_FAILURES],
        fail_after_errors: None,
        rebuild_rate: None,
        scrub_rate: None,
        follow_updates: false,
        coordination: CoordinationSpec::default(),
    };
    read_consistency(&mut s, &mut spec, document.has("power-loss"))?;
    if level == Level::Raid1 {
        s.refuse("chunk", "mirrors are not striped")?;
    } else {
        spec.chunk = s.bytes(
            "chunk",
            "consecutive bytes on one drive",
            default(Bytes::kib(64)).within(Bytes::kib(4)..=Bytes(64 << 20)),
        )?;
        if !spec.chunk.get().is_power_of_two() {
            return Err(s.invalid("chunk", "a power of two"));
        }
    }
    if level.parities() > 0 {
        let doc = "count how often and at which intervals each flash page of data and of parity is written";
        spec.follow_updates = s.bool("follow-updates", doc, default(false))?;
        read_cache(&mut s, &mut spec)?;
    }
    if level != Level::Raid0 {
        let doc = "bytes of each drive that a scrub reads in a second, from the start; left out, none runs";
        spec.scrub_rate = s.optional_bytes("scrub-rate", doc, rate())?;
        read_failures(&mut s, &mut spec)?;
    }
    if level.parities() > 0 {
        spec.coordination = coordination::read(&mut s, spec.rebuild_rate.is_some())?;
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
    spec.consistency = s.choice("consistency", doc, Some("resync"), &options(Consistency::ALL))?;
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
    let unit =
        s.choice("stripe-cache-unit", "what stripe-cache counts", Some("page"), &options(CacheUnit::ALL))?;
    spec.heads_per_stripe = match unit {
        CacheUnit::Page => 1,
        CacheUnit::Chunk => (spec.chunk.get() / UNIT_BYTES) as u32,
    };
    spec.stripe_heads = count * spec.heads_per_stripe;
    spec.cache_latency = s.duration(
        "cache-latency",
        "host time for a read answered from the stripe cache",
        default(Duration::from_us(1)).positive().at_most(Duration::from_ms(1000)),
    )?;
    Ok(())
}

fn read_failures(s: &mut Section, spec: &mut ArraySpec) -> Result<(), ConfigError> {
    let doc = "place of the drive that fails, counted from 0, or a list of two; left out, none does";
    let places = s.some_u32("fail-drive", doc, optional().within(0..=spec.drives - 1))?;
    if places.is_empty() {
        s.refuse("fail-at", "it belongs to fail-drive")?;
    } else {
        s.refuse(
            "fail-after-errors",
            "drives fail at chosen times or by their errors, and fail-drive is given",
        )?;
        read_chosen(s, spec, &places)?;
    }
    let doc = "uncorrectable pages after which a drive is taken out of the array; left out, none is";
    spec.fail_after_errors = s.optional_u32("fail-after-errors", doc, optional().at_least(1))?;
    if places.is_empty() && spec.fail_after_errors.is_none() {
        s.refuse("rebuild-rate", "it belongs to fail-drive or fail-after-errors")?;
    }
    let doc = "most bytes a second that are rebuilt on an empty drive in its place; left out, none is";
    spec.rebuild_rate = s.optional_bytes("rebuild-rate", doc, rate())?;
    Ok(())
}

/// The drives that fail at chosen times.
fn read_chosen(s: &mut Section, spec: &mut ArraySpec, places: &[u32]) -> Result<(), ConfigError> {
    let lost = places.iter().fold(0u32, |lost, place| lost | 1 << place);
    if lost.count_ones() as usize != places.len() || places.len() > MOST_FAILURES {
        return Err(s.invalid("fail-drive", "one drive, or two different ones"));
    }
    if !spec.level.survives(spec.drives, lost) {
        return Err(s.invalid("fail-drive", "drives that the others can make up for"));
    }
    let long = Duration::from_ms(100 * 24 * 3_600_000);
    let doc = "simulated time at which it fails, or a list with a time for each";
    let mut at = s.some_duration("fail-at", doc, default(Duration::ZERO).at_most(long))?;
    if let [one] = at[..] {
        at = vec![one; places.len()];
    }
    if at.len() != places.len() {
        return Err(s.invalid("fail-at", "one time, or one for each drive of fail-drive"));
    }
    let mut chosen: Vec<_> = places.iter().zip(at).map(|(&drive, at)| FailureSpec { drive, at }).collect();
    chosen.sort_by_key(|failure| failure.at);
    for (of, failure) in spec.failures.iter_mut().zip(chosen) {
        *of = Some(failure);
    }
    Ok(())
}

impl ArraySpec {
    /// Units of 4 KiB of each drive that the array uses: whole chunks.
    pub fn units_per_drive(&self, drive: &DriveSpec) -> Result<u32, Impossible> {
        let units = (drive.capacity_sectors()? / (UNIT_BYTES / 512)) as u32;
        let units = units.saturating_sub(self.log_units);
        Ok(units - units % (self.chunk.get() / UNIT_BYTES) as u32)
    }

    /// Capacity in 512-byte sectors.
    pub fn capacity_sectors(&self, drive: &DriveSpec) -> Result<u64, Impossible> {
        let units = u64::from(self.units_per_drive(drive)?);
        let chunk = self.chunk.get() / UNIT_BYTES;
        let units = match self.level {
            Level::Raid1 => units,
            // Copies of whole chunks: with an odd number of chunks in all, the last one is not used.
            Level::Raid10 => units / chunk * u64::from(self.drives) / 2 * chunk,
            Level::Raid0 | Level::Raid5 | Level::Raid6 => {
                units * u64::from(self.drives - self.level.parities())
            }
        };
        Ok(units * (UNIT_BYTES / 512))
    }

    /// Empty drives that take the places of lost ones: one for each that fails at a chosen time, or as many as there
    /// are parities, at least one, for those that fail by their errors.
    pub fn spares(&self) -> u32 {
        match self.rebuild_rate {
            None => 0,
            Some(_) if self.fail_after_errors.is_some() => self.level.parities().max(1),
            Some(_) => self.failures.iter().flatten().count() as u32,
        }
    }

    /// Drives simulated: those of the array, and those that take the places of lost ones.
    pub fn drives_simulated(&self) -> u32 {
        self.drives + self.spares()
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
        if self.failures.iter().flatten().any(|f| f.at <= at) {
            return impossible(
                "array.fail-at",
                "an array that has lost a drive cannot lose power: fail later",
            );
        }
        if self.fail_after_errors.is_some() {
            return impossible(
                "array.fail-after-errors",
                "an array that has lost a drive cannot lose power, and drives that fail by their errors may be lost before",
            );
        }
        if self.scrub_rate.is_some() {
            return impossible("array.scrub-rate", "an array that loses power is not scrubbed");
        }
        Ok(())
    }

    /// Checks what only the whole shows.
    pub fn check(&self, drive: &DriveSpec, flows: &[FlowSpec]) -> Result<(), Impossible> {
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
        if self.fail_after_errors.is_some() && drive.nand.errors.is_none() {
            let why = "without bit errors no drive fails by them: give an errors.table other than \"ideal\"";
            return Err(impossible(&["array.fail-after-errors"], why));
        }
        if self.rebuild_rate.is_some() && drive.ftl.gc == GcPolicy::Imposed {
            let why = "gc = \"imposed\" needs filled drives, and the one that is rebuilt begins empty";
            return Err(impossible(&["ftl.gc", "array.rebuild-rate"], why));
        }
        self.coordination.check(drive)?;
        let trims = |f: &FlowSpec| matches!(&f.source, Source::Synthetic(s) if s.trim_share > 0.0);
        if let Some(flow) = flows.iter().find(|f| trims(f)) {
            let message =
                format!("flow `{}` trims, and an array passes no trims on: leave `trim` out", flow.name);
            return Err(Impossible { keys: vec!["array.level"], message });
        }
        Ok(())
    }
}
