//! Fixed-point natural logarithms in steps of 1/4096, so that reads need no floating-point mathematics.

/// One e-fold.
pub const ONE: i32 = 4096;

/// Converts a logarithm to fixed point.
pub fn fixed(ln: f64) -> i32 {
    libm::round(ln * f64::from(ONE)) as i32
}

/// Tables of logarithms, sums and normal quantiles.
#[derive(Clone, Debug)]
pub struct LogTables {
    /// ln(1 + (m + 1/2) / 256).
    mantissa: [i16; 256],
    /// ln(1 + exp(-d / 64)), d up to 10 e-folds.
    sum: Box<[i16]>,
    /// Quantiles of the normal distribution in 1/1024 of its standard deviation.
    normal: Box<[i16]>,
}

/// Resolution of the sum table.
const SUM_STEP: i32 = ONE / 64;
/// Number of quantiles.
const QUANTILES: usize = 4096;
const LN_2: f64 = std::f64::consts::LN_2;

impl Default for LogTables {
    fn default() -> LogTables {
        let sum = (0..640).map(|d| fixed(libm::log1p(libm::exp(-f64::from(d) / 64.0))) as i16);
        LogTables {
            mantissa: std::array::from_fn(|m| fixed(libm::log1p((m as f64 + 0.5) / 256.0)) as i16),
            sum: sum.collect(),
            normal: normal_quantiles(),
        }
    }
}

impl LogTables {
    /// ln of a positive number, within 0.0025.
    #[inline]
    pub fn ln(&self, x: u64) -> i32 {
        debug_assert!(x > 0);
        let exponent = 63 - x.leading_zeros();
        // The eight bits below the leading one.
        let bits = (x << (63 - exponent)) >> 55 & 0xff;
        ((i64::from(exponent) * LN_2_FIXED_20) >> 8) as i32 + i32::from(self.mantissa[bits as usize])
    }

    /// ln(exp(a) + exp(b)), within 0.005.
    #[inline]
    pub fn sum(&self, a: i32, b: i32) -> i32 {
        let (most, least) = (a.max(b), a.min(b));
        let d = ((most - least + SUM_STEP / 2) / SUM_STEP) as usize;
        most + self.sum.get(d).map_or(0, |&s| i32::from(s))
    }

    /// A standard normal variate, in 1/1024, from 64 random bits; within 3.7 standard deviations.
    #[inline]
    pub fn normal(&self, bits: u64) -> i32 {
        i32::from(self.normal[(bits >> 52) as usize])
    }
}

/// ln 2 in 1/2^20.
const LN_2_FIXED_20: i64 = (LN_2 * 1_048_576.0) as i64;

/// Quantiles at the midpoints of 4096 equal parts, by Newton's method from the previous one.
fn normal_quantiles() -> Box<[i16]> {
    let mut quantiles = vec![0; QUANTILES];
    let mut x = 0.0f64;
    for k in QUANTILES / 2..QUANTILES {
        let p = (k as f64 + 0.5) / QUANTILES as f64;
        for _ in 0..40 {
            let above = 0.5 * libm::erfc(x / std::f64::consts::SQRT_2) - (1.0 - p);
            let density = libm::exp(-x * x / 2.0) / libm::sqrt(2.0 * std::f64::consts::PI);
            // The distribution is concave here, so no step overshoots.
            let step = above / density;
            x += step;
            if step.abs() < 1e-9 {
                break;
            }
        }
        quantiles[k] = libm::round(x * 1024.0) as i16;
        quantiles[QUANTILES - 1 - k] = -quantiles[k];
    }
    quantiles.into_boxed_slice()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_and_sums_are_near_the_true_ones() {
        let logs = LogTables::default();
        let mut x = 1u64;
        while x < u64::MAX / 3 {
            let ours = f64::from(logs.ln(x)) / f64::from(ONE);
            assert!((ours - libm::log(x as f64)).abs() < 0.0025, "ln {x}: {ours}");
            x += x / 4 + 1;
        }
        for a in (-40_000..0).step_by(777) {
            for b in (-60_000..0).step_by(555) {
                let (ea, eb) = (f64::from(a) / 4096.0, f64::from(b) / 4096.0);
                let exact = libm::log(libm::exp(ea) + libm::exp(eb));
                let ours = f64::from(logs.sum(a, b)) / 4096.0;
                assert!((ours - exact).abs() < 0.005, "{ea} and {eb}: {ours} against {exact}");
            }
        }
    }

    #[test]
    fn quantiles_have_the_moments_of_the_normal_distribution() {
        let logs = LogTables::default();
        let all = || (0..QUANTILES as u64).map(|k| f64::from(logs.normal(k << 52)) / 1024.0);
        let moment = |n: i32| all().map(|x| x.powi(n)).sum::<f64>() / QUANTILES as f64;
        assert_eq!(moment(1), 0.0);
        assert!((moment(2) - 1.0).abs() < 2e-3, "{}", moment(2));
        assert!((moment(4) - 3.0).abs() < 0.03, "{}", moment(4));
    }
}
