//! Does an Open-Channel drive execute lists of addresses in the time that follows from its dies, and refuse what chunks do not admit?

use crate::drive_common::zones::{Commands, chunks, full_zones};
use crate::drive_common::{Bench, Cells, of_part, part};
use interpulse_drive::DriveSpec;
use interpulse_drive::ftl::zoned::spec::ZoneSpec;
use interpulse_drive::ftl::zoned::state::ZoneState;
use interpulse_drive::spec::{Acknowledge, FaultSpec, WearOut};
use interpulse_engine::{Device, Duration, Op, Status, Tag, VectorAction, ZoneAction};
use interpulse_flash::geometry::Timing;

/// Units of a program of the little part, and of its blocks.
const PROGRAM: u64 = 6;
const CHUNK: u64 = 48;

/// A drive of the little part with chunks, on `channels` channels of `chips` dies.
fn chunked(channels: u32, chips: u32) -> DriveSpec {
    let mut spec = of_part(part(Cells::Tlc, 1, 24, 8), channels, chips, 1);
    spec.ftl.zones = Some(chunks());
    spec
}

impl Commands {
    /// Status of a vector command on units, each of a chunk, and the time that it takes.
    fn vector(&mut self, action: VectorAction, units: &[(u64, u64)]) -> (Status, Duration) {
        let from = self.bench.events.now();
        let units: Vec<u64> = units.iter().map(|(chunk, unit)| chunk * self.zone / 8 + unit).collect();
        let done = self.bench.execute_vector(action, &units);
        (done.status, self.bench.events.now().since(from))
    }

    /// As [`Commands::vector`] of a write of programs, each from a unit of a chunk on.
    fn write_programs(&mut self, programs: &[(u64, u64)]) -> (Status, Duration) {
        let of = |&(chunk, first): &(u64, u64)| (first..first + PROGRAM).map(move |unit| (chunk, unit));
        self.vector(VectorAction::Write, &programs.iter().flat_map(of).collect::<Vec<_>>())
    }

    fn chunk_state(&self, chunk: usize) -> ZoneState {
        self.bench.host.device.zoned().unwrap().states().all()[chunk].state
    }

    fn end(mut self) {
        self.idle();
        self.bench.host.device.read_everything();
        self.bench.finish();
    }
}

/// Of a read of N addresses, from the dies: without the link and the firmware, which a read of N addresses without data has too.
/// A page read has command, sensing and transfer of a unit; a die does one after another. Dies of a channel sense at the same
/// time and transfer one after another.
#[test]
fn a_vector_read_takes_as_long_as_its_busiest_die() {
    let spec = chunked(4, 2);
    let timing = Timing::new(&spec.part, spec.geometry.unit_bytes);
    let (command, sensing, transfer) = (timing.command, timing.read[0], timing.transfer_units[1]);
    let page = command + sensing + transfer;
    assert!(transfer > command, "the bus waits for no sensing but the first");
    let mut c = Commands::new(&spec, 16);
    // Chunks 0 to 3 are on channels of their own, chunk 4 on the other die of the first one. Chunks from 16 on are free.
    let cases: [(&[(u64, u64)], Duration); 6] = [
        (&[(0, 0)], page),
        (&[(0, 0), (1, 0), (2, 0), (3, 0)], page),
        (&[(0, 0), (0, 6), (0, 12), (0, 18)], page * 4),
        (&[(0, 0), (8, 6)], page * 2),
        (&[(0, 0), (4, 0)], page + transfer),
        (&[(0, 0), (0, 1)], command + sensing + timing.transfer_units[2]),
    ];
    for (units, expected) in cases {
        let free: Vec<(u64, u64)> = units.iter().map(|&(chunk, unit)| (16 + chunk, unit)).collect();
        let (status, with_data) = c.vector(VectorAction::Read, units);
        let (predefined, without) = c.vector(VectorAction::Read, &free);
        assert_eq!((status, predefined), (Status::Success, Status::Success));
        // One passes the decoder, the other the memory of the controller.
        let found = with_data + spec.cache.latency - without - spec.nand.ecc_latency;
        assert_eq!(found, expected, "{units:?}");
    }
    let counters = c.bench.host.device.zoned().unwrap().zone_counters();
    assert_eq!((counters.vector_reads, counters.vector_addresses), (12, 2 * (1 + 4 + 4 + 2 + 2 + 2)));
    assert_eq!(c.bench.host.device.counters.unmapped_reads, 15);
    c.end();
}

/// A write that completes with its programs takes as long as those of one die: loads of three pages, then the pulses.
#[test]
fn a_vector_write_programs_its_parallel_units_at_the_same_time() {
    let cached = chunked(4, 1);
    let programmed = DriveSpec {
        cache: interpulse_drive::spec::CacheSpec { acknowledge: Acknowledge::WhenProgrammed, ..cached.cache },
        ..cached.clone()
    };
    let timing = Timing::new(&cached.part, cached.geometry.unit_bytes);
    let train = &cached.part.program;
    let program = (timing.page_load + timing.buffer_setup) * 3
        + timing.command
        + Duration::from_ns(u64::from(train.loops) * train.loop_time().as_ns());
    let cases: [(&[(u64, u64)], u64); 3] =
        [(&[(0, 0)], 1), (&[(1, 0), (2, 0), (3, 0), (4, 0)], 1), (&[(5, 0), (5, 6)], 2)];
    let (mut a, mut b) = (Commands::new(&cached, 0), Commands::new(&programmed, 0));
    for (programs, times) in cases {
        let ((first, at_once), (second, late)) = (a.write_programs(programs), b.write_programs(programs));
        assert_eq!((first, second), (Status::Success, Status::Success));
        a.idle();
        let found = late + cached.cache.latency - at_once;
        assert_eq!(found, program * times, "{programs:?}");
    }
    for of in [&a, &b] {
        let ftl = of.bench.host.device.ftl_counters();
        assert_eq!((ftl.host_units, ftl.padding_units), (7 * PROGRAM, 0), "write amplification of 1");
    }
    a.end();
    b.end();
}

#[test]
fn commands_that_chunks_do_not_admit_are_refused_as_a_whole() {
    let mut spec = chunked(2, 2);
    spec.ftl.zones = Some(ZoneSpec { max_active: 2, ..chunks() });
    let mut c = Commands::new(&spec, 4);
    assert_eq!(c.zone / 8, CHUNK);
    let write = |c: &mut Commands, programs: &[(u64, u64)]| c.write_programs(programs).0;
    assert_eq!(write(&mut c, &[(0, 0)]), Status::WriteFault, "closed");
    assert_eq!(write(&mut c, &[(4, 6)]), Status::OutOfOrderWrite);
    assert_eq!(write(&mut c, &[(4, 0), (5, 6)]), Status::OutOfOrderWrite);
    assert_eq!(c.chunk_state(4), ZoneState::Empty, "the rest of a refused list is not written either");
    assert_eq!(c.vector(VectorAction::Write, &[(4, 0), (4, 1)]).0, Status::InvalidField, "no whole program");
    assert_eq!(write(&mut c, &[(4, 0), (5, 0), (6, 0)]), Status::WriteFault, "three open chunks of two");
    assert_eq!(write(&mut c, &[(4, 0), (5, 0), (4, 6)]), Status::Success);
    assert_eq!(write(&mut c, &[(4, 6)]), Status::OutOfOrderWrite, "written");
    assert_eq!(write(&mut c, &[(6, 0)]), Status::WriteFault, "both chunks are open");
    assert_eq!(c.vector(VectorAction::Reset, &[(6, 0)]).0, Status::InvalidReset, "free");
    assert_eq!(c.vector(VectorAction::Reset, &[(4, 6)]).0, Status::InvalidField, "no start of a chunk");
    assert_eq!(c.vector(VectorAction::Reset, &[(4, 0), (4, 0)]).0, Status::InvalidReset);
    assert_eq!(c.vector(VectorAction::Read, &[(0, 0); 65]).0, Status::InvalidField, "too many addresses");
    let beyond = c.bench.host.device.layout().units() / CHUNK + 1;
    assert_eq!(c.vector(VectorAction::Read, &[(beyond, 0)]).0, Status::InvalidField, "no address");
    assert_eq!(c.status(Op::Append, 4, 0, 6), Status::InvalidOpcode);
    assert_eq!(c.status(Op::Zone(ZoneAction::Finish), 4, 0, 0), Status::InvalidOpcode);
    assert_eq!(c.status(Op::Write, 4, 12, 6), Status::Success, "a write of consecutive addresses");
    assert_eq!(c.status(Op::Write, 4, 18, 1), Status::InvalidField);
    // A reset takes one erase, two on different dies no longer.
    c.idle();
    let (status, one) = c.vector(VectorAction::Reset, &[(0, 0)]);
    assert_eq!((status, c.chunk_state(0)), (Status::Success, ZoneState::Empty));
    c.idle();
    let (status, both) = c.vector(VectorAction::Reset, &[(1, 0), (2, 0)]);
    assert_eq!((status, both), (Status::Success, one));
    assert_eq!(c.vector(VectorAction::Reset, &[(4, 0), (5, 0)]).0, Status::Success);
    assert_eq!(write(&mut c, &[(0, 0), (4, 0)]), Status::Success);
    assert_eq!(c.status(Op::Read, 0, 0, PROGRAM as u32), Status::Success);
    c.end();
}

/// As a zone goes Offline when its lane has too few blocks (`zone_failures`): each block is erased once, its second erase fails.
#[test]
fn a_chunk_goes_offline_when_its_parallel_unit_has_too_few_blocks() {
    let mut spec = chunked(2, 2);
    spec.part.endurance = 1;
    spec.faults = Some(FaultSpec { wear_out: WearOut::Equal, ..FaultSpec::NONE });
    let mut c = Commands::new(&spec, 0);
    let offline =
        |c: &Commands| (0..64).filter(|&k| c.chunk_state(k) == ZoneState::Offline).collect::<Vec<_>>();
    for _ in 0..24 + 8 + 1 {
        assert_eq!(c.write_programs(&[(0, 0)]).0, Status::Success);
        assert_eq!(c.vector(VectorAction::Reset, &[(0, 0)]).0, Status::Success);
    }
    assert_eq!(offline(&c), [60], "the last free one of the first parallel unit");
    assert_eq!(c.write_programs(&[(1, 0), (60, 0)]).0, Status::OfflineChunk);
    assert_eq!(c.vector(VectorAction::Read, &[(1, 0), (60, 0)]).0, Status::OfflineChunk);
    assert_eq!(c.vector(VectorAction::Reset, &[(60, 0)]).0, Status::OfflineChunk);
    assert_eq!(c.write_programs(&[(1, 0), (56, 0)]).0, Status::Success);
    c.end();
}

/// Resets that are executed while data of their chunk is on its way, in the cache and in programs.
#[test]
fn a_reset_that_overtakes_writes_ends_them() {
    for acknowledge in [Acknowledge::DEFAULT, Acknowledge::WhenProgrammed] {
        let mut spec = chunked(2, 2);
        spec.cache.acknowledge = acknowledge;
        let mut bench = Bench::new(&spec, full_zones(&spec, 0), &[], 1);
        for pause in 0..40 {
            for program in 0..4 {
                let units: Vec<u64> = (0..PROGRAM).map(|k| 8 * (program * PROGRAM + k)).collect();
                bench.submit_vector(Tag(0), VectorAction::Write, &units);
                bench.run_for(Duration::from_us(3));
            }
            bench.run_for(Duration::from_us(pause * 10));
            bench.submit_vector(Tag(0), VectorAction::Reset, &[0]);
            bench.run_while(|bench| bench.host.device.outstanding() > 0);
        }
        bench.host.device.read_everything();
        let counters = bench.host.device.zoned().unwrap().zone_counters();
        assert_eq!((counters.vector_writes, counters.vector_resets), (160, 40));
        bench.finish();
    }
}
