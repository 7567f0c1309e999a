//! Worked instants of adapted erases, derived by hand.

use super::super::{BlockErase, EraseMethod, Method};
use super::{Aero, steps};
use crate::pulse::{PulseTrain, Shape};
use interpulse_engine::Duration;

const CONSERVATIVE: Aero = Aero { margin: false, mispredictions: 0.0 };

/// AERO's part: 3.4 ms of pulse and 100 us of verify a loop, so steps of 0.5 ms.
fn fresh() -> PulseTrain {
    PulseTrain::even(1, Duration::from_us(3_400), Duration::ZERO, Duration::from_us(100))
}

fn erase(loops: u32, cycles: u32, rank: f64) -> BlockErase {
    BlockErase { nominal: PulseTrain { loops, ..fresh() }, fresh: fresh(), cycles, rank, chance: 0.5 }
}

/// Ends of the loops in us.
fn ends(train: &PulseTrain) -> Vec<u64> {
    let (mut ends, mut at) = (Vec::new(), Duration::ZERO);
    while at < train.total() {
        at += train.loop_length(at);
        ends.push(at.as_ns() / 1_000);
    }
    ends
}

/// Fresh blocks without margin: 32 % need 4 steps, 38 % 5, 24 % 6, 6 % 7. The shallow erase ends after 1 ms.
#[test]
fn a_fresh_block_is_erased_in_two_loops() {
    for (rank, total) in [(0.0, 2_000), (0.31, 2_000), (0.33, 2_500), (0.71, 3_000), (0.95, 3_500)] {
        assert_eq!(ends(&CONSERVATIVE.train(&erase(1, 0, rank))), [1_000, total], "rank {rank}");
    }
}

/// 2,500 cycles without margin: 4 % need 10 steps (5 ms: 1 ms, to 3.5 ms, to 5 ms), the last 1 % 23 (11.5 ms).
#[test]
fn a_worn_block_has_whole_loops_before_the_last() {
    assert_eq!(ends(&CONSERVATIVE.train(&erase(2, 2_500, 0.01))), [1_000, 3_500, 5_000]);
    assert_eq!(ends(&CONSERVATIVE.train(&erase(4, 2_500, 0.999))), [1_000, 3_500, 7_000, 10_500, 11_500]);
}

/// With the margin 5 % of fresh blocks need three steps: 1.5 ms instead of 2 ms.
#[test]
fn the_margin_saves_a_step() {
    let with = Aero { margin: true, ..CONSERVATIVE };
    assert_eq!(ends(&with.train(&erase(1, 0, 0.04))), [1_000, 1_500]);
    assert_eq!(ends(&CONSERVATIVE.train(&erase(1, 0, 0.04))), [1_000, 2_000]);
}

/// One step more, in a loop of its own: 0.5 ms with the verify in it.
#[test]
fn a_misprediction_adds_a_step() {
    let wrong = Aero { mispredictions: 0.6, ..CONSERVATIVE };
    assert_eq!(ends(&wrong.train(&erase(1, 0, 0.0))), [1_000, 2_000, 2_500]);
    let right = Aero { mispredictions: 0.5, ..CONSERVATIVE };
    assert_eq!(ends(&right.train(&erase(1, 0, 0.0))), [1_000, 2_000]);
}

/// A part of five loops of 1 ms: a step is 5/7 ms, so the shallow erase of 1.43 ms is longer than its loop, which stays whole. Four
/// steps are 2.857 ms: two whole loops, then 0.857 ms.
#[test]
fn short_loops_stay_as_they_are() {
    let fresh = PulseTrain::even(5, Duration::from_us(992), Duration::ZERO, Duration::from_us(8));
    let erase = BlockErase { nominal: fresh, fresh, cycles: 0, rank: 0.0, chance: 0.5 };
    assert_eq!(ends(&CONSERVATIVE.train(&erase)), [1_000, 2_000, 2_857]);
}

/// Means of the published distributions, in ms.
#[test]
fn mean_erase_times_are_those_of_the_block_models() {
    for (table, means) in
        [(&steps::WITHOUT_MARGIN, [2.52, 7.09, 13.01]), (&steps::WITH_MARGIN, [2.245, 5.24, 11.62])]
    {
        for (cycles, mean) in [0, 2_500, 4_500].into_iter().zip(means) {
            let sum: u32 = (0..10_000).map(|k| steps::of_block(table, cycles, f64::from(k) / 10_000.0)).sum();
            let ours = f64::from(sum) / 10_000.0 * 0.5;
            assert!((ours / mean - 1.0).abs() < 0.005, "{cycles} cycles: {ours} ms against {mean}");
        }
    }
}

/// Every method on trains of any proportions: loops of a pulse and a whole verify each, no longer than whole loops and a step.
#[test]
fn every_method_gives_a_train_of_loops() {
    for (name, method, _) in EraseMethod::all() {
        for (loops, pulse, verify) in [(1, 3_400, 100), (5, 992, 8), (3, 50, 400), (7, 1, 0), (2, 900, 900)] {
            let fresh = PulseTrain::even(loops, Duration::from_us(pulse), Duration::ZERO, Duration::from_us(verify));
            for (cycles, rank) in [(0, 0.0), (0, 0.99), (1_700, 0.3), (9_000, 0.7)] {
                let nominal = PulseTrain { loops: 3 * loops, ..fresh };
                let train = method.train(&BlockErase { nominal, fresh, cycles, rank, chance: 0.0 });
                let [pulses, _, verifies] = train.split(train.total());
                assert!(pulses > Duration::ZERO && train.total() <= nominal.total(), "{name}: {train:?}");
                assert_eq!(verifies, fresh.verify * ends(&train).len() as u64, "{name}: {train:?}");
                assert_eq!(train.loops_left(Duration::ZERO), ends(&train).len() as u64, "{name}: {train:?}");
                assert!(train.shape == Shape::EVEN || name != "ispe");
            }
        }
    }
}
