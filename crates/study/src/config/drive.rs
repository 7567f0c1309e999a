//! Reads the drive: array, scheduling, suspension, FTL, cache, host interface.

use interpulse_drive::front::link::LinkSpec;
use interpulse_drive::front::queues::Arbitration;
use interpulse_drive::ftl::gc::{FreeCount, GcPolicy, ThresholdBase};
use interpulse_drive::ftl::hotness::HotnessPolicy;
use interpulse_drive::ftl::reprogram::{ReprogramSpec, super_layer_word_lines};
use interpulse_drive::ftl::stripe::Allocation;
use interpulse_drive::spec::{Acknowledge, CacheSpec, DriveSpec, FtlSpec, HostSpec};
use interpulse_engine::{Bytes, Duration};
use interpulse_flash::geometry::{Geometry, UNIT_BYTES};
use interpulse_flash::nand::NandConfig;
use interpulse_flash::nand::power::PowerConfig;
use interpulse_flash::nand::queue::{GcReadRank, Policy};
use interpulse_flash::parts::{FILE, PartSpec};
use interpulse_flash::variation::LongOperations;
use interpulse_settings::{ConfigError, Document, default, optional, required};
use std::path::Path;

/// Reads the drive; files that the configuration file names lie in `folder`.
pub(super) fn read(document: &Document, folder: &Path) -> Result<DriveSpec, ConfigError> {
    let mut section = document.section("part")?;
    section.label("file", FILE)?;
    let part = PartSpec::read(&mut section)?;
    if !part.page_size.get().is_multiple_of(UNIT_BYTES) {
        return Err(section.invalid("page-size", "a multiple of 4KiB, the unit of the mapping"));
    }
    if part.planes > part.blocks_per_plane {
        let message =
            "a die has more planes than a plane has blocks; no such part exists, are the two swapped?";
        return Err(section.conflict(&["planes", "blocks-per-plane"], message));
    }
    let mut g = document.section("geometry")?.shaping_state();
    let few = |max| required::<u32>().within(1..=max);
    let channels = g.u32("channels", "channels (buses) of the drive", few(256).typical(8))?;
    let chips = g.u32("chips-per-channel", "chips (targets) on each channel", few(256).typical(4))?;
    let dies = g.u32("dies-per-chip", "dies (LUNs) in each chip", default(1).within(1..=64))?;
    if u64::from(channels) * u64::from(chips) * u64::from(dies) > 1 << 16 {
        return Err(g.conflict(&["channels", "chips-per-channel", "dies-per-chip"], "at most 65536 dies"));
    }
    let mapping_unit = read_mapping_unit(document, &part)?;
    let geometry = Geometry::new(channels, chips, dies, &part).mapped_in(mapping_unit);
    let mut nand = read_nand(document, &part, geometry.dies(), folder)?;
    let (capacity, _) = super::drive_keys::read(document)?;
    let ftl = FtlSpec { capacity, ..read_ftl(document)? };
    if let Some(of) = &ftl.reprogram {
        nand.super_layer = super_layer_word_lines(geometry.word_lines, part.layers, of.super_layer);
    }
    let mut c = document.section("cache")?;
    let size = c.bytes(
        "size",
        "DRAM for written data",
        default(Bytes::mib(256)).within(Bytes::kib(64)..=Bytes::mib(64 << 10)),
    )?;
    let latency = c.duration(
        "latency",
        "time to write to the cache or to read from it",
        default(Duration::from_ns(500)).at_most(Duration::from_ms(1)),
    )?;
    let doc = "when a write is complete: with its data in the cache, or on flash";
    let acknowledge = c.which("acknowledge", doc, Some("when-cached"), Acknowledge::ROWS)?;
    let protected = c.when(document.has("power-loss"), "[power-loss]", |c| {
        let doc = "capacitors keep what is in the cache through a loss of power";
        c.bool("protected", doc, default(true))
    })?;
    let protected = protected.unwrap_or(true);
    let acknowledge = c.row("acknowledge", acknowledge, Acknowledge::ROWS)?;
    let cache = CacheSpec { size, latency, acknowledge, protected };
    let host = read_host(document)?;
    let (power, constants) = super::power::read(document, &part, &geometry)?;
    nand.power = power;
    let mut a = document.section("audit")?;
    let audit_sample = a.u32(
        "sample",
        "the version audit follows one in this many logical units; 1 follows all",
        default(1024).at_least(1),
    )?;
    let power_loss = super::power_loss::read(document)?;
    Ok(DriveSpec { part, geometry, nand, ftl, cache, host, constants, audit_sample, power_loss })
}

/// The FTL keeps which units of a page are valid in one word.
const MOST_UNITS_OF_A_PAGE: u64 = 32;

/// Bytes of a mapping unit.
fn read_mapping_unit(document: &Document, part: &PartSpec) -> Result<u64, ConfigError> {
    let mut f = document.section("ftl")?.shaping_state();
    let units = [4, 8, 16, 32].map(|kib| (format!("{kib}KiB"), kib << 10, "a unit of this size"));
    let unit = f.choice(
        "mapping-unit",
        "what the FTL maps; a write that covers one in part reads it first",
        Some("4KiB"),
        &units,
    )?;
    if !part.page_size.get().is_multiple_of(unit) {
        return Err(f.invalid("mapping-unit", format!("a size that divides a page of {}", part.page_size)));
    }
    if part.page_size.get() / unit > MOST_UNITS_OF_A_PAGE {
        let least =
            format!("a unit of which a page of {} has at most {MOST_UNITS_OF_A_PAGE}", part.page_size);
        return Err(f.invalid("mapping-unit", least));
    }
    Ok(unit)
}

fn read_nand(
    document: &Document,
    part: &PartSpec,
    dies: u32,
    folder: &Path,
) -> Result<NandConfig, ConfigError> {
    let mut s = document.section("schedule")?;
    let policy =
        s.choice("policy", "which waiting operation a die takes next", Some("read-priority"), Policy::ALL)?;
    let multi_plane_reads = s.bool(
        "multi-plane-reads",
        "sense waiting reads of different planes of a die together",
        default(false),
    )?;
    let gc_reads = s.when(policy == Policy::ReadPriority, "policy = \"read-priority\"", |s| {
        s.choice("gc-reads", "how reads of garbage collection rank", Some("in-order"), GcReadRank::ALL)
    })?;
    let long_operations = s.choice(
        "long-operations",
        "how long programs and erases last: real, or the bounds of a comparison",
        Some("real"),
        LongOperations::ALL,
    )?;
    let (program_suspend, erase_suspend, nesting) = super::suspend::read(document, part, dies)?;
    let ecc = super::errors::read(document, part, folder)?;
    Ok(NandConfig {
        policy,
        gc_reads: gc_reads.unwrap_or(GcReadRank::InOrder),
        long_operations,
        program_suspend,
        erase_suspend,
        nesting,
        multi_plane_reads,
        power: PowerConfig::default(),
        super_layer: 0,
        ecc_latency: ecc.latency,
        ecc_interval: ecc.interval,
        errors: ecc.errors,
    })
}

fn read_ftl(document: &Document) -> Result<FtlSpec, ConfigError> {
    let mut f = document.section("ftl")?.shaping_state();
    let over_provisioning = f.fraction(
        "over-provisioning",
        "(physical - logical) / logical, of the pages that can hold data",
        required().positive().at_most(20.0).typical(0.07),
    )?;
    let bad_block_reserve = f.fraction(
        "bad-block-reserve",
        "share of the blocks of a plane kept for replacing bad ones",
        default(0.0).at_most(0.5),
    )?;
    let multi_plane =
        f.u32("multi-plane", "planes of a die programmed and erased together", default(1).within(1..=64))?;
    let allocation = Allocation::read(&mut f)?;
    let doc = "which block garbage collection empties next";
    let gc = f.policy("gc", doc, Some("greedy"), GcPolicy::ROWS)?;
    let threshold_base = f.choice(
        "gc-threshold-base",
        "what gc-soft and gc-hard are shares of",
        Some("spare"),
        ThresholdBase::ALL,
    )?;
    let gc_soft = f.fraction(
        "gc-soft",
        "garbage collection runs while less than this share is free",
        default(0.1).positive().at_most(0.9),
    )?;
    let gc_counts = f.choice(
        "gc-counts",
        "what gc-soft is compared with: erased blocks, free pages with those of open blocks, or a running count of free pages",
        Some("blocks"),
        FreeCount::ALL,
    )?;
    let gc_hard =
        f.fraction("gc-hard", "host data may not take the last this share", default(0.005).at_most(0.5))?;
    // What follows shapes a run and not the state that it starts from.
    let mut run = f.leaving_state();
    let gc_depth = run.u32(
        "gc-depth",
        "programs of moved data that a lane has in the queue of its die at a time; twice as many pages are read ahead",
        default(2).within(1..=1024),
    )?;
    let hotness = HotnessPolicy::read(&mut run)?;
    let reprogram = ReprogramSpec::read(&mut run, hotness.levels() > 0)?;
    let wear_gap = run.optional_u32(
        "wear-gap",
        "static wear levelling: a block erased so many times more often than the least worn one of its lane has that one \
         rewritten",
        optional().at_least(1),
    )?;
    if gc_hard > gc_soft {
        return Err(f.conflict(&["gc-hard", "gc-soft"], "gc-hard must not be larger than gc-soft"));
    }
    Ok(FtlSpec {
        over_provisioning,
        capacity: None,
        bad_block_reserve,
        multi_plane,
        allocation,
        gc,
        threshold_base,
        gc_soft,
        gc_counts,
        gc_hard,
        gc_depth,
        hotness,
        reprogram,
        wear_gap,
    })
}

fn read_host(document: &Document) -> Result<HostSpec, ConfigError> {
    let mut h = document.section("host")?;
    let queue_weights = h.list_u32(
        "queue-weights",
        "one submission/completion queue pair for each weight",
        Some(&[1]),
        required().within(1..=256),
    )?;
    if queue_weights.is_empty() || queue_weights.len() > 1024 {
        return Err(h.invalid("queue-weights", "1 to 1024 weights"));
    }
    let queue_depth = h.u32("queue-depth", "depth of each queue pair", default(1024).within(1..=65535))?;
    let arbitration = h.choice(
        "arbitration",
        "how the controller chooses between queues",
        Some("round-robin"),
        Arbitration::ALL,
    )?;
    let frame_buffer = h.u32(
        "frame-buffer",
        "most commands in the controller at a time",
        default(1024).within(1..=1 << 20),
    )?;
    let firmware = h.duration(
        "firmware",
        "firmware time of a command",
        default(Duration::from_us(10)).at_most(Duration::from_ms(10)),
    )?;
    let firmware_cores = h.optional_u32(
        "firmware-cores",
        "commands that the firmware works on at a time; left out, any number: its time is a latency that limits no rate",
        optional().within(1..=1024),
    )?;
    let command_timeout = h.optional_duration(
        "command-timeout",
        "how long the host waits for a command; slower ones are counted and go on",
        optional().positive(),
    )?;
    let mut l = document.section("link")?;
    let link = l.policy("kind", "what connects the drive to its host", Some("pcie"), LinkSpec::ROWS)?;
    Ok(HostSpec {
        queue_weights,
        queue_depth,
        arbitration,
        frame_buffer,
        link,
        firmware,
        firmware_cores,
        command_timeout,
    })
}
