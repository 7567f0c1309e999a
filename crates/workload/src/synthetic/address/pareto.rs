//! `pareto` address pattern: the position of rank floor((n - 1) u^e) for a uniform u, with e = ln h / ln (1 - h), as in
//! fio's `random_distribution=pareto:h`: a share h of the positions gets a share 1 - h of the requests. A pseudo-random
//! permutation, keyed by the seed and the flow instance, scatters the ranks over the region.

use super::{Draw, Pattern, Region};
use crate::error::Illegal;
use crate::synthetic::permutation::Permutation;
use interpulse_engine::{Op, Rng};
use interpulse_settings::{Spec, keys, required};

keys! {
    /// Pareto-distributed popularity of positions.
    #[derive(Clone, PartialEq, Debug)]
    pub struct Pareto, pub(super) fn read(s) {
        /// share of the positions that gets the rest of the requests: 0.2 is the rule of 80 and 20
        pub pareto_share: f64 = f64(share()),
    }
}

pub(super) struct Running(Box<(f64, Permutation)>);

fn share() -> Spec<f64> {
    required().within(0.001..=0.999)
}

impl Pattern for Pareto {
    fn instantiate(&self, region: &Region, key: u64) -> Result<super::Running, Illegal> {
        let share_ = self.pareto_share;
        Illegal::unless(share().admits(&share_), "pareto_share", share_, "from 0.001 to 0.999")?;
        let exponent = libm::log(share_) / libm::log(1.0 - share_);
        let scattered = (exponent, Permutation::new(region.positions, key));
        Ok(super::Running::Pareto(Running(Box::new(scattered))))
    }
}

impl Draw for Running {
    #[inline]
    fn next(&mut self, region: &Region, rng: &mut Rng, _: Op, _: u32) -> u64 {
        let (exponent, permutation) = &*self.0;
        let rank = ((region.positions - 1) as f64 * libm::pow(rng.unit(), *exponent)) as u64;
        permutation.apply(rank.min(region.positions - 1)) * region.alignment
    }
}
