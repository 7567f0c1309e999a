//! Drive configuration: flash array, scheduling, suspension, FTL, cache, host interface.

use interpulse_drive::spec::{
    CacheSpec, DramSpec, DriveSpec, Fault, FaultSpec, FirmwareSpec, FtlSpec, HostSpec, NamespacePlace,
    PowerLossSpec, PredictableLatencySpec, ReadCacheSpec,
};
use interpulse_drive::super_layer_word_lines;
use interpulse_engine::Duration;
use interpulse_flash::erase::{EraseMethod, MultiBlock};
use interpulse_flash::geometry::{Geometry, UNIT_BYTES};
use interpulse_flash::nand::NandConfig;
use interpulse_flash::nand::channel::ChannelOrder;
use interpulse_flash::nand::flow_order::HostOrder;
use interpulse_flash::nand::power::PowerConfig;
use interpulse_flash::nand::queue::{GcReadRank, Policy};
use interpulse_flash::parts::{FILE_DOC, PartSpec};
use interpulse_flash::variation::LongOperations;
use interpulse_settings::{ConfigError, Document, default, required};
use std::path::Path;

/// Reads the drive; paths in the file are relative to `folder`.
pub(super) fn read(document: &Document, folder: &Path) -> Result<DriveSpec, ConfigError> {
    let mut section = document.section("part")?;
    section.label("file", FILE_DOC)?;
    let part = PartSpec::read(&mut section)?;
    let whole = part.page_size.get().is_multiple_of(UNIT_BYTES);
    section.check(whole, "page-size", "a multiple of 4KiB, the unit of the mapping")?;
    let message = "a die has more planes than a plane has blocks; no such part exists, are the two swapped?";
    let likely = part.planes <= part.blocks_per_plane;
    section.check_together(likely, &["planes", "blocks-per-plane"], message)?;
    let mut g = document.section("geometry")?.shaping_state();
    let few = |max| required::<u32>().within(1..=max);
    let channels = g.u32("channels", "channels (buses) of the drive", few(256).typical(8))?;
    let chips = g.u32("chips-per-channel", "chips (targets) on each channel", few(256).typical(4))?;
    let dies = g.u32("dies-per-chip", "dies (LUNs) in each chip", default(1).within(1..=64))?;
    if u64::from(channels) * u64::from(chips) * u64::from(dies) > 1 << 16 {
        return Err(g.conflict(&["channels", "chips-per-channel", "dies-per-chip"], "at most 65536 dies"));
    }
    let mapping_unit = read_mapping_unit(document, &part)?;
    let geometry = Geometry::new(channels, chips, dies, &part).with_unit_bytes(mapping_unit);
    let mut nand = read_nand(document, &part, geometry.dies(), folder)?;
    let (capacity, _) = super::drive_keys::read(document)?;
    let ftl = FtlSpec::read(&mut document.section("ftl")?.shaping_state(), capacity)?;
    if let Some(of) = &ftl.reprogram {
        nand.super_layer = super_layer_word_lines(geometry.word_lines, part.layers, of.super_layer);
    }
    let namespaces = super::namespaces::read(document, &ftl)?;
    let loses_power = document.has("power-loss");
    let cache = CacheSpec::read(&mut document.section("cache")?, &part, &geometry, &ftl, loses_power)?;
    let has_timing = document.has("dram");
    let dram = document.section("dram")?.when(has_timing, "[dram]", DramSpec::read)?;
    let caches_reads = document.has("read-cache");
    let read_cache =
        document.section("read-cache")?.when(caches_reads, "[read-cache]", ReadCacheSpec::read)?;
    let host = HostSpec::read(&mut document.section("host")?, &mut document.section("link")?)?;
    let by_task = document.has("firmware");
    let firmware = document.section("firmware")?.when(by_task, "[firmware]", FirmwareSpec::read)?;
    let (power, constants) = super::power::read(document, &part, &geometry)?;
    nand.power = power;
    if let Some((key, why)) = nand.excludes_independent_plane_reads(&part) {
        let message = format!("{key} does not go together with it: {why}");
        return Err(document.section("part")?.conflict(&["independent-plane-reads"], message));
    }
    if let Some((key, why)) = nand.excludes_separate_commands(&part) {
        let message = format!("\"separate\" and {key} do not go together: {why}");
        return Err(document.section("part")?.conflict(&["command-bus"], message));
    }
    if let Some((key, why)) = nand.excludes_multi_plane_programs(&part) {
        let message = format!("true and {key} do not go together: {why}");
        return Err(document.section("schedule")?.conflict(&["multi-plane-programs"], message));
    }
    if let Some((key, why)) = nand.excludes_two_steps(&part) {
        let message = format!("\"two-step\" and {key} do not go together: {why}");
        return Err(document.section("part")?.conflict(&["program-mode"], message));
    }
    if let Some((key, why)) = nand.excludes_multi_block_erases(&part) {
        let message = format!("more than one block and {key} do not go together: {why}");
        return Err(document.section("erase")?.conflict(&["blocks-per-operation"], message));
    }
    let mut a = document.section("audit")?;
    let audit_sample = a.u32(
        "sample",
        "the version audit follows one in this many logical units; 1 follows all",
        default(1024).at_least(1),
    )?;
    let power_loss =
        document.section("power-loss")?.when(loses_power, "[power-loss]", PowerLossSpec::read)?;
    let mut faults = document.section("faults")?.when(document.has("faults"), "[faults]", FaultSpec::read)?;
    let schedule = super::faults::read(document, &geometry)?;
    // A stall leaves no state: without other faults no block or die can fail.
    if !schedule.iter().all(Fault::stalls) {
        faults.get_or_insert(FaultSpec::NONE);
    }
    let formats = super::formats::read(document, namespaces.len() as u32)?;
    let predictable_latency = document.section("predictable-latency")?.when(
        document.has("predictable-latency"),
        "[predictable-latency]",
        PredictableLatencySpec::read,
    )?;
    let place = NamespacePlace::default();
    Ok(DriveSpec {
        part,
        geometry,
        nand,
        ftl,
        cache,
        dram,
        read_cache,
        host,
        firmware,
        constants,
        audit_sample,
        power_loss,
        faults,
        wear_before: None,
        schedule,
        formats,
        predictable_latency,
        namespaces,
        place,
    })
}

/// The FTL stores the valid units of a page in one word.
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
    let least = format!("a unit of which a page of {} has at most {MOST_UNITS_OF_A_PAGE}", part.page_size);
    f.check(part.page_size.get() / unit <= MOST_UNITS_OF_A_PAGE, "mapping-unit", least)?;
    Ok(unit)
}

/// Reads the section `[erase]`.
fn read_erase(document: &Document, part: &PartSpec) -> Result<(EraseMethod, MultiBlock), ConfigError> {
    let mut s = document.section("erase")?;
    let method = EraseMethod::read(&mut s)?;
    let fits = method == EraseMethod::Ispe || part.erase.total() <= LONGEST_ADAPTED;
    s.check(fits, "method", "\"ispe\", or a part whose erase takes at most 4s")?;
    Ok((method, MultiBlock::read(&mut s)?))
}

/// Longest erase that can be adapted: its loops are stored in 32 bits of ns.
const LONGEST_ADAPTED: Duration = Duration::from_ms(4_000);

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

    let multi_plane_programs = s.bool(
        "multi-plane-programs",
        "program data that waits for different planes of a die together",
        default(false),
    )?;
    let gc_reads = s.when(policy == Policy::ReadPriority, "policy = \"read-priority\"", |s| {
        s.choice("gc-reads", "how reads of garbage collection rank", Some("in-order"), GcReadRank::ALL)
    })?;
    let host_order = s.choice(
        "host-order",
        "order of the host's reads that wait for a die",
        Some("arrival"),
        HostOrder::ALL,
    )?;
    let channel_order = s.choice(
        "channel-order",
        "which of the transfers that wait for a channel goes next",
        Some("commands-first"),
        ChannelOrder::ALL,
    )?;
    let long_operations = s.choice(
        "long-operations",
        "how long programs and erases last: real, or the bounds of a comparison",
        Some("real"),
        LongOperations::ALL,
    )?;
    let (erase_method, multi_block) = read_erase(document, part)?;
    let (program_suspend, erase_suspend, nesting) = super::suspend::read(document, part, dies)?;
    let ecc = super::errors::read(document, part, folder)?;
    Ok(NandConfig {
        policy,
        gc_reads: gc_reads.unwrap_or(GcReadRank::InOrder),
        host_order,
        channel_order,
        long_operations,
        erase_method,
        multi_block,
        program_suspend,
        erase_suspend,
        nesting,
        multi_plane_reads,
        multi_plane_programs,
        power: PowerConfig::default(),
        super_layer: 0,
        ecc_latency: ecc.latency,
        ecc_interval: ecc.interval,
        errors: ecc.errors,
    })
}
