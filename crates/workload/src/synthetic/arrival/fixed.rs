//! `fixed` arrivals: equal gaps; fractions of a nanosecond accumulate without loss.

use super::{Distribution, Draw};
use crate::error::Illegal;
use interpulse_engine::Rng;

/// Equal gaps.
pub struct Fixed;

pub(super) struct Running {
    gap_ns: f64,
}

impl Distribution for Fixed {
    fn with_mean(&self, gap_ns: f64) -> Result<super::Running, Illegal> {
        Ok(super::Running::Fixed(Running { gap_ns }))
    }
}

impl Draw for Running {
    fn next(&self, _: &mut Rng) -> f64 {
        self.gap_ns
    }
}
