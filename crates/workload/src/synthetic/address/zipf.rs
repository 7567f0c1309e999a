//! `zipf` address pattern: the position of rank k = 1, 2, ... has weight k^-exponent. A pseudo-random permutation,
//! keyed by the seed and the flow instance, scatters the ranks over the region.

use super::{Draw, Pattern, Region};
use crate::error::Illegal;
use crate::synthetic::permutation::Permutation;
use crate::synthetic::ranks::Ranks;
use interpulse_engine::{Op, Rng};
use interpulse_settings::{Spec, keys, required};

keys! {
    /// Zipf-distributed popularity of positions.
    #[derive(Clone, PartialEq, Debug)]
    pub struct Zipf, pub(super) fn read(s) {
        /// exponent of the Zipf distribution
        // Web and block traces lie between 0.6 and 1.2.
        pub exponent: f64 = f64(exponent()),
    }
}

pub(super) struct Running(Box<(Ranks, Permutation)>);

fn exponent() -> Spec<f64> {
    required().positive().at_most(10.0)
}

impl Pattern for Zipf {
    fn instantiate(&self, region: &Region, key: u64) -> Result<super::Running, Illegal> {
        if !exponent().admits(&self.exponent) {
            return Err(Illegal::new("exponent", self.exponent, "above 0 and up to 10"));
        }
        let scattered = (Ranks::new(region.positions, self.exponent), Permutation::new(region.positions, key));
        Ok(super::Running::Zipf(Running(Box::new(scattered))))
    }
}

impl Draw for Running {
    #[inline]
    fn next(&mut self, region: &Region, rng: &mut Rng, _: Op, _: u32) -> u64 {
        let (ranks, permutation) = &*self.0;
        permutation.apply(ranks.next(rng) - 1) * region.alignment
    }
}
