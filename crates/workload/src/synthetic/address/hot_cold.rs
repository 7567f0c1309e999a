//! `hot-cold`: the first `hot-share` of the region receives `hot-traffic` of the requests; uniform in each part.

use super::{Draw, Pattern, Region};
use crate::error::Illegal;
use interpulse_engine::Rng;
use interpulse_settings::{Spec, keys, required};

keys! {
    /// Hot and cold.
    #[derive(Clone, PartialEq, Debug)]
    pub struct HotCold, pub(super) fn read(s) {
        /// hot part of the region
        pub hot_share: f64 = fraction(share()),
        /// share of requests to it
        pub hot_traffic: f64 = fraction(traffic()),
    }
}

pub(super) struct Running {
    hot_places: u64,
    hot_below: u64,
}

fn share() -> Spec<f64> {
    required().positive().at_most(0.999)
}

fn traffic() -> Spec<f64> {
    required().positive().at_most(1.0)
}

impl Pattern for HotCold {
    fn over(&self, region: &Region, _: u64) -> Result<super::Running, Illegal> {
        let HotCold { hot_share, hot_traffic } = *self;
        Illegal::unless(share().admits(&hot_share), "hot_share", hot_share, "above 0 and up to 0.999")?;
        Illegal::unless(traffic().admits(&hot_traffic), "hot_traffic", hot_traffic, "above 0 and up to 1")?;
        let places = region.places;
        let hot_places = libm::round(places as f64 * hot_share) as u64;
        let legal = format!("a share that leaves both parts some of the {places} places");
        Illegal::unless(hot_places != 0 && hot_places < places, "hot_share", hot_share, legal)?;
        let hot_below = Rng::threshold(hot_traffic);
        Ok(super::Running::HotCold(Running { hot_places, hot_below }))
    }
}

impl Draw for Running {
    #[inline]
    fn next(&mut self, region: &Region, rng: &mut Rng, _: u32) -> u64 {
        let place = if rng.chance(self.hot_below) {
            rng.below(self.hot_places)
        } else {
            self.hot_places + rng.below(region.places - self.hot_places)
        };
        place * region.alignment
    }
}
