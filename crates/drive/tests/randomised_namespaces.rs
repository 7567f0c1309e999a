//! Is anything lost on drives with namespaces? Small ones with everything drawn at random run flows in every namespace, and
//! commands at random places, also across namespaces, under full audit; at the end every unit is looked up.

use crate::drive_common::{Bench, Cells, preconditioned, run_worlds, with_stalls};
use crate::randomised_drives::{is_drawn, little_part, pick, tables, value_of};
use interpulse_drive::DriveSpec;
use interpulse_drive::ftl::Ftl;
use interpulse_engine::{Bytes, Device, Op, Request, Rng, Streams, Tag};
use interpulse_study::config::drawn;
use interpulse_workload::{
    BlockSize, FlowSpec, SyntheticPacing, SyntheticSpec, ZoneFlowSpec, ZoneWrites, Zones,
};

/// Worlds, and requests of each.
const WORLDS: u32 = 30;
const REQUESTS: u64 = 4_000;

/// Keys that do not go together with namespaces, or that a small world needs as they are.
const LEFT_OUT: [&str; 7] =
    ["mapping", "slc-cache.kind", "reprogram", "placement", "capacity", "share", "fill"];

/// A drive with namespaces; `None` if the values drawn do not make one.
fn draw_drive(rng: &mut Rng) -> Option<DriveSpec> {
    let (planes, multi_plane) = (pick(rng, &[1, 2]), pick(rng, &[1, 2]));
    let cells = pick(rng, &[Cells::Slc, Cells::MlcPages, Cells::Tlc, Cells::Plc]);
    let bits = cells.bits();
    let array = [pick(rng, &[1, 2]), pick(rng, &[1, 2]), 1];
    let table = if rng.below(2) == 0 { pick(rng, &tables(bits)) } else { "'ideal'".to_string() };
    let mut text = little_part(cells, rng.below(4) == 0, [planes, 96, pick(rng, &[4, 8])], array);
    text +=
        &format!("[ftl]\nover-provisioning = 1.0\nmulti-plane = {multi_plane}\n[errors]\ntable = {table}\n");
    for _ in 0..pick(rng, &[1, 2, 2, 3]) {
        text += &format!("[[namespace]]\nfamily = '{}'\n", pick(rng, &["page", "zoned"]));
    }
    // Zones need the cache.
    let has_zones = text.contains("zoned");
    let mut values = Streams::new(rng.next_u64()).stream("test.values", 0);
    let mut spec = drawn(&text, move |key| {
        let rewrites = ["errors.refresh-after", "errors.reclaim-reads"];
        let mut parts = key.path.splitn(3, '.');
        let section = parts.next()?;
        let name = parts.nth(1).unwrap_or_default();
        if !is_drawn(&key.path, &["namespace"])
            || rewrites.contains(&key.path.as_str())
            || (section == "namespace" && LEFT_OUT.contains(&name))
            || (key.path == "cache.acknowledge" && has_zones)
        {
            return None;
        }
        let path = if section == "namespace" { format!("ftl.{name}") } else { key.path.clone() };
        value_of(key, &path, &mut values)
    })
    .ok()?
    .drive;
    for of in &mut spec.namespaces {
        of.share = (rng.below(3) == 0).then(|| pick(rng, &[0.3, 0.33]));
    }
    spec.cache.size = Bytes(pick(rng, &[1 << 20, 4 << 20]));
    spec.check().ok()?;
    Some(spec)
}

/// One or two flows in each namespace.
fn draw_flows(rng: &mut Rng, spec: &DriveSpec, share: f64) -> Vec<FlowSpec> {
    let unit = spec.geometry.unit_bytes;
    let mut flows = Vec::new();
    for (k, of) in (0..).zip(spec.namespaces().unwrap()) {
        for part in 0..pick(rng, &[1, 2]) {
            let pacing = SyntheticPacing::Closed { depth: pick(rng, &[1, 4, 32]) };
            let block_size = BlockSize::Weighted(vec![(Bytes(unit), 3.0), (Bytes(5 * unit), 1.0)]);
            let name = format!("f{k}.{part}");
            let flow = match of.zone_geometry().unwrap() {
                Some(zones) if part == 0 => FlowSpec::zones(
                    &name,
                    ZoneFlowSpec {
                        zones: pick(rng, &[ZoneWrites::Write, ZoneWrites::Append]),
                        open_zones: 1,
                        pacing,
                        read_share: pick(rng, &[0.0, 0.5]),
                        overwrites: 0.0,
                        vector: None,
                        block_size,
                        alignment: Bytes(unit),
                        from: 0.0,
                        to: 1.0,
                        drive: Zones {
                            sectors: u64::from(zones.units) * unit / 512,
                            distance: u64::from(zones.units) * unit / 512,
                            block: Bytes(unit),
                            full: (f64::from(zones.zones) * share) as u64,
                            area: None,
                            conventional: 0,
                            chunks: None,
                        },
                    },
                ),
                _ => {
                    let (read_share, trim_share) = (pick(rng, &[0.2, 0.6]), 0.05);
                    let write_share = 0.95 - read_share;
                    let shares =
                        SyntheticSpec { read_share, trim_share, write_share, ..SyntheticSpec::default() };
                    FlowSpec::synthetic(
                        &name,
                        SyntheticSpec { pacing, block_size, flush_every: Some(50), ..shares },
                    )
                }
            };
            let queue = rng.below(spec.host.queue_weights.len() as u64) as u32;
            flows.push(FlowSpec { queue, namespace: k, ..flow });
        }
    }
    flows
}

/// What the worlds counted together.
#[derive(Default, Debug)]
pub(crate) struct Counted {
    worlds: u32,
    pages: u32,
    zoned: u32,
    mixed: u32,
    gc_units: u64,
    resets: u64,
    suspends: u64,
    stalls: u64,
    stalled: u64,
    uncorrectable: u64,
}

/// Draws and runs the world of `seed`; false if the values drawn do not make a drive.
fn world(seed: u64, counted: &mut Counted) -> bool {
    let mut rng = Streams::new(seed).stream("test.namespaces", 0);
    let Some(mut spec) = draw_drive(&mut rng) else { return false };
    with_stalls(&mut spec, Streams::new(seed).stream("test.stalls", 0));
    let share = pick(&mut rng, &[0.0, 0.6, 1.0]);
    let flows = draw_flows(&mut rng, &spec, share);
    println!("world {seed}: {share} full\n{spec:#?}\n{flows:#?}");
    let state = preconditioned(&spec, share, if share > 0.0 { 0.5 } else { 0.0 }, seed);
    let drive = interpulse_drive::Drive::new(
        spec.clone(),
        state,
        seed,
        interpulse_engine::ResourceId(0),
        flows.len() as u32,
    );
    // A namespace may have fewer zones than its flow opens.
    let Ok(host) = interpulse_host::Host::new(drive, &flows, seed, ()) else { return false };
    let mut bench = Bench { events: interpulse_engine::EventQueue::new(host.device.resources().end), host };
    bench.host.start(&mut bench.events).unwrap();
    let sectors = bench.host.device.capacity_sectors();
    while bench.host.device.completed() < REQUESTS {
        bench.run_requests(1 + rng.below(60));
        let ends: Vec<u64> =
            (0..spec.namespaces.len() as u32).map(|k| bench.host.device.namespace_sectors(k).end).collect();
        let sector = match rng.below(2) {
            0 => rng.below(sectors - 64),
            // Across the end of a namespace, if another follows.
            _ => pick(&mut rng, &ends).saturating_sub(8 + rng.below(40)).min(sectors - 64),
        };
        let op = pick(&mut rng, &[Op::Read, Op::Trim, Op::Write, Op::Flush, Op::WriteZeroes, Op::Compare]);
        let length = if op == Op::Flush { 0 } else { 1 + rng.below(64) as u32 };
        bench.host.submit(&mut bench.events, 0, Tag(flows.len() as u32), Request::new(op, sector, length));
    }
    bench.host.close();
    bench.run_out();
    bench.host.device.read_everything();
    bench.finish();
    let drive = &bench.host.device;
    let zones: Vec<bool> = spec.namespaces.iter().map(|of| of.ftl.zones.is_some()).collect();
    let mut sum = interpulse_drive::FtlCounters::default();
    for of in drive.namespaces().unwrap().all() {
        sum.add(&of.family().counters());
        counted.resets += of.zoned().map_or(0, |ftl| ftl.zone_counters().resets);
    }
    assert_eq!(sum, drive.ftl_counters());
    counted.worlds += 1;
    counted.pages += u32::from(zones.contains(&false));
    counted.zoned += u32::from(zones.contains(&true));
    counted.mixed += u32::from(zones.contains(&true) && zones.contains(&false));
    counted.gc_units += sum.gc_units;
    counted.suspends += drive.nand().counters.program_suspends + drive.nand().counters.erase_suspends;
    counted.stalls += drive.counters.cache_stalls;
    counted.stalled += drive.stalls().unwrap_or(0);
    counted.uncorrectable += bench.host.window.uncorrectable_reads;
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
fn drives_with_namespaces_lose_nothing() {
    let counted = worlds(0, WORLDS);
    assert!(counted.pages > 5 && counted.zoned > 5 && counted.mixed > 3, "{counted:?}");
    assert!(counted.gc_units > 100 && counted.resets > 20 && counted.suspends > 100, "{counted:?}");
    assert!(counted.stalled > 15, "{counted:?}");
    assert!(counted.stalls > 10 && counted.uncorrectable > 0, "{counted:?}");
}
