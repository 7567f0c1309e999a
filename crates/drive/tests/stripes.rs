//! Where do writes go? The striping orders, the even spread of dynamic allocation, and lanes that stay level.

use crate::ftl_common::*;
use interpulse_drive::FtlState;
use interpulse_drive::PreconditionedState;
use interpulse_drive::ftl::layout::Layout;
use interpulse_drive::ftl::page::gc::victim::{GcPolicy, Imposed};
use interpulse_drive::ftl::page::mapping::table::{Map, Where};
use interpulse_drive::ftl::page::placement::stripe::{Allocation, Stripe};
use interpulse_drive::ftl::page::precondition::Preconditioner;
use interpulse_drive::ftl::{BlockManager, FtlConfig, SoftPages, Stream};
use interpulse_drive::numbers::{Lane, Lpn};
use interpulse_flash::geometry::Geometry;

/// Sizes that differ on every axis: 2 channels, 3 ways, 5 dies, 4 plane groups of 2 planes.
fn unequal() -> Geometry {
    Geometry { chips_per_channel: 3, dies_per_chip: 5, planes: 8, ..geometry(2, 12) }
}

const PLANES_TOGETHER: u32 = 2;

/// (channel, way, die, plane group) of a lane, found through the layout.
fn coordinates(g: &Geometry, layout: &Layout, lane: Lane) -> [u32; 4] {
    let (die, plane) = layout.die_of(lane);
    let chip = die.0 / g.dies_per_chip;
    assert_eq!(g.channel_of(die), chip / g.chips_per_channel);
    [g.channel_of(die), chip % g.chips_per_channel, die.0 % g.dies_per_chip, plane / PLANES_TOGETHER]
}

#[test]
fn the_orders_are_dynamic_ones_and_the_24_permutations() {
    let mut names: Vec<String> = Allocation::all().into_iter().map(|(name, ..)| name).collect();
    assert_eq!((names[0].as_str(), names[25].as_str()), ("dynamic", "super-word-line"));
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 26);
    for name in names.iter().filter(|n| !["dynamic", "super-word-line"].contains(&n.as_str())) {
        let mut letters: Vec<char> = name.chars().collect();
        letters.sort();
        assert_eq!(letters, ['c', 'd', 'p', 'w']);
    }
}

#[test]
fn consecutive_pages_go_to_the_lanes_that_the_name_says() {
    let g = unequal();
    let layout = Layout::new(&g, PLANES_TOGETHER, 0);
    let sizes = [2, 3, 5, 4];
    for (name, allocation, _) in Allocation::all() {
        let stripe = Stripe::new(allocation, &g, layout.lanes_per_die);
        let Some(stripe) = stripe else {
            assert!(matches!(allocation, Allocation::Dynamic | Allocation::SuperWordLine), "{name}");
            continue;
        };
        for page in 0..2 * layout.lanes {
            let first = Lpn(page * g.units_per_page);
            let lane = stripe.lane(first);
            assert!(
                first.until(first + g.units_per_page).all(|lpn| stripe.lane(lpn) == lane),
                "a page is split"
            );
            // The axis named first changes with every page, the next when that one has gone round.
            let at = coordinates(&g, &layout, lane);
            let mut round = 1;
            for letter in name.chars() {
                let axis = "cwdp".find(letter).unwrap();
                assert_eq!(at[axis], page / round % sizes[axis], "{name}: page {page}, axis {letter}");
                round *= sizes[axis];
            }
        }
    }
}

#[test]
fn static_striping_keeps_every_page_on_its_lane_through_collections() {
    let g = geometry(4, 40);
    let layout = Layout::new(&g, 1, 0);
    let logical = 4 * 30 * BLOCK;
    let config = FtlConfig::new(logical, GcPolicy::Greedy, 3, 1);
    let (_, allocation, _) = Allocation::all().into_iter().find(|(name, ..)| name == "cwdp").unwrap();
    let stripe = Stripe::new(allocation, &g, 1).unwrap();
    let mut ftl = BlockManager::new(layout, config, stream("static", 0));
    let mut p = Preconditioner::new(&mut ftl, Some(stripe.clone()));
    p.write_in_order(Lpn(0), Lpn(logical));
    p.overwrite(3 * u64::from(logical), addresses(logical, HOT_AND_COLD, stream("static", 1)));
    p.finish();
    assert!(ftl.counters.gc_units > 0);
    for lpn in Lpn::first(logical) {
        let Where::Flash(ppu) = ftl.map().get(lpn) else { panic!("unit {lpn} is nowhere") };
        assert_eq!(ftl.layout.lane_of(ftl.layout.block_of(ppu)).0, stripe.lane(lpn), "unit {lpn}");
    }
}

/// Everything that a state is.
fn bytes(ftl: &BlockManager) -> Vec<u8> {
    let mut bytes = Vec::new();
    let done: Result<(), ()> = ftl.save(0, &mut |piece| {
        bytes.extend_from_slice(piece);
        Ok(())
    });
    done.unwrap();
    bytes
}

/// A drive that is filled in order is laid out in rows and runs, of which arithmetic says where each unit is: as if each unit
/// had been written by itself, whatever the order of the lanes, wherever a fill stops and goes on, and where it comes over
/// what it wrote before and garbage has to be collected.
#[test]
fn a_fill_is_laid_out_in_runs_as_if_unit_by_unit() {
    // As many lanes, blocks, pages and units as is usual: powers of two, and one unit in each program operation.
    let one_unit = Geometry { units_per_page: 1, pages_per_program: 1, planes: 2, ..geometry(16, 16) };
    let pages = SoftPages { least: 2 * 16 + 7, keeps_passed_over: false };
    for (g, planes, soft_pages) in
        [(unequal(), PLANES_TOGETHER, None), (unequal(), PLANES_TOGETHER, Some(pages)), (one_unit, 1, None)]
    {
        let layout = Layout::new(&g, planes, 0);
        let logical = (layout.units() * 2 / 3) as u32;
        let config = FtlConfig { soft_pages, ..FtlConfig::new(logical, GcPolicy::Greedy, 3, 1) };
        for (name, allocation, _) in Allocation::all().into_iter().step_by(5) {
            let stripe = Stripe::new(allocation, &g, layout.lanes_per_die);
            let mut made = [true, false].map(|in_runs| {
                let mut ftl = BlockManager::new(layout.clone(), config.clone(), stream("runs", 0));
                let mut p = Preconditioner::new(&mut ftl, stripe.clone()).working_ahead();
                let mut write = |from: u32, to: u32| match in_runs {
                    true => p.write_in_order(Lpn(from), Lpn(to)),
                    false => {
                        p.write_repeatedly(Lpn(from), Lpn(to), || false);
                        0
                    }
                };
                // All rows, and less than one row that is left.
                let mut rng = stream("runs", 1);
                let part = logical / 3 + rng.below(100) as u32;
                let runs = [write(0, part), write(part, logical - 7)];
                let most = 2 * u64::from(layout.lanes);
                assert!(runs.iter().all(|&runs| runs < most), "{name}: {runs:?} runs of {logical} units");
                write(logical - 7, logical);
                for _ in 0..40 {
                    let from = rng.below(u64::from(logical)) as u32;
                    write(from, (from + rng.below(5_000) as u32).min(logical));
                }
                write(0, logical);
                p.finish();
                ftl
            });
            let (runs, each) = made.split_at_mut(1);
            assert!(runs[0].counters.gc_units > 0, "{name}");
            assert_same(&runs[0], &each[0], &name);
        }
    }
}

/// A fill of a drive with so little spare space that lanes have nothing to spare before its end, or that nothing is ever
/// collected: the rows end where a lane must be asked.
#[test]
fn rows_end_where_lanes_have_no_blocks_to_spare() {
    let g = unequal();
    let layout = Layout::new(&g, PLANES_TOGETHER, 0);
    let imposed = GcPolicy::Imposed(Imposed { waf: 1.5, ..Imposed::NONE });
    for (policy, blocks) in [(GcPolicy::Greedy, 8), (GcPolicy::Greedy, 9), (imposed, 10)] {
        for (name, allocation, _) in Allocation::all().into_iter().step_by(6) {
            let stripe = Stripe::new(allocation, &g, layout.lanes_per_die);
            let logical = layout.lanes * layout.units_per_block * blocks;
            let config = FtlConfig::new(logical, policy, 3, 1);
            let [(rows, made), (each, expected)] = [true, false].map(|in_rows| {
                let mut ftl = BlockManager::new(layout.clone(), config.clone(), stream("full", 0));
                let mut p = Preconditioner::new(&mut ftl, stripe.clone()).working_ahead();
                let runs = if in_rows {
                    p.write_in_order(Lpn(0), Lpn(logical))
                } else {
                    p.write_repeatedly(Lpn(0), Lpn(logical), || false);
                    u64::from(logical)
                };
                p.finish();
                (runs, ftl)
            });
            assert!(rows < each / 4, "{name}: {rows} runs of {logical} units");
            assert_same(&made, &expected, &name);
        }
    }
}

fn assert_same(made: &BlockManager, expected: &BlockManager, what: &str) {
    assert_eq!(made.counters, expected.counters, "{what}");
    assert!(bytes(made) == bytes(expected), "{what}");
    let mut lanes = Lane::first(made.layout.lanes);
    assert!(lanes.all(|lane| made.accepts_writes(lane) == expected.accepts_writes(lane)), "{what}");
    let logical = made.map().logical_units();
    assert!(Lpn::first(logical).all(|lpn| made.map().get(lpn) == expected.map().get(lpn)), "{what}");
}

/// Valid units of each lane.
fn valid(ftl: &BlockManager) -> Vec<u64> {
    let lanes = ftl.map().weight.chunks(ftl.layout.blocks as usize);
    lanes.map(|lane| lane.iter().map(|w| u64::from(w & !Map::NOT_A_CANDIDATE)).sum()).collect()
}

#[test]
fn dynamic_allocation_gives_every_lane_the_same() {
    let mut ftl = ftl(7, 40, GcPolicy::Greedy, 3, 0.3, stream("even", 0));
    let program = u64::from(ftl.layout.units_per_program);
    let logical = ftl.map().logical_units();
    let mut p = Preconditioner::new(&mut ftl, None);
    for part in 1..=10 {
        p.write_in_order(Lpn(logical / 10 * (part - 1)), Lpn(logical / 10 * part));
    }
    p.finish();
    let valid = valid(&ftl);
    let (least, most) = (valid.iter().min().unwrap(), valid.iter().max().unwrap());
    assert!(most - least <= program, "{valid:?}");
    // Consecutive programs go to consecutive lanes.
    let lane = |lpn: u32| match ftl.map().get(Lpn(lpn)) {
        Where::Flash(ppu) => ftl.layout.lane_of(ftl.layout.block_of(ppu)).0.0,
        other => panic!("unit {lpn} is at {other:?}"),
    };
    for lpn in 0..7 * 50 * program as u32 {
        let expected = (lane(0) + lpn / program as u32) % 7;
        assert_eq!(lane(lpn), expected, "unit {lpn}");
    }
}

#[test]
fn lanes_stay_level_and_a_drive_with_little_spare_never_runs_out_of_room() {
    for policy in victims(&[1, 4]) {
        for heat in [UNIFORM, HOT_AND_COLD, Heat { space: 0.02, writes: 0.98 }] {
            // 48 blocks a lane, of which the data fills 43: 3 kept free, 1 or 2 open, hardly one to work with.
            let layout = Layout::new(&geometry(8, 48), 1, 0);
            let logical = 8 * 43 * BLOCK;
            let config = FtlConfig::new(logical, policy, 3, 1);
            let mut ftl = BlockManager::new(layout, config, stream("level", 0));
            let mut next = addresses(logical, heat, stream("level", 1));
            let mut p = Preconditioner::new(&mut ftl, None);
            p.write_in_order(Lpn(0), Lpn(logical));
            p.overwrite(5 * u64::from(logical), &mut next);
            p.finish();
            let valid = valid(&ftl);
            assert_eq!(valid.iter().sum::<u64>(), u64::from(logical));
            // Every lane has at least room for its data, its reserve and its open blocks.
            let most = u64::from((48 - 3) * BLOCK);
            assert!(valid.iter().all(|&v| v < most), "{policy:?}: {valid:?}");
            assert!(Lane::first(8).any(|lane| ftl.accepts_writes(lane)));
            assert!(Lane::first(8).any(|lane| ftl.has_room(lane, Stream::HOST)));
        }
    }
}

#[test]
fn data_that_is_never_overwritten_stops_no_policy() {
    for policy in victims(&[1]) {
        let mut ftl = ftl(2, 60, policy, 3, 0.2, stream("read-only", 0));
        let logical = ftl.map().logical_units();
        let mut rng = stream("read-only", 1);
        let mut p = Preconditioner::new(&mut ftl, None);
        p.write_in_order(Lpn(0), Lpn(logical));
        // FIFO comes upon blocks that hold nothing but valid data, and must get past them.
        p.overwrite(8 * u64::from(logical), || Lpn(logical / 2 + rng.below(u64::from(logical / 2)) as u32));
        p.finish();
        assert_eq!(valid(&ftl).iter().sum::<u64>(), u64::from(logical), "{policy:?}");
    }
}

#[test]
fn nor_does_it_in_simulated_time() {
    for policy in victims(&[1]) {
        // The least spare that the capacity checks allow: two blocks free, two open, and one to work with.
        let mut spec = drive::spec(8, 40, 0.0);
        spec.ftl.over_provisioning = 40.0 / 34.9 - 1.0;
        spec.ftl.gc = policy;
        spec.check().unwrap();
        let mut ftl = spec.fresh_ftl(stream("tight", 0)).unwrap();
        let logical = ftl.map().logical_units();
        let mut p = Preconditioner::new(&mut ftl, None);
        p.write_in_order(Lpn(0), Lpn(logical));
        p.finish();
        let state = PreconditionedState::Page(ftl);
        let window = drive::run(&spec, state, u64::from(logical), 1);
        assert!(window.write_amplification > 1.0, "{policy:?}: {window:?}");
    }
}
