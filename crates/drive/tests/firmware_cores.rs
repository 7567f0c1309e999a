//! Do firmware cores by task bound look-ups and collection as a queue of their service times says?

use crate::drive_common::{Bench, closed, filled, little, mix, preconditioned};
use interpulse_drive::spec::{DriveSpec, Eviction, FirmwareSpec, Partitioning, ReadCacheSpec, TaskSpec};
use interpulse_engine::account::Cause;
use interpulse_engine::{Bytes, Device, Duration};
use interpulse_oracle::queueing::md1_wait_in_services;
use interpulse_oracle::stats::confidence_interval;
use interpulse_workload::{AddressSpec, Arrivals, BlockSize, FlowSpec, SyntheticPacing, SyntheticSpec};

const NO_TIME: TaskSpec = TaskSpec { time: Duration::ZERO, cores: 1 };

fn with(mapping: TaskSpec, collection: TaskSpec) -> DriveSpec {
    let mut spec = little();
    spec.firmware = Some(FirmwareSpec { mapping, collection, deallocation: NO_TIME });
    spec
}

fn us(us: u64, cores: u32) -> TaskSpec {
    TaskSpec { time: Duration::from_us(us), cores }
}

/// Reads of data that was never written need no flash: with 16 outstanding the cores of look-ups are never idle.
#[test]
fn look_ups_bound_the_rate_of_reads() {
    for (cores, units) in [(1, 1), (3, 1), (2, 4)] {
        let spec = with(us(20, cores), NO_TIME);
        let size = Bytes(4096 * units);
        let block_size = BlockSize::Fixed(size);
        let reads =
            SyntheticSpec { addresses: AddressSpec::Sequential, block_size, alignment: size, ..mix(1.0) };
        let flow = FlowSpec { limit: Some(3000), ..closed("f", 16, reads) };
        let mut bench = Bench::new(&spec, filled(&spec, 0.0), &[flow], 1);
        bench.run_out();
        let (ends, busy) = (bench.events.now().as_ns(), 3000 * units * 20_000);
        bench.finish();
        assert_eq!(bench.host.device.counters.firmware_mapping_time, busy);
        let least = busy / u64::from(cores);
        // Before the first look-up: link and 5 us of firmware. After the last one: DRAM and link.
        assert!((least..least + 20_000).contains(&ends), "{cores} cores end at {ends}, at least at {least}");
    }
}

/// Each deallocation has one range, and its command ends when a core has freed it.
#[test]
fn ranges_bound_the_rate_of_deallocations() {
    for cores in [1, 3] {
        let mut spec = with(NO_TIME, NO_TIME);
        spec.firmware = spec.firmware.map(|of| FirmwareSpec { deallocation: us(20, cores), ..of });
        let trims = SyntheticSpec { trim_share: 1.0, read_share: 0.0, write_share: 0.0, ..mix(0.0) };
        let flow = FlowSpec { limit: Some(3000), ..closed("f", 16, trims.clone()) };
        let mut bench = Bench::new(&spec, filled(&spec, 1.0), &[flow], 1);
        bench.run_out();
        let ends = bench.events.now().as_ns();
        bench.finish();
        assert_eq!(bench.host.device.counters.firmware_deallocation_time, 3000 * 20_000);
        let least = 3000 * 20_000 / u64::from(cores);
        // Before the first range: link and 5 us of firmware. After the last one: the link.
        assert!((least..least + 20_000).contains(&ends), "{cores} cores end at {ends}, at least at {least}");
        // All of their wait is firmware time.
        let one = FlowSpec { limit: Some(1), ..closed("f", 1, trims.clone()) };
        let mut bench = Bench::new(&spec, filled(&spec, 1.0), &[one], 1);
        bench.run_out();
        let took = bench.events.now().as_ns();
        assert!((25_000..27_000).contains(&took), "{took}: 5 us of firmware, 20 us for the range, link");
    }
}

/// Poisson arrivals at one core: the mean wait is that of M/D/1 (Pollaczek and Khinchine).
#[test]
fn look_ups_of_poisson_arrivals_wait_as_md1() {
    let (load, service) = (0.7, 20.0);
    let waits: Vec<f64> = (0..24)
        .map(|seed| {
            let spec = with(us(20, 1), NO_TIME);
            let pacing =
                SyntheticPacing::Open { rate_per_s: load * 1e6 / service, arrivals: Arrivals::Poisson };
            let flow = FlowSpec {
                limit: Some(20_000),
                ..FlowSpec::synthetic("f", SyntheticSpec { pacing, ..mix(1.0) })
            };
            let mut bench = Bench::new(&spec, filled(&spec, 0.0), &[flow], seed);
            bench.run_out();
            bench.finish();
            let sums = bench.host.window.read_attribution.total();
            let firmware = sums.by_cause[Cause::Firmware as usize] as f64 / sums.requests as f64 / 1e3;
            firmware - 5.0 - service
        })
        .collect();
    let expected = md1_wait_in_services(load).unwrap() * service;
    let measured = confidence_interval(&waits, 1e-7, 1).unwrap();
    println!("{expected} in {measured:?}");
    assert!(measured.contains(expected), "{expected} is not in {measured:?}");
    assert!(measured.half_width() < 0.1 * expected, "{measured:?}");
}

/// Writes in steady state wait for collection: its cores are never idle for long, and move a unit in each 2 ms.
#[test]
fn collection_cores_bound_writes() {
    let run = |collection| {
        let spec = with(NO_TIME, collection);
        let mut bench =
            Bench::new(&spec, preconditioned(&spec, 1.0, 2.0, 1), &[closed("f", 32, mix(0.0))], 1);
        bench.run_requests(3000);
        let (from, before) = (bench.events.now(), bench.host.device.ftl_counters());
        let busy_before = bench.host.device.counters.firmware_collection_time;
        bench.run_requests(6000);
        let (span, after) = (bench.events.now().since(from), bench.host.device.ftl_counters());
        let busy = bench.host.device.counters.firmware_collection_time - busy_before;
        bench.finish();
        let moved = after.gc_units - before.gc_units;
        (moved, busy as f64 / span.as_ns() as f64, 6000.0 / span.as_ns() as f64)
    };
    let (moved, busy, slow) = run(us(2000, 1));
    assert!(moved > 500, "{moved}");
    assert!(busy > 0.97 && busy < 1.01, "the core is busy for {busy} of the time");
    let (_, both, faster) = run(us(2000, 2));
    assert!(both > 1.9 && both < 2.02, "both cores are busy for {both} of the time");
    let ratio = faster / slow;
    assert!((1.8..2.2).contains(&ratio), "two cores are {ratio} times as fast");
    let (_, none, fastest) = run(NO_TIME);
    assert!(
        none == 0.0 && fastest > 2.0 * faster,
        "{fastest} without firmware time, {faster} with two cores"
    );
}

/// A hit in the read cache looks no map entry up.
#[test]
fn copies_need_no_look_up() {
    let mut spec = with(us(20, 1), NO_TIME);
    let size = Bytes::mib(64);
    let (replacement, partition) = (Eviction::Lru, Partitioning::Shared);
    spec.read_cache = Some(ReadCacheSpec { size, replacement, partition, fill_on_write: false, ahead: None });
    let units = u64::from(spec.ftl_config().unwrap().logical_units);
    let reads = SyntheticSpec { addresses: AddressSpec::Sequential, ..mix(1.0) };
    let flow = FlowSpec { limit: Some(2 * units), ..closed("f", 1, reads) };
    let mut bench = Bench::new(&spec, filled(&spec, 1.0), &[flow], 1);
    bench.run_out();
    bench.finish();
    assert_eq!(bench.host.device.counters.firmware_mapping_time, units * 20_000);
    assert_eq!(bench.host.device.completed(), 2 * units);
}
