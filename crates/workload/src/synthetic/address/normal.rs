//! `normal` address pattern, as in fio's `random_distribution=normal:deviation`: the mean of twelve uniform positions,
//! moved by a uniform distance of up to half of `deviation`. A pseudo-random permutation, keyed by the seed and the flow
//! instance, scatters the ranks over the region.

use super::{Draw, Pattern, Region};
use crate::error::Illegal;
use crate::synthetic::permutation::Permutation;
use interpulse_engine::{Op, Rng};
use interpulse_settings::{Spec, default, keys};

/// Uniform positions whose mean approximates a normal distribution.
const TERMS: u64 = 12;

keys! {
    /// Normally distributed popularity of positions.
    #[derive(Clone, PartialEq, Debug)]
    pub struct Normal, pub(super) fn read(s) {
        /// width of the uniform distance that is added, as a share of the region
        pub deviation: f64 = fraction(width()),
    }
}

pub(super) struct Running(Box<(u64, Permutation)>);

fn width() -> Spec<f64> {
    default(0.0).at_most(0.5)
}

impl Pattern for Normal {
    fn instantiate(&self, region: &Region, key: u64) -> Result<super::Running, Illegal> {
        let deviation = self.deviation;
        Illegal::unless((0.0..=0.5).contains(&deviation), "deviation", deviation, "from 0 to 0.5")?;
        let moved = libm::ceil(region.positions as f64 * deviation) as u64;
        let scattered = (moved, Permutation::new(region.positions, key));
        Ok(super::Running::Normal(Running(Box::new(scattered))))
    }
}

impl Draw for Running {
    #[inline]
    fn next(&mut self, region: &Region, rng: &mut Rng, _: Op, _: u32) -> u64 {
        let (moved, permutation) = &*self.0;
        let n = region.positions;
        let sum = (0..TERMS).map(|_| u128::from(rng.below(n))).sum::<u128>();
        let mut rank = (sum / u128::from(TERMS)) as u64;
        if *moved > 0 {
            // The permutation scatters the ranks anyway, so a rank beyond the region continues at its other end.
            rank = (rank + n + rng.below(*moved) - moved / 2) % n;
        }
        permutation.apply(rank) * region.alignment
    }
}
