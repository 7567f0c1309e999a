//! `cost-benefit`: largest age * (1 - u) / 2u, u being the valid share (Rosenblum and Ousterhout 1992), age in blocks
//! closed since; ties go to the lowest number.

use super::{Blocks, VictimPolicy};
use interpulse_engine::Rng;
use std::cmp::Reverse;

/// Cost-benefit policy.
pub struct CostBenefit;

impl VictimPolicy for CostBenefit {
    #[inline]
    fn victim(&self, blocks: &Blocks, _: &mut Rng) -> Option<usize> {
        let score = |weight: u32, closed: u64| {
            let (valid, age) = (u64::from(weight), blocks.clock - closed);
            // In integers; an empty block scores highest.
            if valid == 0 { u64::MAX } else { age * ((u64::from(blocks.units) - valid) << 16) / (2 * valid) }
        };
        let best = blocks.candidates().max_by_key(|&(i, w, c)| (score(w, c), Reverse(i)));
        best.map(|(i, _, _)| i)
    }
}
