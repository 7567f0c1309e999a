//! `greedy`: the block with the fewest valid units; the lowest number among equals.

use super::{Blocks, VictimPolicy, is_candidate};
use interpulse_engine::Rng;

/// The emptiest.
pub struct Greedy;

impl VictimPolicy for Greedy {
    /// The first of the smallest weights, if it is a candidate. Two passes, both of which vectorise.
    #[inline]
    fn victim(&self, blocks: &Blocks, _: &mut Rng) -> Option<usize> {
        let smallest = blocks.weights.iter().fold(u32::MAX, |a, &b| a.min(b));
        if !is_candidate(smallest) {
            return None;
        }
        blocks.weights.iter().position(|&w| w == smallest)
    }
}
