//! Do requests above the transfer limit, Write Zeroes and Compare take the time and the flash operations that they should?

use crate::drive_common::{Bench, closed, filled, little, mix};
use interpulse_drive::spec::{Acknowledge, DriveSpec, WriteZeroes};
use interpulse_engine::account::Cause;
use interpulse_engine::{Bytes, Device, Duration, Op, Request, SimTime, Tag};
use interpulse_flash::geometry::UNIT_BYTES;
use interpulse_workload::{BlockSize, FlowSpec, SyntheticSpec};

/// Link time of a command (72 bytes with its doorbell), and of 4 KiB of data to the drive: PCIe 3 x4 moves a byte in 261.8 ps, and one of data in
/// 286.3 ps.
const COMMAND: u64 = 19;
const DATA_IN: u64 = 1173;
/// Link time of a completion (16 bytes), and of 16 KiB of data with one.
const COMPLETION: u64 = 5;
const OUT_16K: u64 = 4696;
const FIRMWARE: u64 = 5000;
const DRAM: u64 = 500;

/// Submits `request` to an idle drive; returns its latency in ns.
fn latency(bench: &mut Bench, request: Request) -> u64 {
    let (from, completed) = (bench.events.now(), bench.host.device.completed());
    bench.host.submit(&mut bench.events, 0, Tag(7), request);
    assert_eq!(bench.host.device.outstanding(), 1, "one request, however many commands");
    while bench.host.device.completed() == completed {
        assert!(bench.step(bench.events.horizon()), "{}", bench.host.device.diagnosis(&bench.events));
    }
    bench.events.now().since(from).as_ns()
}

fn bench(spec: &DriveSpec, share: f64) -> Bench {
    Bench::new(spec, filled(spec, share), &[], 1)
}

fn at_most(limit: Bytes) -> DriveSpec {
    let mut spec = little();
    spec.host.max_transfer = Some(limit);
    spec
}

const KIB: u64 = 1024;

fn request(op: Op, from: u64, bytes: u64) -> Request {
    Request::new(op, from / 512, (bytes / 512) as u32)
}

// ---- transfer limit -----------------------------------------------------------------------------------

/// Nothing is mapped, so each command takes its way through link, firmware and DRAM, and the data leaves one after the other.
#[test]
fn a_split_read_ends_with_its_last_command() {
    for (bytes, commands) in [(16, 1), (32, 2), (64, 4), (60, 4)] {
        let mut bench = bench(&at_most(Bytes::kib(16)), 0.0);
        let full = COMMAND + FIRMWARE + DRAM + (bytes / 16) * OUT_16K;
        let last = if bytes == 60 { 12 * OUT_16K / 16 } else { 0 };
        let taken = latency(&mut bench, request(Op::Read, 0, bytes * KIB));
        assert!(
            taken.abs_diff(full + last) <= u64::from(last > 0) * 4,
            "{bytes} KiB: {taken} ns, {full} + {last}"
        );
        let (drive, host) = (bench.host.device.counters, bench.host.window.counters);
        let split = if commands > 1 { [1, commands] } else { [0, 0] };
        assert_eq!([drive.split_requests, drive.split_commands], split);
        assert_eq!([host.requests, host.read_bytes], [1, bytes * KIB]);
        assert_eq!(drive.unmapped_reads, bytes / 4);
        let causes = bench.host.window.read_attribution.total();
        assert_eq!((causes.requests, causes.total_ns()), (1, u128::from(taken)));
        assert_eq!(causes.by_cause[Cause::Firmware as usize], u128::from(FIRMWARE), "of the last command");
        assert_eq!(bench.finish().requests, 1);
    }
}

/// A frame buffer of one command: each one is fetched when the one before it has left.
#[test]
fn commands_of_a_request_wait_for_one_another_in_the_queue() {
    let mut spec = at_most(Bytes::kib(16));
    spec.host.frame_buffer = 1;
    let mut bench = bench(&spec, 0.0);
    let one = COMMAND + FIRMWARE + DRAM + OUT_16K;
    assert_eq!(latency(&mut bench, request(Op::Read, 0, 64 * KIB)), 4 * one);
    let causes = bench.host.window.read_attribution.total();
    assert_eq!(causes.by_cause[Cause::Queue as usize], u128::from(3 * one));
    bench.finish();
}

/// A queue of `depth` commands: the others wait in the host, behind those of the request before, and enter it in order. What is
/// in the queue and what waits are requests, however many commands are left of them.
#[test]
fn commands_without_a_place_in_the_queue_wait_in_the_host() {
    for depth in [1, 2, 3, 4, 5, 8, 11, 12] {
        let mut spec = at_most(Bytes::kib(16));
        (spec.host.queue_depth, spec.host.frame_buffer) = (depth, 1);
        spec.host.command_timeout = Some(Duration::from_us(1));
        let mut bench = bench(&spec, 0.0);
        let one = COMMAND + FIRMWARE + DRAM + OUT_16K;
        for (k, bytes) in [64, 16, 64, 48].into_iter().enumerate() {
            let of = request(Op::Read, 1024 * KIB * k as u64, bytes * KIB);
            bench.host.submit(&mut bench.events, 0, Tag(7), of);
        }
        let mut ends = Vec::new();
        let overdue = bench.host.device.overdue(SimTime(2000)).command_timeouts_read;
        assert_eq!((overdue, bench.host.device.outstanding()), (4 + 1 + 4 + 3, 4), "depth {depth}");
        while ends.len() < 4 {
            let completed = bench.host.device.completed();
            assert!(bench.step(bench.events.horizon()), "{}", bench.host.device.diagnosis(&bench.events));
            if bench.host.device.completed() > completed {
                ends.push(bench.events.now().as_ns());
            }
            let mut outstanding = 0;
            bench.host.device.for_outstanding(&mut |op, at| {
                assert_eq!((op, at), (Op::Read, SimTime::ZERO));
                outstanding += 1;
            });
            assert_eq!([outstanding, bench.host.device.outstanding()], [4 - ends.len(); 2], "depth {depth}");
            let done = bench.host.device.counters.command_timeouts_read;
            let late = bench.host.device.overdue(SimTime(1_000_000)).command_timeouts_read;
            assert_eq!(done + late, 12, "depth {depth}");
        }
        // With one place in the queue it is empty while the controller works.
        assert_eq!(ends, [4, 5, 9, 12].map(|commands| commands * one), "depth {depth}");
        assert_eq!(bench.finish().requests, 4);
    }
}

/// The first command ends at a multiple of the limit's units, so that only the two ends of the request are partial units.
#[test]
fn commands_after_the_first_begin_with_a_unit() {
    let mut bench = bench(&at_most(Bytes::kib(16)), 1.0);
    latency(&mut bench, request(Op::Write, 2 * KIB, 64 * KIB));
    let counters = bench.host.device.counters;
    assert_eq!([counters.split_commands, counters.read_modify_writes], [5, 2]);
    assert_eq!(bench.host.window.counters.written_bytes, 64 * KIB);
    bench.finish();
}

/// Split or not, a write stores the same units, and a trim has no data to split.
#[test]
fn the_limit_changes_neither_what_is_written_nor_trims() {
    let run = |spec: &DriveSpec| {
        let mut bench = bench(spec, 1.0);
        latency(&mut bench, request(Op::Write, 0, 256 * KIB));
        latency(&mut bench, request(Op::Trim, 256 * KIB, 256 * KIB));
        latency(&mut bench, request(Op::WriteZeroes, 512 * KIB, 256 * KIB));
        latency(&mut bench, Request::FLUSH);
        let counters = bench.host.device.counters;
        let ftl = bench.host.device.ftl_counters();
        bench.finish();
        (ftl.host_units, counters.trimmed_units, counters.zeroed_units_deallocated, counters.split_requests)
    };
    assert_eq!(run(&little()), (64, 64, 64, 0));
    assert_eq!(run(&at_most(Bytes::kib(32))), (64, 64, 64, 1));
}

/// Queue depth and completions count requests, not commands.
#[test]
fn littles_law_holds_for_split_requests() {
    let spec = at_most(Bytes::kib(8));
    let large = SyntheticSpec { block_size: BlockSize::Fixed(Bytes::kib(64)), ..mix(0.5) };
    let mut b = Bench::new(&spec, filled(&spec, 1.0), &[closed("f", 4, large)], 1);
    b.run_for(Duration::from_ms(20));
    b.host.begin_window();
    let window = Duration::from_ms(200);
    b.run_for(window);
    assert_eq!(b.host.device.outstanding(), 4);
    let (sum, expected) = (b.host.window.flows[0].all().sum_ns(), 4 * u128::from(window.as_ns()));
    let requests = b.host.window.counters.requests;
    b.finish();
    let edge = 4 * u128::from(b.host.window.flows[0].all().max().unwrap().as_ns());
    assert!(requests > 100 && sum.abs_diff(expected) <= edge && 2 * edge < expected, "{sum} of {expected}");
}

// ---- Compare ------------------------------------------------------------------------------------------

/// A comparison moves its data in where a read moves it out: on an idle drive both take the same time to the nanosecond, because
/// 1173 ns in and 5 ns for the completion are 1178 ns for data with a completion.
#[test]
fn a_comparison_takes_the_time_of_a_read() {
    let run = |op| {
        let mut bench = bench(&little(), 1.0);
        let taken = latency(&mut bench, request(op, 8 * KIB, 4 * KIB));
        let causes = bench.host.window.read_attribution.total();
        let (host, flash) = (bench.host.window.counters, bench.host.device.nand().counters.host_reads);
        bench.finish();
        (taken, causes.by_cause, host.read_bytes, flash, host.compared_bytes)
    };
    let (read, compared) = (run(Op::Read), run(Op::Compare));
    assert_eq!((read.0, read.1, read.2, read.3), (compared.0, compared.1, compared.2, compared.3));
    assert_eq!((read.4, compared.4), (0, 4 * KIB));
    assert_eq!(compared.1[Cause::Link as usize], u128::from(COMMAND + DATA_IN + COMPLETION));
}

/// What is not mapped is compared in DRAM, and a comparison reads several pages as a read does.
#[test]
fn comparisons_read_what_reads_would() {
    let mut empty = bench(&little(), 0.0);
    let taken = latency(&mut empty, request(Op::Compare, 0, 4 * KIB));
    assert_eq!(taken, COMMAND + FIRMWARE + DATA_IN + DRAM + COMPLETION);
    assert_eq!(empty.host.device.counters.unmapped_reads, 1);
    empty.finish();
    let flash_reads = |op| {
        let mut bench = bench(&little(), 1.0);
        latency(&mut bench, request(op, 0, 128 * KIB));
        bench.finish();
        bench.host.device.nand().counters.host_reads
    };
    assert_eq!(flash_reads(Op::Compare), flash_reads(Op::Read));
}

/// Reads fill one direction of the link and comparisons the other.
#[test]
fn comparisons_use_the_other_direction_of_the_link() {
    let spec = little();
    let rate = |read_share: f64| {
        let compare_share = 1.0 - read_share;
        let of = SyntheticSpec {
            read_share,
            compare_share,
            write_share: 0.0,
            block_size: BlockSize::Fixed(Bytes::kib(128)),
            ..SyntheticSpec::default()
        };
        let mut b = Bench::new(&spec, filled(&spec, 0.0), &[closed("f", 64, of)], 1);
        b.run_for(Duration::from_ms(5));
        b.host.begin_window();
        b.run_for(Duration::from_ms(100));
        let bytes = b.host.window.counters.read_bytes;
        b.finish();
        bytes as f64 / 0.1
    };
    let (reads, compared, both) = (rate(1.0), rate(0.0), rate(0.5));
    let payload = spec.host.link.payload_rate();
    for alone in [reads, compared] {
        assert!((alone / payload - 1.0).abs() < 0.01, "{alone} of {payload}");
    }
    // Half of each at random: the direction with more requests outstanding limits.
    assert!((1.7..2.0).contains(&(both / payload)), "{both} of {payload}");
}

// ---- Write Zeroes -------------------------------------------------------------------------------------

/// Whole units are deallocated at once: no data on the link, no program.
#[test]
fn zeroes_deallocate_whole_units() {
    let mut bench = bench(&little(), 1.0);
    let taken = latency(&mut bench, request(Op::WriteZeroes, 0, 256 * KIB));
    assert_eq!(taken, COMMAND + FIRMWARE + COMPLETION);
    latency(&mut bench, request(Op::Read, 0, 256 * KIB));
    let counters = bench.host.device.counters;
    assert_eq!([counters.zeroed_units_deallocated, counters.zeroed_units_written], [64, 0]);
    assert_eq!([counters.unmapped_reads, counters.trimmed_units], [64, 0]);
    assert_eq!(bench.host.device.ftl_counters().host_units, 0);
    assert_eq!(bench.host.window.counters.written_bytes, 0);
    bench.finish();
}

/// Units that the command covers in part keep the rest: they are read and written, and those between are deallocated.
#[test]
fn zeroes_write_the_units_that_they_cover_in_part() {
    for (from, bytes, deallocated, written, read) in [
        (2, 4, 0, 2, 2),
        (2, 8, 1, 2, 2),
        (2, 64, 15, 2, 2),
        (1, 2, 0, 1, 1),
        (0, 6, 1, 1, 1),
        (2, 6, 1, 1, 1),
        (4, 4, 1, 0, 0),
    ] {
        for acknowledge in [Acknowledge::DEFAULT, Acknowledge::WhenProgrammed] {
            let mut spec = little();
            spec.cache.acknowledge = acknowledge;
            let mut bench = bench(&spec, 1.0);
            latency(&mut bench, request(Op::WriteZeroes, from * KIB, bytes * KIB));
            let c = bench.host.device.counters;
            let counted = (c.zeroed_units_deallocated, c.zeroed_units_written, c.read_modify_writes);
            assert_eq!(counted, (deallocated, written, read), "{bytes} KiB from {from} KiB");
            latency(&mut bench, Request::FLUSH);
            assert_eq!(bench.host.device.ftl_counters().host_units, written);
            let covered = (from + bytes).div_ceil(4) - from / 4;
            latency(&mut bench, request(Op::Read, from / 4 * 4 * KIB, covered * 4 * KIB));
            assert_eq!(bench.host.device.counters.unmapped_reads, deallocated);
            bench.finish();
        }
    }
}

/// The same commands as data: every unit is written, and the latency does not depend on the length.
#[test]
fn zeroes_as_data_are_written_without_a_transfer() {
    let mut spec = little();
    spec.host.write_zeroes = WriteZeroes::Write;
    let mut bench = bench(&spec, 1.0);
    for bytes in [4, 64, 256] {
        let taken = latency(&mut bench, request(Op::WriteZeroes, 1024 * KIB, bytes * KIB));
        assert_eq!(taken, COMMAND + FIRMWARE + DRAM + COMPLETION);
        latency(&mut bench, Request::FLUSH);
    }
    latency(&mut bench, request(Op::WriteZeroes, 2 * KIB, 8 * KIB));
    latency(&mut bench, Request::FLUSH);
    let counters = bench.host.device.counters;
    assert_eq!([counters.zeroed_units_deallocated, counters.zeroed_units_written], [0, 1 + 16 + 64 + 3]);
    assert_eq!(counters.read_modify_writes, 2);
    assert_eq!(bench.host.device.ftl_counters().host_units, 1 + 16 + 64 + 3);
    bench.finish();
}

/// Edges that wait for slots of a cache which is full of other writes.
#[test]
fn edges_of_zeroes_wait_for_cache_slots() {
    let mut spec = little();
    let layout = spec.layout().unwrap();
    spec.cache.size = Bytes(u64::from(2 * layout.units_per_program * layout.lanes) * UNIT_BYTES);
    let small = |size: u64| BlockSize::Fixed(Bytes(size));
    let zeroes = SyntheticSpec {
        read_share: 0.0,
        write_share: 0.0,
        zeroes_share: 1.0,
        block_size: small(19 * 512),
        alignment: Bytes(512),
        ..SyntheticSpec::default()
    };
    let writes = SyntheticSpec { block_size: small(64 * KIB), ..mix(0.0) };
    let limited = |flow: FlowSpec| FlowSpec { stop: Some(SimTime(300_000_000)), ..flow };
    let flows = [limited(closed("zeroes", 16, zeroes)), limited(closed("writes", 16, writes))];
    let mut b = Bench::new(&spec, filled(&spec, 1.0), &flows, 1);
    b.run_out();
    let counters = b.host.device.counters;
    assert!(counters.cache_stalls > 200 && counters.zeroed_units_written > 200, "{counters:?}");
    assert!(counters.zeroed_units_deallocated > 200, "{counters:?}");
    b.finish();
}
