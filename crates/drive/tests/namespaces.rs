//! Does each namespace own its blocks, its cache and its counters, and do all share dies, link and suspension?

use crate::drive_common::{Bench, Cells, closed, content, filled, mix, of_part, part, preconditioned};
use interpulse_drive::DriveSpec;
use interpulse_drive::ftl::zoned::spec::{FinishEnd, ResetEnd, ZoneSpec};
use interpulse_drive::ftl::{Ftl, FtlCounters};
use interpulse_drive::spec::{Acknowledge, FtlSpec, NamespaceSpec, OwnBlocks};
use interpulse_engine::account::{Account, Cause};
use interpulse_engine::{
    Bytes, Device, DeviceEvent, Duration, Op, Request, SimTime, Status, Tag, ZoneAction,
};
use interpulse_flash::suspend::{Scheme, SuspendPolicy};
use interpulse_workload::FlowSpec;

/// Four dies of 64 blocks.
fn base() -> DriveSpec {
    of_part(part(Cells::Tlc, 1, 64, 8), 2, 2, 1)
}

fn namespace(ftl: &FtlSpec, share: Option<f64>) -> NamespaceSpec {
    NamespaceSpec { share, fill: None, ftl: ftl.clone() }
}

/// FTL of zones of one die and one row.
fn zoned(spec: &DriveSpec) -> FtlSpec {
    let zones = ZoneSpec {
        width: Some(1),
        rows: 1,
        max_open: None,
        max_active: 4,
        reset_end: ResetEnd::WhenErased,
        zrwa: None,
        chunks: false,
        conventional: 0,
        size: None,
        finish_end: FinishEnd::AtOnce,
    };
    FtlSpec { zones: Some(zones), ..spec.ftl.clone() }
}

/// [`base`] with two page namespaces of half of the blocks.
fn two_pages() -> DriveSpec {
    let mut spec = base();
    spec.namespaces = vec![namespace(&spec.ftl, None), namespace(&spec.ftl, None)];
    spec
}

/// [`base`] with a page namespace and a zoned one.
fn page_and_zoned() -> DriveSpec {
    let mut spec = base();
    spec.namespaces = vec![namespace(&spec.ftl, Some(0.75)), namespace(&zoned(&spec), None)];
    spec
}

/// First sector of a namespace.
fn first_sector(bench: &Bench, namespace: u32) -> u64 {
    bench.host.device.namespace_sectors(namespace).start
}

/// What a command that a test submits comes back with.
struct Done {
    latency: Duration,
    status: Status,
    placed: Option<u64>,
    account: Account,
}

fn submit(bench: &mut Bench, op: Op, sector: u64, sectors: u32) {
    bench.host.device.submit(&mut bench.events, 0, Tag(0), Request::new(op, sector, sectors));
}

/// Runs to the next completion.
fn next_done(bench: &mut Bench) -> Done {
    loop {
        let (now, resource) = bench.events.next(bench.events.horizon()).expect("a command completes");
        bench.host.device.handle(&mut bench.events, resource);
        bench.events.settle();
        if let Some(DeviceEvent::Completed(of)) = bench.host.device.event() {
            let account = *of.account.unwrap();
            let done =
                Done { latency: now.since(of.submitted), status: of.status, placed: of.placed, account };
            bench.host.device.pop_event();
            return done;
        }
    }
}

fn execute(bench: &mut Bench, op: Op, sector: u64, sectors: u32) -> Done {
    submit(bench, op, sector, sectors);
    next_done(bench)
}

fn counters_of(bench: &Bench) -> Vec<FtlCounters> {
    bench.host.device.namespaces().unwrap().all().iter().map(|of| of.family().counters()).collect()
}

#[test]
fn a_namespace_of_all_blocks_behaves_as_the_drive() {
    let alone = base();
    let mut one = base();
    one.namespaces = vec![namespace(&one.ftl, Some(1.0))];
    let flows = [closed("f", 16, mix(0.4))];
    let [a, b] = [alone, one].map(|spec| {
        let mut bench = Bench::new(&spec, preconditioned(&spec, 1.0, 1.0, 3), &flows, 7);
        bench.run_requests(20_000);
        let of = &bench.host.window.flows[0];
        let found = (content(&of.read), content(&of.write), bench.host.device.ftl_counters());
        let account = bench.host.window.read_attribution.total();
        bench.finish();
        (found, account)
    });
    assert!(a.0.2.gc_units > 0, "garbage collection runs: {:?}", a.0.2);
    assert_eq!(a, b);
}

#[test]
fn blocks_are_divided_by_shares_and_capacities() {
    let mut spec = base();
    let own = |first, count| OwnBlocks { first, count };
    let with = |share: Option<f64>, capacity: Option<Bytes>| {
        let mut of = namespace(&spec.ftl, share);
        of.ftl.capacity = capacity;
        of
    };
    // 4 dies x 48 blocks x 48 units of 4 KiB / 1.4 = 25.71 MiB; 25 MiB need 47 blocks (25.18 MiB).
    let (quarter, capacity, rest) =
        (with(Some(0.25), None), with(None, Some(Bytes::mib(25))), with(None, None));
    spec.namespaces = vec![quarter.clone(), rest.clone()];
    assert_eq!(spec.namespace_blocks().unwrap(), [own(0, 16), own(16, 48)]);
    spec.namespaces = vec![capacity, quarter.clone()];
    assert_eq!(spec.namespace_blocks().unwrap(), [own(0, 47), own(47, 16)]);
    spec.namespaces = vec![rest.clone(), rest.clone(), rest];
    assert_eq!(spec.namespace_blocks().unwrap(), [own(0, 22), own(22, 21), own(43, 21)]);
    // The reserve for bad blocks is nobody's.
    spec.ftl.bad_block_reserve = 0.25;
    assert_eq!(spec.namespace_blocks().unwrap(), [own(0, 16), own(16, 16), own(32, 16)]);
    spec.namespaces = vec![quarter; 5];
    let why = spec.namespace_blocks().unwrap_err();
    assert!(why.message.contains("the namespaces ask for 60 of the 48 blocks of a plane"), "{why:?}");
}

#[test]
fn a_drive_with_namespaces_has_the_capacity_of_all_of_them_and_parts_of_the_cache() {
    let spec = page_and_zoned();
    let each = spec.namespaces().unwrap();
    let units: Vec<u32> = each.iter().map(|of| of.logical_units().unwrap()).collect();
    // 48 blocks: 9216 units / 1.4 in whole MiB. 16 blocks: 3072 units / 1.4 in whole MiB, in zones of 48 on each of four dies.
    assert_eq!(units, [6400, 1920]);
    assert_eq!(spec.logical_units().unwrap(), 8320);
    assert_eq!(spec.capacity().usable, Bytes(8320 * 4096));
    assert_eq!(each[0].cache.size, Bytes::mib(3));
    assert_eq!(each[1].cache.size, Bytes::mib(1));
}

#[test]
fn each_namespace_counts_its_own_writes() {
    let spec = two_pages();
    let flow = |name: &str, namespace, write| FlowSpec {
        namespace,
        limit: Some(4_000),
        ..closed(name, 8, mix(1.0 - write))
    };
    let mut bench = Bench::new(&spec, filled(&spec, 1.0), &[flow("a", 0, 0.0), flow("b", 1, 1.0)], 5);
    bench.run_out();
    let [a, b] = counters_of(&bench)[..] else { panic!("two namespaces") };
    assert_eq!(a, FtlCounters::default(), "reads write nothing");
    let absorbed = bench.host.device.counters.cache_overwrites;
    let cached = u64::from(bench.host.device.cache_used());
    assert_eq!(b.host_units + absorbed + cached, 4_000);
    assert!(b.gc_units > 0 && b.erases > 0, "{b:?}");
    assert_eq!(bench.host.device.ftl_counters(), b, "the drive counts the sum");
    bench.host.device.read_everything();
    bench.finish();
}

/// Waits of reads of the first 96 units of the page namespace for a program of the zoned one, on the first die.
fn waits(suspends: bool) -> Vec<u64> {
    let mut spec = page_and_zoned();
    if suspends {
        spec.nand.program_suspend = SuspendPolicy { scheme: Scheme::LoopBoundary, ..SuspendPolicy::NEVER };
    }
    let read = |unit: u64, beside_a_program: bool| {
        let mut bench = Bench::new(&spec, filled(&spec, 0.5), &[], 1);
        if beside_a_program {
            // Half of the zones are full: ten of them, so zone 20 is empty and on the first die.
            let zone = first_sector(&bench, 1) + 20 * 48 * 8;
            assert_eq!(execute(&mut bench, Op::Write, zone, 6 * 8).status, Status::Success);
        }
        // The program of 600 us begins after the write is complete: its data is loaded first.
        bench.run_to(SimTime(150_000));
        execute(&mut bench, Op::Read, unit * 8, 8)
    };
    (0..96)
        .map(|unit| {
            let (idle, busy) = (read(unit, false), read(unit, true));
            let wait = (busy.latency - idle.latency).as_ns();
            let of = |cause: Cause| busy.account[cause as usize] - idle.account[cause as usize];
            assert_eq!(of(Cause::Programs) + of(Cause::Stop) + of(Cause::Suspend), wait, "unit {unit}");
            wait
        })
        .collect()
}

#[test]
fn a_program_of_one_namespace_delays_reads_of_another_on_its_die_alone() {
    let (whole, suspended) = (waits(false), waits(true));
    let waiting = |waits: &[u64]| waits.iter().map(|&wait| wait > 0).collect::<Vec<_>>();
    assert_eq!(whole.iter().filter(|&&wait| wait > 0).count(), 24, "a die has a quarter of the data");
    assert_eq!(waiting(&whole), waiting(&suspended));
    // The same instant of the same program: one wait, shorter by all loops but the current one.
    let (long, short) = (*whole.iter().max().unwrap(), *suspended.iter().max().unwrap());
    assert!(whole.iter().all(|&wait| wait == 0 || wait == long), "{whole:?}");
    assert!(long > 400_000 && (long - short).is_multiple_of(50_000) && short < 50_000, "{long} {short}");
}

#[test]
fn a_full_cache_of_one_namespace_keeps_no_write_of_another_waiting() {
    let mut spec = two_pages();
    spec.cache.size = Bytes::kib(512);
    let at = SimTime(400_000);
    let write = |flood: bool| {
        let mut bench = Bench::new(&spec, filled(&spec, 1.0), &[], 1);
        if flood {
            // 64 slots each; 1024 units fill those of the second namespace for milliseconds, once their data has arrived.
            let sector = first_sector(&bench, 1);
            submit(&mut bench, Op::Write, sector, 512 * 8);
            submit(&mut bench, Op::Write, sector + 512 * 8, 512 * 8);
        }
        bench.run_to(SimTime(1_300_000));
        assert_eq!(bench.host.device.cache_free() == 128, !flood);
        bench.events.advance_to(bench.events.now().max(at));
        let done = execute(&mut bench, Op::Write, 0, 8);
        let left = bench.host.device.outstanding();
        while bench.host.device.outstanding() > 0 {
            next_done(&mut bench);
        }
        bench.finish();
        (done.latency, left)
    };
    let (idle, busy) = (write(false), write(true));
    assert_eq!(idle.1, 0);
    assert_eq!(busy, (idle.0, 2));
}

#[test]
fn zones_of_a_namespace_have_their_states_and_places() {
    let spec = page_and_zoned();
    let mut bench = Bench::new(&spec, filled(&spec, 0.5), &[], 1);
    let first = first_sector(&bench, 1);
    let zone = first + 30 * 48 * 8;
    let appended = execute(&mut bench, Op::Append, zone, 16);
    assert_eq!((appended.status, appended.placed), (Status::Success, Some(zone)));
    assert_eq!(execute(&mut bench, Op::Append, zone, 8).placed, Some(zone + 16));
    assert_eq!(execute(&mut bench, Op::Write, zone, 8).status, Status::ZoneInvalidWrite);
    assert_eq!(execute(&mut bench, Op::Zone(ZoneAction::Reset), zone, 0).status, Status::Success);
    assert_eq!(execute(&mut bench, Op::Zone(ZoneAction::Open), 0, 0).status, Status::InvalidOpcode);
    assert_eq!(execute(&mut bench, Op::Append, 0, 8).status, Status::InvalidOpcode);
    // A request across the end of the first namespace.
    assert_eq!(execute(&mut bench, Op::Read, first - 8, 16).status, Status::Success);
    assert_eq!(execute(&mut bench, Op::Write, first - 8, 16).status, Status::InvalidField);
    for sector in [0, first] {
        assert_eq!(execute(&mut bench, Op::Flush, sector, 0).status, Status::Success);
    }
    bench.host.device.read_everything();
    bench.finish();
}

#[test]
fn what_namespaces_do_not_go_together_with_is_refused() {
    let refused = |change: &dyn Fn(&mut DriveSpec), key: &str, part: &str| {
        let mut spec = two_pages();
        change(&mut spec);
        let why = spec.check().expect_err(key);
        assert!(why.keys[0] == key && why.message.contains(part), "{why:?}");
    };
    two_pages().check().unwrap();
    let second = |spec: &mut DriveSpec, change: &dyn Fn(&mut FtlSpec)| change(&mut spec.namespaces[1].ftl);
    let imposed =
        interpulse_drive::GcPolicy::ROWS.iter().find(|row| row.name == "imposed").unwrap().example();
    refused(&|s| s.ftl.capacity = Some(Bytes::mib(9)), "drive.capacity", "each namespace has a capacity");
    refused(&|s| second(s, &|f| f.gc = imposed), "namespace.1.gc", "namespace 2: imposed write");
    refused(
        &|s| second(s, &|f| f.over_provisioning = 0.01),
        "namespace.1.gc-soft",
        "namespace 2: a lane has 1.3 spare blocks",
    );
    refused(&|s| s.cache.size = Bytes::kib(64), "cache.size", "namespace 1: 32KiB holds 8 units");
    let through = Acknowledge::ROWS.iter().find(|row| row.name == "when-programmed").unwrap().example();
    let zones_write_through = |s: &mut DriveSpec| {
        *s = page_and_zoned();
        s.cache.acknowledge = through;
    };
    refused(&zones_write_through, "cache.acknowledge", "namespace 2: a write that is smaller");
}
