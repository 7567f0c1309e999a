//! What becomes of zones when erases fail: reserved and spare blocks first, then zones that are Offline or Read Only.

use crate::drive_common::zones::{Commands, full_zones, with_suspension, zones_of};
use crate::drive_common::{Bench, Cells, little, of_part, part, run_worlds};
use crate::randomised_drives::pick;
use interpulse_drive::DriveSpec;
use interpulse_drive::ftl::zoned::spec::{ResetEnd, ZoneSpec, ZrwaSpec};
use interpulse_drive::ftl::zoned::state::ZoneState;
use interpulse_drive::spec::{FaultSpec, PowerLossSpec, WearOut};
use interpulse_engine::{Bytes, Device, Duration, Op, Request, Rng, Status, Streams, Tag, ZoneAction};
use interpulse_workload::{
    AreaSectors, BlockSize, FlowSpec, SyntheticPacing, ZoneFlowSpec, ZoneWrites, Zones,
};

/// Zones of `width` lanes on `spec`, whose blocks endure one cycle.
fn mortal(mut spec: DriveSpec, width: u32, reset_end: ResetEnd) -> DriveSpec {
    spec.ftl.zones = Some(ZoneSpec { reset_end, ..zones_of(width) });
    spec.part.endurance = 1;
    spec.faults = Some(FaultSpec { wear_out: WearOut::Equal, ..FaultSpec::NONE });
    spec
}

impl Commands {
    /// Executes commands of zone management that succeed.
    fn manage(&mut self, action: ZoneAction, zone: u64) {
        assert_eq!(self.status(Op::Zone(action), zone, 0, 0), Status::Success, "{action:?}");
    }

    fn in_state(&self, state: ZoneState) -> Vec<usize> {
        let all = self.bench.host.device.zoned().unwrap().states().all();
        (0..all.len()).filter(|&zone| all[zone].state == state).collect()
    }
}

/// A lane of 24 blocks has 16 zones. Each block is erased once; its second erase fails.
#[test]
fn zones_go_offline_when_a_lane_has_too_few_blocks() {
    let spec = mortal(little(), 1, ResetEnd::WhenErased);
    let mut c = Commands::new(&spec, 0);
    assert_eq!(spec.zone_geometry().unwrap().unwrap().zones, 64);
    let once = |c: &mut Commands| {
        assert_eq!(c.status(Op::Write, 0, 0, 1), Status::Success);
        c.manage(ZoneAction::Finish, 0);
        c.manage(ZoneAction::Reset, 0);
    };
    assert_eq!(c.status(Op::Write, 60, 0, 2), Status::Success);
    // Every block takes its cycle, then eight are missed by nobody.
    (0..24 + 8).for_each(|_| once(&mut c));
    assert_eq!(c.in_state(ZoneState::Offline), [0; 0]);
    // From now on each failure takes the last empty zone of the lane, which has every fourth one; zone 60 holds data.
    for left in (1..15).rev() {
        once(&mut c);
        assert_eq!(c.in_state(ZoneState::Offline).len(), 15 - left);
        assert!(c.in_state(ZoneState::Offline).contains(&(4 * left)), "{left}");
    }
    assert_eq!(c.status(Op::Write, 4, 0, 1), Status::ZoneIsOffline);
    assert_eq!(c.status(Op::Append, 4, 0, 1), Status::ZoneIsOffline);
    assert_eq!(c.status(Op::Read, 4, 0, 1), Status::ZoneIsOffline);
    // A read of two zones, one of them Offline.
    assert_eq!(c.status(Op::Read, 3, c.zone / 8 - 1, 2), Status::ZoneIsOffline);
    assert_eq!(c.status(Op::Read, 60, 0, 2), Status::Success);
    for action in [ZoneAction::Open, ZoneAction::Close, ZoneAction::Finish, ZoneAction::Reset] {
        assert_eq!(c.status(Op::Zone(action), 4, 0, 0), Status::InvalidZoneStateTransition);
    }
    c.manage(ZoneAction::Offline, 4);
    c.manage(ZoneAction::Report, 4);
    // The last one: zone 0 itself, which has just been reset.
    once(&mut c);
    assert_eq!(c.status(Op::Write, 0, 0, 1), Status::ZoneIsOffline);
    assert_eq!(c.in_state(ZoneState::Offline), (0..15).map(|k| 4 * k).collect::<Vec<_>>());
    let health = c.bench.host.device.health().unwrap();
    assert_eq!((health.erase_failures, health.grown_bad_blocks, health.read_only_since), (23, 23, None));
    c.idle();
    c.bench.host.device.read_everything();
    c.bench.finish();
}

/// Nine of the blocks of the lane change hands, as the other zones are full. All are erased once, then eight fail that nobody
/// misses; the next failed one holds what has been written to the zone that was reset.
#[test]
fn a_zone_is_read_only_when_its_block_has_failed() {
    let spec = mortal(little(), 1, ResetEnd::AtOnce);
    let mut c = Commands::new(&spec, 64);
    for k in 0..18 {
        assert_eq!(c.in_state(ZoneState::ReadOnly), [0; 0], "after {k} resets");
        c.manage(ZoneAction::Reset, 0);
        assert_eq!(c.status(Op::Write, 0, 0, 2), Status::Success);
        c.manage(ZoneAction::Finish, 0);
        c.idle();
    }
    assert_eq!(c.in_state(ZoneState::ReadOnly), [0]);
    assert_eq!(c.status(Op::Read, 0, 0, 2), Status::Success);
    assert_eq!(c.status(Op::Write, 0, 2, 1), Status::ZoneIsReadOnly);
    assert_eq!(c.status(Op::Append, 0, 0, 1), Status::ZoneIsReadOnly);
    for action in [ZoneAction::Open, ZoneAction::Close, ZoneAction::Finish, ZoneAction::Reset] {
        assert_eq!(c.status(Op::Zone(action), 0, 0, 0), Status::InvalidZoneStateTransition);
    }
    let health = c.bench.host.device.health().unwrap();
    assert_eq!((health.erase_failures, health.grown_bad_blocks), (9, 9));
    // The host gives the zone up; its block fails again, and the lane misses it no more.
    c.manage(ZoneAction::Offline, 0);
    assert_eq!(c.status(Op::Read, 0, 0, 1), Status::ZoneIsOffline);
    c.idle();
    c.bench.host.device.read_everything();
    c.bench.finish();
}

/// Reserved blocks replace failed ones, without wear, before any zone is lost.
#[test]
fn reserved_blocks_come_first() {
    let mut spec = mortal(of_part(part(Cells::Tlc, 1, 30, 8), 2, 2, 1), 1, ResetEnd::WhenErased);
    spec.ftl.bad_block_reserve = 0.2;
    let mut c = Commands::new(&spec, 0);
    // Each of 24 blocks takes its cycle; of the next ten failed ones six are replaced, and eight more could be missed.
    for _ in 0..24 + 10 {
        assert_eq!(c.status(Op::Write, 0, 0, 1), Status::Success);
        c.manage(ZoneAction::Finish, 0);
        c.manage(ZoneAction::Reset, 0);
    }
    let health = c.bench.host.device.health().unwrap();
    assert_eq!((health.spare_at_start, health.spare, health.least_spare_of_lane), (24, 18, 0));
    assert_eq!((health.grown_bad_blocks, health.retired_cycles), (10, 12));
    assert_eq!(c.in_state(ZoneState::Offline), [0; 0]);
    c.bench.finish();
}

#[test]
fn other_faults_of_zoned_drives_are_refused() {
    let refused = |change: &dyn Fn(&mut DriveSpec)| {
        let mut spec = mortal(little(), 1, ResetEnd::WhenErased);
        change(&mut spec);
        spec.check().unwrap_err().keys[0].to_string()
    };
    let faults = |of: FaultSpec| move |spec: &mut DriveSpec| spec.faults = Some(of);
    let failing = FaultSpec { program_failure: 0.001, ..FaultSpec::NONE };
    assert_eq!(refused(&faults(failing)), "faults.program-failure");
    let lost = FaultSpec { uncorrectable_read: 0.001, ..FaultSpec::NONE };
    assert_eq!(refused(&faults(lost)), "faults.uncorrectable-read");
    let bad = FaultSpec { factory_bad_blocks: 0.1, ..FaultSpec::NONE };
    assert_eq!(refused(&faults(bad)), "faults.factory-bad-blocks");
    let cut = |spec: &mut DriveSpec| {
        spec.power_loss = Some(PowerLossSpec {
            at: None,
            off_for: Duration::from_ms(1),
            checkpoint_every: Duration::from_ms(1),
            save_to: interpulse_flash::hold_up::Placement::FirstFree,
            capacitor: None,
        });
    };
    assert_eq!(refused(&cut), "faults.wear-out");
}

/// Worlds, and requests of each.
const WORLDS: usize = 40;
const REQUESTS: u64 = 6_000;

/// A zoned drive whose erases fail; `None` if the values drawn do not make one.
fn draw_drive(rng: &mut Rng) -> Option<DriveSpec> {
    let cells = pick(rng, &[Cells::Slc, Cells::MlcPages, Cells::Tlc]);
    let planes = pick(rng, &[1, 2]);
    let mut spec = of_part(part(cells, planes, pick(rng, &[12, 24]), pick(rng, &[4, 8])), 2, 1, 1);
    spec.ftl.multi_plane = pick(rng, &[1, planes]);
    spec.ftl.over_provisioning = pick(rng, &[0.01, 0.15, 0.4]);
    spec.ftl.bad_block_reserve = pick(rng, &[0.0, 0.1]);
    let lanes = spec.layout().ok()?.lanes;
    let ends = [ResetEnd::WhenErased, ResetEnd::AtOnce];
    let mut spec = mortal(spec, pick(rng, &[1, lanes]), pick(rng, &ends));
    spec.part.endurance = pick(rng, &[1, 3, 10]);
    spec.faults = Some(FaultSpec {
        wear_out: pick(rng, &[WearOut::Never, WearOut::Equal, WearOut::Normal]),
        endurance_spread: 0.3,
        factory_bad_blocks: if spec.ftl.bad_block_reserve > 0.0 { 0.02 } else { 0.0 },
        erase_failure: pick(rng, &[0.0, 0.03, 0.1]),
        ..FaultSpec::NONE
    });
    let unit = spec.geometry.unit_bytes;
    let zones = spec.ftl.zones.as_mut()?;
    zones.rows = pick(rng, &[1, 2]);
    if rng.below(2) == 0 {
        zones.zrwa = Some(ZrwaSpec { size: Bytes(8 * unit), granularity: Bytes(2 * unit), zones: 2 });
    }
    spec.cache.size = Bytes(pick(rng, &[256 << 10, 1 << 20]));
    with_suspension(&mut spec, rng);
    spec.check().ok()?;
    Some(spec)
}

fn flow(rng: &mut Rng, spec: &DriveSpec, full: u32) -> FlowSpec {
    let unit = spec.geometry.unit_bytes;
    let zones = spec.zone_geometry().unwrap().unwrap();
    let area = spec.ftl.zones.as_ref().unwrap().zrwa.map(|zrwa| AreaSectors {
        sectors: zrwa.size.get() / 512,
        granularity: zrwa.granularity.get() / 512,
    });
    let writes = if area.is_some() {
        pick(rng, &[ZoneWrites::Write, ZoneWrites::Append, ZoneWrites::Zrwa])
    } else {
        pick(rng, &[ZoneWrites::Write, ZoneWrites::Append])
    };
    let drive = Zones {
        sectors: u64::from(zones.units) * unit / 512,
        distance: u64::from(zones.units) * unit / 512,
        block: Bytes(unit),
        conventional: 0,
        chunks: None,
        full: full.into(),
        area,
    };
    let of = ZoneFlowSpec {
        zones: writes,
        open_zones: 1,
        pacing: SyntheticPacing::Closed { depth: pick(rng, &[1, 8]) },
        read_share: pick(rng, &[0.0, 0.3]),
        overwrites: 0.5,
        vector: None,
        block_size: BlockSize::Weighted(vec![(Bytes(unit), 1.0), (Bytes(5 * unit), 3.0)]),
        alignment: Bytes(unit),
        from: 0.0,
        to: 1.0,
        drive,
    };
    FlowSpec::zones("f", of)
}

/// What the worlds counted together.
#[derive(Default, Debug)]
pub(crate) struct Counted {
    failures: u64,
    offline: usize,
    read_only: usize,
    refused: u64,
}

/// Draws and runs the world of `seed`; false if the values drawn do not make a drive.
fn world(seed: u64, counted: &mut Counted) -> bool {
    let mut rng = Streams::new(seed).stream("test.zone-failures", 0);
    let Some(spec) = draw_drive(&mut rng) else { return false };
    let zones = spec.zone_geometry().unwrap().unwrap();
    let full = pick(&mut rng, &[0, zones.zones]);
    let flow = flow(&mut rng, &spec, full);
    println!("world {seed}: {full} full\n{spec:#?}\n{flow:#?}");
    let mut bench = Bench::new(&spec, full_zones(&spec, full), &[flow], seed);
    let sectors = u64::from(zones.units) * spec.geometry.unit_bytes / 512;
    while bench.host.device.completed() < REQUESTS {
        bench.run_requests(1 + rng.below(60));
        let actions = [ZoneAction::Finish, ZoneAction::Reset, ZoneAction::Offline, ZoneAction::Open];
        let zone = rng.below(zones.zones.into()) * sectors;
        let action = Op::Zone(pick(&mut rng, &actions));
        let op = pick(&mut rng, &[action, Op::Read, Op::Append]);
        let length = if matches!(op, Op::Zone(_)) { 0 } else { (spec.geometry.unit_bytes / 512) as u32 };
        bench.host.submit(&mut bench.events, 0, Tag(1), Request::new(op, zone, length));
    }
    bench.host.close();
    bench.run_out();
    bench.host.device.read_everything();
    bench.finish();
    let drive = &bench.host.device;
    let states = drive.zoned().unwrap().states().all();
    let count = |state| states.iter().filter(|zone| zone.state == state).count();
    counted.failures += drive.health().unwrap().erase_failures;
    counted.offline += count(ZoneState::Offline);
    counted.read_only += count(ZoneState::ReadOnly);
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
fn zoned_drives_with_failing_blocks_lose_nothing() {
    let counted = worlds(0, WORLDS);
    assert!(
        counted.failures > 100 && counted.offline > 20 && counted.read_only > 5 && counted.refused > 100,
        "{counted:?}"
    );
}
