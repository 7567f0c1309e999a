//! Zipf-distributed ranks by rejection-inversion.
//!
//! The hat of rank k is the integral of x^-s over [k - 1/2, k + 1/2], which is never below k^-s because the function
//! is convex. Inverting the integral and rejecting the surplus is exact for any number of ranks, with at most a few
//! per cent of rejections and no table (Hoermann and Derflinger, "Rejection-inversion to generate variates from
//! monotone discrete distributions", ACM TOMACS 6(3), 1996).

use interpulse_engine::Rng;

/// Generator of ranks 1 to `n` with probability proportional to rank^-s.
pub(super) struct Ranks {
    n: f64,
    s: f64,
    /// Integral at the upper edge of the last rank.
    top: f64,
    /// Width of the drawn interval: from the first rank (shortened to its weight, 1) to the top.
    width: f64,
    /// Distance from the inverted point below which a rank is accepted without evaluating its weight.
    sure: f64,
}

impl Ranks {
    pub(super) fn new(n: u64, s: f64) -> Ranks {
        let n = n as f64;
        let mut ranks = Ranks { n, s, top: 0.0, width: 0.0, sure: 0.0 };
        ranks.top = ranks.integral(n + 0.5);
        ranks.width = ranks.top - (ranks.integral(1.5) - 1.0);
        ranks.sure = 2.0 - ranks.inverse(ranks.integral(2.5) - ranks.weight(2.0));
        ranks
    }

    pub(super) fn next(&self, rng: &mut Rng) -> u64 {
        loop {
            let y = self.top - rng.unit() * self.width;
            let x = self.inverse(y);
            let rank = libm::floor(x + 0.5).clamp(1.0, self.n);
            if rank - x <= self.sure || y >= self.integral(rank + 0.5) - self.weight(rank) {
                return rank as u64;
            }
        }
    }

    fn weight(&self, x: f64) -> f64 {
        libm::exp(-self.s * libm::log(x))
    }

    /// Integral of t^-s from 1 to x, without cancellation where s is close to 1.
    fn integral(&self, x: f64) -> f64 {
        let log = libm::log(x);
        let e = (1.0 - self.s) * log;
        if e.abs() < 1e-12 { log } else { libm::expm1(e) / (1.0 - self.s) }
    }

    fn inverse(&self, y: f64) -> f64 {
        // For s > 1 the integral is bounded; rounding must not exceed the bound.
        let t = ((1.0 - self.s) * y).max(-1.0);
        libm::exp(if t.abs() < 1e-12 { y } else { libm::log1p(t) / (1.0 - self.s) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpulse_engine::Streams;

    /// Every rank of small ranges, the first ranks and the tail of large ones, against the exact weights.
    /// About 3,500 comparisons at 7 sigma: a correct sampler fails for fewer than one seed in 10^7.
    #[test]
    fn frequencies_are_those_of_the_weights() {
        const DRAWS: u64 = 400_000;
        for (n, s) in [
            (1, 1.0),
            (2, 0.5),
            (10, 0.01),
            (10, 1.0),
            (100, 0.99),
            (1000, 1.2),
            (1000, 1.0 + 1e-13),
            (300, 2.5),
            (50, 10.0),
            (1000, 0.8),
        ] {
            let ranks = Ranks::new(n, s);
            let mut rng = Streams::new(5).stream("zipf", n);
            let mut counts = vec![0u64; n as usize + 1];
            for _ in 0..DRAWS {
                counts[ranks.next(&mut rng) as usize] += 1;
            }
            let weights: Vec<f64> = (1..=n).map(|k| (k as f64).powf(-s)).collect();
            let total: f64 = weights.iter().sum();
            for (k, weight) in (1..).zip(&weights) {
                let p = weight / total;
                let expected = p * DRAWS as f64;
                // The 10 keeps the bound wide where few are expected and the count is not Gaussian.
                let bound = 7.0 * (expected * (1.0 - p)).sqrt() + 10.0;
                let seen = counts[k] as f64;
                assert!((seen - expected).abs() < bound, "n {n} s {s} rank {k}: {seen} against {expected}");
            }
        }
    }

    #[test]
    fn large_ranges_stay_in_range_and_reach_the_tail() {
        let n = 1 << 40;
        for s in [0.2, 0.9, 1.0, 1.1, 3.0] {
            let ranks = Ranks::new(n, s);
            let mut rng = Streams::new(6).stream("zipf", 0);
            let ranks: Vec<u64> = (0..20_000).map(|_| ranks.next(&mut rng)).collect();
            assert!(ranks.iter().all(|&rank| (1..=n).contains(&rank)));
            let below = ranks.iter().filter(|&&rank| rank <= n >> 20).count() as f64 / 20_000.0;
            let p = weight_up_to((n >> 20) as f64, s) / weight_up_to(n as f64, s);
            let bound = 6.0 * (p * (1.0 - p) / 20_000.0).sqrt() + 1e-4;
            assert!((below - p).abs() < bound, "s {s}: {below} against {p}");
        }
    }

    /// Sum of k^-s up to n: the first thousand terms, then the integral (relative error below 1e-6).
    fn weight_up_to(n: f64, s: f64) -> f64 {
        let head: f64 = (1..=1000).map(|k| f64::from(k).powf(-s)).sum();
        let integral = |x: f64| if s == 1.0 { x.ln() } else { x.powf(1.0 - s) / (1.0 - s) };
        head + integral(n + 0.5) - integral(1000.5)
    }
}
