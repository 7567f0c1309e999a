//! `permuted` address pattern: every aligned position once, in a pseudo-random order keyed by the seed and the flow
//! instance; then again in the same order, as fio does with its random map.

use super::{Draw, Pattern, Region};
use crate::error::Illegal;
use crate::synthetic::permutation::Permutation;
use interpulse_engine::{Op, Rng};

/// A random order of all positions.
pub struct Permuted;

pub(super) struct Running {
    order: Permutation,
    next: u64,
}

impl Pattern for Permuted {
    fn instantiate(&self, region: &Region, key: u64) -> Result<super::Running, Illegal> {
        Ok(super::Running::Permuted(Running { order: Permutation::new(region.positions, key), next: 0 }))
    }
}

impl Draw for Running {
    #[inline]
    fn next(&mut self, region: &Region, _: &mut Rng, _: Op, _: u32) -> u64 {
        let position = self.order.apply(self.next);
        self.next = if self.next + 1 == region.positions { 0 } else { self.next + 1 };
        position * region.alignment
    }
}
