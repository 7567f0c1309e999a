//! Do the first zones of a drive take writes at any place, again and again, beside zones that are written in order?

use crate::drive_common::zones::{with_suspension, zones_of};
use crate::drive_common::{Bench, Cells, closed, mix, of_part, part, preconditioned, run_worlds};
use crate::randomised_drives::pick;
use interpulse_drive::DriveSpec;
use interpulse_drive::ftl::Ftl;
use interpulse_drive::ftl::zoned::spec::ZoneSpec;
use interpulse_drive::spec::{NamespaceSpec, PowerLossSpec};
use interpulse_engine::{Bytes, Device, Duration, Op, Request, Rng, Status, Streams, Tag, ZoneAction};
use interpulse_workload::{
    BlockSize, FlowSpec, SyntheticPacing, SyntheticSpec, ZoneFlowSpec, ZoneWrites, Zones,
};

/// `spec` with zones of `width` lanes, of which the first `conventional` are conventional.
fn with_zones(mut spec: DriveSpec, width: u32, conventional: u32) -> DriveSpec {
    spec.ftl.zones = Some(ZoneSpec { conventional, ..zones_of(width) });
    spec
}

/// Four dies of 64 blocks, zones of one die.
fn drive(conventional: u32) -> DriveSpec {
    with_zones(of_part(part(Cells::Tlc, 1, 64, 8), 2, 2, 1), 1, conventional)
}

/// Zones of a drive as a flow sees them, of which the share `full` are full.
fn zones(spec: &DriveSpec, full: f64) -> Zones {
    let sequential = spec.namespaces().unwrap()[1].zone_geometry().unwrap().unwrap();
    let unit = spec.geometry.unit_bytes;
    Zones {
        sectors: u64::from(sequential.units) * unit / 512,
        distance: u64::from(sequential.units) * unit / 512,
        block: Bytes(unit),
        full: (f64::from(sequential.zones) * full) as u64,
        area: None,
        conventional: 0,
        chunks: None,
    }
    .behind(spec.conventional_zones().into())
}

/// Flow that writes the sequential zones, and one of `mix` over the conventional ones.
fn flows(spec: &DriveSpec, full: f64, depth: u32, mix: SyntheticSpec) -> [FlowSpec; 2] {
    let zones = zones(spec, full);
    let pacing = SyntheticPacing::Closed { depth };
    let unit = Bytes(spec.geometry.unit_bytes);
    let share = (zones.conventional * zones.sectors) as f64 / spec.capacity_sectors().unwrap() as f64;
    let sequential = ZoneFlowSpec {
        zones: ZoneWrites::Write,
        open_zones: 2,
        pacing,
        read_share: 0.3,
        overwrites: 0.0,
        vector: None,
        block_size: BlockSize::Fixed(Bytes(4 * unit.get())),
        alignment: unit,
        from: 0.0,
        to: 1.0,
        drive: zones,
    };
    [
        FlowSpec::zones("sequential", sequential),
        closed("conventional", depth, SyntheticSpec { to: share, ..mix }),
    ]
}

#[test]
fn a_conventional_zone_takes_writes_anywhere_and_no_command_of_zones() {
    let spec = drive(3);
    let zone = zones(&spec, 0.0).sectors;
    let mut bench = Bench::new(&spec, preconditioned(&spec, 0.0, 0.0, 1), &[], 1);
    let count = spec.capacity_sectors().unwrap() / zone;
    let ok = Status::Success;
    for sector in [0, zone + 80, 0, 2 * zone - 8, 80, 0] {
        assert_eq!(bench.execute(Op::Write, sector, 16).status, ok);
    }
    let read = bench.execute(Op::Read, 0, 16);
    assert_eq!((read.status, read.bytes), (ok, 16 * 512));
    assert_eq!(bench.execute(Op::Append, zone, 8).status, Status::InvalidField);
    for action in [ZoneAction::Open, ZoneAction::Close, ZoneAction::Finish, ZoneAction::Reset] {
        assert_eq!(bench.execute(Op::Zone(action), 2 * zone, 0).status, Status::InvalidField);
    }
    // A report has the zones from its address on, whatever their type.
    for (from, zones) in [(0, count), (2, count - 2), (3, count - 3), (count - 1, 1)] {
        let report = bench.execute(Op::Zone(ZoneAction::Report), from * zone, 1024);
        assert_eq!((report.status, report.bytes), (ok, 64 * (1 + zones)));
    }
    assert_eq!(bench.execute(Op::Zone(ZoneAction::Report), 8, 8).status, Status::InvalidField);
    // The next zone is sequential, and no write begins in the one and ends in the other.
    assert_eq!(bench.execute(Op::Write, 3 * zone - 8, 16).status, Status::ZoneBoundaryError);
    assert_eq!(bench.execute(Op::Write, 3 * zone + 8, 8).status, Status::ZoneInvalidWrite);
    assert_eq!(bench.execute(Op::Write, 3 * zone, 8).status, ok);
    assert_eq!(bench.execute(Op::Read, 3 * zone - 8, 16).status, ok);
    assert_eq!(bench.execute(Op::Zone(ZoneAction::Reset), 3 * zone, 0).status, ok);
    assert_eq!(bench.execute(Op::Flush, 3 * zone, 0).status, ok);
    assert_eq!(bench.host.device.zoned().unwrap().zone_counters().writes, 1);
    assert!(bench.host.device.ftl_counters().host_units > 0, "the flush programs conventional data");
    bench.host.device.read_everything();
    bench.finish();
}

/// Sequential zones are written once whatever happens in the conventional ones, which pay for their overwrites.
#[test]
fn conventional_zones_have_their_own_blocks_and_garbage_collection() {
    let spec = drive(120);
    let parts = spec.namespaces().unwrap();
    let zone = zones(&spec, 1.0).sectors * 512 / spec.geometry.unit_bytes;
    assert_eq!(u64::from(parts[0].logical_units().unwrap()), 120 * zone);
    let spare = parts[0].layout().unwrap().units() as f64 / (120 * zone) as f64 - 1.0;
    assert!(
        (0.4..0.44).contains(&spare),
        "the least that the over-provisioning of 40 % asks for, not {spare}"
    );
    let mut bench = Bench::new(&spec, preconditioned(&spec, 1.0, 1.0, 3), &flows(&spec, 1.0, 8, mix(0.0)), 7);
    bench.run_requests(20_000);
    let each = bench.host.device.namespaces().unwrap().all();
    let [conventional, sequential] = [&each[0], &each[1]].map(|of| of.family().counters());
    assert!(conventional.gc_units > 1000, "{conventional:?}");
    assert_eq!((sequential.gc_units, sequential.programmed()), (0, sequential.host_units));
    assert!(sequential.host_units > 5_000 && sequential.erases > 10, "{sequential:?}");
    assert_eq!(bench.host.window.refused.count(), 0);
    bench.finish();
}

#[test]
fn what_conventional_zones_do_not_go_together_with_is_refused() {
    let refused = |change: &dyn Fn(&mut DriveSpec)| {
        let mut spec = drive(3);
        change(&mut spec);
        spec.check().unwrap_err().keys[0].to_string()
    };
    let key = "ftl.conventional-zones";
    assert_eq!(refused(&|spec| spec.ftl.zones.as_mut().unwrap().conventional = 5_000), key);
    assert_eq!(
        refused(&|spec| {
            spec.power_loss = Some(PowerLossSpec {
                at: None,
                off_for: Duration::from_ms(1),
                checkpoint_every: Duration::from_ms(1),
                save_to: interpulse_flash::hold_up::Placement::FirstFree,
                capacitor: None,
            });
        }),
        key
    );
    assert_eq!(refused(&|spec| spec.cache.size = Bytes::kib(64)), "cache.size");
    let inner = drive(3).ftl;
    let in_namespace = refused(&|spec| {
        spec.ftl.zones = None;
        spec.namespaces = vec![NamespaceSpec { share: None, fill: None, ftl: inner.clone() }];
    });
    assert_eq!(in_namespace, "namespace.0.conventional-zones");
}

/// Worlds, and requests of each.
const WORLDS: usize = 40;
const REQUESTS: u64 = 3_000;

/// A drive with conventional zones; `None` if the values drawn do not make one.
fn draw_drive(rng: &mut Rng) -> Option<DriveSpec> {
    let cells = pick(rng, &[Cells::Slc, Cells::MlcPages, Cells::Tlc]);
    let planes = pick(rng, &[1, 2]);
    let part = part(cells, planes, pick(rng, &[48, 96]), pick(rng, &[4, 8]));
    let mut spec = of_part(part, pick(rng, &[1, 2]), pick(rng, &[1, 2]), 1);
    spec.ftl.multi_plane = pick(rng, &[1, planes]);
    spec.ftl.over_provisioning = pick(rng, &[0.4, 0.8]);
    spec.cache.size = Bytes(pick(rng, &[1 << 20, 4 << 20]));
    let lanes = spec.layout().ok()?.lanes;
    spec = with_zones(spec, pick(rng, &[1, lanes]), pick(rng, &[1, 3, 8, 20]));
    with_suspension(&mut spec, rng);
    spec.check().ok()?;
    Some(spec)
}

/// What the worlds counted together.
#[derive(Default, Debug)]
pub(crate) struct Counted {
    gc_units: u64,
    resets: u64,
    suspends: u64,
    refused: u64,
}

/// Draws and runs the world of `seed`; false if the values drawn do not make a drive.
fn world(seed: u64, counted: &mut Counted) -> bool {
    let mut rng = Streams::new(seed).stream("test.conventional", 0);
    let Some(spec) = draw_drive(&mut rng) else { return false };
    let full = pick(&mut rng, &[0.0, 0.6, 1.0]);
    let mixed = SyntheticSpec {
        trim_share: 0.1,
        flush_every: Some(40),
        block_size: BlockSize::Weighted(vec![(Bytes::kib(4), 3.0), (Bytes::kib(20), 1.0)]),
        write_share: 0.6,
        read_share: 0.3,
        ..SyntheticSpec::default()
    };
    let flows = flows(&spec, full, pick(&mut rng, &[1, 8, 32]), mixed);
    println!("world {seed}: {full} full\n{spec:#?}\n{flows:#?}");
    let state = preconditioned(&spec, full, if full > 0.0 { 0.5 } else { 0.0 }, seed);
    let mut bench = Bench::new(&spec, state, &flows, seed);
    let (zone, sectors) = (zones(&spec, full).sectors, bench.host.device.capacity_sectors());
    while bench.host.device.completed() < REQUESTS {
        bench.run_requests(1 + rng.below(60));
        let border = u64::from(spec.conventional_zones()) * zone;
        let sector = match rng.below(3) {
            0 => rng.below(sectors / zone) * zone,
            1 => rng.below(sectors - 64),
            _ => border - 8 * (1 + rng.below(8)),
        };
        let zone_command =
            Op::Zone(pick(&mut rng, &[ZoneAction::Open, ZoneAction::Finish, ZoneAction::Report]));
        let op = pick(&mut rng, &[Op::Read, Op::Trim, Op::Write, Op::Append, Op::Flush, zone_command]);
        let length = match op {
            Op::Flush => 0,
            Op::Zone(action) => {
                if action == ZoneAction::Report {
                    8
                } else {
                    0
                }
            }
            _ => 8 * (1 + rng.below(8) as u32),
        };
        bench.host.submit(&mut bench.events, 0, Tag(flows.len() as u32), Request::new(op, sector, length));
    }
    bench.host.close();
    bench.run_out();
    bench.host.device.read_everything();
    bench.finish();
    let drive = &bench.host.device;
    counted.gc_units += drive.ftl_counters().gc_units;
    counted.resets += drive.zoned().unwrap().zone_counters().resets;
    counted.suspends += drive.nand().counters.program_suspends + drive.nand().counters.erase_suspends;
    counted.refused += bench.host.window.refused.count();
    true
}

/// Runs worlds of the seeds from `first` on until `count` drives have been made.
pub(crate) fn worlds(first: u64, count: usize) -> Counted {
    let mut counted = Counted::default();
    run_worlds(first, count, |seed| world(seed, &mut counted));
    println!("{counted:?}");
    counted
}

#[test]
fn drives_with_conventional_zones_lose_nothing() {
    let counted = worlds(0, WORLDS);
    assert!(
        counted.gc_units > 100 && counted.resets > 100 && counted.suspends > 100 && counted.refused > 100,
        "{counted:?}"
    );
}
