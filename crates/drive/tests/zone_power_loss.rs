//! Is anything lost with power on zoned drives? Small random ones whose power is cut at random events, some of them while they
//! still recover. Every unit is followed: the record of what was acknowledged says what zones must still hold, and what
//! recovery finds on flash is compared with what the drive had. At the end every unit is read back.

use crate::drive_common::zones::{Commands, spread_and_fill, zones_of};
use crate::drive_common::{Bench, Cells, little, of_part, part};
use interpulse_drive::DriveSpec;
use interpulse_drive::PreconditionedState;
use interpulse_drive::ftl::zoned::spec::{FinishEnd, ResetEnd, ZoneSpec, ZrwaSpec};
use interpulse_drive::ftl::zoned::state::ZoneState;
use interpulse_drive::ftl::zoned::tables::ZoneTables;
use interpulse_drive::spec::PowerLossSpec;
use interpulse_engine::{Bytes, Device, Duration, Op, Request, Rng, Status, Streams, Tag, ZoneAction};
use interpulse_flash::hold_up::Placement;
use interpulse_flash::parts::{CacheOnRead, CacheProgram, CacheRegister};
use interpulse_flash::suspend::{Scheme, SuspendCosts, SuspendPolicy};
use interpulse_workload::{
    AreaSectors, BlockSize, FlowSpec, SyntheticPacing, ZoneFlowSpec, ZoneWrites, Zones,
};

/// Worlds, and cuts of each.
const WORLDS: u64 = 150;
const CUTS: u64 = 8;

fn pick<T: Clone>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.below(of.len() as u64) as usize].clone()
}

fn draw_drive(rng: &mut Rng) -> DriveSpec {
    let planes = pick(rng, &[1, 2]);
    let cells = pick(rng, &[Cells::Slc, Cells::MlcPages, Cells::Tlc, Cells::Plc]);
    let mut spec = of_part(part(cells, planes, pick(rng, &[12, 16]), pick(rng, &[4, 8])), 2, 1, 1);
    spec.ftl.multi_plane = pick(rng, &[1, planes]);
    spec.ftl.over_provisioning = pick(rng, &[0.15, 0.4]);
    spec.cache.protected = pick(rng, &[true, false]);
    let unit = spec.geometry.unit_bytes;
    let lanes = spec.layout().unwrap().lanes;
    let granularity = Bytes(pick(rng, &[1, 4]) * unit);
    let size = Bytes(pick(rng, &[2, 5]) * granularity.get());
    let zrwa = Some(ZrwaSpec { size, granularity, zones: 2 });
    spec.ftl.zones = Some(ZoneSpec {
        width: Some(pick(rng, &[1, lanes])),
        rows: pick(rng, &[1, 2]),
        size: None,
        conventional: 0,
        max_open: None,
        max_active: 4,
        finish_end: FinishEnd::AtOnce,
        reset_end: pick(rng, &[ResetEnd::WhenErased, ResetEnd::AtOnce]),
        zrwa: if spec.cache.protected && rng.below(2) == 0 { zrwa } else { None },
        chunks: false,
    });
    let slots = u64::from(spec.layout().unwrap().units_per_program) * 5 + 2 * size.get() / unit;
    spec.cache.size = Bytes(pick(rng, &[1, 2]) * slots * unit);
    let us = Duration::from_us;
    let costs = SuspendCosts { entry: us(3), resume: us(5), reset: us(4) };
    if rng.below(2) == 0 {
        let suspend = SuspendPolicy::unlimited(pick(rng, &[Scheme::Ideal, Scheme::LoopBoundary]), costs);
        (spec.nand.program_suspend, spec.nand.erase_suspend) = (suspend.clone(), suspend);
        spec.nand.nesting = true;
    }
    // Some load the data of the next program while one pulses.
    if rng.below(3) == 0 {
        let pages = spec.geometry.pages_per_program;
        let (program, on_read) = (CacheProgram::Block, CacheOnRead::Kept);
        spec.part.cache = CacheRegister { program, pages, transfer: us(2), on_read, reads: false };
        spec.geometry.cache_pages = pages;
    }
    spec.power_loss = Some(PowerLossSpec {
        at: None,
        off_for: Duration::from_ms(1),
        checkpoint_every: Duration::from_ms(1_000),
        save_to: Placement::FirstFree,
        capacitor: None,
    });
    spec
}

fn draw_flow(rng: &mut Rng, spec: &DriveSpec, k: u32, full: u32) -> FlowSpec {
    let unit = spec.geometry.unit_bytes;
    let zones = spec.zone_geometry().unwrap().unwrap();
    let area = spec.ftl.zones.as_ref().unwrap().area_limits(unit).map(|area| AreaSectors {
        sectors: u64::from(area.units) * unit / 512,
        granularity: u64::from(area.granularity) * unit / 512,
    });
    let overwrites = if area.is_some_and(|area| area.sectors * 512 >= 3 * unit) {
        ZoneWrites::Zrwa
    } else {
        ZoneWrites::Append
    };
    let of = ZoneFlowSpec {
        zones: pick(rng, &[ZoneWrites::Append, ZoneWrites::Write, overwrites]),
        open_zones: 1,
        pacing: SyntheticPacing::Closed { depth: pick(rng, &[2, 16]) },
        read_share: pick(rng, &[0.0, 0.4]),
        overwrites: 0.5,
        vector: None,
        block_size: BlockSize::Weighted(vec![(Bytes(unit), 2.0), (Bytes(3 * unit), 1.0)]),
        alignment: Bytes(unit),
        from: f64::from(k) / 2.0,
        to: f64::from(k + 1) / 2.0,
        drive: Zones {
            sectors: u64::from(zones.units) * unit / 512,
            distance: u64::from(zones.distance) * unit / 512,
            block: Bytes(unit),
            full: u64::from(full),
            area,
            conventional: 0,
            chunks: None,
        },
    };
    FlowSpec::zones(&format!("f{k}"), of)
}

/// What the worlds met together.
#[derive(Default, Debug)]
pub(crate) struct Met {
    worlds: u64,
    torn: u64,
    erased_again: u64,
    lost: u64,
    kept: u64,
    survived: u64,
    scanned: u64,
    repairs: u64,
    saves: u64,
    areas_kept: u64,
    closed: u64,
}

fn step(bench: &mut Bench) {
    assert!(bench.step(bench.events.horizon()), "{}", bench.host.device.diagnosis(&bench.events));
}

/// A command of zone management, or a flush.
fn command(rng: &mut Rng, zones: u32, zone_sectors: u64, block: u64) -> Request {
    let zone = rng.below(u64::from(zones)) * zone_sectors;
    let actions =
        [ZoneAction::Open, ZoneAction::OpenZrwa, ZoneAction::Close, ZoneAction::Finish, ZoneAction::Reset];
    match rng.below(4) {
        0 => Request::FLUSH,
        1 => Request::new(Op::Append, zone, block as u32),
        2 => {
            let at = zone + rng.below(zone_sectors / block) * block;
            Request::new(Op::Zone(ZoneAction::Commit), at, 0)
        }
        _ => Request::new(Op::Zone(pick(rng, &actions)), zone, 0),
    }
}

fn world(seed: u64, met: &mut Met) {
    let mut rng = Streams::new(seed).stream("test.zone-power-loss", 0);
    let mut spec = draw_drive(&mut rng);
    spread_and_fill(&mut spec, seed);
    if spec.check().is_err() || spec.zone_geometry().unwrap().unwrap().zones < 4 {
        return;
    }
    let mut tables = ZoneTables::new(spec.layout().unwrap(), spec.zone_geometry().unwrap().unwrap());
    let (zones, units) = (tables.geometry.zones, tables.geometry.distance);
    let full = rng.below(u64::from(zones)) as u32;
    tables.fill(full);
    let flows: Vec<FlowSpec> = (0..2).map(|k| draw_flow(&mut rng, &spec, k, full)).collect();
    println!("world {seed}: {full} of {zones} zones of {units} units are full\n{spec:#?}\n{flows:#?}");
    let mut bench = Bench::new(&spec, PreconditionedState::Zoned(tables), &flows, seed);
    met.worlds += 1;
    let block = spec.geometry.unit_bytes / 512;
    let zone_sectors = u64::from(units) * block;
    for _ in 0..CUTS {
        for _ in 0..rng.below(30) {
            (0..rng.below(200)).for_each(|_| step(&mut bench));
            let request = command(&mut rng, zones, zone_sectors, block);
            bench.host.submit(&mut bench.events, 0, Tag(2), request);
        }
        (0..rng.below(60)).for_each(|_| step(&mut bench));
        let at = bench.events.now();
        let before = bench.host.device.zoned().unwrap().states().all().to_vec();
        bench.host.device.cut_power(&mut bench.events);
        bench.host.device.power_up(&mut bench.events, at + Duration::from_ms(1));
        let found = bench.host.device.recoveries().last().expect("there has been a cut").found;
        assert!(found.mounting > Duration::from_us(40), "at least one page has been read");
        // No zone is open, none has moved forward, and the full ones are full.
        for (before, after) in before.iter().zip(bench.host.device.zoned().unwrap().states().all()) {
            assert!(!after.state.is_open() && after.written <= before.written, "{before:?} {after:?}");
            let full = before.state == ZoneState::Full;
            assert_eq!(full, after.state == ZoneState::Full, "{before:?} {after:?}");
            met.areas_kept += u64::from(after.has_area && after.extent > after.written);
            met.closed += u64::from(after.state == ZoneState::Closed);
        }
        step(&mut bench);
        assert_eq!(bench.events.now(), at + Duration::from_ms(1) + found.mounting);
        if rng.below(4) > 0 {
            while bench.host.device.is_down() {
                step(&mut bench);
            }
            bench.host.device.read_everything();
        } else {
            (0..rng.below(40)).for_each(|_| {
                if bench.host.device.is_down() {
                    step(&mut bench);
                }
            });
            while bench.host.device.is_down() && rng.below(2) == 0 {
                step(&mut bench);
            }
        }
        if bench.host.device.is_down() {
            // A second cut while it recovers.
            let at = bench.events.now();
            bench.host.device.cut_power(&mut bench.events);
            bench.host.device.power_up(&mut bench.events, at + Duration::from_ms(1));
            while bench.host.device.is_down() {
                step(&mut bench);
            }
        }
    }
    bench.run_requests(300);
    bench.host.close();
    bench.run_out();
    bench.host.device.read_everything();
    bench.finish();
    let drive = &bench.host.device;
    for r in drive.recoveries() {
        met.torn += r.found.torn_word_lines;
        met.erased_again += r.found.blocks_erased_again;
        met.lost += r.found.losses.acknowledged;
        met.kept += r.found.kept_units;
        met.survived += r.found.losses.survived;
        met.scanned += r.found.oob_pages;
        assert!(!spec.cache.protected || r.found.losses.acknowledged == 0);
    }
    met.repairs += drive.zoned().unwrap().zone_counters().repairs;
    met.saves += drive.metadata_written().programs;
}

/// Runs the worlds of `count` seeds from `first` on.
pub(crate) fn worlds(first: u64, count: u64) -> Met {
    let mut met = Met::default();
    (first..first + count).for_each(|seed| world(seed, &mut met));
    println!("{met:#?}");
    met
}

#[test]
fn a_cut_at_any_event_loses_only_what_zones_may_lose() {
    let met = worlds(0, WORLDS);
    assert!(met.worlds > WORLDS / 2, "{met:?}");
    let Met { torn, erased_again, lost, kept, survived, scanned, repairs, saves, areas_kept, closed, .. } =
        met;
    for (what, count) in [
        ("torn word lines", torn),
        ("interrupted erases", erased_again),
        ("lost units", lost),
        ("units kept in the cache", kept),
        ("units of outstanding requests that survived", survived),
        ("pages scanned", scanned),
        ("super blocks copied", repairs),
        ("programs of flushes", saves),
        ("random write areas with data", areas_kept),
        ("closed zones", closed),
    ] {
        assert!(count > 20, "{what}: only {count} in all worlds");
    }
}

/// A zone is full after commits of an area without data, and its programs hold nothing but gaps when power is cut: a torn
/// one is repaired before the next.
#[test]
fn a_torn_program_of_gaps_in_a_full_zone_is_repaired() {
    let mut spec = little();
    spec.cache.protected = true;
    let unit = spec.geometry.unit_bytes;
    let zrwa = ZrwaSpec { size: Bytes(8 * unit), granularity: Bytes(4 * unit), zones: 1 };
    spec.ftl.zones = Some(ZoneSpec { zrwa: Some(zrwa), ..zones_of(1) });
    let off_for = Duration::from_ms(1);
    let checkpoint_every = Duration::from_ms(1_000);
    spec.power_loss = Some(PowerLossSpec {
        at: None,
        off_for,
        checkpoint_every,
        save_to: Placement::FirstFree,
        capacitor: None,
    });
    let units = u64::from(spec.zone_geometry().unwrap().unwrap().units);
    let mut repairs = 0;
    for k in 0..12 {
        let mut c = Commands::new(&spec, 0);
        assert_eq!(c.status(Op::Zone(ZoneAction::OpenZrwa), 0, 0, 0), Status::Success);
        assert_eq!(c.status(Op::Write, 0, 0, 1), Status::Success);
        for end in (8..=units).step_by(8) {
            assert_eq!(c.status(Op::Zone(ZoneAction::Commit), 0, end - 1, 0), Status::Success);
        }
        let bench = &mut c.bench;
        assert_eq!(bench.host.device.zoned().unwrap().states().all()[0].state, ZoneState::Full);
        bench.run_for(Duration::from_us(200 * k));
        let at = bench.events.now();
        bench.host.device.cut_power(&mut bench.events);
        bench.host.device.power_up(&mut bench.events, at + off_for);
        c.idle();
        assert_eq!(c.status(Op::Read, 0, 0, units as u32), Status::Success);
        c.bench.host.close();
        c.bench.finish();
        repairs += c.bench.host.device.zoned().unwrap().zone_counters().repairs;
    }
    assert!(repairs > 4, "{repairs} repairs");
}
