//! Interarrival times of a twin, with exact mean and variance.
//!
//! The distribution is the two-phase hyper-exponential with balanced means: a share p of the gaps is exponential with
//! mean m / 2p, the rest with mean m / 2(1 - p). Random samples of bursty gaps miss these moments by far more than a
//! per cent. Instead, each phase is divided into as many strata of equal probability as it has gaps, each gap is the
//! mean of its stratum, and the order is a random permutation. Adjusted phase means restore the variance lost within
//! the strata, so that mean and squared coefficient of variation of all gaps are exact, except for the rounding of
//! times to ns.

use crate::synthetic::permutation::Permutation;

/// Gap generator, in units of the mean.
pub(super) struct Gaps {
    order: Permutation,
    counts: [u64; 2],
    means: [f64; 2],
}

/// Fewest gaps for a squared coefficient of variation: fewer gaps would contain no long one.
pub(super) fn fewest(squared_variation: f64) -> u64 {
    libm::ceil(2.0 * (squared_variation + 1.0)) as u64
}

impl Gaps {
    /// `count` gaps (at least [`fewest`]); `key` selects their order.
    pub fn new(count: u64, squared_variation: f64, key: u64) -> Gaps {
        let p = 0.5 * (1.0 + libm::sqrt((squared_variation - 1.0) / (squared_variation + 1.0)));
        let second = (libm::round((1.0 - p) * count as f64) as u64).clamp(1, count - 1);
        let counts = [count - second, second];
        let [c1, c2] = counts.map(second_moment);
        let [a, b] = counts.map(|n| n as f64 / count as f64);
        // a m1 + b m2 = 1 and a c1 m1^2 + b c2 m2^2 = 1 + scv, solved for the longer mean m2.
        let (qa, qb) = (c1 * b * b / a + b * c2, -2.0 * c1 * b / a);
        let qc = c1 / a - (1.0 + squared_variation);
        let m2 = (-qb + libm::sqrt((qb * qb - 4.0 * qa * qc).max(0.0))) / (2.0 * qa);
        let m1 = ((1.0 - b * m2) / a).max(0.0);
        Gaps { order: Permutation::new(count, key), counts, means: [m1, m2] }
    }

    #[inline]
    pub fn at(&self, index: u64) -> f64 {
        let place = self.order.apply(index);
        match place.checked_sub(self.counts[0]) {
            None => self.means[0] * stratum(place, self.counts[0]),
            Some(place) => self.means[1] * stratum(place, self.counts[1]),
        }
    }
}

/// Mean of stratum `index` of `n` strata of equal probability of the exponential distribution with mean 1: n times
/// the integral of -ln v over the stratum.
fn stratum(index: u64, n: u64) -> f64 {
    let part = |rest: u64| {
        let v = rest as f64 / n as f64;
        if rest == 0 { 0.0 } else { v - v * libm::log(v) }
    };
    n as f64 * (part(n - index) - part(n - index - 1))
}

/// Second moment of the means of the strata: 2 minus the variance within the strata.
fn second_moment(n: u64) -> f64 {
    let sum: f64 = (0..n)
        .map(|index| {
            let value = stratum(index, n);
            value * value
        })
        .sum();
    sum / n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_moments_are_exact() {
        for scv in [1.0, 1.2, 4.0, 9.0, 80.0] {
            for count in [fewest(scv), 999, 20_000] {
                let gaps = Gaps::new(count, scv, 7);
                let all: Vec<f64> = (0..count).map(|index| gaps.at(index)).collect();
                let n = count as f64;
                let mean = all.iter().sum::<f64>() / n;
                let variance = all.iter().map(|g| (g - mean) * (g - mean)).sum::<f64>() / n;
                assert!((mean - 1.0).abs() < 1e-9, "{scv}, {count}: mean {mean}");
                assert!((variance / scv - 1.0).abs() < 1e-6, "{scv}, {count}: variance {variance}");
                assert!(all.iter().all(|&gap| gap >= 0.0));
            }
        }
    }

    #[test]
    fn many_gaps_have_the_quantiles_of_the_distribution() {
        // p = 0.5 (1 + sqrt(8 / 10)) = 0.947214; P(gap > 3) = p e^(-6 p) + (1 - p) e^(-6 (1 - p)).
        let (count, p) = (200_000u64, 0.947_213_595_5_f64);
        let gaps = Gaps::new(count, 9.0, 1);
        let above = (0..count).filter(|&index| gaps.at(index) > 3.0).count() as f64 / count as f64;
        let expected = p * (-6.0 * p).exp() + (1.0 - p) * (-6.0 * (1.0 - p)).exp();
        assert!((above / expected - 1.0).abs() < 0.01, "{above} of {expected}");
    }
}
