//! `random`: a closed block drawn at random; under uniform writes its write amplification is 1 / (1 - rho) (Van Houdt 2013).

use super::{Blocks, DChoices, VictimPolicy};
use interpulse_engine::Rng;

/// Random policy.
pub struct Random;

impl VictimPolicy for Random {
    #[inline]
    fn victim(&self, blocks: &Blocks, rng: &mut Rng) -> Option<usize> {
        DChoices { d: 1 }.victim(blocks, rng)
    }
}
