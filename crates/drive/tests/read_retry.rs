//! Do bit errors come through to the host, and does every nanosecond of a repeated read have its cause?

use crate::drive_common::*;
use interpulse_drive::FtlState;
use interpulse_drive::numbers::SuperBlock;
use interpulse_drive::spec::DriveSpec;
use interpulse_engine::account::Cause;
use interpulse_engine::{Bytes, Duration};
use interpulse_flash::errors::{ErrorSpec, InitialAges};
use interpulse_flash::geometry::BlockAddress;
use interpulse_workload::{BlockSize, SyntheticSpec};
use std::sync::Arc;

fn with(errors: ErrorSpec) -> DriveSpec {
    let mut spec = little();
    spec.nand.errors = Some(Arc::new(errors));
    spec
}

/// Single units read from a full drive.
fn reads(spec: &DriveSpec, depth: u32, count: u64) -> Bench {
    let mut b = Bench::new(spec, filled(spec, 1.0), &[closed("r", depth, mix(1.0))], 1);
    b.run_requests(count);
    b.host.close();
    b.run_out();
    b
}

/// 63 errors expected of 80 corrected: one read in about twenty is repeated.
const SOME: [f64; 2] = [7.7e-3, 1e-4];

#[test]
fn what_repeated_reads_took_is_their_retry_and_shows_in_the_tail() {
    let mut b = reads(&with(errors(3, &SOME)), 4, 40_000);
    b.finish();
    let counted = b.host.device.nand().reliability().unwrap().counters;
    let retried = counted.host_reads_retried as f64 / counted.reads as f64;
    assert!((0.02..0.12).contains(&retried), "{retried}");
    let total = b.host.window.read_attribution.total();
    assert_eq!(total.by_cause[Cause::Retry as usize], u128::from(counted.host_retry_time));
    let tail = b.host.window.read_attribution.slowest(1000).unwrap();
    let share = tail.sums.by_cause[Cause::Retry as usize] as f64 / tail.sums.total_ns() as f64;
    assert!(share > 0.2, "{share}");
    let clean = reads(&little(), 4, 40_000);
    let worst = |b: &Bench| b.host.window.flows[0].read.percentile(0.999).unwrap();
    assert!(worst(&b) > worst(&clean) + Duration::from_us(30), "{} {}", worst(&b), worst(&clean));
}

/// Without a single error nothing changes, to the nanosecond.
#[test]
fn a_table_of_zeros_changes_nothing_for_reads() {
    let (with_table, without) = (reads(&with(errors(3, &[0.0])), 16, 20_000), reads(&little(), 16, 20_000));
    let of = |b: &Bench| content(&b.host.window.flows[0].read);
    assert_eq!(of(&with_table), of(&without));
}

#[test]
fn what_nothing_corrects_completes_with_an_error() {
    let mut spec = errors(3, &[0.5]);
    spec.ecc.max_retries = 1;
    let mut b = reads(&with(spec.clone()), 4, 500);
    assert_eq!(b.host.window.uncorrectable_reads, b.host.window.counters.requests);
    b.finish();
    let counted = b.host.device.nand().reliability().unwrap().counters;
    // Four codewords of 1 KiB in each unit.
    assert_eq!(counted.uncorrectable_codewords * 8192, counted.bits);
    // Writes of half a unit have to read the rest of it.
    let half = Bytes(2048);
    let writes = SyntheticSpec { block_size: BlockSize::Fixed(half), alignment: half, ..mix(0.0) };
    let spec = with(spec);
    let mut b = Bench::new(&spec, filled(&spec, 1.0), &[closed("w", 1, writes)], 1);
    b.run_requests(200);
    let failed = b.host.window.uncorrectable_writes;
    assert!(failed > 100 && failed <= b.host.device.counters.read_modify_writes, "{failed}");
    b.finish();
}

/// Blocks older than the limit are rewritten, and stay so: no closed block is ever much older.
#[test]
fn old_blocks_are_refreshed() {
    let limit = Duration::from_ms(400);
    let mut errors = errors(3, &[1e-5]);
    errors.initial_age = limit;
    errors.initial_ages = InitialAges::Uniform;
    errors.refresh_after = Some(limit);
    let spec = with(errors);
    let mut b = Bench::new(&spec, filled(&spec, 0.9), &[closed("m", 1, mix(0.9))], 1);
    for _ in 0..10 {
        b.run_for(Duration::from_ms(200));
        let now = b.events.now();
        let ftl = b.host.device.block_manager();
        for block in SuperBlock::first(ftl.layout.super_blocks()).filter(|&b| ftl.map().is_candidate(b)) {
            let (lane, number) = ftl.layout.lane_of(block);
            let (die, plane) = ftl.layout.die_of(lane);
            let at = BlockAddress { die, plane, block: number };
            let age = b.host.device.nand().reliability().unwrap().age(at, now);
            assert!(age < limit + Duration::from_ms(200), "block {block} is {age} old at {now}");
        }
    }
    assert!(b.host.device.rewritten().refreshed > 100, "{:?}", b.host.device.rewritten());
    assert_eq!(b.host.device.rewritten().reclaimed, 0);
    b.finish();
}

/// Without the limit data stays where it is.
#[test]
fn nothing_is_rewritten_unasked() {
    let mut b = reads(&with(errors(3, &SOME)), 4, 5_000);
    b.finish();
    assert_eq!(b.host.device.rewritten(), Default::default());
    assert_eq!(b.host.device.ftl_counters().erases, 0);
}

/// A block that is read again and again is rewritten every so many reads.
#[test]
fn blocks_read_often_are_reclaimed() {
    let limit = 300;
    let mut errors = errors(3, &[1e-5]);
    errors.reclaim_reads = Some(limit);
    let spec = with(errors);
    let mut b = Bench::new(&spec, filled(&spec, 0.9), &[closed("r", 4, mix(1.0))], 1);
    b.run_requests(100_000);
    // What is open cannot be rewritten before it is full.
    let (ftl, reliability) = (b.host.device.block_manager(), b.host.device.nand().reliability().unwrap());
    for block in SuperBlock::first(ftl.layout.super_blocks()).filter(|&b| ftl.map().is_candidate(b)) {
        let (lane, number) = ftl.layout.lane_of(block);
        let (die, plane) = ftl.layout.die_of(lane);
        let reads = reliability.block(BlockAddress { die, plane, block: number }).reads;
        assert!(reads < 3 * limit, "block {block} has been read {reads} times");
    }
    let (done, asked) = (b.host.device.rewritten().reclaimed, 100_000 / u64::from(limit));
    assert!(done > asked / 2 && done <= asked + 100, "{done} of about {asked}");
    b.finish();
}

/// The rate that a run sees is that of the table at its age and wear.
#[test]
fn age_and_wear_find_their_place_in_the_table() {
    let mut e = errors(3, &[0.0]);
    e.table = interpulse_flash::errors::presets::table("cai-tlc").unwrap();
    e.initial_age = Duration::from_ms(3_600_000 * 2160);
    let spec = with(e);
    let mut state = filled(&spec, 1.0);
    state.add_pe_cycles(2000);
    let mut b = Bench::new(&spec, state, &[closed("r", 8, mix(1.0))], 1);
    b.run_requests(30_000);
    b.finish();
    let c = b.host.device.nand().reliability().unwrap().counters;
    let seen = c.expected_errors as f64 / 1024.0 / c.bits as f64;
    assert!((seen / 3.28e-3 - 1.0).abs() < 0.02, "{seen}");
}
