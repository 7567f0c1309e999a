//! `hyper-exponential` arrivals: each gap is exponential with one of two means, chosen independently; both phases
//! contribute half of the time (balanced means). Models the bursts of production traces.

use super::{Distribution, Draw, exponential};
use crate::error::Illegal;
use interpulse_engine::Rng;
use interpulse_settings::{ConfigError, Section, keys, required};
use std::ops::RangeInclusive;

keys! {
    /// Bursty arrivals.
    #[derive(Clone, PartialEq, Debug)]
    pub struct HyperExponential, pub(super) fn read(s) {
        /// Squared coefficient of variation of the gaps (variance over squared mean). 1 is a Poisson process.
        pub scv: f64 => squared_variation(s)?,
    }
}

pub(super) struct Running {
    first_below: u64,
    first_ns: f64,
    second_ns: f64,
}

/// Legal range of the squared coefficient of variation, shared with statistical twins.
pub(crate) const SQUARED_VARIATION: RangeInclusive<f64> = 1.0..=1e4;

pub(crate) fn squared_variation(s: &mut Section) -> Result<f64, ConfigError> {
    let doc = "squared coefficient of variation of the gaps";
    s.f64("squared-variation", doc, required().within(SQUARED_VARIATION))
}

impl Distribution for HyperExponential {
    fn with_mean(&self, mean_ns: f64) -> Result<super::Running, Illegal> {
        let scv = self.scv;
        Illegal::unless(SQUARED_VARIATION.contains(&scv), "scv", scv, "1 (a Poisson process) to 10000")?;
        // Balanced means: p m1 = (1 - p) m2 = mean / 2; matching the variance gives p.
        let p = 0.5 * (1.0 + libm::sqrt((scv - 1.0) / (scv + 1.0)));
        Ok(super::Running::HyperExponential(Running {
            first_below: Rng::threshold(p),
            first_ns: mean_ns / (2.0 * p),
            second_ns: mean_ns / (2.0 * (1.0 - p)),
        }))
    }
}

impl Draw for Running {
    fn next(&self, rng: &mut Rng) -> f64 {
        let mean_ns = if rng.chance(self.first_below) { self.first_ns } else { self.second_ns };
        exponential(rng, mean_ns)
    }
}
