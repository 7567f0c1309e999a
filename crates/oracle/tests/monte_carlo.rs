//! Monte Carlo test: garbage collection on plain arrays, independent of the formulas, approaches them.

use interpulse_engine::{Rng, Streams};
use interpulse_oracle::stats;
use interpulse_oracle::write_amplification::*;

/// Pages per block.
const PAGES: usize = 64;
/// Utilisation.
const RHO: f64 = 0.9;
/// Uniform popularity.
const UNIFORM: (f64, f64) = (0.5, 0.5);

/// Victim policy.
#[derive(Clone, Copy)]
enum Victim {
    Fifo,
    Greedy,
    Choices(u32),
}

/// A drive of plain arrays.
///
/// Valid pages of the victim are copied into a spare block, host writes fill the rest, and the victim becomes the spare: when a
/// victim is chosen, all valid pages lie in the full blocks, the `T` of the formulas. The new block reuses the index of the
/// victim.
struct Drive {
    /// Block of each logical page.
    block_of: Vec<usize>,
    /// Logical pages written to each block since its erase; stale if `block_of` differs.
    written: Vec<Vec<usize>>,
    /// Valid pages of each block.
    valid: Vec<usize>,
}

impl Drive {
    fn full(blocks: usize) -> Drive {
        let logical = (RHO * (blocks * PAGES) as f64).round() as usize;
        let block_of: Vec<usize> = (0..logical).map(|page| page % blocks).collect();
        let mut written = vec![Vec::new(); blocks];
        let mut valid = vec![0; blocks];
        for (page, &block) in block_of.iter().enumerate() {
            written[block].push(page);
            valid[block] += 1;
        }
        Drive { block_of, written, valid }
    }

    /// Collects `victim` and fills the block; returns the host writes.
    fn collect(&mut self, victim: usize, mut next_page: impl FnMut() -> usize) -> usize {
        let block_of = &self.block_of;
        self.written[victim].retain(|&page| block_of[page] == victim);
        self.written[victim].sort_unstable();
        self.written[victim].dedup();
        assert_eq!(self.written[victim].len(), self.valid[victim]);
        let host_writes = PAGES - self.written[victim].len();
        for _ in 0..host_writes {
            let page = next_page();
            self.valid[self.block_of[page]] -= 1;
            self.valid[victim] += 1;
            self.block_of[page] = victim;
            self.written[victim].push(page);
        }
        host_writes
    }
}

/// Write amplification in steady state. `hot` is the share of hot pages and their share of the writes.
fn simulate(victim: Victim, blocks: usize, hot: (f64, f64), rng: &mut Rng) -> f64 {
    let (warm_up, measured) = (60 * blocks, 60 * blocks);
    let mut drive = Drive::full(blocks);
    let logical = drive.block_of.len() as u64;
    let hot_pages = (hot.0 * logical as f64).round() as u64;
    let mut host_writes = 0;
    for collection in 0..warm_up + measured {
        let mut drawn = |_| rng.below(blocks as u64) as usize;
        let chosen = match victim {
            Victim::Fifo => collection % blocks,
            Victim::Greedy => (0..blocks).min_by_key(|&block| drive.valid[block]).unwrap(),
            Victim::Choices(d) => (0..d).map(&mut drawn).min_by_key(|&block| drive.valid[block]).unwrap(),
        };
        let taken = drive.collect(chosen, || {
            let is_hot = rng.unit() < hot.1;
            let page = if is_hot { rng.below(hot_pages) } else { hot_pages + rng.below(logical - hot_pages) };
            page as usize
        });
        host_writes += if collection >= warm_up { taken } else { 0 };
    }
    (measured * PAGES) as f64 / host_writes as f64
}

/// Whether the simulation approaches `expected` as drives grow.
///
/// A drive of `B` blocks deviates by a fraction near `1 / B`, which twice the result of `2 B` less that of `B` cancels.
fn check(name: &str, victim: Victim, hot: (f64, f64), expected: f64) {
    let streams = Streams::new(5);
    let run =
        |blocks, seed| simulate(victim, blocks, hot, &mut streams.stream(name, 1000 * blocks as u64 + seed));
    let limits: Vec<f64> = (0..10).map(|seed| 2.0 * run(400, seed) - run(200, seed)).collect();
    let interval = stats::confidence_interval(&limits, 1e-3, 6).unwrap();
    assert!(interval.contains(expected), "{name}: {expected} not in {interval:?}");
    assert!(interval.half_width() < 0.03 * expected, "{name}: {interval:?} is too wide");
}

#[test]
fn fifo() {
    check("fifo", Victim::Fifo, UNIFORM, fifo_uniform(RHO).unwrap());
}

#[test]
fn fifo_hot_and_cold() {
    let expected = fifo_classes(RHO, &hot_and_cold(0.2, 0.8)).unwrap();
    check("hot", Victim::Fifo, (0.2, 0.8), expected);
}

#[test]
fn greedy() {
    check("greedy", Victim::Greedy, UNIFORM, greedy_uniform(RHO, PAGES as u32).unwrap());
}

#[test]
fn random() {
    check("random", Victim::Choices(1), UNIFORM, 1.0 / (1.0 - RHO));
}

#[test]
fn two_choices() {
    check("two", Victim::Choices(2), UNIFORM, d_choices_uniform(RHO, PAGES as u32, 2).unwrap());
}

#[test]
fn ten_choices() {
    check("ten", Victim::Choices(10), UNIFORM, d_choices_uniform(RHO, PAGES as u32, 10).unwrap());
}
