//! Tests of the statistics: tabulated values, and stated error rates of the intervals.

use interpulse_engine::Streams;
use interpulse_oracle::stats::*;

fn near(actual: f64, printed: f64, tolerance: f64) {
    assert!((actual - printed).abs() <= tolerance, "{actual} is not {printed}");
}

#[test]
fn moments_of_a_few_samples() {
    let samples = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
    assert_eq!(mean(&samples).unwrap(), 5.0);
    near(variance(&samples).unwrap(), 32.0 / 7.0, 1e-14);
    assert_eq!(variance(&[1.0]).unwrap_err().to_string(), "number of samples is 1, but must be at least 2");
    assert_eq!(mean(&[1.0, f64::NAN]).unwrap_err().name, "sample");
    assert!(mean(&[]).is_err());
}

#[test]
fn quantiles_equal_their_tables() {
    for (p, freedom, t) in [
        (0.975, 1, 12.706_204_736),
        (0.975, 4, 2.776_445_105),
        (0.975, 10, 2.228_138_852),
        (0.995, 30, 2.749_995_654),
        (0.9995, 9, 4.780_912_586),
        (0.95, 1000, 1.646_378_818),
    ] {
        near(student_t_quantile(p, freedom).unwrap(), t, 1e-6);
        near(student_t_quantile(1.0 - p, freedom).unwrap(), -t, 1e-6);
    }
    assert_eq!(student_t_quantile(0.5, 7).unwrap(), 0.0);
    assert!(student_t_quantile(0.5, 0).is_err() && student_t_quantile(1.0, 5).is_err());
    // Far tails have closed forms: nu = 2, t = (2p - 1) / sqrt(2 p (1 - p)); nu = 1, t = -cot(pi p).
    for p in [1e-2, 1e-4, 1e-6, 1e-9] {
        let two = (2.0 * p - 1.0) / (2.0f64 * p * (1.0 - p)).sqrt();
        near(student_t_quantile(p, 2).unwrap() / two, 1.0, 1e-6);
        near(student_t_quantile(p, 1).unwrap() * (std::f64::consts::PI * p).tan(), -1.0, 1e-6);
    }
    near(normal_bound(0.05, 1).unwrap(), 1.959_963_985, 1e-8);
    near(normal_bound(0.01, 10).unwrap(), 3.290_526_731, 1e-8);
    near(normal_bound(2.0 * 9.865_876_450_377e-10, 1).unwrap(), 6.0, 1e-6);
}

#[test]
fn an_interval_by_hand() {
    let interval = confidence_interval(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.05, 1).unwrap();
    near(interval.half_width(), 2.776_445_105 * (2.5f64 / 5.0).sqrt(), 1e-8);
    assert!(interval.contains(3.0) && interval.contains(interval.high) && !interval.contains(5.0));
    assert!(!interval.contains(f64::NAN));
    let split = confidence_interval(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.5, 10).unwrap();
    assert_eq!(split, interval);
    assert!(confidence_interval(&[1.0, 2.0], 0.05, 0).is_err());
    assert!(confidence_interval(&[1.0, 2.0], 0.0, 1).is_err());
}

#[test]
fn batches_drop_the_warm_up() {
    assert_eq!(batch_means(&[9.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3).unwrap(), [1.5, 3.5, 5.5]);
    assert_eq!(batch_means(&[1.0, 2.0], 2).unwrap(), [1.0, 2.0]);
    assert!(batch_means(&[1.0, 2.0], 3).is_err() && batch_means(&[1.0], 0).is_err());
}

#[test]
fn kolmogorov_smirnov() {
    let uniform = |x: f64| x.clamp(0.0, 1.0);
    near(ks_statistic(&[0.7, 0.1, 0.2], uniform).unwrap(), 2.0 / 3.0 - 0.2, 1e-12);
    near(ks_statistic(&[0.5], uniform).unwrap(), 0.5, 1e-12);
    assert!(ks_statistic(&[0.5], |x| x + 1.0).is_err());
    // Limits 1.3581 at 5 % and 1.6276 at 1 %; exact small-sample value 0.40925 for n = 10 at 5 %.
    near(ks_critical(1_000_000, 0.05, 1).unwrap() * 1000.12, 1.3581, 1e-4);
    near(ks_critical(1_000_000, 0.1, 10).unwrap() * 1000.12, 1.6276, 1e-4);
    near(ks_critical(10, 0.05, 1).unwrap(), 0.40925, 0.002);
}

#[test]
fn intervals_fail_as_often_as_they_say() {
    let trials = 20_000u64;
    let streams = Streams::new(11);
    let (mut mean_misses, mut ks_misses, mut share_misses) = (0u64, 0u64, 0u64);
    for i in 0..trials {
        let mut rng = streams.stream("coverage", i);
        let samples: Vec<f64> = (0..50).map(|_| rng.unit()).collect();
        mean_misses += u64::from(!confidence_interval(&samples, 0.1, 2).unwrap().contains(0.5));
        let distance = ks_statistic(&samples, |x| x).unwrap();
        ks_misses += u64::from(distance > ks_critical(50, 0.1, 2).unwrap());
        let below = (0..400).filter(|_| rng.unit() < 0.3).count() as f64 / 400.0;
        share_misses += u64::from(!proportion_interval(0.3, 400, 0.1, 2).unwrap().contains(below));
    }
    // Each misses 5 %, the last two to within the accuracy of their approximations (discreteness: 2 % to 6
    // %).
    let five = proportion_interval(0.05, trials, 1e-4, 1).unwrap();
    assert!(five.contains(mean_misses as f64 / trials as f64), "{mean_misses}");
    assert!((900..1100).contains(&ks_misses), "{ks_misses}");
    assert!((400..1200).contains(&share_misses), "{share_misses}");
    assert!(proportion_interval(0.3, 0, 0.1, 1).is_err());
}

/// Quantiles of the chi-square distribution from tables: 5 % and 0.1 % for 1, 10 and 30 degrees of freedom.
#[test]
fn pearsons_statistic_exceeds_tabled_values_as_rarely_as_stated() {
    for (classes, error, value) in
        [(2, 0.05, 3.841), (11, 0.05, 18.307), (31, 0.05, 43.773), (11, 0.001, 29.588)]
    {
        let ours = chi_square_critical(classes, error, 1).unwrap();
        assert!((ours - value).abs() < 1e-3, "{classes} classes: {ours} against {value}");
    }
    assert!(chi_square_critical(1, 0.05, 1).is_err());
}
