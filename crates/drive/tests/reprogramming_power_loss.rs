//! *Is anything lost when power fails while word lines are reprogrammed?* By hand: a cut during a reprogram, during a suspended
//! one, before its first pulse, after it; with capacitors and without. Then random drives of this kind, cut again and again.

use crate::drive_common::features::with_reprogramming;
use crate::drive_common::{Bench, Cells, filled, part};
use crate::power_loss::{Met, draw_features, is_suspended, pick, step, world_of};
use crate::reprogramming::{PAPER, one_lane};
use interpulse_drive::ftl::layout::UnitAt;
use interpulse_drive::ftl::page::mapping::table::Where;
use interpulse_drive::ftl::page::placement::PlacementPolicy;
use interpulse_drive::ftl::page::placement::stripe::Allocation;
use interpulse_drive::ftl::page::power_loss::outage::Recovered;
use interpulse_drive::ftl::page::separation::{HotnessPolicy, UpdateInterval};
use interpulse_drive::numbers::{Lpn, SuperBlock};
use interpulse_drive::spec::{DriveSpec, PowerLossSpec};
use interpulse_engine::{Bytes, Device, Duration, Op, Request, Rng, Streams, Tag};
use interpulse_flash::die::{Die, LongOp, State};
use interpulse_flash::hold_up::Placement;
use interpulse_flash::ids::{BlockId, WordLineId};
use interpulse_flash::parts::ProgramMode;
use interpulse_flash::reprogram::{Distribution, Status};
use interpulse_flash::suspend::{Scheme, SuspendCosts, SuspendPolicy};

fn suspends(spec: &mut DriveSpec) {
    let us = Duration::from_us;
    let costs = SuspendCosts { entry: us(3), resume: us(5), reset: us(4) };
    spec.nand.program_suspend = SuspendPolicy::unlimited(Scheme::Ideal, costs);
}

/// One die whose eight hot pages are two by two on the word lines of a reprogrammable block, all on flash.
struct Ressd {
    bench: Bench,
    requests: u64,
}

impl Ressd {
    fn new(protected: bool) -> Ressd {
        let (mut spec, _) = one_lane(2, PAPER);
        spec.ftl.allocation = Allocation::all()[1].1;
        spec.cache.size = Bytes::mib(1);
        spec.cache.protected = protected;
        suspends(&mut spec);
        spec.power_loss = Some(PowerLossSpec {
            at: None,
            off_for: Duration::from_ms(1),
            checkpoint_every: Duration::from_ms(50),
            save_to: Placement::FirstFree,
            capacitor: None,
        });
        let mut drive = Ressd { bench: Bench::new(&spec, filled(&spec, 0.0), &[], 1), requests: 0 };
        // Cold when they are first written, hot from then on.
        for _ in 0..2 {
            drive.write((0..8).collect());
            drive.settle();
        }
        assert_eq!(drive.places(), (0..8).map(|page| page / 2 * 3 + page % 2).collect::<Vec<u32>>());
        assert_eq!(drive.reprogrammed(), 0);
        drive
    }

    fn submit(&mut self, op: Op, page: u64) {
        let request = Request::new(op, page * 8, if op == Op::Flush { 0 } else { 8 });
        self.requests += 1;
        self.bench.host.submit(&mut self.bench.events, 0, Tag(self.requests as u32), request);
    }

    /// Writes these pages and flushes them.
    fn write(&mut self, pages: Vec<u64>) {
        pages.into_iter().for_each(|page| self.submit(Op::Write, page));
        self.bench.run_for(Duration::from_us(20));
        self.submit(Op::Flush, 0);
    }

    fn settle(&mut self) {
        self.bench.run_for(Duration::from_ms(60));
        assert_eq!(self.bench.host.device.completed(), self.requests, "everything has completed");
    }

    fn die(&self) -> &Die {
        &self.bench.host.device.nand().dies()[0]
    }

    /// RPCnt and Distribution ID of the first word line of the block of these pages, as the die has it.
    fn status(&self) -> Option<Status> {
        let block = self.block();
        self.die().blocks().status_if_whole(0, BlockId(block.0), WordLineId(0))
    }

    /// Super block of page 7, which no test moves.
    fn block(&self) -> SuperBlock {
        self.unit_of(7).expect("page 7 is on flash").super_block
    }

    fn unit_of(&self, page: u32) -> Option<UnitAt> {
        let manager = self.bench.host.device.block_manager();
        match manager.map().get(Lpn(page)) {
            Where::Flash(ppu) => Some(manager.layout.split(ppu)),
            Where::Cache(_) | Where::Unmapped => None,
        }
    }

    /// Offsets of the eight pages in the block of page 7; `u32::MAX` for those elsewhere.
    fn places(&self) -> Vec<u32> {
        let block = self.block();
        let offset = |at: UnitAt| if at.super_block == block { at.offset } else { u32::MAX };
        (0..8).map(|page| self.unit_of(page).map_or(u32::MAX, offset)).collect()
    }

    fn reprogrammed(&self) -> u64 {
        self.bench.host.device.ftl_counters().reprogrammed_units
    }

    /// Handles events until the die has a reprogram of which this is true.
    fn run_to_reprogram(&mut self, is: impl Fn(&Die, &LongOp) -> bool) {
        while !self.die().long().is_some_and(|op| op.reprograms.is_some() && is(self.die(), op)) {
            assert!(self.bench.step(self.bench.events.horizon()), "no reprogram");
        }
    }

    /// Cuts the power now; returns what recovery has found, after the drive serves its host again.
    fn cut(&mut self) -> Recovered {
        let at = self.bench.events.now();
        self.bench.host.device.cut_power(&mut self.bench.events);
        self.bench.host.device.power_up(&mut self.bench.events, at + Duration::from_ms(1));
        let found = self.bench.host.device.recoveries().last().expect("there has been a cut").found;
        assert_eq!(found.losses.flushed, 0);
        self.requests = self.bench.host.device.completed();
        while self.bench.host.device.is_down() {
            assert!(self.bench.step(self.bench.events.horizon()));
        }
        found
    }

    fn check(mut self) {
        self.bench.finish();
        self.bench.host.device.read_everything();
    }
}

/// Word line 0 holds pages 0 and 1; page 0 is overwritten. Capacitors complete the reprogram, so that page 1 stays where it is.
#[test]
fn capacitors_complete_a_reprogram() {
    for is_suspended in [false, true] {
        let mut drive = Ressd::new(true);
        drive.write(vec![0]);
        drive.run_to_reprogram(|die, _| die.state() == State::Pulsing);
        drive.bench.run_for(Duration::from_us(100));
        if is_suspended {
            drive.submit(Op::Read, 6);
            drive.run_to_reprogram(|die, op| op.suspends > 0 && die.state() != State::Pulsing);
        }
        let opened = drive.bench.host.device.ftl_counters().reprogrammable_blocks;
        let found = drive.cut();
        let reprograms = (found.completed_reprograms, found.torn_reprograms, found.torn_word_lines);
        assert_eq!(reprograms, (1, 0, 0), "suspended: {is_suspended}");
        assert_eq!(
            (found.losses.acknowledged, found.kept_units),
            (0, 1),
            "page 0 is in the saved cache, too"
        );
        assert_eq!(drive.places()[1..], [1, 3, 4, 6, 7, 9, 10], "page 1 shares the cells of the reprogram");
        let status = drive.status().expect("the word line is whole");
        // The saved cache is programmed: page 0 reprograms its word line once more, the page of the completed reprogram.
        assert_eq!((status.reprograms, status.distribution), (2, Distribution::P4P7));
        assert_eq!(
            drive.bench.host.device.ftl_counters().reprogrammable_blocks,
            opened,
            "the block is used further"
        );
        drive.check();
    }
}

/// Without capacitors only word line 0, whose pages have been trimmed, is reprogrammed. The cut tears it; the flushed version of
/// page 2, whose new version it was to get, is still there, and the block is left to garbage collection.
#[test]
fn a_torn_reprogram_loses_nothing_that_was_flushed() {
    for is_suspended in [false, true] {
        let mut drive = Ressd::new(false);
        let block = drive.block();
        drive.submit(Op::Trim, 0);
        drive.submit(Op::Trim, 1);
        drive.submit(Op::Flush, 0);
        drive.settle();
        drive.write(vec![2]);
        drive.run_to_reprogram(|die, _| die.state() == State::Pulsing);
        drive.bench.run_for(Duration::from_us(100));
        if is_suspended {
            drive.submit(Op::Read, 6);
            drive.run_to_reprogram(|die, op| op.suspends > 0 && die.state() != State::Pulsing);
        }
        let found = drive.cut();
        let reprograms = (found.completed_reprograms, found.torn_reprograms, found.torn_word_lines);
        assert_eq!(reprograms, (0, 1, 1), "suspended: {is_suspended}");
        assert_eq!((found.losses.acknowledged, found.losses.flushed, found.trims_undone), (1, 0, 0));
        assert_eq!(drive.places()[2..], [3, 4, 6, 7, 9, 10]);
        assert_eq!(drive.status(), None, "neither page of the word line holds anything");
        let manager = drive.bench.host.device.block_manager();
        assert_eq!(drive.block(), block);
        assert!(manager.map().is_candidate(block), "the block is closed");
        drive.write(vec![2, 3]);
        drive.settle();
        assert_eq!(drive.reprogrammed(), 0, "it is not reprogrammed again");
        drive.check();
    }
}

/// Trims that no flush covers are written before the reprogram of their word line: undone, they would need its data.
#[test]
fn trims_are_on_flash_before_their_word_line_is_reprogrammed() {
    let mut drive = Ressd::new(false);
    drive.submit(Op::Trim, 0);
    drive.submit(Op::Trim, 1);
    drive.bench.run_for(Duration::from_us(20));
    drive.submit(Op::Write, 2);
    drive.submit(Op::Write, 4);
    let written = drive.bench.host.device.metadata_written();
    drive.run_to_reprogram(|die, _| die.state() == State::Pulsing);
    let programs = drive.bench.host.device.metadata_written().programs - written.programs;
    assert_eq!(programs, 1, "the journal of trims");
    drive.bench.run_for(Duration::from_us(100));
    let found = drive.cut();
    assert_eq!((found.torn_reprograms, found.trims_undone), (1, 0));
    assert_eq!(drive.unit_of(0).or(drive.unit_of(1)), None, "the trims are durable");
    drive.check();
}

/// An operation without a pulse leaves no trace: the word line keeps its code and both pages.
#[test]
fn a_reprogram_that_has_not_pulsed_leaves_no_trace() {
    let mut drive = Ressd::new(true);
    drive.write(vec![0]);
    drive.run_to_reprogram(|die, _| die.state() != State::Pulsing);
    let found = drive.cut();
    assert_eq!((found.completed_reprograms, found.torn_word_lines, found.kept_units), (0, 0, 1));
    assert_eq!(drive.places()[1..], [1, 3, 4, 6, 7, 9, 10]);
    assert_eq!(drive.status().map(|status| status.reprograms), Some(1), "by the data of the saved cache");
    drive.check();
}

/// After each of two reprograms recovery reads the data that the word line got last, and the block is used further.
#[test]
fn recovery_reads_the_newest_generation_of_a_word_line() {
    let mut drive = Ressd::new(true);
    let opened = drive.bench.host.device.ftl_counters().reprogrammable_blocks;
    for (page, reprograms, distribution) in [(0, 1, Distribution::P2P5), (1, 2, Distribution::P3P6)] {
        drive.write(vec![page]);
        drive.settle();
        let before = drive.places();
        assert_eq!(before, [0, 1, 3, 4, 6, 7, 9, 10], "the new data are in the units of the old");
        let found = drive.cut();
        assert_eq!((found.completed_reprograms, found.torn_word_lines, found.kept_units), (0, 0, 0));
        assert_eq!(drive.places(), before);
        let status = drive.status().expect("the word line is whole");
        assert_eq!((status.reprograms, status.distribution), (reprograms, distribution));
    }
    // Both reprograms of word line 0 are used up: the next one is of word line 1, as the RPCnt in its spare bytes says.
    drive.write(vec![2]);
    drive.settle();
    assert_eq!(drive.places(), [0, 1, 3, 4, 6, 7, 9, 10]);
    let counters = drive.bench.host.device.ftl_counters();
    assert_eq!((counters.reprogrammable_blocks, counters.reprogrammed_units), (opened, 3));
    drive.check();
}

/// What cannot be reprogrammed takes longer to mount: each reprogrammed word line is read with the codes of fewer reprograms first.
#[test]
fn a_reprogrammed_word_line_takes_more_reads() {
    let mut drive = Ressd::new(true);
    let fresh = drive.cut();
    drive.write(vec![0]);
    drive.settle();
    let once = drive.cut();
    assert_eq!(once.oob_pages, fresh.oob_pages + 1);
}

/// A drive with reprogrammable blocks, and whatever else [`draw_features`] gives it.
fn draw_reprogramming_drive(rng: &mut Rng) -> DriveSpec {
    loop {
        let planes = pick(rng, &[1, 2]);
        let mut chips = part(Cells::Tlc, planes, pick(rng, &[24, 32]), pick(rng, &[4, 8]));
        if rng.below(4) == 0 {
            chips.program_mode = ProgramMode::Page;
        }
        let mut spec = draw_features(rng, chips, Cells::Tlc);
        spec.ftl.slc = None;
        spec.ftl.placement = PlacementPolicy::None;
        spec.ftl.over_provisioning = pick(rng, &[1.0, 1.6]);
        let ms = Duration::from_ms;
        let within = pick(rng, &[vec![ms(30)], vec![ms(100)], vec![ms(5), ms(50)]]);
        let by_unit = rng.below(2) == 0;
        spec.ftl.hotness = HotnessPolicy::UpdateInterval(UpdateInterval { within, by_unit });
        // Three of four drives have reprogrammable blocks; the others are drawn again.
        with_reprogramming(&mut spec, Streams::new(rng.next_u64()).stream("test.reprogram", 0));
        if spec.ftl.reprogram.is_some() && spec.check().is_ok() {
            return spec;
        }
    }
}

/// Before every second cut handles events until a die reprograms, before half of these until it is suspended meanwhile.
fn to_reprogram(bench: &mut Bench, rng: &mut Rng) {
    let (aims, at_suspended) = (rng.below(2) == 0, rng.below(2) == 0);
    for _ in 0..if aims { 3_000 } else { 0 } {
        let dies = bench.host.device.nand().dies().iter();
        let mut reprograms = dies.filter(|die| die.long().is_some_and(|op| op.reprograms.is_some()));
        if reprograms.any(|die| is_suspended(die) || !at_suspended && die.state() == State::Pulsing) {
            (0..rng.below(3)).for_each(|_| step(bench));
            return;
        }
        step(bench);
    }
}

/// Runs `count` worlds of the seeds from `first` on.
pub(crate) fn worlds(first: u64, count: u64) -> Met {
    let mut met = Met::default();
    (first..first + count)
        .for_each(|seed| world_of(seed, 8, &mut met, draw_reprogramming_drive, to_reprogram));
    println!("{met:?}");
    met
}

#[test]
fn a_cut_of_a_reprogramming_drive_loses_only_what_may_be_lost() {
    let met = worlds(0, 60);
    assert_eq!(met.cuts, 480);
    let (cut, suspended) = met.reprograms_cut;
    assert!(met.reprogrammed > 1_000, "{} units reprogrammed", met.reprogrammed);
    assert!(cut > 60 && suspended > 5, "{cut} reprograms on dies, {suspended} suspended");
    assert!(met.reprograms_torn > 10, "{} torn", met.reprograms_torn);
    assert!(met.reprograms_completed > 10, "{} completed", met.reprograms_completed);
}

/// Half of ten thousand cuts: 625 worlds with eight each.
fn half_of_ten_thousand(first: u64) {
    use std::io::Write;
    let met = worlds(first, 625);
    assert_eq!(met.cuts, 5_000);
    let line = format!(
        "cuts: {} of drives that reprogram, {} reprograms on dies, {} of them suspended, {} torn, {} completed by capacitors",
        met.cuts, met.reprograms_cut.0, met.reprograms_cut.1, met.reprograms_torn, met.reprograms_completed
    );
    writeln!(std::io::stdout(), "{line}").expect("standard output is open");
}

// Two tests, so that two cores share them; seeds that no other world has.

#[test]
#[ignore = "long: make verify"]
fn ten_thousand_cuts_with_reprograms_lose_nothing_protected() {
    half_of_ten_thousand(50_000_000);
}

#[test]
#[ignore = "long: make verify"]
fn the_other_half_of_ten_thousand_cuts_with_reprograms_loses_nothing_protected() {
    half_of_ten_thousand(60_000_000);
}
