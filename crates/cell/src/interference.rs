//! Cell-to-cell interference: a cell whose threshold voltage rises takes its neighbours along by a small share of the rise
//! (capacitive coupling and charge shared through the nitride; Cai et al., ICCD 2013).
//!
//! Only the rise after a neighbour's last verify harms it: what came before, its own program made up for. The order in which
//! word lines are programmed decides how much that is.

use crate::figure::Figures;
use crate::kernel::{hash, irwin_hall};
use interpulse_settings::keys;

keys! {
    /// The neighbours of a word line and how strongly it couples into them.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Coupling, pub fn read(s) {
        /// share of a rise that the cells above and below in the string take over
        pub along: f32 = number(0.0, 0.5),
        /// share of a rise that the word lines beside in the layer take over
        pub across: f32 = number(0.0, 0.5),
        /// standard deviation of the share between cells, relative
        pub variation: f32 = number(0.0, 0.28),
    }
}

/// The share of its aggressor's rise that cell `cell` takes over.
#[inline(always)]
pub fn share(gamma: f32, variation: f32, key: u32, cell: u32) -> f32 {
    gamma * (1.0 + variation * irwin_hall(hash(key, cell)))
}

/// Moves each cell of `victim` up by its share of the rise of the aggressor from `before` to `after`. `key` belongs to the pair
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

    /// The shares differ from cell to cell, stay above zero and have gamma as their mean: what is passed on in all is gamma
    /// times what was gained in all.
    #[test]
    fn what_is_passed_on_adds_up() {
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
