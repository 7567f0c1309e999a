//! Stateless noise: a fixed function of a key and a cell number, so that cells can be processed in any order.

/// Mixes 32 bits (two rounds of multiplication and shift) with good avalanche.
#[inline(always)]
pub fn hash(key: u32, cell: u32) -> u32 {
    let mut x = key ^ cell.wrapping_mul(0x9e37_79b1);
    x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// Mean of the sum of four bytes.
const MEAN: f32 = 510.0;
/// One over its standard deviation, sqrt(4 (256^2 - 1) / 12).
const PER_SD: f32 = 1.0 / 147.799_63;

/// A bell-shaped variate of mean 0 and variance 1 from 32 bits: the sum of four bytes, bounded at 3.45 standard deviations;
/// for sums of many variates, such as injection noise.
#[inline(always)]
pub fn irwin_hall(bits: u32) -> f32 {
    let sum = (bits & 0xff) + (bits >> 8 & 0xff) + (bits >> 16 & 0xff) + (bits >> 24);
    (sum as i32 as f32 - MEAN) * PER_SD
}

/// A uniform number from -1 to 1 from 32 bits.
pub fn even(bits: u32) -> f32 {
    // The highest 24 bits are exact in f32.
    (bits >> 8) as f32 / 8_388_608.0 - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_bytes_has_mean_zero_and_variance_one() {
        let n = 4_000_000u32;
        let (mut sum, mut squares) = (0.0f64, 0.0f64);
        for cell in 0..n {
            let x = f64::from(irwin_hall(hash(7, cell)));
            sum += x;
            squares += x * x;
            assert!(x.abs() < 3.46);
        }
        let n = f64::from(n);
        assert!((sum / n).abs() < 5.0 / n.sqrt(), "{}", sum / n);
        assert!((squares / n - 1.0).abs() < 5.0 * (2.0 / n).sqrt(), "{}", squares / n);
    }

    #[test]
    fn neighbours_and_pulses_are_uncorrelated() {
        let n = 1_000_000u32;
        let of = |key, cell| f64::from(irwin_hall(hash(key, cell)));
        for (key, shift) in [(1u32, 0u32), (0, 1), (1, 1), (2, 0), (0, 128)] {
            let product: f64 = (0..n).map(|cell| of(3, cell) * of(3 + key, cell + shift)).sum();
            assert!((product / f64::from(n)).abs() < 5.0 / f64::from(n).sqrt(), "{key} {shift}: {product}");
        }
    }
}
