//! *Does copyback move what it should, and no data over the channel?* Channel time and throughput of collection against
//! arithmetic, folding, the limit, and everything that lives beside it.

use crate::drive_common::{Bench, Cells, closed, errors, mix, of_part, part, preconditioned};
use crate::slc_cache;
use interpulse_drive::ftl::FtlCounters;
use interpulse_drive::ftl::page::gc::copyback::CopybackSpec;
use interpulse_drive::ftl::page::gc::victim::{GcPolicy, Imposed};
use interpulse_drive::spec::{DriveSpec, FaultSpec};
use interpulse_engine::{Bytes, Duration};
use interpulse_flash::nand::NandCounters;
use interpulse_workload::{BlockSize, FlowSpec, SyntheticSpec};
use std::sync::Arc;

/// Command cycles, and a page with its parity over a channel of 80 MB/s: 9 KiB.
const COMMAND: u64 = 200;
const LOAD: u64 = 115_200;
/// Data of a read: two codewords of 4 KiB with their parity are the whole page.
const OUT: u64 = LOAD;

/// Eight dies on a slow channel, pages of 8 KiB that are mapped as a whole; `copyback` with this limit.
fn spec(copyback: Option<u32>) -> DriveSpec {
    let mut part = part(Cells::Slc, 1, 24, 8);
    part.bus_rate = 80_000_000;
    let mut spec = of_part(part, 1, 8, 1);
    spec.geometry = spec.geometry.with_unit_bytes(8192);
    spec.ftl.over_provisioning = 0.6;
    spec.ftl.gc_soft = 0.1;
    spec.cache.size = Bytes::kib(512);
    spec.ftl.copyback = copyback.map(|limit| CopybackSpec { limit });
    spec
}

/// What a drive did while it served `requests` writes in a closed loop, and the time.
fn window(spec: &DriveSpec, requests: u64) -> (FtlCounters, NandCounters, u64) {
    let unit = spec.geometry.unit_bytes;
    let writes = closed(
        "w",
        64,
        SyntheticSpec { block_size: BlockSize::Fixed(Bytes(unit)), alignment: Bytes(unit), ..mix(0.0) },
    );
    let mut bench = Bench::new(spec, preconditioned(spec, 1.0, 2.0, 1), &[writes], 1);
    bench.run_requests(requests);
    let (ftl, from) = (bench.host.device.ftl_counters(), bench.events.now());
    let nand = bench.host.device.nand_mut().counters;
    bench.run_requests(requests);
    let time = bench.events.now().since(from).as_ns();
    let counted =
        (bench.host.device.ftl_counters().since(&ftl), bench.host.device.nand_mut().counters.since(&nand));
    bench.finish();
    bench.host.device.read_everything();
    (counted.0, counted.1, time)
}

/// The channel is busy all the time. It takes a page once for each page written, and twice for each page moved unless that is
/// copied, for which it takes two commands.
#[test]
fn the_channel_moves_commands_alone_and_throughput_grows_by_what_it_saves() {
    let (through, nand_through, time_through) = window(&spec(None), 4_000);
    let (copied, nand_copied, time_copied) = window(&spec(Some(255)), 4_000);
    assert_eq!((through.copyback_units, nand_through.copybacks), (0, 0));
    let fallbacks = copied.copyback_fallbacks as f64 / copied.gc_units as f64;
    assert!(fallbacks < 0.05, "{fallbacks} of the pages moved were left over or overwritten");
    let waf = |of: &FtlCounters| of.write_amplification().unwrap();
    let change = waf(&copied) / waf(&through);
    assert!((0.97..1.03).contains(&change), "write amplification changed by {change}");
    let mut per_page = Vec::new();
    for (ftl, nand, time) in [(&through, &nand_through, time_through), (&copied, &nand_copied, time_copied)] {
        let share = nand.bus_time as f64 / time as f64;
        assert!((0.98..=1.0001).contains(&share), "the channel is busy for {share}");
        let commands = nand.operations() + nand.copybacks;
        let data = nand.host_programs + nand.gc_programs - nand.copybacks;
        let expected = commands * COMMAND + data * LOAD + nand.gc_reads * OUT;
        // A transfer at either end of the window is counted when it begins, its operation when it ends.
        let open = 8 * (2 * LOAD + COMMAND);
        assert!(nand.bus_time.abs_diff(expected) <= open, "{} for {expected}", nand.bus_time);
        per_page.push(expected as f64 / ftl.host_units as f64);
    }
    let rate = |of: &FtlCounters, time| of.host_units as f64 / time as f64;
    let gain = rate(&copied, time_copied) / rate(&through, time_through);
    let expected = per_page[0] / per_page[1];
    assert!(expected > 1.8, "{per_page:?}");
    assert!((gain / expected - 1.0).abs() < 0.03, "a gain of {gain} for {expected}");
}

/// With a limit of one, data that has been copied goes through the controller next.
#[test]
fn the_limit_alternates_copies_and_moves_through_the_controller() {
    let share = |limit| {
        let (ftl, ..) = window(&spec(Some(limit)), 4_000);
        ftl.copyback_units as f64 / ftl.gc_units as f64
    };
    let (one, many) = (share(1), share(255));
    assert!(many > 0.95, "{many}");
    // A move without a copy before it can be copied: at least half of the moves, as every other one of the same data is.
    assert!((0.5..0.8).contains(&one), "{one}");
}

/// Copies have the errors of their sources: without a limit more reads have to be repeated than with the controller between.
#[test]
fn errors_grow_with_successive_copies() {
    let retried = |copyback| {
        let mut spec = spec(copyback);
        // 41 errors expected in a codeword of 8192 bits, of which 80 are corrected; three times as many after two copies.
        spec.nand.errors = Some(Arc::new(errors(1, &[5e-3, 1e-3])));
        let (ftl, ..) = window(&spec, 100);
        assert!(ftl.gc_units > 0);
        let mut bench =
            Bench::new(&spec, preconditioned(&spec, 1.0, 2.0, 1), &[closed("w", 16, mix(0.3))], 1);
        bench.run_requests(6_000);
        let counters = bench.host.device.nand_mut().reliability().unwrap().counters;
        bench.finish();
        (counters.host_reads_retried + counters.gc_reads_retried) as f64 / counters.reads as f64
    };
    let (through, copied) = (retried(None), retried(Some(255)));
    assert!(through < 0.001 && copied > 0.05, "{through} {copied}");
}

/// Three pages in SLC mode make a native program on the die; the rest of a block, and stale pages, go through the controller.
#[test]
fn an_slc_cache_is_folded_by_copyback() {
    for planes in [1, 2] {
        let text = format!("kind = 'static'\nsize = '{}KiB'\nidle-delay = '50ms'", 9 * 128 * planes);
        let mut spec = slc_cache::drive(Cells::Tlc, planes, &text);
        spec.ftl.copyback = Some(CopybackSpec { limit: 1 });
        let limit = Some(u64::from(2 * 9 * 8 * 2 * planes / 8));
        let flow = FlowSpec { limit, ..closed("f", 32, slc_cache::sequential()) };
        let mut bench = Bench::new(&spec, preconditioned(&spec, 0.0, 0.0, 1), &[flow], 1);
        let full = slc_cache::capacity(&bench.host.device);
        bench.run_out();
        bench.run_for(Duration::from_ms(2_000));
        let done = slc_cache::counters(&bench.host.device);
        assert_eq!(
            (done.folded_units, done.slc_erases),
            (full, bench.host.device.slc().unwrap().most_blocks())
        );
        let (ftl, nand) = (bench.host.device.ftl_counters(), bench.host.device.nand_mut().counters);
        // Eight pages of a block on each plane: two programs of three, and two pages left over.
        assert_eq!((ftl.copyback_units, ftl.gc_units), (full / 8 * 6, full));
        assert_eq!((nand.copyback_pages, nand.gc_reads), (full / 2 / 8 * 6, full / 2 / 8 * 2));
        bench.finish();
        bench.host.device.read_everything();
    }
}

/// Random writes, reads and trims in a cache that is folded by copyback, and after power cuts.
#[test]
fn nothing_is_lost() {
    for (kind, planes) in [("static", 1), ("dynamic", 2), ("dynamic", 1)] {
        for cut in [false, true] {
            let text = format!("kind = '{kind}'\nsize = '1MiB'\nfold-above = 0.6\nidle-delay = '1ms'");
            let mut spec = slc_cache::drive(Cells::Tlc, planes, &text);
            spec.ftl.copyback = Some(CopybackSpec { limit: 2 });
            if cut {
                spec.power_loss = Some(slc_cache::power_loss());
            }
            let mut bench = Bench::new(
                &spec,
                preconditioned(&spec, 0.9, 0.5, 3),
                &[closed("f", 16, slc_cache::mixed())],
                3,
            );
            for _ in 0..if cut { 3 } else { 1 } {
                bench.run_requests(3_000);
                if cut {
                    bench.host.device.cut_power(&mut bench.events);
                    let on = bench.events.now() + Duration::from_ms(1);
                    bench.host.device.power_up(&mut bench.events, on);
                    while bench.host.device.is_down() {
                        assert!(bench.step(bench.events.horizon()));
                    }
                }
            }
            bench.finish();
            assert!(bench.host.device.ftl_counters().copyback_units > 500, "{kind} {planes} {cut}");
            bench.host.device.read_everything();
        }
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let refused = |change: fn(&mut DriveSpec)| {
        let mut spec = spec(Some(4));
        change(&mut spec);
        spec.check().expect_err("it is refused").message
    };
    let imposed =
        |spec: &mut DriveSpec| spec.ftl.gc = GcPolicy::Imposed(Imposed { waf: 2.0, ..Imposed::NONE });
    assert!(refused(imposed).contains("moves no pages"));
    assert!(
        refused(|spec| spec.faults = Some(FaultSpec::NONE)).contains("repeated from the controller's copy")
    );
}
