//! `aero`: erase time by the block (S. Cho et al., "AERO", ASPLOS'24). A shallow erase of two steps comes first; its fail bits
//! predict how many further steps the block needs, so that the last loop ends early. Seven steps are a fresh erase.
//!
//! The steps of a block follow from its rank in the distributions of the authors' block models ([`steps`]), with or without use
//! of the error-correction margin. A misprediction adds one step, with its verify. Wear counts whole cycles all the same.

mod steps;

use super::{BlockErase, Method};
use crate::pulse::{PulseTrain, Shape};
use interpulse_engine::Duration;
use interpulse_settings::{default, keys};

keys! {
    /// Adaptive erase.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Aero, pub(super) fn read(s) {
        /// leave cells a little less erased, within the margin of the error correction
        pub margin: bool = bool(default(true)),
        /// share of the erases whose predicted time is one step too short
        pub mispredictions: f64 = fraction(default(0.0).at_most(1.0)),
    }
}

/// Steps of a fresh erase (3.5 ms in steps of 0.5 ms).
const STEPS: u64 = 7;
/// Steps of the shallow erase.
const SHALLOW: u64 = 2;

impl Aero {
    /// Steps that a block needs.
    fn steps(&self, cycles: u32, rank: f64) -> u32 {
        let table = if self.margin { &steps::WITH_MARGIN } else { &steps::WITHOUT_MARGIN };
        steps::of_block(table, cycles, rank)
    }
}

impl Method for Aero {
    fn train(&self, erase: &BlockErase) -> PulseTrain {
        let fresh = erase.fresh;
        let after_pulse = fresh.reset + fresh.verify;
        // A loop has at least a fourteenth of a pulse before its verify.
        let shortest = after_pulse + Duration::from_ns(fresh.pulse.as_ns() / (2 * STEPS));
        let step = Duration::from_ns(fresh.total().as_ns() / STEPS);
        let one = fresh.loop_time();
        let wanted = (step * u64::from(self.steps(erase.cycles, erase.rank))).min(erase.nominal.total());
        let loops = wanted.as_ns().div_ceil(one.as_ns()).max(1);
        let last = (wanted - one * (loops - 1)).max(shortest).min(one);
        let total = one * (loops - 1) + last;
        let shallow = (step * SHALLOW).max(shortest);
        let lead = if shallow + shortest <= total.min(one) { shallow } else { Duration::ZERO };
        let extra = if erase.chance < self.mispredictions { step.max(shortest) } else { Duration::ZERO };
        let ns = |time: Duration| time.as_ns() as u32;
        let shape = Shape { lead: ns(lead), cut: ns(one - last), extra: ns(extra) };
        PulseTrain { loops: loops as u32, shape, ..fresh }
    }
}

#[cfg(test)]
mod tests;
