//! Is a state the same whether units are looked up or drawn? Overwrites of drawn blocks against overwrites of drawn logical
//! units, which are the reference: write amplification, valid units and ages of blocks, free blocks, where in a block what
//! is valid lies, what has stayed in order, how lanes are filled and how logical units are spread over them.
//!
//! Each seed gives one figure of each way; the difference of the means has to be nothing, by Welch's interval. All
//! comparisons of the file together fail by chance with probability 1e-6.

use crate::ftl_common::*;
use interpulse_drive::FtlState;
use interpulse_drive::ftl::BlockManager;
use interpulse_drive::ftl::page::gc::victim::{DChoices, GcPolicy};
use interpulse_drive::ftl::page::mapping::table::Where;
use interpulse_drive::ftl::page::placement::stripe::{Allocation, Stripe};
use interpulse_drive::ftl::page::precondition::Preconditioner;
use interpulse_drive::numbers::{Lane, Lpn, SuperBlock};
use interpulse_oracle::stats::{mean, student_t_quantile, variance};

const FAMILY_ERROR: f64 = 1e-6;
const SEEDS: u64 = 48;
/// Classes of blocks by valid units and by age.
const CLASSES: usize = 8;
/// What is compared of a state: see [`figures`].
const FIGURES: usize = 2 * CLASSES + 13;

/// A drive and how it is written.
#[derive(Clone, Copy)]
struct World {
    name: &'static str,
    policy: GcPolicy,
    lanes: u32,
    blocks: u32,
    spare: f64,
    /// Share of the logical units that is filled and overwritten.
    fill: f64,
    /// Overwrites, as a share of what is filled.
    writes: f64,
    ahead: bool,
    stripe: Option<&'static str>,
}

const PLAIN: World = World {
    name: "greedy",
    policy: GcPolicy::Greedy,
    lanes: 4,
    blocks: 40,
    spare: 0.25,
    fill: 1.0,
    writes: 2.0,
    ahead: true,
    stripe: None,
};

const WORLDS: [World; 9] = [
    PLAIN,
    World { name: "long", writes: 6.0, spare: 0.15, ..PLAIN },
    World { name: "fifo", policy: GcPolicy::Fifo, ..PLAIN },
    World { name: "cost-benefit", policy: GcPolicy::CostBenefit, ..PLAIN },
    World { name: "two choices", policy: GcPolicy::DChoices(DChoices { d: 2 }), ..PLAIN },
    World { name: "ten choices", policy: GcPolicy::DChoices(DChoices { d: 10 }), ..PLAIN },
    World { name: "part filled", fill: 0.7, writes: 3.0, ..PLAIN },
    World { name: "one victim at a time", ahead: false, ..PLAIN },
    World { name: "striped", stripe: Some("cwdp"), ..PLAIN },
];
const COMPARISONS: usize = WORLDS.len() * FIGURES;

impl World {
    /// The state after the overwrites of `seed`, with logical units drawn and looked up or with blocks drawn, and the write
    /// amplification of the second half of them.
    fn state(&self, drawn: bool, seed: u64) -> (BlockManager, f64) {
        let instance = 2 * seed + u64::from(drawn);
        let of = |what: &str| stream(&format!("{}.{what}", self.name), instance);
        let mut ftl = ftl(self.lanes, self.blocks, self.policy, 3, self.spare, of("gc"));
        let filled = (f64::from(ftl.map().logical_units()) * self.fill) as u32;
        let stripe = self.stripe.and_then(|name| {
            let order = Allocation::all().into_iter().find(|a| a.0 == name).expect("an order").1;
            Stripe::new(order, &geometry(self.lanes, self.blocks), 1)
        });
        let mut p = Preconditioner::new(&mut ftl, stripe);
        if self.ahead {
            p = p.working_ahead();
        }
        p.write_in_order(Lpn(0), Lpn(filled));
        let half = (0.5 * self.writes * f64::from(filled)) as u64;
        let (mut draws, mut next) =
            (p.draws(of("draws"), of("deal")), addresses(filled, UNIFORM, of("writes")));
        let mut write = |p: &mut Preconditioner| {
            if drawn {
                // In pieces that do not end with programs.
                p.overwrite_anywhere(half - 7, &mut draws);
                p.overwrite_anywhere(7, &mut draws);
            } else {
                p.overwrite(half, &mut next);
            }
        };
        write(&mut p);
        let before = p.written();
        write(&mut p);
        let after = p.written();
        assert!(p.assign_lpns(&mut draws, &mut |_, _| true));
        p.finish();
        check(&ftl, filled);
        (ftl, 1.0 + (after.1 - before.1) as f64 / (after.0 - before.0) as f64)
    }
}

/// Every one of the first `filled` logical units is in one place, which says that it is there, and nothing else is valid.
fn check(ftl: &BlockManager, filled: u32) {
    let map = ftl.map();
    for lpn in Lpn::first(map.logical_units()) {
        match map.get(lpn) {
            Where::Flash(ppu) => {
                let at = ftl.layout.split(ppu);
                assert!(
                    lpn.0 < filled && map.logical(ppu) == lpn && map.is_valid(at.super_block, at.offset),
                    "{lpn}"
                );
            }
            Where::Unmapped => assert!(lpn.0 >= filled, "{lpn} is lost"),
            Where::Cache(_) => unreachable!("there is no cache"),
        }
    }
    let mut valid = 0;
    for block in SuperBlock::first(ftl.layout.super_blocks()) {
        let bits: u32 = map.valid_words(block).iter().map(|word| word.count_ones()).sum();
        assert_eq!(bits, map.valid_units(block), "block {block}");
        valid += bits;
    }
    assert_eq!(valid, filled, "as many units are valid as are mapped");
}

/// What is compared, by name.
fn figures((ftl, waf): &(BlockManager, f64)) -> Vec<(String, f64)> {
    let (map, layout) = (ftl.map(), &ftl.layout);
    let mut all = vec![("write amplification".to_string(), *waf)];
    let blocks = || SuperBlock::first(layout.super_blocks());
    let closed: Vec<SuperBlock> = blocks().filter(|&b| map.is_candidate(b)).collect();
    let share = |n: usize, of: usize| n as f64 / of as f64;
    for class in 0..CLASSES {
        let of_units =
            |b: &&SuperBlock| (map.valid_units(**b) as usize * CLASSES).div_ceil(BLOCK as usize + 1) == class;
        let of_age = |b: &&SuperBlock| {
            (ftl.age(**b) as usize * CLASSES / (2 * closed.len())).min(CLASSES - 1) == class
        };
        let count = |is: &dyn Fn(&&SuperBlock) -> bool| share(closed.iter().filter(is).count(), closed.len());
        all.push((format!("blocks of class {class} by valid units"), count(&of_units)));
        all.push((format!("blocks of class {class} by age"), count(&of_age)));
    }
    let lanes = f64::from(layout.lanes);
    let of_lane = |lane| layout.blocks_of(lane).map(|b| f64::from(map.valid_units(b))).sum::<f64>();
    let weights: Vec<f64> = Lane::first(layout.lanes).map(of_lane).collect();
    all.push((
        "free blocks".into(),
        Lane::first(layout.lanes).map(|l| f64::from(ftl.free_blocks(l))).sum::<f64>(),
    ));
    all.push((
        "blocks in hand".into(),
        Lane::first(layout.lanes).map(|l| ftl.being_collected(l).count() as f64).sum(),
    ));
    all.push(("spread of lanes".into(), variance(&weights).unwrap().sqrt()));
    all.push(("erases".into(), ftl.counters.erases as f64));
    all.push(("spread of erases".into(), {
        let cycles: Vec<f64> = ftl.cycles.iter().map(|&c| f64::from(c)).collect();
        variance(&cycles).unwrap()
    }));
    // Where in its block what is valid lies, and how much of it stands beside what is valid.
    let valid = |b: SuperBlock, k: u32| map.is_valid(b, k);
    let units = |f: &dyn Fn(SuperBlock, u32) -> f64| -> f64 {
        let each =
            closed.iter().flat_map(|&b| (0..BLOCK).filter(move |&k| valid(b, k)).map(move |k| f(b, k)));
        each.sum::<f64>() / closed.iter().map(|&b| f64::from(map.valid_units(b))).sum::<f64>()
    };
    all.push(("place in the block".into(), units(&|_, k| f64::from(k))));
    all.push((
        "valid neighbours".into(),
        units(&|b, k| f64::from(u8::from(k + 1 < BLOCK && valid(b, k + 1)))),
    ));
    // What has never been overwritten stays in order, lane by lane and block by block.
    let lpn = |b: SuperBlock, k: u32| f64::from(map.logical(layout.first_unit(b) + k).0);
    let follows = |by: f64| {
        move |b: SuperBlock, k: u32| {
            f64::from(u8::from(k + 1 < BLOCK && valid(b, k + 1) && lpn(b, k + 1) - lpn(b, k) == by))
        }
    };
    all.push(("units followed by the next one".into(), units(&follows(1.0))));
    all.push(("units followed by the next but one".into(), units(&follows(2.0))));
    // How logical units are spread: over lanes, one after the other, and over blocks of all ages.
    let places: Vec<(u32, f64)> = Lpn::first(map.logical_units())
        .filter_map(|lpn| match map.get(lpn) {
            Where::Flash(ppu) => {
                let block = layout.block_of(ppu);
                Some((layout.lane_of(block).0.0, ftl.age(block) as f64))
            }
            _ => None,
        })
        .collect();
    let same = places.windows(2).filter(|w| w[0].0 == w[1].0).count();
    all.push(("neighbours in a lane".into(), share(same, places.len() - 1)));
    let low = &places[..places.len() / 2];
    let age = |half: &[(u32, f64)]| half.iter().map(|p| p.1).sum::<f64>() / half.len() as f64;
    all.push(("ages of the first half".into(), age(low)));
    all.push(("lanes' part of the first half".into(), {
        let mut counts = vec![0.0; lanes as usize];
        low.iter().for_each(|p| counts[p.0 as usize] += 1.0);
        variance(&counts).unwrap().sqrt()
    }));
    assert_eq!(all.len(), FIGURES);
    all
}

/// The difference of the means of `a` and `b` and the most that chance makes of it.
fn difference(a: &[f64], b: &[f64]) -> (f64, f64) {
    let (va, vb) = (variance(a).unwrap() / a.len() as f64, variance(b).unwrap() / b.len() as f64);
    let freedom = (va + vb).powi(2) / ((va * va + vb * vb) / (a.len() - 1) as f64).max(f64::MIN_POSITIVE);
    let t = -student_t_quantile(0.5 * FAMILY_ERROR / COMPARISONS as f64, (freedom as u32).max(2)).unwrap();
    (mean(a).unwrap() - mean(b).unwrap(), t * (va + vb).sqrt())
}

/// Those of `world` that differ by more than chance makes of it.
fn differing(world: &World, other: impl Fn(u64) -> (BlockManager, f64)) -> Vec<String> {
    let reference: Vec<_> = (0..SEEDS).map(|seed| figures(&world.state(false, seed))).collect();
    let others: Vec<_> = (0..SEEDS).map(|seed| figures(&other(seed))).collect();
    let of = |k: usize, all: &[Vec<(String, f64)>]| all.iter().map(|f| f[k].1).collect::<Vec<f64>>();
    let pairs = (0..FIGURES).map(|k| (k, difference(&of(k, &reference), &of(k, &others))));
    pairs
        .filter(|(_, (d, most))| d.abs() > *most)
        .map(|(k, (d, most))| {
            format!("{}: {} differs by {d}, chance makes {most}", world.name, reference[0][k].0)
        })
        .collect()
}

#[test]
fn drawn_blocks_make_the_states_that_logical_units_looked_up_make() {
    for world in WORLDS {
        let differing = differing(&world, |seed| world.state(true, seed));
        assert!(differing.is_empty(), "{differing:#?}");
    }
}

/// The comparison sees a state that is not the same: other spare space, other lengths, other policies.
#[test]
fn states_that_are_not_the_same_differ() {
    let others = [
        World { spare: 0.27, ..PLAIN },
        World { writes: 1.7, ..PLAIN },
        World { policy: GcPolicy::DChoices(DChoices { d: 10 }), ..PLAIN },
        World { ahead: false, ..PLAIN },
        World { stripe: Some("cwdp"), ..PLAIN },
    ];
    for other in others {
        assert!(!differing(&PLAIN, |seed| other.state(true, seed)).is_empty());
    }
}

#[test]
fn the_same_numbers_make_the_same_state() {
    let bytes = |seed| {
        let mut all = Vec::new();
        let saved: Result<(), std::convert::Infallible> = PLAIN.state(true, seed).0.save(0, &mut |piece| {
            all.extend_from_slice(piece);
            Ok(())
        });
        let Ok(()) = saved;
        all
    };
    assert!(bytes(1) == bytes(1) && bytes(1) != bytes(2));
}

/// Writing goes on after a deal, in both ways.
#[test]
fn a_dealt_state_can_be_written_to() {
    let mut ftl = ftl(4, 40, GcPolicy::Greedy, 3, 0.25, stream("again", 0));
    let logical = ftl.map().logical_units();
    let mut p = Preconditioner::new(&mut ftl, None).working_ahead();
    p.write_in_order(Lpn(0), Lpn(logical));
    let mut draws = p.draws(stream("again.draws", 0), stream("again.deal", 0));
    let mut next = addresses(logical, HOT_AND_COLD, stream("again.writes", 0));
    for _ in 0..3 {
        p.overwrite_anywhere(u64::from(logical) / 3, &mut draws);
        assert!(p.assign_lpns(&mut draws, &mut |_, _| true));
        p.overwrite(u64::from(logical) / 3, &mut next);
    }
    p.finish();
    check(&ftl, logical);
}

#[test]
fn a_deal_says_how_far_it_is_and_can_be_stopped() {
    let mut ftl = ftl(4, 40, GcPolicy::Greedy, 3, 0.25, stream("stopped", 0));
    let logical = ftl.map().logical_units();
    let mut p = Preconditioner::new(&mut ftl, None).working_ahead();
    p.write_in_order(Lpn(0), Lpn(logical));
    let mut draws = p.draws(stream("stopped.draws", 0), stream("stopped.deal", 0));
    p.overwrite_anywhere(100, &mut draws);
    let mut told = Vec::new();
    let whole = p.assign_lpns(&mut draws, &mut |done, all| {
        told.push((done, all));
        told.len() < 2
    });
    assert!(!whole && told.len() == 2 && told[0].0 < told[1].0 && told[1].0 < told[1].1, "{told:?}");
}
