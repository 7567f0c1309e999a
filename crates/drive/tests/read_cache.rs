//! Does a read cache hit as Che says, take the time of DRAM, and does read-ahead bring a sequential stream to the rate of the
//! dies or of the host interface?

use crate::drive_common::{Bench, Cells, closed, filled, little, mix, of_part, part, preconditioned};
use interpulse_drive::DriveCounters;
use interpulse_drive::spec::{
    DriveSpec, Eviction, FaultSpec, MappingSpec, Partitioning, PowerLossSpec, ReadAheadSpec, ReadCacheSpec,
};
use interpulse_engine::account::Cause;
use interpulse_engine::{Bytes, Duration};
use interpulse_oracle::caching::lru_hit_rate;
use interpulse_oracle::stats::confidence_interval;
use interpulse_workload::{AddressSpec, BlockSize, FlowSpec, SyntheticSpec, Zipf};

/// Probability that any comparison fails although everything is right, and their number.
const FAMILY_ERROR: f64 = 1e-7;
const COMPARISONS: usize = 4;

const UNIT: u64 = 4096;

const CACHE: ReadCacheSpec = ReadCacheSpec {
    size: Bytes::mib(1),
    replacement: Eviction::Lru,
    partition: Partitioning::Shared,
    fill_on_write: false,
    ahead: None,
};

const AHEAD: ReadAheadSpec = ReadAheadSpec { after: 2, window: Bytes::kib(512), depth: 64, streams: 2 };

fn with(mut drive: DriveSpec, cache: ReadCacheSpec) -> DriveSpec {
    drive.read_cache = Some(cache);
    drive
}

fn limited(depth: u32, requests: u64, spec: SyntheticSpec) -> FlowSpec {
    FlowSpec { limit: Some(requests), ..closed("f", depth, spec) }
}

fn counters(bench: &Bench) -> DriveCounters {
    bench.host.device.counters
}

fn cause(bench: &Bench, cause: Cause) -> u128 {
    bench.host.window.read_attribution.total().by_cause[cause as usize]
}

fn run(spec: &DriveSpec, fill: f64, flows: &[FlowSpec]) -> Bench {
    let mut bench = Bench::new(spec, filled(spec, fill), flows, 3);
    bench.run_out();
    bench.finish();
    bench
}

/// Shares of hits of random reads in 40 batches, after the cache has filled.
fn hit_rates(spec: &DriveSpec, addresses: AddressSpec) -> Vec<f64> {
    let flow = closed("f", 1, SyntheticSpec { addresses, ..mix(1.0) });
    let mut bench = Bench::new(spec, filled(spec, 1.0), &[flow], 3);
    bench.run_requests(6000);
    let rates = (0..40).map(|_| {
        let before = counters(&bench);
        bench.run_requests(1500);
        let (after, host) = (counters(&bench), bench.host.device.nand().counters.host_reads);
        assert_eq!(after.read_cache_misses, host, "each miss is a page read");
        let (hits, misses) = (
            after.read_cache_hits - before.read_cache_hits,
            after.read_cache_misses - before.read_cache_misses,
        );
        assert_eq!(hits + misses, 1500);
        hits as f64 / 1500.0
    });
    let rates = rates.collect();
    bench.finish();
    rates
}

#[track_caller]
fn assert_hits(units: u64, replacement: Eviction, addresses: AddressSpec, popularities: impl Fn(u32) -> f64) {
    let spec = with(little(), ReadCacheSpec { size: Bytes(units * UNIT), replacement, ..CACHE });
    let logical = spec.ftl_config().unwrap().logical_units;
    let popularities: Vec<f64> = (1..=logical).map(popularities).collect();
    let expected = lru_hit_rate(&popularities, units as f64).unwrap();
    let measured = confidence_interval(&hit_rates(&spec, addresses), FAMILY_ERROR, COMPARISONS).unwrap();
    println!("expected {expected}, measured {measured:?}");
    assert!(measured.half_width() < 0.02, "{measured:?}");
    assert!(measured.contains(expected), "{expected} outside {measured:?}");
}

/// Under uniform reads every policy holds any unit with the same probability.
#[test]
fn uniform_reads_hit_by_the_share_that_is_cached() {
    for replacement in [Eviction::Lru, Eviction::Fifo] {
        assert_hits(1000, replacement, AddressSpec::Uniform, |_| 1.0);
    }
}

#[test]
fn zipf_reads_hit_as_che_says() {
    for (exponent, units) in [(0.8, 300), (1.1, 600)] {
        let zipf = |rank| f64::from(rank).powf(-exponent);
        assert_hits(units, Eviction::Lru, AddressSpec::Zipf(Zipf { exponent }), zipf);
    }
}

/// A drive whose cache holds all: each unit is read from flash once, and what follows takes firmware, DRAM and link alone.
#[test]
fn a_hit_takes_the_time_of_a_read_that_needs_no_flash() {
    let spec = with(little(), ReadCacheSpec { size: Bytes::mib(64), ..CACHE });
    let units = u64::from(spec.ftl_config().unwrap().logical_units);
    let in_order = SyntheticSpec { addresses: AddressSpec::Sequential, ..mix(1.0) };
    let mut bench = Bench::new(&spec, filled(&spec, 1.0), &[limited(1, 2 * units, in_order.clone())], 3);
    bench.run_requests(units);
    let first = counters(&bench);
    assert_eq!((first.read_cache_hits, first.read_cache_misses), (0, units));
    bench.host.begin_window();
    bench.run_out();
    let hits = bench.host.window.flows[0].read.clone();
    bench.finish();
    let again = counters(&bench);
    assert_eq!((again.read_cache_hits, again.read_cache_misses), (units, units));
    // PCIe 3 x4 with payloads of 256 bytes moves 3493 bytes in a us: 64 bytes of command in 19 ns, 4096 of data and 16 of
    // completion in 1178; firmware takes 5 us, DRAM 500 ns.
    assert_eq!((hits.min(), hits.max()), (Some(Duration::from_ns(6697)), Some(Duration::from_ns(6697))));
    // As a read of data that was never written.
    let unmapped = run(&little(), 0.0, &[limited(1, 100, in_order)]).host.window.flows[0].read.clone();
    assert_eq!((unmapped.min(), unmapped.max()), (hits.min(), hits.max()));
}

/// Two queues read the same unit at once: one page read, for which both wait.
#[test]
fn a_read_in_flight_is_not_repeated() {
    let spec = with(little(), CACHE);
    let one = SyntheticSpec { addresses: AddressSpec::Sequential, ..mix(1.0) };
    let flows = [limited(1, 1, one.clone()), limited(1, 1, one)];
    let bench = run(&spec, 1.0, &flows);
    let counted = counters(&bench);
    assert_eq!((counted.read_cache_misses, counted.read_cache_merged, counted.read_cache_hits), (1, 1, 0));
    assert_eq!(bench.host.device.nand().counters.host_reads, 1);
    // Both are fetched at once, but for the 19 ns of a command on the link: the second waits from its end of firmware.
    let page_read = cause(&bench, Cause::Sensing) + cause(&bench, Cause::Bus) + cause(&bench, Cause::Decode);
    assert_eq!(cause(&bench, Cause::ReadCache), page_read - 19);
}

/// Overwritten units are read from flash again, unless writes fill the cache.
#[test]
fn writes_drop_copies_or_replace_them() {
    for fill_on_write in [false, true] {
        let spec = with(little(), ReadCacheSpec { size: Bytes::mib(64), fill_on_write, ..CACHE });
        let units = u64::from(spec.ftl_config().unwrap().logical_units);
        let in_order = |share, start| FlowSpec {
            start: interpulse_engine::SimTime(start),
            ..limited(1, 300, SyntheticSpec { addresses: AddressSpec::Sequential, ..mix(share) })
        };
        // Reads, then writes, then reads of the same 300 units, long after the programs.
        let flows = [in_order(1.0, 0), in_order(0.0, 1_000_000_000), in_order(1.0, 5_000_000_000)];
        let counted = counters(&run(&spec, 1.0, &flows));
        let (again, cached) = if fill_on_write { (0, 300) } else { (300 - counted.cache_read_hits, 0) };
        assert!(units > 300 && counted.cache_read_hits < 30, "{counted:?}");
        assert_eq!((counted.read_cache_misses, counted.read_cache_hits), (300 + again, cached));
    }
}

/// One queue reads 64 units again and again, the other scans. With partitions the scan evicts nothing of the first.
#[test]
fn a_partition_protects_a_queue_from_the_scan_of_another() {
    let hits = |partition| {
        let mut spec = with(little(), ReadCacheSpec { size: Bytes(256 * UNIT), partition, ..CACHE });
        spec.host.queue_weights = vec![1, 1];
        let few = 64.0 / f64::from(spec.ftl_config().unwrap().logical_units);
        let hot = SyntheticSpec { from: 0.0, to: few, ..mix(1.0) };
        let scan = SyntheticSpec { addresses: AddressSpec::Sequential, from: 0.1, ..mix(1.0) };
        let flows = [limited(1, 4000, hot), FlowSpec { queue: 1, ..closed("scan", 64, scan) }];
        let mut bench = Bench::new(&spec, filled(&spec, 1.0), &flows, 3);
        while bench.host.window.flows[0].read.count() < 4000 {
            assert!(bench.step(bench.events.horizon()));
        }
        bench.finish();
        counters(&bench).read_cache_hits
    };
    let (shared, parted) = (hits(Partitioning::Shared), hits(Partitioning::ByQueue));
    assert_eq!(parted, 4000 - 64, "each of the 64 units misses once");
    assert!(shared < 3000, "{shared}");
}

/// Reads of 4 KiB in order from 16 dies: after the two that make a stream, each finds its unit in DRAM.
#[test]
fn read_ahead_makes_reads_of_a_stream_hits() {
    let drive = || of_part(part(Cells::Tlc, 1, 24, 8), 4, 4, 1);
    let in_order = SyntheticSpec { addresses: AddressSpec::Sequential, ..mix(1.0) };
    let spec = with(drive(), ReadCacheSpec { size: Bytes::mib(4), ahead: Some(AHEAD), ..CACHE });
    let mut bench = Bench::new(&spec, filled(&spec, 1.0), &[limited(1, 12_000, in_order)], 3);
    bench.run_requests(500);
    bench.host.begin_window();
    bench.run_requests(10_000);
    let latencies = bench.host.window.flows[0].read.clone();
    assert_eq!(
        (latencies.min(), latencies.max()),
        (Some(Duration::from_ns(6697)), Some(Duration::from_ns(6697)))
    );
    bench.run_out();
    bench.finish();
    let counted = counters(&bench);
    assert_eq!(counted.read_cache_misses, 2, "{counted:?}");
    assert_eq!(counted.read_cache_hits + counted.read_cache_merged, 11_998);
    assert_eq!((counted.read_ahead_used, counted.read_ahead_wasted), (11_998, 0));
    assert!(
        (1..=128).contains(&(counted.read_ahead_units - 11_998)),
        "no more than a window is left: {counted:?}"
    );
}

/// Reads of 64 KiB at depth 1 from four dies: without read-ahead the dies wait for the host, with it they never do.
#[test]
fn read_ahead_brings_one_stream_to_the_rate_of_the_dies() {
    let size = Bytes::kib(64);
    let block_size = BlockSize::Fixed(size);
    let large = SyntheticSpec { addresses: AddressSpec::Sequential, block_size, alignment: size, ..mix(1.0) };
    let rate = |spec: &DriveSpec| {
        let mut bench = Bench::new(spec, filled(spec, 1.0), &[closed("f", 1, large.clone())], 3);
        bench.run_requests(50);
        let from = bench.events.now();
        bench.run_requests(1000);
        let bytes = 1000.0 * size.get() as f64;
        let rate = bytes / bench.events.now().since(from).as_ns() as f64;
        bench.finish();
        rate
    };
    // A die takes a command of 200 ns, 40 us and the transfer of 8 KiB with parity for each page: 8192 + 1024 bytes at 0.8
    // bytes a ns.
    let dies = 4.0 * 8192.0 / (200.0 + 40_000.0 + 9216.0 / 0.8);
    let ahead = rate(&with(little(), ReadCacheSpec { size: Bytes::mib(4), ahead: Some(AHEAD), ..CACHE }));
    let without = rate(&with(little(), ReadCacheSpec { size: Bytes::kib(64), ..CACHE }));
    println!("{ahead} bytes a ns with read-ahead, {without} without, {dies} of the dies");
    assert!(ahead <= dies * 1.001 && ahead > dies * 0.97, "{ahead} of {dies}");
    assert!(without < dies * 0.8, "{without} of {dies}");
}

/// A stream that ends early wastes what was read ahead, once it is evicted.
#[test]
fn what_the_host_never_reads_is_wasted() {
    let ahead = Some(ReadAheadSpec { window: Bytes(32 * UNIT), streams: 1, ..AHEAD });
    let spec = with(little(), ReadCacheSpec { size: Bytes(64 * UNIT), ahead, ..CACHE });
    let one = |addresses, requests, start| FlowSpec {
        start: interpulse_engine::SimTime(start),
        ..limited(1, requests, SyntheticSpec { addresses, ..mix(1.0) })
    };
    let flows = [one(AddressSpec::Sequential, 3, 0), one(AddressSpec::Uniform, 2000, 10_000_000)];
    let counted = counters(&run(&spec, 1.0, &flows));
    // After the second read units 2 to 33, after the third one more; of them the host has read the one at 2 in order.
    assert!(counted.read_ahead_units >= 33, "{counted:?}");
    assert_eq!(counted.read_ahead_units, counted.read_ahead_used + counted.read_ahead_wasted, "{counted:?}");
}

/// Partial writes, trims and queues of mixed depths under full audit, with every policy.
#[test]
fn copies_are_what_the_map_holds_under_mixed_requests() {
    for (replacement, partition, fill_on_write) in [
        (Eviction::Lru, Partitioning::ByQueue, true),
        (Eviction::Fifo, Partitioning::Shared, false),
        (Eviction::Clock, Partitioning::ByQueue, false),
        (Eviction::Clock, Partitioning::Shared, true),
    ] {
        let ahead = Some(ReadAheadSpec { window: Bytes::kib(64), after: 1, streams: 4, depth: 8 });
        let cache = ReadCacheSpec { size: Bytes::mib(1), replacement, partition, fill_on_write, ahead };
        let mut spec = with(little(), cache);
        spec.host.queue_weights = vec![1, 2];
        let mixed = SyntheticSpec {
            block_size: BlockSize::Fixed(Bytes::kib(6)),
            alignment: Bytes(512),
            trim_share: 0.1,
            write_share: 0.3,
            read_share: 0.6,
            to: 0.2,
            ..mix(0.5)
        };
        let in_order = SyntheticSpec { addresses: AddressSpec::Sequential, to: 0.2, ..mixed.clone() };
        let flows = [limited(16, 15_000, mixed), FlowSpec { queue: 1, ..limited(4, 15_000, in_order) }];
        let mut bench = Bench::new(&spec, preconditioned(&spec, 1.0, 0.5, 1), &flows, 7);
        bench.run_out();
        bench.finish();
        let counted = counters(&bench);
        for (info, value) in counted.iter().filter(|(info, _)| info.name.starts_with("read_")) {
            assert!(value > 0, "{} with {cache:?}: {counted:?}", info.name);
        }
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let refused = |change: &dyn Fn(&mut DriveSpec)| {
        let mut spec = with(little(), ReadCacheSpec { ahead: Some(AHEAD), ..CACHE });
        spec.check().unwrap();
        change(&mut spec);
        spec.check().unwrap_err().message
    };
    let small = refused(&|spec| {
        spec.read_cache = Some(ReadCacheSpec { ahead: Some(AHEAD), size: Bytes::kib(512), ..CACHE })
    });
    assert!(small.contains("leaves less than 1MiB for each"), "{small}");
    let power = refused(&|spec| {
        spec.power_loss = Some(PowerLossSpec {
            at: None,
            off_for: Duration::from_ms(1),
            checkpoint_every: Duration::from_ms(1),
            save_to: interpulse_flash::hold_up::Placement::ALL[0].1,
            capacitor: None,
        });
    });
    assert!(power.contains("loss of power"), "{power}");
    let cached = refused(&|spec| {
        let replacement = interpulse_drive::replacement::MapReplacement::Lru;
        let format = interpulse_drive::ftl::page::mapping::cached::format::MapFormat::Pages;
        let size = Bytes::kib(16);
        spec.ftl.mapping = MappingSpec::Cached(interpulse_drive::spec::MapCacheSpec {
            size,
            format,
            replacement,
            prefetch: 0,
            batch: None,
            read_transfer: None,
            partition: interpulse_drive::spec::MapPartition::Shared,
        });
    });
    assert!(cached.contains("take the full map"), "{cached}");
    // Failing blocks and reads go together with it.
    let mut spec = with(little(), CACHE);
    spec.faults = Some(FaultSpec { program_failure: 0.001, ..FaultSpec::NONE });
    spec.check().unwrap();
}
