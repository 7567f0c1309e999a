//! Interarrival time distributions. A distribution consists of one file with its keys and one line of the registry.

use crate::error::Illegal;
use interpulse_engine::Rng;
use interpulse_settings::registry;

pub use hyper_exponential::HyperExponential;
pub(crate) use hyper_exponential::{SQUARED_VARIATION, squared_variation};

registry! {
    $ /// Distribution of the gaps between arrivals.
    #[derive(Clone, PartialEq, Debug)]
    pub enum Arrivals, each_distribution;
    enum Running, each_running {
        "fixed" => fixed::Fixed: "equal gaps";
        "poisson" => poisson::Poisson: "exponential gaps";
        "hyper-exponential" => hyper_exponential::HyperExponential(it): "bursty: two exponential phases with balanced means and a given squared variation";
    }
}

trait Distribution {
    fn with_mean(&self, mean_ns: f64) -> Result<Running, Illegal>;
}

trait Draw {
    fn next(&self, rng: &mut Rng) -> f64;
}

pub(super) struct Gaps(Running);

impl Gaps {
    pub(super) fn new(spec: &Arrivals, mean_ns: f64) -> Result<Gaps, Illegal> {
        each_distribution!(spec, it => it.with_mean(mean_ns)).map(Gaps)
    }

    #[inline]
    pub(super) fn next(&self, rng: &mut Rng) -> f64 {
        each_running!(&self.0, it => it.next(rng))
    }
}

/// Exponential variate; `1 - unit` is never zero, so the logarithm is finite.
fn exponential(rng: &mut Rng, mean_ns: f64) -> f64 {
    -mean_ns * libm::log(1.0 - rng.unit())
}
