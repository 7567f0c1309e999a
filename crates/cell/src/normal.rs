//! Standard normal variates as fixed functions of 32 random bits.

use interpulse_engine::random::mix;
use std::sync::OnceLock;

/// Quantiles of the standard normal at (k + 1/2) / 2^16.
static QUANTILES: OnceLock<Box<[f32]>> = OnceLock::new();

/// Normal variates: the sum of two quantiles over the square root of two.
///
/// A single quantile of 16 bits is bounded at 4.3 standard deviations with coarse tails; the sum of two reaches 6.1.
#[derive(Clone, Copy)]
pub struct Normal(&'static [f32]);

impl Normal {
    /// The table, computed on first use (some ms).
    pub fn new() -> Normal {
        Normal(QUANTILES.get_or_init(quantiles))
    }

    /// The variate of these bits.
    #[inline]
    pub fn of(self, bits: u32) -> f32 {
        let (low, high) = (self.0[(bits & 0xffff) as usize], self.0[(bits >> 16) as usize]);
        (low + high) * std::f32::consts::FRAC_1_SQRT_2
    }

    /// The variate of a 64-bit key.
    pub fn at(self, key: u64) -> f64 {
        f64::from(self.of(mix(key) as u32))
    }
}

impl Default for Normal {
    fn default() -> Normal {
        Normal::new()
    }
}

/// Probability of a standard normal below `x`.
fn below(x: f64) -> f64 {
    0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

fn quantiles() -> Box<[f32]> {
    const N: usize = 1 << 16;
    let mut table = vec![0.0f32; N].into_boxed_slice();
    // From the middle outwards, so that each Newton iteration starts near its solution.
    let mut x = 0.0f64;
    for k in N / 2..N {
        let goal = (k as f64 + 0.5) / N as f64;
        for _ in 0..6 {
            let density = libm::exp(-0.5 * x * x) / libm::sqrt(2.0 * std::f64::consts::PI);
            // Bounded, because a small density makes long steps overshoot.
            x += ((goal - below(x)) / density).clamp(-1.0, 1.0);
        }
        table[k] = x as f32;
        table[N - 1 - k] = -x as f32;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_inverse_of_the_distribution() {
        let table = quantiles();
        assert!(table.is_sorted());
        for k in [0usize, 1, 100, 32_767, 32_768, 65_000, 65_535] {
            let expected = (k as f64 + 0.5) / 65_536.0;
            let got = below(f64::from(table[k]));
            assert!((got / expected - 1.0).abs() < 1e-5, "{k}: {got} against {expected}");
        }
    }

    /// Goodness of fit over 64 equally likely intervals: 63 degrees of freedom exceed 135 with a probability below 1e-6.
    #[test]
    fn variates_fill_equally_likely_intervals_equally() {
        let normal = Normal::new();
        let mut counts = [0u32; 64];
        let n = 2_000_000u64;
        for k in 0..n {
            let x = f64::from(normal.of(mix(k ^ 0x5eed) as u32));
            counts[((below(x) * 64.0) as usize).min(63)] += 1;
        }
        let expected = n as f64 / 64.0;
        let chi: f64 = counts.iter().map(|&c| (f64::from(c) - expected).powi(2) / expected).sum();
        assert!(chi < 135.0, "{chi}: {counts:?}");
    }

    /// Moments and tails of ten million variates, each within five standard errors.
    #[test]
    fn variates_are_normal() {
        let normal = Normal::new();
        let n = 10_000_000u64;
        let (mut sum, mut squares, mut beyond) = (0.0f64, 0.0f64, [0u64; 3]);
        for k in 0..n {
            let x = f64::from(normal.of(mix(k) as u32));
            sum += x;
            squares += x * x;
            for (count, limit) in beyond.iter_mut().zip([2.0, 3.0, 4.0]) {
                *count += u64::from(x > limit);
            }
        }
        let n = n as f64;
        assert!((sum / n).abs() < 5.0 / n.sqrt());
        assert!((squares / n - 1.0).abs() < 5.0 * (2.0 / n).sqrt());
        for (count, limit) in beyond.into_iter().zip([2.0, 3.0, 4.0]) {
            let expected = n * below(-limit);
            assert!(
                (count as f64 - expected).abs() < 5.0 * expected.sqrt(),
                "{count} beyond {limit}, {expected}"
            );
        }
    }
}
