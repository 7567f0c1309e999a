//! `greedy`: the block with the fewest valid units; the lowest number among equals.

use super::{Blocks, VictimPolicy, is_candidate};
use interpulse_engine::Rng;

/// Blocks of a run.
const RUN: usize = 64;

/// The emptiest.
pub struct Greedy;

impl VictimPolicy for Greedy {
    /// The first of the smallest weights, if it is a candidate: one pass, several at a time, finds the run that has it.
    #[inline]
    fn victim(&self, blocks: &Blocks, _: &mut Rng) -> Option<usize> {
        let (mut smallest, mut run) = (u32::MAX, 0);
        for (k, weights) in blocks.weights.chunks(RUN).enumerate() {
            let least = weights.iter().fold(u32::MAX, |a, &b| a.min(b));
            if least < smallest {
                (smallest, run) = (least, k * RUN);
            }
        }
        if !is_candidate(smallest) {
            return None;
        }
        Some(run + blocks.weights[run..].iter().position(|&w| w == smallest)?)
    }
}
