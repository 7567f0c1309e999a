//! *Is anything lost with power?* Small random drives whose power is cut at random events, again and again. Every unit is
//! followed: what the drive must still have after a cut is checked by the record of what was acknowledged to the host, and the map
//! rebuilt from flash is compared with the one the drive had. At the end every unit is read back.

use crate::drive_common::features::{
    with_mapping_cache, with_multi_block_erases, with_reprogramming, with_slc_cache,
};
use crate::drive_common::{Bench, Cells, closed, errors, of_part, part, preconditioned, with_faults};
use interpulse_drive::ftl::page::mapping::cached::spec::MappingSpec;
use interpulse_drive::ftl::page::placement::stripe::Allocation;
use interpulse_drive::ftl::page::placement::{Fdp, PlacementPolicy};
use interpulse_drive::ftl::page::separation::{HotnessPolicy, UpdateInterval};
use interpulse_drive::spec::{Acknowledge, DriveSpec, PowerLossSpec};
use interpulse_engine::{Bytes, Device, Duration, Rng, Streams};
use interpulse_flash::die::{Die, State};
use interpulse_flash::hold_up::Placement;
use interpulse_flash::parts::{CacheOnRead, CacheProgram, CacheRegister, PartSpec};
use interpulse_flash::suspend::{Scheme, SuspendCosts, SuspendPolicy};
use interpulse_workload::{
    AddressSpec, Arrivals, BlockSize, FlowSpec, HotCold, SyntheticPacing, SyntheticSpec,
};
use std::sync::Arc;

pub(crate) fn pick<T: Clone>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.below(of.len() as u64) as usize].clone()
}

/// A small drive that collects garbage from the start.
fn draw_drive(rng: &mut Rng) -> DriveSpec {
    let planes = pick(rng, &[1, 2]);
    let cells = pick(rng, &[Cells::Slc, Cells::MlcPages, Cells::Tlc, Cells::Plc]);
    let part = part(cells, planes, pick(rng, &[16, 24]), pick(rng, &[4, 8]));
    let mut spec = draw_features(rng, part, cells);
    let seed = rng.next_u64();
    spec.host.max_transfer = [None, Some(Bytes::kib(8)), Some(Bytes::kib(16))][seed as usize % 3];
    with_faults(&mut spec, Streams::new(seed).stream("test.faults", 0));
    spec
}

/// A drive of this part whose power may be lost, without faults.
pub(crate) fn draw_features(rng: &mut Rng, part: PartSpec, cells: Cells) -> DriveSpec {
    let planes = part.planes;
    let mut spec = of_part(part, 2, 1, 1);
    spec.ftl.multi_plane = pick(rng, &[1, planes]);
    let orders = Allocation::all();
    spec.ftl.allocation = pick(rng, &[Allocation::Dynamic, orders[1].1, Allocation::SuperWordLine]);
    spec.ftl.over_provisioning = pick(rng, &[0.6, 1.0]);
    spec.ftl.gc_soft = 0.15;
    spec.ftl.gc_hard = 0.07;
    spec.cache.size = Bytes::kib(pick(rng, &[512, 1024]));
    spec.cache.protected = pick(rng, &[true, false]);
    spec.cache.acknowledge =
        pick(rng, &[Acknowledge::DEFAULT, Acknowledge::DEFAULT, Acknowledge::WhenProgrammed]);
    if spec.cache.acknowledge.waits_for_programs() && rng.below(2) == 0 {
        (spec.cache.size, spec.cache.protected) = (Bytes(0), false);
    }
    let costs = SuspendCosts {
        entry: Duration::from_us(3),
        resume: Duration::from_us(5),
        reset: Duration::from_us(4),
    };
    let suspend = SuspendPolicy::unlimited(pick(rng, &[Scheme::Ideal, Scheme::LoopBoundary]), costs);
    let on = pick(rng, &[false, true]);
    spec.nand.program_suspend = if on { suspend.clone() } else { SuspendPolicy::NEVER };
    spec.nand.erase_suspend = if on { suspend } else { SuspendPolicy::NEVER };
    spec.nand.nesting = on;
    // Data separated by hotness, larger mapping units, wear levelling.
    let unit = pick(rng, &[4, 4, 8, 16]) << 10;
    if spec.part.page_size.get().is_multiple_of(unit) {
        spec.geometry = spec.geometry.with_unit_bytes(unit);
    }
    spec.ftl.wear_gap = pick(rng, &[None, None, Some(2)]);
    let ms = Duration::from_ms;
    let within = pick(rng, &[vec![], vec![], vec![ms(30)], vec![ms(5), ms(50), ms(500)]]);
    let by_unit = rng.below(2) == 0;
    if !within.is_empty() {
        spec.ftl.hotness = HotnessPolicy::UpdateInterval(UpdateInterval { within, by_unit });
    }
    if spec.ftl.allocation == Allocation::SuperWordLine && spec.cache.acknowledge.waits_for_programs() {
        spec.ftl.allocation = Allocation::Dynamic;
    }
    if spec.check().is_err() {
        // Too small for so many open blocks, or levels that gather no super word lines.
        spec.ftl.hotness = HotnessPolicy::None;
    }
    // A stream of its own, so that the other drives stay what they were.
    if spec.ftl.hotness == HotnessPolicy::None {
        let mut rng = Streams::new(rng.clone().next_u64()).stream("test.placement", 0);
        let persistently_isolated = pick(&mut rng, &[vec![], vec![1], vec![0, 1]]);
        let handles = pick(&mut rng, &[2, 3]);
        if rng.below(2) == 0 {
            spec.ftl.placement = PlacementPolicy::Fdp(Fdp { handles, persistently_isolated, groups: 1 });
        }
        if spec.check().is_err() {
            spec.ftl.placement = PlacementPolicy::None;
        }
        if let PlacementPolicy::Fdp(fdp) = &spec.ftl.placement {
            let mut grouped = spec.clone();
            grouped.ftl.placement = PlacementPolicy::Fdp(Fdp { groups: 2, ..fdp.clone() });
            if rng.below(2) == 0 && grouped.check().is_ok() {
                spec = grouped;
            }
        }
    }
    let features = Streams::new(rng.clone().next_u64());
    with_mapping_cache(&mut spec, features.stream("test.mapping", 0));
    with_slc_cache(&mut spec, features.stream("test.slc", 0));
    with_reprogramming(&mut spec, features.stream("test.reprogram", 0));
    // Retries, data that nothing corrects, blocks rewritten for their reads and for their age.
    if rng.below(3) == 0 {
        let mut rates = errors(cells.bits() as usize, &[8e-3, 4e-3, 1e-3]);
        rates.ecc.max_retries = pick(rng, &[0, 2]);
        rates.reclaim_reads = pick(rng, &[None, Some(30)]);
        rates.refresh_after = pick(rng, &[None, Some(Duration::from_ms(40))]);
        spec.nand.errors = Some(Arc::new(rates));
        if let MappingSpec::Cached(cache) = &mut spec.ftl.mapping {
            // A codeword with errors is decoded whole.
            cache.read_transfer = None;
        }
    }
    // Half of them load the data of the next program while one pulses.
    if rng.below(2) == 0 {
        let program = pick(rng, &[CacheProgram::Block, CacheProgram::Die]);
        let on_read = pick(rng, &[CacheOnRead::Lost, CacheOnRead::Kept, CacheOnRead::Refused]);
        let pages = spec.geometry.pages_per_program;
        spec.part.cache =
            CacheRegister { program, pages, transfer: Duration::from_us(2), on_read, reads: false };
        spec.geometry.cache_pages = pages;
    }
    spec.power_loss = Some(PowerLossSpec {
        at: None,
        off_for: Duration::from_ms(1),
        checkpoint_every: Duration::from_us(pick(rng, &[700, 5_000, 10_000_000])),
        save_to: Placement::FirstFree,
        capacitor: None,
    });
    spec.check().expect("a legal drive");
    spec
}

fn draw_flow(rng: &mut Rng, name: &str) -> FlowSpec {
    let (read_share, write_share, trim_share, zeroes_share) =
        pick(rng, &[(0.3, 0.6, 0.1, 0.0), (0.0, 1.0, 0.0, 0.0), (0.2, 0.5, 0.2, 0.1), (0.4, 0.6, 0.0, 0.0)]);
    let sizes = BlockSize::Weighted(vec![(Bytes::kib(4), 4.0), (Bytes(6144), 1.0), (Bytes::kib(32), 0.5)]);
    let mix = SyntheticSpec {
        read_share,
        write_share,
        trim_share,
        zeroes_share,
        flush_every: pick(rng, &[None, Some(40), Some(9)]),
        block_size: pick(rng, &[BlockSize::Fixed(Bytes::kib(4)), sizes]),
        alignment: Bytes::kib(2),
        addresses: pick(
            rng,
            &[AddressSpec::Uniform, AddressSpec::HotCold(HotCold { hot_share: 0.1, hot_traffic: 0.9 })],
        ),
        ..SyntheticSpec::default()
    };
    if rng.below(4) == 0 {
        let pacing = SyntheticPacing::Open { rate_per_s: 9000.0, arrivals: Arrivals::Poisson };
        return FlowSpec::synthetic(name, SyntheticSpec { pacing, ..mix });
    }
    closed(name, pick(rng, &[1, 8, 32]), mix)
}

/// What the worlds met together.
#[derive(Default, Debug)]
pub(crate) struct Met {
    pub(crate) cuts: u64,
    torn: u64,
    broken: u64,
    lost: u64,
    undone: u64,
    refilled: u64,
    survived: u64,
    checkpoints: u64,
    scanned: u64,
    /// Translation pages read while mounting, and programmed.
    translation: (u64, u64),
    /// Units of SLC caches written, and folded; failures of their drives.
    slc: (u64, u64, u64),
    /// Drives with a mapping cache that completed a checkpoint beyond the first.
    cached: u64,
    /// Reclaim units that placement handles lost.
    left: u64,
    erase_failures: u64,
    program_failures: u64,
    read_only: u64,
    /// Units reprogrammed.
    pub(crate) reprogrammed: u64,
    /// Reprograms on dies at a cut, and of these suspended ones.
    pub(crate) reprograms_cut: (u64, u64),
    /// Of these, torn ones and those that capacitors completed.
    pub(crate) reprograms_torn: u64,
    pub(crate) reprograms_completed: u64,
}

pub(crate) fn step(bench: &mut Bench) {
    assert!(bench.step(bench.events.horizon()), "{}", bench.host.device.diagnosis(&bench.events));
}

/// Cuts the power of the world of `seed` at `cuts` random events, some of them while it still recovers.
fn world(seed: u64, cuts: u64, met: &mut Met) {
    world_of(seed, cuts, met, draw_drive, |_, _| {});
}

/// Whether pulses of the operation on a die have been halted.
pub(crate) fn is_suspended(die: &Die) -> bool {
    die.long().is_some_and(|op| op.suspends > 0) && die.state() != State::Pulsing
}

/// [`world`] of a drive that `draw` draws; `aim` handles events before a cut.
pub(crate) fn world_of(
    seed: u64,
    cuts: u64,
    met: &mut Met,
    draw: impl FnOnce(&mut Rng) -> DriveSpec,
    aim: impl Fn(&mut Bench, &mut Rng),
) {
    let mut rng = Streams::new(seed).stream("test.power-loss", 0);
    let spec = draw(&mut rng);
    let mut flows: Vec<FlowSpec> = (0..2).map(|k| draw_flow(&mut rng, &format!("f{k}"))).collect();
    if spec.ftl.placement.handles() > 0 {
        // With reclaim groups the first handle of the first one, and the last of the last one.
        let last = if spec.ftl.placement.groups() > 1 { spec.ftl.placement.classes() as u8 - 1 } else { 1 };
        (0..).zip(&mut flows).for_each(|(k, flow)| flow.handle = Some(k * last));
    }
    let fill = pick(&mut rng, &[0.5, 1.0]);
    println!("world {seed}: fill {fill}\n{spec:#?}\n{flows:#?}");
    let mut bench = Bench::new(&spec, preconditioned(&spec, fill, 1.0, seed), &flows, seed);
    for _ in 0..cuts {
        for _ in 0..rng.below(4000) {
            step(&mut bench);
        }
        aim(&mut bench, &mut rng);
        let at = bench.events.now();
        for die in bench.host.device.nand().dies() {
            let reprograms = die.long().is_some_and(|op| op.reprograms.is_some());
            met.reprograms_cut.0 += u64::from(reprograms);
            met.reprograms_cut.1 += u64::from(reprograms && is_suspended(die));
        }
        bench.host.device.cut_power(&mut bench.events);
        met.cuts += 1;
        bench.host.device.power_up(&mut bench.events, at + Duration::from_ms(1));
        let recovery = *bench.host.device.recoveries().last().expect("there has been a cut");
        // The end of mounting is the next event: the drive can lose power again from then on.
        step(&mut bench);
        assert_eq!(bench.events.now(), at + Duration::from_ms(1) + recovery.found.mounting);
        assert!(recovery.found.mounting > Duration::from_us(40), "at least one page has been read");
        if rng.below(4) > 0 {
            while bench.host.device.is_down() {
                step(&mut bench);
            }
        }
    }
    while bench.host.device.is_down() {
        step(&mut bench);
    }
    bench.run_requests(500);
    bench.finish();
    let unit = u64::from(spec.ftl_config().expect("a legal drive").logical_units);
    let checked = bench.host.device.versions_checked();
    bench.host.device.read_everything();
    assert!(bench.host.device.versions_checked() >= checked + unit, "every unit has been looked at");
    for r in bench.host.device.recoveries() {
        met.torn += r.found.torn_word_lines;
        met.broken += r.found.blocks_erased_again;
        met.lost += r.found.losses.acknowledged;
        met.undone += r.found.trims_undone;
        met.refilled += r.found.kept_units;
        met.survived += r.found.losses.survived;
        met.scanned += r.found.oob_pages;
        met.reprograms_torn += r.found.torn_reprograms;
        met.reprograms_completed += r.found.completed_reprograms;
        met.translation.0 += r.found.translation_pages;
        let kept = spec.cache.protected;
        assert!(!kept || (r.found.losses.acknowledged == 0 && r.found.trims_undone == 0));
        assert!(kept || r.found.kept_units == 0);
    }
    met.reprogrammed += bench.host.device.ftl_counters().reprogrammed_units;
    met.left += bench.host.device.placement().map_or(0, |of| of.events.reset_modified);
    let checkpoints = bench.host.device.metadata_written().checkpoints;
    met.checkpoints += checkpoints;
    met.translation.1 += bench.host.device.ftl_counters().map_units;
    met.cached += u64::from(spec.ftl.mapping.cached().is_some() && checkpoints > 0);
    let health = bench.host.device.health().unwrap_or_default();
    met.erase_failures += health.erase_failures;
    met.program_failures += health.program_failures;
    if let Some(slc) = bench.host.device.slc() {
        met.slc.0 += slc.counters.slc_units;
        met.slc.1 += slc.counters.folded_units;
        met.slc.2 += health.erase_failures + health.program_failures;
    }
    met.read_only += u64::from(health.read_only_since.is_some());
}

/// Runs `count` worlds of the seeds from `first` on.
pub(crate) fn worlds(first: u64, count: u64) -> Met {
    let mut met = Met::default();
    let draw = |seed| {
        move |rng: &mut Rng| {
            let mut spec = draw_drive(rng);
            with_multi_block_erases(&mut spec, Streams::new(seed).stream("test.multi-block", 0));
            spec
        }
    };
    (first..first + count).for_each(|seed| world_of(seed, 8, &mut met, draw(seed), |_, _| {}));
    println!("{met:?}");
    met
}

#[test]
fn a_cut_at_any_event_loses_only_what_may_be_lost() {
    let met = worlds(0, 120);
    let Met { cuts, torn, broken, lost, undone, refilled, survived, checkpoints, scanned, left, .. } = met;
    let Met { erase_failures, program_failures, read_only, translation, cached, slc, .. } = met;
    assert!(slc.0 > 1_000 && slc.1 > 100 && slc.2 > 10, "{slc:?}");
    assert!(translation.0 > 20 && translation.1 > 20 && cached > 5, "{translation:?} {cached}");
    assert_eq!(cuts, 960);
    for (what, count) in [
        ("torn word lines", torn),
        ("interrupted erases", broken),
        ("lost units", lost),
        ("trims undone", undone),
        ("units of the cache programmed again", refilled),
        ("units of outstanding requests that survived", survived),
        ("checkpoints", checkpoints),
        ("pages scanned", scanned),
    ] {
        assert!(count > 20, "{what}: only {count} in all worlds");
    }
    // Fewer worlds have placement handles, and none of these has faults.
    assert!(left > 10, "reclaim units lost: only {left} in all worlds");
    // Eight cuts leave a world few programs.
    let faults = (erase_failures, program_failures, read_only);
    assert!(
        faults.0 > 20 && faults.1 > 10 && faults.2 > 0,
        "failed erases and programs, drives at their end: {faults:?}"
    );
}

/// In world 10,000,512 the stream of collection, which had no open block, continued one of translation pages after a cut.
#[test]
fn a_stream_continues_no_block_of_another_after_a_cut() {
    world(10_000_512, 8, &mut Met::default());
}

/// Half of ten thousand cuts: 625 worlds with eight each.
fn half_of_ten_thousand(first: u64) {
    use std::io::Write;
    let met = worlds(first, 625);
    assert_eq!(met.cuts, 5_000);
    let line = format!(
        "cuts: {} of drives, {} torn word lines, {} interrupted erases",
        met.cuts, met.torn, met.broken
    );
    writeln!(std::io::stdout(), "{line}").expect("standard output is open");
}

// Two tests, so that two cores share them; seeds that no other world has.

#[test]
#[ignore = "long: make verify"]
fn ten_thousand_cuts_lose_nothing_protected() {
    half_of_ten_thousand(30_000_000);
}

#[test]
#[ignore = "long: make verify"]
fn the_other_half_of_ten_thousand_cuts_loses_nothing_protected() {
    half_of_ten_thousand(40_000_000);
}

/// A case that is run as a user runs it, and its result.
fn result(rest: &str) -> Result<serde_json::Value, String> {
    result_with(rest, &[])
}

fn result_with(rest: &str, sets: &[(String, String)]) -> Result<serde_json::Value, String> {
    use interpulse_study::config::PlanRequest;
    use interpulse_study::control::Control;
    use interpulse_study::plan::resolve;
    use interpulse_study::runner::{RunOptions, run};
    let text = format!(
        "drive = \"a4-mini\"\n[part]\nblocks-per-plane = 24\n[cache]\nsize = \"2MiB\"\n[precondition]\nfill = \"60%\"\n{rest}"
    );
    let request = PlanRequest { text, path: "x.toml".into(), sets: sets.to_vec(), ..PlanRequest::default() };
    let plan = resolve(&request).map_err(|e| e.to_string())?;
    let options = RunOptions { jobs: 1, cache_dir: None, cache_limit: 0, no_cache: true };
    let text = run(&plan, &options, &Control::new()).map_err(|e| e.message)?;
    let mut result: serde_json::Value = serde_json::from_str(&text).expect("results are JSON");
    Ok(result["cases"][0]["seeds"][0].take())
}

const LOAD: &str = "[run]\ntime = \"60ms\"\n[[flow]]\ndepth = 32\nread = 0.3\naddress = \"uniform\"\n";

#[test]
fn a_run_goes_on_after_the_cut_and_tells_what_recovery_took() {
    let at = |cut: &str, rest: &str| {
        let text = format!("[power-loss]\nat = \"{cut}\"\noff-for = \"1ms\"\n{rest}{LOAD}");
        result(&text).unwrap_or_else(|why| panic!("{why}"))["power_loss"].clone()
    };
    let number = |r: &serde_json::Value, part: &str, name: &str| {
        r[part][name].as_f64().unwrap_or_else(|| panic!("no {part}.{name} in {r}"))
    };
    let r = at("20ms", "");
    assert_eq!(number(&r, "cut", "at_s"), 0.02);
    let in_flight = number(&r, "cut", "reads_in_flight") + number(&r, "cut", "writes_in_flight");
    assert_eq!(in_flight, 32.0, "a closed flow has its depth outstanding");
    assert_eq!(number(&r, "cut", "acknowledged_units_lost"), 0.0);
    let parts = number(&r, "recovery", "mounting_us") + number(&r, "recovery", "refilling_us");
    assert!((number(&r, "recovery", "time_us") - parts).abs() < 1e-3);
    assert!(number(&r, "recovery", "units_programmed_again") > 0.0);
    // What has been written since the last checkpoint is scanned: more of it takes longer.
    let often = at("40ms", "checkpoint-every = \"2ms\"\n");
    let never = at("40ms", "checkpoint-every = \"1h\"\n");
    assert!(number(&often, "recovery", "oob_pages_read") < number(&never, "recovery", "oob_pages_read"));
    assert!(number(&often, "recovery", "mounting_us") < number(&never, "recovery", "mounting_us"));
    assert!(often["metadata_programs"].as_u64() > never["metadata_programs"].as_u64());
    // With a mapping cache the entries since the checkpoint are read again, and a checkpoint writes the directory only.
    let cached = |every: &str| {
        at(
            "40ms",
            &format!(
                "checkpoint-every = \"{every}\"\n[ftl]\nmapping = \"cached\"\nover-provisioning = \"60%\"\nmap-cache-size = \"64KiB\"\n"
            ),
        )
    };
    let (by_directory, seldom) = (cached("2ms"), cached("1h"));
    let read = |r: &serde_json::Value| number(r, "recovery", "translation_pages_read");
    assert!(read(&by_directory) > 0.0 && read(&by_directory) < read(&seldom));
    let of_map = |r: &serde_json::Value| number(r, "recovery", "checkpoint_pages_read");
    assert!(of_map(&by_directory) < of_map(&often) / 4.0);
    let late = result(&format!("[power-loss]\nat = \"61s\"\n{LOAD}")).err().unwrap_or_default();
    assert!(late.contains("power-loss.at = 61s and run.time = 60ms: the run is over"), "{late}");
    let unprotected = [("cache.protected".to_string(), "false".to_string())];
    let text = format!("[power-loss]\nat = \"20ms\"\n{LOAD}");
    let r = result_with(&text, &unprotected).unwrap_or_else(|why| panic!("{why}"))["power_loss"].clone();
    assert!(number(&r, "cut", "acknowledged_units_lost") > 0.0);
    assert_eq!(
        (number(&r, "cut", "flushed_units_lost"), number(&r, "recovery", "units_programmed_again")),
        (0.0, 0.0)
    );
    let message = result_with(LOAD, &unprotected).err().unwrap_or_default();
    assert!(message.contains("cache.protected: does not apply; it belongs to [power-loss]"), "{message}");
}

/// What saving the cache takes: by scheme, by placement, and the capacitor for it.
#[test]
fn a_protected_cache_needs_capacitors() {
    let of = |more: &[(&str, &str)], section: &str| {
        let sets: Vec<_> = more.iter().map(|(k, v)| ((*k).to_string(), (*v).to_string())).collect();
        let text = format!("[power-loss]\nat = \"20ms\"\n{section}{LOAD}");
        result_with(&text, &sets).unwrap_or_else(|why| panic!("{why}"))["power_loss"]["hold_up"].clone()
    };
    let number = |r: &serde_json::Value, path: &str| {
        path.split('.').fold(r, |at, key| &at[key]).as_f64().unwrap_or_else(|| panic!("no {path} in {r}"))
    };
    let nested = ("part.suspend-support", "nested");
    let plain = of(&[], "");
    assert!(plain["at_cut"].get("erases_stop").is_none() && plain["worst"].get("erases_stop").is_none());
    assert!(plain["worst"]["erases_finish"].get("capacitance_uf").is_none());
    // 2 MiB of 16 KiB pages, three to a program of one of two planes.
    assert_eq!(number(&plain, "worst.pages"), 128.0);
    let parts = ["finishing", "saving", "resting", "bus"]
        .map(|part| number(&plain, &format!("worst.erases_finish.energy_uj.{part}")));
    let total = number(&plain, "worst.erases_finish.energy_uj.total");
    assert!((parts.iter().sum::<f64>() / total - 1.0).abs() < 1e-12);
    // A scheme without a part that programs inside a suspended erase does not help a save.
    assert!(of(&[("suspend.erase.scheme", "deferred")], "")["worst"].get("erases_stop").is_none());
    let worst = |scheme: &str, what: &str| {
        let r = of(&[nested, ("suspend.erase.scheme", scheme), ("power-loss.save-to", "in-turn")], "");
        number(&r, &format!("worst.{what}"))
    };
    let [ideal, deferred] = ["ideal", "deferred"].map(|scheme| worst(scheme, "erases_stop.time_us"));
    let finish = worst("deferred", "erases_finish.time_us");
    assert!(ideal <= deferred && deferred < finish, "{ideal}, {deferred}, {finish}");
    // 1/2 C (35^2 - 5^2) 0.8 = E; and 1 W of controller for as long as it takes.
    let section = "capacitor-voltage = \"35V\"\ncapacitor-lowest = \"5V\"\ncapacitor-efficiency = 0.8\n";
    let r = of(&[("power.controller", "1W")], section);
    let (energy, time) =
        (number(&r, "worst.erases_finish.energy_uj.total"), number(&r, "worst.erases_finish.time_us"));
    assert!((number(&r, "worst.erases_finish.energy_uj.controller") / time - 1.0).abs() < 1e-12);
    let size = number(&r, "worst.erases_finish.capacitance_uf");
    assert!((size - energy / (0.5 * (35.0 * 35.0 - 25.0) * 0.8)).abs() <= 1e-3, "{size} uF for {energy} uJ");
    assert_eq!(of(&[("cache.protected", "false")], ""), serde_json::Value::Null);
}

#[test]
fn mistakes_are_told() {
    let told =
        |rest: &str| result(&format!("{rest}{LOAD}")).err().unwrap_or_else(|| "no mistake was found".into());
    for (rest, expected) in [
        ("[power-loss]\n", "power-loss.at: missing key"),
        (
            "[power-loss]\nat = \"1ms\"\ncheckpoint-every = \"1us\"\n",
            "power-loss.checkpoint-every: seen \"1us\"",
        ),
        (
            "[power-loss]\nat = \"1ms\"\n[ftl]\ngc = \"imposed\"\nimposed-waf = 2.0\n",
            "no places of data on flash",
        ),
        ("[power-loss]\nat = \"1ms\"\n[power]\ntrace = true\n", "not followed in the current through time"),
        ("[power-loss]\nat = \"1ms\"\nevery = 1\n", "power-loss.every: unknown key"),
        ("[power-loss]\nat = \"1ms\"\nsave-to = \"all\"\n", "power-loss.save-to: seen \"all\""),
        (
            "[power-loss]\nat = \"1ms\"\ncapacitor-voltage = \"5V\"\ncapacitor-lowest = \"6V\"\n",
            "less than capacitor-voltage = 5V",
        ),
        (
            "[power-loss]\nat = \"1ms\"\ncapacitor-voltage = \"5V\"\n",
            "power-loss.capacitor-lowest: missing key",
        ),
        (
            "[power-loss]\nat = \"1ms\"\ncapacitor-lowest = \"6V\"\n",
            "power-loss.capacitor-lowest: does not apply; it belongs to a given capacitor-voltage",
        ),
    ] {
        let message = told(rest);
        assert!(message.contains(expected), "{rest}: {message}");
    }
    let without = result(LOAD).map(|r| r["power_loss"].clone());
    assert_eq!(without, Ok(serde_json::Value::Null));
}
