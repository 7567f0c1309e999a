//! *Does an SLC cache hold what it should?* Position of the write cliff, rates before and after it, folding in idle time and under
//! pressure, power cuts: against arithmetic of the part, and under full audit.

use crate::drive_common::features::{slc_cache, slc_mode};
use crate::drive_common::{Bench, Cells, closed, errors, of_part, part, preconditioned};
use interpulse_drive::SlcCounters;
use interpulse_drive::drive::Drive;
use interpulse_drive::ftl::page::gc::victim::{GcPolicy, Imposed};
use interpulse_drive::ftl::page::placement::stripe::{Allocation, Axis};
use interpulse_drive::ftl::page::reprogram::ReprogramSpec;
use interpulse_drive::ftl::page::separation::{HotnessPolicy, UpdateInterval};
use interpulse_drive::ftl::page::slc::SlcSpec;
use interpulse_drive::numbers::SuperBlock;
use interpulse_drive::spec::{Acknowledge, DriveSpec, FaultSpec, FtlSpec, PowerLossSpec, Wanted, WearOut};
use interpulse_engine::{Bytes, Device, Duration, Streams};
use interpulse_flash::cell_mode::CellMode;
use interpulse_flash::geometry::BlockAddress;
use interpulse_flash::hold_up::Placement;
use interpulse_flash::parts::SlcModeSpec;
use interpulse_settings::Document;
use interpulse_workload::{FlowSpec, SyntheticSpec};
use std::sync::Arc;

/// A drive of two channels with one die each, whose programs in SLC mode take 100 us and reads 20 us.
pub(crate) fn drive(cells: Cells, planes: u32, text: &str) -> DriveSpec {
    let mut part = part(cells, planes, 32, 8);
    part.slc_mode = Some(slc_mode());
    let mut spec = of_part(part, 2, 1, 1);
    spec.ftl.multi_plane = planes;
    spec.ftl.over_provisioning = 1.0;
    spec.ftl.gc_soft = 0.15;
    spec.ftl.gc_hard = 0.07;
    spec.cache.size = Bytes::kib(512);
    spec.ftl.slc = Some(slc_cache(text));
    spec
}

pub(crate) fn counters(drive: &Drive) -> SlcCounters {
    drive.slc().expect("the drive has a cache").counters
}

/// Checks the cache against the modes of blocks.
fn check_cache(drive: &Drive) {
    let (blocks, layout) = (drive.block_manager(), drive.layout());
    let slc = drive.slc().unwrap();
    let in_mode = SuperBlock::first(layout.super_blocks())
        .filter(|&block| blocks.cell_mode(block) == CellMode::Slc)
        .inspect(|&block| {
            assert!(!blocks.map().is_candidate(block), "block {block} is collected like any other");
            assert!(blocks.map().valid_units(block) <= layout.units_per_block_in(CellMode::Slc));
        });
    assert_eq!(in_mode.count() as u64, slc.used_blocks());
    assert!(slc.used_blocks() <= slc.most_blocks());
}

const KINDS: [&str; 7] = [
    "kind = 'static'\nsize = '512KiB'\nfold-above = 1.0\nfold-below = 0.5",
    "kind = 'static'\nsize = '1MiB'\nidle-delay = '1ms'\nadmission = 'small-writes'\nlargest-write = '8KiB'",
    "kind = 'dynamic'\nsize = '1MiB'\nfold-above = 0.6",
    "kind = 'dynamic'\nsize = '2MiB'\nadmission = 'small-writes'\nlargest-write = '4KiB'\nfold-above = 1.0\nfold-below = 0.2",
    "kind = 'dynamic'\nsize = '128KiB'\nidle-delay = '200us'",
    "kind = 'static-and-dynamic'\nsize = '256KiB'\ndynamic-size = '1MiB'\nfold-above = 0.8\nfold-below = 0.3",
    "kind = 'static-and-dynamic'\nsize = '512KiB'\ndynamic-size = '512KiB'\nidle-delay = '500us'\nadmission = 'small-writes'\nlargest-write = '16KiB'",
];

/// Random writes of two sizes with reads and trims.
pub(crate) fn mixed() -> SyntheticSpec {
    let text = "read = 0.3\ntrim = 0.1\nsizes = ['4KiB', '32KiB']\nsize-weights = [3.0, 1.0]\nalignment = '4KiB'\npacing = \
                'closed'\ndepth = 16\n";
    SyntheticSpec::read(&mut Document::from_toml(text, "flow").unwrap().top()).unwrap()
}

#[test]
fn nothing_is_lost_in_a_cache() {
    let mut sums = SlcCounters::default();
    for (k, text) in KINDS.into_iter().enumerate() {
        for (cells, planes) in [(Cells::Tlc, 1), (Cells::Tlc, 2), (Cells::MlcPages, 2)] {
            for (through, stripe, fails) in [(false, false, false), (true, false, true), (false, true, true)]
            {
                let mut spec = drive(cells, planes, text);
                if through {
                    spec.cache.acknowledge = Acknowledge::WhenProgrammed;
                }
                if stripe {
                    spec.ftl.allocation = Allocation::Static([Axis::C, Axis::W, Axis::D, Axis::P]);
                }
                if fails {
                    let mut rates = errors(spec.part.bits_per_cell as usize, &[8e-3, 4e-3, 1e-3]);
                    rates.reclaim_reads = Some(200);
                    spec.nand.errors = Some(Arc::new(rates));
                }
                let fill = [0.4, 0.6, 1.0][k % 3];
                let mut bench =
                    Bench::new(&spec, preconditioned(&spec, fill, fill, 3), &[closed("f", 16, mixed())], 1);
                for _ in 0..3 {
                    bench.run_requests(2_000);
                    check_cache(&bench.host.device);
                }
                bench.finish();
                check_cache(&bench.host.device);
                bench.host.device.read_everything();
                bench.host.device.audit(bench.events.now(), 1).unwrap();
                sums.add(&counters(&bench.host.device));
            }
        }
    }
    for (info, value) in sums.iter() {
        assert!(value > 5, "{} is {value}", info.name);
    }
}

/// Cuts by the test, with a checkpoint every 5 ms.
pub(crate) fn power_loss() -> PowerLossSpec {
    PowerLossSpec {
        at: None,
        off_for: Duration::from_ms(1),
        checkpoint_every: Duration::from_ms(5),
        save_to: Placement::FirstFree,
        capacitor: None,
    }
}

#[test]
fn power_may_be_lost_with_data_in_the_cache() {
    for text in KINDS {
        let mut spec = drive(Cells::Tlc, 2, text);
        spec.power_loss = Some(power_loss());
        let mut bench = Bench::new(&spec, preconditioned(&spec, 0.6, 0.5, 3), &[closed("f", 16, mixed())], 1);
        let mut rng = Streams::new(5).stream("test.slc-cache", 0);
        for _ in 0..12 {
            for _ in 0..1_000 + rng.below(4_000) {
                assert!(bench.step(bench.events.horizon()));
            }
            let at = bench.events.now();
            bench.host.device.cut_power(&mut bench.events);
            check_cache(&bench.host.device);
            bench.host.device.power_up(&mut bench.events, at + Duration::from_ms(1));
            while bench.host.device.is_down() {
                assert!(bench.step(bench.events.horizon()));
            }
        }
        bench.run_requests(500);
        bench.finish();
        check_cache(&bench.host.device);
        bench.host.device.read_everything();
        assert!(counters(&bench.host.device).slc_units > 100);
    }
}

/// Durations of operations on a die of [`drive`] with `planes` planes in a lane, in ns: a program in SLC mode, a native one, the
/// read of a page in SLC mode with its transfer, an erase.
struct Times {
    slc_program: u64,
    native_program: u64,
    slc_read: u64,
    erase: u64,
}

fn times(planes: u64) -> Times {
    let (command, sense) = (200, 20_000);
    // 9 KiB at 800 MB/s, and 1 us of set-up.
    let load = 11_520 + 1_000;
    Times {
        slc_program: planes * (command + load) + 100_000,
        native_program: planes * (command + 3 * load) + 600_000,
        // Two codewords of 4 KiB with their parity leave the die.
        slc_read: command + sense + 11_520,
        erase: planes * command + 1_200_000,
    }
}

/// Writes of 32 KiB in sequence that keep the dies busy.
pub(crate) fn sequential() -> SyntheticSpec {
    let text = "read = 0.0\naddress = 'sequential'\nblock-size = '32KiB'\nalignment = '32KiB'\npacing = 'closed'\ndepth = 32\n";
    SyntheticSpec::read(&mut Document::from_toml(text, "flow").unwrap().top()).unwrap()
}

fn fresh(spec: &DriveSpec) -> Bench {
    Bench::new(spec, preconditioned(spec, 0.0, 0.0, 1), &[closed("f", 32, sequential())], 1)
}

/// Units that a cache holds in SLC mode.
pub(crate) fn capacity(drive: &Drive) -> u64 {
    drive.slc().unwrap().most_blocks() * u64::from(drive.layout().units_per_block_in(CellMode::Slc))
}

#[test]
fn the_cliff_is_where_the_cache_is_full_and_rates_before_and_after_it_are_those_of_the_programs() {
    for planes in [1, 2] {
        // Six super blocks of each lane: set aside, borrowed, or two of the one and four of the other kind.
        for (kind, own, borrowed) in [("static", 6, 0), ("dynamic", 6, 0), ("static-and-dynamic", 2, 4)] {
            let size = |blocks: u32| format!("size = '{}KiB'", blocks * 128 * planes);
            let more = if borrowed > 0 { format!("dynamic-{}", size(borrowed)) } else { String::new() };
            let spec = drive(Cells::Tlc, planes, &format!("kind = '{kind}'\n{}\n{more}", size(own)));
            let mut bench = fresh(&spec);
            let (lanes, page) = (u64::from(bench.host.device.lanes()), 2 * u64::from(planes));
            let of = times(planes.into());
            assert_eq!(capacity(&bench.host.device), lanes * 6 * 8 * page);
            let mut at = Vec::new();
            // Units of host data and the time at some moments before and after the cliff.
            for share in [0.1, 0.9, 1.5, 2.5] {
                let target = (share * capacity(&bench.host.device) as f64) as u64;
                while bench.host.device.ftl_counters().host_units < target {
                    assert!(bench.step(bench.events.horizon()));
                }
                at.push((
                    bench.host.device.ftl_counters().host_units,
                    bench.events.now(),
                    counters(&bench.host.device),
                ));
            }
            assert_eq!(at[1].2.direct_units, 0, "the cache is not full");
            assert_eq!(at[2].2.slc_units, capacity(&bench.host.device), "all of it has been used");
            assert_eq!((at[3].2.folded_units, at[3].2.slc_units), (0, capacity(&bench.host.device)));
            for (from, to, program, units) in
                [(0, 1, of.slc_program, page), (2, 3, of.native_program, 3 * page)]
            {
                let (count, time) = (at[to].0 - at[from].0, at[to].1.since(at[from].1).as_ns());
                // Each lane is at most one program ahead or behind.
                let programs = count / (lanes * units);
                let bounds = (programs - 1) * program..=(programs + 2) * program;
                assert!(bounds.contains(&time), "{kind} {planes}: {count} units in {time} ns, {bounds:?}");
            }
        }
    }
}

#[test]
fn folding_takes_the_time_of_its_reads_programs_and_erases_and_leaves_room_for_as_much_again() {
    for planes in [1, 2u64] {
        let text = format!("kind = 'static'\nsize = '{}KiB'\nidle-delay = '50ms'", 9 * 128 * planes);
        let spec = drive(Cells::Tlc, planes as u32, &text);
        let flow = FlowSpec { limit: Some(2 * 9 * 8 * 2 * planes / 8), ..closed("f", 32, sequential()) };
        let mut bench = Bench::new(&spec, preconditioned(&spec, 0.0, 0.0, 1), &[flow], 1);
        let full = capacity(&bench.host.device);
        let of = times(planes);
        bench.run_out();
        let end = bench.events.now();
        // The write cache is written back long before the delay has passed.
        bench.run_for(Duration::from_ms(20));
        assert_eq!(counters(&bench.host.device).slc_units, full);
        let until = |bench: &mut Bench, reached: fn(&SlcCounters, u64) -> bool| {
            let blocks = bench.host.device.slc().unwrap().most_blocks();
            while !reached(&counters(&bench.host.device), blocks) {
                assert!(bench.step(bench.events.horizon()));
            }
            bench.events.now()
        };
        let start = until(&mut bench, |of, _| of.folded_blocks > 0);
        let waited = start.since(end).as_ns();
        assert!((40_000_000..=50_000_000).contains(&waited), "{waited} ns after the last command ended");
        until(&mut bench, |of, blocks| of.slc_erases == blocks);
        let done = counters(&bench.host.device);
        assert_eq!((done.folded_units, done.fold_programs), (full, full / (6 * planes)));
        assert_eq!(bench.host.device.slc().unwrap().used_blocks(), 0);
        // Nine blocks of eight word lines: each word line is read, each third program is native.
        let time = 9 * (8 * planes * of.slc_read + of.erase) + 24 * of.native_program;
        let took = bench.events.now().since(start).as_ns();
        // A program starts only when the last of its reads is decoded, 4 us later.
        assert!((time..time + 24 * 60_000).contains(&took), "{planes}: {took} ns for {time} ns of work");
    }
}

#[test]
fn data_overwritten_in_the_cache_is_not_folded() {
    let mut spec = drive(Cells::Tlc, 1, "kind = 'static'\nsize = '2MiB'\nidle-delay = '1ms'");
    spec.cache.size = Bytes::kib(64);
    let text = "read = 0.0\nto = 0.05\npacing = 'closed'\ndepth = 8\n";
    let writes = SyntheticSpec::read(&mut Document::from_toml(text, "flow").unwrap().top()).unwrap();
    let mut bench = Bench::new(
        &spec,
        preconditioned(&spec, 0.0, 0.0, 1),
        &[FlowSpec { limit: Some(900), ..closed("f", 8, writes) }],
        1,
    );
    bench.run_out();
    let written = counters(&bench.host.device).slc_units;
    bench.run_for(Duration::from_ms(1000));
    let done = counters(&bench.host.device);
    assert!(written > 500 && done.folded_units <= 64, "{written} units written, {done:?}");
    assert!(done.empty_blocks > 0 && done.slc_erases > 10, "{done:?}");
    check_cache(&bench.host.device);
}

#[test]
fn what_does_not_go_with_a_cache_is_refused() {
    let kind = "kind = 'dynamic'\nsize = '1MiB'";
    let refused = |change: &dyn Fn(&mut DriveSpec), key: &str| {
        let mut spec = drive(Cells::Tlc, 1, kind);
        spec.check().unwrap();
        change(&mut spec);
        let why = spec.check().unwrap_err();
        assert!(why.keys.iter().any(|other| other == key), "{why:?}");
    };
    refused(&|spec| *spec = drive(Cells::Slc, 1, kind), "part.bits-per-cell");
    refused(&|spec| spec.part.slc_mode = None, "part.preset");
    refused(&|spec| spec.ftl.allocation = Allocation::SuperWordLine, "ftl.allocation");
    refused(&|spec| spec.ftl.gc = GcPolicy::Imposed(Imposed::NONE), "ftl.gc");
    let separates = |spec: &mut DriveSpec| spec.ftl.hotness = HotnessPolicy::all()[1].1.clone();
    refused(
        &|spec| {
            separates(spec);
            spec.ftl.slc = Some(slc_cache(
                "kind = 'dynamic'\nsize = '1MiB'\nadmission = 'small-writes'\nlargest-write = '4KiB'",
            ));
        },
        "ftl.hotness",
    );
    refused(
        &|spec| {
            separates(spec);
            spec.ftl.reprogram = Some(reprogram());
        },
        "ftl.reprogram",
    );
    refused(&|spec| spec.ftl.slc = Some(slc_cache("kind = 'dynamic'\nsize = '1GiB'")), "ftl.slc-cache.size");
    refused(&|spec| spec.ftl.slc = Some(slc_cache("kind = 'static'\nsize = '1GiB'")), "ftl.slc-cache.size");
    refused(
        &|spec| spec.ftl.slc = Some(slc_cache("kind = 'static'\nsize = '3380KiB'")),
        "ftl.over-provisioning",
    );
    refused(&|spec| spec.ftl.over_provisioning = 0.2, "ftl.over-provisioning");
    let text = "[slc-cache]\nkind = 'static'\nsize = '1MiB'\nfold-above = 0.5\nfold-below = 0.5\n";
    let error = SlcSpec::read(&mut Document::from_toml(text, "cache").unwrap().top()).unwrap_err();
    assert!(error.to_string().contains("folding ends below the share at which it begins"), "{error}");
}

#[test]
fn set_aside_blocks_are_no_over_provisioning_and_take_no_other_data() {
    let without = DriveSpec {
        ftl: FtlSpec { slc: None, ..drive(Cells::Tlc, 1, KINDS[0]).ftl },
        ..drive(Cells::Tlc, 1, KINDS[0])
    };
    let spec = drive(Cells::Tlc, 1, "kind = 'static'\nsize = '1MiB'");
    // Eight super blocks of 64 KiB in SLC mode, of 192 KiB natively, on each of two lanes.
    let (all, rest) = (without.capacity(), spec.capacity());
    assert_eq!(rest.raw, all.raw);
    let outside = |usable: u64, over: f64| usable as f64 * (1.0 + over);
    let difference =
        outside(all.usable.get(), all.over_provisioning) - outside(rest.usable.get(), rest.over_provisioning);
    assert!((difference - f64::from((8 * 2 * 192) << 10)).abs() < 1.0, "{difference}");
    let blocks = spec.part.blocks_per_plane;
    assert!(spec.blocks_for(Wanted::Usable(rest.usable)).unwrap() <= blocks);
    let larger = drive(Cells::Tlc, 1, "kind = 'static'\nsize = '2MiB'");
    assert!(larger.blocks_for(Wanted::Usable(rest.usable)).unwrap() > blocks);
}

#[test]
fn a_cycle_in_slc_mode_wears_a_block_by_the_rated_cycles() {
    // A tenth of a native cycle each.
    let mut spec = drive(Cells::Tlc, 1, "kind = 'static'\nsize = '256KiB'\nfold-above = 1.0");
    spec.nand.errors = Some(Arc::new(errors(3, &[8e-3, 4e-3, 1e-3])));
    let mut bench = Bench::new(&spec, preconditioned(&spec, 0.3, 0.0, 1), &[closed("f", 8, mixed())], 1);
    while bench.host.device.slc().unwrap().cycles() < 200 {
        assert!(bench.step(bench.events.horizon()));
    }
    let (blocks, slc) = (bench.host.device.block_manager(), bench.host.device.slc().unwrap());
    let mut worn = 0;
    for block in SuperBlock::first(blocks.layout.super_blocks()).filter(|&block| slc.owns(block)) {
        let (lane, number) = blocks.layout.lane_of(block);
        let (die, plane) = blocks.layout.die_of(lane);
        let at = BlockAddress { die, plane, block: number };
        let cycles = bench.host.device.nand().reliability().unwrap().block(at).cycles;
        // A block counts as worn once more from its first erase on.
        assert!(cycles <= blocks.cycles[block.index()] / 10 + 1, "block {block}: {cycles}");
        worn = worn.max(blocks.cycles[block.index()]);
    }
    assert!(worn > 20, "{worn}");
}

#[test]
fn set_aside_blocks_endure_their_cycles_in_slc_mode_and_are_replaced() {
    // Ten cycles in SLC mode wear a block by one of its ten: the erase that makes 110 fails.
    let mut spec = drive(Cells::Tlc, 1, "kind = 'static'\nsize = '256KiB'\nfold-above = 1.0");
    spec.part.endurance = 10;
    spec.part.slc_mode = Some(SlcModeSpec { endurance: 100, ..slc_mode() });
    spec.ftl.bad_block_reserve = 0.1;
    spec.faults = Some(FaultSpec { wear_out: WearOut::Equal, ..FaultSpec::NONE });
    let mut bench = Bench::new(&spec, preconditioned(&spec, 0.1, 0.0, 1), &[closed("f", 8, mixed())], 1);
    let mut most = 0;
    while bench.host.device.health().unwrap().grown_bad_blocks == 0 {
        let (blocks, slc) = (bench.host.device.block_manager(), bench.host.device.slc().unwrap());
        let own = SuperBlock::first(blocks.layout.super_blocks()).filter(|&block| slc.owns(block));
        most = most.max(own.map(|block| blocks.cycles[block.index()]).max().unwrap());
        bench.run_requests(20);
    }
    assert!((100..110).contains(&most), "{most}");
    let used = bench.host.device.slc().unwrap().most_blocks();
    bench.run_requests(2_000);
    bench.finish();
    check_cache(&bench.host.device);
    let health = bench.host.device.health().unwrap();
    assert!(health.read_only_since.is_none() && health.spare < health.spare_at_start, "{health:?}");
    assert_eq!(bench.host.device.slc().unwrap().most_blocks(), used);
}

fn reprogram() -> ReprogramSpec {
    let document = Document::from_toml("reprogram = true\n", "ftl").unwrap();
    ReprogramSpec::read(&mut document.top(), true).unwrap().expect("it is on")
}

#[test]
fn with_separation_hot_data_goes_through_the_cache_and_cold_data_does_not() {
    for (kind, stripe) in [("static", false), ("dynamic", true)] {
        let mut spec = drive(
            Cells::Tlc,
            2,
            &format!("kind = '{kind}'\nsize = '512KiB'\nfold-above = 1.0\nfold-below = 0.5"),
        );
        spec.ftl.hotness = HotnessPolicy::UpdateInterval(UpdateInterval {
            within: vec![Duration::from_ms(20)],
            by_unit: true,
        });
        if stripe {
            spec.ftl.allocation = Allocation::Static([Axis::C, Axis::W, Axis::D, Axis::P]);
        }
        // Nothing has been written in simulated time: the first round is cold.
        let flow = closed("f", 32, sequential());
        let mut bench = Bench::new(&spec, preconditioned(&spec, 0.3, 0.0, 1), &[flow], 1);
        bench.run_requests(40);
        assert_eq!(counters(&bench.host.device).slc_units, 0, "{kind}");
        bench.run_requests(2_000);
        check_cache(&bench.host.device);
        // Half of the units are written again within the interval.
        let text = "read = 0.3\nto = 0.05\npacing = 'closed'\ndepth = 16\n";
        let hot = SyntheticSpec::read(&mut Document::from_toml(text, "flow").unwrap().top()).unwrap();
        spec.cache.size = Bytes::kib(256);
        let mut bench = Bench::new(&spec, preconditioned(&spec, 0.5, 0.0, 1), &[closed("f", 16, hot)], 1);
        bench.run_requests(6_000);
        bench.finish();
        check_cache(&bench.host.device);
        bench.host.device.read_everything();
        let of = counters(&bench.host.device);
        assert!(of.slc_units > 300 && of.direct_units > 0, "{kind}: {of:?}");
    }
}

/// On a drive that is nearly full the part that is borrowed shrinks to nothing, and the part set aside stays: the cliff is at its
/// capacity.
#[test]
fn a_full_drive_keeps_the_part_of_the_cache_that_is_set_aside() {
    let text = "kind = 'static-and-dynamic'\nsize = '256KiB'\ndynamic-size = '2MiB'\nidle-delay = '1s'";
    let mut spec = drive(Cells::Tlc, 1, text);
    // Of the 32 blocks of a lane two are set aside, and the data leaves about four beyond those with which collection begins.
    spec.ftl.over_provisioning = 0.65;
    let most = |fill: f64| {
        let mut bench =
            Bench::new(&spec, preconditioned(&spec, fill, 0.0, 1), &[closed("f", 32, sequential())], 1);
        let per_lane = u64::from(bench.host.device.layout().units_per_block_in(CellMode::Slc));
        while counters(&bench.host.device).direct_units == 0 {
            assert!(bench.step(bench.events.horizon()));
        }
        let cliff = counters(&bench.host.device).slc_units;
        bench.finish();
        check_cache(&bench.host.device);
        cliff / per_lane
    };
    let (lanes, empty, full) = (2, most(0.0), most(1.0));
    // Two blocks set aside and sixteen borrowed ones of each lane; the last of them is being programmed.
    assert!((17 * lanes..=18 * lanes).contains(&empty), "{empty}");
    assert!((2 * lanes - 1..=13 * lanes).contains(&full), "{full}");
}
