//! Is the mathematics right? Write amplification of garbage collection against closed forms.
//!
//! The formulas are limits of many blocks. A drive of `B` blocks deviates by a fraction of order `1 / B`,
//! which twice the result of `2 B` less that of `B` cancels. Each seed gives one such difference, the seeds a
//! confidence interval; all comparisons of the file together fail by chance with probability 1e-6.
//!
//! The utilisation that the formulas ask for is `BlockManager::effective_spare`'s; a tenth of the blocks is in the
//! free reserve, so that a wrong account of the reserve shows as a wrong write amplification. What `O(1)`
//! blocks are worth the limit hides; they are counted at the choices of victims themselves.
//!
//! In simulated time garbage collection takes time. A lane that is written without a pause empties its
//! victims slowly until its free blocks have fallen to where collection becomes urgent, half-way between
//! `gc-soft` and `gc-hard`, and stays there. So it works with fewer free blocks than preconditioning, which
//! collects at `gc-soft` in no time: its write amplification is lower, by what those blocks are worth. The
//! last test holds the drive to the utilisation that it itself has at its choices.

use crate::ftl_common::drive::Window;
use crate::ftl_common::witness::Witness;
use crate::ftl_common::*;
use interpulse_drive::PreconditionedState;
use interpulse_drive::ftl::page::gc::victim::{DChoices, GcPolicy, WindowedGreedy};
use interpulse_drive::ftl::page::precondition::Preconditioner;
use interpulse_drive::numbers::Lpn;
use interpulse_oracle::stats::{Interval, confidence_interval};
use interpulse_oracle::write_amplification::*;

/// The probability that any comparison of this file fails although everything is right.
const FAMILY_ERROR: f64 = 1e-6;
/// Comparisons in this file: 17 with formulas, 1 of lanes, 3 of the effective spare, 2 of cost-benefit, 2 of windowed greedy, 1
/// of cost-age-time, 2 of the timed drive.
const COMPARISONS: usize = 28;
/// Spare factors (usable - logical) / logical.
const SPARE: [f64; 3] = [0.1, 0.2, 0.4];

/// What is compared with a formula.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    policy: GcPolicy,
    lanes: u32,
    /// Blocks of a lane of the smaller drive.
    blocks: u32,
    heat: Heat,
    seeds: u64,
}

impl Case {
    const fn of(name: &'static str, policy: GcPolicy) -> Case {
        Case { name, policy, lanes: 1, blocks: 150, heat: UNIFORM, seeds: 16 }
    }

    /// Measured over expected write amplification of drives of `blocks` blocks a lane.
    fn ratio(&self, spare: f64, blocks: u32, seed: u64, expected: impl Fn(f64) -> f64) -> f64 {
        let instance = u64::from(blocks) * 1000 + seed;
        let (choices, writes) = (stream(self.name, 2 * instance), stream(self.name, 2 * instance + 1));
        let mut ftl = ftl(self.lanes, blocks, self.policy, blocks / 10, spare, choices);
        let expected = expected(ftl.effective_spare().utilisation);
        write_amplification(&mut ftl, self.heat, (14.0, 26.0), expected, writes) / expected
    }

    /// The limit of many blocks of [`Case::ratio`].
    fn limit(&self, spare: f64, expected: impl Fn(f64) -> f64) -> Interval {
        let of = |seed| {
            2.0 * self.ratio(spare, 2 * self.blocks, seed, &expected)
                - self.ratio(spare, self.blocks, seed, &expected)
        };
        interval((0..self.seeds).map(of))
    }

    fn check(&self, spare: f64, expected: impl Fn(f64) -> f64) {
        let limit = self.limit(spare, expected);
        assert!(limit.contains(1.0), "{} at spare {spare}: measured/expected in {limit:?}", self.name);
        assert!(limit.half_width() < 0.03, "{} at spare {spare}: {limit:?} says too little", self.name);
    }
}

fn interval(samples: impl Iterator<Item = f64>) -> Interval {
    confidence_interval(&samples.collect::<Vec<f64>>(), FAMILY_ERROR, COMPARISONS).unwrap()
}

#[test]
fn greedy_approaches_the_exact_mean_field() {
    let case = Case::of("greedy", GcPolicy::Greedy);
    SPARE.iter().for_each(|&s| case.check(s, |rho| greedy_uniform(rho, BLOCK).unwrap()));
}

#[test]
fn fifo_approaches_its_formula() {
    let case = Case::of("fifo", GcPolicy::Fifo);
    SPARE.iter().for_each(|&s| case.check(s, |rho| fifo_uniform(rho).unwrap()));
}

#[test]
fn two_choices_approach_the_mean_field() {
    // Blocks that chance overlooks for long make single runs noisy.
    let case = Case { seeds: 28, ..Case::of("two choices", GcPolicy::DChoices(DChoices { d: 2 })) };
    SPARE.iter().for_each(|&s| case.check(s, |rho| d_choices_uniform(rho, BLOCK, 2).unwrap()));
}

#[test]
fn ten_choices_approach_the_mean_field() {
    let case = Case::of("ten choices", GcPolicy::DChoices(DChoices { d: 10 }));
    SPARE.iter().for_each(|&s| case.check(s, |rho| d_choices_uniform(rho, BLOCK, 10).unwrap()));
}

#[test]
fn random_victims_approach_their_formula() {
    // Blocks that chance overlooks for long make single runs noisy.
    let case = Case { seeds: 60, ..Case::of("random", GcPolicy::Random) };
    SPARE[1..].iter().for_each(|&s| case.check(s, |rho| 1.0 / (1.0 - rho)));
}

#[test]
fn fifo_with_hot_and_cold_data_approaches_its_formula() {
    let classes = hot_and_cold(HOT_AND_COLD.space, HOT_AND_COLD.writes);
    let case = Case { heat: HOT_AND_COLD, ..Case::of("hot and cold", GcPolicy::Fifo) };
    SPARE.iter().for_each(|&s| case.check(s, |rho| fifo_classes(rho, &classes).unwrap()));
}

#[test]
fn four_lanes_cost_what_one_does() {
    let case = Case { lanes: 4, blocks: 60, ..Case::of("four lanes", GcPolicy::Greedy) };
    case.check(0.2, |rho| greedy_uniform(rho, BLOCK).unwrap());
}

#[test]
fn the_effective_spare_is_what_victim_choices_see() {
    for soft in [2, 3, 12] {
        let off = interval((0..10).map(|seed| {
            let mut twin = ftl(1, 120, GcPolicy::Greedy, soft, 0.15, stream("witness", seed));
            let logical = twin.map().logical_units();
            let writes = || addresses(logical, UNIFORM, stream("witness.addresses", seed));
            let mut witness = Witness::new(twin.clone());
            let mut next = writes();
            Lpn::first(logical).for_each(|lpn| witness.write(lpn));
            (0..2 * logical).for_each(|_| witness.write(next()));
            (witness.held, witness.choices) = (0, 0);
            (0..4 * logical).for_each(|_| witness.write(next()));
            // What is seen here is what preconditioning does.
            let mut p = Preconditioner::new(&mut twin, None);
            p.write_in_order(Lpn(0), Lpn(logical));
            p.overwrite(6 * u64::from(logical), writes());
            assert_eq!((witness.ftl.counters, &witness.ftl.cycles), (twin.counters, &twin.cycles));
            let usable = f64::from(logical) / twin.effective_spare().utilisation;
            (witness.held as f64 / witness.choices as f64 - usable) / f64::from(BLOCK)
        }));
        assert!(off.contains(0.0), "soft_free {soft}: the spare is off by {off:?} blocks");
        assert!(off.half_width() < 0.05, "soft_free {soft}: {off:?} says too little");
    }
}

#[test]
fn cost_benefit_is_close_to_greedy_and_better_where_data_is_cold() {
    for (heat, low, high) in [(UNIFORM, 0.97, 1.03), (HOT_AND_COLD, 0.0, 1.0)] {
        let of = |policy, seed| {
            let mut ftl = ftl(1, 200, policy, 4, 1.0 / 9.0, stream("cost-benefit", seed));
            write_amplification(&mut ftl, heat, (40.0, 20.0), 4.5, stream("cost-benefit.addresses", seed))
        };
        let ratio =
            interval((0..16).map(|seed| of(GcPolicy::CostBenefit, seed) / of(GcPolicy::Greedy, seed)));
        assert!(low < ratio.low && ratio.high < high, "cost-benefit over greedy is {ratio:?}");
    }
}

#[test]
fn windowed_greedy_lies_between_fifo_and_greedy() {
    let of = |policy, seed| {
        let mut ftl = ftl(1, 200, policy, 4, 0.2, stream("windowed", seed));
        write_amplification(&mut ftl, UNIFORM, (14.0, 20.0), 3.0, stream("windowed.addresses", seed))
    };
    let windowed = |seed| of(GcPolicy::WindowedGreedy(WindowedGreedy { window: 10 }), seed);
    let to = |other| interval((0..8).map(|seed| windowed(seed) / of(other, seed)));
    let (fifo, greedy) = (to(GcPolicy::Fifo), to(GcPolicy::Greedy));
    assert!(fifo.high < 1.0 && greedy.low > 1.0, "over FIFO {fifo:?}, over greedy {greedy:?}");
}

#[test]
fn cost_age_time_is_better_than_greedy_where_data_is_cold() {
    let of = |policy, seed| {
        let mut ftl = ftl(1, 200, policy, 4, 1.0 / 9.0, stream("cost-age-time", seed));
        let writes = stream("cost-age-time.addresses", seed);
        write_amplification(&mut ftl, HOT_AND_COLD, (40.0, 20.0), 4.5, writes)
    };
    let ratio = interval((0..12).map(|seed| of(GcPolicy::CostAgeTime, seed) / of(GcPolicy::Greedy, seed)));
    assert!(ratio.high < 1.0, "cost-age-time over greedy is {ratio:?}");
}

/// One drive preconditioned, measured without time, and run on in time: (write amplification without time,
/// what it did in time, effective utilisation without time).
fn with_and_without_time(gc_soft: f64, seed: u64) -> (f64, Window, f64) {
    let spec = drive::spec(1, 300, gc_soft);
    spec.check().unwrap();
    let mut ftl = spec.fresh_ftl(stream("timed", seed)).unwrap();
    let logical = ftl.map().logical_units();
    let untimed = write_amplification(&mut ftl, UNIFORM, (15.0, 25.0), 3.0, stream("timed.addresses", seed));
    let rho = ftl.effective_spare().utilisation;
    let window = drive::run(&spec, PreconditionedState::Page(ftl), 10 * u64::from(logical), seed);
    (untimed, window, rho)
}

#[test]
fn the_timed_drive_agrees_at_the_utilisation_it_works_with() {
    for gc_soft in [0.02, 0.1] {
        let runs: Vec<_> = (0..8).map(|seed| with_and_without_time(gc_soft, seed)).collect();
        let ratio = interval(runs.iter().map(|(untimed, timed, rho)| {
            // Both deviate from the limit of many blocks in the same way, which cancels.
            let of = |wa: f64, rho: f64| wa / greedy_uniform(rho, BLOCK).unwrap();
            of(timed.write_amplification, timed.rho) / of(*untimed, *rho)
        }));
        assert!(ratio.contains(1.0), "gc-soft {gc_soft}: timed over untimed in {ratio:?}");
        assert!(ratio.half_width() < 0.03, "gc-soft {gc_soft}: {ratio:?} says too little");
        // Collection works where it becomes urgent, and that is what makes it cheaper.
        let config = drive::spec(1, 300, gc_soft).ftl_config().unwrap();
        let urgent = f64::from((config.soft_free + config.hard_free) / 2);
        for (untimed, timed, _) in runs {
            let free = timed.free;
            assert!((free - urgent).abs() < 1.0, "{free} blocks are free, collection is urgent at {urgent}");
            assert_eq!(timed.padding_units, 0, "nothing asks for partial programs");
            let reported = 1.0 / (1.0 + timed.spare);
            assert!((reported - timed.rho).abs() < 0.002, "reported {reported}, seen {}", timed.rho);
            assert!(timed.write_amplification < untimed, "{timed:?}, without time {untimed}");
        }
    }
}
