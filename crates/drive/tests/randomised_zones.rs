//! Is anything lost on zoned drives? Small ones with everything drawn at random run legal flows, flows that zones do not
//! admit, and commands at random instants, under full audit; at the end every unit is looked up.

use crate::drive_common::features::{with_multi_block_erases, with_queues};
use crate::drive_common::zones::{full_zones, spread_and_fill};
use crate::drive_common::{Bench, Cells, run_worlds, with_stalls};
use crate::randomised_drives::{is_drawn, little_part, pick, tables, value_of};
use interpulse_drive::DriveSpec;
use interpulse_drive::ftl::zoned::spec::ZrwaSpec;
use interpulse_engine::{Bytes, Device, Op, Request, Rng, Status, Streams, Tag, ZoneAction};
use interpulse_study::config::drawn;
use interpulse_workload::{
    AreaSectors, BlockSize, FlowSpec, SyntheticPacing, SyntheticSpec, ZoneFlowSpec, ZoneWrites, Zones,
};

/// Worlds, and requests of each.
const WORLDS: u32 = 60;
const REQUESTS: u64 = 3_000;

/// A drive of the `family` zoned or open-channel; `None` if the values drawn do not make one.
pub(crate) fn draw_drive(rng: &mut Rng, family: &str) -> Option<DriveSpec> {
    let (planes, multi_plane) = (pick(rng, &[1, 2, 4]), pick(rng, &[1, 2, 4]));
    let cells = pick(rng, &[Cells::Slc, Cells::MlcPages, Cells::Tlc, Cells::Plc]);
    let bits = cells.bits();
    let array = [pick(rng, &[1, 2]), pick(rng, &[1, 2]), pick(rng, &[1, 2])];
    let (blocks, page_kib) = (pick(rng, &[12, 24]), pick(rng, &[4, 8, 16]));
    let table = if rng.below(2) == 0 { pick(rng, &tables(bits)) } else { "'ideal'".to_string() };
    let mut text = little_part(cells, rng.below(4) == 0, [planes, blocks, page_kib], array);
    text += &format!("[ftl]\nfamily = '{family}'\nmulti-plane = {multi_plane}\n[errors]\ntable = {table}\n");
    let streams = Streams::new(rng.next_u64());
    let (mut values, mut orders) = (streams.stream("test.values", 0), streams.stream("test.orders", 0));
    let mut spec = drawn(&text, move |key| {
        let rewrites = ["errors.refresh-after", "errors.reclaim-reads", "cache.acknowledge"];
        if !is_drawn(&key.path, &["ftl"]) || rewrites.contains(&key.path.as_str()) {
            return None;
        }
        if key.path == "ftl.over-provisioning" {
            // Down to no spare block: a reset zone waits for its erases.
            return Some(pick(&mut values, &["'1%'", "'10%'", "'40%'"]).to_string());
        }
        // A stream of its own, so that the other values stay what they were.
        if key.path == "schedule.channel-order" {
            return key.random_value(&mut orders);
        }
        value_of(key, &key.path, &mut values)
    })
    .ok()?
    .drive;
    let program = u64::from(spec.layout().ok()?.units_per_program) * spec.geometry.unit_bytes;
    let zones = spec.ftl.zones.as_mut()?;
    if rng.below(2) == 0 && !zones.chunks {
        let granularity = Bytes(pick(rng, &[1, 3, 8]) * spec.geometry.unit_bytes);
        let size = Bytes(pick(rng, &[2, 5]) * granularity.get());
        zones.zrwa = Some(ZrwaSpec { size, granularity, zones: pick(rng, &[1, zones.max_active]) });
    }
    let areas = zones.zrwa.map_or(0, |zrwa| zrwa.size.get() * u64::from(zrwa.zones));
    let active = if zones.chunks { 1 } else { u64::from(zones.max_active) };
    let least = program * (active + 1) + areas;
    spec.cache.size = Bytes(pick(rng, &[least, least, 3 * least]));
    spec.check().ok()?;
    Some(spec)
}

/// Random write area of the zones of a drive.
fn area(spec: &DriveSpec) -> Option<AreaSectors> {
    let zrwa = spec.ftl.zones.as_ref()?.zrwa?;
    Some(AreaSectors { sectors: zrwa.size.get() / 512, granularity: zrwa.granularity.get() / 512 })
}

/// Flows over equal parts of the drive; some write addresses as they like.
fn draw_flows(rng: &mut Rng, spec: &DriveSpec, zones: u32, full: u32) -> Vec<FlowSpec> {
    let count = (1 + rng.below(3)).min(u64::from(zones));
    let unit = spec.geometry.unit_bytes;
    let geometry = spec.zone_geometry().unwrap().unwrap();
    let sectors = |units: u32| u64::from(units) * unit / 512;
    (0..count)
        .map(|k| {
            let (from, to) = (k as f64 / count as f64, (k + 1) as f64 / count as f64);
            let pacing = SyntheticPacing::Closed { depth: pick(rng, &[1, 3, 32]) };
            let block_size = BlockSize::Weighted(vec![(Bytes(unit), 3.0), (Bytes(5 * unit), 1.0)]);
            let flow = if k > 0 && rng.below(3) == 0 {
                let shares = SyntheticSpec {
                    read_share: 0.3,
                    trim_share: 0.1,
                    zeroes_share: 0.1,
                    compare_share: 0.1,
                    write_share: 0.4,
                    ..SyntheticSpec::default()
                };
                let wild = SyntheticSpec { pacing, from, to, flush_every: Some(9), ..shares };
                FlowSpec::synthetic(&format!("f{k}"), wild)
            } else {
                let drive = Zones {
                    sectors: sectors(geometry.units),
                    distance: sectors(geometry.distance),
                    block: Bytes(unit),
                    full: u64::from(full),
                    area: area(spec),
                    conventional: 0,
                    chunks: None,
                };
                let zones = pick(rng, &[ZoneWrites::Write, ZoneWrites::Append, ZoneWrites::Zrwa]);
                let most = drive.area.map_or(0, |area| area.sectors * 512);
                let zones =
                    if most < 5 * unit && zones == ZoneWrites::Zrwa { ZoneWrites::Write } else { zones };
                let overwrites = pick(rng, &[0.2, 0.7]);
                let open_zones = pick(rng, &[1, 2]);
                let read_share = pick(rng, &[0.0, 0.5]);
                let alignment = Bytes(unit);
                let of = ZoneFlowSpec {
                    zones,
                    open_zones,
                    pacing,
                    read_share,
                    overwrites,
                    vector: None,
                    block_size,
                    alignment,
                    from,
                    to,
                    drive,
                };
                FlowSpec::zones(&format!("f{k}"), of)
            };
            FlowSpec { queue: rng.below(spec.host.queue_weights.len() as u64) as u32, ..flow }
        })
        .collect()
}

/// What the worlds counted together.
#[derive(Default, Debug)]
pub(crate) struct Counted {
    worlds: u32,
    resets: u64,
    finishes: u64,
    filling: u64,
    appends: u64,
    discarded: u64,
    erase_waits: u64,
    suspends: u64,
    uncorrectable: u64,
    overwritten: u64,
    commits: u64,
    implicit_commits: u64,
    unwritten: u64,
    stalled: u64,
    refused: [u64; Status::ERRORS.len() + 1],
}

/// Draws and runs the world of `seed`; false if the values drawn do not make a drive.
fn world(seed: u64, counted: &mut Counted) -> bool {
    let mut rng = Streams::new(seed).stream("test.zones", 0);
    let Some(mut spec) = draw_drive(&mut rng, "zoned") else { return false };
    with_stalls(&mut spec, Streams::new(seed).stream("test.stalls", 0));
    with_multi_block_erases(&mut spec, Streams::new(seed).stream("test.multi-block", 0));
    spread_and_fill(&mut spec, seed);
    with_queues(&mut spec, Streams::new(seed).stream("test.queues", 0));
    let geometry = spec.zone_geometry().unwrap().unwrap();
    let (zones, units) = (geometry.zones, geometry.units);
    let full = rng.below(u64::from(zones) + 1) as u32;
    let flows = draw_flows(&mut rng, &spec, zones, full);
    println!("world {seed}: {full} of {zones} zones of {units} units are full\n{spec:#?}\n{flows:#?}");
    let drive = interpulse_drive::Drive::new(
        spec.clone(),
        full_zones(&spec, full),
        seed,
        interpulse_engine::ResourceId(0),
        flows.len() as u32,
    );
    // A region may have fewer zones than its flow opens.
    let Ok(host) = interpulse_host::Host::new(drive, &flows, seed, ()) else { return false };
    let mut bench = Bench { events: interpulse_engine::EventQueue::new(host.device.resources().end), host };
    bench.host.start(&mut bench.events).unwrap();
    let sectors = spec.geometry.unit_bytes / 512;
    let zone_sectors = u64::from(geometry.distance) * sectors;
    while bench.host.device.completed() < REQUESTS {
        bench.run_requests(1 + rng.below(60));
        let states = bench.host.device.zoned().unwrap().states().all();
        let active: Vec<u64> =
            (0..).zip(states).filter(|(_, zone)| zone.state.is_active()).map(|z| z.0).collect();
        let zone = match active.len() as u64 {
            some @ 1.. if rng.below(2) == 0 => active[rng.below(some) as usize],
            _ => rng.below(u64::from(zones)),
        };
        let zone = zone * zone_sectors;
        let actions = [
            ZoneAction::Open,
            ZoneAction::OpenZrwa,
            ZoneAction::Commit,
            ZoneAction::Close,
            ZoneAction::Finish,
            ZoneAction::Reset,
            ZoneAction::Offline,
            ZoneAction::Report,
        ];
        // With a random write area, a place in it or behind it, and the end of a granule.
        let area = area(&spec).map(|area| (area.sectors / sectors, area.granularity / sectors));
        let with_area: Vec<u64> = (0..).zip(states).filter(|(_, zone)| zone.has_area).map(|z| z.0).collect();
        let in_area = match (area, with_area.len() as u64) {
            (Some((area, granularity)), some @ 1..) => {
                let zone = with_area[rng.below(some) as usize];
                let pointer = u64::from(states[zone as usize].written);
                let last = pointer + granularity * (1 + rng.below(area / granularity)) - 1;
                let place = |unit: u64| zone * zone_sectors + unit.min(u64::from(units) - 1) * sectors;
                Some((place(pointer + rng.below(2 * area)), place(last)))
            }
            _ => None,
        };
        let request = match rng.below(if in_area.is_some() { 7 } else { 4 }) {
            0 => Request::new(Op::Append, zone, sectors as u32),
            1 => {
                let sector = rng.below(u64::from(zones) * zone_sectors - 64);
                Request::new(Op::Read, sector, 1 + rng.below(64) as u32)
            }
            5.. => Request::new(Op::Write, in_area.expect("there is one").0, sectors as u32),
            _ => {
                let op = Op::Zone(pick(&mut rng, &actions));
                let commits = op == Op::Zone(ZoneAction::Commit);
                let zone = if commits { in_area.map_or(zone, |(_, last)| last) } else { zone };
                Request::new(op, zone, if op == Op::Zone(ZoneAction::Report) { 8 } else { 0 })
            }
        };
        bench.host.submit(&mut bench.events, 0, Tag(flows.len() as u32), request);
    }
    bench.host.close();
    bench.run_out();
    bench.host.device.read_everything();
    bench.finish();
    let (drive, window) = (&bench.host.device, &bench.host.window);
    let (ftl, of) = (drive.ftl_counters(), drive.zoned().unwrap().zone_counters());
    let program = u64::from(drive.layout().units_per_program);
    let filling = of.filling_programs * program;
    let (padding, most) = (ftl.padding_units - of.unwritten_units - filling, of.finishes * (program - 1));
    assert!(padding <= most, "only finished zones and what the host did not write are padded");
    counted.overwritten += of.area_overwritten_units;
    counted.commits += of.explicit_commits;
    counted.implicit_commits += of.implicit_commits;
    counted.unwritten += of.unwritten_units;
    assert_eq!(ftl.programmed(), ftl.host_units + ftl.padding_units, "nothing is moved");
    counted.worlds += 1;
    counted.resets += of.resets;
    counted.finishes += of.finishes;
    counted.filling += of.filling_programs;
    counted.appends += of.appends;
    counted.discarded += of.discarded_units;
    counted.erase_waits += of.erase_waits;
    counted.suspends += drive.nand().counters.program_suspends + drive.nand().counters.erase_suspends;
    counted.stalled += drive.stalls().unwrap_or(0);
    counted.uncorrectable += window.uncorrectable_reads;
    for (to, k) in counted.refused.iter_mut().zip(0..) {
        *to += window.refused.writes[k] + window.refused.others[k];
    }
    true
}

/// Runs worlds of the seeds from `first` on until `count` drives have been made.
pub(crate) fn worlds(first: u64, count: u32) -> Counted {
    let mut counted = Counted::default();
    run_worlds(first, count as usize, |seed| world(seed, &mut counted));
    println!("{counted:#?}");
    counted
}

#[test]
fn zoned_drives_lose_nothing() {
    let counted = worlds(0, WORLDS);
    assert_eq!(counted.worlds, WORLDS);
    let areas = [counted.overwritten, counted.implicit_commits, counted.unwritten];
    assert!(areas.iter().all(|&n| n > 100) && counted.commits > 10, "{counted:?}");
    let all = [counted.resets, counted.finishes, counted.filling, counted.appends, counted.suspends];
    assert!(all.iter().all(|&n| n > 100) && counted.stalled > 20, "{counted:?}");
    assert!(counted.uncorrectable > 0 && counted.discarded > 0 && counted.erase_waits > 0, "{counted:?}");
    for status in Status::ERRORS {
        // The others are those of reads, of drives without zones, of chunks, of formats and of drives whose blocks fail.
        let occurs = !matches!(
            status,
            Status::UnrecoveredReadError
                | Status::InvalidOpcode
                | Status::FormatInProgress
                | Status::NamespaceIsWriteProtected
                | Status::ZoneIsReadOnly
                | Status::ZoneIsOffline
                | Status::WriteFault
                | Status::OutOfOrderWrite
                | Status::InvalidReset
                | Status::OfflineChunk
        );
        assert_eq!(occurs, counted.refused[*status as usize] > 0, "{status:?}: {counted:?}");
    }
}
