//! Imposed write amplification: one host program brings (WAF - 1) extra ones, on dies drawn at random.

use crate::numbers::Lane;
use interpulse_engine::Rng;

/// How much is still to be imposed.
pub(super) struct Imposed {
    waf: f64,
    credit: f64,
    rng: Rng,
}

impl Imposed {
    pub(super) fn new(waf: f64, rng: Rng) -> Imposed {
        Imposed { waf, credit: 0.0, rng }
    }

    /// A host program has been submitted.
    pub(super) fn earn(&mut self) {
        self.credit += self.waf - 1.0;
    }

    /// The lane of the next extra program that is due, if one is.
    pub(super) fn next(&mut self, lanes: u32) -> Option<Lane> {
        if self.credit < 1.0 {
            return None;
        }
        self.credit -= 1.0;
        Some(Lane(self.rng.below(u64::from(lanes)) as u32))
    }
}
