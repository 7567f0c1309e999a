//! `hot-cold` address pattern: the first `hot-share` of the region receives `hot-traffic` of the requests, uniform in
//! each part.

use super::{Draw, Pattern, Region};
use crate::error::Illegal;
use interpulse_engine::{Op, Rng};
use interpulse_settings::{Spec, keys, required};

keys! {
    /// Hot and cold part of the region.
    #[derive(Clone, PartialEq, Debug)]
    pub struct HotCold, pub(super) fn read(s) {
        /// hot part of the region
        pub hot_share: f64 = fraction(share()),
        /// share of requests to it
        pub hot_traffic: f64 = fraction(traffic()),
    }
}

pub(super) struct Running {
    hot_positions: u64,
    hot_below: u64,
}

fn share() -> Spec<f64> {
    required().positive().at_most(0.999)
}

fn traffic() -> Spec<f64> {
    required().positive().at_most(1.0)
}

impl Pattern for HotCold {
    fn instantiate(&self, region: &Region, _: u64) -> Result<super::Running, Illegal> {
        let HotCold { hot_share, hot_traffic } = *self;
        Illegal::unless(share().admits(&hot_share), "hot_share", hot_share, "above 0 and up to 0.999")?;
        Illegal::unless(traffic().admits(&hot_traffic), "hot_traffic", hot_traffic, "above 0 and up to 1")?;
        let positions = region.positions;
        let hot_positions = libm::round(positions as f64 * hot_share) as u64;
        let legal = format!("a share that leaves both parts some of the {positions} positions");
        Illegal::unless(hot_positions != 0 && hot_positions < positions, "hot_share", hot_share, legal)?;
        let hot_below = Rng::threshold(hot_traffic);
        Ok(super::Running::HotCold(Running { hot_positions, hot_below }))
    }
}

impl Draw for Running {
    #[inline]
    fn next(&mut self, region: &Region, rng: &mut Rng, _: Op, _: u32) -> u64 {
        let position = if rng.chance(self.hot_below) {
            rng.below(self.hot_positions)
        } else {
            self.hot_positions + rng.below(region.positions - self.hot_positions)
        };
        position * region.alignment
    }
}
