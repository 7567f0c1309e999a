//! *Can a write stream use blocks in another cell mode?* Host data or relocated data in blocks with one or two bits per cell, beside native
//! ones: addresses, capacity, collection and power loss follow the mode of each block.

use crate::drive_common::{Bench, Cells, closed, errors, mix, of_part, part, preconditioned};
use interpulse_drive::PreconditionedState;
use interpulse_drive::drive::Drive;
use interpulse_drive::ftl::layout::Layout;
use interpulse_drive::ftl::page::blocks::program_address::ProgramAddress;
use interpulse_drive::ftl::page::placement::stripe::Allocation;
use interpulse_drive::ftl::{BlockManager, Stream};
use interpulse_drive::numbers::{Lane, SuperBlock};
use interpulse_drive::spec::{Acknowledge, DriveSpec, PowerLossSpec};
use interpulse_engine::{Bytes, Device, Duration, Streams};
use interpulse_flash::cell_mode::CellMode;
use interpulse_flash::hold_up::Placement;
use interpulse_flash::reprogram::Bit;
use std::collections::BTreeSet;
use std::sync::Arc;

use CellMode::{Mlc, Native, Slc};

fn drive(cells: Cells, planes: u32) -> DriveSpec {
    let mut spec = of_part(part(cells, planes, 24, 8), 2, 1, 1);
    spec.ftl.multi_plane = planes;
    spec.ftl.over_provisioning = 1.2;
    spec.ftl.gc_soft = 0.15;
    spec.ftl.gc_hard = 0.07;
    // Small, so that most writes reach flash.
    spec.cache.size = Bytes::kib(512);
    spec
}

/// A state whose streams of host data and of garbage collection open super blocks in these modes.
fn state(spec: &DriveSpec, modes: [CellMode; 2]) -> PreconditionedState {
    let mut ftl = preconditioned(spec, 1.0, 1.0, 3).into_block_manager();
    for (stream, mode) in [Stream::HOST, Stream::GC].into_iter().zip(modes) {
        ftl.set_stream_mode(stream, mode);
    }
    PreconditionedState::Page(ftl)
}

/// Checks each super block against its die and its capacity; returns the modes of those with valid units.
fn check_blocks(drive: &Drive) -> BTreeSet<u8> {
    let (blocks, layout) = (drive.block_manager(), drive.layout());
    let mut found = BTreeSet::new();
    for super_block in SuperBlock::first(layout.super_blocks()) {
        let mode = blocks.cell_mode(super_block);
        let valid = blocks.map().valid_units(super_block);
        let most = layout.units_per_block_in(mode);
        assert!(valid <= most, "{valid} units are valid in block {super_block} of {most}");
        let (lane, block) = layout.lane_of(super_block);
        let (die, plane) = layout.die_of(lane);
        let on_die = drive.nand().dies()[die.index()].blocks();
        if on_die.programmed(plane, block) > 0 {
            assert_eq!(on_die.mode(plane, block), mode, "block {super_block}");
        }
        let bits = mode.pages_per_word_line(drive.spec().geometry.pages_per_word_line);
        for offset in (0..layout.units_per_block).filter(|&offset| blocks.map().is_valid(super_block, offset))
        {
            let page = layout.place_in(super_block, offset).page;
            assert!(page % drive.spec().geometry.pages_per_word_line < bits, "page {page} in {mode:?} mode");
        }
        if valid > 0 {
            found.insert(mode as u8);
        }
    }
    found
}

#[test]
fn data_of_a_stream_is_written_collected_and_read_in_the_mode_of_the_stream() {
    for (cells, planes, modes) in [
        (Cells::Tlc, 1, [Slc, Native]),
        (Cells::Tlc, 2, [Slc, Native]),
        (Cells::Tlc, 2, [Mlc, Native]),
        (Cells::Tlc, 2, [Mlc, Slc]),
        (Cells::MlcPages, 2, [Slc, Native]),
        (Cells::MlcPages, 1, [Native, Slc]),
        (Cells::Slc, 2, [Slc, Slc]),
    ] {
        for (through, stripe, fails) in [(false, false, false), (true, false, true), (false, true, false)] {
            let mut spec = drive(cells, planes);
            if modes[1] != Native && cells != Cells::Slc {
                // All data fits into blocks with one bit per cell.
                spec.ftl.over_provisioning = 0.9 * f64::from(spec.part.bits_per_cell);
            }
            if through {
                spec.cache.acknowledge = Acknowledge::WhenProgrammed;
            }
            if stripe {
                spec.ftl.allocation = Allocation::all()[1].1;
            }
            if fails && !modes.contains(&Mlc) {
                let mut rates = errors(spec.part.bits_per_cell as usize, &[8e-3, 4e-3, 1e-3]);
                rates.reclaim_reads = Some(200);
                spec.nand.errors = Some(Arc::new(rates));
            }
            let what = format!("{cells:?} {planes} {modes:?} {through} {stripe} {fails}");
            let mut bench = Bench::new(&spec, state(&spec, modes), &[closed("f", 16, mix(0.3))], 1);
            let mut seen = BTreeSet::new();
            for _ in 0..3 {
                bench.run_requests(3_000);
                seen.append(&mut check_blocks(&bench.host.device));
            }
            bench.finish();
            bench.host.device.read_everything();
            bench.host.device.audit(bench.events.now(), 1).unwrap();
            let counters = bench.host.device.ftl_counters();
            assert!(counters.erases > 20 && counters.gc_units > 100, "{what}: {counters:?}");
            assert!(modes.iter().all(|&mode| seen.contains(&(mode as u8))), "{what}: {seen:?}");
        }
    }
}

#[test]
fn power_may_be_lost_whatever_the_mode() {
    for (cells, planes, modes) in [
        (Cells::Tlc, 2, [Slc, Native]),
        (Cells::MlcPages, 2, [Slc, Native]),
        (Cells::MlcPages, 1, [Native, Slc]),
        (Cells::Tlc, 1, [Mlc, Native]),
    ] {
        let mut spec = drive(cells, planes);
        spec.ftl.over_provisioning = if modes[1] == Native { 1.2 } else { 5.0 };
        spec.power_loss = Some(PowerLossSpec {
            at: None,
            off_for: Duration::from_ms(1),
            checkpoint_every: Duration::from_ms(5),
            save_to: Placement::FirstFree,
            capacitor: None,
        });
        let mut bench = Bench::new(&spec, state(&spec, modes), &[closed("f", 16, mix(0.1))], 1);
        let mut rng = Streams::new(5).stream("test.cell-modes", 0);
        let mut torn = 0;
        for _ in 0..12 {
            for _ in 0..2_000 + rng.below(4_000) {
                assert!(bench.step(bench.events.horizon()));
            }
            let at = bench.events.now();
            bench.host.device.cut_power(&mut bench.events);
            bench.host.device.power_up(&mut bench.events, at + Duration::from_ms(1));
            torn +=
                bench.host.device.recoveries().last().expect("there has been a cut").found.torn_word_lines;
            check_blocks(&bench.host.device);
            while bench.host.device.is_down() {
                assert!(bench.step(bench.events.horizon()));
            }
        }
        bench.run_requests(500);
        bench.finish();
        bench.host.device.read_everything();
        assert!(torn > 5, "{cells:?}: {torn} torn word lines");
        assert!(bench.host.device.ftl_counters().erases > 20);
    }
}

/// All units of a block, program by program.
fn offsets(layout: &Layout, mode: CellMode) -> Vec<u32> {
    let (mut program, mut offsets) = (0, Vec::new());
    while program < layout.programs_per_block {
        let place = ProgramAddress::new(layout, SuperBlock(0), program, mode);
        let units: Vec<u32> = (0..place.units(layout)).map(|k| place.offset(layout, k)).collect();
        let by_runs = place.runs(layout, units.len()).flat_map(|run| (run.offset..).take(run.units.len()));
        assert_eq!(by_runs.collect::<Vec<u32>>(), units);
        assert_eq!(units.len(), layout.units_per_program_in(mode) as usize);
        let left = layout.pages_left_in(mode, program) * layout.planes * layout.units_per_page();
        assert_eq!(left + offsets.len() as u32, layout.units_per_block_in(mode), "before program {program}");
        offsets.extend(units);
        program = layout.program_after(mode, program);
    }
    assert_eq!(program, layout.programs_per_block);
    offsets
}

#[test]
fn programs_of_a_block_cover_the_pages_of_its_mode_once_in_order_of_the_word_lines() {
    for (cells, modes) in [
        (Cells::Tlc, &[Native, Mlc, Slc][..]),
        (Cells::MlcPages, &[Native, Slc]),
        (Cells::Slc, &[Native, Slc]),
    ] {
        for planes in [1, 2] {
            let spec = drive(cells, planes);
            let (layout, bits) = (spec.layout().unwrap(), spec.part.bits_per_cell);
            for &mode in modes {
                let offsets = offsets(&layout, mode);
                assert_eq!(offsets.len() as u32, layout.units_per_block_in(mode));
                let pages = offsets.iter().map(|&offset| {
                    let at = layout.place_in(SuperBlock(0), offset);
                    (at.page / bits, at.plane, at.page % bits, at.unit)
                });
                let expected: BTreeSet<_> = (0..spec.geometry.word_lines)
                    .flat_map(|line| (0..planes).map(move |plane| (line, plane)))
                    .flat_map(|(line, plane)| {
                        (0..mode.pages_per_word_line(bits)).map(move |bit| (line, plane, bit))
                    })
                    .flat_map(|(line, plane, bit)| {
                        (0..layout.units_per_page()).map(move |u| (line, plane, bit, u))
                    })
                    .collect();
                assert_eq!(pages.clone().collect::<BTreeSet<_>>(), expected, "{cells:?} {planes} {mode:?}");
                assert!(pages.map(|(line, ..)| line).is_sorted());
            }
        }
    }
}

#[test]
fn a_reprogram_addresses_one_page_of_the_word_line_on_each_plane() {
    let spec = drive(Cells::Tlc, 2);
    let layout = spec.layout().unwrap();
    for bit in Bit::ALL {
        let place =
            ProgramAddress { reprogram: Some(bit), ..ProgramAddress::new(&layout, SuperBlock(0), 1, Mlc) };
        let at = (0..place.units(&layout)).map(|k| layout.place_in(SuperBlock(0), place.offset(&layout, k)));
        let found: Vec<_> = at.map(|at| (at.plane, at.page, at.unit)).collect();
        let page = 3 + bit as u32;
        assert_eq!(found, [(0, page, 0), (0, page, 1), (1, page, 0), (1, page, 1)]);
    }
}

/// Free pages, and room for relocated data, count what the open super block of a mode has.
#[test]
fn free_pages_are_those_of_the_mode() {
    let spec = drive(Cells::Tlc, 1);
    let lane = Lane(0);
    let fresh = || -> BlockManager { spec.fresh_ftl(Streams::new(1).stream("test", 0)).unwrap() };
    for (mode, passed_over) in [(Native, 0), (Mlc, 8), (Slc, 16)] {
        let mut ftl = fresh();
        let (pages, room) = (ftl.free_pages_of(lane), ftl.gc_room(lane));
        ftl.set_stream_mode(Stream::GC, mode);
        assert_eq!(ftl.gc_room(lane), room / 3 * mode.pages_per_word_line(3));
        let place = ftl.take_address(lane, Stream::GC).unwrap();
        assert_eq!((place.mode, ftl.cell_mode(place.super_block)), (mode, mode));
        let taken = mode.pages_per_word_line(3);
        assert_eq!(ftl.free_pages_of(lane), pages - passed_over - taken);
        let open = ftl.layout.units_per_block_in(mode) - place.units(&ftl.layout);
        assert_eq!(ftl.gc_room(lane), open + ftl.config().hard_free * ftl.layout.units_per_block_in(mode));
        let program = place.program;
        while ftl.take_address(lane, Stream::GC).unwrap().super_block == place.super_block {}
        assert_eq!((program, ftl.layout.programs_per_block), (0, 8));
        for _ in 0..8 {
            ftl.program_done(place.super_block);
        }
        ftl.erased(place.super_block);
        assert_eq!(ftl.cell_mode(place.super_block), Native);
    }
}

#[test]
fn a_full_block_is_no_victim_unless_its_data_takes_less_than_a_block_of_the_destination() {
    let spec = drive(Cells::Tlc, 1);
    for (modes, victims) in
        [([Slc, Native], true), ([Native, Native], false), ([Slc, Slc], false), ([Native, Slc], false)]
    {
        let mut ftl = spec.fresh_ftl(Streams::new(1).stream("test", 0)).unwrap();
        ftl.set_stream_mode(Stream::HOST, modes[0]);
        ftl.set_stream_mode(Stream::GC, modes[1]);
        let mut lpn = interpulse_drive::numbers::Lpn(0);
        for _ in 0..ftl.layout.programs_per_block {
            let place = ftl.take_address(Lane(0), Stream::HOST).unwrap();
            for k in 0..place.units(&ftl.layout) {
                let offset = place.offset(&ftl.layout, k);
                ftl.write(lpn, place.super_block, offset);
                lpn += 1;
            }
            ftl.program_done(place.super_block);
        }
        assert_eq!(ftl.choose_victim(Lane(0)).is_some(), victims, "{modes:?}");
    }
}
