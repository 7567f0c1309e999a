//! Is a drive whose wear before the run is drawn as worn as its mean, dispersion and endurance say, and one drive at each age?

use crate::drive_common::{Bench, Cells, closed, mix, of_part, part, preconditioned};
use interpulse_drive::Health;
use interpulse_drive::spec::{DriveSpec, FaultSpec, WearBefore, WearOut};

/// Four lanes of 360 blocks, of which 40 are reserved; blocks endure 1000 cycles, give or take 100.
fn aged(cycles: u32, dispersion: f64) -> DriveSpec {
    let mut spec = of_part(part(Cells::Tlc, 1, 360, 8), 2, 2, 1);
    spec.part.endurance = 1000;
    spec.ftl.bad_block_reserve = 0.1;
    spec.faults = Some(FaultSpec { wear_out: WearOut::Normal, endurance_spread: 0.1, ..FaultSpec::NONE });
    spec.wear_before = Some(WearBefore { cycles, dispersion });
    spec
}

fn start(spec: &DriveSpec) -> Bench {
    Bench::new(spec, preconditioned(spec, 1.0, 1.0, 1), &[closed("w", 8, mix(0.5))], 3)
}

fn cycles(bench: &Bench) -> Vec<u32> {
    let drive = &bench.host.device;
    let dies = drive.spec().geometry.dies();
    interpulse_flash::DieId::first(dies)
        .flat_map(|die| drive.block_cycles(die, 0, u32::MAX).collect::<Vec<_>>())
        .collect()
}

fn health(bench: &Bench) -> Health {
    bench.host.device.health().expect("blocks can fail")
}

/// Five standard errors: less than 1e-6 by chance for both bounds.
#[test]
fn erases_have_their_mean_and_dispersion() {
    let mut spec = aged(400, 2.0);
    spec.faults = None;
    let drawn: Vec<f64> = cycles(&start(&spec)).into_iter().map(f64::from).collect();
    let n = drawn.len() as f64;
    let mean = drawn.iter().sum::<f64>() / n;
    let variance = drawn.iter().map(|c| (c - mean) * (c - mean)).sum::<f64>() / n;
    assert!((mean - 400.0).abs() < 5.0 * (800.0 / n).sqrt(), "{mean}");
    assert!((variance / 800.0 - 1.0).abs() < 5.0 * (2.0 / n).sqrt(), "{variance}");
    assert!(
        cycles(&start(&aged(400, 0.0))).iter().all(|&c| c == 400),
        "no block fails at 400 of 1000 +- 100"
    );
}

/// Of a lane's 320 places, 1280 in all, the share that a normal distribution has below the mean has failed; five standard errors.
#[test]
fn blocks_fail_as_their_endurance_says() {
    for (cycles, share) in [(850, 0.066_807_f64), (900, 0.158_655)] {
        let health = health(&start(&aged(cycles, 0.0)));
        let (expected, sd) = (1280.0 * share, (1280.0 * share * (1.0 - share)).sqrt());
        let failed = health.grown_bad_blocks as f64;
        // A lane has 40 reserved blocks, so that 900 cycles end the drive.
        if health.read_only_since.is_none() {
            assert!((failed - expected).abs() < 5.0 * sd, "{cycles}: {failed} of {expected}");
        }
        assert_eq!(health.read_only_since.is_some(), cycles == 900, "{health:?}");
    }
}

#[test]
fn a_drive_is_the_same_at_each_age() {
    let mut before = 0;
    let ends = health(&start(&aged(0, 0.5))).reserve_ends_at;
    let end = ends.expect("the reserve ends some day");
    for cycles in [500, 800, end - 1, end] {
        let health = health(&start(&aged(cycles, 0.5)));
        assert_eq!(health.reserve_ends_at, ends, "{cycles}");
        assert!(health.grown_bad_blocks >= before, "{cycles}");
        before = health.grown_bad_blocks;
        assert_eq!(health.read_only_since.is_some(), cycles == end, "{cycles}: {health:?}");
        assert!(cycles < end || health.least_spare_of_lane == 0, "{cycles}: {health:?}");
    }
}

/// The audits of cycles and failures hold in a run that goes on from drawn wear until further blocks fail.
#[test]
fn a_run_continues_the_wear() {
    let mut bench = start(&aged(840, 0.1));
    let before = health(&bench).grown_bad_blocks;
    bench.run_requests(40_000);
    assert!(health(&bench).grown_bad_blocks >= before);
    bench.finish();
}
