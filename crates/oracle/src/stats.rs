//! Statistics to compare runs with formulas: intervals of a stated family-wise error instead of hand-picked tolerances.
//!
//! A suite of `k` comparisons states one `family_error`, the probability that any comparison fails although all formulas hold;
//! each comparison gets `family_error / k` (Bonferroni, valid for dependent comparisons).

use crate::domain::{OutOfDomain, fraction, require};
use statrs::distribution::{ChiSquared, ContinuousCDF, Normal, StudentsT};

/// An interval about a mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The estimate.
    pub mean: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// The interval `mean +- half_width`.
    pub fn around(mean: f64, half_width: f64) -> Interval {
        Interval { mean, low: mean - half_width, high: mean + half_width }
    }

    /// Whether `x` lies inside, ends included; false for NaN.
    pub fn contains(&self, x: f64) -> bool {
        self.low <= x && x <= self.high
    }

    /// Half the length.
    pub fn half_width(&self) -> f64 {
        0.5 * (self.high - self.low)
    }
}

/// Mean of the samples, summed in their order.
///
/// # Errors
/// [`OutOfDomain`] if there is no sample or one is not finite.
pub fn mean(samples: &[f64]) -> Result<f64, OutOfDomain> {
    at_least(samples, 1, "at least 1")?;
    Ok(samples.iter().sum::<f64>() / samples.len() as f64)
}

/// Unbiased sample variance (divisor `n - 1`), in two passes.
///
/// # Errors
/// [`OutOfDomain`] if there are fewer than 2 samples or one is not finite.
pub fn variance(samples: &[f64]) -> Result<f64, OutOfDomain> {
    at_least(samples, 2, "at least 2")?;
    let mean = mean(samples)?;
    let squares: f64 = samples.iter().map(|x| (x - mean) * (x - mean)).sum();
    Ok(squares / (samples.len() - 1) as f64)
}

/// The quantile of Student's t distribution: the `x` with `P(T <= x) = probability`.
///
/// # Errors
/// [`OutOfDomain`] unless `probability` lies strictly between 0 and 1 and `degrees_of_freedom >= 1`.
pub fn student_t_quantile(probability: f64, degrees_of_freedom: u32) -> Result<f64, OutOfDomain> {
    fraction("probability", probability)?;
    let freedom = f64::from(degrees_of_freedom);
    if degrees_of_freedom == 1 {
        // Closed form (Cauchy), because the inverse of the library fails in tails below 1e-7 for one degree of freedom.
        return Ok(-1.0 / libm::tan(std::f64::consts::PI * probability));
    }
    let legal = "at least 1";
    let t = StudentsT::new(0.0, 1.0, freedom).map_err(|_| OutOfDomain {
        name: "degrees_of_freedom",
        value: freedom,
        legal,
    })?;
    Ok(t.inverse_cdf(probability))
}

/// The two-sided bound on a standard normal variate for one of `comparisons`: exceeded in absolute value with
/// probability `family_error / comparisons`.
///
/// # Errors
/// [`OutOfDomain`] unless `0 < family_error < 1` and `comparisons >= 1`.
pub fn normal_bound(family_error: f64, comparisons: usize) -> Result<f64, OutOfDomain> {
    let error = error_each(family_error, comparisons)?;
    // The lower tail avoids rounding of 1 - error / 2.
    Ok(-Normal::standard().inverse_cdf(0.5 * error))
}

/// The confidence interval of the mean of independent samples (one per seed, or batch means), by Student's t.
///
/// # Errors
/// [`OutOfDomain`] unless there are at least 2 finite samples, `0 < family_error < 1` and `comparisons >= 1`.
pub fn confidence_interval(
    samples: &[f64],
    family_error: f64,
    comparisons: usize,
) -> Result<Interval, OutOfDomain> {
    let standard_error = (variance(samples)? / samples.len() as f64).sqrt();
    let error = error_each(family_error, comparisons)?;
    let freedom = u32::try_from(samples.len() - 1).unwrap_or(u32::MAX);
    Ok(Interval::around(mean(samples)?, -student_t_quantile(0.5 * error, freedom)? * standard_error))
}

/// Means of `batches` equal runs of consecutive samples, for the interval of one long correlated series.
///
/// Surplus samples are dropped from the start (warm-up). The means are nearly independent if a batch is much longer than the
/// correlation of the series.
///
/// # Errors
/// [`OutOfDomain`] unless `1 <= batches <= samples.len()` and all samples are finite.
pub fn batch_means(samples: &[f64], batches: usize) -> Result<Vec<f64>, OutOfDomain> {
    let legal = (1..=samples.len()).contains(&batches);
    require(legal, "batches", batches as f64, "between 1 and the number of samples")?;
    let length = samples.len() / batches;
    samples[samples.len() - length * batches..].chunks_exact(length).map(mean).collect()
}

/// Interval of the observed share of `trials` independent events of probability `expected`:
/// `expected +- z sqrt(expected (1 - expected) / trials)`, plus half an event for the discreteness.
///
/// A normal approximation, valid in the far tails from about ten expected events of each kind.
///
/// # Errors
/// [`OutOfDomain`] unless `0 < expected < 1`, `trials >= 1` and the error arguments are legal as in
/// [`normal_bound`].
pub fn proportion_interval(
    expected: f64,
    trials: u64,
    family_error: f64,
    comparisons: usize,
) -> Result<Interval, OutOfDomain> {
    let p = fraction("expected", expected)?;
    let n = trials as f64;
    require(trials >= 1, "trials", n, "at least 1")?;
    let deviation = (p * (1.0 - p) / n).sqrt();
    Ok(Interval::around(p, normal_bound(family_error, comparisons)? * deviation + 0.5 / n))
}

/// The one-sample Kolmogorov-Smirnov statistic: the largest distance between the empirical distribution and `cdf`.
///
/// # Errors
/// [`OutOfDomain`] if there is no sample, one is not finite, or `cdf` leaves \[0, 1\].
pub fn ks_statistic(samples: &[f64], cdf: impl Fn(f64) -> f64) -> Result<f64, OutOfDomain> {
    at_least(samples, 1, "at least 1")?;
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let mut largest: f64 = 0.0;
    for (i, &x) in sorted.iter().enumerate() {
        let p = crate::domain::share("value of the distribution function", cdf(x))?;
        largest = largest.max(p - i as f64 / n).max((i + 1) as f64 / n - p);
    }
    Ok(largest)
}

/// The critical value of the Kolmogorov-Smirnov statistic of `n` samples of a continuous distribution: exceeded with
/// probability `family_error / comparisons`.
///
/// Kolmogorov's limit `P(sqrt(n) D > x) = 2 sum (-1)^(k-1) exp(-2 k^2 x^2)` with Stephens' (1970) correction
/// `sqrt(n) + 0.12 + 0.11 / sqrt(n)`, good to about 1 % from `n = 5`.
///
/// # Errors
/// [`OutOfDomain`] unless `n >= 1` and the error arguments are legal as in [`normal_bound`].
pub fn ks_critical(n: usize, family_error: f64, comparisons: usize) -> Result<f64, OutOfDomain> {
    require(n >= 1, "n", n as f64, "at least 1")?;
    let error = error_each(family_error, comparisons)?;
    let exceeds = |x: f64| {
        let term = |k: i32| {
            let sign = if k % 2 == 1 { 2.0 } else { -2.0 };
            sign * libm::exp(-2.0 * f64::from(k * k) * x * x)
        };
        (1..=100).map(term).sum::<f64>()
    };
    // Below 0.2 the probability is 1 to twelve digits; above 20 it is 1e-347.
    let limit = crate::numeric::increasing(0.2, 20.0, |x| error - exceeds(x));
    let root = (n as f64).sqrt();
    Ok(limit / (root + 0.12 + 0.11 / root))
}

/// The critical value of Pearson's statistic, the sum of (observed - expected)^2 / expected over `classes` classes of a fully
/// specified distribution: exceeded with probability `family_error / comparisons`.
///
/// # Errors
/// [`OutOfDomain`] unless there are at least 2 classes and the error arguments are legal as in [`normal_bound`].
pub fn chi_square_critical(
    classes: usize,
    family_error: f64,
    comparisons: usize,
) -> Result<f64, OutOfDomain> {
    require(classes >= 2, "classes", classes as f64, "at least 2")?;
    let error = error_each(family_error, comparisons)?;
    let distribution = ChiSquared::new((classes - 1) as f64).expect("degrees of freedom are positive");
    Ok(distribution.inverse_cdf(1.0 - error))
}

/// Bonferroni's share of the family-wise error.
fn error_each(family_error: f64, comparisons: usize) -> Result<f64, OutOfDomain> {
    fraction("family_error", family_error)?;
    require(comparisons >= 1, "comparisons", comparisons as f64, "at least 1")?;
    Ok(family_error / comparisons as f64)
}

/// At least `least` samples, all finite.
fn at_least(samples: &[f64], least: usize, legal: &'static str) -> Result<(), OutOfDomain> {
    require(samples.len() >= least, "number of samples", samples.len() as f64, legal)?;
    for &x in samples {
        require(x.is_finite(), "sample", x, "finite")?;
    }
    Ok(())
}
