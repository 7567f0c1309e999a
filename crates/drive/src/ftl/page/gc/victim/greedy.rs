//! `greedy`: the block with the fewest valid units; ties go to the lowest number.

use super::{Blocks, VictimPolicy, is_candidate};
use interpulse_engine::{Rng, vectorised};

/// Blocks per run of the scan.
const RUN: usize = 64;

/// Greedy policy.
pub struct Greedy;

impl VictimPolicy for Greedy {
    /// First block of the smallest weight, if it is a candidate. One pass finds its run.
    #[inline]
    fn victim(&self, blocks: &Blocks, _: &mut Rng) -> Option<usize> {
        let (smallest, run) = run_of_smallest(blocks.weights);
        if !is_candidate(smallest) {
            return None;
        }
        Some(run + blocks.weights[run..].iter().position(|&w| w == smallest)?)
    }
}

vectorised! {
    /// Smallest weight, and the start of the first run that has it.
    fn run_of_smallest(weights: &[u32]) -> (u32, usize) => find_run
}

#[inline(always)]
fn find_run(weights: &[u32]) -> (u32, usize) {
    let (mut smallest, mut run) = (u32::MAX, 0);
    for (k, weights) in weights.chunks(RUN).enumerate() {
        let least = weights.iter().fold(u32::MAX, |a, &b| a.min(b));
        if least < smallest {
            (smallest, run) = (least, k * RUN);
        }
    }
    (smallest, run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpulse_engine::Streams;

    #[test]
    fn both_compilations_find_the_first_run_with_the_smallest() {
        let mut rng = Streams::new(9).stream("greedy", 0);
        for len in 1..400 {
            let weights: Vec<u32> =
                (0..len).map(|_| rng.below(40) as u32 | (rng.below(2) as u32) << 31).collect();
            let found = run_of_smallest(&weights);
            assert_eq!(found, find_run(&weights));
            let least = *weights.iter().min().unwrap();
            let first = weights.iter().position(|&w| w == least).unwrap();
            assert_eq!(found, (least, first / RUN * RUN));
        }
        assert_eq!(run_of_smallest(&[]), (u32::MAX, 0));
    }
}
