//! *Does an SLC cache that admits placement handles hold their data, and only this?* Shares, write amplification, wear and folding
//! against arithmetic; random loads and power cuts under full audit.

use crate::drive_common::{Bench, Cells, closed, errors, preconditioned};
use crate::slc_cache::{capacity, counters, drive, mixed, power_loss};
use interpulse_drive::ftl::page::placement::stripe::{Allocation, Axis};
use interpulse_drive::ftl::page::placement::{Fdp, PlacementPolicy, Streams};
use interpulse_drive::numbers::SuperBlock;
use interpulse_drive::spec::{Acknowledge, DriveSpec};
use interpulse_drive::{HandleCounters, SlcCounters};
use interpulse_engine::{Device, Duration, Request, Tag};
use interpulse_flash::cell_mode::CellMode;
use interpulse_settings::Document;
use interpulse_workload::{FlowSpec, SyntheticSpec};
use std::sync::Arc;

/// A drive with the streams 1 and 2 beside writes without one, and an SLC cache.
fn streams(text: &str) -> DriveSpec {
    let mut spec = drive(Cells::Tlc, 1, text);
    spec.ftl.placement = PlacementPolicy::Streams(Streams { streams: 2 });
    spec
}

/// Sequential 32 KiB writes of `requests` requests to a part of the drive that begins at `from`.
fn flow(handle: u8, from: f64, requests: u64) -> FlowSpec {
    let text = format!(
        "read = 0.0\naddress = 'sequential'\nblock-size = '32KiB'\nalignment = '32KiB'\npacing = 'closed'\ndepth = 4\nfrom = {from}\n"
    );
    let mix = SyntheticSpec::read(&mut Document::from_toml(&text, "flow").unwrap().top()).unwrap();
    let handle = (handle > 0).then_some(handle);
    FlowSpec { limit: Some(requests), handle, ..closed(&format!("f{from}"), 4, mix) }
}

/// Runs all requests, and empties the write cache.
fn flushed(bench: &mut Bench) {
    bench.run_out();
    bench.host.submit(&mut bench.events, 0, Tag(9), Request::FLUSH);
    bench.run_out();
}

fn handles(bench: &Bench) -> Vec<HandleCounters> {
    bench.host.device.placement().unwrap().handles.clone()
}

#[test]
fn the_share_of_writes_in_slc_mode_is_that_of_the_admitted_stream() {
    for (named, expected) in [("[1]", [0, 1, 0]), ("[2]", [0, 0, 1]), ("[0, 2]", [1, 0, 1])] {
        for stripe in [false, true] {
            // Room for all of it, and no time to fold.
            let text = "kind = 'static'\nsize = '1MiB'\nidle-delay = '100s'\nadmission = 'by-handle'";
            let mut spec = streams(&format!("{text}\nadmitted-handles = {named}"));
            if stripe {
                spec.ftl.allocation = Allocation::Static([Axis::C, Axis::W, Axis::D, Axis::P]);
            }
            // 16, 12 and 8 requests of eight units, each to other units.
            let requests = [16, 12, 8];
            let flows = [flow(0, 0.0, 16), flow(1, 0.3, 12), flow(2, 0.6, 8)];
            let mut bench = Bench::new(&spec, preconditioned(&spec, 0.0, 0.0, 1), &flows, 1);
            flushed(&mut bench);
            bench.finish();
            let (of, by_handle) = (counters(&bench.host.device), handles(&bench));
            assert!(of.slc_units < capacity(&bench.host.device));
            let cached: u64 = (0..3).map(|k| 8 * requests[k] * expected[k]).sum();
            assert_eq!((of.slc_units, of.direct_units), (cached, 8 * 36 - cached), "{named}");
            assert_eq!(of.overflow_units, 0);
            assert_eq!(by_handle.iter().map(|of| of.host_units).collect::<Vec<_>>(), [128, 96, 64]);
            // Every unit is where its handle says.
            let (blocks, layout) = (bench.host.device.block_manager(), bench.host.device.layout());
            let mut in_slc = 0;
            for block in SuperBlock::first(layout.super_blocks()) {
                let slc = blocks.cell_mode(block) == CellMode::Slc;
                in_slc += if slc { u64::from(blocks.map().valid_units(block)) } else { 0 };
            }
            assert_eq!(in_slc, cached);
        }
    }
}

#[test]
fn folding_is_write_amplification_of_the_admitted_stream_and_wear_of_its_blocks() {
    let text = "kind = 'static'\nsize = '1MiB'\nidle-delay = '20ms'\nadmission = 'by-handle'\nadmitted-handles = [1]";
    let mut spec = streams(text);
    spec.ftl.allocation = Allocation::Static([Axis::C, Axis::W, Axis::D, Axis::P]);
    // The stream writes half of the cache: 128 units, on each lane four blocks of SLC mode with 16 units each.
    let flows = [flow(0, 0.0, 48), flow(1, 0.5, 16)];
    let mut bench = Bench::new(&spec, preconditioned(&spec, 0.0, 0.0, 1), &flows, 1);
    flushed(&mut bench);
    bench.run_for(Duration::from_ms(500));
    let (of, by_handle) = (counters(&bench.host.device), handles(&bench));
    assert_eq!(capacity(&bench.host.device), 256);
    assert_eq!((of.slc_units, of.direct_units), (128, 48 * 8));
    // Each unit is moved once, in native programs of six units; the last program of a lane is filled up.
    assert_eq!((of.folded_units, of.folded_blocks, of.slc_erases), (128, 8, 8));
    assert_eq!(bench.host.device.slc().unwrap().cycles(), 8);
    let of_stream = by_handle[1];
    assert_eq!((of_stream.host_units, of_stream.relocated_units), (128, 128));
    assert_eq!(by_handle[0].relocated_units + by_handle[2].relocated_units, 0);
    let padded = of_stream.padding_units;
    let programmed = bench.host.device.ftl_counters();
    assert_eq!(programmed.gc_units, 128);
    let waf = of_stream.write_amplification().unwrap();
    assert!((waf - (2.0 + padded as f64 / 128.0)).abs() < 1e-12 && padded <= 2 * 5, "{waf}, {padded}");
    let others = by_handle[0].write_amplification().unwrap();
    assert!((1.0..1.03).contains(&others), "{others}");
    bench.finish();
}

#[test]
fn a_full_cache_sends_the_admitted_stream_to_native_blocks_of_its_handle() {
    let text = "kind = 'static'\nsize = '256KiB'\nidle-delay = '100s'\nadmission = 'by-handle'\nadmitted-handles = [2]";
    let spec = streams(text);
    let flows = [flow(0, 0.0, 10), flow(2, 0.4, 40)];
    let mut bench = Bench::new(&spec, preconditioned(&spec, 0.0, 0.0, 1), &flows, 1);
    flushed(&mut bench);
    bench.finish();
    let of = counters(&bench.host.device);
    let full = capacity(&bench.host.device);
    assert_eq!((of.slc_units, of.direct_units), (full, 50 * 8 - full));
    assert_eq!(of.overflow_units, 40 * 8 - full);
    assert_eq!(handles(&bench)[2].host_units, 40 * 8);
    bench.host.device.audit(bench.events.now(), 1).unwrap();
}

const ADMISSIONS: [&str; 4] = [
    "kind = 'static'\nsize = '512KiB'\nfold-above = 1.0\nfold-below = 0.5\nadmission = 'by-handle'\nadmitted-handles = [1]",
    "kind = 'dynamic'\nsize = '1MiB'\nfold-above = 0.6\nadmission = 'by-handle'\nadmitted-handles = [0, 2]",
    "kind = 'dynamic'\nsize = '1MiB'\nidle-delay = '200us'",
    "kind = 'static-and-dynamic'\nsize = '384KiB'\ndynamic-size = '512KiB'\nidle-delay = '500us'\nfold-above = 0.9",
];

/// Flows of every handle, on the same addresses.
fn of_every_handle() -> [FlowSpec; 3] {
    [0, 1, 2].map(|k| FlowSpec { handle: Some(k), ..closed(&format!("f{k}"), 8, mixed()) })
}

/// A drive with three handles, of which `isolated` are persistently isolated.
fn fdp(text: &str, isolated: &[u32]) -> DriveSpec {
    let mut spec = drive(Cells::Tlc, 2, text);
    let persistently_isolated = isolated.to_vec();
    spec.ftl.placement = PlacementPolicy::Fdp(Fdp { handles: 3, persistently_isolated, groups: 1 });
    spec.ftl.over_provisioning = 2.0;
    spec
}

#[test]
fn nothing_is_lost_and_super_blocks_hold_data_of_one_handle() {
    let mut sums = SlcCounters::default();
    for (k, text) in ADMISSIONS.into_iter().enumerate() {
        for (isolated, through, stripe, fails) in [
            (&[][..], false, false, true),
            (&[1][..], true, false, false),
            (&[0, 1, 2][..], false, true, false),
        ] {
            let mut spec = fdp(text, isolated);
            if through {
                spec.cache.acknowledge = Acknowledge::WhenProgrammed;
            }
            if stripe {
                spec.ftl.allocation = Allocation::Static([Axis::C, Axis::W, Axis::D, Axis::P]);
            }
            if fails {
                let mut rates = errors(3, &[8e-3, 4e-3, 1e-3]);
                rates.reclaim_reads = Some(200);
                spec.nand.errors = Some(Arc::new(rates));
            }
            let fill = [0.4, 0.8, 1.0, 1.0][k];
            let state = preconditioned(&spec, fill, fill, 3);
            let mut bench = Bench::new(&spec, state, &of_every_handle(), 1);
            bench.run_requests(6_000);
            bench.finish();
            bench.host.device.read_everything();
            let (of, relocated) = (counters(&bench.host.device), handles(&bench));
            assert!(relocated.iter().map(|of| of.relocated_units).sum::<u64>() >= of.folded_units);
            sums.add(&of);
        }
    }
    for (info, value) in sums.iter() {
        assert!(value > 5, "{} is {value}", info.name);
    }
}

#[test]
fn power_may_be_lost_with_data_of_handles_in_the_cache() {
    for text in ADMISSIONS {
        let mut spec = fdp(text, &[1]);
        spec.power_loss = Some(power_loss());
        let state = preconditioned(&spec, 0.8, 0.5, 3);
        let mut bench = Bench::new(&spec, state, &of_every_handle(), 1);
        let mut rng = interpulse_engine::Streams::new(5).stream("test.slc-by-handle", 0);
        for _ in 0..12 {
            for _ in 0..1_000 + rng.below(4_000) {
                assert!(bench.step(bench.events.horizon()));
            }
            let at = bench.events.now();
            bench.host.device.cut_power(&mut bench.events);
            bench.host.device.power_up(&mut bench.events, at + Duration::from_ms(1));
            while bench.host.device.is_down() {
                assert!(bench.step(bench.events.horizon()));
            }
        }
        bench.finish();
        bench.host.device.read_everything();
    }
}

#[test]
fn handles_that_do_not_exist_and_rules_without_handles_are_refused() {
    let refused = |placement: Option<u32>, text: &str, keys: &[&str], why: &str| {
        let mut spec = streams(&format!("kind = 'static'\nsize = '1MiB'\n{text}"));
        spec.ftl.over_provisioning = 2.0;
        spec.ftl.placement = match placement {
            Some(streams) => PlacementPolicy::Streams(Streams { streams }),
            None => PlacementPolicy::None,
        };
        let found = spec.check().unwrap_err();
        assert_eq!(found.keys, keys);
        assert!(found.message.contains(why), "{found:?}");
    };
    let (admission, placement) = ("ftl.slc-cache.admission", "ftl.placement");
    let by_handle = "admission = 'by-handle'\nadmitted-handles = [0, 3]";
    refused(None, by_handle, &[admission, placement], "writes name no placement handle");
    let named = "ftl.slc-cache.admitted-handles";
    refused(Some(2), by_handle, &[named, placement], "there is no handle 3: the handles are 0 to 2");
    let small = "admission = 'small-writes'\nlargest-write = '8KiB'";
    refused(Some(2), small, &[admission, placement], "the handle of a write decides, not its size");
    // Nine blocks of a lane, and ten streams beside the writes without one.
    refused(
        Some(10),
        "",
        &["ftl.slc-cache.size", placement],
        "each of 11 handles has an open block of its own",
    );
    let mut spec = fdp(ADMISSIONS[0], &[]);
    spec.ftl.placement = PlacementPolicy::Fdp(Fdp { handles: 3, persistently_isolated: vec![], groups: 2 });
    assert_eq!(spec.check().unwrap_err().keys, ["ftl.reclaim-groups", "ftl.slc-cache.kind"]);
    // A list without a handle, or with one twice, is no list of handles.
    for list in ["[]", "[1, 1]", "[64]"] {
        let text = format!(
            "[slc-cache]\nkind = 'static'\nsize = '1MiB'\nadmission = 'by-handle'\nadmitted-handles = {list}\n"
        );
        let document = Document::from_toml(&text, "cache").unwrap();
        let error = interpulse_drive::ftl::page::slc::SlcSpec::read(&mut document.top()).unwrap_err();
        assert!(error.to_string().contains("slc-cache.admitted-handles"), "{error}");
    }
}
