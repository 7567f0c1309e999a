//! Is anything lost on Open-Channel drives? Small ones with everything drawn at random run flows of vector commands, and commands
//! with any lists at random instants, under full audit; at the end every unit is looked up.

use crate::drive_common::features::with_queues;
use crate::drive_common::zones::full_zones;
use crate::drive_common::{Bench, run_worlds, with_stalls};
use crate::randomised_drives::pick;
use crate::randomised_zones::draw_drive;
use interpulse_drive::DriveSpec;
use interpulse_drive::spec::{Acknowledge, FaultSpec, WearOut};
use interpulse_engine::{Bytes, Device, Op, Request, Rng, Status, Streams, Tag, VectorAction, ZoneAction};
use interpulse_workload::{
    BlockSize, Chunks, FlowSpec, SyntheticPacing, VectorFlowSpec, ZoneFlowSpec, ZoneWrites, Zones,
};

const WORLDS: u32 = 60;
const REQUESTS: u64 = 3_000;

/// Flows of vector commands over equal parts of the first three quarters of the drive.
fn draw_flows(rng: &mut Rng, spec: &DriveSpec, full: u32) -> Vec<FlowSpec> {
    let count = 1 + rng.below(2);
    let unit = spec.geometry.unit_bytes;
    let chunks = spec.zone_geometry().unwrap().unwrap();
    let units = spec.layout().unwrap().lanes;
    let sectors = |units: u32| u64::from(units) * unit / 512;
    let drive = Zones {
        sectors: sectors(chunks.units),
        distance: sectors(chunks.units),
        block: Bytes(unit),
        full: full.into(),
        area: None,
        chunks: Some(Chunks { units, program: sectors(chunks.program) }),
        conventional: 0,
    };
    let mut flow = |k: u64| {
        let share = |k: u64| 0.75 * k as f64 / count as f64;
        let width = pick(rng, &[1, 2, 5]).min(VectorAction::MOST_ADDRESSES / chunks.program);
        let on = pick(rng, &[(0, None), (0, Some(1)), (units - 1, None)]);
        let of = ZoneFlowSpec {
            zones: ZoneWrites::Vector,
            open_zones: width * pick(rng, &[1, 2]),
            pacing: SyntheticPacing::Closed { depth: pick(rng, &[1, 3, 32]) },
            read_share: pick(rng, &[0.0, 0.5, 0.9]),
            overwrites: 0.0,
            vector: Some(VectorFlowSpec { width, places: pick(rng, &[1, 4, 21]), units: on }),
            block_size: BlockSize::Weighted(vec![(Bytes(unit), 3.0), (Bytes(3 * unit), 1.0)]),
            alignment: Bytes(unit),
            from: share(k),
            to: share(k + 1),
            drive,
        };
        let queue = rng.below(spec.host.queue_weights.len() as u64) as u32;
        FlowSpec { queue, ..FlowSpec::zones(&format!("f{k}"), of) }
    };
    (0..count).map(&mut flow).collect()
}

/// What the worlds counted together.
#[derive(Default, Debug)]
struct Counted {
    worlds: u32,
    programmed: u32,
    offline: usize,
    vectors: [u64; 3],
    scattered: u64,
    discarded: u64,
    erase_waits: u64,
    suspends: u64,
    uncorrectable: u64,
    predefined: u64,
    stalled: u64,
    refused: [u64; Status::ERRORS.len() + 1],
}

/// A command with any list: mostly in the last quarter of the drive, which no flow writes, and mostly legal by itself.
fn any_command(rng: &mut Rng, bench: &mut Bench, tag: Tag) {
    let sectors = bench.host.device.spec().geometry.unit_bytes / 512;
    let ftl = bench.host.device.zoned().unwrap();
    let (units, program) = (u64::from(ftl.geometry().units), u64::from(ftl.geometry().program));
    let chunks = u64::from(ftl.geometry().zones);
    let from = if rng.below(8) == 0 { 0 } else { chunks * 3 / 4 };
    let mut list = Vec::new();
    let action = VectorAction::ALL[rng.below(3) as usize];
    for _ in 0..=rng.below(3) {
        let chunk = from + rng.below(chunks - from);
        let written = u64::from(ftl.states().all()[chunk as usize].written);
        let first = match action {
            VectorAction::Read => rng.below(units),
            VectorAction::Reset => rng.below(20) / 19,
            VectorAction::Write => written + rng.below(12) / 11,
        };
        let count = if action == VectorAction::Write { (program - rng.below(15) / 14).max(1) } else { 1 };
        list.extend((first..first + count).map(|unit| (chunk * units + unit) * sectors));
    }
    if rng.below(6) > 0 {
        return bench.submit_vector(tag, action, &list);
    }
    // The same as a command with one address.
    let op = match action {
        VectorAction::Read => Op::Read,
        VectorAction::Write => Op::Write,
        VectorAction::Reset => {
            Op::Zone(pick(rng, &[ZoneAction::Reset, ZoneAction::Report, ZoneAction::Close]))
        }
    };
    let length = match op {
        Op::Zone(ZoneAction::Report) => 8,
        Op::Zone(_) => 0,
        Op::Write => program * sectors,
        _ => sectors,
    };
    let last = chunks * units * sectors - length;
    let request = Request::new(op, list[0].min(last), length as u32);
    bench.host.submit(&mut bench.events, 0, tag, request);
}

/// Draws and runs the world of `seed`; false if the values drawn do not make a drive.
fn world(seed: u64, counted: &mut Counted) -> bool {
    let mut rng = Streams::new(seed).stream("test.chunks", 0);
    let Some(mut spec) = draw_drive(&mut rng, "open-channel") else { return false };
    if rng.below(3) == 0 {
        spec.cache.acknowledge = Acknowledge::WhenProgrammed;
    }
    if rng.below(4) == 0 {
        spec.part.endurance = 3;
        spec.faults = Some(FaultSpec { wear_out: WearOut::Equal, ..FaultSpec::NONE });
    }
    with_stalls(&mut spec, Streams::new(seed).stream("test.stalls", 0));
    with_queues(&mut spec, Streams::new(seed).stream("test.queues", 0));
    if spec.check().is_err() {
        return false;
    }
    let chunks = spec.zone_geometry().unwrap().unwrap().zones;
    let full = rng.below(u64::from(chunks) + 1) as u32;
    let flows = draw_flows(&mut rng, &spec, full);
    println!("world {seed}: {full} of {chunks} chunks are closed\n{spec:#?}\n{flows:#?}");
    let first = interpulse_engine::ResourceId(0);
    let state = full_zones(&spec, full);
    let drive = interpulse_drive::Drive::new(spec.clone(), state, seed, first, flows.len() as u32);
    // A region may have fewer chunks than its flow opens.
    let Ok(host) = interpulse_host::Host::new(drive, &flows, seed, ()) else { return false };
    let mut bench = Bench { events: interpulse_engine::EventQueue::new(host.device.resources().end), host };
    bench.host.start(&mut bench.events).unwrap();
    while bench.host.device.completed() < REQUESTS {
        bench.run_requests(1 + rng.below(30));
        any_command(&mut rng, &mut bench, Tag(flows.len() as u32));
    }
    bench.host.close();
    bench.run_out();
    bench.host.device.read_everything();
    bench.finish();
    let (drive, window) = (&bench.host.device, &bench.host.window);
    let (ftl, zoned) = (drive.ftl_counters(), drive.zoned().unwrap());
    assert_eq!((ftl.padding_units, ftl.gc_units), (0, 0), "nothing is padded or moved");
    assert_eq!(ftl.programmed(), ftl.host_units);
    let of = zoned.zone_counters();
    counted.worlds += 1;
    counted.programmed += u32::from(spec.cache.acknowledge.waits_for_programs());
    let is_offline = |zone: &&interpulse_drive::ftl::zoned::state::ZoneDescriptor| zone.state.has_failed();
    counted.offline += zoned.states().all().iter().filter(is_offline).count();
    let vectors = [of.vector_reads, of.vector_writes, of.vector_resets];
    (0..3).for_each(|k| counted.vectors[k] += vectors[k]);
    counted.scattered += of.vector_addresses;
    counted.discarded += of.discarded_units;
    counted.erase_waits += of.erase_waits;
    counted.suspends += drive.nand().counters.program_suspends + drive.nand().counters.erase_suspends;
    counted.stalled += drive.stalls().unwrap_or(0);
    counted.uncorrectable += window.uncorrectable_reads;
    counted.predefined += drive.counters.unmapped_reads;
    for (to, k) in counted.refused.iter_mut().zip(0..) {
        *to += window.refused.writes[k] + window.refused.others[k];
    }
    true
}

#[test]
fn open_channel_drives_lose_nothing() {
    let mut counted = Counted::default();
    run_worlds(0, WORLDS as usize, |seed| world(seed, &mut counted));
    println!("{counted:#?}");
    assert!(counted.vectors.iter().all(|&n| n > 1_000) && counted.suspends > 1_000, "{counted:?}");
    assert!(counted.programmed > 5 && counted.offline > 10 && counted.stalled > 20, "{counted:?}");
    let rare = [counted.uncorrectable, counted.discarded, counted.erase_waits, counted.predefined];
    assert!(rare.iter().all(|&n| n > 0), "{counted:?}");
    let refused = [
        Status::InvalidField,
        Status::InvalidOpcode,
        Status::WriteFault,
        Status::OutOfOrderWrite,
        Status::InvalidReset,
        Status::OfflineChunk,
    ];
    for status in refused {
        assert!(counted.refused[status as usize] > 0, "{status:?}: {counted:?}");
    }
}
