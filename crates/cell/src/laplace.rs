//! Laplace variates as fixed functions of 32 random bits: their exponential tails fit the threshold voltages of worn cells
//! better than a normal distribution (Parnell et al., GLOBECOM 2014; Luo et al., JSAC 2016).

use std::sync::OnceLock;

/// Quantiles of the exponential distribution at (k + 1/2) / 2^16, divided by the square root of two.
static QUANTILES: OnceLock<Box<[f32]>> = OnceLock::new();

/// Variates of mean 0 and variance 1: the difference of two exponential variates, bounded at 8.3.
#[derive(Clone, Copy)]
pub struct Laplace(&'static [f32]);

impl Laplace {
    /// The table, computed on first use (some ms).
    pub fn new() -> Laplace {
        Laplace(QUANTILES.get_or_init(quantiles))
    }

    /// The variate of these bits.
    #[inline]
    pub fn of(self, bits: u32) -> f32 {
        self.0[(bits & 0xffff) as usize] - self.0[(bits >> 16) as usize]
    }
}

impl Default for Laplace {
    fn default() -> Laplace {
        Laplace::new()
    }
}

fn quantiles() -> Box<[f32]> {
    const N: usize = 1 << 16;
    let quantile = |k: usize| -libm::log1p(-(k as f64 + 0.5) / N as f64) * std::f64::consts::FRAC_1_SQRT_2;
    (0..N).map(|k| quantile(k) as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpulse_engine::random::mix;

    /// Moments and tails of four million variates, each within five standard errors.
    #[test]
    fn variates_have_variance_one_and_exponential_tails() {
        let laplace = Laplace::new();
        let n = 4_000_000u64;
        let (mut sum, mut squares, mut beyond) = (0.0f64, 0.0f64, [0u64; 3]);
        for k in 0..n {
            let x = f64::from(laplace.of(mix(k) as u32));
            sum += x;
            squares += x * x;
            for (count, limit) in beyond.iter_mut().zip([1.0, 3.0, 6.0]) {
                *count += u64::from(x.abs() > limit);
            }
        }
        let n = n as f64;
        assert!((sum / n).abs() < 5.0 / n.sqrt());
        // The square of a Laplace variate of variance one has variance five.
        assert!((squares / n - 1.0).abs() < 5.0 * (5.0 / n).sqrt(), "{}", squares / n);
        for (count, limit) in beyond.into_iter().zip([1.0, 3.0, 6.0]) {
            let expected = n * libm::exp(-limit * std::f64::consts::SQRT_2);
            assert!(
                (count as f64 - expected).abs() < 5.0 * expected.sqrt(),
                "{count} beyond {limit}, {expected}"
            );
        }
    }
}
