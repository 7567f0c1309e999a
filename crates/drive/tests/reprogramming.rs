//! *Are reprogrammable blocks used as the paper says?* The worked examples of Gao et al., MICRO 2019: Figure 8 on a drive in
//! simulated time, Figure 9 on the FTL word line by word line; and what they leave out.

use crate::drive_common::{Bench, Cells, filled, of_part, part};
use interpulse_drive::ftl::layout::Layout;
use interpulse_drive::ftl::page::blocks::program_address::ProgramAddress;
use interpulse_drive::ftl::page::mapping::table::Where;
use interpulse_drive::ftl::page::placement::stripe::Allocation;
use interpulse_drive::ftl::page::reprogram::{
    FullyInvalidates, ReprogramSpec, Reprogramming, Step, WhenValid,
};
use interpulse_drive::ftl::page::separation::{HotnessPolicy, UpdateInterval};
use interpulse_drive::ftl::{BlockManager, FtlConfig, SoftPages};
use interpulse_drive::numbers::{Lane, Lpn, Ppu, SuperBlock};
use interpulse_drive::spec::{Acknowledge, DriveSpec};
use interpulse_engine::{Bytes, Device, Duration, Op, Request, SimTime, Streams, Tag};
use interpulse_flash::cell_mode::CellMode;
use interpulse_flash::ids::{BlockId, WordLineId};
use interpulse_flash::reprogram::{Bit, Distribution};

pub(crate) const PAPER: ReprogramSpec = ReprogramSpec {
    super_layer: 1,
    candidates: 1,
    when_valid: WhenValid::Candidate,
    fully_invalidates: FullyInvalidates::SuperLayer,
};

/// One lane of one plane of blocks with `layers` layers of four word lines and pages of one unit.
pub(crate) fn one_lane(layers: u32, reprogram: ReprogramSpec) -> (DriveSpec, BlockManager) {
    let mut chips = part(Cells::Tlc, 1, 100, 4);
    chips.pages_per_block = layers * 4 * 3;
    chips.layers = layers;
    let mut spec = of_part(chips, 1, 1, 1);
    spec.ftl.over_provisioning = 1.0;
    spec.ftl.hotness = HotnessPolicy::UpdateInterval(UpdateInterval {
        within: vec![Duration::from_ms(1_800_000)],
        by_unit: false,
    });
    spec.ftl.reprogram = Some(reprogram);
    spec.nand.super_layer = 4 * reprogram.super_layer;
    spec.check().unwrap();
    let mut ftl = spec.fresh_ftl(Streams::new(1).stream("test", 0)).unwrap();
    let layout: Layout = ftl.layout.clone();
    ftl.separate(spec.ftl.hotness.filter(&layout), Some(Reprogramming::new(reprogram, &layout, 1, layers)));
    (spec, ftl)
}

/// Carries out on the FTL what a drive would do, at once.
struct Writer {
    ftl: BlockManager,
    /// What has been done, as text.
    log: Vec<String>,
}

impl Writer {
    /// Writes pages of hot level 0, all of which arrive together: what they overwrite is invalid first. Pairs go to erased
    /// word lines.
    fn write(&mut self, pages: &[u32]) {
        let mut left = pages;
        while !left.is_empty() {
            let step = self.ftl.next_step(Lane(0), 0, |_| false);
            let take = if matches!(step, Step::Program | Step::Open) { 2 } else { 1 };
            let (now, rest) = left.split_at(take);
            left = rest;
            for &page in now {
                self.ftl.discard(Lpn(page));
            }
            // The example invalidates before it looks for a place.
            let step = if take == 1 { self.ftl.next_step(Lane(0), 0, |_| false) } else { step };
            self.carry_out(step, now);
        }
    }

    fn carry_out(&mut self, step: Step, pages: &[u32]) {
        let (block, word_line, reprogram) = match step {
            Step::Open | Step::Program => {
                if step == Step::Open {
                    self.ftl.open_two_bit(Lane(0), 0);
                }
                let (block, word_line, _, _) = self.ftl.take_word_line(Lane(0), 0);
                self.log.push(format!("program {word_line} {pages:?}"));
                (block, word_line, None)
            }
            Step::Reprogram { word_line, bit } => {
                let (block, validity) = self.ftl.take_reprogram(Lane(0), 0, word_line, bit);
                assert_eq!(validity >> bit as u32 & 1, 0, "the page is not in use");
                self.log.push(format!("reprogram {word_line} {bit:?} {pages:?}"));
                (block, word_line, Some(bit))
            }
            other => panic!("{other:?}"),
        };
        let layout = self.ftl.layout.clone();
        let place = ProgramAddress::new(&layout, block, word_line.0, self.ftl.cell_mode(block));
        let place = ProgramAddress { reprogram, ..place };
        for (k, &page) in pages.iter().enumerate() {
            let offset = place.offset(&layout, k as u32);
            self.ftl.write(Lpn(page), block, offset);
        }
        self.ftl.two_bit_done(Lane(0), block, word_line);
    }

    /// The pages in use on the word lines of a block, LSB first.
    fn in_use(&self, block: SuperBlock, word_lines: u32) -> Vec<Vec<u32>> {
        let layout = &self.ftl.layout;
        let held = |word_line: u32| {
            let pages = (0..2).map(move |bit| word_line * layout.units_per_program + bit);
            let valid = pages.filter(|&offset| self.ftl.map().is_valid(block, offset));
            valid.map(|offset| self.ftl.map().logical(layout.first_unit(block) + offset).0).collect()
        };
        (0..word_lines).map(held).collect()
    }
}

/// Figure 9: eleven pages in a super layer of four word lines, then one more, word line by word line.
#[test]
fn the_worked_example_of_figure_9() {
    let (_, ftl) = one_lane(1, PAPER);
    let mut writer = Writer { ftl, log: Vec::new() };
    writer.write(&[0, 1, 2, 3, 3, 4, 0, 5]);
    assert_eq!(writer.in_use(SuperBlock(0), 4), [vec![1], vec![2], vec![3, 4], vec![0, 5]], "after time 1");
    writer.write(&[6, 4, 1]);
    assert_eq!(
        writer.in_use(SuperBlock(0), 4),
        [vec![6], vec![2, 4], vec![3, 1], vec![0, 5]],
        "after time 2"
    );
    writer.write(&[8]);
    // "WL0 P6,P8; WL1 P2,P4; WL2 P3,P1; WL3 P0,P5."
    assert_eq!(
        writer.in_use(SuperBlock(0), 4),
        [vec![6, 8], vec![2, 4], vec![3, 1], vec![0, 5]],
        "after time 3"
    );
    assert_eq!(
        writer.log,
        [
            "program 0 [0, 1]",
            "program 1 [2, 3]",
            "program 2 [3, 4]",
            "program 3 [0, 5]",
            "reprogram 0 Lsb [6]",
            "reprogram 1 Msb [4]",
            "reprogram 2 Msb [1]",
            "reprogram 0 Msb [8]",
        ],
        "two reprograms in all on word line 0"
    );
    // "After time 3, each word line maintains two valid pages": the block waits as a candidate.
    assert_eq!(writer.ftl.next_step(Lane(0), 0, |_| false), Step::Reclaim);
    assert_eq!(writer.ftl.counters.candidates, 1);
    // An update in it brings it back; word line 0 has been reprogrammed twice and stays as it is.
    writer.write(&[3]);
    assert_eq!(writer.ftl.counters.candidates_back, 1);
    assert_eq!(writer.in_use(SuperBlock(0), 4), [vec![6, 8], vec![2, 4], vec![3, 1], vec![0, 5]]);
}

/// "If P1 is first written at time 2, both of the old pages of WL0 are invalid; we assume that one is still valid."
#[test]
fn of_two_invalid_pages_one_is_taken_as_valid() {
    let (_, ftl) = one_lane(1, PAPER);
    let mut writer = Writer { ftl, log: Vec::new() };
    writer.write(&[0, 1, 2, 3, 3, 4, 0, 5]);
    writer.write(&[1]);
    assert_eq!(writer.log.last().unwrap(), "reprogram 0 Lsb [1]");
    assert_eq!(writer.in_use(SuperBlock(0), 4)[0], [1]);
    // The word line can be reprogrammed once more: its other page has never been in use since.
    writer.write(&[2, 9]);
    assert_eq!(writer.log[5..], ["reprogram 1 Lsb [2]", "reprogram 0 Msb [9]"]);
}

/// When every word line has been reprogrammed twice the next super layer begins; after the last the block is closed.
#[test]
fn super_layers_come_in_sequence() {
    let (_, ftl) = one_lane(2, PAPER);
    let mut writer = Writer { ftl, log: Vec::new() };
    for _ in 0..2 {
        // The same page over and over: everything else is out of date.
        writer.write(&[0; 8]);
        writer.write(&[0; 8]);
    }
    let lines: Vec<u32> =
        writer.log.iter().map(|l| l.split(' ').nth(1).unwrap().parse::<u32>().unwrap() / 4).collect();
    assert_eq!(lines, [[0; 12], [1; 12]].concat(), "each super layer: four programs, eight reprograms");
    assert!(!writer.ftl.map().is_candidate(SuperBlock(0)));
    assert_eq!(writer.ftl.next_step(Lane(0), 0, |_| false), Step::Open, "the block is full");
    assert!(writer.ftl.map().is_candidate(SuperBlock(0)), "and may be collected");
    assert_eq!(writer.ftl.counters.lost_reprograms, 0);
}

/// Section 4.1 has the next super layer begin while pages are in use; what could have been reprogrammed is lost.
#[test]
fn a_stuck_super_layer_can_be_left() {
    let (_, ftl) = one_lane(2, ReprogramSpec { when_valid: WhenValid::NextSuperLayer, ..PAPER });
    let mut writer = Writer { ftl, log: Vec::new() };
    writer.write(&[0, 1, 2, 3, 4, 5, 6, 7]);
    writer.write(&[8, 9]);
    assert_eq!(writer.log[4], "program 4 [8, 9]");
    assert_eq!(writer.ftl.counters.lost_reprograms, 8);
    // What is overwritten in the super layer that was left stays out of date.
    writer.write(&[10, 11, 12, 13, 14, 15]);
    let Where::Flash(of_0) = writer.ftl.map().get(Lpn(0)) else { panic!("page 0 is on flash") };
    writer.ftl.forget_flash(of_0);
    assert_eq!(
        writer.ftl.next_step(Lane(0), 0, |_| false),
        Step::Reclaim,
        "no word line of the second super layer"
    );
}

/// Section 6.2.2: a block that is used up waits until what is in use in it has been moved out, and can then be collected
/// without a migration; with `fully-invalidates = "super-layer"` it is left as it is.
#[test]
fn a_used_up_block_is_emptied_before_it_is_collected() {
    for (fully_invalidates, emptied) in
        [(FullyInvalidates::Block, true), (FullyInvalidates::SuperLayer, false)]
    {
        let (_, ftl) = one_lane(2, ReprogramSpec { fully_invalidates, ..PAPER });
        let mut writer = Writer { ftl, log: Vec::new() };
        // Page 9 stays in the first super layer; the others are overwritten again and again.
        writer.write(&[9, 0, 1, 2, 0, 1, 2, 0]);
        for _ in 0..8 {
            writer.write(&[0]);
        }
        writer.write(&[1, 2, 0, 1, 2, 0, 1, 2]);
        for _ in 0..8 {
            writer.write(&[1]);
        }
        let block = SuperBlock(0);
        let left = writer.ftl.map().valid_units(block);
        assert!(left >= 2, "pages 9 and 1: {left}");
        let step = writer.ftl.next_step(Lane(0), 0, |_| false);
        assert_eq!(step == Step::Reclaim, emptied, "{step:?}");
        assert_eq!(writer.ftl.map().is_candidate(block), !emptied, "whether it may be collected");
        assert_eq!(writer.ftl.level_to_empty(Lane(0)).is_some(), emptied);
        if !emptied {
            continue;
        }
        let mut moved = 0;
        while writer.ftl.map().valid_units(block) > 0 && moved < 20 {
            let (from, pages) = writer.ftl.pages_in_the_way(Lane(0), 0, 2);
            assert_eq!(from, block);
            assert!(writer.ftl.level_to_empty(Lane(0)).is_none(), "pages of it are on their way");
            for (word_line, bit) in pages {
                let offset = word_line.0 * 3 + bit as u32;
                let lpn = writer.ftl.map().logical(writer.ftl.layout.first_unit(block) + offset);
                writer.ftl.discard(lpn);
                moved += 1;
            }
            writer.ftl.moved_out(Lane(0), block);
        }
        assert_eq!(moved, left, "everything that was in use");
        assert!(writer.ftl.map().is_candidate(block), "it is empty: it may be collected");
        assert_eq!(writer.ftl.choose_victim(Lane(0)), Some(block));
        assert_eq!(writer.ftl.counters.direct_gc_runs, 1);
        assert_eq!(writer.ftl.counters.candidates_given_up, 0);
    }
}

/// What is free, where the threshold of collection counts it as pages that can be programmed, and as a running count: a block of four
/// word lines and 12 pages is opened, programmed, and erased.
#[test]
fn a_running_count_keeps_the_pages_that_are_passed_over() {
    // Changes against an erased lane: opened, programmed, erased.
    for (keeps_passed_over, changes) in [(false, [-4, -12, 0]), (true, [0, -8, 4])] {
        for (stage, change) in changes.into_iter().enumerate() {
            for (beyond, enough) in [(0, true), (1, false)] {
                let (_, fresh) = one_lane(1, PAPER);
                let all = fresh.free_pages_of(Lane(0));
                let least = (all as i32 + change + beyond) as u32;
                let soft_pages = Some(SoftPages { least, keeps_passed_over });
                let config = FtlConfig { soft_pages, ..fresh.config().clone() };
                let mut ftl =
                    BlockManager::new(fresh.layout.clone(), config, Streams::new(1).stream("test", 0));
                let blocks = Reprogramming::new(PAPER, &fresh.layout, 1, 1);
                ftl.separate(fresh.hotness().cloned(), Some(blocks));
                let mut writer = Writer { ftl, log: Vec::new() };
                writer.ftl.open_two_bit(Lane(0), 0);
                if stage > 0 {
                    writer.write(&[0, 1, 2, 3, 4, 5, 6, 7]);
                }
                if stage > 1 {
                    assert_eq!(writer.ftl.next_step(Lane(0), 0, |_| false), Step::Reclaim);
                    assert_eq!(
                        writer.ftl.choose_victim(Lane(0)),
                        Some(SuperBlock(0)),
                        "a candidate, given up"
                    );
                    Lpn::first(8).for_each(|lpn| writer.ftl.discard(lpn));
                    writer.ftl.erased(SuperBlock(0));
                }
                assert_eq!(
                    writer.ftl.has_enough(Lane(0), 0),
                    enough,
                    "{keeps_passed_over}, stage {stage}, {least} of {all}"
                );
            }
        }
    }
}

/// Candidates of a lane in which nothing else can be collected are given up.
#[test]
fn a_lane_without_victims_takes_its_candidates() {
    let (_, ftl) = one_lane(1, PAPER);
    let mut writer = Writer { ftl, log: Vec::new() };
    writer.write(&[0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(writer.ftl.next_step(Lane(0), 0, |_| false), Step::Reclaim);
    assert_eq!(writer.ftl.choose_victim(Lane(0)), Some(SuperBlock(0)));
    assert_eq!(writer.ftl.counters.candidates_given_up, 1);
    assert_eq!(writer.ftl.next_step(Lane(0), 0, |_| false), Step::Open);
}

fn write_at(bench: &mut Bench, minute: u64, page: u64) {
    bench.run_to(SimTime::ZERO + Duration::from_ms(60_000 * minute));
    let request = Request::new(Op::Write, page * 8, 8);
    bench.host.submit(&mut bench.events, 0, Tag(0), request);
    let completed = bench.host.device.completed();
    bench.run_for(Duration::from_ms(60));
    assert_eq!(bench.host.device.completed(), completed + 1, "the write has been programmed");
}

/// Figure 8 on a drive: a page is cold when it is first written, hot when it is updated, and its block's time stamp is
/// renewed with the next super layer.
#[test]
fn the_worked_example_of_figure_8() {
    let (mut spec, _) = one_lane(2, PAPER);
    spec.ftl.allocation = Allocation::all()[1].1;
    spec.cache.size = Bytes::mib(1);
    spec.cache.acknowledge = Acknowledge::WhenProgrammed;
    let state = filled(&spec, 0.0);
    let mut bench = Bench::new(&spec, state, &[], 1);
    let block_of = |bench: &Bench, page: u32| match bench.host.device.block_manager().map().get(Lpn(page)) {
        Where::Flash(ppu) => {
            let at = bench.host.device.block_manager().layout.split(ppu);
            (at.super_block, at.offset)
        }
        other => panic!("{other:?}"),
    };
    let minute = |m: u64| SimTime::ZERO + Duration::from_ms(60_000 * m);
    let is_hot = |bench: &Bench, block: SuperBlock, at: u64| {
        bench.host.device.block_manager().hotness().unwrap().level(block, Ppu(0), minute(at)) == 0
    };

    write_at(&mut bench, 1, 0);
    let (normal, _) = block_of(&bench, 0);
    let mode = |bench: &Bench, block| bench.host.device.block_manager().cell_mode(block);
    assert_eq!(mode(&bench, normal), CellMode::Native, "TS 1: a normal block");
    assert!(is_hot(&bench, normal, 30) && !is_hot(&bench, normal, 31), "its stamp is minute 1");

    write_at(&mut bench, 11, 0);
    let (hot, offset) = block_of(&bench, 0);
    assert_eq!(mode(&bench, hot), CellMode::Mlc, "TS 2: a reprogrammable block");
    assert_eq!(offset, 0, "the first super layer");
    // Other updates fill the super layer: 4 programs, and a reprogram for every page but the newest, twice.
    let mut at = 11;
    while bench.host.device.ftl_counters().reprogrammed_units < 8 {
        at += 1;
        write_at(&mut bench, at, 0);
        assert_eq!(block_of(&bench, 0).0, hot);
    }
    assert!(is_hot(&bench, hot, 40) && !is_hot(&bench, hot, 41), "the stamp is that of the first update");

    write_at(&mut bench, 35, 0);
    let (same, offset) = block_of(&bench, 0);
    assert_eq!((same, offset), (hot, 4 * 3), "TS 4: the second super layer of the same block");
    assert!(is_hot(&bench, hot, 64) && !is_hot(&bench, hot, 65), "with a stamp of its own");

    let die = &bench.host.device.nand().dies()[0];
    let status = die.blocks().status(0, BlockId(hot.0 % spec.part.blocks_per_plane), WordLineId(0));
    assert_eq!((status.reprograms, status.distribution), (2, Distribution::P4P7), "the die followed");
    assert_eq!(status.coding().after(Bit::Lsb), None);
    bench.host.device.audit(bench.events.now(), 1).unwrap();
}
