//! Is anything lost? Small drives with everything drawn at random - part, planes, striping, collection,
//! cache, queues, flows, suspension - run under full audit, and at the end every unit is read back.
//!
//! One seed gives one world; a failing test prints the world and its seed.

use crate::drive_common::features::{with_multi_block_erases, with_queues, with_windows};
use crate::drive_common::{Bench, Cells, errors, preconditioned, run_worlds, with_faults, with_stalls};
use interpulse_drive::ftl::page::gc::copyback::CopybackSpec;
use interpulse_drive::ftl::page::gc::victim::GcPolicy;
use interpulse_drive::ftl::page::mapping::cached::spec::MappingSpec;
use interpulse_drive::ftl::page::placement::stripe::Allocation;
use interpulse_drive::ftl::page::placement::{Fdp, PlacementPolicy};
use interpulse_drive::host_interface::request::Request;
use interpulse_drive::host_interface::splitter::PartOf;
use interpulse_drive::spec::{Acknowledge, DriveSpec, FreeBlock, UnmappedReads};
use interpulse_engine::account::{CAUSES, Cause};
use interpulse_engine::{Bytes, Current, Device, OpClass, RequestId, Rng, SimTime, Status, Streams};
use interpulse_flash::nand::channel::ChannelOrder;
use interpulse_flash::nand::power::budget;
use interpulse_flash::parts::{
    CacheRegister, CommandBus, MAX_BITS, PlaneAddress, ProgramMode, SubBlockSpec, SubBlocks, TrainSpec,
    TwoStepSpec, page_types,
};
use interpulse_flash::suspend::{Compensation, Scheme};
use interpulse_host::CauseSums;
use interpulse_settings::{Document, Key};
use interpulse_study::config::drawn;
use interpulse_workload::{AddressSpec, BlockSize, FlowSpec, SyntheticPacing, SyntheticSpec};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Requests of one world, before the read-back.
const REQUESTS: u64 = 10_000;
/// The read-back begins here; the other flows have ended by then.
const READ_BACK: SimTime = SimTime(3_600_000_000_000);

pub(crate) fn pick<T: Clone>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.below(of.len() as u64) as usize].clone()
}

/// The table files of some error rates, for cells of so many bits.
pub(crate) fn tables(bits: u32) -> Vec<String> {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        for (k, rates) in [[8e-3, 4e-3, 1e-3], [0.5, 9e-3, 9e-3], [1e-2; 3]].iter().enumerate() {
            for bits in 1..=MAX_BITS as usize {
                for (spread, name) in [(0.0, "even"), (0.3, "spread")] {
                    let mut table = errors(bits, rates).table;
                    table.spread_ln_sd = spread;
                    let path = folder.path().join(format!("{bits}-{k}-{name}.toml"));
                    std::fs::write(path, table.to_toml()).unwrap();
                }
            }
        }
        folder
    });
    let names = ["0-even", "0-spread", "1-even", "1-spread", "2-even", "2-spread"];
    let file = |name| format!("{:?}", folder.path().join(format!("{bits}-{name}.toml")));
    names.map(file).into()
}

/// What a small world narrows, as TOML; an empty text leaves the key out. Whatever else a drive declares is drawn from all
/// that is legal.
pub(crate) fn narrowed(key: &str) -> Option<&'static [&'static str]> {
    let of_suspensions = ["suspend.program.", "suspend.erase."];
    if let Some(key) = of_suspensions.iter().find_map(|section| key.strip_prefix(section)) {
        return Some(match key {
            "max-suspends" => &["", "1", "5"],
            // Those of the first worlds, so that these stay what they were; all are in the worlds of pairs of schemes.
            "scheme" => &[
                "'none'",
                "'ideal'",
                "'inter-phase'",
                "'intra-phase-cancel'",
                "'pulse-remainder'",
                "'exact'",
                "'immediate'",
                "'deferred'",
                "'timeout'",
                "'loop-boundary'",
            ],
            "min-interval" => &["", "", "'7us'", "'300us'"],
            "min-remaining" => &["", "'60us'"],
            "min-loops-left" => &["", "", "2"],
            "max-suspended-time" => &["", "", "'500us'"],
            "timeout" => &["", "", "'900us'"],
            "defer-after" => &["'0us'", "'400us'", "'64ms'"],
            "dies" => &["", "", "[0]"],
            "max-cycles" => &["", "", "3"],
            "pages" => &["", "", "['lsb']"],
            "for-host-reads" => &["", "", "", "", "", "", "", "false"],
            "resume-after" => &["'150us'"],
            "resume-ramp" => &["", "", "'9us'"],
            "stress" => &["", "'2%'"],
            _ => return None,
        });
    }
    Some(match key {
        "part.program-suspend-entry" | "part.erase-suspend-entry" => &["", "'3us'", "'20us'"],
        "part.program-resume" | "part.erase-resume" => &["", "'5us'", "'40us'"],
        "part.voltage-reset" => &["", "'4us'"],
        "part.cache.program" => &["", "'block'", "'die'"],
        "part.cache.pages" => &["", "1"],
        "part.cache.on-read" => &["", "'kept'", "'refused'"],
        "part.cache.read" => &["", "true"],
        "part.cache.transfer" => &["", "'3us'"],
        "part.page-buffer-reload" => &["", "'3us'"],
        "part.program-loops-sd" => &["", "0.7"],
        "ftl.over-provisioning" => &["'35%'", "'45%'", "'60%'", "'100%'", "'200%'"],
        "ftl.bad-block-reserve" => &["", "'5%'"],
        "ftl.mapping-unit" => &["", "", "'8KiB'", "'16KiB'"],
        "ftl.mapping" => &["'full'", "'full'", "'cached'"],
        "ftl.map-cache-size" => &["'8KiB'", "'32KiB'", "'64KiB'"],
        "ftl.map-cache-shares" => &[""],
        "ftl.map-prefetch" => &["0", "0", "3"],
        "ftl.map-write-batch" => &["", "1", "2", "8"],
        "ftl.gc-choices" => &["3", "", "20"],
        "ftl.gc-oldest" => &["1", "3", ""],
        "ftl.placement-handles" => &["1", "2", "3"],
        "ftl.persistently-isolated" => &["[]", "[0]", "[1]", "[0, 1]"],
        "ftl.streams" => &["1", "2"],
        "ftl.imposed-waf" => &["1.0", "2.4"],
        "ftl.imposed-reads" => &["", "", "0", "2.5"],
        "ftl.gc-soft" => &["'2%'", "'5%'", "'15%'"],
        "ftl.gc-hard" => &["", "'1%'", "'2%'"],
        "ftl.gc-depth" => &["1", "2", "2", "16"],
        "ftl.wear-gap" => &["", "", "1", "4"],
        "ftl.hot-within" => &["['300ms']", "['10ms', '100ms', '1000ms']"],
        "ftl.candidates" => &["1", "2"],
        "ftl.slc-cache.size" => &["'64KiB'", "'256KiB'", "'1MiB'"],
        "ftl.slc-cache.dynamic-size" => &["'128KiB'", "'1MiB'"],
        "ftl.slc-cache.largest-write" => &["'4KiB'", "'16KiB'"],
        "ftl.slc-cache.admitted-handles" => &["[0]", "[1]", "[0, 1]"],
        "ftl.slc-cache.idle-delay" => &["'50us'", "'3ms'"],
        "ftl.slc-cache.fold-above" => &["", "0.5", "1.0"],
        "ftl.slc-cache.fold-below" => &["0.0", "0.4"],
        "ftl.zone-width" => &["", "1", "2", "4"],
        "ftl.conventional-zones" => &["0"],
        "ftl.zone-rows" => &["1", "1", "2", "3"],
        "ftl.max-open" => &["", "", "1", "2"],
        "ftl.max-active" => &["2", "3", "6", "100"],
        "cache.latency" => &["'0ns'", "'700ns'"],
        "cache.size" => &[""],
        "audit.sample" => &["1"],
        "read-cache.size" => &["'256KiB'", "'1MiB'"],
        "read-cache.read-ahead-after" => &["1", "2"],
        "read-cache.read-ahead-window" => &["'16KiB'", "'32KiB'"],
        "read-cache.read-ahead-depth" => &["1", "4", "32"],
        "read-cache.read-ahead-streams" => &["1", "2"],
        "dram.width" => &["8", "32"],
        "dram.row-size" => &["'512B'", "'4KiB'"],
        "dram.activate" | "dram.column" | "dram.precharge" => &["'0ns'", "'14ns'"],
        "firmware.mapping-time" => &["'0us'", "'2us'"],
        "firmware.collection-time" => &["'0us'", "'3us'"],
        "firmware.mapping-cores" | "firmware.collection-cores" => &["1", "3"],
        "host.queue-weights" => &["[1]", "[1, 1]", "[1, 3, 2]"],
        "host.queue-classes" => &["['medium']", "['urgent', 'low']", "['high', 'urgent', 'low']"],
        "host.class-weights" => &["[8, 4, 2]", "[1, 1, 3]"],
        "host.arbitration-burst" => &["1", "4", "64"],
        "host.queue-depth" => &["1", "16", "1024"],
        "host.frame-buffer" => &["1", "8", "1024"],
        "host.abort-limit" => &["", "1", "4"],
        "host.max-transfer" => &["", "", "'16KiB'", "'64KiB'"],
        "host.firmware" => &["'0us'", "'5us'", "'20us'"],
        "host.command-timeout" => &["'2ms'"],
        "host.firmware-cores" => &["", "1", "7"],
        "link.generation" => &["1", "2", "3"],
        "link.handshake" => &["", "'0ns'", "'2us'"],
        "link.lanes" => &["1", "2"],
        "link.max-data" => &["'512B'", "'32KiB'"],
        "link.max-payload" => &["128", "256"],
        "schedule.long-operations" => &["'real'"],
        "power.window" => &["'300us'"],
        "power.standby-after" => &["", "", "'30us'"],
        "power.budget" | "power.controller" | "power.dram" => &[""],
        "ecc.interval" => &["", "'800ns'"],
        "ecc.latency" | "ecc.codeword" | "ecc.capability" => &[""],
        "ecc.latency-growth" => &["", "3.0"],
        "ecc.max-latency" => &["", "'9us'"],
        "ecc.max-retries" => &["0", "1", "4"],
        "ecc.retry-reset" => &["'0us'", "'5us'"],
        "ecc.retry-sensing" => &["1.0", "0.75"],
        "ecc.soft-sensings" => &["[]", "[2]"],
        "ecc.soft-capability" => &["[120]"],
        "ecc.soft-latency" => &["['9us']"],
        "errors.temperature-c" | "errors.activation-energy-ev" | "errors.reprograms" => &[""],
        // A part of the blocks is old from the start; until the read-back all become so.
        "errors.initial-age" => &["", "'2400s'"],
        "errors.initial-ages" => &["'uniform'"],
        "errors.refresh-after" => &["", "'1200s'", "'1200s'"],
        "errors.reclaim-reads" => &["", "40", "1000"],
        _ if key.starts_with("part.") => &[""],
        _ => return None,
    })
}

/// Value of a key in a small world, drawn as that of the key `path`.
pub(crate) fn value_of(key: &Key, path: &str, values: &mut Rng) -> Option<String> {
    match narrowed(path) {
        Some(of) => Some(pick(values, of)).filter(|text| !text.is_empty()).map(str::to_string),
        None => key.random_value(values),
    }
}

/// Sections of a drive whose keys every world draws.
const SECTIONS: [&str; 10] =
    ["part", "cache", "host", "link", "schedule", "suspend", "power", "audit", "ecc", "errors"];

/// Whether a world draws the keys of the section of `path`, where it draws `others` besides [`SECTIONS`].
pub(crate) fn is_drawn(path: &str, others: &[&str]) -> bool {
    let section = path.split('.').next().unwrap_or_default();
    // Set apart from the values drawn, so that these stay what they were.
    let apart = [
        "part.sub-block",
        "part.two-step",
        "cache.partition",
        "schedule.host-order",
        "suspend.program.compensation",
        "suspend.program.point-interval",
        "suspend.program.safe-points",
        "suspend.program.slice-",
        "suspend.program.tier-",
        "suspend.erase.point-interval",
        "suspend.erase.safe-points",
        "suspend.erase.slice-",
        "suspend.erase.tier-",
        "firmware.deallocation",
        "host.delay",
        "ftl.zone-size",
        "ftl.zone-finish",
    ];
    let apart = apart.iter().any(|of| path.starts_with(of));
    !apart && (SECTIONS.contains(&section) || others.contains(&section))
}

/// The part and the array of a world, and what it decides before anything is drawn.
pub(crate) fn little_part(cells: Cells, by_page: bool, sizes: [u32; 3], array: [u32; 3]) -> String {
    let [planes, blocks, page_kib] = sizes;
    let by_page = by_page || cells == Cells::MlcPages;
    let (bits, mode) = (cells.bits(), if by_page { "page" } else { "one-shot" });
    let reads: String = page_types(bits).iter().map(|page| format!("read-{page} = '40us'\n")).collect();
    let (parity, loops) = (page_kib * 128, 4 * bits);
    let reprogram = if cells == Cells::Tlc {
        "[part.reprogram]\nmlc-loops = 9\nmlc-pulse = '20us'\nmlc-verify = '25us'\nloops = 8\npulse = '20us'\n\
         verify = '25us'\nread = '35us'\n"
    } else {
        ""
    };
    let slc_mode = if bits > 1 {
        "[part.slc-mode]\nloops = 2\npulse = '20us'\nverify = '30us'\nread = '20us'\nendurance = 30000\n"
    } else {
        ""
    };
    let [channels, chips, dies] = array;
    format!(
        "[geometry]\nchannels = {channels}\nchips-per-channel = {chips}\ndies-per-chip = {dies}\n[[flow]]\n[part]\n\
         planes = {planes}\nblocks-per-plane = {blocks}\npages-per-block = 24\npage-size = '{page_kib}KiB'\n\
         page-parity = '{parity}B'\nbits-per-cell = {bits}\nlayers = 4\nprogram-mode = '{mode}'\n{reads}\
         buffer-setup = '1us'\nprogram-loops = {loops}\nprogram-pulse = '20us'\nprogram-verify = '30us'\n\
         erase-loops = 3\nerase-pulse = '360us'\nerase-verify = '40us'\nsuspend-support = 'nested'\n\
         bus-rate = '800MT/s'\ncommand-cycles = '200ns'\nendurance = 3000\n{reprogram}{slc_mode}"
    )
}

/// A drive; `None` if the values drawn do not make one. Programs and erases are suspended by these schemes, if given.
pub(crate) fn draw_drive(rng: &mut Rng, schemes: Option<[&str; 2]>) -> Option<DriveSpec> {
    let planes = pick(rng, &[1, 2, 4]);
    let multi_plane = pick(rng, &[1, 2, 4]);
    if multi_plane > planes {
        return None;
    }
    let mut cells = pick(rng, &[Cells::Slc, Cells::MlcPages, Cells::Tlc, Cells::Tlc]);
    // A stream of its own, so that the other drives stay what they were.
    let mut values_of_cells = Streams::new(rng.clone().next_u64()).stream("test.cells", 0);
    if cells == Cells::Tlc && values_of_cells.below(4) == 0 {
        cells = Cells::Plc;
    }
    let bits = cells.bits();
    let array = [pick(rng, &[1, 2]), pick(rng, &[1, 2]), pick(rng, &[1, 2])];
    let (blocks, page_kib) = (pick(rng, &[12, 16, 24]), pick(rng, &[4, 8, 16]));
    let policies: Vec<&str> = GcPolicy::ROWS.iter().map(|row| row.name).chain(["greedy"]).collect();
    let gc = pick(rng, &policies);
    let imposed = gc == "imposed";
    let tlc = cells == Cells::Tlc;
    let hot = !imposed && rng.below(4) >= if tlc { 1 } else { 2 };
    let reprogram = hot && tlc && rng.below(8) > 0;
    let hotness = if hot { "update-interval" } else { "none" };
    let placement = if hot || imposed { "none" } else { pick(rng, &["none", "fdp", "fdp", "streams"]) };
    let dynamic = rng.below(2) == 0;
    let mut allocation = if dynamic { "dynamic".to_string() } else { pick(rng, &Allocation::all()[1..]).0 };
    // Half of the worlds of dynamic allocation gather super word lines, which levels of hotness exclude.
    if dynamic && !hot && rng.below(2) == 0 || hot && allocation == "super-word-line" {
        allocation = if hot { "dynamic" } else { "super-word-line" }.to_string();
    }
    let faulty = (!imposed || rng.below(2) == 0) && rng.below(5) > 1;
    let table = if faulty { pick(rng, &tables(bits)) } else { "'ideal'".to_string() };
    let by_page = tlc && rng.below(4) == 0;
    let mut text = little_part(cells, by_page, [planes, blocks, page_kib], array);
    text += &format!(
        "[ftl]\nfamily = 'page'\ngc = '{gc}'\nmulti-plane = {multi_plane}\nallocation = '{allocation}'\nhotness = '{hotness}'\n\
         placement = '{placement}'\nreprogram = {reprogram}\n[errors]\ntable = {table}\n"
    );
    if let Some([program, erase]) = schemes {
        text += &format!("[suspend]\nprogram.scheme = '{program}'\nerase.scheme = '{erase}'\n");
    }
    let streams = Streams::new(rng.next_u64());
    let (mut values, mut values_of_cache) =
        (streams.stream("test.values", 0), streams.stream("test.cache", 0));
    let mut values_of_slc = streams.stream("test.slc", 0);
    let gathers = allocation == "super-word-line";
    if bits > 1 && !reprogram && !imposed && !gathers && values_of_slc.below(2) == 0 {
        let kind = pick(&mut values_of_slc, &["static", "dynamic", "static-and-dynamic"]);
        let admissions: &[&str] = match placement {
            _ if hot => &["all-writes"],
            "none" => &["all-writes", "small-writes"],
            _ => &["all-writes", "by-handle", "by-handle"],
        };
        let admission = pick(&mut values_of_slc, admissions);
        text += &format!("[ftl.slc-cache]\nkind = '{kind}'\nadmission = '{admission}'\n");
    }
    let mut values_of_map = streams.stream("test.map", 0);
    let mut values_of_wear = streams.stream("test.wear", 0);
    let mut values_of_planes = streams.stream("test.planes", 0);
    let mut values_of_reads = streams.stream("test.reads", 0);
    if values_of_reads.below(2) == 0 {
        text += "[read-cache]\n";
    }
    if values_of_reads.below(3) == 0 {
        text += "[firmware]\n";
    }
    let mut values_of_erase = streams.stream("test.erase", 0);
    let mut values_of_dram = streams.stream("test.dram", 0);
    if values_of_dram.below(4) == 0 {
        text += "[dram]\n";
    }
    let mut spec = drawn(&text, move |key| {
        let others = ["ftl", "read-cache", "firmware", "dram"];
        let adapted = key.path.starts_with("erase.")
            || key.path.ends_with(".safe-points")
            || key.path.ends_with(".point-interval")
            || key.path.contains(".slice-");
        if !adapted && !is_drawn(&key.path, &others) || imposed && key.path.starts_with("errors.") {
            return None;
        }
        // Groups and copyback are set below, and parts of translation pages by `with_mapping_cache`; multi-block erases by
        // `with_multi_block_erases`.
        if ["ftl.reclaim-groups", "ftl.copyback", "ftl.map-read-transfer", "erase.blocks-per-operation"]
            .iter()
            .any(|of| key.path.starts_with(of))
        {
            return None;
        }
        // Streams of their own, so that the other drives stay what they were.
        let values = if key.path.starts_with("ftl.slc-cache.") {
            &mut values_of_slc
        } else if key.path.starts_with("ftl.map") && key.path != "ftl.mapping-unit" {
            &mut values_of_map
        } else if adapted {
            &mut values_of_erase
        } else if key.path.starts_with("dram.") {
            &mut values_of_dram
        } else if key.path == "ftl.free-block" {
            &mut values_of_wear
        } else if ["read-cache.", "firmware.", "schedule.channel-order", "ftl.unmapped-reads"]
            .iter()
            .any(|of| key.path.starts_with(of))
        {
            &mut values_of_reads
        } else if ["schedule.multi-plane-programs", "part.command-bus", "part.plane-address"]
            .contains(&key.path.as_str())
        {
            return None;
        } else {
            &mut values
        };
        value_of(key, &key.path, values)
    })
    .ok()?
    .drive;
    if streams.stream("test.compensation", 0).below(4) == 0 {
        spec.nand.program_suspend.compensation = Compensation { per_e_fold: 0.5, ..Compensation::NONE };
    }
    // A host write suspends programs in no configuration, and may all the same.
    spec.nand.program_suspend.preemptors.host_writes = rng.below(2) == 0;
    let by_age = matches!(&spec.ftl.gc, GcPolicy::Fifo | GcPolicy::WindowedGreedy(_));
    if let (true, MappingSpec::Cached(cache)) = (by_age, &mut spec.ftl.mapping) {
        // Victims by age are full of valid units. With programs of map pages that are mostly padding their moves can take as
        // many blocks as they free, without end.
        cache.batch = None;
    }
    let unit = spec.geometry.unit_bytes;
    let program = u64::from(spec.layout().ok()?.units_per_program) * unit;
    let lanes = u64::from(spec.layout().ok()?.lanes);
    let levels = u64::from(spec.ftl.lists());
    let least = program * levels * if dynamic { 2 } else { lanes };
    spec.cache.size = Bytes(pick(rng, &[least, least, 3 * least, 64 * least]));
    // A stream of its own, so that the other drives stay what they were.
    if values_of_cache.below(6) == 0 {
        (spec.cache.size, spec.cache.protected) = (Bytes(0), false);
        spec.cache.acknowledge = Acknowledge::WhenProgrammed;
    }
    let (p, g) = (&spec.part.power, &spec.geometry);
    let least = budget::least(p, spec.part.buffer_setup, spec.part.read.len(), g.dies(), g.channels).as_ua();
    spec.nand.power.budget = pick(rng, &[None, None, Some(Current(least)), Some(Current(least * 2))]);
    if planes > 1 && values_of_planes.below(3) == 0 {
        (spec.part.independent_plane_reads, spec.part.cache) = (true, CacheRegister::NONE);
        (spec.nand.multi_plane_reads, spec.nand.power.budget, spec.nand.power.trace) = (false, None, None);
        let g = &mut spec.geometry;
        (g.independent_plane_reads, g.cache_pages, g.cache_reads) = (true, 0, false);
    }
    if spec.part.cache.pages == 0 && values_of_planes.below(3) == 0 {
        (spec.part.command_bus, spec.geometry.separate_commands) = (CommandBus::Separate, true);
        spec.nand.channel_order = ChannelOrder::CommandsFirst;
    }
    if spec.part.cache.pages == 0 && planes > multi_plane && !imposed && values_of_planes.below(2) == 0 {
        spec.nand.multi_plane_programs = true;
        spec.part.plane_address = pick(
            &mut values_of_planes,
            &[PlaneAddress::Any, PlaneAddress::PageType, PlaneAddress::Page, PlaneAddress::BlockAndPage],
        );
    }
    let read_cache = spec.read_cache.take();
    if spec.nand.errors.is_some() {
        spec.ftl.unmapped_reads = UnmappedReads::Zeroes;
    }
    spec.check().ok()?;
    let with_cache = DriveSpec { read_cache, ..spec.clone() };
    if with_cache.check().is_ok() {
        spec = with_cache;
    }
    with_faults(&mut spec, streams.stream("test.faults", 0));
    if spec.faults.is_none() && spec.schedule.is_empty() {
        with_stalls(&mut spec, streams.stream("test.stalls", 0));
    }
    if bits > 1 && !by_page && streams.stream("test.two-step", 0).below(3) == 0 {
        let mut stepping = spec.clone();
        let program = TrainSpec { loops: bits, ..spec.part.program };
        stepping.part.program_mode = ProgramMode::TwoStep;
        stepping.part.two_step = Some(TwoStepSpec { program, first_pages: 1, second_pages: bits });
        let refused = stepping.nand.excludes_two_steps(&stepping.part).is_some();
        if cells != Cells::MlcPages && !refused && stepping.check().is_ok() {
            spec = stepping;
        }
    }
    let mut values_of_sub_blocks = streams.stream("test.sub-blocks", 0);
    if values_of_sub_blocks.below(3) == 0 {
        let count = pick(&mut values_of_sub_blocks, &[2, 3, 4]);
        let wear = pick(&mut values_of_sub_blocks, &[0.0, 0.4]);
        let mut divided = spec.clone();
        divided.part.sub_blocks = SubBlocks {
            count,
            spec: SubBlockSpec { erase_loops: None, wear, disturb: 30 },
            ..SubBlocks::ONE
        };
        divided.geometry.sub_blocks = count;
        if divided.check().is_ok() {
            spec = divided;
        }
    }
    with_queues(&mut spec, streams.stream("test.queues", 0));
    let mut values_of_copyback = streams.stream("test.copyback", 0);
    if values_of_copyback.below(3) > 0 {
        let limit = pick(&mut values_of_copyback, &[1, 2, 255]);
        let mut copying = spec.clone();
        copying.ftl.copyback = Some(CopybackSpec { limit });
        if copying.check().is_ok() {
            spec = copying;
        }
    }
    if let PlacementPolicy::Fdp(fdp) = &spec.ftl.placement {
        let mut grouped = spec.clone();
        grouped.ftl.placement = PlacementPolicy::Fdp(Fdp { groups: 2, ..fdp.clone() });
        if streams.stream("test.groups", 0).below(2) == 0 && grouped.check().is_ok() {
            spec = grouped;
        }
    }
    Some(spec)
}

pub(crate) fn draw_flow(rng: &mut Rng, spec: &DriveSpec, name: &str, requests: u64) -> FlowSpec {
    let shares = [
        "read = 0.5\ntrim = 0.0",
        "read = 0.0\ntrim = 0.0",
        "read = 0.4\ntrim = 0.1",
        "read = 0.9\ntrim = 0.0",
        "read = 0.3\ntrim = 0.3",
    ];
    let sizes = [
        "block-size = '4KiB'\nalignment = '4KiB'",
        "block-size = '512B'\nalignment = '512B'",
        "block-size = '6KiB'\nalignment = '2KiB'",
        "sizes = ['512B', '4KiB', '9.5KiB', '64KiB']\nsize-weights = [1.0, 4.0, 2.0, 0.3]\nalignment = '512B'",
        "sizes = ['4KiB', '256KiB']\nsize-weights = [5.0, 0.1]\nalignment = '4KiB'",
    ];
    let text = format!("{}\n{}\n", pick(rng, &shares), pick(rng, &sizes));
    let streams = Streams::new(rng.next_u64());
    let (mut values, mut handles) = (streams.stream("test.flow", 0), streams.stream("test.handle", 0));
    let document = Document::from_toml(&text, "flow").unwrap().with_random_values(move |key| {
        let of: &[&str] = match key.path.as_str() {
            "pacing" => &["'closed'", "'closed'", "'open'"],
            "depth" => &["1", "4", "32", "128"],
            "rate" => &["'500/s'", "'3000/s'"],
            "squared-variation" => &["1.5", "20.0"],
            "write-zeroes" => &["", "'5%'"],
            "compare" => &["", "'5%'"],
            "flush-every" => &["", "50", "1", "7"],
            "exponent" => &["1.1"],
            "hot-share" => &["'10%'"],
            "hot-traffic" => &["'90%'"],
            "part-sizes" => &["[1.0, 2.0, 5.0]"],
            "part-traffic" => &["[5.0, 0.0, 1.0]"],
            "pareto-share" => &["0.2"],
            "deviation" => &["'10%'"],
            "from" | "to" => &[""],
            _ => return key.random_value(&mut values),
        };
        Some(pick(&mut values, of)).filter(|text| !text.is_empty()).map(str::to_string)
    });
    let synthetic = SyntheticSpec::read(&mut document.top()).expect("what is drawn is legal");
    FlowSpec {
        limit: Some(requests),
        queue: rng.below(spec.host.queue_weights.len() as u64) as u32,
        handle: match spec.ftl.placement.classes() {
            0 => None,
            of => Some(handles.below(u64::from(of)) as u8),
        },
        ..FlowSpec::synthetic(name, synthetic)
    }
}

/// Reads the first `bytes` of the drive once, in order. If the host aborts commands, each is alone in the drive and below any
/// transfer limit: it is fetched at once, and not aborted.
fn read_back(spec: &DriveSpec, bytes: u64) -> FlowSpec {
    let (depth, each) = if spec.host.abort_limit.is_some() { (1, 16) } else { (8, 64) };
    let requests = bytes / Bytes::kib(each).get();
    let reader = SyntheticSpec {
        pacing: SyntheticPacing::Closed { depth },
        block_size: BlockSize::Fixed(Bytes::kib(each)),
        alignment: Bytes::kib(each),
        addresses: AddressSpec::Sequential,
        ..SyntheticSpec::default()
    };
    FlowSpec { start: READ_BACK, limit: Some(requests), ..FlowSpec::synthetic("read-back", reader) }
}

/// Sums of everything the drives counted, by name.
pub(crate) type Counted = BTreeMap<&'static str, u64>;

/// Draws and runs the world of `seed`; false if the values drawn do not make a drive.
fn world(seed: u64, counted: &mut Counted) -> bool {
    world_with(seed, counted, |_| ())
}

/// [`world`] with a feature that `add` adds to the drive.
fn world_with(seed: u64, counted: &mut Counted, add: impl FnOnce(&mut DriveSpec)) -> bool {
    let mut rng = Streams::new(seed).stream("test.world", 0);
    let Some(mut spec) = draw_drive(&mut rng, None) else { return false };
    with_windows(&mut spec, Streams::new(seed).stream("test.windows", 0));
    add(&mut spec);
    let imposed = spec.ftl.gc.imposes();
    let fill = if imposed { 1.0 } else { pick(&mut rng, &[0.0, 0.5, 1.0, 1.0]) };
    let overwrites = if imposed { 0.0 } else { pick(&mut rng, &[0.0, 1.0]) };
    let count = 1 + rng.below(3);
    let mut flows: Vec<FlowSpec> =
        (0..count).map(|k| draw_flow(&mut rng, &spec, &format!("f{k}"), REQUESTS / count)).collect();
    let units = u64::from(spec.ftl_config().unwrap().logical_units);
    flows.push(read_back(&spec, units * spec.geometry.unit_bytes));
    let requests = flows.last().and_then(|of| of.limit).unwrap();
    println!("world {seed}: fill {fill}, overwrites {overwrites}\n{spec:#?}\n{flows:#?}");

    let mut bench = Bench::new(&spec, preconditioned(&spec, fill, overwrites, seed), &flows, seed);
    bench.run_requests(REQUESTS / count * count);
    assert_eq!(bench.host.device.outstanding(), 0, "the flows have ended");
    assert!(bench.events.now() < READ_BACK, "the flows end before the read-back begins");
    bench.run_out();
    let report = bench.finish();
    let (now, part) = (bench.events.now(), spec.part.power.clone());
    let spent = bench.host.device.nand_mut().spent(now);
    assert_eq!(spent.die_time(), now.as_ns() * u64::from(spec.geometry.dies()));
    interpulse_study::run::power::audit_meter(bench.host.device.nand_mut(), &part, now).unwrap();
    let most = bench.host.device.nand_mut().meter().map(|meter| meter.read(now).most);
    if let (Some(most), Some(budget)) = (most, spec.nand.power.budget) {
        assert!(most <= budget, "{most} of a budget of {budget}");
    }
    assert_eq!(report.requests, REQUESTS / count * count + requests);
    assert_eq!(report.requests, bench.host.window.counters.requests);
    assert!(report.versions_checked >= units, "every unit has been read back");
    let refused = bench.host.window.refused_by_flow.last().unwrap();
    assert_eq!(
        refused.others[Status::CommandAbortRequested as usize],
        0,
        "nor has a read of it been aborted"
    );
    let latencies = bench.host.window.flows.iter().map(|f| f.count()).sum::<u64>();
    assert_eq!(latencies, report.requests, "every request has a latency");

    let window = &bench.host.window;
    let (mut reads, mut writes) = ((0, 0), (0, 0));
    for f in &window.flows {
        reads = (reads.0 + f.read.count(), reads.1 + f.read.sum_ns());
        writes = (writes.0 + f.write.count(), writes.1 + f.write.sum_ns());
    }
    let sums = [window.read_attribution.total(), window.write_attribution.total()]
        .map(|s| (s.requests, s.total_ns()));
    assert_eq!(sums, [reads, writes], "every nanosecond of latency has a cause");

    bench.host.device.count_windows(now);
    let (host, drive) = (bench.host.window.counters, bench.host.device.counters);
    let (ftl, nand) = (bench.host.device.ftl_counters(), bench.host.device.nand().counters);
    let slc = bench.host.device.slc().map_or(Default::default(), |slc| slc.counters);
    for (info, value) in
        host.iter().chain(drive.iter()).chain(ftl.iter()).chain(nand.iter()).chain(slc.iter())
    {
        *counted.entry(info.name).or_default() += value;
    }
    if let Some(placement) = bench.host.device.placement() {
        *counted.entry("media_reallocated").or_default() += placement.events.media_reallocated;
        assert_eq!(placement.events.reset_modified, 0, "power stays");
        // Of the first handle, which holds what was there before the run, and of the others.
        for (handle, of) in placement.handles.iter().enumerate() {
            let name = if handle == 0 { "relocated of handle 0" } else { "relocated of other handles" };
            *counted.entry(name).or_default() += of.relocated_units;
        }
        *counted.entry("units of handles in SLC mode").or_default() += slc.slc_units;
        *counted.entry("units of handles folded").or_default() += slc.folded_units;
        if let [_, other] = &placement.groups[..] {
            *counted.entry("units of the second reclaim group").or_default() += other.host_units;
        }
    }
    let health = bench.host.device.health().unwrap_or_default();
    *counted.entry("erase failures").or_default() += health.erase_failures;
    *counted.entry("program failures").or_default() += health.program_failures;
    *counted.entry("read-only drives").or_default() += u64::from(health.read_only_since.is_some());
    *counted.entry("refused requests").or_default() += bench.host.window.refused.count();
    true
}

/// Runs worlds of seeds `first`, `first + 1`, ... until `count` drives have been made.
pub(crate) fn worlds(first: u64, count: usize) -> Counted {
    let mut counted = Counted::new();
    run_worlds(first, count, |seed| {
        world_with(seed, &mut counted, |spec| {
            with_multi_block_erases(spec, Streams::new(seed).stream("test.multi-block", 0));
        })
    });
    counted
}

/// As [`worlds`]; everything that drives count has happened.
fn worlds_with_everything(first: u64, count: usize) {
    let mut counted = worlds(first, count);
    // The worlds together are no quieter than they claim to be.
    // Data that is being programmed is still in the drive's cache, which answers for it. What page buffers answer for is the
    // other page of a word line that is being reprogrammed.
    // Rare in small drives: reprogramming.rs asks for them.
    for name in ["candidates_given_up", "candidates_back"] {
        counted.remove(name);
    }
    // The worlds of pairs of schemes have slices.
    for name in ["slices", "slice_time"] {
        counted.remove(name);
    }
    for (name, value) in counted {
        assert!(value > 0, "nothing was counted as `{name}` in any world");
    }
}

// Two tests, so that two cores share them.

#[test]
fn nothing_is_lost_in_any_world() {
    worlds_with_everything(1_000, 250);
}

#[test]
fn nothing_is_lost_in_any_other_world() {
    worlds_with_everything(3_000_000, 250);
}

/// Levelling had no end in worlds of this kind: moved data of several handles pads more programs than a rewritten block frees, garbage
/// collection wears other blocks for that, and the next rewrite is due.
#[test]
fn levelling_beside_handles_ends() {
    let levels = |seed: &u64| {
        let spec = draw_drive(&mut Streams::new(*seed).stream("test.world", 0), None);
        spec.is_some_and(|DriveSpec { ftl, .. }| {
            ftl.placement.handles() > 1 && ftl.wear_gap.is_some() && ftl.free_block == FreeBlock::LeastWorn
        })
    };
    let mut counted = Counted::new();
    let worlds: Vec<u64> = (4_070..).filter(levels).take(16).collect();
    assert!(worlds.iter().all(|&seed| world(seed, &mut counted)));
    assert!(counted["leveled_blocks"] > 100, "{counted:?}");
}

/// World 20,003,200 stopped: translation pages of preconditioning left a lane only its reserved block, no program woke the lane,
/// and a hot level waited for a block that garbage collection had to free.
#[test]
fn levels_get_a_block_on_a_lane_that_begins_without_one() {
    assert!(world(20_003_200, &mut Counted::new()));
}

/// World 20,028,237 made no progress: urgent collection moved blocks that were full of valid units but for what host programs behind
/// it, which had the last free blocks, were about to overwrite.
#[test]
fn collection_without_free_blocks_waits_for_programs_that_have_them() {
    assert!(world(20_028_237, &mut Counted::new()));
}

/// Requests of a world whose requests are followed one by one.
const FOLLOWED: u64 = 400;

/// Follows every request of a bench from outside, event by event: at any instant its parts sum to the time
/// that is accounted for, at its completion to its latency, and the drive's sums are those of the requests
/// seen here.
fn follow(bench: &mut Bench) -> u64 {
    let mut mine = [CauseSums::default(), CauseSums::default()];
    let mut seen: BTreeMap<RequestId, (Request, PartOf)> = BTreeMap::new();
    while !bench.host.is_done() {
        let (completed, total) = (bench.host.device.completed(), recorded(bench));
        assert!(bench.step(bench.events.horizon()), "{}", bench.host.device.diagnosis(&bench.events));
        let now = bench.events.now();
        let device = &bench.host.device;
        let live: BTreeMap<RequestId, (Request, PartOf)> =
            device.requests().iter().map(|(id, r)| (id, (*r, device.part_of(id)))).collect();
        if bench.host.device.completed() > completed {
            // A number may be taken again at once, by a later request.
            let is_gone =
                |id: &RequestId, r: &Request| live.get(id).is_none_or(|(l, _)| l.submitted > r.submitted);
            // The last command of a split request completes it.
            let commands = seen.iter().filter(|(_, (_, part_of))| *part_of != PartOf::SPLIT);
            let gone: Vec<Request> =
                commands.filter(|(id, (r, _))| is_gone(id, r)).map(|(_, (r, _))| *r).collect();
            assert_eq!(gone.len(), 1, "one event completes one request");
            let (request, latency) = (gone[0], now.as_ns() - gone[0].submitted.as_ns());
            let mut parts = request.account;
            // What was left is the way out.
            parts[Cause::Link as usize] += now.as_ns() - request.mark.as_ns();
            assert_eq!(parts.iter().sum::<u64>(), latency, "{request:?}");
            assert_eq!(recorded(bench) - total, u128::from(latency), "{request:?}");
            if let Some(sums) = match request.op.class() {
                OpClass::Read => Some(&mut mine[0]),
                OpClass::Write => Some(&mut mine[1]),
                OpClass::Other => None,
            } {
                sums.requests += 1;
                (0..CAUSES).for_each(|c| sums.by_cause[c] += u128::from(parts[c]));
            }
        }
        for (id, (r, _)) in &live {
            let accounted: u64 = r.account.iter().sum();
            assert_eq!(accounted, r.mark.as_ns() - r.submitted.as_ns(), "request {id}: {r:?}");
        }
        seen = live;
    }
    assert_eq!(
        [bench.host.window.read_attribution.total(), bench.host.window.write_attribution.total()],
        mine
    );
    bench.host.device.completed()
}

/// Latencies recorded so far, summed.
fn recorded(bench: &Bench) -> u128 {
    let flows = bench.host.window.flows.iter();
    flows.map(|f| f.read.sum_ns() + f.write.sum_ns() + f.other.sum_ns()).sum()
}

/// One world for each pair of schemes, for programs and for erases.
#[test]
fn the_parts_of_every_request_sum_to_its_latency() {
    let (mut followed, mut suspends, mut slices) = (0, (0, 0), 0);
    let mut seeds = 2_000..;
    for program in Scheme::ROWS {
        for erase in Scheme::ROWS {
            let schemes = Some([program.name, erase.name]);
            let (mut rng, spec) = seeds
                .by_ref()
                .find_map(|seed| {
                    let mut rng = Streams::new(seed).stream("test.world", 0);
                    let spec = draw_drive(&mut rng, schemes)?;
                    Some((rng, spec))
                })
                .unwrap();
            let flows: Vec<FlowSpec> =
                (0..2).map(|k| draw_flow(&mut rng, &spec, &format!("f{k}"), FOLLOWED / 2)).collect();
            println!("{spec:#?}\n{flows:#?}");
            let overwrites = if spec.ftl.gc.imposes() { 0.0 } else { 0.5 };
            let mut bench = Bench::new(&spec, preconditioned(&spec, 1.0, overwrites, 1), &flows, 1);
            followed += follow(&mut bench);
            let counters = bench.host.device.nand().counters;
            suspends = (suspends.0 + counters.program_suspends, suspends.1 + counters.erase_suspends);
            slices += counters.slices;
        }
    }
    assert_eq!(followed, FOLLOWED * (Scheme::ROWS.len() * Scheme::ROWS.len()) as u64);
    assert!(suspends.0 > 100 && suspends.1 > 10 && slices > 100, "{suspends:?}, {slices} slices");
}
