//! What do injected faults do? Dies fail, data becomes uncorrectable, dies, channels and the firmware stall.

use crate::drive_common::{
    Bench, Cells, closed, errors, little, mix, of_part, part, preconditioned, with_injected_faults,
};
use interpulse_drive::Health;
use interpulse_drive::spec::{
    Acknowledge, DriveSpec, Fault, FaultKind, FaultSpec, FreeBlock, PowerLossSpec, Stalled, When,
};
use interpulse_engine::account::Cause;
use interpulse_engine::{Bytes, Duration, Rng, SimTime, Streams};
use interpulse_flash::hold_up::Placement;
use interpulse_flash::suspend::{Scheme, SuspendCosts, SuspendPolicy};
use interpulse_workload::{AddressSpec, BlockSize, FlowSpec, SyntheticSpec};
use std::sync::Arc;

const MS: u64 = 1_000_000;

/// A drive with these faults.
fn with(mut spec: DriveSpec, faults: &[(When, FaultKind)]) -> DriveSpec {
    spec.schedule = faults.iter().map(|&(when, what)| Fault { drive: 0, when, what }).collect();
    spec.faults = Some(FaultSpec::NONE);
    spec
}

fn at(ms: u64) -> When {
    When::At(Duration::from_ms(ms))
}

fn health(bench: &Bench) -> Health {
    bench.host.device.health().unwrap_or_default()
}

/// Four dies that hold their data twice over.
fn roomy() -> DriveSpec {
    let mut spec = little();
    spec.ftl.over_provisioning = 1.0;
    spec.cache.size = Bytes::kib(256);
    spec
}

fn sequential_writes(requests: u64, start: SimTime) -> FlowSpec {
    let spec = SyntheticSpec {
        block_size: BlockSize::Fixed(Bytes::kib(64)),
        alignment: Bytes::kib(64),
        addresses: AddressSpec::Sequential,
        ..mix(0.0)
    };
    FlowSpec { limit: Some(requests), start, ..closed("rewrite", 8, spec) }
}

/// A quarter of the data was on the die that fails. It is gone until it is written again, on the other dies.
#[test]
fn a_failed_die_loses_its_data_until_that_is_written_again() {
    for fault in [FaultKind::Die(2), FaultKind::Channel(1)] {
        let spec = with(roomy(), &[(at(30), fault)]);
        let units = u64::from(spec.logical_units().unwrap());
        let requests = units * spec.geometry.unit_bytes / (64 << 10);
        let dead = if fault == FaultKind::Die(2) { 1 } else { 2 };
        let reads = FlowSpec { stop: Some(SimTime(150 * MS)), ..closed("r", 4, mix(1.0)) };
        let writes = FlowSpec { stop: Some(SimTime(150 * MS)), ..closed("w", 2, mix(0.0)) };
        let last = SimTime(200 * MS);
        let flows = [reads, writes, sequential_writes(requests, last)];
        let mut bench = Bench::new(&spec, preconditioned(&spec, 1.0, 0.5, 1), &flows, 3);
        bench.run_to(SimTime(29 * MS));
        assert_eq!((health(&bench).dead_dies, bench.host.window.uncorrectable_reads), (0, 0));
        bench.run_to(SimTime(160 * MS));
        let lost = health(&bench).lost_bytes / spec.geometry.unit_bytes;
        let share = lost as f64 / units as f64;
        // Dynamic allocation gives each die its share; lanes differ by at most a few blocks of their data.
        assert!((share - dead as f64 / 4.0).abs() < 0.05, "{dead} of 4 dies held {share} of the data");
        assert_eq!(health(&bench).dead_dies, dead);
        let failed = bench.host.window.uncorrectable_reads;
        assert!(failed > 0 && health(&bench).lost_bytes_at_end > 0);
        bench.run_out();
        if dead == 1 {
            assert_eq!(health(&bench).read_only_since, None, "three dies hold everything");
            assert_eq!(health(&bench).lost_bytes_at_end, 0, "everything has been written again");
            assert_eq!(bench.host.window.refused.count(), 0);
        } else {
            let since = health(&bench).read_only_since.expect("two dies have no room left to collect");
            assert_eq!(since, SimTime(30 * MS));
            assert!(bench.host.window.refused.count() >= requests);
        }
        bench.finish();
        bench.host.device.read_everything();
    }
}

/// At 1/1.4 of the flash, three of four dies cannot hold the data.
#[test]
fn a_drive_that_cannot_spare_a_die_becomes_read_only() {
    let spec = with(little(), &[(When::After(500), FaultKind::Die(0))]);
    let flows = [closed("m", 8, mix(0.5))];
    let mut bench = Bench::new(&spec, preconditioned(&spec, 1.0, 0.0, 1), &flows, 3);
    bench.run_requests(490);
    assert_eq!(health(&bench).dead_dies, 0);
    bench.run_requests(2000);
    assert_eq!(health(&bench).dead_dies, 1);
    assert!(health(&bench).read_only_since.is_some() && bench.host.window.refused.count() > 0);
    assert!(!spec.survives_scheduled_failures(0).unwrap());
    bench.finish();
    bench.host.device.read_everything();
}

/// Reads one after the other: what a stall adds to the latency of all is what the account of faults holds.
#[test]
fn a_stall_lengthens_the_reads_that_meet_it_and_is_their_cause() {
    let run = |faults: &[(When, FaultKind)]| {
        let mut spec = with(little(), faults);
        if faults.is_empty() {
            spec.faults = None;
        }
        let flows = [FlowSpec { limit: Some(2000), ..closed("r", 1, mix(1.0)) }];
        let mut bench = Bench::new(&spec, preconditioned(&spec, 1.0, 0.0, 1), &flows, 3);
        bench.run_out();
        bench.finish();
        let all = bench.host.window.read_attribution.total();
        (
            all.total_ns(),
            all.by_cause[Cause::Fault as usize],
            bench.host.window.flows[0].read.max().expect("reads"),
        )
    };
    let (without, none, _) = run(&[]);
    assert_eq!(none, 0);
    for stalled in [Stalled::Die(1), Stalled::Channel(0), Stalled::Drive] {
        let length = Duration::from_ms(5);
        let (with, by_faults, longest) = run(&[(at(20), FaultKind::Stall(stalled, length))]);
        assert_eq!(with - without, by_faults, "{stalled:?}");
        // Few reads pass before one meets the stall.
        assert!(by_faults > 4_000_000 && by_faults <= 5_000_000, "{stalled:?}: {by_faults}");
        assert!(longest > Duration::from_ms(4), "{stalled:?}: {longest}");
    }
}

/// The die ends its program; then it begins nothing, suspended programs included.
#[test]
fn stalls_under_load_with_suspension_end_with_every_request() {
    let mut spec = little();
    let costs = SuspendCosts::default();
    spec.nand.program_suspend = SuspendPolicy::unlimited(Scheme::LoopBoundary, costs);
    spec.nand.erase_suspend = SuspendPolicy::unlimited(Scheme::LoopBoundary, costs);
    let faults: Vec<_> = (0..40)
        .map(|k| {
            let stalled = match k % 3 {
                0 => Stalled::Die(k % 4),
                1 => Stalled::Channel(k % 2),
                _ => Stalled::Drive,
            };
            (at(10 + 3 * u64::from(k)), FaultKind::Stall(stalled, Duration::from_ms(2)))
        })
        .collect();
    let spec = with(spec, &faults);
    let flows = [closed("m", 16, mix(0.7))];
    let mut bench = Bench::new(&spec, preconditioned(&spec, 1.0, 0.5, 1), &flows, 3);
    bench.run_to(SimTime(200 * MS));
    let report = bench.finish();
    assert_eq!(bench.host.device.stalls(), Some(40));
    assert!(report.requests > 1000 && bench.host.device.nand().counters.program_suspends > 0);
    let waits = bench.host.window.read_attribution.total().by_cause[Cause::Fault as usize];
    assert!(waits > 20_000_000, "{waits} ns");
    bench.host.device.read_everything();
}

/// The unit at the address fails from the fault on, and no other does; so do the units of the next page read of a die.
#[test]
fn uncorrectable_data_stays_so_until_it_is_written() {
    let address = Bytes(4096 * 77);
    let reads = SyntheticSpec { addresses: AddressSpec::Sequential, ..mix(1.0) };
    for (fault, least, most) in [(FaultKind::Address(address), 1, 1), (FaultKind::NextRead(1), 1, 2)] {
        let spec = with(little(), &[(When::After(0), fault)]);
        let units = u64::from(spec.logical_units().unwrap());
        let flows = [closed("r", 1, reads.clone())];
        let mut bench = Bench::new(&spec, preconditioned(&spec, 1.0, 0.0, 1), &flows, 3);
        bench.run_requests(units);
        let failed = bench.host.window.uncorrectable_reads;
        assert!((least..=most).contains(&failed), "{fault:?}: {failed}");
        bench.run_requests(3 * units);
        let lost = health(&bench).lost_bytes / spec.geometry.unit_bytes;
        // The first pass may have read a part of the page before the fault.
        assert!((4 * lost - 1..=4 * lost).contains(&bench.host.window.uncorrectable_reads), "{fault:?}");
        assert_eq!(health(&bench).lost_bytes, health(&bench).lost_bytes_at_end);
        bench.finish();
    }
    let spec = with(little(), &[(When::After(0), FaultKind::Address(address))]);
    let units = u64::from(spec.logical_units().unwrap());
    let requests = units * 4096 / (64 << 10);
    let flows = [sequential_writes(requests, SimTime::ZERO)];
    let mut bench = Bench::new(&spec, preconditioned(&spec, 1.0, 0.0, 1), &flows, 3);
    bench.run_out();
    bench.finish();
    let of = health(&bench);
    assert_eq!((of.lost_bytes, of.lost_bytes_at_end, of.lost_reads), (4096, 0, 0));
}

/// One failure each, also of a program that was suspended; what the block held is rewritten, and a reserved block replaces it.
#[test]
fn scheduled_failures_of_programs_and_erases_retire_a_block_each() {
    let mut spec = of_part(part(Cells::Tlc, 1, 36, 8), 2, 2, 1);
    spec.ftl.bad_block_reserve = 0.1;
    let costs = SuspendCosts::default();
    spec.nand.program_suspend = SuspendPolicy::unlimited(Scheme::LoopBoundary, costs);
    let faults = [
        (When::After(100), FaultKind::Program(Some(3))),
        (When::After(200), FaultKind::Program(None)),
        (When::After(300), FaultKind::Erase(Some(0))),
    ];
    let spec = with(spec, &faults);
    let flows = [closed("m", 16, mix(0.5))];
    let mut bench = Bench::new(&spec, preconditioned(&spec, 1.0, 0.5, 1), &flows, 3);
    bench.run_requests(20_000);
    bench.finish();
    let of = health(&bench);
    assert_eq!((of.program_failures, of.erase_failures, of.grown_bad_blocks), (2, 1, 3));
    assert_eq!((of.spare_at_start - of.spare, of.read_only_since), (3, None));
    assert!(bench.host.device.nand().counters.program_suspends > 0);
    bench.host.device.read_everything();
}

/// A Poisson process of stalls, and a binomial number of uncorrectable reads, within five standard deviations.
#[test]
fn random_faults_have_their_rates() {
    let mut spec = little();
    spec.faults = Some(FaultSpec {
        uncorrectable_read: 0.002,
        die_stall_every: Some(Duration::from_ms(2)),
        die_stall: Duration::from_us(50),
        ..FaultSpec::NONE
    });
    let mut results = Vec::new();
    for seed in [3, 3, 4] {
        let flows = [closed("r", 4, mix(1.0))];
        let mut bench = Bench::new(&spec, preconditioned(&spec, 1.0, 0.0, 1), &flows, seed);
        bench.run_to(SimTime(2_000 * MS));
        let stalls = bench.host.device.stalls().expect("faults are configured") as f64;
        assert!((stalls - 1000.0).abs() < 5.0 * 1000_f64.sqrt(), "{stalls} stalls");
        let (reads, of) = (bench.host.device.nand().counters.host_reads as f64, health(&bench));
        let lost = (of.lost_bytes / spec.geometry.unit_bytes) as f64;
        // A draw that hits lost data loses none: the expected share of data lost by then is 1 - exp(-draws / units).
        let units = f64::from(spec.logical_units().unwrap());
        let expected = units * (1.0 - (-0.002 * reads / units).exp());
        assert!((lost - expected).abs() < 5.0 * expected.sqrt(), "{lost} units lost, {expected} expected");
        bench.finish();
        results.push((stalls as u64, of, bench.host.window.flows[0].read.sum_ns()));
    }
    assert_eq!(results[0], results[1], "the same seed, the same faults");
    assert_ne!(results[0], results[2], "another seed, other faults");
}

/// A small drive with faults, suspension, bit errors, blocks that fail and wear levelling, by chance.
fn random_drive(rng: &mut Rng) -> DriveSpec {
    let cells = [Cells::Slc, Cells::MlcPages, Cells::Tlc, Cells::Plc][rng.below(4) as usize];
    let mut pick = |n: u64| rng.below(n) as usize;
    let mut spec = of_part(part(cells, 1 + pick(2) as u32, 24, 8), 2, 1 + pick(2) as u32, 2);
    spec.ftl.over_provisioning = [0.5, 0.8, 1.2][pick(3)];
    spec.ftl.bad_block_reserve = [0.0, 0.05, 0.1][pick(3)];
    spec.ftl.wear_gap = [None, Some(1), Some(3)][pick(3)];
    spec.ftl.free_block = [FreeBlock::ErasedFirst, FreeBlock::LeastWorn][pick(2)];
    spec.cache.size = Bytes::kib([256, 1024][pick(2)]);
    if pick(4) == 0 {
        spec.cache.acknowledge = Acknowledge::WhenProgrammed;
        spec.cache.protected = false;
    }
    let scheme = [Scheme::None, Scheme::LoopBoundary, Scheme::Ideal][pick(3)];
    if scheme != Scheme::None {
        spec.nand.program_suspend = SuspendPolicy::unlimited(scheme, SuspendCosts::default());
        spec.nand.erase_suspend = SuspendPolicy::unlimited(scheme, SuspendCosts::default());
        spec.nand.nesting = pick(2) == 0;
    }
    if pick(2) == 0 {
        let mut rates = errors(cells.bits() as usize, &[8e-3, 4e-3, 1e-3]);
        rates.ecc.max_retries = [0, 2][pick(2)];
        rates.reclaim_reads = [None, Some(50)][pick(2)];
        spec.nand.errors = Some(Arc::new(rates));
    }
    if pick(3) == 0 {
        // The power of all is cut during the run, of which stalls and failing blocks are a part.
        spec.power_loss = Some(PowerLossSpec {
            at: Some(Duration::from_us(15_000)),
            off_for: Duration::from_ms(1),
            checkpoint_every: Duration::from_ms(3),
            save_to: Placement::FirstFree,
            capacitor: None,
        });
        spec.cache.protected = !spec.cache.acknowledge.waits_for_programs();
    }
    spec.check().unwrap_or_else(|why| panic!("{why:?}"));
    with_injected_faults(&mut spec, rng.clone());
    if let Some(faults) = &mut spec.faults {
        let before = *faults;
        (faults.program_failure, faults.erase_failure) = (0.005, 0.02);
        if spec.check().is_err() {
            spec.faults = Some(before);
        }
    }
    spec
}

/// Everything that is not lost is found; every request completes; every nanosecond has a cause.
#[test]
fn random_drives_with_faults_lose_nothing_else() {
    let mut counted = [0; 9];
    for seed in 0..120 {
        let mut rng = Streams::new(seed).stream("test.faulty-drives", 0);
        let spec = random_drive(&mut rng);
        println!("seed {seed}: {:?} {:?}", spec.faults, spec.schedule);
        let trims = SyntheticSpec { trim_share: 0.1, write_share: 0.5, flush_every: Some(50), ..mix(0.4) };
        let flows = [closed("m", 1 + rng.below(24) as u32, trims), closed("r", 2, mix(1.0))];
        let mut bench = Bench::new(&spec, preconditioned(&spec, 1.0, 0.5, seed), &flows, seed);
        bench.run_to(SimTime(60 * MS));
        bench.finish();
        bench.host.device.read_everything();
        let (of, window) = (health(&bench), &bench.host.window);
        let reads: u128 = window.flows.iter().map(|flow| flow.read.sum_ns()).sum();
        assert_eq!(window.read_attribution.total().total_ns(), reads);
        let waits = window.read_attribution.total().by_cause[Cause::Fault as usize] as u64;
        let suspends = bench.host.device.nand().counters.program_suspends;
        let seen = [
            of.dead_dies,
            of.lost_bytes,
            of.lost_reads,
            bench.host.device.stalls().unwrap_or(0),
            waits,
            of.program_failures * suspends,
            of.erase_failures,
            u64::from(of.read_only_since.is_some() && of.dead_dies > 0),
            bench.host.device.recoveries().len() as u64 * bench.host.device.stalls().unwrap_or(0),
        ];
        counted.iter_mut().zip(seen).for_each(|(sum, of)| *sum += of);
    }
    assert!(counted.iter().all(|&of| of > 0), "something never happened: {counted:?}");
}

#[test]
fn faults_that_do_not_go_with_the_rest_are_refused_with_a_reason() {
    let refused = |spec: &DriveSpec, why: &str| {
        let message = spec.check().expect_err(why).message;
        assert!(message.contains(why), "{message}");
    };
    let dies = with(little(), &[(at(1), FaultKind::Channel(0)), (at(2), FaultKind::Die(2))]);
    refused(&dies, "at least half of the dies");
    let mut fixed = with(roomy(), &[(at(1), FaultKind::Die(0))]);
    fixed.ftl.allocation = interpulse_drive::ftl::page::placement::stripe::Allocation::all()[1].1;
    refused(&fixed, "a static order");
    let beyond = with(little(), &[(at(1), FaultKind::Address(Bytes(1 << 40)))]);
    refused(&beyond, "beyond the capacity");
}
