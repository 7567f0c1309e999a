//! Do merges of log blocks cost what the arithmetic says, in units and in nanoseconds?

use crate::drive_common::{Bench, Cells, closed, filled, little, of_part, part};
use interpulse_drive::DriveSpec;
use interpulse_drive::FtlState;
use interpulse_drive::PreconditionedState;
use interpulse_drive::ftl::log_block::counters::LogBlockCounters;
use interpulse_drive::ftl::log_block::geometry::{BlockOffset, LogicalBlock};
use interpulse_drive::ftl::log_block::spec::{Association, LogBlockSpec, MergeExtent};
use interpulse_drive::numbers::Lpn;
use interpulse_drive::spec::Impossible;
use interpulse_engine::{Bytes, Op, Rng, Streams};
use interpulse_flash::geometry::Timing;
use interpulse_workload::{AddressSpec, BlockSize, FlowSpec, SyntheticSpec};
use std::collections::BTreeSet;
use std::io::{self, Write};

/// Units of a logical block of [`one_die`], each a program.
const UNITS: u32 = 24;

fn with_logs(mut spec: DriveSpec, log_blocks: u32, association: Association) -> DriveSpec {
    spec.ftl.log_blocks =
        Some(LogBlockSpec { merge: MergeExtent::Blocks, log_blocks, association, max_apart: None });
    spec
}

/// A die of SLC with 44 blocks of 24 pages of a unit, 32 of them data blocks.
fn one_die(log_blocks: u32, association: Association) -> DriveSpec {
    let mut spec = of_part(part(Cells::Slc, 1, 44, 4), 1, 1, 1);
    spec.ftl.over_provisioning = 0.375;
    spec.cache.size = Bytes::kib(64);
    with_logs(spec, log_blocks, association)
}

/// Writes of single units, one after the other, on a full drive.
struct Writer {
    bench: Bench,
    /// Units of a logical block, in its order, by logical block.
    units: Vec<Vec<Lpn>>,
}

impl Writer {
    fn new(spec: &DriveSpec) -> Writer {
        let geometry = spec.log_block_geometry().unwrap().unwrap();
        let block = |block| (0..geometry.units).map(|offset| geometry.unit(block, offset)).collect();
        let units = LogicalBlock::first(geometry.blocks).map(block).collect();
        Writer { bench: Bench::new(spec, filled(spec, 1.0), &[], 1), units }
    }

    /// Executes a command on a unit and lets everything end that it causes.
    fn run(&mut self, op: Op, block: u32, offset: u32) {
        let lpn = self.units[block as usize][offset as usize];
        self.bench.execute(op, u64::from(lpn.0) * 8, 8);
        while self.bench.step(self.bench.events.horizon()) {}
    }

    fn write(&mut self, block: u32, offset: u32) {
        self.run(Op::Write, block, offset);
    }

    fn counters(&self) -> LogBlockCounters {
        self.bench.host.device.log_block().unwrap().log_counters()
    }

    /// Merges of any kind, and units that they moved.
    fn merges(&self) -> (u64, u64) {
        let of = self.counters();
        let merges = of.switch_merges + of.partial_merges + of.full_merges;
        (merges, self.bench.host.device.ftl_counters().gc_units)
    }

    fn finish(mut self) {
        self.bench.host.device.read_everything();
        self.bench.finish();
    }
}

#[test]
fn every_unit_has_its_place_in_a_logical_block_of_its_lane() {
    let spec = with_logs(of_part(part(Cells::Tlc, 2, 24, 8), 2, 2, 1), 2, Association::Block);
    let (geometry, layout) = (spec.log_block_geometry().unwrap().unwrap(), spec.layout().unwrap());
    let mut seen = BTreeSet::new();
    for lpn in Lpn::first(geometry.logical_units()) {
        let BlockOffset { block, offset } = geometry.split(lpn);
        assert_eq!(geometry.unit(block, offset), lpn);
        assert!(seen.insert((block.0, offset)) && block.0 < geometry.blocks && offset < geometry.units);
    }
    let lanes: BTreeSet<u32> =
        LogicalBlock::first(layout.lanes).map(|block| geometry.lane(block).0).collect();
    assert_eq!(lanes.len(), layout.lanes as usize, "consecutive programs are on different lanes");
}

/// Whole log blocks become data blocks: every unit is programmed once.
#[test]
fn sequential_overwrites_cause_switch_merges_only_and_no_write_amplification() {
    for association in [Association::Block, Association::Full] {
        for (base, kib) in [(one_die(2, association), 4), (little(), 64)] {
            let spec = with_logs(base, 2, association);
            let of = SyntheticSpec {
                read_share: 0.0,
                write_share: 1.0,
                addresses: AddressSpec::Sequential,
                block_size: BlockSize::Fixed(Bytes::kib(kib)),
                ..SyntheticSpec::default()
            };
            let mut bench = Bench::new(&spec, filled(&spec, 1.0), &[closed("w", 1, of)], 1);
            let capacity = u64::from(spec.logical_units().unwrap());
            bench.run_requests(3 * capacity / (kib / 4));
            bench.host.close();
            bench.run_out();
            bench.host.device.read_everything();
            bench.finish();
            let drive = &bench.host.device;
            let (ftl, of) = (drive.ftl_counters(), drive.log_block().unwrap().log_counters());
            assert_eq!(ftl.write_amplification(), Some(1.0), "{association:?}: {ftl:?}");
            assert_eq!((of.partial_merges, of.full_merges, of.empty_log_blocks), (0, 0, 0));
            let blocks = capacity / u64::from(spec.layout().unwrap().units_per_block);
            assert!((2 * blocks..=3 * blocks).contains(&of.switch_merges), "{of:?}");
        }
    }
}

/// A full merge moves the block, a partial one what is missing, a switch nothing; what was trimmed is not moved.
#[test]
fn each_kind_of_merge_moves_what_it_must() {
    for association in [Association::Block, Association::Full] {
        let mut w = Writer::new(&one_die(1, association));
        (0..UNITS).for_each(|offset| w.write(3, offset));
        // The next stream, or logical block, needs the log block.
        (0..10).for_each(|offset| w.write(5, offset));
        assert_eq!((w.counters().switch_merges, w.merges()), (1, (1, 0)), "{association:?}");
        w.write(7, 0);
        assert_eq!((w.counters().partial_merges, w.merges()), (1, (2, u64::from(UNITS) - 10)));
        let before = w.merges().1;
        // A log block in no order: units 0 and 2 of logical block 7 with BAST, unit 2 with FAST, whose stream has unit 0.
        w.write(7, 2);
        (8..14).for_each(|offset| w.run(Op::Trim, 7, offset));
        if association == Association::Full {
            (0..UNITS - 1).for_each(|_| w.write(7, 2));
        }
        w.write(9, 4);
        assert_eq!((w.counters().full_merges, w.merges()), (1, (3, before + u64::from(UNITS) - 6)));
        assert_eq!(w.bench.host.device.ftl_counters().padding_units, 6, "in place of what was trimmed");
        w.finish();
    }
}

/// Logical blocks in turn, more than there are log blocks: with BAST each write merges the log block of another.
#[test]
fn block_association_thrashes() {
    const LOGS: u32 = 3;
    let mut w = Writer::new(&one_die(LOGS, Association::Block));
    let writes = 160;
    for k in 0..writes {
        w.write(k % 16, 1 + k / 16);
    }
    let full = u64::from(writes - LOGS);
    assert_eq!((w.counters().full_merges, w.merges()), (full, (full, full * u64::from(UNITS))));
    let waf = w.bench.host.device.ftl_counters().write_amplification().unwrap();
    let expected = f64::from(writes + (writes - LOGS) * UNITS) / f64::from(writes);
    assert!((waf - expected).abs() < 1e-12, "{waf}, not {expected}");
    w.finish();
}

/// Random single units of 16 logical blocks, none the first or the last of its block.
fn random_writes(count: u32) -> Vec<[u32; 2]> {
    let mut rng: Rng = Streams::new(7).stream("test.writes", 0);
    (0..count).map(|_| [rng.below(16) as u32, 1 + rng.below(u64::from(UNITS) - 2) as u32]).collect()
}

/// Merges of BAST by the definition: of the least recently used log block, or of the own one when it is full.
fn merges_by_block(writes: &[[u32; 2]], logs: usize) -> u64 {
    // Logical blocks with their units in log blocks, the most recently used last.
    let mut open: Vec<(u32, u32)> = Vec::new();
    let mut merges = 0;
    for &[block, _] in writes {
        let own = open.iter().position(|&(of, _)| of == block).map(|place| open.remove(place));
        let written = match own {
            Some((_, UNITS)) => {
                merges += 1;
                0
            }
            Some((_, written)) => written,
            None if open.len() == logs => {
                open.remove(0);
                merges += 1;
                0
            }
            None => 0,
        };
        open.push((block, written + 1));
    }
    merges
}

/// With as many super blocks, FAST merges a log block of 24 writes for the logical blocks in it, of which L draws of 16 hit
/// 16 (1 - (15/16)^24) = 12.6 in the mean; BAST merges at each write whose logical block is not among the two of 16 that have
/// a log block: 7/8. The factor is 0.875 * 24 / 12.6 = 1.67.
#[test]
fn full_association_merges_less_often_by_the_factor_of_the_arithmetic() {
    let writes = random_writes(1_200);
    let run = |logs, association| {
        let mut w = Writer::new(&one_die(logs, association));
        writes.iter().for_each(|&[block, offset]| w.write(block, offset));
        let (merges, moved) = w.merges();
        // What the write that waits overwrites is not moved, but a place is left for it.
        let left = w.bench.host.device.ftl_counters().padding_units;
        assert_eq!((w.counters().full_merges, moved + left), (merges, merges * u64::from(UNITS)));
        w.finish();
        merges
    };
    // FAST has one log block for random writes, and the one for a stream, which no write begins.
    let (bast, fast) = (run(2, Association::Block), run(1, Association::Full));
    assert_eq!(bast, merges_by_block(&writes, 2));
    // A full log block is merged for the next write, which has overwritten its unit in the cache.
    let merges = |k: usize| {
        let log = &writes[k - UNITS as usize..k];
        let newest = log.iter().filter(|&&unit| unit != writes[k]);
        newest.map(|of| of[0]).collect::<BTreeSet<u32>>().len() as u64
    };
    assert_eq!(fast, (UNITS as usize..writes.len()).step_by(UNITS as usize).map(merges).sum::<u64>());
    let factor = bast as f64 / fast as f64;
    let distinct = 16.0 * (1.0 - (15.0f64 / 16.0).powi(24));
    let expected = (1.0 - 2.0 / 16.0) * f64::from(UNITS) / distinct;
    println!("BAST {bast} merges, FAST {fast}: factor {factor:.3}, expected {expected:.3}");
    assert!((factor / expected - 1.0).abs() < 0.06, "{factor} against {expected}");
}

/// A full merge on one die: 24 times the read of a page, its decoding, and its program; then the erases.
#[test]
fn a_merge_takes_the_time_of_its_reads_programs_and_erases() {
    let spec = one_die(1, Association::Block);
    let mut w = Writer::new(&spec);
    w.write(0, 5);
    let sector = u64::from(w.units[1][4].0) * 8;
    w.bench.execute(Op::Write, sector, 8);
    let reached = |w: &mut Writer, done: &dyn Fn(&Writer) -> bool| {
        while !done(w) {
            assert!(w.bench.step(w.bench.events.horizon()));
        }
        w.bench.events.now()
    };
    // The merge has begun when the data of the second write was in the cache.
    assert_eq!(w.counters().full_merges, 1);
    let timing = Timing::new(&spec.part, spec.geometry.unit_bytes);
    let train = |of: &interpulse_flash::parts::TrainSpec| u64::from(of.loops) * of.loop_time().as_ns();
    let read = (timing.command + timing.read[0] + timing.transfer_units[1]).as_ns();
    let load = (timing.command + timing.page_load + timing.buffer_setup).as_ns();
    let program = load + train(&spec.part.program);
    let page = read + spec.nand.ecc_latency.as_ns() + program;
    let erase = timing.command.as_ns() + train(&spec.part.erase);
    let moved = |count| move |w: &Writer| w.bench.host.device.nand().counters.gc_programs == count;
    let first = reached(&mut w, &moved(1));
    let last = reached(&mut w, &moved(u64::from(UNITS)));
    assert_eq!(last.since(first).as_ns(), u64::from(UNITS - 1) * page);
    let erased = |count| move |w: &Writer| w.bench.host.device.ftl_counters().erases == count;
    let each = [1, 2].map(|count| reached(&mut w, &erased(count)).since(last).as_ns());
    // The data block, then the log block.
    assert_eq!(each, [erase, 2 * erase]);
    let written = reached(&mut w, &|w| w.bench.host.device.ftl_counters().host_units == 2);
    assert_eq!(written.since(last).as_ns(), 2 * erase + program);
    w.finish();
}

#[test]
fn a_flush_waits_for_what_is_in_the_cache_and_pads_programs() {
    for association in [Association::Block, Association::Full] {
        let spec = with_logs(little(), 2, association);
        let mut bench = Bench::new(&spec, filled(&spec, 0.5), &[], 1);
        (0..5).for_each(|k| {
            bench.execute(Op::Write, 4096 * k, 8);
        });
        assert_eq!(bench.host.device.ftl_counters().host_units, 0);
        bench.execute(Op::Flush, 0, 0);
        let ftl = bench.host.device.ftl_counters();
        assert_eq!((ftl.host_units, bench.host.device.cache_used()), (5, 0), "{association:?}");
        assert_eq!((ftl.host_units + ftl.padding_units) % 6, 0);
        bench.host.device.read_everything();
        bench.finish();
    }
}

/// Reads stop the programs of merges as they do those of garbage collection.
#[test]
fn reads_suspend_the_programs_and_erases_of_merges() {
    let mean = |suspends: bool| {
        let mut spec = one_die(2, Association::Block);
        if suspends {
            let costs = interpulse_flash::suspend::SuspendCosts {
                entry: interpulse_engine::Duration::from_us(3),
                resume: interpulse_engine::Duration::from_us(5),
                reset: interpulse_engine::Duration::from_us(4),
            };
            let of = interpulse_flash::suspend::SuspendPolicy::unlimited(
                interpulse_flash::suspend::Scheme::LoopBoundary,
                costs,
            );
            (spec.nand.program_suspend, spec.nand.erase_suspend) = (of.clone(), of);
        }
        let write = SyntheticSpec { read_share: 0.0, write_share: 1.0, ..SyntheticSpec::default() };
        let flows: [FlowSpec; 2] = [closed("r", 1, SyntheticSpec::default()), closed("w", 1, write)];
        let mut bench = Bench::new(&spec, filled(&spec, 1.0), &flows, 1);
        bench.run_requests(3_000);
        bench.finish();
        let drive = &bench.host.device;
        let of = drive.nand().counters;
        assert_eq!(suspends, of.program_suspends > 100 && of.erase_suspends > 10, "{of:?}");
        assert!(drive.log_block().unwrap().log_counters().full_merges > 10);
        let read = &bench.host.window.flows[0].read;
        read.sum_ns() as f64 / read.count() as f64
    };
    let (without, with) = (mean(false), mean(true));
    println!("mean read {:.1} us, with suspension {:.1} us", without / 1e3, with / 1e3);
    assert!(with < 0.8 * without);
}

#[test]
fn a_saved_state_is_read_back_and_a_damaged_one_is_refused() {
    let spec = with_logs(little(), 2, Association::Full);
    let mut bytes = Vec::new();
    let mut sink = |piece: &[u8]| {
        bytes.extend_from_slice(piece);
        Ok::<(), io::Error>(())
    };
    filled(&spec, 0.6).save(0, &mut sink).unwrap();
    assert_eq!(bytes.len() as u64, PreconditionedState::file_bytes(&spec, 0));
    let read = |bytes: &[u8]| {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let rng = Streams::new(1).stream("unused", 0);
        let seen = &mut |_: &[u8]| Ok::<(), io::Error>(());
        PreconditionedState::of_file(&spec, rng, &file, 0, true, seen).unwrap()
    };
    let (again, contradiction) = read(&bytes);
    assert_eq!(contradiction, None);
    let mut same = Vec::new();
    let saved: Result<(), io::Error> = again.save(0, &mut |piece| {
        same.extend_from_slice(piece);
        Ok(())
    });
    saved.unwrap();
    assert!(same == bytes);
    // The number of units only if another logical block has none; then every number but P/E cycles and padding.
    let from = 4 + 4 * spec.layout().unwrap().super_blocks() as usize;
    let damaged = (from..bytes.len()).step_by(4).filter(|&at| bytes[at..at + 4] != [0xff; 4]);
    for at in damaged.step_by(3) {
        let mut other = bytes.clone();
        other[at] ^= 1;
        assert!(read(&other).1.is_some(), "the number at byte {at} was changed");
    }
    bytes[3] = 0x7f;
    assert!(read(&bytes).1.is_some_and(|why| why.contains("units have data")));
}

#[test]
fn too_few_blocks_are_refused() {
    let refused = |spec: DriveSpec| match spec.check() {
        Err(Impossible { message, keys }) => (message, keys[0].to_string()),
        Ok(()) => panic!("it was accepted"),
    };
    assert_eq!(one_die(10, Association::Full).check(), Ok(()));
    assert_eq!(one_die(11, Association::Block).check(), Ok(()));
    let (message, key) = refused(one_die(11, Association::Full));
    assert!(message.contains("a lane has 44 super blocks: 32 data blocks and 13"), "{message}");
    assert_eq!(key, "ftl.log-blocks");
}
