//! When the next request arrives.

use super::check_depth;
use super::spec::{Arrivals, SyntheticPacing};
use crate::error::Illegal;
use interpulse_engine::{Rng, SimTime};

/// Hands out arrival times.
pub(super) enum Clock {
    /// A closed flow has no arrival times of its own: always its start.
    Closed(SimTime),
    Open {
        rng: Rng,
        gap: Gap,
        now_ns: u64,
        /// The fraction of a nanosecond by which the true arrival lies after `now_ns`: rounding never adds up.
        carry_ns: f64,
    },
}

/// Distribution of the gaps; means in ns.
pub(super) enum Gap {
    Fixed { gap_ns: f64 },
    Poisson { mean_ns: f64 },
    HyperExponential { first_below: u64, first_ns: f64, second_ns: f64 },
}

impl Clock {
    pub(super) fn new(spec: &SyntheticPacing, start: SimTime, rng: Rng) -> Result<Clock, Illegal> {
        let (rate_per_s, arrivals) = match spec {
            SyntheticPacing::Closed { depth } => {
                check_depth(*depth)?;
                return Ok(Clock::Closed(start));
            }
            SyntheticPacing::Open { rate_per_s, arrivals } => (*rate_per_s, arrivals),
        };
        if !(rate_per_s > 0.0 && rate_per_s <= 1e9) {
            return Err(Illegal::new("rate_per_s", rate_per_s, "above 0 and up to 1e9 requests per second"));
        }
        let mean_ns = 1e9 / rate_per_s;
        let gap = match *arrivals {
            Arrivals::Fixed => Gap::Fixed { gap_ns: mean_ns },
            Arrivals::Poisson => Gap::Poisson { mean_ns },
            Arrivals::HyperExponential { scv } => {
                if !(1.0..=1e6).contains(&scv) {
                    return Err(Illegal::new("scv", scv, "1 (a Poisson process) to 1e6"));
                }
                // Balanced means: p m1 = (1 - p) m2 = mean / 2; matching the variance gives p.
                let p = 0.5 * (1.0 + libm::sqrt((scv - 1.0) / (scv + 1.0)));
                Gap::HyperExponential {
                    first_below: Rng::threshold(p),
                    first_ns: mean_ns / (2.0 * p),
                    second_ns: mean_ns / (2.0 * (1.0 - p)),
                }
            }
        };
        Ok(Clock::Open { rng, gap, now_ns: start.as_ns(), carry_ns: 0.0 })
    }

    /// The next arrival; `None` beyond representable time.
    #[inline]
    pub(super) fn next(&mut self) -> Option<SimTime> {
        match self {
            Clock::Closed(start) => Some(*start),
            Clock::Open { rng, gap, now_ns, carry_ns } => {
                let gap_ns = *carry_ns + gap.next(rng);
                let whole_ns = gap_ns as u64;
                *carry_ns = gap_ns - whole_ns as f64;
                *now_ns = now_ns.checked_add(whole_ns)?;
                Some(SimTime(*now_ns))
            }
        }
    }
}

impl Gap {
    fn next(&self, rng: &mut Rng) -> f64 {
        match *self {
            Gap::Fixed { gap_ns } => gap_ns,
            Gap::Poisson { mean_ns } => exponential(rng, mean_ns),
            Gap::HyperExponential { first_below, first_ns, second_ns } => {
                let mean_ns = if rng.chance(first_below) { first_ns } else { second_ns };
                exponential(rng, mean_ns)
            }
        }
    }
}

/// An exponential variate; `1 - unit` is never zero, so the logarithm is finite.
fn exponential(rng: &mut Rng, mean_ns: f64) -> f64 {
    -mean_ns * libm::log(1.0 - rng.unit())
}
