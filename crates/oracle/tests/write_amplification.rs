//! Tests of the write amplification formulas: published and hand-computed values, and limits.

use interpulse_oracle::write_amplification::*;
use interpulse_oracle::{lambert_w0, zipf};

/// Equal to the digits printed.
fn close(actual: f64, printed: f64, digits: i32) {
    assert!((actual - printed).abs() <= 0.5001 * 10f64.powi(-digits), "{actual} is not {printed}");
}

#[test]
fn lambert_w_inverts_its_definition() {
    for w in [-0.999, -0.9, -0.5, -0.1, -1e-9, 0.0, 1e-9, 0.5, 1.0, 3.0, 100.0] {
        let found = lambert_w0(w * f64::exp(w)).unwrap();
        assert!((found - w).abs() <= 1e-11 * f64::abs(w), "{found} for {w}");
    }
    close(lambert_w0(1.0).unwrap(), 0.567_143_290_409_784, 14);
    assert_eq!(lambert_w0(-f64::exp(-1.0)).unwrap(), -1.0);
    assert_eq!(lambert_w0(-0.4).unwrap_err().to_string(), "x is -0.4, but must be finite and at least -1/e");
    // Close to the branch point: W = -1 + p - p^2/3 + 11 p^3/72, p^2 = 2 (1 + e x).
    for p in [1e-5f64, 1e-3] {
        let x = (0.5 * p * p - 1.0) * f64::exp(-1.0);
        let series = -1.0 + p - p * p / 3.0 + 11.0 / 72.0 * p.powi(3);
        assert!((lambert_w0(x).unwrap() - series).abs() < 1e-10);
    }
}

#[test]
fn spare_factor_conversions_invert_each_other() {
    close(rho_from_op(0.28).unwrap(), 0.78125, 9);
    close(op_from_rho(rho_from_op(0.07).unwrap()).unwrap(), 0.07, 14);
    for bad in [0.0, 1.0, -1.0, f64::NAN] {
        assert!(op_from_rho(bad).is_err());
    }
    assert!(rho_from_op(0.0).is_err());
}

#[test]
fn fifo_under_uniform_writes() {
    for (op, wa) in [(0.07, 7.817), (0.10, 5.677), (0.15, 4.016), (0.28, 2.481), (0.30, 2.364), (0.50, 1.716)]
    {
        close(fifo_at_op(op), wa, 3);
    }
    for (rho, wa) in [(0.9, 5.179), (0.8, 2.693), (0.7, 1.876), (0.5, 1.255)] {
        close(fifo_uniform(rho).unwrap(), wa, 3);
    }
    // The defining fixed point, over the whole range.
    for i in 1..1000 {
        let rho = f64::from(i) / 1000.0;
        let wa = fifo_uniform(rho).unwrap();
        let u = (-1.0 / (rho * wa)).exp();
        assert!((wa * (1.0 - u) - 1.0).abs() < 1e-9, "rho {rho}: {wa}");
    }
}

fn fifo_at_op(op: f64) -> f64 {
    fifo_uniform(rho_from_op(op).unwrap()).unwrap()
}

#[test]
fn greedy_under_uniform_writes() {
    for (b, wa) in [(32, 4.508), (64, 4.821), (256, 5.083)] {
        close(greedy_uniform(0.9, b).unwrap(), wa, 3);
    }
    for (b, wa) in [(16, 2.114), (64, 2.293), (256, 2.346), (768, 2.358)] {
        close(greedy_uniform(rho_from_op(0.3).unwrap(), b).unwrap(), wa, 3);
    }
    close(greedy_uniform(rho_from_op(0.07).unwrap(), 256).unwrap(), 7.597, 3);
    // A value simulated with 2000 blocks.
    assert!((greedy_uniform(0.8, 64).unwrap() / 2.594 - 1.0).abs() < 3e-3);
    // Large blocks: greedy approaches FIFO from below.
    let (greedy, fifo) = (greedy_uniform(0.9, 100_000).unwrap(), fifo_uniform(0.9).unwrap());
    assert!(greedy < fifo && fifo - greedy < 1e-3);
    // Small blocks, much spare: victims are empty.
    assert_eq!(greedy_uniform(0.3, 4).unwrap(), 1.0);
    assert_eq!(greedy_uniform(0.9, 1).unwrap(), 1.0);
}

#[test]
fn best_of_d_under_uniform_writes() {
    for (d, wa) in [(1, 10.0), (2, 6.852), (10, 5.0)] {
        close(d_choices_uniform(0.9, 64, d).unwrap(), wa, 3);
    }
    for b in [1, 8, 1024] {
        let single = d_choices_uniform(0.7, b, 1).unwrap();
        assert!((single - 1.0 / 0.3).abs() < 1e-9, "{single}");
    }
    // Many choices are greedy, also where the level crossing is nearly flat.
    for (rho, b) in [(0.9, 64), (0.8, 64), (0.95, 256), (0.5, 16), (0.3, 4)] {
        let many = d_choices_uniform(rho, b, 100_000).unwrap();
        let greedy = greedy_uniform(rho, b).unwrap();
        assert!((many / greedy - 1.0).abs() < 1e-3, "rho {rho}, b {b}: {many} and {greedy}");
    }
}

#[test]
fn d_choices_fall_with_d_over_the_whole_domain() {
    for b in [2, 16, 256, 1024] {
        for rho in [0.01, 0.3, 0.7, 0.9, 0.97, 0.999] {
            let all: Vec<f64> =
                [1, 2, 3, 5, 10, 64].iter().map(|&d| d_choices_uniform(rho, b, d).unwrap()).collect();
            let greedy = greedy_uniform(rho, b).unwrap();
            assert!(all.windows(2).all(|w| w[1] < w[0] * (1.0 + 1e-9)), "rho {rho}, b {b}: {all:?}");
            assert!(all[5] >= greedy * (1.0 - 1e-9), "rho {rho}, b {b}: {all:?} below greedy {greedy}");
        }
    }
}

#[test]
fn fifo_of_any_popularity() {
    let op30 = rho_from_op(0.3).unwrap();
    close(fifo_classes(0.9, &hot_and_cold(0.2, 0.8)).unwrap(), 5.538, 3);
    close(fifo_classes(op30, &hot_and_cold(0.2, 0.8)).unwrap(), 2.700, 3);
    close(fifo_classes(op30, &hot_and_cold(0.1, 0.9)).unwrap(), 3.163, 3);
    // One class, or two with the same rate, are the uniform case.
    for classes in [&hot_and_cold(0.3, 0.3)[..], &[PageClass { space: 1.0, writes: 1.0 }]] {
        assert!((fifo_classes(0.9, classes).unwrap() / fifo_uniform(0.9).unwrap() - 1.0).abs() < 1e-12);
    }
    // Read-only data is copied on every cycle: a share f of U is never invalidated, and the rest is uniform.
    let wa = fifo_classes(0.8, &hot_and_cold(0.5, 1.0)).unwrap();
    let u = (-2.0 * 1.25 / wa).exp();
    assert!((1.0 / (1.0 - u) + 0.5 / (1.25 / wa) - wa).abs() < 1e-9, "{wa}");
    assert!(fifo_classes(0.9, &[]).is_err());
    assert!(fifo_classes(0.9, &hot_and_cold(0.0, 0.5)).is_err());
    let short = [PageClass { space: 0.5, writes: 1.0 }];
    assert_eq!(fifo_classes(0.9, &short).unwrap_err().name, "sum of the space of classes");
}

#[test]
fn separated_pools() {
    let best = two_pools_best(0.9, 0.2, 0.8).unwrap();
    close(best.write_amplification, 3.571, 3);
    close(100.0 * best.hot_spare, 49.8, 1);
    let best = two_pools_best(rho_from_op(0.3).unwrap(), 0.2, 0.8).unwrap();
    close(best.write_amplification, 1.793, 3);
    close(100.0 * best.hot_spare, 49.0, 1);
    // Spare in proportion to the data: both pools are the uniform drive.
    assert!((two_pools(0.9, 0.2, 0.8, 0.2).unwrap() / fifo_uniform(0.9).unwrap() - 1.0).abs() < 1e-12);
    assert_eq!(two_pools(0.9, 0.2, 0.8, 0.0).unwrap(), f64::INFINITY);
}

#[test]
fn zipf_exponents_and_their_fifo() {
    for (items, s) in [(10_000, 0.871), (100_000, 0.845), (1_000_000, 0.831), (10_000_000, 0.823)] {
        close(zipf::exponent_for_share(items, 0.2, 0.739).unwrap(), s, 3);
    }
    let classes = zipf::page_classes(100_000, 0.845).unwrap();
    for (rho, wa) in [(0.9, 6.66), (0.92, 8.19), (1.0 / 1.3, 3.09)] {
        close(fifo_classes(rho, &classes).unwrap(), wa, 2);
    }
}

#[test]
fn harmonic_numbers_equal_their_sums() {
    for s in [0.0, 0.5, 0.845, 1.0 - 1e-12, 1.0, 1.5, 4.0] {
        for n in [1u64, 64, 65, 100, 10_000] {
            let sum: f64 = (1..=n).rev().map(|k| (k as f64).powf(-s)).sum();
            assert!((zipf::harmonic(n, s).unwrap() / sum - 1.0).abs() < 1e-14, "n {n}, s {s}");
        }
    }
    assert!(zipf::exponent_for_share(100, 0.2, 0.1).is_err());
    assert!(zipf::top_share(10, 1.0, 11).is_err());
}
