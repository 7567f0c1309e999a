//! Does a mapping cache hit, read, write and recover as the theory of caches and DFTL say?

use crate::drive_common::{Bench, Cells, closed, filled, little, mix, of_part, part, preconditioned};
use interpulse_drive::ftl::page::mapping::cached::format::MapFormat;
use interpulse_drive::replacement::MapReplacement;
use interpulse_drive::spec::{DriveSpec, MapCacheSpec, MapPartition, MappingSpec};
use interpulse_engine::Bytes;
use interpulse_engine::account::Cause;
use interpulse_flash::geometry::Timing;
use interpulse_host::attribution::CauseSums;
use interpulse_oracle::caching::lru_hit_rate;
use interpulse_oracle::stats::confidence_interval;
use interpulse_workload::{AddressSpec, BlockSize, FlowSpec, SyntheticSpec, Zipf};

/// Probability that any comparison fails although everything is right, and their number.
const FAMILY_ERROR: f64 = 1e-7;
const COMPARISONS: usize = 8;

const CACHE: MapCacheSpec = MapCacheSpec {
    size: Bytes::kib(16),
    format: MapFormat::Pages,
    replacement: MapReplacement::Lru,
    prefetch: 0,
    batch: None,
    read_transfer: None,
    partition: MapPartition::Shared,
};

/// A drive of about 100 translation pages with this mapping cache.
fn drive(cache: MapCacheSpec) -> DriveSpec {
    let mut drive = of_part(part(Cells::Tlc, 1, 400, 16), 2, 2, 1);
    drive.ftl.mapping = MappingSpec::Cached(cache);
    drive
}

/// [`little`], of three translation pages, with this mapping cache.
fn small(cache: MapCacheSpec) -> DriveSpec {
    let mut drive = little();
    drive.ftl.mapping = MappingSpec::Cached(cache);
    drive
}

fn flow(depth: u32, addresses: AddressSpec, read_share: f64) -> FlowSpec {
    closed("f", depth, SyntheticSpec { addresses, ..mix(read_share) })
}

fn counters(bench: &Bench) -> interpulse_drive::FtlCounters {
    bench.host.device.ftl_counters()
}

/// Hit rate of random reads in 40 batches, after the cache has filled.
fn hit_rates(spec: &DriveSpec, addresses: AddressSpec) -> Vec<f64> {
    let mut bench = Bench::new(spec, filled(spec, 1.0), &[flow(1, addresses, 1.0)], 3);
    bench.run_requests(6000);
    let rates = (0..40).map(|_| {
        let before = counters(&bench);
        bench.run_requests(1500);
        let after = counters(&bench);
        (after.map_hits - before.map_hits) as f64 / (after.map_lookups - before.map_lookups) as f64
    });
    let rates = rates.collect();
    bench.finish();
    rates
}

#[track_caller]
fn assert_hits(spec: &DriveSpec, addresses: AddressSpec, popularities: &[f64], objects: f64) {
    let expected = lru_hit_rate(popularities, objects).unwrap();
    let measured = confidence_interval(&hit_rates(spec, addresses), FAMILY_ERROR, COMPARISONS).unwrap();
    println!("expected {expected}, measured {measured:?}");
    assert!(measured.half_width() < 0.02, "{measured:?}");
    assert!(measured.contains(expected), "{expected} outside {measured:?}");
}

fn zipf(units: u32, exponent: f64) -> Vec<f64> {
    (1..=units).map(|k| f64::from(k).powf(-exponent)).collect()
}

#[test]
fn single_entries_hit_as_che_says_under_uniform_reads() {
    let spec = small(MapCacheSpec { format: MapFormat::Entries, size: Bytes(8 * 1000), ..CACHE });
    let units = spec.ftl_config().unwrap().logical_units;
    assert_hits(&spec, AddressSpec::Uniform, &vec![1.0; units as usize], 1000.0);
}

#[test]
fn single_entries_hit_as_che_says_under_zipf_reads() {
    for (exponent, entries) in [(0.8, 300), (1.1, 600)] {
        let spec = small(MapCacheSpec { format: MapFormat::Entries, size: Bytes(8 * entries), ..CACHE });
        let units = spec.ftl_config().unwrap().logical_units;
        assert_hits(&spec, AddressSpec::Zipf(Zipf { exponent }), &zipf(units, exponent), entries as f64);
    }
}

#[test]
fn translation_pages_hit_as_che_says_under_uniform_reads() {
    for pages in [12, 70] {
        let spec = drive(MapCacheSpec { size: Bytes::kib(4 * pages), ..CACHE });
        let units = spec.ftl_config().unwrap().logical_units;
        let weights: Vec<f64> =
            (0..units).step_by(1024).map(|from| f64::from((units - from).min(1024))).collect();
        assert_hits(&spec, AddressSpec::Uniform, &weights, pages as f64);
    }
}

/// Nanoseconds by cause of 20,000 reads at depth 1, and counters.
fn reads_alone(spec: &DriveSpec) -> (CauseSums, interpulse_drive::FtlCounters) {
    let flow = FlowSpec { limit: Some(20_000), ..flow(1, AddressSpec::Uniform, 1.0) };
    let mut bench = Bench::new(spec, filled(spec, 1.0), &[flow], 3);
    bench.run_out();
    bench.finish();
    let counted = counters(&bench);
    (bench.host.window.read_attribution.total(), counted)
}

/// Reads at depth 1 do not queue: the mean is that of the full table and, by the share of misses, one more page read.
#[test]
fn reads_take_one_page_read_more_for_each_miss() {
    let cached = small(MapCacheSpec { format: MapFormat::Entries, size: Bytes(8 * 1000), ..CACHE });
    let ((with, counted), (without, none)) = (reads_alone(&cached), reads_alone(&little()));
    assert_eq!((none.map_lookups, without.by_cause[Cause::Mapping as usize]), (0, 0));
    // What a page read takes between firmware and link, in the drive with the full table.
    let outside = [Cause::Link, Cause::Firmware, Cause::Cache].map(|cause| without.by_cause[cause as usize]);
    let page_read = (without.total_ns() - outside.iter().sum::<u128>()) / u128::from(without.requests);
    assert_eq!(counted.map_lookups, 20_000);
    assert_eq!(counted.map_lookups - counted.map_hits, counted.map_reads);
    assert_eq!(with.by_cause[Cause::Mapping as usize], page_read * u128::from(counted.map_reads));
    assert_eq!(with.total_ns() - with.by_cause[Cause::Mapping as usize], without.total_ns());
    assert!((40_000..60_000).contains(&page_read), "a sensing of 40 us, transfer and decoding: {page_read}");
}

/// A miss that moves a part of its translation page takes the bus time of the rest less, and nothing else changes.
#[test]
fn a_part_of_a_translation_page_takes_the_bus_time_of_its_bytes() {
    let with = |read_transfer| {
        let size = Bytes(8 * 1000);
        small(MapCacheSpec { format: MapFormat::Entries, size, read_transfer, ..CACHE })
    };
    let (whole, part) = (with(None), with(Some(Bytes(512))));
    let timing = Timing::new(&whole.part, whole.geometry.unit_bytes);
    let of_part = (512 * 1_000_000_000_u128).div_ceil(u128::from(whole.part.bus_rate));
    let saved = u128::from(timing.transfer_units[1].as_ns()) - of_part;
    assert!(saved > 0);
    let ((slow, before), (fast, after)) = (reads_alone(&whole), reads_alone(&part));
    assert_eq!(before.map_reads, after.map_reads);
    assert_eq!(slow.total_ns() - fast.total_ns(), saved * u128::from(after.map_reads));
    let mapping = Cause::Mapping as usize;
    assert_eq!(slow.by_cause[mapping] - fast.by_cause[mapping], slow.total_ns() - fast.total_ns());
}

/// Data written while misses move parts: a write-back reads whole pages, and nothing is lost (audited at the end).
#[test]
fn write_backs_read_whole_translation_pages() {
    let cache = MapCacheSpec {
        format: MapFormat::Entries,
        size: Bytes(8 * 100),
        read_transfer: Some(Bytes(8)),
        ..CACHE
    };
    let spec = drive(cache);
    let mut bench = Bench::new(&spec, filled(&spec, 1.0), &[flow(16, AddressSpec::Uniform, 0.5)], 3);
    bench.run_requests(20_000);
    let counted = counters(&bench);
    bench.finish();
    assert!(counted.map_update_reads > 1000 && counted.map_reads > 1000, "{counted:?}");
}

#[test]
fn parts_of_translation_pages_are_refused_where_they_say_nothing() {
    let with = |cache: MapCacheSpec| {
        drive(cache).check().map_err(|why| why.keys[0].to_string() + " " + &why.message)
    };
    let entries = MapCacheSpec { format: MapFormat::Entries, ..CACHE };
    let part = |bytes| Some(Bytes(bytes));
    assert_eq!(with(MapCacheSpec { read_transfer: part(4096), ..entries.clone() }), Ok(()));
    let refused = |cache, reason: &str| {
        let told = with(cache).unwrap_err();
        assert!(told.starts_with("ftl.map-read-transfer") && told.contains(reason), "{told}");
    };
    refused(MapCacheSpec { read_transfer: part(512), ..CACHE }, "whole translation pages");
    refused(MapCacheSpec { read_transfer: part(4097), ..entries.clone() }, "more than a translation page");
    refused(MapCacheSpec { read_transfer: part(512), prefetch: 200, ..entries }, "less than the 804B");
}

#[test]
fn compressed_pages_hit_more_where_data_was_written_in_order() {
    let hits = |format, overwrites| {
        let spec = drive(MapCacheSpec { format, size: Bytes::kib(80), ..CACHE });
        let flow = FlowSpec { limit: Some(4000), ..flow(8, AddressSpec::Uniform, 1.0) };
        let mut bench = Bench::new(&spec, preconditioned(&spec, 1.0, overwrites, 1), &[flow], 3);
        bench.run_out();
        bench.finish();
        let counted = counters(&bench);
        counted.map_hits as f64 / counted.map_lookups as f64
    };
    let (pages, extents) = (hits(MapFormat::Pages, 0.0), hits(MapFormat::Extents, 0.0));
    assert!(pages < 0.2, "20 of 107 pages: {pages}");
    assert!(extents > 0.9, "a program of 12 units is a run: 85 runs of a page take 700 bytes: {extents}");
    let scattered = hits(MapFormat::Extents, 2.0);
    assert!(scattered < 0.2, "units overwritten at random have no runs: {scattered}");
}

/// A tenth of the drive overwritten at random with caches of every format.
#[test]
fn changed_pages_are_written_in_batches_and_count_as_write_amplification() {
    for format in [MapFormat::Pages, MapFormat::Entries, MapFormat::Extents] {
        for batch in [None, Some(1), Some(5)] {
            let spec = drive(MapCacheSpec { format, batch, size: Bytes::kib(32), ..CACHE });
            let flow = FlowSpec { limit: Some(6000), ..flow(16, AddressSpec::Uniform, 0.3) };
            let mut bench = Bench::new(&spec, preconditioned(&spec, 1.0, 1.0, 1), &[flow], 5);
            bench.run_out();
            bench.finish();
            let counted = counters(&bench);
            let (program, nand) =
                (spec.layout().unwrap().units_per_program, bench.host.device.nand().counters);
            assert_eq!(
                counted.programmed(),
                (nand.host_programs + nand.gc_programs) * u64::from(program),
                "every unit of every program has one reason"
            );
            assert!(counted.map_units > 0 && counted.map_updates > counted.map_units, "{counted:?}");
            assert!(
                counted.map_programs * u64::from(batch.unwrap_or(program).min(program)) >= counted.map_units
            );
            if batch == Some(1) {
                assert!(counted.map_programs >= counted.map_units, "one by one");
            }
        }
    }
}

/// Requests over several translation pages complete with a cache of two pages, and blocks of translation pages are
/// collected.
#[test]
fn large_requests_pass_a_cache_of_two_pages() {
    let spec = drive(MapCacheSpec { size: Bytes::kib(8), ..CACHE });
    let large = SyntheticSpec {
        block_size: BlockSize::Fixed(Bytes::mib(10)),
        alignment: Bytes::kib(4),
        trim_share: 0.2,
        write_share: 0.3,
        read_share: 0.5,
        ..mix(0.5)
    };
    let flows = [FlowSpec { limit: Some(120), ..closed("f", 8, large) }];
    let mut bench = Bench::new(&spec, filled(&spec, 1.0), &flows, 5);
    bench.run_out();
    bench.finish();
    let counted = counters(&bench);
    assert!(counted.map_lookups >= 3 * 120, "{counted:?}");
}

#[test]
fn blocks_of_translation_pages_are_collected() {
    let spec = small(MapCacheSpec { batch: Some(1), size: Bytes::kib(8), ..CACHE });
    let flow = FlowSpec { limit: Some(20_000), ..flow(16, AddressSpec::Uniform, 0.0) };
    let mut bench = Bench::new(&spec, filled(&spec, 1.0), &[flow], 5);
    bench.run_out();
    bench.finish();
    let counted = counters(&bench);
    assert!(counted.map_gc_runs > 10, "{counted:?}");
}

#[test]
fn a_preconditioned_drive_has_its_map_on_flash() {
    let spec = drive(CACHE);
    let mut state = filled(&spec, 1.0);
    let blocks = state.block_manager_mut();
    let config = blocks.config().clone();
    assert!(config.translation_pages > 100);
    let on_flash = (0..config.translation_pages)
        .filter(|page| {
            let unit = interpulse_drive::numbers::Lpn(config.logical_units + page);
            matches!(blocks.map().get(unit), interpulse_drive::ftl::page::mapping::table::Where::Flash(_))
        })
        .count();
    assert_eq!(on_flash, config.translation_pages as usize);
    // Half of the units are mapped by half of the pages.
    let half = filled(&spec, 0.5);
    let mut bench =
        Bench::new(&spec, half, &[FlowSpec { limit: Some(2000), ..flow(4, AddressSpec::Uniform, 1.0) }], 1);
    bench.run_out();
    bench.finish();
    let (counted, unmapped) = (counters(&bench), bench.host.device.counters.unmapped_reads);
    assert!((800..1200).contains(&unmapped), "{unmapped}");
    assert!(counted.map_hits >= unmapped - 30, "no page of unmapped units is read: {counted:?}");
}

#[test]
fn what_does_not_go_together_is_refused() {
    let refused = |change: &dyn Fn(&mut DriveSpec)| {
        let mut spec = drive(CACHE);
        change(&mut spec);
        spec.check().unwrap_err().message
    };
    let imposed = refused(&|spec| {
        let rows = interpulse_drive::GcPolicy::all();
        spec.ftl.gc = rows.into_iter().find(|row| row.0 == "imposed").unwrap().1;
    });
    assert!(imposed.contains("translation pages"), "{imposed}");
    let small = refused(&|spec| {
        spec.ftl.mapping = MappingSpec::Cached(MapCacheSpec { size: Bytes::kib(4), ..CACHE })
    });
    assert!(small.contains("at least 8KiB"), "{small}");
}

/// Two queues with regions of their own, a quarter and three quarters of the cache: each hits as with a cache of its part, however
/// fast the other one is.
#[test]
fn each_queue_hits_as_its_part_of_the_cache_says() {
    let partition = MapPartition::ByQueue { shares: vec![1.0, 3.0] };
    let mut spec = drive(MapCacheSpec { size: Bytes::kib(4 * 48), partition, ..CACHE });
    spec.host.queue_weights = vec![1, 1];
    let half = |k: u32, depth: u32| {
        let (from, to) = (f64::from(k) / 2.0, f64::from(k + 1) / 2.0);
        let flow = closed(&format!("f{k}"), depth, SyntheticSpec { from, to, ..mix(1.0) });
        FlowSpec { queue: k, ..flow }
    };
    let mut bench = Bench::new(&spec, filled(&spec, 1.0), &[half(0, 1), half(1, 8)], 3);
    bench.run_requests(20_000);
    let mut rates = [Vec::new(), Vec::new()];
    for _ in 0..40 {
        let before = bench.host.device.map_lookups_by_queue().to_vec();
        bench.run_requests(8_000);
        for (k, (after, before)) in bench.host.device.map_lookups_by_queue().iter().zip(before).enumerate() {
            rates[k].push((after[1] - before[1]) as f64 / (after[0] - before[0]) as f64);
        }
    }
    let all = counters(&bench);
    let by_queue = bench.host.device.map_lookups_by_queue();
    assert_eq!(by_queue[0][0] + by_queue[1][0], all.map_lookups);
    assert_eq!(by_queue[0][1] + by_queue[1][1], all.map_hits);
    bench.finish();
    let units = spec.ftl_config().unwrap().logical_units;
    for (k, pages) in [(0, 12.0), (1, 36.0)] {
        // The page in the middle belongs to both.
        let (from, to) = (units / 2 * k, units / 2 * (k + 1));
        let first = from / 1024 * 1024;
        let weights: Vec<f64> =
            (first..to).step_by(1024).map(|at| f64::from((at + 1024).min(to) - at.max(from))).collect();
        let expected = lru_hit_rate(&weights, pages).unwrap();
        let measured = confidence_interval(&rates[k as usize], FAMILY_ERROR, COMPARISONS).unwrap();
        println!("queue {k}: expected {expected}, measured {measured:?}");
        assert!(measured.half_width() < 0.03, "{measured:?}");
        assert!(measured.contains(expected), "{expected} outside {measured:?}");
    }
}

#[test]
fn parts_of_the_cache_need_a_share_for_each_queue_and_room() {
    let with = |kib: u64, shares: Vec<f64>| {
        let partition = MapPartition::ByQueue { shares };
        let mut spec = drive(MapCacheSpec { size: Bytes::kib(kib), partition, ..CACHE });
        spec.host.queue_weights = vec![1, 1];
        spec.check().map_err(|why| why.keys[0].to_string())
    };
    assert_eq!(with(16, vec![]), Ok(()));
    assert_eq!(with(16, vec![1.0]), Err("ftl.map-cache-shares".into()));
    assert_eq!(
        with(16, vec![1.0, 3.0]),
        Err("ftl.map-cache-size".into()),
        "a quarter is less than two pages"
    );
    assert_eq!(with(32, vec![1.0, 3.0]), Ok(()));
}
