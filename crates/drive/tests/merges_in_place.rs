//! Do merges in place erase and program the sub-blocks that they must, and no others, at the instants of the arithmetic?
//!
//! A die of SLC with 44 blocks in four sub-blocks of six pages, each a unit and a program. One page: command 200 ns, tR 40 us, 4,608
//! bytes at 800 MB/s 5,760 ns, ECC 4 us, together 49,960 ns; its program: command, load, 1 us of set-up and four loops of 50 us,
//! together 206,960 ns. An erase: command and three loops of 400 us, together 1,200,200 ns.

use crate::drive_common::{Bench, Cells, errors, filled, of_part, part};
use interpulse_drive::ftl::log_block::counters::LogBlockCounters;
use interpulse_drive::ftl::log_block::geometry::LogicalBlock;
use interpulse_drive::ftl::log_block::spec::{Association, LogBlockSpec, MergeExtent};
use interpulse_drive::numbers::Lpn;
use interpulse_drive::spec::Impossible;
use interpulse_drive::{DriveSpec, FtlState, PreconditionedState, Supplement};
use interpulse_engine::{Bytes, Duration, Op, Request, SimTime, Streams, Tag};
use interpulse_flash::DieId;
use interpulse_flash::geometry::BlockAddress;
use interpulse_flash::ids::BlockId;
use interpulse_flash::parts::{PartSpec, SubBlockSpec, SubBlocks};
use interpulse_flash::suspend::{Scheme, SuspendCosts, SuspendPolicy};
use std::io::{self, Write};

/// Units of a sub-block.
const APART: u32 = 6;

const READ: u64 = 49_960;
const DECODE: u64 = 4_000;
const PROGRAM: u64 = 206_960;
const ERASE: u64 = 1_200_200;

/// The drive, with 32 data blocks; `count` 1 merges whole blocks.
fn drive(count: u32, log_blocks: u32, association: Association) -> DriveSpec {
    let whole = part(Cells::Slc, 1, 44, 4);
    let part = PartSpec {
        blocks_per_plane: whole.blocks_per_plane * count,
        pages_per_block: whole.pages_per_block / count,
        layers: whole.layers / count,
        sub_blocks: SubBlocks { count, ..SubBlocks::ONE },
        ..whole
    };
    let mut spec = of_part(part, 1, 1, 1);
    spec.ftl.over_provisioning = 0.375;
    spec.cache.size = Bytes::kib(64);
    let merge = if count > 1 { MergeExtent::SubBlocks } else { MergeExtent::Blocks };
    spec.ftl.log_blocks = Some(LogBlockSpec { merge, log_blocks, association, max_apart: None });
    spec
}

fn bast() -> DriveSpec {
    drive(4, 1, Association::Block)
}

/// Writes of single units, one after the other, on a drive that is full up to `share`.
struct Writer {
    bench: Bench,
    /// Units of a logical block, in its order, by logical block.
    units: Vec<Vec<Lpn>>,
}

impl Writer {
    fn filled(spec: &DriveSpec, share: f64) -> Writer {
        let geometry = spec.log_block_geometry().unwrap().unwrap();
        let block = |block| (0..geometry.units).map(|offset| geometry.unit(block, offset)).collect();
        let units = LogicalBlock::first(geometry.blocks).map(block).collect();
        Writer { bench: Bench::new(spec, filled(spec, share), &[], 1), units }
    }

    fn new(spec: &DriveSpec) -> Writer {
        Writer::filled(spec, 1.0)
    }

    /// The drive again, after its state went through a file.
    fn restored(mut self, spec: &DriveSpec) -> Writer {
        self.bench.host.close();
        self.bench.run_out();
        let parked = self.bench.host.device.parked_state().unwrap();
        let mut file = tempfile::tempfile().unwrap();
        parked.save(0, &mut |piece| file.write_all(piece)).unwrap();
        let rng = Streams::new(1).stream("unused", 0);
        let seen = &mut |_: &[u8]| Ok::<(), io::Error>(());
        let (mut state, why) = PreconditionedState::of_file(spec, rng, &file, 0, true, seen).unwrap();
        assert_eq!(why, None);
        let numbers = parked.supplement();
        let mut supplement = Supplement::new(&numbers);
        assert_eq!(state.restore(&mut supplement), Ok(()));
        assert_eq!(supplement.end(), Ok(()));
        Writer { bench: Bench::new(spec, state, &[], 1), units: self.units }
    }

    fn sector(&self, block: u32, offset: u32) -> u64 {
        u64::from(self.units[block as usize][offset as usize].0) * 8
    }

    /// Executes a command on a unit and lets everything end that it causes.
    fn run(&mut self, op: Op, block: u32, offset: u32) {
        let sector = self.sector(block, offset);
        self.bench.execute(op, sector, 8);
        while self.bench.step(self.bench.events.horizon()) {}
    }

    fn write(&mut self, block: u32, offset: u32) {
        self.run(Op::Write, block, offset);
    }

    /// Steps until `done`; returns the instant.
    fn until(&mut self, done: impl Fn(&Writer) -> bool) -> SimTime {
        while !done(self) {
            assert!(self.bench.step(self.bench.events.horizon()), "it never happens");
        }
        self.bench.events.now()
    }

    fn logs(&self) -> LogBlockCounters {
        self.bench.host.device.log_block().unwrap().log_counters()
    }

    /// Merges in place, full and partial ones, and units that all of them moved.
    fn merges(&self) -> [u64; 4] {
        let of = self.logs();
        let moved = self.bench.host.device.ftl_counters().gc_units;
        [of.in_place_merges, of.full_merges, of.partial_merges, moved]
    }

    fn gc_reads(&self) -> u64 {
        self.bench.host.device.nand().counters.gc_reads
    }

    fn gc_programs(&self) -> u64 {
        self.bench.host.device.nand().counters.gc_programs
    }

    fn erases(&self) -> u64 {
        self.bench.host.device.ftl_counters().erases
    }

    fn finish(mut self) {
        self.bench.host.device.read_everything();
        self.bench.finish();
    }
}

/// One unit of a logical block has a newer version. In place: 6 reads, an erase, 6 programs, the erase of the log block: 3,941,920
/// ns. Whole: 24 reads and programs and two erases, 8,566,480 ns. Then follows the program that waited.
#[test]
fn a_merge_in_place_takes_the_time_of_one_sub_block() {
    let mut w = Writer::new(&bast());
    w.write(0, 9);
    w.bench.execute(Op::Write, w.sector(1, 4), 8);
    let first_read = w.until(|w| w.gc_reads() == 1);
    let last_read = w.until(|w| w.gc_reads() == 6);
    assert_eq!(last_read.since(first_read).as_ns(), 5 * READ);
    let erased = w.until(|w| w.erases() == 1);
    assert_eq!(w.logs().sub_block_erases, 1);
    let first_program = w.until(|w| w.gc_programs() == 1);
    assert_eq!(first_program.since(erased).as_ns(), PROGRAM);
    let last_program = w.until(|w| w.gc_programs() == 6);
    assert_eq!(last_program.since(erased).as_ns(), 6 * PROGRAM);
    let log_erased = w.until(|w| w.erases() == 2);
    assert_eq!(log_erased.since(erased).as_ns(), 6 * PROGRAM + ERASE);
    let written = w.until(|w| w.bench.host.device.ftl_counters().host_units == 2);
    assert_eq!(written.since(log_erased).as_ns(), PROGRAM);
    // A read counts when its data has left the die, READ - DECODE after the merge began.
    assert_eq!(erased.since(last_read).as_ns(), DECODE + ERASE);
    let in_place = log_erased.since(first_read).as_ns() + READ - DECODE;
    assert_eq!(in_place, 3_941_920);
    assert_eq!((w.gc_reads(), w.gc_programs(), w.merges()), (6, 6, [1, 0, 0, 6]));
    assert_eq!(w.logs().units_left_in_place, 18);
    w.finish();

    let mut w = Writer::new(&drive(1, 1, Association::Block));
    w.write(0, 9);
    w.bench.execute(Op::Write, w.sector(1, 4), 8);
    let first_read = w.until(|w| w.gc_reads() == 1);
    let log_erased = w.until(|w| w.erases() == 2);
    assert_eq!(log_erased.since(first_read).as_ns() + READ - DECODE, 8_566_480);
    w.finish();
}

/// While its sub-block is erased, a unit is read from the memory of the merge; a unit of another sub-block waits for the erase.
#[test]
fn units_of_the_erased_sub_block_are_read_from_memory() {
    let read_during_erase = |offset: u32| {
        let mut w = Writer::new(&bast());
        w.write(0, 9);
        w.bench.execute(Op::Write, w.sector(1, 4), 8);
        w.until(|w| w.gc_reads() == 6);
        // Its data is decoded before the firmware has the read.
        let (from, reads) = (w.bench.events.now(), w.bench.host.device.nand().counters.host_reads);
        w.bench.execute(Op::Read, w.sector(0, offset), 8);
        let taken = w.bench.events.now().since(from).as_ns();
        assert_eq!(w.erases(), u64::from(offset < 6), "the erase was {}", taken);
        let flash = w.bench.host.device.nand().counters.host_reads - reads;
        while w.bench.step(w.bench.events.horizon()) {}
        w.finish();
        (flash, taken)
    };
    // Unit 7 is in the sub-block of unit 9, unit 3 in another.
    let (flash, taken) = read_during_erase(7);
    assert!(flash == 0 && taken < 40_000, "{taken}");
    let (flash, taken) = read_during_erase(3);
    assert!(flash == 1 && taken > 1_000_000, "{taken}");
}

/// The erase of a sub-block begins DECODE after the last read of the merge, its first loop ends 400,200 ns later; then follow 3 us of
/// entry, the host read (command, tR, bus), 5 us of resume and two loops.
#[test]
fn reads_stop_the_erase_of_a_sub_block() {
    let mut spec = bast();
    let us = Duration::from_us;
    let costs = SuspendCosts { entry: us(3), resume: us(5), reset: us(0) };
    spec.nand.erase_suspend = SuspendPolicy::unlimited(Scheme::LoopBoundary, costs);
    let mut w = Writer::new(&spec);
    w.write(0, 9);
    w.bench.execute(Op::Write, w.sector(1, 4), 8);
    let last_read = w.until(|w| w.gc_reads() == 6);
    let request = Request::new(Op::Read, w.sector(0, 3), 8);
    w.bench.host.submit(&mut w.bench.events, 0, Tag(0), request);
    let read = w.until(|w| w.bench.host.device.nand().counters.host_reads == 1);
    assert_eq!(read.since(last_read).as_ns(), DECODE + 400_200 + 3_000 + READ - DECODE);
    let erased = w.until(|w| w.erases() == 1);
    assert_eq!(erased.since(read).as_ns(), 5_000 + 800_000);
    assert_eq!(w.bench.host.device.nand().counters.erase_suspends, 1);
    while w.bench.step(w.bench.events.horizon()) {}
    w.finish();
}

/// 12 programs and 2 erases of sub-blocks take 5,280 us at 240 us for the copy of a page, 24 and one erase 6,960 us; three
/// sub-blocks would take 7,920 us.
#[test]
fn a_merge_is_in_place_where_that_takes_less_time() {
    let merged = |units: &[u32]| {
        let mut w = Writer::new(&bast());
        units.iter().for_each(|&offset| w.write(0, offset));
        w.write(1, 4);
        let (merges, erases) = (w.merges(), w.erases());
        w.finish();
        (merges, erases)
    };
    assert_eq!(merged(&[9]), ([1, 0, 0, 6], 2));
    assert_eq!(merged(&[9, 10, 11]), ([1, 0, 0, 6], 2));
    assert_eq!(merged(&[9, 0]), ([1, 0, 0, 12], 3));
    assert_eq!(merged(&[9, 0, 23]), ([0, 1, 0, 24], 2));
    // Written in order so far: 8 of 24 units would leave 16 to copy to the log block, 3,840 us; two sub-blocks take 5,280 us.
    // One unit leaves 23, 5,520 us, and its sub-block takes 2,640 us.
    let in_order = |count: u32| merged(&(0..count).collect::<Vec<_>>());
    assert_eq!(in_order(8), ([0, 0, 1, 16], 1));
    assert_eq!(in_order(1), ([1, 0, 0, 6], 2));
}

/// With FAST a log block of 24 writes to three logical blocks, of two sub-blocks each, moves 36 units instead of 72.
#[test]
fn full_association_merges_each_logical_block_in_place() {
    let mut w = Writer::new(&drive(4, 1, Association::Full));
    for k in 0..24 {
        // Units 7, 8, 13 and 14.
        w.write(k % 3, [7, 8, 13, 14][(k / 3 % 4) as usize]);
    }
    assert_eq!(w.merges(), [0; 4]);
    w.write(5, 3);
    assert_eq!(w.merges(), [3, 0, 0, 36]);
    // Two of each logical block, and the log block.
    assert_eq!((w.erases(), w.logs().sub_block_erases, w.logs().units_left_in_place), (7, 6, 36));
    w.finish();
}

/// A sub-block that holds nothing is programmed without an erase; what was trimmed is not moved, and what the host has
/// overwritten since leaves nothing to merge.
#[test]
fn empty_sub_blocks_are_not_erased_and_trimmed_units_not_moved() {
    // Logical block 16 is the first without data.
    let mut w = Writer::filled(&bast(), 0.5);
    (0..APART + 1).for_each(|offset| w.write(16, offset));
    w.write(1, 4);
    // It had no data block: its log block became one, and has 7 programs.
    assert_eq!((w.merges(), w.erases()), ([0, 0, 1, 0], 0));
    w.write(16, 20);
    // In place for unit 4 of block 1, whose log block is needed.
    assert_eq!((w.merges(), w.erases()), ([1, 0, 1, 6], 2));
    w.write(2, 4);
    // Sub-block 3 of block 16 was erased: three programs of it, two of them padding, and the log block.
    assert_eq!((w.merges(), w.erases()), ([2, 0, 1, 7], 3));
    assert_eq!(w.bench.host.device.ftl_counters().padding_units, 2);
    for offset in [6, 7, 8] {
        w.run(Op::Trim, 2, offset);
    }
    w.write(2, 10);
    w.write(3, 4);
    // Sub-blocks 0 and 1 of block 2, three units of which are gone.
    assert_eq!((w.merges(), w.erases()), ([3, 0, 1, 7 + 9], 6));
    w.finish();
}

/// After so many erases of single sub-blocks a data block is copied and erased whole, and the count begins anew.
#[test]
fn a_limit_of_erases_of_sub_blocks_leads_to_full_merges() {
    let mut spec = bast();
    spec.ftl.log_blocks.as_mut().unwrap().max_apart = Some(3);
    let mut w = Writer::new(&spec);
    // Each write of block 0 is merged for the next one of block 1, and back.
    let mut full = Vec::new();
    for k in 0..24 {
        w.write(k % 2, 9);
        full.push(w.logs().full_merges);
    }
    // Of block 0 merges 1 to 3 are in place and the fourth is not; so of block 1. Write 0 merges nothing.
    let of_one = |merges: u64| merges / 4;
    let expected: Vec<u64> = (0..24).map(|k: u64| of_one(k.div_ceil(2)) + of_one(k / 2)).collect();
    assert_eq!(full, expected);
    w.finish();
}

/// A drive whose state was saved continues with the erases that its data blocks have had.
#[test]
fn a_saved_state_has_the_erases_of_sub_blocks() {
    let mut spec = bast();
    spec.ftl.log_blocks.as_mut().unwrap().max_apart = Some(3);
    let full_merges = |saved_before: Option<u32>| {
        let (mut w, mut earlier) = (Writer::new(&spec), 0);
        let full: Vec<u64> = (0..16)
            .map(|k| {
                if saved_before == Some(k) {
                    earlier = w.logs().full_merges;
                    w = std::mem::replace(&mut w, Writer::new(&spec)).restored(&spec);
                }
                w.write(k % 2, 9);
                earlier + w.logs().full_merges
            })
            .collect();
        w.finish();
        full
    };
    let expected = full_merges(None);
    assert_eq!(expected.last(), Some(&3));
    for k in [1, 6, 9] {
        assert_eq!(full_merges(Some(k)), expected);
    }
}

/// The erase of a log block is one operation that wears every sub-block by a cycle; that of a sub-block wears the others by its
/// share, and disturbs those that hold data.
#[test]
fn wear_and_disturb_are_those_of_each_sub_block() {
    let mut spec = bast();
    let of = SubBlockSpec { erase_loops: None, wear: 0.5, disturb: 100 };
    spec.part.sub_blocks.spec = of;
    spec.nand.errors = Some(errors(1, &[0.0]).into());
    let mut w = Writer::new(&spec);
    // Data block 0 is block 0 of the plane: sub-blocks 0 to 3. The log block is the first erased one: sub-blocks 128 to 131.
    for _ in 0..2 {
        w.write(0, 9);
        w.write(1, 9);
    }
    let nand = w.bench.host.device.nand();
    // Three merges, two of block 0: as many erases of sub-blocks and of log blocks.
    assert_eq!((w.logs().in_place_merges, w.erases(), nand.counters.erases), (3, 6, 6));
    assert_eq!(nand.counters.sub_block_disturbs, 3 * 3);
    let blocks = nand.dies()[0].blocks();
    let stress = [0, 1, 2, 3, 4].map(|block| blocks.stress_cycles(0, BlockId(block)));
    assert_eq!(stress, [1, 0, 1, 1, 0], "twice half a cycle beside sub-block 1, once beside 5");
    let reliability = nand.reliability().expect("there are errors");
    let cycles =
        |block| reliability.block(BlockAddress { die: DieId(0), plane: 0, block: BlockId(block) }).cycles;
    assert_eq!([0, 1, 2, 5].map(cycles), [0, 2, 0, 1]);
    assert_eq!([128, 129, 130, 131].map(cycles), [1; 4]);
    w.finish();
}

/// A read that may have to be repeated delays the erase of its sub-block, not that of another.
#[test]
fn repeatable_reads_delay_the_erase_of_their_sub_block() {
    let mut spec = bast();
    spec.nand.errors = Some(errors(1, &[0.0]).into());
    let merged = |offset: Option<u32>| {
        let mut w = Writer::new(&spec);
        w.write(0, 9);
        w.bench.execute(Op::Write, w.sector(1, 4), 8);
        w.until(|w| w.gc_reads() == 5);
        let from = w.bench.events.now();
        if let Some(offset) = offset {
            let request = Request::new(Op::Read, w.sector(0, offset), 8);
            w.bench.host.submit(&mut w.bench.events, 0, Tag(0), request);
        }
        let erased = w.until(|w| w.erases() == 1);
        while w.bench.step(w.bench.events.horizon()) {}
        w.finish();
        erased.since(from).as_ns()
    };
    // Either read has the die before the erase; that of the same sub-block has to be decoded first.
    let [alone, other, same] = [None, Some(20), Some(8)].map(merged);
    assert!(other > alone && other < alone + 60_000, "{alone} {other}");
    assert_eq!(same - other, DECODE);
}

#[test]
fn what_is_not_modelled_is_refused() {
    let refused = |change: &dyn Fn(&mut DriveSpec)| {
        let mut spec = bast();
        change(&mut spec);
        match spec.check() {
            Err(Impossible { message, keys }) => (message, keys.iter().map(ToString::to_string).collect()),
            Ok(()) => panic!("it was accepted"),
        }
    };
    let (message, keys): (String, Vec<String>) = refused(&|spec| spec.geometry.sub_blocks = 1);
    assert!(message.contains("give part.sub-blocks above 1"), "{message}");
    assert_eq!(keys, ["ftl.log-block-merge", "part.sub-blocks"]);
    // 2 % of 176 sub-blocks are 4, of 44 blocks one; 1 % are 2.
    let (message, keys) = refused(&|spec| spec.ftl.bad_block_reserve = 0.01);
    assert!(message.contains("174 blocks of a plane hold data"), "{message}");
    assert_eq!(keys[0], "ftl.bad-block-reserve");
}
