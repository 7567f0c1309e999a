//! Cell-to-cell interference: a rising cell raises its neighbours by a small share of its rise (capacitive coupling and charge
//! shared through the nitride; Cai et al., ICCD 2013).
//!
//! Only the rise after the last verify of a neighbour matters, because its program compensates for earlier rises. The program
//! order of word lines therefore decides the interference.

use crate::kernel::{hash, irwin_hall};
use crate::preset_values::PresetValues;
use interpulse_settings::keys;

keys! {
    /// Coupling of a word line into its neighbours.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Coupling, pub fn read(s) {
        /// share of a rise coupled into the cells above and below in the string
        pub along: f32 = number(0.0, 0.5),
        /// share of a rise coupled into the adjacent word lines of the layer
        pub across: f32 = number(0.0, 0.5),
        /// relative standard deviation of the share between cells
        pub variation: f32 = number(0.0, 0.28),
    }
}

/// The share of the rise of the aggressor that is coupled into cell `cell`.
#[inline(always)]
pub fn share(gamma: f32, variation: f32, key: u32, cell: u32) -> f32 {
    gamma * (1.0 + variation * irwin_hall(hash(key, cell)))
}

/// Raises each cell of `victim` by its share of the rise of the aggressor from `before` to `after`. `key` is that of the pair
/// of word lines. Panics if the slices differ in length.
pub fn disturb(victim: &mut [f32], before: &[f32], after: &[f32], gamma: f32, variation: f32, key: u32) {
    assert!(victim.len() == before.len() && victim.len() == after.len());
    for (cell, ((v, from), to)) in victim.iter_mut().zip(before).zip(after).enumerate() {
        *v += share(gamma, variation, key, cell as u32) * (to - from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_neighbour_moves_by_exactly_gamma_times_the_rise() {
        let before = [0.0f32, -100.0, 64.0, 256.0];
        let after = [128.0f32, -100.0, 128.0, 448.0];
        let mut victim = [0.0f32, 10.0, -64.0, 320.0];
        disturb(&mut victim, &before, &after, 0.03125, 0.0, 7);
        assert_eq!(victim, [4.0, 10.0, -62.0, 326.0]);
    }

    /// The shares vary between cells, are positive and have the mean gamma.
    #[test]
    fn the_mean_share_is_gamma() {
        let n = 400_000;
        let (before, after) = (vec![0.0f32; n], vec![100.0f32; n]);
        let mut victim = vec![0.0f32; n];
        disturb(&mut victim, &before, &after, 0.02, 0.28, 3);
        assert!(victim.iter().all(|&v| v > 0.0));
        let mean = victim.iter().map(|&v| f64::from(v)).sum::<f64>() / n as f64;
        // Five standard errors of a mean of 2 with a relative deviation of 0.28.
        assert!((mean - 2.0).abs() < 5.0 * 0.56 / (n as f64).sqrt(), "{mean}");
    }
}
