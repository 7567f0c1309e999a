//! Does it matter how a run is cut, or who else is there? Handling events up to a and then up to b must give
//! the numbers of one run to b; the same seed must give them twice, another seed others; idle queues, flows
//! that never start and a second drive on the same event queue must change nothing.

use crate::drive_common::{Bench, Histogram, closed, content, little, mix, preconditioned};
use interpulse_drive::DriveCounters;
use interpulse_drive::drive::Drive;
use interpulse_drive::ftl::FtlCounters;
use interpulse_drive::ftl::page::placement::stripe::{Allocation, Axis};
use interpulse_drive::spec::DriveSpec;
use interpulse_engine::{Bytes, Device, Duration, EventQueue, ResourceId, SimTime};
use interpulse_flash::command::DIE_ACTIVITIES;
use interpulse_flash::nand::NandCounters;
use interpulse_flash::suspend::{Scheme, SuspendCosts, SuspendPolicy};
use interpulse_host::{CauseSums, Host, HostCounters};
use interpulse_workload::{
    AddressSpec, Arrivals, BlockSize, FlowSpec, HotCold, SyntheticPacing, SyntheticSpec,
};

/// Everything a run is measured by.
#[derive(Clone, Debug, PartialEq)]
struct Numbers {
    flows: Vec<[Histogram; 3]>,
    blame: [CauseSums; 2],
    host: HostCounters,
    drive: DriveCounters,
    ftl: FtlCounters,
    nand: NandCounters,
    uses: Vec<[u64; DIE_ACTIVITIES]>,
    checked: u64,
    outstanding: usize,
}

/// The numbers of a drive at `now`; only the first `flows` flows.
fn numbers(host: &mut Host<Drive>, now: SimTime, flows: usize) -> Numbers {
    let drive = &mut host.device;
    let uses = drive.nand_mut().dies_mut().iter_mut().map(|die| {
        die.usage.settle(now);
        die.usage.uses()
    });
    let uses = uses.collect();
    let w = &host.window;
    Numbers {
        flows: w.flows[..flows]
            .iter()
            .map(|f| [content(&f.read), content(&f.write), content(&f.other)])
            .collect(),
        blame: [w.read_attribution.total(), w.write_attribution.total()],
        host: w.counters,
        drive: drive.counters,
        ftl: drive.ftl_counters(),
        nand: drive.nand().counters,
        uses,
        checked: drive.versions_checked(),
        outstanding: drive.outstanding(),
    }
}

/// A drive on which everything happens: suspensions, collection, stalls, several queues.
fn busy_spec() -> DriveSpec {
    let mut spec = little();
    spec.cache.size = Bytes::kib(512);
    spec.nand.multi_plane_reads = true;
    let costs =
        SuspendCosts { entry: Duration::from_us(3), resume: Duration::from_us(5), ..SuspendCosts::default() };
    let scheme = SuspendPolicy::unlimited(Scheme::LoopBoundary, costs);
    spec.nand.program_suspend = SuspendPolicy { max_suspends: Some(3), ..scheme };
    spec.nand.erase_suspend = spec.nand.program_suspend.clone();
    spec.host.queue_weights = vec![1, 2];
    spec.host.queue_depth = 16;
    spec.host.frame_buffer = 16;
    spec
}

fn other_spec() -> DriveSpec {
    let mut spec = busy_spec();
    spec.ftl.allocation = Allocation::Static([Axis::C, Axis::W, Axis::D, Axis::P]);
    spec.nand.program_suspend = SuspendPolicy::NEVER;
    spec
}

/// A closed flow with trims, flushes and partial writes, and an open one of reads.
fn busy_flows() -> Vec<FlowSpec> {
    let kib = |k: f64| Bytes((k * 1024.0) as u64);
    let writer = SyntheticSpec {
        read_share: 0.2,
        write_share: 0.7,
        trim_share: 0.1,
        flush_every: Some(200),
        block_size: BlockSize::Weighted(vec![(kib(4.0), 8.0), (kib(1.5), 1.0), (kib(32.0), 1.0)]),
        alignment: Bytes(512),
        addresses: AddressSpec::HotCold(HotCold { hot_share: 0.2, hot_traffic: 0.8 }),
        ..SyntheticSpec::default()
    };
    let reader = SyntheticSpec {
        pacing: SyntheticPacing::Open { rate_per_s: 5_000.0, arrivals: Arrivals::Poisson },
        ..mix(1.0)
    };
    vec![closed("writer", 32, writer), FlowSpec { queue: 1, ..FlowSpec::synthetic("reader", reader) }]
}

fn bench(spec: &DriveSpec, flows: &[FlowSpec], seed: u64) -> Bench {
    Bench::new(spec, preconditioned(spec, 1.0, 1.0, 3), flows, seed)
}

const END: SimTime = SimTime(1_000_000_000);

/// One run to the end; only the first `flows` flows are reported.
fn straight(spec: &DriveSpec, flows: &[FlowSpec], seed: u64, reported: usize) -> Numbers {
    let mut b = bench(spec, flows, seed);
    b.run_to(END);
    numbers(&mut b.host, END, reported)
}

#[test]
fn the_runs_compared_here_are_eventful() {
    let n = straight(&busy_spec(), &busy_flows(), 1, 2);
    assert!(n.host.requests > 5_000, "{:?}", n.host);
    assert!(n.nand.program_suspends > 100 && n.nand.erase_suspends > 10, "{:?}", n.nand);
    assert!(n.ftl.gc_units > 100 && n.ftl.erases > 10, "{:?}", n.ftl);
    let h = n.drive;
    assert!(h.cache_stalls > 100 && h.trimmed_units > 100 && h.read_modify_writes > 100, "{h:?}");
    assert!(h.cache_read_hits > 10 && h.cache_overwrites > 10 && h.unmapped_reads > 10, "{h:?}");
}

#[test]
fn a_run_in_pieces_is_the_run() {
    let (spec, flows) = (busy_spec(), busy_flows());
    let whole = straight(&spec, &flows, 1, 2);
    for pieces in [2u64, 7, 5000] {
        let mut b = bench(&spec, &flows, 1);
        for k in 1..=pieces {
            let at = SimTime(END.as_ns() * k / pieces);
            b.run_to(at);
            // A reader in between, as a progress display would be.
            b.assert_dies_add_up();
        }
        assert_eq!(b.events.now(), END);
        assert_eq!(numbers(&mut b.host, END, 2), whole, "{pieces} pieces");
    }
}

#[test]
fn windows_add_up_to_the_run() {
    let (spec, flows) = (busy_spec(), busy_flows());
    let whole = straight(&spec, &flows, 1, 2);
    let mut b = bench(&spec, &flows, 1);
    let (mut requests, mut latency) = (0, 0);
    for k in 1..=10 {
        b.host.begin_window();
        b.run_to(SimTime(END.as_ns() * k / 10));
        requests += b.host.window.counters.requests;
        latency += b.host.window.flows.iter().map(|f| f.all().sum_ns()).sum::<u128>();
    }
    let all = whole.flows.iter().flatten().map(|h| h.1).sum::<u128>();
    assert_eq!((requests, latency), (whole.host.requests, all));
}

#[test]
fn the_same_seed_gives_the_same_numbers_and_another_seed_others() {
    let (spec, flows) = (busy_spec(), busy_flows());
    let first = straight(&spec, &flows, 1, 2);
    assert_eq!(straight(&spec, &flows, 1, 2), first);
    let other = straight(&spec, &flows, 2, 2);
    assert_ne!(other.flows, first.flows);
    assert_ne!(other.nand, first.nand);
}

#[test]
fn an_idle_queue_changes_nothing() {
    let flows = busy_flows();
    let mut wide = busy_spec();
    wide.host.queue_weights.push(5);
    assert_eq!(straight(&wide, &flows, 1, 2), straight(&busy_spec(), &flows, 1, 2));
}

#[test]
fn a_flow_that_never_starts_changes_nothing() {
    let spec = busy_spec();
    let mut flows = busy_flows();
    let alone = straight(&spec, &flows, 1, 2);
    flows.push(FlowSpec { start: SimTime(END.as_ns() + 1), ..closed("late", 8, mix(0.5)) });
    assert_eq!(straight(&spec, &flows, 1, 2), alone);
}

/// Two drives on one event queue, the second one's resources behind the first one's.
#[test]
fn two_drives_in_one_virtual_time_are_as_each_alone() {
    let specs = [busy_spec(), other_spec()];
    let flows = busy_flows();
    let seeds = [1, 9];
    let alone: Vec<Numbers> =
        specs.iter().zip(seeds).map(|(spec, seed)| straight(spec, &flows, seed, 2)).collect();

    let mut first = [0, 0];
    first[1] = Drive::resources(&specs[0], 2);
    let mut events = EventQueue::new(first[1] + Drive::resources(&specs[1], 2));
    let mut hosts: Vec<Host<Drive>> = (0..2)
        .map(|k| {
            let state = preconditioned(&specs[k], 1.0, 1.0, 3);
            let drive = Drive::new(specs[k].clone(), state, seeds[k], ResourceId(first[k]), 2);
            Host::new(drive, &flows, seeds[k], ()).unwrap()
        })
        .collect();
    hosts.iter_mut().for_each(|host| host.start(&mut events).unwrap());
    while let Some((_, resource)) = events.next(END) {
        hosts[usize::from(resource.0 >= first[1])].handle(&mut events, resource);
        events.settle();
    }
    for (host, alone) in hosts.iter_mut().zip(&alone) {
        assert_eq!(&numbers(host, END, 2), alone);
    }
}
