//! Allocation by super word lines: consecutive pages on successive lanes, whatever the size of the cache.

use crate::drive_common::{Bench, Cells, closed, filled, mix, of_part, part, preconditioned};
use interpulse_drive::ftl::page::mapping::table::Where;
use interpulse_drive::ftl::page::placement::stripe::Allocation;
use interpulse_drive::numbers::Lpn;
use interpulse_drive::spec::DriveSpec;
use interpulse_drive::{Drive, Preconditioner};
use interpulse_engine::{Bytes, Streams};
use interpulse_workload::{AddressSpec, BlockSize, FlowSpec, SyntheticSpec};

/// Eight dies whose programs take three pages of each of two planes.
fn spec(allocation: Allocation, cache: Bytes) -> DriveSpec {
    let mut spec = of_part(part(Cells::Tlc, 2, 24, 16), 4, 2, 1);
    spec.ftl.multi_plane = 2;
    spec.ftl.over_provisioning = 0.5;
    spec.ftl.allocation = allocation;
    spec.cache.size = cache;
    spec
}

fn sequential_writes() -> FlowSpec {
    let (block_size, alignment) = (BlockSize::Fixed(Bytes::kib(64)), Bytes::kib(64));
    closed("w", 8, SyntheticSpec { block_size, alignment, addresses: AddressSpec::Sequential, ..mix(0.0) })
}

/// Share of the pages whose next page is on the same die.
fn neighbours_on_one_die(place: impl Fn(Lpn) -> Where, spec: &DriveSpec, pages: u32) -> f64 {
    let (layout, page) = (spec.layout().unwrap(), spec.geometry.units_per_page);
    let die = |of: u32| match place(Lpn(of * page)) {
        Where::Flash(ppu) => Some(layout.die_of(layout.lane_of(layout.block_of(ppu)).0).0),
        _ => None,
    };
    let pairs: Vec<_> = (0..pages - 1).filter_map(|k| Some((die(k)?, die(k + 1)?))).collect();
    assert!(pairs.len() as u32 > pages / 2, "{} of {pages} pages", pairs.len());
    pairs.iter().filter(|(a, b)| a == b).count() as f64 / pairs.len() as f64
}

fn of_drive(drive: &Drive) -> impl Fn(Lpn) -> Where {
    |lpn| drive.block_manager().map().get(lpn)
}

#[test]
fn pages_written_one_after_another_are_on_different_dies() {
    for (allocation, least, most) in [
        (Allocation::Dynamic, 0.75, 0.9),
        (Allocation::SuperWordLine, 0.0, 0.03),
        (Allocation::all()[1].1, 0.0, 0.0),
    ] {
        let spec = spec(allocation, Bytes::mib(8));
        let mut b = Bench::new(&spec, filled(&spec, 0.0), &[sequential_writes()], 1);
        b.run_requests(500);
        b.finish();
        let found = neighbours_on_one_die(of_drive(&b.host.device), &spec, 2_000);
        assert!((least..=most).contains(&found), "{allocation:?}: {found}");
    }
}

/// A round is as wide as the cache holds three of.
#[test]
fn a_small_cache_gathers_fewer_pages() {
    let shares = [8 << 10, 2048, 1024, 512].map(|kib| {
        let spec = spec(Allocation::SuperWordLine, Bytes::kib(kib));
        let mut b = Bench::new(&spec, filled(&spec, 0.0), &[sequential_writes()], 1);
        b.run_requests(500);
        b.finish();
        neighbours_on_one_die(of_drive(&b.host.device), &spec, 2_000)
    });
    assert!(shares.is_sorted(), "{shares:?}");
    assert!(shares[0] < 0.03 && shares[3] > 0.5, "{shares:?}");
}

#[test]
fn a_fill_gathers_super_word_lines_too() {
    let spec = spec(Allocation::SuperWordLine, Bytes::mib(8));
    let mut ftl = spec.fresh_ftl(Streams::new(1).stream("gc", 0)).unwrap();
    let logical = ftl.map().logical_units();
    let mut p = Preconditioner::new(&mut ftl, spec.fill_stripe().unwrap()).working_ahead();
    p.write_in_order(Lpn(0), Lpn(logical));
    p.forget_stripe();
    let mut rng = Streams::new(1).stream("anywhere", 0);
    p.overwrite(u64::from(logical) / 100, || Lpn(rng.below(u64::from(logical)) as u32));
    p.finish();
    let pages = logical / spec.geometry.units_per_page;
    let found = neighbours_on_one_die(|lpn| ftl.map().get(lpn), &spec, pages);
    assert!(found < 0.05, "{found}");
}

/// Overwrites and trims in the cache leave lists of different lengths; flushes want a part of a round.
#[test]
fn writes_trims_and_flushes_of_all_kinds_add_up() {
    for (seed, kib) in [(1, 8 << 10), (2, 1024), (3, 512), (4, 384)] {
        let spec = spec(Allocation::SuperWordLine, Bytes::kib(kib));
        let mut random = mix(0.3);
        (random.write_share, random.trim_share, random.flush_every) = (0.5, 0.2, Some(50));
        let mut small = mix(0.0);
        small.to = 0.001;
        let flows = [closed("random", 16, random), closed("absorbed", 4, small), sequential_writes()];
        let mut b = Bench::new(&spec, preconditioned(&spec, 0.9, 0.5, seed), &flows, seed);
        b.run_requests(12_000);
        b.finish();
    }
}
