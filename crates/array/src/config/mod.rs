//! Array configuration: several drives behind one address space, as in Linux md.

mod coordination;

use crate::raid::layout::Layout;
use interpulse_drive::spec::Impossible;
use interpulse_drive::spec::{DriveSpec, Fault};
use interpulse_engine::{Bytes, Duration};
use interpulse_flash::geometry::UNIT_BYTES;
use interpulse_settings::{ConfigError, Document, Section, choices, default, optional, required};
use interpulse_workload::{FlowSpec, Source};

pub use crate::raid::level::Level;
pub use coordination::{CoordinationSpec, RebuildLimits};

choices! {
    /// Unit of `array.stripe-cache`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CacheUnit {
        /// stripe heads of one 4 KiB page per drive, as md counts
        Page = "page",
        /// whole stripes of one chunk per drive
        Chunk = "chunk",
    }
}

choices! {
    /// Consistency policy: how parity becomes consistent after a power cut.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Consistency, default Resync {
        /// parity of all rows is recomputed; until then there is a write hole
        Resync = "resync",
        /// partial parity log: each write is logged on the drive of its parity first
        Ppl = "ppl",
    }
}

/// Scheduled drive failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureSpec {
    /// Array position.
    pub drive: u32,
    /// Simulated time of the failure.
    pub at: Duration,
}

/// Maximum number of scheduled failures.
const MAX_FAILURES: usize = 2;

/// Array specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArraySpec {
    /// RAID level.
    pub level: Level,
    /// Drives, parity included.
    pub drives: u32,
    /// Consecutive bytes on one drive; the whole drive for [`Level::Raid1`].
    pub chunk: Bytes,
    /// Maximum number of stripe heads.
    pub stripe_heads: u32,
    /// Stripe heads per entry of `stripe-cache`.
    pub heads_per_stripe: u32,
    /// Host time for a read served by the stripe cache.
    pub cache_latency: Duration,
    /// Consistency policy.
    pub consistency: Consistency,
    /// Pages of each drive reserved for the partial parity log.
    pub log_units: u32,
    /// Bytes per second of each drive that a resync covers.
    pub resync_rate: Bytes,
    /// Scheduled failures in order of time.
    pub failures: [Option<FailureSpec>; MAX_FAILURES],
    /// Uncorrectable pages after which a drive is failed; never if `None`.
    pub fail_after_errors: Option<u32>,
    /// Rebuild rate in bytes per second; without it the array stays degraded.
    pub rebuild_rate: Option<Bytes>,
    /// Bytes per second of each drive that a scrub reads; no scrub if `None`.
    pub scrub_rate: Option<Bytes>,
    /// Whether update statistics are collected.
    pub follow_updates: bool,
    /// Coordination of the drives.
    pub coordination: CoordinationSpec,
}

/// Reads the section `[array]`; without it the case is a single drive.
pub fn read(document: &Document) -> Result<Option<ArraySpec>, ConfigError> {
    let loses_power = document.has("power-loss");
    document.section("array")?.when(document.has("array"), "[array]", |s| read_array(s, loses_power))
}

fn read_array(s: &mut Section, loses_power: bool) -> Result<ArraySpec, ConfigError> {
    let level = s.policy("level", "RAID level", None, Level::ROWS)?;
    let doc = "drives of the array, parity included; at least 2, for raid5 3, for raid6 4";
    let drives = s.u32("drives", doc, required().within(level.least_drives()..=32))?;
    let (parity, redundancy) = (level.parities() > 0, level.is_redundant());
    let of_parity = &Level::names_where(|level| level.parities() > 0);
    let of_redundancy = "levels with redundancy, and raid0 has none";
    let mut spec = ArraySpec {
        level,
        drives,
        chunk: Bytes(UNIT_BYTES),
        stripe_heads: 0,
        heads_per_stripe: 1,
        cache_latency: Duration::ZERO,
        consistency: Consistency::default(),
        log_units: 0,
        resync_rate: Bytes(0),
        failures: [None; MAX_FAILURES],
        fail_after_errors: None,
        rebuild_rate: None,
        scrub_rate: None,
        follow_updates: false,
        coordination: CoordinationSpec::default(),
    };
    let kept = &Level::names_where(Level::supports_power_loss);
    let read = |s: &mut Section| spec.with_consistency(s, loses_power);
    spec = s.when(level.supports_power_loss(), kept, read)?.unwrap_or(spec);
    if let Some(chunk) = s.when(level.stripes(), "levels that stripe, and raid1 mirrors", read_chunk)? {
        spec.chunk = chunk;
    }
    spec = s.when(parity, of_parity, |s| spec.with_cache(s))?.unwrap_or(spec);
    spec = s.when(redundancy, of_redundancy, |s| spec.with_losses(s))?.unwrap_or(spec);
    let rebuilds = spec.rebuild_rate.is_some();
    let coordination = s.when(parity, of_parity, |s| CoordinationSpec::read(s, rebuilds))?;
    spec.coordination = coordination.unwrap_or_default();
    Ok(spec)
}

fn read_chunk(s: &mut Section) -> Result<Bytes, ConfigError> {
    let chunk = s.bytes(
        "chunk",
        "consecutive bytes on one drive, a power of two",
        default(Bytes::kib(64)).within(Bytes::kib(4)..=Bytes(64 << 20)),
    )?;
    s.check(chunk.get().is_power_of_two(), "chunk", "a power of two")?;
    Ok(chunk)
}

fn rate() -> interpulse_settings::Spec<Bytes> {
    optional().within(Bytes::kib(64)..=Bytes(64 << 30))
}

/// Scheduled failures in order of time.
fn read_chosen(
    s: &mut Section,
    level: Level,
    drives: u32,
    places: &[u32],
) -> Result<[Option<FailureSpec>; MAX_FAILURES], ConfigError> {
    let long = Duration::from_ms(100 * 24 * 3_600_000);
    let doc = "simulated time of the failure, or a list with a time for each drive";
    let mut at = s.one_or_more_durations("fail-at", doc, default(Duration::ZERO).at_most(long))?;
    let lost = places.iter().fold(0u32, |lost, place| lost | 1 << place);
    let different = lost.count_ones() as usize == places.len() && places.len() <= MAX_FAILURES;
    s.check(different, "fail-drive", "one drive, or two different ones")?;
    s.check(level.survives(drives, lost), "fail-drive", "drives whose failure the level tolerates")?;
    if let [one] = at[..] {
        at = vec![one; places.len()];
    }
    s.check(at.len() == places.len(), "fail-at", "one time, or one for each drive of fail-drive")?;
    let mut chosen: Vec<_> = places.iter().zip(at).map(|(&drive, at)| FailureSpec { drive, at }).collect();
    chosen.sort_by_key(|failure| failure.at);
    let mut failures = [None; MAX_FAILURES];
    for (of, failure) in failures.iter_mut().zip(chosen) {
        *of = Some(failure);
    }
    Ok(failures)
}

impl ArraySpec {
    /// Reads the consistency policy.
    fn with_consistency(mut self, s: &mut Section, loses_power: bool) -> Result<ArraySpec, ConfigError> {
        let doc = "how parity is made to fit again after a power cut";
        self.consistency = s.choice("consistency", doc, Some("resync"), Consistency::ALL)?;
        let log = s.when(self.consistency == Consistency::Ppl, "consistency = \"ppl\"", |s| {
            let doc = "what the partial parity log takes of each drive";
            let size =
                s.bytes("ppl-size", doc, default(Bytes::mib(1)).within(Bytes::kib(64)..=Bytes::mib(64)))?;
            s.check(size.get().is_multiple_of(UNIT_BYTES), "ppl-size", "a multiple of 4KiB")?;
            Ok((size.get() / UNIT_BYTES) as u32)
        })?;
        self.log_units = log.unwrap_or(0);
        let resyncs = loses_power && self.consistency == Consistency::Resync;
        let rate = s.when(resyncs, "consistency = \"resync\" and [power-loss]", |s| {
            let doc = "maximum rate of the resync after a power cut, in bytes per second of each drive";
            s.bytes("resync-rate", doc, default(Bytes::mib(200)).within(Bytes::kib(64)..=Bytes(64 << 30)))
        })?;
        self.resync_rate = rate.unwrap_or(Bytes(0));
        Ok(self)
    }

    /// Reads the stripe cache of levels with parity.
    fn with_cache(mut self, s: &mut Section) -> Result<ArraySpec, ConfigError> {
        let doc = "count how often and at which intervals each flash page of data and of parity is written";
        self.follow_updates = s.bool("follow-updates", doc, default(false))?;
        let doc = "maximum stripes in the stripe cache, in stripe-cache-unit";
        let count = s.u32("stripe-cache", doc, default(256).within(17..=32768))?;
        let unit = s.choice("stripe-cache-unit", "unit of stripe-cache", Some("page"), CacheUnit::ALL)?;
        self.heads_per_stripe = match unit {
            CacheUnit::Page => 1,
            CacheUnit::Chunk => (self.chunk.get() / UNIT_BYTES) as u32,
        };
        self.stripe_heads = count * self.heads_per_stripe;
        self.cache_latency = s.duration(
            "cache-latency",
            "host time for a read served by the stripe cache",
            default(Duration::from_us(1)).positive().at_most(Duration::from_ms(1000)),
        )?;
        Ok(self)
    }

    /// Reads failures, rebuild and scrub.
    fn with_losses(mut self, s: &mut Section) -> Result<ArraySpec, ConfigError> {
        let drives = self.drives;
        let doc = "rate of a scrub from the start of the run, in bytes per second of each drive; left out, no scrub";
        self.scrub_rate = s.optional_bytes("scrub-rate", doc, rate())?;
        let doc =
            "array position of the drive that fails, counted from 0, or a list of two; left out, none fails";
        let places = s.one_or_more_u32("fail-drive", doc, optional().at_most(31))?;
        if let Some(place) = places.iter().find(|&&place| place >= drives) {
            return Err(s.invalid("fail-drive", format!("positions from 0 to {}, not {place}", drives - 1)));
        }
        let chosen = !places.is_empty();
        let failures = s.when(chosen, "fail-drive", |s| read_chosen(s, self.level, drives, &places))?;
        self.failures = failures.unwrap_or_default();
        let by_errors = "drives that fail by their errors and not at chosen times, and fail-drive is given";
        let doc = "uncorrectable pages after which a drive is failed; left out, never";
        self.fail_after_errors =
            s.only_if(!chosen, by_errors).optional_u32("fail-after-errors", doc, optional().at_least(1))?;
        let fails = chosen || self.fail_after_errors.is_some();
        let doc =
            "maximum rate of the rebuild on a replacement drive, in bytes per second; left out, no rebuild";
        self.rebuild_rate = s.only_if(fails, "fail-drive or fail-after-errors").optional_bytes(
            "rebuild-rate",
            doc,
            rate(),
        )?;
        Ok(self)
    }

    /// Pages of each drive that the array uses: whole chunks.
    pub fn units_per_drive(&self, drive: &DriveSpec) -> Result<u32, Impossible> {
        let units = (drive.capacity_sectors()? / (UNIT_BYTES / 512)) as u32;
        let units = units.saturating_sub(self.log_units);
        Ok(units - units % (self.chunk.get() / UNIT_BYTES) as u32)
    }

    /// Layout of the array.
    pub fn layout(&self, drive: &DriveSpec) -> Result<Layout, Impossible> {
        let chunk = (self.chunk.get() / UNIT_BYTES) as u32;
        Ok(Layout { level: self.level, drives: self.drives, chunk, rows: self.units_per_drive(drive)? })
    }

    /// Capacity in 512-byte sectors.
    pub fn capacity_sectors(&self, drive: &DriveSpec) -> Result<u64, Impossible> {
        Ok(self.layout(drive)?.units() * (UNIT_BYTES / 512))
    }

    /// Whether the array has scheduled events: a failure, a scrub.
    pub fn has_events(&self) -> bool {
        self.failures.iter().any(Option::is_some) || self.scrub_rate.is_some()
    }

    /// Replacement drives: one for each scheduled failure; for failures by errors one per parity, at least one.
    pub fn spares(&self) -> u32 {
        match self.rebuild_rate {
            None => 0,
            Some(_) if self.fail_after_errors.is_some() => self.level.parities().max(1),
            Some(_) => self.failures.iter().flatten().count() as u32,
        }
    }

    /// Number of drives simulated, replacements included.
    pub fn drives_simulated(&self) -> u32 {
        self.drives + self.spares()
    }

    /// Checks the array against scheduled and random faults of its drives.
    fn check_faults(&self, drive: &DriveSpec) -> Result<(), Impossible> {
        let require = |holds, keys: &[&'static str], why: &str| Impossible::unless(holds, keys, why);
        let random = drive.faults.is_some_and(|faults| faults.die_failure_every.is_some());
        let why = "dies that fail one after the other make a drive read-only, and an array has no answer to a write that is \
                   refused: schedule failures with [[fault]]";
        require(!random, &["faults.die-failure-every", "array.level"], why)?;
        for fault in &drive.schedule {
            let why = format!(
                "a [[fault]] is of drive {}; the array has drives 0 to {}",
                fault.drive,
                self.drives - 1
            );
            require(fault.drive < self.drives, &["array.drives"], &why)?;
            let why = format!(
                "drive {} cannot hold its data without the dies that fail and becomes read-only, and an array has no answer to a \
                 write that is refused: give more over-provisioning, or more dies",
                fault.drive
            );
            require(
                drive.survives_scheduled_failures(fault.drive)?,
                &["ftl.over-provisioning", "array.level"],
                &why,
            )?;
        }
        Ok(())
    }

    /// Checks the array against a power loss.
    fn check_power_loss(&self, drive: &DriveSpec) -> Result<(), Impossible> {
        let Some(at) = drive.power_loss.and_then(|spec| spec.at) else { return Ok(()) };
        let require = |holds, key, why: &str| Impossible::unless(holds, &["power-loss.at", key], why);
        let some = Level::names_where(Level::supports_power_loss);
        let why = format!("of arrays, only {some} can lose power");
        require(self.level.supports_power_loss(), "array.level", &why)?;
        let why = "the drives of an array keep their caches through a loss of power";
        require(drive.cache.protected, "cache.protected", why)?;
        let why = "an array that has lost a drive cannot lose power: fail later";
        require(self.failures.iter().flatten().all(|f| f.at > at), "array.fail-at", why)?;
        let why = "an array that has lost a drive cannot lose power, and drives that fail by their errors may be lost before";
        require(self.fail_after_errors.is_none(), "array.fail-after-errors", why)?;
        require(self.scrub_rate.is_none(), "array.scrub-rate", "an array that loses power is not scrubbed")
    }

    /// Checks the array against the drive and the flows.
    pub fn check(&self, drive: &DriveSpec, flows: &[FlowSpec]) -> Result<(), Impossible> {
        let require = |holds, keys: &[&'static str], why: &str| Impossible::unless(holds, keys, why);
        let why = "an array addresses its drives as a whole: leave out the namespaces, or the array";
        require(drive.namespaces.is_empty(), &["array.level", "namespace.0.over-provisioning"], why)?;
        require(self.units_per_drive(drive)? != 0, &["array.chunk"], "a chunk is larger than a drive")?;
        let why = "an array writes any address of its drives, and a zone only at its write pointer: give a drive of the \
                   page-mapped family, or no array";
        require(drive.ftl.zones.is_none(), &["array.level", "ftl.family"], why)?;
        let why = "spare drives and GC windows of an array are those of the page-mapped family: give a drive of it, or no array";
        require(drive.ftl.log_blocks.is_none(), &["array.level", "ftl.family"], why)?;
        let why = "the current of an array is not traced";
        require(drive.nand.power.trace.is_none(), &["power.trace", "array.level"], why)?;
        let why = "the drives of an array have no power budget";
        require(drive.nand.power.budget.is_none(), &["power.budget", "array.level"], why)?;
        let why = "an array submits to one queue pair of each drive";
        require(drive.host.queue_weights.len() <= 1, &["host.queue-weights", "array.level"], why)?;
        let why = "an array stores rows and parity of all flows together and passes no placement handles on";
        require(drive.ftl.placement.handles() == 0, &["ftl.placement", "array.level"], why)?;
        self.check_power_loss(drive)?;
        let why = "a drive whose blocks fail becomes read-only, and an array has no answer to a write that is refused";
        let retires = drive.faults.is_some_and(|faults| faults.retires_blocks())
            || drive.schedule.iter().any(Fault::fails_a_block);
        require(!retires, &[drive.fault_key(), "array.level"], why)?;
        self.check_faults(drive)?;
        let why = "without bit errors no drive fails by them: give an errors.table other than \"ideal\"";
        let errors = self.fail_after_errors.is_none()
            || drive.nand.errors.is_some()
            || drive.faults.is_some_and(|faults| faults.uncorrectable_read > 0.0)
            || drive.schedule.iter().any(Fault::loses_data);
        require(errors, &["array.fail-after-errors"], why)?;
        let why = "gc = \"imposed\" needs filled drives, and the one that is rebuilt begins empty";
        let rebuilds = self.rebuild_rate.is_some() && drive.ftl.gc.imposes();
        require(!rebuilds, &["ftl.gc", "array.rebuild-rate"], why)?;
        let why = "an array has no answer to a command that is aborted: leave out abort-limit";
        require(drive.host.abort_limit.is_none(), &["array.level", "host.abort-limit"], why)?;
        let why = "an array has no answer to a drive that is formatted: leave out [[format]]";
        require(drive.formats.is_empty(), &["array.level", "format.0.at"], why)?;
        self.coordination.check(drive)?;
        for flow in flows {
            let Source::Synthetic(of) = &flow.source else { continue };
            let unsupported = [
                (of.trim_share, "trims", "trims", "trim"),
                (of.zeroes_share, "writes zeroes", "Write Zeroes", "write-zeroes"),
                (of.compare_share, "compares", "comparisons", "compare"),
            ];
            if let Some((_, does, what, key)) = unsupported.iter().find(|of| of.0 > 0.0) {
                let name = &flow.name;
                let message =
                    format!("flow `{name}` {does}, and an array does not support {what}: leave `{key}` out");
                return Err(Impossible::new(&["array.level"], message));
            }
        }
        Ok(())
    }
}
