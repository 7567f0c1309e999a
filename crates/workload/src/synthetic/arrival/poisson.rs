//! `poisson` arrivals: exponential gaps.

use super::{Distribution, Draw, exponential};
use crate::error::Illegal;
use interpulse_engine::Rng;

/// Exponential gaps.
pub struct Poisson;

pub(super) struct Running {
    mean_ns: f64,
}

impl Distribution for Poisson {
    fn with_mean(&self, mean_ns: f64) -> Result<super::Running, Illegal> {
        Ok(super::Running::Poisson(Running { mean_ns }))
    }
}

impl Draw for Running {
    fn next(&self, rng: &mut Rng) -> f64 {
        exponential(rng, self.mean_ns)
    }
}
