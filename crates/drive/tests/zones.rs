//! Does a zoned drive keep every unit of its zones, write each once, and refuse what zones do not admit?

use crate::drive_common::zones::{Commands, full_zones, zones_of};
use crate::drive_common::{Bench, Cells, little, of_part, part};
use interpulse_drive::DriveSpec;
use interpulse_drive::FtlState;
use interpulse_drive::PreconditionedState;
use interpulse_drive::ftl::zoned::spec::{FinishEnd, ResetEnd, ZoneSpec, ZrwaSpec};
use interpulse_drive::ftl::zoned::state::ZoneState;
use interpulse_engine::{Bytes, Device, Duration, Op, Request, SimTime, Status, Streams, Tag, ZoneAction};
use interpulse_flash::geometry::Timing;
use interpulse_workload::{
    AreaSectors, BlockSize, FlowSpec, SyntheticPacing, ZoneFlowSpec, ZoneWrites, Zones,
};
use std::io::{self, Write};

/// [`little`] with zones of `width` lanes and one row.
fn zoned(width: u32) -> DriveSpec {
    let mut spec = little();
    spec.ftl.zones = Some(zones_of(width));
    spec
}

/// Flow of `depth` writes of 4 units, on a drive whose first `full` zones are full.
fn flow(spec: &DriveSpec, depth: u32, full: u32) -> ZoneFlowSpec {
    let zones = spec.zone_geometry().unwrap().unwrap();
    let unit = spec.geometry.unit_bytes;
    ZoneFlowSpec {
        zones: ZoneWrites::Write,
        open_zones: 1,
        pacing: SyntheticPacing::Closed { depth },
        read_share: 0.0,
        overwrites: 0.0,
        vector: None,
        block_size: BlockSize::Fixed(Bytes(4 * unit)),
        alignment: Bytes(unit),
        from: 0.0,
        to: 1.0,
        drive: Zones {
            sectors: u64::from(zones.units) * unit / 512,
            distance: u64::from(zones.units) * unit / 512,
            block: Bytes(unit),
            full: u64::from(full),
            area: None,
            conventional: 0,
            chunks: None,
        },
    }
}

impl Commands {
    fn state(&self, zone: usize) -> ZoneState {
        self.bench.host.device.zoned().unwrap().states().all()[zone].state
    }

    /// Lets everything end, reads every unit and audits.
    fn finish(mut self) {
        while self.bench.step(self.bench.events.horizon()) {}
        self.bench.host.device.read_everything();
        self.bench.finish();
    }
}

#[test]
fn commands_that_zones_do_not_admit_end_with_the_status_of_the_specification() {
    let mut c = Commands::new(&zoned(1), 1);
    let units = (c.zone / 8) as u32;
    assert_eq!(c.status(Op::Write, 0, 0, 1), Status::ZoneIsFull);
    assert_eq!(c.status(Op::Write, 1, 1, 1), Status::ZoneInvalidWrite);
    assert_eq!(c.status(Op::Write, 1, 0, units + 1), Status::ZoneBoundaryError);
    assert_eq!(c.status(Op::Append, 1, 1, 1), Status::InvalidField);
    assert_eq!(c.status(Op::Zone(ZoneAction::Close), 1, 0, 0), Status::InvalidZoneStateTransition);
    for zone in 1..=4 {
        assert_eq!(c.status(Op::Write, zone, 0, 1), Status::Success);
    }
    assert_eq!(c.status(Op::Write, 5, 0, 1), Status::TooManyActiveZones);
    assert_eq!(c.status(Op::Zone(ZoneAction::Open), 5, 0, 0), Status::TooManyActiveZones);
    assert_eq!(c.status(Op::Zone(ZoneAction::Finish), 2, 0, 0), Status::Success);
    assert_eq!(c.status(Op::Write, 2, 1, 1), Status::ZoneIsFull);
    assert_eq!(c.run(Op::Append, 5, 0, 3), (Status::Success, Some(0)));
    assert_eq!(c.run(Op::Append, 5, 0, 2), (Status::Success, Some(3)));
    assert_eq!(c.status(Op::Zone(ZoneAction::Reset), 0, 0, 0), Status::Success);
    assert_eq!(
        [0, 1, 2, 5].map(|zone| c.state(zone)),
        [ZoneState::Empty, ZoneState::ImplicitlyOpened, ZoneState::Full, ZoneState::ImplicitlyOpened]
    );
    assert_eq!(c.status(Op::Zone(ZoneAction::Report), 0, 0, 1), Status::Success);
    assert_eq!(c.status(Op::Flush, 0, 0, 0), Status::Success);
    let ftl = c.bench.host.device.ftl_counters();
    assert_eq!((ftl.host_units, ftl.erases), (1, 1), "the finished zone and the reset one");
    c.finish();
}

/// A random write area of 8 units with commits of 2, for two zones.
fn with_areas(spec: &mut DriveSpec) {
    let unit = spec.geometry.unit_bytes;
    let zrwa = ZrwaSpec { size: Bytes(8 * unit), granularity: Bytes(2 * unit), zones: 2 };
    spec.ftl.zones = spec.ftl.zones.take().map(|zones| ZoneSpec { zrwa: Some(zrwa), ..zones });
}

/// Programs of 6 units; a write of a unit that the area holds replaces it in the cache.
#[test]
fn a_random_write_area_is_overwritten_in_the_cache_and_committed() {
    let mut spec = zoned(1);
    with_areas(&mut spec);
    let mut c = Commands::new(&spec, 0);
    let (open, commit) = (Op::Zone(ZoneAction::OpenZrwa), Op::Zone(ZoneAction::Commit));
    assert_eq!(
        [0, 1, 2].map(|zone| c.status(open, zone, 0, 0)),
        [Status::Success, Status::Success, Status::ZrwaResourcesUnavailable]
    );
    assert_eq!(c.status(open, 0, 0, 0), Status::InvalidZoneOperation);
    assert_eq!(c.status(Op::Append, 0, 0, 1), Status::InvalidZoneOperation);
    assert_eq!(c.status(commit, 3, 1, 0), Status::InvalidZoneOperation);
    for at in [6, 0, 2, 4, 4, 6, 0] {
        assert_eq!(c.status(Op::Write, 0, at, 2), Status::Success);
    }
    let written = |c: &Commands| c.bench.host.device.ftl_counters().host_units;
    let counters = |c: &Commands| c.bench.host.device.zoned().unwrap().zone_counters();
    assert_eq!((written(&c), counters(&c).area_overwritten_units), (0, 6));
    // Up to unit 5, a program; then a write that ends 7 units behind the area, which moves the write pointer by 8.
    assert_eq!(
        [0, 4, 7].map(|last| c.status(commit, 0, last, 0)),
        [Status::InvalidField, Status::InvalidField, Status::Success]
    );
    assert_eq!(c.status(Op::Write, 0, 7, 1), Status::ZoneInvalidWrite);
    assert_eq!(c.status(Op::Write, 0, 24, 1), Status::ZoneInvalidWrite);
    assert_eq!(c.status(Op::Write, 0, 22, 1), Status::Success);
    let zone = c.bench.host.device.zoned().unwrap().states().all()[0];
    assert_eq!((zone.written, zone.extent, zone.state), (16, 23, ZoneState::ExplicitlyOpened));
    // Units 8 to 15 were never written: reads find nothing in the cache or on flash.
    assert_eq!(c.status(Op::Read, 0, 0, 24), Status::Success);
    assert_eq!(c.status(Op::Zone(ZoneAction::Finish), 0, 0, 0), Status::Success);
    while c.bench.step(c.bench.events.horizon()) {}
    let ftl = c.bench.host.device.ftl_counters();
    // Four programs hold units 0 to 7 and 22.
    assert_eq!((ftl.host_units, ftl.padding_units), (9, 15));
    assert_eq!((counters(&c).explicit_commits, counters(&c).implicit_commits), (1, 1));
    assert_eq!(c.status(open, 2, 0, 0), Status::Success, "a finished zone has no area");
    c.finish();
}

/// Of n + m writes of which m overwrite the area, n are programmed.
#[test]
fn overwrites_in_a_random_write_area_are_never_programmed() {
    let mut spec = zoned(2);
    with_areas(&mut spec);
    let unit = spec.geometry.unit_bytes;
    let mut of = ZoneFlowSpec {
        zones: ZoneWrites::Zrwa,
        overwrites: 0.6,
        vector: None,
        block_size: BlockSize::Fixed(Bytes(2 * unit)),
        ..flow(&spec, 8, 2)
    };
    of.drive.area = Some(AreaSectors { sectors: 8 * unit / 512, granularity: 2 * unit / 512 });
    let mut bench = Bench::new(&spec, full_zones(&spec, 2), &[FlowSpec::zones("w", of)], 3);
    bench.run_requests(20_000);
    assert_eq!(bench.host.window.refused, interpulse_host::Refused::default());
    bench.host.close();
    bench.run_out();
    bench.host.device.read_everything();
    bench.finish();
    let drive = &bench.host.device;
    let (ftl, zones) = (drive.ftl_counters(), drive.zoned().unwrap().zone_counters());
    let in_cache = u64::from(drive.cache_used());
    assert_eq!(2 * zones.area_writes, ftl.host_units + in_cache + zones.area_overwritten_units);
    assert!(zones.area_overwritten_units * 2 > ftl.host_units && zones.unwritten_units == 0, "{zones:?}");
    assert!(zones.implicit_commits > 1_000 && zones.explicit_commits > 10, "{zones:?}");
    assert_eq!(ftl.write_amplification(), Some(1.0));
}

#[test]
fn a_drive_without_zones_does_not_know_zone_commands() {
    let spec = little();
    let bench = Bench::new(&spec, crate::drive_common::filled(&spec, 1.0), &[], 1);
    let mut c = Commands { bench, zone: 800 };
    assert_eq!(c.status(Op::Append, 0, 0, 1), Status::InvalidOpcode);
    assert_eq!(c.status(Op::Zone(ZoneAction::Reset), 0, 0, 0), Status::InvalidOpcode);
    c.finish();
}

#[test]
fn whole_zones_have_a_write_amplification_of_exactly_one() {
    for (width, writes, open_zones) in
        [(1, ZoneWrites::Write, 1), (2, ZoneWrites::Append, 3), (4, ZoneWrites::Write, 2)]
    {
        let spec = zoned(width);
        let of = ZoneFlowSpec { zones: writes, open_zones, read_share: 0.3, ..flow(&spec, 16, 3) };
        let mut bench = Bench::new(&spec, full_zones(&spec, 3), &[FlowSpec::zones("w", of)], 7);
        bench.run_requests(20_000);
        let refused = bench.host.window.refused;
        assert_eq!(refused, interpulse_host::Refused::default());
        bench.host.close();
        bench.run_out();
        bench.host.device.read_everything();
        let audited = bench.finish();
        let drive = &bench.host.device;
        assert_eq!(drive.ftl_counters().write_amplification(), Some(1.0), "width {width}");
        assert!(drive.ftl_counters().host_units > 20_000 && audited.versions_checked > 10_000);
        let counters = drive.zoned().unwrap().zone_counters();
        assert!(counters.resets > 10, "{counters:?}");
        assert_eq!(writes == ZoneWrites::Append, counters.appends > 0);
        assert_eq!(drive.counters.unmapped_reads, 0, "reads go to written places");
    }
}

/// A drive of 4 lanes, each on a channel of its own, with zones of `width` lanes and 40 super blocks on each.
fn wide(width: u32) -> DriveSpec {
    let mut spec = of_part(part(Cells::Tlc, 1, 64, 8), 4, 1, 1);
    spec.ftl.zones = zoned(width).ftl.zones.map(|zones| ZoneSpec { rows: 40, ..zones });
    spec.cache.size = Bytes::kib(24 * 64);
    spec
}

/// A zone of one lane writes one program at a time, so its rate is the size of a program over its time: the loads of its
/// pages and the pulses. A zone of k lanes on as many channels writes k times as fast.
#[test]
fn a_zone_writes_as_fast_as_the_programs_of_its_lanes() {
    for width in [1, 2, 4] {
        let spec = wide(width);
        let timing = Timing::new(&spec.part, spec.geometry.unit_bytes);
        let loads = 3 * (timing.page_load + timing.buffer_setup).as_ns() + timing.command.as_ns();
        let train = &spec.part.program;
        let time = u64::from(train.loops) * train.loop_time().as_ns() + loads;
        let mut bench =
            Bench::new(&spec, full_zones(&spec, 0), &[FlowSpec::zones("w", flow(&spec, 256, 0))], 1);
        bench.run_for(Duration::from_ms(20));
        let before = bench.host.device.ftl_counters().host_units;
        // All within the first zone.
        bench.run_for(Duration::from_ms(100));
        let programs = (bench.host.device.ftl_counters().host_units - before) / 6;
        let expected = u64::from(width) * 100_000_000 / time;
        assert!(programs.abs_diff(expected) <= u64::from(width), "width {width}: {programs}, not {expected}");
        bench.finish();
    }
}

/// A die reads a page at a time: command, sensing, transfer of a unit. Enough random reads of one zone keep its dies busy.
#[test]
fn a_zone_reads_as_fast_as_the_dies_of_its_lanes() {
    for width in [1, 2, 4] {
        let spec = wide(width);
        let timing = Timing::new(&spec.part, spec.geometry.unit_bytes);
        let cycle = (timing.command + timing.read[0] + timing.transfer_units[1]).as_ns();
        let zones = f64::from(spec.zone_geometry().unwrap().unwrap().zones);
        let of = ZoneFlowSpec {
            read_share: 1.0,
            block_size: BlockSize::Fixed(Bytes::kib(4)),
            to: 1.0 / zones,
            ..flow(&spec, 256, 1)
        };
        let mut bench = Bench::new(&spec, full_zones(&spec, 1), &[FlowSpec::zones("r", of)], 1);
        bench.run_for(Duration::from_ms(20));
        let before = bench.host.device.completed();
        bench.run_for(Duration::from_ms(100));
        let reads = bench.host.device.completed() - before;
        let expected = u64::from(width) * 100_000_000 / cycle;
        println!("width {width}: {reads} against {expected}");
        assert!(reads.abs_diff(expected) * 100 <= expected, "width {width}: {reads}, not {expected}");
        bench.finish();
    }
}

#[test]
fn a_reset_ends_with_its_erases_or_at_once() {
    for (reset_end, least, most) in [(ResetEnd::WhenErased, 1_200, 1_300), (ResetEnd::AtOnce, 5, 20)] {
        let mut spec = zoned(2);
        spec.ftl.zones = spec.ftl.zones.map(|zones| ZoneSpec { reset_end, ..zones });
        let mut c = Commands::new(&spec, 1);
        assert_eq!(c.status(Op::Zone(ZoneAction::Reset), 0, 0, 0), Status::Success);
        let took = c.bench.events.now();
        let limits = Duration::from_us(least)..Duration::from_us(most);
        assert!(limits.contains(&took.since(SimTime::ZERO)), "{reset_end:?}: {took}");
        // The zone is empty, whatever becomes of its old blocks.
        assert_eq!(c.status(Op::Write, 0, 0, 6), Status::Success);
        c.finish();
    }
}

#[test]
fn a_saved_state_is_read_back_and_a_damaged_one_is_refused() {
    let spec = zoned(2);
    let mut bytes = Vec::new();
    let mut sink = |piece: &[u8]| {
        bytes.extend_from_slice(piece);
        Ok::<(), io::Error>(())
    };
    full_zones(&spec, 5).save(0, &mut sink).unwrap();
    assert_eq!(bytes.len() as u64, PreconditionedState::file_bytes(&spec, 0));
    let read = |bytes: &[u8]| {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let rng = Streams::new(1).stream("unused", 0);
        let seen = &mut |_: &[u8]| Ok::<(), io::Error>(());
        PreconditionedState::of_file(&spec, rng, &file, 0, true, seen).unwrap()
    };
    let (again, contradiction) = read(&bytes);
    assert_eq!(contradiction, None);
    let mut same = Vec::new();
    let saved: Result<(), io::Error> = again.save(0, &mut |piece| {
        same.extend_from_slice(piece);
        Ok(())
    });
    saved.unwrap();
    assert!(same == bytes);
    // Every number after the P/E cycles but the padding of free lists decides something.
    let cycles = 4 * spec.layout().unwrap().super_blocks() as usize;
    let damaged = (cycles..bytes.len()).step_by(4).filter(|&at| bytes[at..at + 4] != [0xff; 4]);
    for at in damaged.step_by(3) {
        let mut other = bytes.clone();
        other[at] ^= 1;
        assert!(read(&other).1.is_some(), "the number at byte {at} was changed");
    }
}

/// Zones of 100 units that lie 128 apart: nothing can be written between them, and reads there find nothing.
#[test]
fn addresses_beyond_the_capacity_of_a_zone_hold_nothing() {
    let mut spec = zoned(1);
    let (unit, units) = (spec.geometry.unit_bytes, spec.zone_geometry().unwrap().unwrap().units);
    let usable = spec.capacity();
    spec.ftl.zones =
        spec.ftl.zones.map(|of| ZoneSpec { size: Some(Bytes(u64::from(units + 28) * unit)), ..of });
    spec.check().unwrap();
    assert_eq!(spec.capacity(), usable, "the holes are no capacity");
    let zones = u64::from(spec.zone_geometry().unwrap().unwrap().zones);
    assert_eq!(spec.capacity_sectors().unwrap(), zones * u64::from(units + 28) * 8);
    let mut c = Commands::new(&spec, 1);
    let capacity = u64::from(units);
    assert_eq!(c.status(Op::Write, 1, 0, units + 1), Status::ZoneBoundaryError);
    assert_eq!(c.status(Op::Write, 1, capacity, 1), Status::ZoneBoundaryError);
    for unit in 0..capacity {
        assert_eq!(c.run(Op::Append, 1, 0, 1), (Status::Success, Some(unit)));
    }
    assert_eq!(c.state(1), ZoneState::Full);
    let unmapped = c.bench.host.device.counters.unmapped_reads;
    assert_eq!(c.status(Op::Read, 0, capacity - 2, 32), Status::Success);
    // From the second last unit of zone 0 to the second unit of zone 1: 28 units between the zones.
    assert_eq!(c.bench.host.device.counters.unmapped_reads - unmapped, 28);
    assert_eq!(c.status(Op::Zone(ZoneAction::Reset), 1, 0, 0), Status::Success);
    assert_eq!((c.state(0), c.state(1)), (ZoneState::Full, ZoneState::Empty));
    c.finish();
    let too_small = |units: u32| {
        let mut spec = zoned(1);
        spec.ftl.zones =
            spec.ftl.zones.map(|of| ZoneSpec { size: Some(Bytes(u64::from(units) * unit)), ..of });
        spec.check().map_err(|why| why.message)
    };
    assert_eq!(too_small(units), Ok(()));
    assert!(too_small(units - 1).unwrap_err().contains("from the capacity of a zone"));
}

/// A finish that fills its zone takes the programs that are left, one after another on a zone of one lane; the next reset finds
/// all blocks used.
#[test]
fn a_finish_takes_the_programs_of_what_is_left() {
    let spec = |finish_end| {
        let mut spec = wide(1);
        spec.ftl.zones = spec.ftl.zones.map(|of| ZoneSpec { rows: 1, finish_end, ..of });
        spec
    };
    let filled = spec(FinishEnd::WhenFilled);
    let timing = Timing::new(&filled.part, filled.geometry.unit_bytes);
    let loads = 3 * (timing.page_load + timing.buffer_setup).as_ns() + timing.command.as_ns();
    let train = &filled.part.program;
    let program = u64::from(train.loops) * train.loop_time().as_ns() + loads;
    let programs = u64::from(filled.zone_geometry().unwrap().unwrap().programs());
    for written in [0, 6, 7, 24] {
        let mut c = Commands::new(&filled, 0);
        if written > 0 {
            assert_eq!(c.status(Op::Write, 0, 0, written), Status::Success);
        }
        c.idle();
        let before = c.bench.events.now();
        assert_eq!(c.status(Op::Zone(ZoneAction::Finish), 0, 0, 0), Status::Success);
        let took = c.bench.events.now().since(before).as_ns();
        // The last program of 7 units is not complete: it holds one unit, and padding.
        let left = programs - u64::from(written / 6);
        assert!(took.abs_diff(left * program) < 20_000, "{written}: {took} ns, not {left} of {program}");
        let of = c.bench.host.device.zoned().unwrap().zone_counters();
        assert_eq!(of.filling_programs, left - u64::from(written == 7));
        let ftl = c.bench.host.device.ftl_counters();
        assert_eq!((ftl.host_units, ftl.padding_units), (written.into(), programs * 6 - u64::from(written)));
        assert_eq!(c.status(Op::Read, 0, 0, 32), Status::Success);
        assert_eq!(c.status(Op::Zone(ZoneAction::Reset), 0, 0, 0), Status::Success);
        assert_eq!(c.bench.host.device.ftl_counters().erases, 1);
        c.finish();
    }
    let mut c = Commands::new(&spec(FinishEnd::AtOnce), 0);
    let before = c.bench.events.now();
    assert_eq!(c.status(Op::Zone(ZoneAction::Finish), 0, 0, 0), Status::Success);
    assert!(c.bench.events.now().since(before) < Duration::from_us(20));
    c.finish();
}

/// A reset overtakes the finish of its zone: both complete, and the programs under way end before the blocks are erased.
#[test]
fn a_reset_ends_the_finish_of_its_zone() {
    let mut spec = wide(2);
    spec.ftl.zones = spec.ftl.zones.map(|of| ZoneSpec { rows: 1, finish_end: FinishEnd::WhenFilled, ..of });
    let mut c = Commands::new(&spec, 0);
    assert_eq!(c.status(Op::Write, 0, 0, 9), Status::Success);
    let bench = &mut c.bench;
    for action in [ZoneAction::Finish, ZoneAction::Reset] {
        bench.host.submit(&mut bench.events, 0, Tag(0), Request::new(Op::Zone(action), 0, 0));
    }
    bench.run_out();
    assert_eq!(bench.host.device.completed(), 3);
    let of = bench.host.device.zoned().unwrap().zone_counters();
    assert_eq!((of.finishes, of.resets), (1, 1));
    assert!(of.filling_programs <= 2, "{of:?}");
    c.finish();
}
