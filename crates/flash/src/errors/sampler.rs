//! Sampler of bit errors per codeword: the binomial distribution by inversion.
//!
//! Rates are stored in steps of 1/64 e-fold, each with the probabilities of more than k errors in units of 2^-64, over the k
//! where they are neither certain nor impossible; a sample is a binary search. A rate between two steps uses either at random,
//! so that the mean is exact.

use super::fixed_log::ONE;
use super::table::{MAX_RBER, MIN_RBER};
use interpulse_engine::random::mix;

/// Distance of two steps of ln RBER.
const STEP: i32 = ONE / 64;
/// Key increment per codeword of a read.
const NEXT: u64 = 0x9e37_79b9_7f4a_7c15;

/// Distributions by step of ln RBER.
#[derive(Clone, Debug)]
pub struct ErrorSampler {
    bits: u32,
    /// ln RBER of step 0.
    least: i32,
    steps: Box<[Step]>,
    /// Probabilities of more than k errors, step after step.
    more_than: Box<[u64]>,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    /// Index of the first probability.
    first: u32,
    /// Number of probabilities.
    count: u16,
    /// The k of the first probability: the minimum of errors.
    from: u16,
    /// Mean number of errors in 1/1024.
    mean: u32,
}

/// The errors of a sensing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorSample {
    /// Errors of the worst codeword.
    pub worst: u32,
    /// Mean errors of a codeword at this rate, in 1/1024.
    pub mean: u32,
    step: u32,
}

impl ErrorSampler {
    /// Distributions for codewords of `bits` bits (at most 2^16).
    pub fn new(bits: u32) -> ErrorSampler {
        assert!((1..=1 << 16).contains(&bits), "{bits} bits do not make a codeword");
        let least = super::fixed_log::fixed(libm::log(MIN_RBER)) / STEP * STEP;
        let last = super::fixed_log::fixed(libm::log(MAX_RBER));
        let mut steps = Vec::new();
        let mut more_than = Vec::new();
        // Step 0 represents rates below the minimum: no errors.
        steps.push(Step { first: 0, count: 0, from: 0, mean: 0 });
        let mut ln = least + STEP;
        while ln < last + STEP {
            let rate = libm::exp(f64::from(ln) / f64::from(ONE)).min(MAX_RBER);
            let (from, tail) = survival(bits, rate);
            steps.push(Step {
                first: more_than.len() as u32,
                count: tail.len() as u16,
                from,
                mean: libm::round(f64::from(bits) * rate * 1024.0) as u32,
            });
            more_than.extend(tail);
            ln += STEP;
        }
        ErrorSampler { bits, least, steps: steps.into(), more_than: more_than.into() }
    }

    /// Bits of a codeword.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Samples the errors of `codewords` codewords of one sensing; `key` is the random seed.
    #[inline]
    pub fn draw(&self, ln_rber: i32, key: u64, codewords: u32) -> ErrorSample {
        // A random step of the two neighbours keeps the mean exact.
        let chance = (mix(key) >> 58) as i32;
        let at = (ln_rber - self.least + chance) / STEP;
        let at = at.clamp(0, self.steps.len() as i32 - 1) as u32;
        let step = self.steps[at as usize];
        if step.count == 0 || codewords == 0 {
            return ErrorSample { worst: 0, mean: step.mean, step: at };
        }
        // The worst codeword has the smallest number.
        let smallest = (0..codewords).map(|c| number(key, c)).min().unwrap_or(u64::MAX);
        ErrorSample { worst: self.errors(step, smallest), mean: step.mean, step: at }
    }

    /// Errors of one codeword of a sample drawn with `key`.
    pub fn errors_of(&self, drawn: &ErrorSample, key: u64, codeword: u32) -> u32 {
        self.errors(self.steps[drawn.step as usize], number(key, codeword))
    }

    #[inline]
    fn errors(&self, step: Step, number: u64) -> u32 {
        let tail = &self.more_than[step.first as usize..step.first as usize + usize::from(step.count)];
        u32::from(step.from) + tail.partition_point(|&p| number < p) as u32
    }
}

/// The random number of one codeword.
#[inline]
fn number(key: u64, codeword: u32) -> u64 {
    mix(key.wrapping_add(NEXT.wrapping_mul(u64::from(codeword) + 1)))
}

/// The first k where more than k errors are not certain, and P(more than k) in 2^-64 from there while positive, for
/// `bits` bits with error rate `rate`.
fn survival(bits: u32, rate: f64) -> (u16, Vec<u64>) {
    const UNIT: f64 = 18_446_744_073_709_551_616.0;
    let (n, odds) = (f64::from(bits), rate / (1.0 - rate));
    let ln_of = |k: f64| {
        libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0)
            + k * libm::log(rate)
            + (n - k) * libm::log1p(-rate)
    };
    // Probabilities outwards from the mode, until they are below the resolution.
    let mode = libm::floor((n + 1.0) * rate).min(n);
    let peak = libm::exp(ln_of(mode));
    let negligible = 0.5 / UNIT / n;
    let mut above = vec![peak];
    let (mut k, mut p) = (mode, peak);
    while k < n && p > negligible {
        p *= (n - k) / (k + 1.0) * odds;
        k += 1.0;
        above.push(p);
    }
    let mut below = Vec::new();
    let (mut k, mut p) = (mode, peak);
    while k > 0.0 && p > negligible {
        p *= k / (n - k + 1.0) / odds;
        k -= 1.0;
        below.push(p);
    }
    let lowest = (mode as u32 - below.len() as u32) as u16;
    let all: Vec<f64> = below.into_iter().rev().chain(above).collect();
    // Summed from the small end for precision of rare counts.
    let mut tail: Vec<u64> = vec![0; all.len()];
    let mut sum = 0.0;
    for k in (0..all.len()).rev() {
        tail[k] = (sum * UNIT) as u64;
        sum += all[k];
    }
    let certain = tail.iter().take_while(|&&t| t == u64::MAX).count();
    let zeros = tail.iter().rev().take_while(|&&t| t == 0).count();
    let end = tail.len() - zeros;
    (lowest + certain as u16, tail[certain.min(end)..end].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P(more than k) against the exact sum, for a small codeword.
    #[test]
    fn tails_are_those_of_the_binomial_distribution() {
        let (n, p) = (20u32, 0.3f64);
        let (from, tail) = survival(n, p);
        let choose = |k: u32| (0..k).fold(1.0, |c, i| c * f64::from(n - i) / f64::from(i + 1));
        for (i, &t) in tail.iter().enumerate() {
            let k = u32::from(from) + i as u32;
            let exact: f64 =
                (k + 1..=n).map(|j| choose(j) * p.powi(j as i32) * (1.0 - p).powi((n - j) as i32)).sum();
            assert!((t as f64 / 2f64.powi(64) / exact - 1.0).abs() < 1e-8, "more than {k}");
        }
        assert_eq!((from, tail.len()), (0, 20));
    }

    #[test]
    fn rates_below_the_least_have_no_errors() {
        let counts = ErrorSampler::new(8192);
        for key in 0..100_000 {
            assert_eq!(
                counts.draw(super::super::fixed_log::fixed(libm::log(MIN_RBER)), mix(key), 16).worst,
                0
            );
            assert_eq!(counts.draw(i32::MIN / 2, mix(key), 16).worst, 0);
        }
    }

    #[test]
    fn the_worst_of_a_draw_is_the_worst_of_its_codewords() {
        let counts = ErrorSampler::new(8192);
        for k in 0..2000 {
            let key = mix(k);
            let ln = super::super::fixed_log::fixed(libm::log(1e-3 * (1.0 + (k % 7) as f64)));
            let drawn = counts.draw(ln, key, 16);
            let most = (0..16).map(|c| counts.errors_of(&drawn, key, c)).max();
            assert_eq!(Some(drawn.worst), most);
        }
    }
}
