//! Multi-block erases of a drive: groups of emptied blocks, wear, failures, formats, power.

use crate::drive_common::{Bench, Cells, closed, mix, of_part, part, preconditioned};
use interpulse_drive::spec::{DriveSpec, FaultSpec};
use interpulse_engine::{Bytes, Device, Duration};
use interpulse_flash::erase::{MultiBlock, MultiBlockVerify};
use interpulse_flash::parts::TrainSpec;

/// A lane of 40 blocks with long erases, of which 8 are kept free.
fn spec(blocks: u32) -> DriveSpec {
    let us = Duration::from_us;
    let mut part = part(Cells::Slc, 1, 40, 4);
    part.erase = TrainSpec::even(3, us(1_000), us(0), us(100));
    let mut spec = of_part(part, 1, 1, 1);
    (spec.ftl.over_provisioning, spec.ftl.gc_soft) = (0.8, 0.2);
    spec.cache.size = Bytes::kib(256);
    spec.nand.multi_block = MultiBlock { blocks, verify: MultiBlockVerify::Each };
    spec
}

/// Steps a drive that overwrites its data through so many requests.
fn overwrite(spec: &DriveSpec, requests: u64, mut see: impl FnMut(&mut Bench)) -> Bench {
    let mut bench = Bench::new(spec, preconditioned(spec, 1.0, 1.0, 1), &[closed("w", 8, mix(0.0))], 1);
    while bench.host.device.completed() < requests {
        assert!(bench.step(bench.events.horizon()), "{}", bench.host.device.diagnosis(&bench.events));
        see(&mut bench);
    }
    bench
}

/// Erases that began together, over all erases.
fn share_taken_along(bench: &Bench) -> f64 {
    let c = bench.host.device.nand().counters;
    c.multi_block_erases as f64 / c.erases as f64
}

/// In groups of four three erases of four are taken along; the operation of four takes 3 x 1.4 ms where four take 4 x 3.3 ms.
#[test]
fn blocks_are_erased_in_groups() {
    let mut ends = Vec::new();
    for (blocks, share) in [(1, 0.0), (2, 0.5), (4, 0.75)] {
        let mut bench = overwrite(&spec(blocks), 6_000, |_| ());
        let found = share_taken_along(&bench);
        assert!((found - share).abs() < 0.06, "{blocks}: {found}");
        let c = bench.host.device.nand().counters;
        assert!(c.erases > 100, "{c:?}");
        let operations = c.erases - c.multi_block_erases;
        assert!(c.erase_owed_time <= operations * 3 * (1_000_000 + u64::from(blocks) * 100_000));
        ends.push(bench.events.now().as_ns());
        bench.finish();
    }
    assert!(ends[1] < ends[0] && ends[2] < ends[1], "{ends:?}");
}

/// A lane whose threshold leaves one block for host data keeps no emptied block.
#[test]
fn a_lane_short_of_blocks_erases_fewer() {
    let mut short = spec(8);
    (short.ftl.gc_soft, short.ftl.gc_hard) = (0.05, 0.03);
    let mut bench = overwrite(&short, 3_000, |_| ());
    // Erases that wait for the die at the same time go together.
    assert!(share_taken_along(&bench) < 0.05, "{}", share_taken_along(&bench));
    bench.finish();
    // With a few more there are groups, though none of eight.
    (short.ftl.gc_soft, short.ftl.gc_hard) = (0.125, 0.025);
    let mut most = 0;
    let mut bench = overwrite(&short, 3_000, |bench| {
        most = most.max(bench.host.device.nand().dies()[0].blocks_of_operation());
    });
    assert!((2..8).contains(&most), "{most}");
    bench.finish();
}

/// Every block of an operation wears by its own cycle, and some fail on their own.
#[test]
fn blocks_of_an_operation_fail_one_by_one() {
    let mut faulty = spec(4);
    faulty.ftl.bad_block_reserve = 0.3;
    faulty.faults = Some(FaultSpec { erase_failure: 0.03, ..FaultSpec::NONE });
    let mut bench = overwrite(&faulty, 6_000, |_| ());
    assert!(share_taken_along(&bench) > 0.5);
    let health = bench.host.device.health().unwrap();
    let (ftl, nand) = (bench.host.device.ftl_counters(), bench.host.device.nand().counters);
    assert_eq!(ftl.erases, nand.erases);
    assert!((1..nand.multi_block_erases).contains(&health.erase_failures), "{health:?}");
    bench.finish();
}
