//! `cost-age-time`: smallest u / (1 - u) x (erases + 1) / age, u being the valid share (Chiang and Chang, Journal of Systems
//! and Software 48, 1999), age in blocks closed since; ties go to the lowest number.
//!
//! The paper multiplies by the number of erases; one is added so that new blocks differ by cost and age.

use super::{Blocks, VictimPolicy};
use interpulse_engine::Rng;
use std::cmp::Reverse;

/// Cost-age-time policy.
pub struct CostAgeTime;

impl VictimPolicy for CostAgeTime {
    #[inline]
    fn victim(&self, blocks: &Blocks, _: &mut Rng) -> Option<usize> {
        let score = |i: usize, weight: u32, closed: u64| {
            let (valid, age) = (u64::from(weight), blocks.clock - closed);
            // The reciprocal, in integers; an empty block scores highest.
            let erases = u64::from(blocks.cycles[i]) + 1;
            if valid == 0 { u64::MAX } else { ((age * (u64::from(blocks.units) - valid)) << 20) / (valid * erases) }
        };
        let best = blocks.candidates().max_by_key(|&(i, w, c)| (score(i, w, c), Reverse(i)));
        best.map(|(i, _, _)| i)
    }
}
