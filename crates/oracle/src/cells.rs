//! Bit error rates of cells with normally distributed threshold voltages: the tails beyond the read thresholds.
//!
//! Under a Gray code a cell read as a neighbouring state has one wrong bit. Misreads by two states or more are neglected: they
//! are below 1e-9 of the misreads of neighbours wherever neighbouring states are distinguishable.

use crate::domain::{OutOfDomain, positive, require};

/// A state's threshold voltages: a normal distribution, in any unit of voltage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
}

/// The upper tail of the standard normal distribution, `Q(x) = P(Z > x)`.
pub fn q(x: f64) -> f64 {
    0.5 * libm::erfc(x * std::f64::consts::FRAC_1_SQRT_2)
}

/// The optimal threshold between two equally frequent states: the crossing of their densities between the means.
///
/// # Errors
/// [`OutOfDomain`] unless both deviations are above 0, the means rise, and the densities cross between them.
pub fn optimal_threshold(lower: State, upper: State) -> Result<f64, OutOfDomain> {
    positive("sd", lower.sd)?;
    positive("sd", upper.sd)?;
    require(lower.mean < upper.mean, "mean", upper.mean, "above the mean of the lower state")?;
    // The excess of the upper log density over the lower one, doubled; it rises between the means.
    let excess = |t: f64| {
        let (a, b) = ((t - lower.mean) / lower.sd, (t - upper.mean) / upper.sd);
        a * a - b * b + 2.0 * libm::log(lower.sd / upper.sd)
    };
    let crosses = excess(lower.mean) < 0.0 && excess(upper.mean) > 0.0;
    require(crosses, "sd", upper.sd, "small enough for the densities to cross between the means")?;
    Ok(crate::numeric::increasing(lower.mean, upper.mean, excess))
}

/// [`optimal_threshold`] between all neighbours of `states`, lowest first.
///
/// # Errors
/// As [`optimal_threshold`].
pub fn optimal_thresholds(states: &[State]) -> Result<Vec<f64>, OutOfDomain> {
    states.windows(2).map(|pair| optimal_threshold(pair[0], pair[1])).collect()
}

/// Raw bit error rate of equally frequent states under a Gray code, read at `thresholds`: misread cells per cell and bit.
///
/// # Errors
/// [`OutOfDomain`] unless the number of states is a power of 2 and at least 2, there is one threshold less than
/// states, and every deviation is above 0.
pub fn raw_bit_error_rate(states: &[State], thresholds: &[f64]) -> Result<f64, OutOfDomain> {
    let n = states.len();
    require(n >= 2 && n.is_power_of_two(), "states", n as f64, "a power of 2, at least 2")?;
    require(thresholds.len() == n - 1, "thresholds", thresholds.len() as f64, "one less than states")?;
    let mut misread = 0.0;
    for (pair, &threshold) in states.windows(2).zip(thresholds) {
        let (lower, upper) = (pair[0], pair[1]);
        positive("sd", lower.sd)?;
        positive("sd", upper.sd)?;
        misread += q((threshold - lower.mean) / lower.sd) + q((upper.mean - threshold) / upper.sd);
    }
    Ok(misread / n as f64 / f64::from(n.ilog2()))
}
