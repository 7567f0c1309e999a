//! `uniform` address pattern: every aligned position is equally likely.

use super::{Draw, Pattern, Region};
use crate::error::Illegal;
use interpulse_engine::{Op, Rng};

/// Uniformly distributed addresses.
pub struct Uniform;

pub(super) struct Running;

impl Pattern for Uniform {
    fn instantiate(&self, _: &Region, _: u64) -> Result<super::Running, Illegal> {
        Ok(super::Running::Uniform(Running))
    }
}

impl Draw for Running {
    #[inline]
    fn next(&mut self, region: &Region, rng: &mut Rng, _: Op, _: u32) -> u64 {
        rng.below(region.positions) * region.alignment
    }
}
