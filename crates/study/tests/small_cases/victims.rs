//! Victim policies against their definitions.

use interpulse_drive::Map;
use interpulse_drive::ftl::page::gc::victim::BlockHistory;
use interpulse_drive::numbers::SuperBlock;
use interpulse_drive::threshold_blocks;
use interpulse_drive::{DChoices, GcPolicy, ThresholdBase};
use interpulse_engine::{Rng, Streams};
use interpulse_oracle::stats::proportion_interval;
use proptest::prelude::*;

/// Blocks as (valid units of 64, order of closing); `None` where a block is no candidate.
fn choose(policy: GcPolicy, blocks: &[Option<(u32, u64)>], rng: &mut Rng) -> Option<u32> {
    let mut map = Map::new(64, blocks.len() as u32 + 2, 64);
    let mut closed = vec![0; blocks.len() + 2];
    // The lane is blocks 1 .. n; block 0 belongs to another lane and would always be chosen.
    map.set_candidate(SuperBlock(0), true);
    for (i, block) in blocks.iter().enumerate() {
        let Some((valid, at)) = *block else { continue };
        map.set_candidate(SuperBlock(i as u32 + 1), true);
        map.weight[i + 1] = valid;
        closed[i + 1] = at;
    }
    let lane = SuperBlock(1)..SuperBlock(blocks.len() as u32 + 1);
    let cycles = vec![0; closed.len()];
    let history = BlockHistory { closed: &closed, clock: 100, cycles: &cycles };
    let chosen = policy.select(&map, history, lane, 64, rng)?.0;
    assert!((1..=blocks.len() as u32).contains(&chosen), "the victim is one of the lane");
    Some(chosen - 1)
}

fn rng() -> Rng {
    Streams::new(3).stream("small cases", 0)
}

#[test]
fn one_choice_draws_every_block_alike_and_two_take_the_better() {
    // Block k has k valid units. The best of two draws is block k of 5 with probability (9 - 2k) / 25.
    let blocks: Vec<_> = (0..5).flat_map(|k| [Some((k, 1)), None]).collect();
    let draws = 20_000;
    for (d, probability) in [(1, [5.0; 5]), (2, [9.0, 7.0, 5.0, 3.0, 1.0])] {
        let mut rng = Streams::new(3).stream("choices", d);
        let mut chosen = [0u64; 5];
        for _ in 0..draws {
            chosen[choose(GcPolicy::DChoices(DChoices { d: d as u32 }), &blocks, &mut rng).unwrap()
                as usize
                / 2] += 1;
        }
        for (count, p) in chosen.into_iter().zip(probability) {
            let legal = proportion_interval(p / 25.0, draws, 1e-6, 10).unwrap();
            assert!(legal.contains(count as f64 / draws as f64), "d = {d}: {chosen:?}");
        }
    }
}

proptest! {
    #[test]
    fn victims_are_the_extremes_of_their_rule(blocks in prop::collection::vec(prop::option::of((0u32..=64, 0u64..100)), 1..40)) {
        let candidates = || blocks.iter().enumerate().filter_map(|(i, b)| b.map(|(v, at)| (i as u32, v, at)));
        let chosen = |policy| choose(policy, &blocks, &mut rng());
        prop_assert_eq!(chosen(GcPolicy::Greedy), candidates().min_by_key(|c| c.1).map(|c| c.0));
        prop_assert_eq!(chosen(GcPolicy::Fifo), candidates().min_by_key(|c| c.2).map(|c| c.0));
        let benefit = |valid: u32, at: u64| match valid {
            0 => f64::INFINITY,
            v => (100 - at) as f64 * (64.0 - f64::from(v)) / (2.0 * f64::from(v)),
        };
        let best = candidates().map(|(_, v, at)| benefit(v, at)).fold(f64::NEG_INFINITY, f64::max);
        if let Some(victim) = chosen(GcPolicy::CostBenefit) {
            let (valid, at) = blocks[victim as usize].unwrap();
            // Scores have a resolution of 1/65536.
            prop_assert!(benefit(valid, at) >= best - 1.0 / 65536.0 || best.is_infinite() && valid == 0);
        } else {
            prop_assert_eq!(candidates().count(), 0);
        }
    }
}

#[test]
fn thresholds_are_shares_of_what_they_say_rounded_to_whole_blocks() {
    assert_eq!(threshold_blocks(ThresholdBase::Blocks, 0.05, 1000, 230.0), 50);
    assert_eq!(threshold_blocks(ThresholdBase::Spare, 0.05, 1000, 230.0), 12);
    assert_eq!(threshold_blocks(ThresholdBase::Spare, 0.001, 1000, 230.0), 0);
}
