//! Uncorrectable bit error rate from raw bit error rates.

/// An error-correcting code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// Bits of a codeword.
    pub bits: u32,
    /// Correctable errors of a codeword.
    pub corrects: u32,
}

impl Code {
    /// 80 bits per KiB (Gao et al., MICRO'19, Section 3.3.1).
    pub const PER_KIB_80: Code = Code { bits: 8192, corrects: 80 };

    /// Probability that a codeword with independent bit errors of probability `rber` is uncorrectable: the upper tail of the
    /// binomial distribution. Panics unless `rber` is between 0 and 1.
    pub fn fails(&self, rber: f64) -> f64 {
        assert!((0.0..=1.0).contains(&rber), "a rate, not {rber}");
        let n = f64::from(self.bits);
        if rber == 0.0 || self.corrects >= self.bits {
            return 0.0;
        }
        if rber == 1.0 {
            return 1.0;
        }
        let (most, odds) = (f64::from(self.corrects), rber / (1.0 - rber));
        let term = |k: f64| {
            let ln_choose = libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0);
            libm::exp(ln_choose + k * libm::log(rber) + (n - k) * libm::log1p(-rber))
        };
        // From the limit outwards, on the side of decreasing terms.
        let (mut sum, mut k) = (0.0, if n * rber > most { most } else { most + 1.0 });
        let mut next = term(k);
        if n * rber > most {
            while k >= 0.0 && next > sum * 1e-17 {
                sum += next;
                next *= k / (n - k + 1.0) / odds;
                k -= 1.0;
            }
            return 1.0 - sum;
        }
        while k <= n && next > sum * 1e-17 {
            sum += next;
            next *= (n - k) / (k + 1.0) * odds;
            k += 1.0;
        }
        sum
    }

    /// Uncorrectable bit error rate: failed codewords per bit read, over pages of these raw rates.
    pub fn uber(&self, rbers: &[f64]) -> f64 {
        let failed: f64 = rbers.iter().map(|&rber| self.fails(rber)).sum();
        failed / rbers.len() as f64 / f64::from(self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_codes_by_hand() {
        // One of three bits is corrected: two or three wrong fail.
        let code = Code { bits: 3, corrects: 1 };
        let p: f64 = 0.1;
        assert!((code.fails(p) - (3.0 * p * p * (1.0 - p) + p * p * p)).abs() < 1e-15);
        assert_eq!((code.fails(0.0), code.fails(1.0)), (0.0, 1.0));
        assert_eq!(Code { bits: 3, corrects: 3 }.fails(0.5), 0.0);
        // Half of the codewords have more errors than the mean, about.
        let half = Code { bits: 8192, corrects: 81 }.fails(82.0 / 8192.0);
        assert!((0.45..0.55).contains(&half), "{half}");
        assert_eq!(Code::PER_KIB_80.fails(0.3), 1.0);
        assert!((code.uber(&[0.1, 0.0]) - code.fails(0.1) / 6.0).abs() < 1e-15);
    }

    #[test]
    fn the_tail_decreases_strictly() {
        let rates = [1e-2, 5e-3, 2e-3, 1e-3, 5e-4].map(|p| Code::PER_KIB_80.fails(p));
        assert!(rates.is_sorted_by(|a, b| a > b) && rates[4] > 0.0 && rates[4] < 1e-60, "{rates:?}");
    }
}
