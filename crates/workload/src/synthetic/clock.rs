//! Arrival clock of synthetic flows.

use super::arrival::Gaps;
use super::queue_depth::check_depth;
use super::spec::SyntheticPacing;
use crate::error::Illegal;
use interpulse_engine::{Rng, SimTime};

pub(super) enum Clock {
    /// Closed flow: all arrival times equal its start.
    Closed(SimTime),
    Open {
        rng: Rng,
        gap: Gaps,
        now_ns: u64,
        /// Fraction of a nanosecond by which the exact arrival exceeds `now_ns`, so that rounding errors do not
        /// accumulate.
        carry_ns: f64,
    },
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
        let gap = Gaps::new(arrivals, 1e9 / rate_per_s)?;
        Ok(Clock::Open { rng, gap, now_ns: start.as_ns(), carry_ns: 0.0 })
    }

    /// Next arrival; `None` beyond representable time.
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
