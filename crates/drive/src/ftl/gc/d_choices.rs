//! `d-choices`: the emptiest of so many closed blocks drawn at random (Van Houdt 2013).

use super::{Blocks, VictimPolicy, is_candidate};
use interpulse_engine::Rng;
use interpulse_settings::{ConfigError, Section, default};

/// The emptiest of some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DChoices {
    /// Blocks drawn.
    pub d: u32,
}

impl DChoices {
    pub(super) fn read(s: &mut Section) -> Result<DChoices, ConfigError> {
        let d = s.u32("gc-choices", "closed blocks drawn by d-choices", default(10).within(1..=1024))?;
        Ok(DChoices { d })
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
