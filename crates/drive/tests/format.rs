//! Does a format deallocate its namespace, erase the blocks that it should in the time of their erases, and refuse commands
//! meanwhile?

use crate::drive_common::{Bench, closed, filled, little, mix, preconditioned};
use crate::randomised_drives::{draw_drive, draw_flow, pick};
use interpulse_drive::Formatted;
use interpulse_drive::spec::{DriveSpec, FormatSpec, NamespaceSpec};
use interpulse_engine::{Duration, SimTime, Status, Streams};
use interpulse_workload::FlowSpec;

fn ms(ms: u64) -> Duration {
    Duration::from_ms(ms)
}

/// [`little`] with these formats.
fn with(formats: &[FormatSpec]) -> DriveSpec {
    DriveSpec { formats: formats.to_vec(), ..little() }
}

fn plain(at: Duration) -> FormatSpec {
    FormatSpec { at, namespace: None, erases: false, takes: Duration::ZERO }
}

fn until(flow: FlowSpec, end: u64) -> FlowSpec {
    FlowSpec { stop: Some(SimTime(end * 1_000_000)), ..flow }
}

fn refused(bench: &Bench) -> u64 {
    let (refused, of) = (bench.host.window.refused, Status::FormatInProgress as usize);
    assert_eq!(refused.count(), refused.writes[of] + refused.others[of], "nothing else is refused");
    refused.count()
}

fn only(bench: &Bench) -> Formatted {
    let [format] = bench.host.device.formats() else { panic!("one format has begun") };
    *format
}

#[test]
fn a_format_deallocates_everything_at_once() {
    let spec = with(&[plain(ms(10))]);
    let units = u64::from(spec.ftl_config().unwrap().logical_units);
    let mut b = Bench::new(&spec, filled(&spec, 0.5), &[until(closed("f", 4, mix(1.0)), 20)], 1);
    b.run_to(SimTime(9_999_999));
    assert_eq!(b.host.device.formats(), []);
    b.run_to(SimTime(10_000_000));
    let format = only(&b);
    assert_eq!((format.deallocated, format.erased), (units / 2, 0));
    assert_eq!(format.ended, Some(SimTime(10_000_000)));
    b.run_for(Duration::from_us(500));
    let flash_reads = b.host.device.nand().counters.host_reads;
    b.run_out();
    assert_eq!(b.host.device.nand().counters.host_reads, flash_reads, "nothing is on flash any more");
    assert!(b.host.window.counters.requests > 1000 && refused(&b) == 0);
    b.finish();
}

/// A drive in steady state writes as a fresh one after a format, whether its blocks were erased then or are erased when they
/// are needed.
#[test]
fn write_amplification_begins_anew() {
    let amplification = |formats: &[FormatSpec]| {
        let spec = with(formats);
        let writes = FlowSpec { start: SimTime(200_000_000), ..closed("f", 32, mix(0.0)) };
        let units = u64::from(spec.ftl_config().unwrap().logical_units);
        let flows = [FlowSpec { limit: Some(units / 2), ..writes }];
        let mut b = Bench::new(&spec, preconditioned(&spec, 1.0, 2.0, 1), &flows, 1);
        b.run_out();
        let ftl = b.host.device.ftl_counters();
        b.finish();
        (ftl.host_units + ftl.gc_units) as f64 / ftl.host_units as f64
    };
    let kept = amplification(&[]);
    assert!(kept > 1.5, "{kept}");
    for erases in [false, true] {
        assert_eq!(amplification(&[FormatSpec { erases, ..plain(ms(10)) }]), 1.0);
    }
}

/// The blocks of a die are erased one after the other, those of different dies at the same time.
#[test]
fn erasing_takes_the_erases_of_a_die() {
    let spec = with(&[FormatSpec { erases: true, ..plain(ms(10)) }]);
    let layout = spec.layout().unwrap();
    let mut b = Bench::new(&spec, filled(&spec, 1.0), &[], 1);
    let free = |b: &Bench| b.host.device.free_blocks().collect::<Vec<u32>>();
    let before = free(&b);
    b.run_to(SimTime(9_000_000));
    let erases = b.host.device.ftl_counters().erases;
    b.run_to(SimTime(2_000_000_000));
    let format = only(&b);
    let after = free(&b);
    let gained: Vec<u32> = before.iter().zip(&after).map(|(before, after)| after - before).collect();
    assert_eq!(u64::from(gained.iter().sum::<u32>()), format.erased, "each block becomes free");
    assert_eq!(b.host.device.ftl_counters().erases - erases, format.erased);
    assert_eq!(b.host.device.ftl_counters().gc_units, 0);
    // Only open blocks, of which a lane has few, hold what has been deallocated.
    assert!(after.iter().all(|&of| of + 4 >= layout.blocks), "{after:?} of {}", layout.blocks);
    let of_die = gained.chunks(layout.lanes_per_die as usize).map(|lanes| lanes.iter().sum::<u32>());
    let erase = spec.part.erase.loop_time() * u64::from(spec.part.erase.loops);
    let least = erase * u64::from(of_die.max().unwrap());
    let took = format.ended.expect("it has ended").since(SimTime(10_000_000));
    assert!(took >= least && took.as_ns() < least.as_ns() * 101 / 100, "{took}, at least {least}");
    b.finish();
}

#[test]
fn commands_are_refused_until_it_ends() {
    let takes = ms(5);
    let spec = with(&[FormatSpec { takes, ..plain(ms(10)) }, plain(ms(12))]);
    let mut b = Bench::new(&spec, filled(&spec, 1.0), &[until(closed("f", 1, mix(0.5)), 30)], 1);
    b.run_to(SimTime(10_100_000));
    b.host.begin_window();
    b.run_to(SimTime(14_900_000));
    let requests = b.host.window.counters.requests;
    assert_eq!(refused(&b), requests, "all");
    // 19 ns for the command, 5 us of firmware, 5 ns for the completion.
    assert_eq!(requests, 4_800_000 / 5_024);
    assert_eq!((only(&b).ended, b.host.window.counters.read_bytes), (None, 0));
    b.run_to(SimTime(15_100_000));
    b.host.begin_window();
    b.run_out();
    assert_eq!(only(&b).ended, Some(SimTime(15_000_000)), "the second command found the first in progress");
    assert_eq!(refused(&b), 0);
    assert!(b.host.window.counters.requests > 500, "{}", b.host.window.counters.requests);
    b.finish();
}

#[test]
fn other_namespaces_go_on() {
    let mut spec = with(&[FormatSpec { namespace: Some(1), erases: true, takes: ms(50), ..plain(ms(10)) }]);
    spec.ftl.over_provisioning = 1.0;
    let namespace = NamespaceSpec { ftl: spec.ftl.clone(), share: None, fill: None };
    spec.namespaces = vec![namespace.clone(), namespace];
    let flow = |k: u32, name: &str| FlowSpec { namespace: k, ..until(closed(name, 4, mix(0.7)), 100) };
    let mut b = Bench::new(&spec, filled(&spec, 1.0), &[flow(0, "kept"), flow(1, "formatted")], 1);
    b.run_out();
    let refused = |k: usize| b.host.window.refused_by_flow[k].count();
    assert!(refused(0) == 0 && refused(1) > 1000);
    let namespaces = b.host.device.namespaces().unwrap().all();
    assert_eq!(only(&b).deallocated, u64::from(namespaces[1].units()));
    let erases = |k: usize| {
        use interpulse_drive::ftl::Ftl;
        namespaces[k].family().counters().erases
    };
    assert!(erases(1) >= only(&b).erased && erases(0) < erases(1));
    b.finish();
}

#[test]
fn nothing_is_lost_when_random_drives_are_formatted() {
    let (mut made, mut erased, mut refusals, mut deallocated) = (0, 0, 0, 0);
    for seed in 700_000.. {
        let mut rng = Streams::new(seed).stream("test.format", 0);
        let Some(mut spec) = draw_drive(&mut rng, None) else { continue };
        for _ in 0..1 + rng.below(3) {
            let at = Duration::from_us(500 + rng.below(40_000));
            let takes = Duration::from_us(pick(&mut rng, &[0, 0, 3_000]));
            spec.formats.push(FormatSpec { at, namespace: None, erases: rng.below(2) == 0, takes });
        }
        if spec.check().is_err() {
            spec.formats.iter_mut().for_each(|of| of.erases = false);
        }
        if spec.check().is_err() {
            continue;
        }
        let flows: Vec<FlowSpec> =
            ["a", "b"].iter().map(|name| draw_flow(&mut rng, &spec, name, 2_000)).collect();
        println!("world {seed}: {spec:#?}\n{flows:#?}");
        let overwrites = pick(&mut rng, &[0.0, 1.0]);
        let mut b = Bench::new(&spec, preconditioned(&spec, 1.0, overwrites, seed), &flows, seed);
        b.run_out();
        b.host.device.read_everything();
        let formats = b.host.device.formats();
        erased += formats.iter().map(|of| of.erased).sum::<u64>();
        deallocated += formats.iter().map(|of| of.deallocated).sum::<u64>();
        refusals += b.host.window.refused.others[Status::FormatInProgress as usize];
        assert_eq!(b.finish().requests, 4_000);
        made += 1;
        if made == 60 {
            break;
        }
    }
    assert!(erased > 300 && refusals > 100 && deallocated > 10_000, "{erased} {refusals} {deallocated}");
}

#[test]
fn a_format_of_an_empty_drive_ends_at_once() {
    let spec = with(&[FormatSpec { erases: true, ..plain(ms(1)) }]);
    let mut b = Bench::new(&spec, filled(&spec, 0.0), &[until(closed("f", 1, mix(1.0)), 3)], 1);
    b.run_out();
    let format = only(&b);
    assert_eq!((format.deallocated, format.erased, format.ended), (0, 0, Some(SimTime(1_000_000))));
    b.finish();
}
