//! `uniform`: every place equally likely.

use super::{Draw, Pattern, Region};
use crate::error::Illegal;
use interpulse_engine::Rng;

/// Anywhere.
pub struct Uniform;

pub(super) struct Running;

impl Pattern for Uniform {
    fn over(&self, _: &Region, _: u64) -> Result<super::Running, Illegal> {
        Ok(super::Running::Uniform(Running))
    }
}

impl Draw for Running {
    #[inline]
    fn next(&mut self, region: &Region, rng: &mut Rng, _: u32) -> u64 {
        rng.below(region.places) * region.alignment
    }
}
