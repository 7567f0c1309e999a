//! `fifo`: the block closed longest ago.

use super::{Blocks, VictimPolicy};
use interpulse_engine::Rng;

/// FIFO policy.
pub struct Fifo;

impl VictimPolicy for Fifo {
    #[inline]
    fn victim(&self, blocks: &Blocks, _: &mut Rng) -> Option<usize> {
        blocks.candidates().min_by_key(|&(_, _, closed)| closed).map(|(i, _, _)| i)
    }
}
