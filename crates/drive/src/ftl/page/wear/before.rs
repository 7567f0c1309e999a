//! Wear before a run: erases of each super block drawn around their mean, and the failures meanwhile.
//!
//! The erases of a place are a renewal process: over many their number is normal, with a variance proportional to its mean.
//! Each place has a random stream of its own, so a drive of one seed is the same drive at each age.

use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::wear::bad_blocks::BadBlocks;
use crate::ftl::page::wear::endurance::normal;
use crate::numbers::{Lane, SuperBlock};
use crate::spec::{DriveSpec, WearBefore};
use interpulse_engine::{Rng, Streams};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Place of a super block and the block in use there.
struct Place {
    super_block: SuperBlock,
    rng: Rng,
    normal: f64,
    /// Erases of the place until the run begins.
    erases: u64,
    /// Of these, erases of the blocks that have failed.
    before: u64,
    /// Erase of the place in which the next block fails; `None` if none does.
    fails_at: Option<u64>,
}

/// Draws the wear of `blocks` and the failures before the run.
pub(crate) fn draw(
    spec: &DriveSpec,
    wear: WearBefore,
    blocks: &mut BlockManager,
    bad_blocks: Option<&mut BadBlocks>,
    streams: &Streams,
) {
    let place = |super_block: SuperBlock| {
        let mut rng = streams.stream("ftl.wear-before", super_block.0.into());
        let normal = normal(&mut rng);
        let erases = libm::round(wear.erases(f64::from(wear.cycles), normal)) as u64;
        Place { super_block, rng, normal, erases, before: 0, fails_at: None }
    };
    let mut places: Vec<Place> = SuperBlock::first(blocks.layout.super_blocks()).map(place).collect();
    let mut end = None;
    if let Some(bad_blocks) = bad_blocks {
        let hazard = hazard(spec, blocks.layout.programs_per_block);
        for lane in Lane::first(blocks.layout.lanes) {
            let first = blocks.layout.first_block(lane).index();
            let of_lane = &mut places[first..first + blocks.layout.blocks as usize];
            let ends = replay(lane, of_lane, wear, hazard, bad_blocks);
            end = [end, ends].into_iter().flatten().min();
        }
        let sum = places.iter().map(|place| place.erases - place.before).sum();
        bad_blocks.begin_after(sum, end);
    }
    for place in &places {
        blocks.cycles[place.super_block.index()] = (place.erases - place.before) as u32;
    }
}

/// Probability that a cycle of a block fails whatever its wear: its erase or one of its programs.
fn hazard(spec: &DriveSpec, programs: u32) -> f64 {
    let Some(faults) = &spec.faults else { return 0.0 };
    1.0 - (1.0 - faults.erase_failure) * libm::pow(1.0 - faults.program_failure, f64::from(programs))
}

/// Replaces the blocks of a lane that have failed; returns the mean erases at which it lacks a reserved block.
fn replay(
    lane: Lane,
    places: &mut [Place],
    wear: WearBefore,
    hazard: f64,
    bad_blocks: &mut BadBlocks,
) -> Option<u32> {
    // Numbers of at least zero sort like their bits.
    let mut due = BinaryHeap::new();
    let push = |due: &mut BinaryHeap<_>, places: &[Place], k: usize| {
        if let Some(fails_at) = places[k].fails_at {
            due.push(Reverse((wear.mean_at(fails_at as f64, places[k].normal).to_bits(), k)));
        }
    };
    for k in 0..places.len() {
        let limit = bad_blocks.limit(places[k].super_block);
        places[k].fails_at = lifetime(limit, hazard, &mut places[k].rng);
        push(&mut due, places, k);
    }
    let mut left = bad_blocks.spares_left(lane);
    while let Some(Reverse((mean, k))) = due.pop() {
        let mean = f64::from_bits(mean);
        let place = &mut places[k];
        let fails_at = place.fails_at.expect("it is due");
        let failed = mean <= f64::from(wear.cycles);
        let limit = bad_blocks.endurance_from(&mut place.rng);
        if !failed {
            place.erases = place.erases.min(fails_at - 1);
        } else {
            place.erases = place.erases.max(fails_at);
            bad_blocks.failed_before(lane, place.super_block, (fails_at - place.before) as u32, limit);
        }
        if left == 0 {
            return Some(libm::ceil(mean) as u32);
        }
        left -= 1;
        if failed {
            place.before = fails_at;
        }
        place.fails_at = lifetime(limit, hazard, &mut place.rng).map(|cycles| fails_at + cycles);
        push(&mut due, places, k);
    }
    None
}

/// Erases of a block until it fails, the failing one included; `None` if it never does.
fn lifetime(limit: u32, hazard: f64, rng: &mut Rng) -> Option<u64> {
    let worn = (limit != u32::MAX).then(|| u64::from(limit) + 1);
    let random = (hazard > 0.0).then(|| 1 + (libm::log(1.0 - rng.unit()) / libm::log(1.0 - hazard)) as u64);
    [worn, random].into_iter().flatten().min()
}
