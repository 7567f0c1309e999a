//! Reads the drive: array, scheduling, suspension, FTL, cache, host interface.

use interpulse_drive::front::link::LinkSpec;
use interpulse_drive::front::queues::Arbitration;
use interpulse_drive::ftl::gc::{GcPolicy, ThresholdBase};
use interpulse_drive::ftl::hotness::MOST_LEVELS;
use interpulse_drive::ftl::reprogram::{ReprogramSpec, WhenValid, super_layer_word_lines};
use interpulse_drive::ftl::stripe::Allocation;
use interpulse_drive::spec::{Acknowledge, CacheSpec, DriveSpec, FtlSpec, HostSpec};
use interpulse_engine::{Bytes, Duration};
use interpulse_flash::geometry::{Geometry, UNIT_BYTES};
use interpulse_flash::nand::NandConfig;
use interpulse_flash::nand::power::PowerConfig;
use interpulse_flash::nand::queue::{GcReadRank, Policy};
use interpulse_flash::parts::{FILE, PartSpec};
use interpulse_flash::variation::LongOperations;
use interpulse_settings::{ConfigError, Document, Section, default, optional, options, required};
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
    let mut g = document.section("geometry")?;
    let few = |max| required::<u32>().within(1..=max);
    let channels = g.u32("channels", "channels (buses) of the drive", few(256))?;
    let chips = g.u32("chips-per-channel", "chips (targets) on each channel", few(256))?;
    let dies = g.u32("dies-per-chip", "dies (LUNs) in each chip", default(1).within(1..=64))?;
    if u64::from(channels) * u64::from(chips) * u64::from(dies) > 1 << 16 {
        return Err(g.conflict(&["channels", "chips-per-channel", "dies-per-chip"], "at most 65536 dies"));
    }
    let mapping_unit = read_mapping_unit(document, &part)?;
    let geometry = Geometry::new(channels, chips, dies, &part).mapped_in(mapping_unit);
    let mut nand = read_nand(document, &part, geometry.dies(), folder)?;
    let ftl = read_ftl(document)?;
    if let Some(of) = &ftl.reprogram {
        nand.super_layer = super_layer_word_lines(geometry.word_lines, part.layers, of.super_layer);
    }
    let mut c = document.section("cache")?;
    let cache = CacheSpec {
        size: c.bytes(
            "size",
            "DRAM for written data",
            default(Bytes::mib(256)).within(Bytes::kib(64)..=Bytes::mib(64 << 10)),
        )?,
        latency: c.duration(
            "latency",
            "time to write to the cache or to read from it",
            default(Duration::from_ns(500)).at_most(Duration::from_ms(1)),
        )?,
        acknowledge: c.choice(
            "acknowledge",
            "when a write is complete: with its data in the cache, or on flash",
            Some("when-cached"),
            &options(Acknowledge::ALL),
        )?,
        absorbs: true,
        protected: if document.has("power-loss") {
            let doc = "capacitors keep what is in the cache through a loss of power";
            c.bool("protected", doc, default(true))?
        } else {
            c.refuse("protected", "it matters only where power is lost: [power-loss]")?;
            true
        },
    };
    let cache = CacheSpec { absorbs: read_absorbs(&mut c, cache.acknowledge)?, ..cache };
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

/// Whether data that waits in the cache is overwritten there.
fn read_absorbs(c: &mut Section, acknowledge: Acknowledge) -> Result<bool, ConfigError> {
    if acknowledge == Acknowledge::WhenProgrammed {
        c.refuse("absorb", "with acknowledge = \"when-programmed\" every write is programmed")?;
        return Ok(false);
    }
    let doc = "a write to data that waits in the cache takes its place; otherwise every write is programmed";
    c.bool("absorb", doc, default(true))
}

/// Bytes of a mapping unit.
fn read_mapping_unit(document: &Document, part: &PartSpec) -> Result<u64, ConfigError> {
    let mut f = document.section("ftl")?;
    const UNITS: [(&str, u64); 4] =
        [("4KiB", 4 << 10), ("8KiB", 8 << 10), ("16KiB", 16 << 10), ("32KiB", 32 << 10)];
    let unit = f.choice(
        "mapping-unit",
        "what the FTL maps; a write that covers one in part reads it first",
        Some("4KiB"),
        &UNITS,
    )?;
    if !part.page_size.get().is_multiple_of(unit) {
        return Err(f.invalid("mapping-unit", format!("a size that divides a page of {}", part.page_size)));
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
    let policy = s.choice(
        "policy",
        "which waiting operation a die takes next",
        Some("read-priority"),
        &options(Policy::ALL),
    )?;
    let multi_plane_reads = s.bool(
        "multi-plane-reads",
        "sense waiting reads of different planes of a die together",
        default(false),
    )?;
    let gc_reads = if policy == Policy::ReadPriority {
        s.choice(
            "gc-reads",
            "how reads of garbage collection rank",
            Some("in-order"),
            &options(GcReadRank::ALL),
        )?
    } else {
        s.refuse("gc-reads", "it belongs to policy = \"read-priority\"")?;
        GcReadRank::InOrder
    };
    let long_operations = s.choice(
        "long-operations",
        "how long programs and erases last: real, or the bounds of a comparison",
        Some("real"),
        &options(LongOperations::ALL),
    )?;
    let (program_suspend, erase_suspend, nesting) = super::suspend::read(document, part, dies)?;
    let ecc = super::errors::read(document, part, folder)?;
    Ok(NandConfig {
        policy,
        gc_reads,
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
    let mut f = document.section("ftl")?;
    let over_provisioning = f.fraction(
        "over-provisioning",
        "(physical - logical) / logical, of the pages that can hold data",
        required().positive().at_most(20.0),
    )?;
    let bad_block_reserve = f.fraction(
        "bad-block-reserve",
        "share of the blocks of a plane kept for replacing bad ones",
        default(0.0).at_most(0.5),
    )?;
    let multi_plane =
        f.u32("multi-plane", "planes of a die programmed and erased together", default(1).within(1..=64))?;
    let orders = Allocation::all();
    let orders: Vec<(&str, Allocation)> = orders.iter().map(|(n, a)| (n.as_str(), *a)).collect();
    let allocation = f.choice(
        "allocation",
        "dynamic, or a static striping order of channel, way, die and plane, fastest first",
        Some("dynamic"),
        &orders,
    )?;
    let policies: Vec<(&str, &str)> = GcPolicy::ALL.iter().map(|&(n, _)| (n, n)).collect();
    let gc = f.choice("gc", "which block garbage collection empties next", Some("greedy"), &policies)?;
    let d = if gc == "d-choices" {
        f.u32("gc-choices", "closed blocks drawn by d-choices", default(10).within(1..=1024))?
    } else {
        f.refuse("gc-choices", "it belongs to gc = \"d-choices\"")?;
        0
    };
    let imposed_waf = if gc == "imposed" {
        f.f64("imposed-waf", "write amplification to impose", required().within(1.0..=100.0))?
    } else {
        1.0
    };
    let gc = match gc {
        "greedy" => GcPolicy::Greedy,
        "d-choices" => GcPolicy::DChoices { d },
        "fifo" => GcPolicy::Fifo,
        "cost-benefit" => GcPolicy::CostBenefit,
        "imposed" => GcPolicy::Imposed,
        other => unreachable!("{other} is not in the registry"),
    };
    let threshold_base = f.choice(
        "gc-threshold-base",
        "what gc-soft and gc-hard are shares of",
        Some("spare"),
        &options(ThresholdBase::ALL),
    )?;
    let gc_soft = f.fraction(
        "gc-soft",
        "garbage collection runs while less than this share is free",
        default(0.1).positive().at_most(0.9),
    )?;
    let gc_counts_pages = f.choice(
        "gc-counts",
        "what gc-soft is compared with: erased blocks, or free pages, those of open blocks included",
        Some("blocks"),
        &[("blocks", false), ("pages", true)],
    )?;
    let gc_hard =
        f.fraction("gc-hard", "host data may not take the last this share", default(0.005).at_most(0.5))?;
    let gc_depth = f.u32(
        "gc-depth",
        "programs of moved data that a lane has in the queue of its die at a time; twice as many pages are read ahead",
        default(2).within(1..=1024),
    )?;
    let hot_within = read_hotness(&mut f)?;
    let stamp_units = !hot_within.is_empty()
        && f.choice(
            "time-stamps",
            "what has the time stamp that update intervals are told by: a block, or every mapping unit",
            Some("block"),
            &[("block", false), ("unit", true)],
        )?;
    let reprogram = read_reprogram(&mut f, !hot_within.is_empty())?;
    let wear_gap = f.optional_u32(
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
        bad_block_reserve,
        multi_plane,
        allocation,
        gc,
        threshold_base,
        gc_soft,
        gc_counts_pages,
        gc_hard,
        gc_depth,
        hot_within,
        stamp_units,
        reprogram,
        wear_gap,
        imposed_waf,
    })
}

/// Whether host data is separated by hotness, and by which intervals.
fn read_hotness(f: &mut Section) -> Result<Vec<Duration>, ConfigError> {
    let by_interval = f.choice(
        "hotness",
        "how host data is separated: not at all, or by the time since it was last written",
        Some("none"),
        &[("none", false), ("update-interval", true)],
    )?;
    if !by_interval {
        f.refuse("hot-within", "it belongs to hotness = \"update-interval\"")?;
        return Ok(Vec::new());
    }
    let minutes = |m: u64| Duration::from_ms(60_000 * m);
    let within = f.list_duration(
        "hot-within",
        "data is as hot as the first of these that its update interval is below; cold beyond the last",
        Some(&[minutes(30), minutes(60), minutes(120)]),
        required().positive(),
    )?;
    if within.is_empty() || within.len() > MOST_LEVELS || !within.windows(2).all(|w| w[0] < w[1]) {
        return Err(f.invalid("hot-within", "1 to 3 durations, each longer than the one before"));
    }
    Ok(within)
}

fn read_reprogram(f: &mut Section, separated: bool) -> Result<Option<ReprogramSpec>, ConfigError> {
    let on = f.bool("reprogram", "hot data goes to reprogrammable blocks (ReSSD)", default(false))?;
    if !on {
        for key in ["super-layer", "candidates", "when-valid"] {
            f.refuse(key, "it belongs to reprogram = true")?;
        }
        return Ok(None);
    }
    if !separated {
        return Err(f.conflict(
            &["reprogram", "hotness"],
            "only hot data is reprogrammed: reprogram = true needs hotness = \"update-interval\"",
        ));
    }
    Ok(Some(ReprogramSpec {
        super_layer: f.u32(
            "super-layer",
            "physical layers of a super layer, whose word lines are reprogrammed in any order",
            default(2).within(1..=2),
        )?,
        candidates: f.u32(
            "candidates",
            "reprogrammable blocks of a level of a lane that may wait before they are reclaimed rather than another one opened",
            default(1).within(1..=64),
        )?,
        when_valid: f.choice(
            "when-valid",
            "what becomes of a reprogrammable block while all pages of its super layer are in use",
            Some("candidate"),
            &options(WhenValid::ALL),
        )?,
    }))
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
        &options(Arbitration::ALL),
    )?;
    let frame_buffer = h.u32(
        "frame-buffer",
        "most commands in the controller at a time",
        default(1024).within(1..=1 << 20),
    )?;
    let firmware = h.duration(
        "firmware",
        "firmware time of a command: a pipelined latency",
        default(Duration::from_us(10)).at_most(Duration::from_ms(10)),
    )?;
    let command_timeout = h.optional_duration(
        "command-timeout",
        "how long the host waits for a command; slower ones are counted and go on",
        optional().positive(),
    )?;
    let mut l = document.section("link")?;
    let generation = l.u32("generation", "PCIe generation", default(3).within(1..=6))?;
    let lane_counts = [("1", 1u32), ("2", 2), ("4", 4), ("8", 8), ("16", 16)];
    let lanes = l.u32("lanes", "PCIe lanes", default(4).within(1..=16))?;
    if !lane_counts.iter().any(|&(_, n)| n == lanes) {
        return Err(l.invalid("lanes", "1, 2, 4, 8 or 16"));
    }
    let max_payload =
        l.u32("max-payload", "largest payload of a packet in bytes", default(256).within(64..=4096))?;
    let link = LinkSpec { generation, lanes, max_payload };
    Ok(HostSpec { queue_weights, queue_depth, arbitration, frame_buffer, link, firmware, command_timeout })
}
