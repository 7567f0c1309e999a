//! Do the first zones of a drive take writes at any place, again and again, beside zones that are written in order?

use crate::drive_common::{Bench, Cells, closed, mix, of_part, part, preconditioned};
use crate::randomised_drives::pick;
use interpulse_drive::DriveSpec;
use interpulse_drive::ftl::Ftl;
use interpulse_drive::ftl::zoned::spec::{ResetEnd, ZoneSpec};
use interpulse_drive::spec::{NamespaceSpec, PowerLossSpec};
use interpulse_engine::{
    Bytes, Device, DeviceEvent, Duration, Op, Request, Rng, Status, Streams, Tag, ZoneAction,
};
use interpulse_flash::suspend::{Scheme, SuspendCosts, SuspendPolicy};
use interpulse_workload::{
    BlockSize, FlowSpec, SyntheticPacing, SyntheticSpec, ZoneFlowSpec, ZoneWrites, Zones,
};

/// `spec` with zones of `width` lanes, of which the first `conventional` are conventional.
fn with_zones(mut spec: DriveSpec, width: u32, conventional: u32) -> DriveSpec {
    spec.ftl.zones = Some(ZoneSpec {
        width: Some(width),
        rows: 1,
        conventional,
        max_open: None,
        max_active: 4,
        reset_end: ResetEnd::WhenErased,
        zrwa: None,
    });
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
        block: Bytes(unit),
        full: (f64::from(sequential.zones) * full) as u64,
        area: None,
        conventional: 0,
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

/// Submits a request and runs to its completion; returns its status and bytes.
fn execute(bench: &mut Bench, op: Op, sector: u64, sectors: u32) -> (Status, u64) {
    bench.host.device.submit(&mut bench.events, 0, Tag(0), Request::new(op, sector, sectors));
    loop {
        let (_, resource) = bench.events.next(bench.events.horizon()).expect("the command completes");
        bench.host.device.handle(&mut bench.events, resource);
        bench.events.settle();
        if let Some(DeviceEvent::Completed(done)) = bench.host.device.event() {
            let found = (done.status, done.bytes);
            bench.host.device.pop_event();
            return found;
        }
    }
}

#[test]
fn a_conventional_zone_takes_writes_anywhere_and_no_command_of_zones() {
    let spec = drive(3);
    let zone = zones(&spec, 0.0).sectors;
    let mut bench = Bench::new(&spec, preconditioned(&spec, 0.0, 0.0, 1), &[], 1);
    let count = spec.capacity_sectors().unwrap() / zone;
    let ok = Status::Success;
    for sector in [0, zone + 80, 0, 2 * zone - 8, 80, 0] {
        assert_eq!(execute(&mut bench, Op::Write, sector, 16).0, ok);
    }
    assert_eq!(execute(&mut bench, Op::Read, 0, 16), (ok, 16 * 512));
    assert_eq!(execute(&mut bench, Op::Append, zone, 8).0, Status::InvalidField);
    for action in [ZoneAction::Open, ZoneAction::Close, ZoneAction::Finish, ZoneAction::Reset] {
        assert_eq!(execute(&mut bench, Op::Zone(action), 2 * zone, 0).0, Status::InvalidField);
    }
    // A report has the zones from its address on, whatever their type.
    for (from, zones) in [(0, count), (2, count - 2), (3, count - 3), (count - 1, 1)] {
        let report = execute(&mut bench, Op::Zone(ZoneAction::Report), from * zone, 1024);
        assert_eq!(report, (ok, 64 * (1 + zones)));
    }
    assert_eq!(execute(&mut bench, Op::Zone(ZoneAction::Report), 8, 8).0, Status::InvalidField);
    // The next zone is sequential, and no write begins in the one and ends in the other.
    assert_eq!(execute(&mut bench, Op::Write, 3 * zone - 8, 16).0, Status::ZoneBoundaryError);
    assert_eq!(execute(&mut bench, Op::Write, 3 * zone + 8, 8).0, Status::ZoneInvalidWrite);
    assert_eq!(execute(&mut bench, Op::Write, 3 * zone, 8).0, ok);
    assert_eq!(execute(&mut bench, Op::Read, 3 * zone - 8, 16).0, ok);
    assert_eq!(execute(&mut bench, Op::Zone(ZoneAction::Reset), 3 * zone, 0).0, ok);
    assert_eq!(execute(&mut bench, Op::Flush, 3 * zone, 0).0, ok);
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
const WORLDS: u64 = 40;
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
    let us = Duration::from_us;
    let costs = SuspendCosts { entry: us(3), resume: us(5), reset: us(4) };
    if rng.below(2) == 0 {
        let suspend = SuspendPolicy::unlimited(pick(rng, &[Scheme::Ideal, Scheme::LoopBoundary]), costs);
        (spec.nand.program_suspend, spec.nand.erase_suspend) = (suspend.clone(), suspend);
        spec.nand.nesting = true;
    }
    spec.check().ok()?;
    Some(spec)
}

#[test]
fn drives_with_conventional_zones_lose_nothing() {
    let (mut worlds, mut gc_units, mut resets, mut suspends, mut refused) = (0, 0, 0, 0, 0);
    for seed in 0..400 {
        if worlds == WORLDS {
            break;
        }
        let mut rng = Streams::new(seed).stream("test.conventional", 0);
        let Some(spec) = draw_drive(&mut rng) else { continue };
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
            bench.host.submit(
                &mut bench.events,
                0,
                Tag(flows.len() as u32),
                Request::new(op, sector, length),
            );
        }
        bench.host.close();
        bench.run_out();
        bench.host.device.read_everything();
        bench.finish();
        let drive = &bench.host.device;
        worlds += 1;
        gc_units += drive.ftl_counters().gc_units;
        resets += drive.zoned().unwrap().zone_counters().resets;
        suspends += drive.nand().counters.program_suspends + drive.nand().counters.erase_suspends;
        refused += bench.host.window.refused.count();
    }
    println!(
        "{worlds} worlds: {gc_units} units moved, {resets} resets, {suspends} suspends, {refused} refused"
    );
    assert_eq!(worlds, WORLDS);
    assert!(gc_units > 100 && resets > 100 && suspends > 100 && refused > 100);
}
