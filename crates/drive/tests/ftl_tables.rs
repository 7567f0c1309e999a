//! Are the tables of the translation layer right? Addresses, the map, victims, the write cache, snapshots.

use crate::ftl_common::*;
use interpulse_drive::FtlState;
use interpulse_drive::PreconditionedState;
use interpulse_drive::cache::{Cache, NO_FLASH_COPY};
use interpulse_drive::ftl::layout::{Layout, UnitAt};
use interpulse_drive::ftl::page::gc::victim::{BlockHistory, DChoices, GcPolicy, WindowedGreedy};
use interpulse_drive::ftl::page::mapping::table::{Map, Where};
use interpulse_drive::ftl::page::precondition::Preconditioner;
use interpulse_drive::ftl::{BlockManager, FtlConfig, Stream};
use interpulse_drive::numbers::{Lane, Lpn, Ppu, Slot, SuperBlock};
use interpulse_drive::spec::DriveSpec;
use interpulse_flash::geometry::Geometry;
use interpulse_study::initial_state::snapshot;
use proptest::prelude::*;
use std::fs;
use std::path::Path;

// ---- addresses --------------------------------------------------------------------------------------------

prop_compose! {
    /// A geometry, planes that work together, and reserved blocks of a plane.
    fn geometries()(
        planes in 1u32..=8,
        dies in (1u32..4, 1u32..3, 1u32..3),
        blocks in 5u32..20,
        word_lines in 1u32..12,
        (bits, pages_per_program) in prop_oneof![
            Just((1u32, 1u32)), Just((2, 1)), Just((2, 2)), Just((3, 1)), Just((3, 3)), Just((4, 4))
        ],
        units_per_page in prop_oneof![Just(1u32), Just(2), Just(4)],
        reserved in 0u32..4,
    )(
        together in prop::sample::select((1..=planes).filter(|m| planes % m == 0).collect::<Vec<_>>()),
        geometry in Just(Geometry {
            channels: dies.0,
            chips_per_channel: dies.1,
            dies_per_chip: dies.2,
            planes,
            blocks_per_plane: blocks,
            word_lines,
            pages_per_word_line: bits,
            unit_bytes: 4096,
            units_per_page,
            layers: 1,
            pages_per_program,
            cache_pages: 0,
 cache_reads: false,
 independent_plane_reads: false,
 separate_commands: false,
 sub_blocks: 1,
        }),
        reserved in Just(reserved),
    ) -> (Geometry, u32, u32) {
        (geometry, together, reserved)
    }
}

/// The physical unit at a place, written from the definition and not from the code.
fn unit_at(
    g: &Geometry,
    together: u32,
    reserved: u32,
    p: interpulse_drive::ftl::layout::FlashAddress,
) -> Ppu {
    let lane = p.die.0 * (g.planes / together) + p.plane / together;
    let (program, page_in_program) = (p.page / g.pages_per_program, p.page % g.pages_per_program);
    let programs = g.pages_per_block() / g.pages_per_program;
    let mut unit = lane * (g.blocks_per_plane - reserved) + p.block.0;
    unit = unit * programs + program;
    unit = unit * together + p.plane % together;
    unit = unit * g.pages_per_program + page_in_program;
    Ppu(unit * g.units_per_page + p.unit)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_unit_has_a_place_of_its_own((g, together, reserved) in geometries(), start in any::<u32>()) {
        let layout = Layout::new(&g, together, reserved);
        let units = layout.units();
        let blocks = g.blocks_per_plane - reserved;
        prop_assert_eq!(units, u64::from(g.dies() * g.planes * blocks * g.units_per_block()));
        prop_assert_eq!(u64::from(layout.super_blocks()) * u64::from(layout.units_per_block), units);
        prop_assert_eq!(layout.programs_per_block * layout.units_per_program, layout.units_per_block);
        for k in 0..2000u64 {
            let ppu = Ppu(((u64::from(start) + k * 7919) % units) as u32);
            let place = layout.place(ppu);
            prop_assert!(place.die.0 < g.dies() && place.plane < g.planes && place.block.0 < blocks);
            prop_assert!(place.page < g.pages_per_block() && place.unit < g.units_per_page);
            prop_assert_eq!(unit_at(&g, together, reserved, place), ppu);
            let UnitAt { super_block, offset } = layout.split(ppu);
            prop_assert_eq!(layout.block_of(ppu), super_block);
            prop_assert_eq!(layout.first_unit(super_block) + offset, ppu);
            let (lane, block) = layout.lane_of(super_block);
            prop_assert_eq!(block, place.block);
            let (die, first_plane) = layout.die_of(lane);
            prop_assert!(die == place.die && first_plane <= place.plane && place.plane < first_plane + together);
            let first_page = layout.page_of_program(offset / layout.units_per_program);
            prop_assert!(first_page <= place.page && place.page < first_page + g.pages_per_program);
        }
    }

    // ---- the map ------------------------------------------------------------------------------------------

    #[test]
    fn the_map_agrees_with_a_plain_list(steps in prop::collection::vec(((0u32..40).prop_map(Lpn), 0u32..4), 1..300)) {
        const LOGICAL: u32 = 40;
        let (blocks, per_block) = (30u32, 70u32);
        let mut map = Map::new(LOGICAL, blocks, per_block);
        let mut plain = vec![Where::Unmapped; LOGICAL as usize];
        let mut next = 0;
        for (lpn, what) in steps {
            if let Where::Flash(ppu) = map.get(lpn) {
                map.invalidate(SuperBlock(ppu.0 / per_block), ppu.0 % per_block);
            }
            plain[lpn.index()] = match what {
                0 => { map.set_unmapped(lpn); Where::Unmapped }
                1 => { map.set_cached(lpn, Slot(lpn.0 * 3)); Where::Cache(Slot(lpn.0 * 3)) }
                _ => {
                    map.set_logical(Ppu(next), lpn);
                    map.commit(lpn, SuperBlock(next / per_block), next % per_block);
                    next += 7;
                    Where::Flash(Ppu(next - 7))
                }
            };
            for block in SuperBlock::first(blocks) {
                let in_block = |w: &&Where| matches!(w, Where::Flash(p) if p.0 / per_block == block.0);
                let valid = plain.iter().filter(in_block).count() as u32;
                prop_assert_eq!(map.valid_units(block), valid);
                let bits: u32 = map.valid_words(block).iter().map(|w| w.count_ones()).sum();
                prop_assert_eq!(bits, valid);
            }
            for lpn in Lpn::first(LOGICAL) {
                prop_assert_eq!(map.get(lpn), plain[lpn.index()]);
                if let Where::Flash(ppu) = plain[lpn.index()] {
                    prop_assert!(map.is_valid(SuperBlock(ppu.0 / per_block), ppu.0 % per_block));
                    prop_assert_eq!(map.logical(ppu), lpn);
                }
            }
        }
    }
}

#[test]
#[should_panic(expected = "unit 3 of block 1 was not valid")]
fn a_unit_is_invalidated_once() {
    Map::new(4, 2, 8).invalidate(SuperBlock(1), 3);
}

#[test]
fn forbidding_a_block_keeps_its_count() {
    let mut map = Map::new(4, 2, 8);
    map.set_logical(Ppu(8), Lpn(2));
    map.commit(Lpn(2), SuperBlock(1), 0);
    for candidate in [true, false, false, true] {
        map.set_candidate(SuperBlock(1), candidate);
        assert_eq!(map.valid_units(SuperBlock(1)), 1);
        assert_eq!(map.weight[1] & Map::NOT_A_CANDIDATE == 0, candidate);
    }
}

// ---- victims ----------------------------------------------------------------------------------------------

/// Picks among blocks 2.. of ten; the blocks before belong to another lane and are the best of all.
fn pick(policy: GcPolicy, blocks: &[(u32, u64)]) -> Option<u32> {
    pick_worn(policy, blocks, &vec![0; blocks.len()])
}

/// [`pick`] among blocks with these P/E cycles.
fn pick_worn(policy: GcPolicy, blocks: &[(u32, u64)], cycles: &[u32]) -> Option<u32> {
    let mut map = Map::new(1, 2 + blocks.len() as u32, 64);
    map.weight[..2].fill(0);
    let mut closed = vec![0; 2];
    for (i, &(weight, when)) in blocks.iter().enumerate() {
        map.weight[2 + i] = weight;
        closed.push(when);
    }
    let cycles = [&[0; 2], cycles].concat();
    let lane = SuperBlock(2)..SuperBlock(2 + blocks.len() as u32);
    let history = BlockHistory { closed: &closed, clock: 100, cycles: &cycles };
    policy.select(&map, history, lane, 64, &mut stream("pick", 0)).map(|victim| victim.0)
}

const TAKEN: u32 = Map::NOT_A_CANDIDATE;

#[test]
fn greedy_takes_the_emptiest_and_the_first_among_equals() {
    let blocks = [(9, 1), (TAKEN | 2, 2), (5, 3), (5, 0), (64, 4)];
    assert_eq!(pick(GcPolicy::Greedy, &blocks), Some(4));
}

#[test]
fn fifo_takes_the_longest_closed_whatever_it_holds() {
    let blocks = [(9, 31), (TAKEN, 2), (5, 30), (64, 7), (0, 99)];
    assert_eq!(pick(GcPolicy::Fifo, &blocks), Some(5));
}

#[test]
fn cost_benefit_weighs_age_against_valid_units() {
    // Ages 1, 60, 6, 20 at u = 1/8, 15/16, 1/2, 3/4: age (1 - u) / 2u is 3.5, 2, 3 and 3.3.
    assert_eq!(pick(GcPolicy::CostBenefit, &[(8, 99), (60, 40), (32, 94), (48, 80)]), Some(2));
    // A little older, the half full one is worth more: 4.
    assert_eq!(pick(GcPolicy::CostBenefit, &[(8, 99), (60, 40), (32, 92), (48, 80)]), Some(4));
    // An empty block is the best there is; the first among equals.
    assert_eq!(pick(GcPolicy::CostBenefit, &[(1, 0), (0, 99), (0, 1), (TAKEN, 0)]), Some(3));
    assert_eq!(pick(GcPolicy::CostBenefit, &[(32, 90), (32, 90)]), Some(2));
}

#[test]
fn cost_age_time_weighs_erases_too() {
    // u / (1 - u) is 1 and 1/3, ages are 50 and 10: 1 / 50 < 1 / 30.
    assert_eq!(pick(GcPolicy::CostAgeTime, &[(32, 50), (16, 90)]), Some(2));
    // Twice the erases of the first: 2 / 50 > 1 / 30.
    assert_eq!(pick_worn(GcPolicy::CostAgeTime, &[(32, 50), (16, 90)], &[1, 0]), Some(3));
    // A full block is the last choice, an empty one the first, whatever its wear.
    assert_eq!(pick_worn(GcPolicy::CostAgeTime, &[(64, 0), (63, 99), (0, 99)], &[0, 900, 900]), Some(4));
    assert_eq!(pick(GcPolicy::CostAgeTime, &[(64, 0), (63, 99)]), Some(3));
    assert_eq!(pick(GcPolicy::CostAgeTime, &[(32, 90), (32, 90)]), Some(2));
}

#[test]
fn windowed_greedy_takes_the_emptiest_of_the_oldest() {
    let blocks = [(9, 31), (TAKEN, 2), (5, 50), (20, 30), (7, 40), (0, 99)];
    let of = |window| pick(GcPolicy::WindowedGreedy(WindowedGreedy { window }), &blocks);
    assert_eq!([1, 2, 3, 4, 5, 99].map(of), [5, 2, 6, 4, 7, 7].map(Some));
    let window = WindowedGreedy { window: 2 };
    assert_eq!(pick(GcPolicy::WindowedGreedy(window), &[(TAKEN, 0)]), None);
    // Ties go to the lowest number.
    assert_eq!(pick(GcPolicy::WindowedGreedy(window), &[(9, 3), (9, 1), (1, 5)]), Some(2));
}

#[test]
fn many_choices_are_greedy_and_one_choice_is_blind() {
    let blocks = [(9, 1), (TAKEN | 2, 2), (5, 3), (7, 0)];
    assert_eq!(pick(GcPolicy::DChoices(DChoices { d: 1000 }), &blocks), Some(4));
    let mut map = Map::new(1, 4, 64);
    map.weight = vec![60, TAKEN, 1, 30];
    let mut rng = stream("blind", 0);
    let mut counts = [0; 4];
    for _ in 0..3000 {
        let (policy, lane) = (GcPolicy::DChoices(DChoices { d: 1 }), SuperBlock(0)..SuperBlock(4));
        let history = BlockHistory { closed: &[0; 4], clock: 9, cycles: &[0; 4] };
        let victim = policy.select(&map, history, lane, 64, &mut rng).unwrap();
        counts[victim.index()] += 1;
    }
    // Each of three candidates: 1000 +- 26, and never the one that is taken.
    assert_eq!(counts[1], 0);
    assert!([0, 2, 3].iter().all(|&i| (850..1150).contains(&counts[i])), "{counts:?}");
}

#[test]
fn no_policy_picks_where_nothing_may_be_collected() {
    for policy in victims(&[3]) {
        assert_eq!(pick(policy, &[(TAKEN, 1), (TAKEN | 5, 2)]), None, "{policy:?}");
    }
}

#[test]
fn a_block_full_of_valid_units_is_moved_only_if_another_has_something_to_gain() {
    let layout = Layout::new(&geometry(1, 10), 1, 0);
    let config = FtlConfig::new(3 * BLOCK, GcPolicy::Fifo, 2, 1);
    let mut ftl = BlockManager::new(layout, config, stream("full", 0));
    let mut p = Preconditioner::new(&mut ftl, None);
    p.write_in_order(Lpn(0), Lpn(3 * BLOCK));
    p.finish();
    assert_eq!(ftl.choose_victim(Lane(0)), None);
    ftl.forget_flash(Ppu(2 * BLOCK + 5));
    assert_eq!(ftl.choose_victim(Lane(0)), Some(SuperBlock(0)));
    assert_eq!(ftl.counters.gc_runs, 1);
    assert_eq!(ftl.choose_victim(Lane(0)), Some(SuperBlock(1)), "a victim is no candidate");
}

#[test]
fn host_data_leaves_the_last_blocks_to_collection() {
    let layout = Layout::new(&geometry(1, 4), 1, 0);
    let config = FtlConfig::new(BLOCK, GcPolicy::Greedy, 3, 2);
    let mut ftl = BlockManager::new(layout, config, stream("reserve", 0));
    let programs = ftl.layout.programs_per_block;
    for k in 0..2 * programs {
        let place = ftl.take_address(Lane(0), Stream::HOST).unwrap();
        assert_eq!((place.super_block, place.program), (SuperBlock(k / programs), k % programs));
        assert_eq!(place.first_offset, place.program * ftl.layout.units_per_program);
        ftl.program_done(place.super_block);
    }
    assert_eq!(ftl.free_blocks(Lane(0)), 2);
    assert!(!ftl.has_room(Lane(0), Stream::HOST) && ftl.take_address(Lane(0), Stream::HOST).is_none());
    assert_eq!(ftl.take_address(Lane(0), Stream::GC).map(|p| p.super_block), Some(SuperBlock(2)));
    assert_eq!(ftl.programs_done(), [programs, programs, 1, 0]);
}

// ---- the write cache --------------------------------------------------------------------------------------

/// Takes the oldest dirty slot of a list, and no other.
fn take_one(cache: &mut Cache, list: usize) -> Option<Slot> {
    let taken = cache.take_dirty(list);
    cache.free_dead(list);
    taken.map(|(slot, lpn)| {
        assert_eq!(lpn, cache.lpn(slot));
        slot
    })
}

#[test]
fn the_cache_hands_out_its_slots_and_gives_them_back_in_order() {
    let mut cache = Cache::new(3, 2);
    let slots: Vec<Slot> = [(7, 0), (8, 1), (9, 0)]
        .map(|(lpn, list)| cache.admit(Lpn(lpn), list, NO_FLASH_COPY).expect("there are three slots"))
        .to_vec();
    assert_eq!(cache.admit(Lpn(10), 0, NO_FLASH_COPY), None);
    assert_eq!((cache.free(), cache.dirty(0), cache.dirty(1), cache.dirty_total()), (0, 2, 1, 3));
    assert_eq!(slots.iter().map(|&s| cache.lpn(s)).collect::<Vec<_>>(), [7, 8, 9].map(Lpn));
    assert_eq!(take_one(&mut cache, 0), Some(slots[0]));
    assert_eq!((cache.in_flight(), cache.dirty(0), cache.dirty_total()), (1, 1, 2));
    assert!(!cache.is_dirty(slots[0]) && cache.is_dirty(slots[2]));
    assert_eq!(take_one(&mut cache, 0), Some(slots[2]));
    assert_eq!(take_one(&mut cache, 0), None);
    cache.programmed(slots[0]);
    assert_eq!((cache.free(), cache.in_flight()), (1, 1));
    assert_eq!(cache.admit(Lpn(11), 1, Ppu(5)), Some(slots[0]));
    assert_eq!((cache.lpn(slots[0]), cache.home(slots[0])), (Lpn(11), Ppu(5)));
    assert_eq!(take_one(&mut cache, 1), Some(slots[1]));
}

#[test]
fn a_trimmed_slot_is_never_programmed_and_comes_back() {
    let mut cache = Cache::new(3, 1);
    let slots: Vec<Slot> = Lpn::first(3).map(|lpn| cache.admit(lpn, 0, NO_FLASH_COPY).unwrap()).collect();
    cache.kill_dirty(slots[1]);
    assert_eq!((cache.dirty(0), cache.dirty_total()), (2, 2));
    assert_eq!(take_one(&mut cache, 0), Some(slots[0]));
    assert_eq!(take_one(&mut cache, 0), Some(slots[2]));
    assert_eq!((take_one(&mut cache, 0), cache.free(), cache.in_flight()), (None, 1, 2));
    // Slots that are all dead come back at once: nothing will ask for them.
    let again = cache.admit(Lpn(9), 0, NO_FLASH_COPY).unwrap();
    cache.kill_dirty(again);
    assert_eq!(cache.free(), 1);
}

#[test]
fn a_flush_waits_for_what_came_before_it_and_for_nothing_else() {
    let mut cache = Cache::new(8, 1);
    let before: Vec<Slot> = Lpn::first(3).map(|lpn| cache.admit(lpn, 0, NO_FLASH_COPY).unwrap()).collect();
    let flush = cache.begin_flush();
    cache.admit(Lpn(5), 0, NO_FLASH_COPY).unwrap();
    assert!(cache.durable_before() <= flush && cache.flush_wants(0));
    cache.kill_dirty(before[1]);
    for &slot in [before[0], before[2]].iter() {
        assert!(cache.durable_before() <= flush && cache.flush_wants(0));
        assert_eq!(take_one(&mut cache, 0), Some(slot));
    }
    assert!(!cache.flush_wants(0), "what is left came after the flush");
    cache.programmed(before[2]);
    assert!(cache.durable_before() <= flush);
    cache.programmed(before[0]);
    assert!(cache.durable_before() > flush);
    // A flush with nothing new before it still waits for the data of no one.
    let late = take_one(&mut cache, 0).unwrap();
    let second = cache.begin_flush();
    let third = cache.begin_flush();
    assert!(third > second && cache.durable_before() <= second);
    cache.programmed(late);
    assert!(cache.durable_before() > third);
    let empty = cache.begin_flush();
    assert!(cache.durable_before() > empty);
}

/// Units that a fill writes again are out of date at random: so many are programmed, and so many of each block valid, as the
/// probability says, within 6 standard deviations.
#[test]
fn a_fill_can_leave_a_share_out_of_date() {
    let (layout, again) = (Layout::new(&geometry(1, 100), 1, 0), 0.3);
    let config = FtlConfig::new(60 * BLOCK, GcPolicy::Greedy, 3, 2);
    let mut ftl = BlockManager::new(layout, config, stream("dated", 0));
    let (logical, mut rng) = (60 * BLOCK, stream("again", 1));
    let mut p = Preconditioner::new(&mut ftl, None);
    p.write_repeatedly(Lpn(0), Lpn(logical), || rng.chance(interpulse_engine::Rng::threshold(again)));
    let (programmed, moved) = p.written();
    p.finish();
    assert_eq!(moved, 0, "nothing had to be collected");
    let n = f64::from(logical);
    let sd = (n * again).sqrt() / (1.0 - again);
    assert!((programmed as f64 - n / (1.0 - again)).abs() < 6.0 * sd, "{programmed} of {logical}");
    let (size, blocks) = (ftl.layout.units_per_block, SuperBlock::first(ftl.layout.super_blocks()));
    let valid: Vec<u32> =
        blocks.filter(|&b| ftl.map().is_candidate(b)).map(|b| ftl.map().valid_units(b)).collect();
    assert!(valid.len() > 70 && valid.iter().all(|&v| 0 < v && v < size), "{valid:?} of {size}");
}

// ---- snapshots --------------------------------------------------------------------------------------------

const HASH: &str = "0123456789abcdef0123456789abcdef";

/// Bytes before the state in its file.
const HEADER: u64 = 60;

fn some_state(spec: &DriveSpec) -> PreconditionedState {
    let mut ftl = spec.fresh_ftl(stream("snapshot", 0)).unwrap();
    let logical = ftl.map().logical_units();
    let mut p = Preconditioner::new(&mut ftl, None);
    p.write_in_order(Lpn(0), Lpn(logical / 2));
    p.overwrite(3 * u64::from(logical), addresses(logical, UNIFORM, stream("snapshot", 1)));
    p.finish();
    PreconditionedState::Page(ftl)
}

fn saved(folder: &Path, spec: &DriveSpec) -> Vec<u8> {
    let size = snapshot::save(&some_state(spec), folder, HASH, &mut |_, _| true).unwrap();
    let bytes = fs::read(snapshot::path_of(folder, HASH)).unwrap();
    assert_eq!(bytes.len() as u64, size);
    bytes
}

fn why_not(folder: &Path, spec: &DriveSpec) -> String {
    match snapshot::load(spec, folder, HASH, &mut |_, _| true) {
        Ok(_) => "accepted".into(),
        Err(error) => error.to_string(),
    }
}

/// Drives of an array start from one state: each from its own, of which they share what lies in the file.
#[test]
fn another_state_of_a_snapshot_is_the_same_and_stays_so_when_one_is_run() {
    let bytes = |ftl: &BlockManager| {
        let mut bytes = Vec::new();
        let done: Result<(), ()> = ftl.save(HEADER, &mut |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        });
        done.map(|()| bytes).unwrap()
    };
    let (spec, folder) = (drive::spec(3, 30, 0.1), tempfile::tempdir().unwrap());
    let file = saved(folder.path(), &spec);
    let kept = snapshot::load(&spec, folder.path(), HASH, &mut |_, _| true).unwrap();
    let [one, other] = [kept.another(), kept.another().another()];
    for state in [&kept, &one, &other] {
        assert!(bytes(state.block_manager()) == file[HEADER as usize..]);
    }
    let of_kept = drive::run(&spec, one, 5_000, 1);
    assert!(
        bytes(kept.block_manager()) == file[HEADER as usize..]
            && bytes(other.block_manager()) == file[HEADER as usize..]
    );
    assert_eq!(drive::run(&spec, other, 5_000, 1), of_kept);
    // One that comes from no file is copied.
    let made = some_state(&spec);
    let copy = made.another();
    assert!(bytes(copy.block_manager()) == bytes(made.block_manager()));
    assert_eq!(drive::run(&spec, copy, 5_000, 1), drive::run(&spec, made, 5_000, 1));
    // A large one may be shared all the same.
    let spec = drive::spec(3, 2_800, 0.1);
    let mut ftl = spec.fresh_ftl(stream("shared", 0)).unwrap();
    let logical = ftl.map().logical_units();
    let mut p = Preconditioner::new(&mut ftl, None);
    p.write_in_order(Lpn(0), Lpn(logical));
    p.overwrite(u64::from(logical) / 2, addresses(logical, UNIFORM, stream("shared", 1)));
    p.finish();
    let before = bytes(&ftl);
    let mut shared = PreconditionedState::Page(ftl);
    let copy = shared.another();
    shared.share();
    let [one, other] = [shared.another(), shared.another()];
    let of_copy = drive::run(&spec, copy, 5_000, 1);
    assert_eq!(drive::run(&spec, one, 5_000, 1), of_copy);
    assert!(bytes(shared.block_manager()) == before && bytes(other.block_manager()) == before);
    assert_eq!(drive::run(&spec, shared, 5_000, 1), of_copy);
}

#[test]
fn a_snapshot_brings_back_the_same_ftl() {
    let (spec, folder) = (drive::spec(3, 30, 0.1), tempfile::tempdir().unwrap());
    let bytes = saved(folder.path(), &spec);
    let mut pieces = Vec::new();
    let progress = &mut |done, all| {
        pieces.push((done, all));
        true
    };
    let ftl = snapshot::load(&spec, folder.path(), HASH, progress).unwrap().into_block_manager();
    let all = bytes.len() as u64 - HEADER;
    assert_eq!((pieces.last(), ftl.bytes(HEADER)), (Some(&(all, all)), all));
    assert!(pieces.windows(2).all(|p| p[0].0 < p[1].0));
    let mut original = some_state(&spec).into_block_manager();
    for lpn in Lpn::first(original.map().logical_units()) {
        assert_eq!(ftl.map().get(lpn), original.map().get(lpn), "unit {lpn}");
    }
    assert_eq!(ftl.programs_done(), original.programs_done());
    assert_eq!((&ftl.map().weight, ftl.wear()), (&original.map().weight, original.wear()));
    // Saved again it is the same file, and it goes on in the same way.
    let second = tempfile::tempdir().unwrap();
    let mut restored = PreconditionedState::Page(ftl);
    snapshot::save(&restored, second.path(), HASH, &mut |_, _| true).unwrap();
    assert!(fs::read(snapshot::path_of(second.path(), HASH)).unwrap() == bytes);
    let go_on = |ftl: &mut BlockManager| {
        ftl.restart(stream("again", 0));
        let logical = ftl.map().logical_units();
        let mut p = Preconditioner::new(ftl, None);
        p.overwrite(u64::from(logical), addresses(logical, HOT_AND_COLD, stream("again", 1)));
        p.finish();
        (ftl.counters, ftl.wear(), ftl.map().weight.clone())
    };
    assert_eq!(go_on(restored.block_manager_mut()), go_on(&mut original));
}

#[test]
fn a_snapshot_that_does_not_fit_is_refused_with_the_reason() {
    let (spec, temporary) = (drive::spec(2, 20, 0.1), tempfile::tempdir().unwrap());
    let folder = temporary.path();
    let path = snapshot::path_of(folder, HASH);
    let good = saved(folder, &spec);
    let all = good.len();
    let refused = |why: &str| format!("{} does not fit: {why}", path.display());
    let check = |bytes: &[u8], why: &str| {
        fs::write(&path, bytes).unwrap();
        assert_eq!(why_not(folder, &spec), refused(why));
    };
    let with = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        bytes
    };
    check(&with(0, b'X'), "it is not a snapshot of interpulse");
    let (theirs, ours) = (snapshot::FORMAT_VERSION + 1, snapshot::FORMAT_VERSION);
    let version = format!("it has format version {theirs}, this program writes {ours}");
    check(&with(8, theirs as u8), &version);
    check(&with(12, b'X'), "it is the state of another configuration");
    check(&with(44, !good[44]), "its checksum is wrong: it is damaged");
    check(&good[..all - 1], &format!("it has {} bytes, this drive's state takes {all}", all - 1));
    check(&good[..60], &format!("it has 60 bytes, this drive's state takes {all}"));
    check(&good[..59], "59 bytes are too few for a snapshot");
    check(&[], "0 bytes are too few for a snapshot");
    check(&[&good[..], &[0]].concat(), &format!("it has {} bytes, this drive's state takes {all}", all + 1));
    let mut rng = stream("garbage", 0);
    let garbage: Vec<u8> = (0..all).map(|_| rng.below(256) as u8).collect();
    check(&garbage, "it is not a snapshot of interpulse");
    check(&[&good[..60], &garbage[60..]].concat(), "its checksum is wrong: it is damaged");
    // What lies between the tables is nothing, and damaged where it is something.
    let gap = good.len() - 1 - good.iter().rev().skip(1).position(|&byte| byte != 0).unwrap();
    check(&with(gap, 1), "its checksum is wrong: it is damaged");
    // Every kind of place in the payload: tables, weights, cycles, ages, free lists, open blocks.
    for at in (60..all).step_by(all / 97).chain(all - 40..all) {
        check(&with(at, !good[at]), "its checksum is wrong: it is damaged");
    }
    // The state of a drive of another size, under the same name.
    let other = saved(folder, &drive::spec(2, 21, 0.1));
    check(&other, &format!("it has {} bytes, this drive's state takes {all}", other.len()));
    fs::write(&path, &good).unwrap();
    assert_eq!(why_not(folder, &spec), "accepted");
    fs::remove_file(&path).unwrap();
    assert!(why_not(folder, &spec).starts_with(&format!("{}: ", path.display())));
}

/// A whole file whose numbers do not fit together, as a program with a mistake would leave it.
#[test]
fn a_snapshot_that_contradicts_itself_is_refused_with_the_reason() {
    let (spec, temporary) = (drive::spec(2, 20, 0.1), tempfile::tempdir().unwrap());
    let folder = temporary.path();
    let good = saved(folder, &spec);
    let ftl = some_state(&spec).into_block_manager();
    let (blocks, logical, units) =
        (ftl.layout.super_blocks(), ftl.map().logical_units(), ftl.layout.units() as u32);
    // The tables, each at the beginning of a page, are the last things in the file.
    let numbers =
        60 + 16 * blocks as usize + 8 + 4 * ftl.layout.lanes as usize * (ftl.layout.blocks as usize + 5);
    let to_physical = numbers.next_multiple_of(4096);
    let to_logical = (to_physical + 4 * logical as usize).next_multiple_of(4096);
    let valid = (to_logical + 4 * units as usize).next_multiple_of(4096);
    let contradicts = |at: usize, value: u32, why: &str| {
        let mut bytes = good.clone();
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        let sum = xxhash_rust::xxh3::xxh3_64(&bytes[60..]);
        bytes[44..52].copy_from_slice(&sum.to_le_bytes());
        fs::write(snapshot::path_of(folder, HASH), bytes).unwrap();
        let seen = why_not(folder, &spec);
        assert!(seen.ends_with(&format!("it contradicts itself: {why}")), "{seen}");
    };
    let entry =
        |value: u32| u32::from_le_bytes(good[to_physical + 4 * value as usize..][..4].try_into().unwrap());
    let count = good[to_physical..][..4 * logical as usize]
        .as_chunks::<4>()
        .0
        .iter()
        .filter(|e| **e != [0; 4])
        .count();
    contradicts(60, 1, "block 0 does not hold as many valid units as it counts");
    contradicts(
        to_physical,
        !units,
        &format!("a logical unit is said to be in physical unit {units} of {units}"),
    );
    let why = format!("a physical unit is said to hold logical unit {logical} of {logical}");
    contradicts(to_logical + 4 * (units as usize - 1), logical, &why);
    assert_ne!(entry(5), 0);
    contradicts(
        to_physical + 20,
        0,
        &format!("{} units are on flash, and {count} are valid there", count - 1),
    );
    let word = u32::from_le_bytes(good[valid..][..4].try_into().unwrap());
    contradicts(valid, word ^ 1, "block 0 does not hold as many valid units as it counts");
    contradicts(numbers - 4, u32::MAX, &format!("a free or an open block lies beyond the {blocks} blocks"));
}

/// Two drives from one file, of which each keeps what it writes to itself; and the file stays as it is.
#[test]
fn drives_share_a_snapshot_and_none_sees_what_another_writes() {
    let (spec, temporary) = (drive::spec(2, 20, 0.1), tempfile::tempdir().unwrap());
    let folder = temporary.path();
    let good = saved(folder, &spec);
    let kept = snapshot::open(&spec, folder, HASH, &mut |_, _| true).unwrap();
    let write = |ftl: &mut BlockManager, seed: u64| {
        ftl.restart(stream("shared", seed));
        let logical = ftl.map().logical_units();
        let mut p = Preconditioner::new(ftl, None);
        p.overwrite(2 * u64::from(logical), addresses(logical, UNIFORM, stream("shared", seed)));
        p.finish();
    };
    let all = |ftl: &BlockManager| {
        Lpn::first(ftl.map().logical_units()).map(|l| ftl.map().get(l)).collect::<Vec<_>>()
    };
    // Deleted while it is in use, as another run may do to make room.
    fs::remove_file(snapshot::path_of(folder, HASH)).unwrap();
    let [mut first, mut second, third] = [(); 3].map(|()| kept.state().unwrap().into_block_manager());
    write(&mut first, 1);
    write(&mut second, 2);
    for (seed, drive) in [(1, &first), (2, &second)] {
        let mut alone = some_state(&spec).into_block_manager();
        write(&mut alone, seed);
        assert!(all(&alone) == all(drive), "as a drive that has its memory for itself");
        assert_eq!((&alone.map().weight, alone.wear()), (&drive.map().weight, drive.wear()));
    }
    assert!(all(&first) != all(&second));
    assert!(all(&third) == all(some_state(&spec).block_manager()));
    // A copy of one that has written holds what it wrote.
    assert!(all(&first.clone()) == all(&first));
    snapshot::save(&PreconditionedState::Page(third), folder, HASH, &mut |_, _| true).unwrap();
    assert!(fs::read(snapshot::path_of(folder, HASH)).unwrap() == good);
}

#[test]
fn what_is_no_file_is_refused_without_waiting_for_it() {
    let (spec, temporary) = (drive::spec(2, 20, 0.1), tempfile::tempdir().unwrap());
    let folder = temporary.path();
    let path = snapshot::path_of(folder, HASH);
    fs::create_dir(&path).unwrap();
    assert_eq!(why_not(folder, &spec), format!("{} does not fit: it is a folder", path.display()));
    let unsaved = snapshot::save(&some_state(&spec), folder, HASH, &mut |_, _| true);
    assert!(unsaved.unwrap_err().to_string().starts_with(&format!("{}: ", path.display())));
    fs::remove_dir(&path).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    assert_eq!(why_not(folder, &spec), format!("{} does not fit: it is a pipe", path.display()));
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    assert_eq!(why_not(folder, &spec), format!("{} does not fit: it is a device", path.display()));
    saved(folder, &spec);
    assert_eq!(why_not(folder, &spec), "accepted", "a state takes its place");
}

#[test]
fn a_stopped_save_or_load_leaves_nothing_behind() {
    let (spec, temporary) = (drive::spec(2, 20, 0.1), tempfile::tempdir().unwrap());
    let folder = temporary.path().join("not/yet/there");
    let stopped = snapshot::save(&some_state(&spec), &folder, HASH, &mut |_, _| false);
    assert_eq!(stopped.unwrap_err().to_string(), "stopped");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    saved(&folder, &spec);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    for enough in [0, 1, 3] {
        let mut left = enough;
        let stopped = snapshot::load(&spec, &folder, HASH, &mut |_, _| {
            left -= 1;
            left >= 0
        });
        assert_eq!(stopped.map(|_| ()).unwrap_err().to_string(), "stopped");
    }
    assert_eq!(why_not(&folder, &spec), "accepted");
}

#[test]
fn trimming_deletes_the_oldest_until_the_rest_fits() {
    let folder = tempfile::tempdir().unwrap();
    let now = std::time::SystemTime::now();
    let file = |name: &str, bytes: usize, age_s: u64| {
        let path = folder.path().join(name);
        let mut content = b"INTERPLS".to_vec();
        content.resize(bytes, 0);
        fs::write(&path, content).unwrap();
        let when = now - std::time::Duration::from_secs(age_s);
        fs::File::options().write(true).open(&path).unwrap().set_modified(when).unwrap();
        path
    };
    let oldest = file("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-v6.snapshot", 100, 40);
    let older = file("bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb-v6.snapshot", 100, 30);
    let newer = file("cccccccccccccccccccccccccccccccc-v6.snapshot", 100, 20);
    let newest = file("dddddddddddddddddddddddddddddddd-v6.snapshot", 100, 10);
    let other = file("notes.txt", 1000, 90);
    assert_eq!(snapshot::trim(folder.path(), 400, &newest), Vec::<std::path::PathBuf>::new());
    assert_eq!(snapshot::trim(folder.path(), 399, &oldest), std::slice::from_ref(&older));
    assert_eq!(snapshot::trim(folder.path(), 150, &newest), [oldest, newer]);
    assert_eq!(snapshot::trim(folder.path(), 0, &newest), Vec::<std::path::PathBuf>::new());
    assert!(newest.exists() && other.exists());
    // What is being written and what studies have computed take room too, and are nobody's to delete here.
    let being_written = file("eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee.1-1.tmp", 100, 5);
    let results = file("fast12-0123456789abcdef.results", 100, 50);
    fs::write(&results, [b'0'; 100]).unwrap();
    let another = file("ffffffffffffffffffffffffffffffff-v6.snapshot", 100, 60);
    assert_eq!(snapshot::trim(folder.path(), 300, &newest), [another]);
    assert!(being_written.exists() && results.exists());
    assert!(snapshot::trim(&folder.path().join("absent"), 0, &newest).is_empty());
}
