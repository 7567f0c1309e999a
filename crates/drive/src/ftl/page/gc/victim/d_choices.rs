//! `d-choices`: the emptiest of d randomly drawn closed blocks (Van Houdt 2013). Li, Lee and Lui (SIGMETRICS 2013) call the
//! same rule randomized greedy; MQSim's `RGA` draws log2 of the number of blocks.

use super::{Blocks, VictimPolicy, is_candidate};
use interpulse_engine::Rng;
use interpulse_settings::{default, keys};

keys! {
    /// d-choices policy.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct DChoices, pub(crate) fn read(s) {
        /// closed blocks drawn by d-choices
        pub d: u32 = ["gc-choices"] u32(default(10).within(1..=1024)),
    }
}

impl VictimPolicy for DChoices {
    #[inline]
    fn victim(&self, blocks: &Blocks, rng: &mut Rng) -> Option<usize> {
        let weights = blocks.weights;
        if !weights.iter().any(|&w| is_candidate(w)) {
            return None;
        }
        let mut best: Option<usize> = None;
        let mut drawn = 0;
        while drawn < self.d {
            let i = rng.below(weights.len() as u64) as usize;
            if is_candidate(weights[i]) {
                drawn += 1;
                if best.is_none_or(|b| weights[i] < weights[b]) {
                    best = Some(i);
                }
            }
        }
        best
    }
}
