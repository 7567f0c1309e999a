//! Read disturb: the pass voltage on unread word lines slightly programs their cells.
//!
//! Each sensing raises a cell of an unread word line by `rate exp((from - v) / fold)`, so low cells rise most. Many sensings
//! have a closed form, which makes the order of reads irrelevant. The word line being read and other blocks are not disturbed.
//! The rate varies between cells by a lognormal factor and grows as a power of the cycles.

use crate::kernel::hash;
use crate::normal::Normal;
use crate::preset_values::PresetValues;
use crate::states::{BOUNDARIES, PageType, boundaries};
use interpulse_settings::{keys, required};

keys! {
    /// Read disturb. Voltages are in steps.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Disturb, pub fn read(s) {
        /// rise of a cell at `from` per read of another page of the block, in steps
        pub rate: f64 = f64(required().within(0.0..=1.0)),
        /// threshold voltage at which `rate` applies, in steps
        pub from: f64 = coarse(-800.0, 800.0),
        /// increase of the threshold voltage that reduces the rate by a factor of e, in steps
        pub fold: f64 = coarse(1.0, 1000.0),
        /// standard deviation of the logarithm of the rate between cells
        pub spread: f32 = number(0.0, 3.0),
        /// exponent of the growth of the rate with cycles
        pub power: f64 = f64(required().within(0.0..=4.0)),
        /// equivalent cycles of a fresh block
        pub head_start: f64 = coarse(0.0, 1e6),
    }
}

/// Sensings of an average page.
const SENSINGS: f64 = BOUNDARIES as f64 / PageType::ALL.len() as f64;

/// Equivalent reads of an average page for reads of each page type (lower, center, upper): every sensing disturbs.
pub fn reads_of_average(reads: [u64; 3]) -> f64 {
    let sensings = PageType::ALL.iter().zip(reads);
    sensings.map(|(&(_, page), n)| boundaries(page).count() as f64 * n as f64).sum::<f64>() / SENSINGS
}

impl Disturb {
    /// The rate of a block of `cycles`, in steps per read at `from`.
    pub fn rate_after(&self, cycles: f64, reference_cycles: f64) -> f64 {
        let ratio = (cycles + self.head_start) / (reference_cycles + self.head_start);
        self.rate * libm::pow(ratio, self.power)
    }

    /// Applies `reads` of average pages of *other* word lines of the block at `rate` steps per read. The sensitivity of the
    /// cells is permanent and follows from `key`, the key of the word line.
    pub fn apply(&self, vth: &mut [f32], key: u32, rate: f64, reads: f64) {
        let reads_rate = rate * reads / self.fold;
        if reads_rate <= 0.0 {
            return;
        }
        let normal = Normal::new();
        for (cell, v) in vth.iter_mut().enumerate() {
            let factor = self.spread * normal.of(hash(key, cell as u32));
            // dv/dn = rate exp((from - v) / fold), integrated over n reads.
            let exponent = f64::from(factor) + (self.from - f64::from(*v)) / self.fold;
            let rise = self.fold * libm::log1p(reads_rate * libm::exp(exponent));
            *v += rise.max(0.0) as f32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIKE: Disturb =
        Disturb { rate: 1e-4, from: 35.0, fold: 60.0, spread: 0.5, power: 1.6, head_start: 500.0 };

    fn cells() -> Vec<f32> {
        (0..4096).map(|k| -200.0 + 0.16 * k as f32).collect()
    }

    #[test]
    fn reads_raise_low_cells_most_and_lower_none() {
        let even = Disturb { spread: 0.0, ..LIKE };
        let before = cells();
        let mut after = before.clone();
        even.apply(&mut after, 5, even.rate, 1e5);
        let rise: Vec<f32> = after.iter().zip(&before).map(|(a, b)| a - b).collect();
        assert!(rise.iter().all(|&r| r >= 0.0));
        assert!(rise.first() > rise.last() && rise[0] > 50.0, "{} {}", rise[0], rise[4095]);
        // By hand: at `from`, 60 ln(1 + 1e5 x 1e-4 / 60) = 9.249.
        let mut one = [35.0f32];
        even.apply(&mut one, 5, even.rate, 1e5);
        assert!((one[0] - 35.0 - 9.2490).abs() < 1e-3, "{}", one[0]);
    }

    #[test]
    fn the_order_of_reads_is_irrelevant_and_zero_reads_change_nothing() {
        let before = cells();
        let mut none = before.clone();
        LIKE.apply(&mut none, 5, LIKE.rate, 0.0);
        assert!(none.iter().zip(&before).all(|(a, b)| a.to_bits() == b.to_bits()));
        let (mut once, mut parts) = (before.clone(), before.clone());
        LIKE.apply(&mut once, 5, LIKE.rate, 9e5);
        for reads in [1e5, 6e5, 2e5] {
            LIKE.apply(&mut parts, 5, LIKE.rate, reads);
        }
        assert!(once.iter().zip(&parts).all(|(a, b)| (a - b).abs() < 1e-3));
    }

    #[test]
    fn pages_count_by_their_sensings() {
        assert_eq!(reads_of_average([1, 1, 1]), 3.0);
        assert!((reads_of_average([7, 0, 0]) - 3.0).abs() < 1e-12);
        assert!((reads_of_average([0, 0, 7]) - 12.0).abs() < 1e-12);
    }

    /// Published slopes of the error rate per read, relative to that of 2,000 cycles (Cai et al., DSN 2015).
    #[test]
    fn the_rate_grows_with_cycles_as_published() {
        for (cycles, slope) in
            [(3e3, 1.63), (4e3, 2.37), (5e3, 3.74), (8e3, 7.50), (10e3, 9.10), (15e3, 19.0)]
        {
            let ratio = LIKE.rate_after(cycles, 2e3) / LIKE.rate;
            assert!((ratio / slope - 1.0).abs() < 0.1, "{cycles} cycles: {ratio} is not {slope}");
        }
    }
}
