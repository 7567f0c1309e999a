//! Does a write that is complete when its data is on flash take exactly what that takes, and is its time booked on
//! the right causes? (That the causes add up is asserted for every request of every run.)

use crate::drive_common::{Bench, Cells, closed, filled, little, mix, of_part, part, preconditioned};
use interpulse_drive::ftl::page::placement::stripe::{Allocation, Axis};
use interpulse_drive::spec::{Acknowledge, DriveSpec};
use interpulse_engine::account::{CAUSES, Cause};
use interpulse_flash::nand::Nand;
use interpulse_flash::nand::queue::Policy;
use interpulse_flash::suspend::{Scheme, SuspendPolicy};
use interpulse_workload::{AddressSpec, FlowSpec, HotCold, SyntheticSpec};

const STATIC: Allocation = Allocation::Static([Axis::C, Axis::W, Axis::D, Axis::P]);

fn through(mut spec: DriveSpec) -> DriveSpec {
    spec.cache.acknowledge = Acknowledge::WhenProgrammed;
    spec
}

fn limited(flow: FlowSpec, requests: u64) -> FlowSpec {
    FlowSpec { limit: Some(requests), ..flow }
}

/// One program of [`part`] `Cells::Tlc` alone on its channel: three loads with their set-up, then twelve loops.
fn program_time(nand: &Nand) -> u64 {
    let t = nand.timing();
    (t.command + (t.page_load + t.buffer_setup) * 3).as_ns() + 12 * 50_000
}

fn writes_by_cause(bench: &Bench) -> (u64, [u128; CAUSES]) {
    let sums = bench.host.window.write_attribution.total();
    (sums.requests, sums.by_cause)
}

/// One request at a time: the latency is that of a cached write, less the cache, plus the program.
#[test]
fn a_write_alone_takes_its_program_on_top() {
    let run = |spec: &DriveSpec| {
        let mut b = Bench::new(spec, filled(spec, 1.0), &[limited(closed("w", 1, mix(0.0)), 6)], 1);
        b.run_out();
        b.finish();
        b
    };
    for allocation in [Allocation::Dynamic, STATIC] {
        let mut spec = little();
        spec.ftl.allocation = allocation;
        let cached = run(&spec);
        let b = run(&through(spec));
        let own = program_time(b.host.device.nand());
        let latency = |b: &Bench| b.host.window.flows[0].write.sum_ns() / 6;
        assert_eq!(latency(&b), latency(&cached) - 500 + u128::from(own));
        let (count, sums) = writes_by_cause(&b);
        assert_eq!((count, sums[Cause::OwnProgram as usize]), (6, 6 * u128::from(own)));
        // Link and firmware are the rest.
        let rest = sums[Cause::Link as usize] + sums[Cause::Firmware as usize];
        assert_eq!(rest + 6 * u128::from(own), b.host.window.flows[0].write.sum_ns());
        // A program of its own for each, of which five sixths carry nothing.
        let counters = b.host.device.ftl_counters();
        assert_eq!((counters.host_units, counters.padding_units), (6, 6 * 5));
    }
}

/// The units of one request share a program, and it waits for the last of its programs.
#[test]
fn a_large_write_waits_for_the_last_of_its_programs() {
    let mut spec = through(of_part(part(Cells::Tlc, 1, 24, 8), 1, 1, 1));
    spec.nand.policy = Policy::Fifo;
    let size = interpulse_workload::BlockSize::Fixed(interpulse_engine::Bytes::kib(40));
    let flow = closed("w", 1, SyntheticSpec { block_size: size, ..mix(0.0) });
    let mut b = Bench::new(&spec, filled(&spec, 1.0), &[limited(flow, 1)], 1);
    b.run_out();
    b.finish();
    // Ten units: a program of six and one of four, one after the other on the only die.
    let own = u128::from(program_time(b.host.device.nand()));
    let (_, sums) = writes_by_cause(&b);
    assert_eq!((sums[Cause::Programs as usize], sums[Cause::OwnProgram as usize]), (own, own));
    assert_eq!(b.host.device.nand().counters.host_programs, 2);
}

/// What a program waits for while it is stopped is not its own time: with a scheme that costs nothing, the own part
/// of every write is one program, whatever the reads do.
#[test]
fn time_in_which_a_program_is_stopped_is_the_reads() {
    let mut spec = through(of_part(part(Cells::Tlc, 1, 24, 8), 1, 1, 1));
    spec.nand.program_suspend =
        SuspendPolicy { scheme: Scheme::Ideal, max_suspends: None, ..SuspendPolicy::NEVER };
    let flows = [limited(closed("w", 2, mix(0.0)), 40), limited(closed("r", 1, mix(1.0)), 2_000)];
    let mut b = Bench::new(&spec, filled(&spec, 0.5), &flows, 1);
    b.run_out();
    b.finish();
    let (count, sums) = writes_by_cause(&b);
    let suspends = b.host.device.nand().counters.program_suspends;
    assert!(suspends > 100, "{suspends}");
    assert_eq!(sums[Cause::OwnProgram as usize], u128::from(count * program_time(b.host.device.nand())));
    assert!(sums[Cause::HostReads as usize] > 100 * 40_000, "{sums:?}");
    assert!(sums[Cause::Programs as usize] > 0, "the second write waits behind the first: {sums:?}");
}

/// Programs wait in the queue of their die, in the order of their writes, and not in the cache: under `fifo` a read
/// stands behind all of them.
#[test]
fn nothing_is_held_back_in_the_cache() {
    for allocation in [Allocation::Dynamic, STATIC] {
        let mut spec = through(of_part(part(Cells::Tlc, 1, 24, 8), 1, 1, 1));
        spec.ftl.allocation = allocation;
        let mut b = Bench::new(&spec, filled(&spec, 0.2), &[limited(closed("w", 7, mix(0.0)), 7)], 1);
        while b.host.device.nand().pending() < 7 {
            assert!(b.step(b.events.horizon()), "seven programs are under way at a time");
        }
        b.run_out();
        b.finish();
        let (_, sums) = writes_by_cause(&b);
        assert_eq!(sums[Cause::Cache as usize], 0, "{sums:?}");
        // The k-th program waits for those before it, less what their commands arrived later.
        let own = u128::from(program_time(b.host.device.nand()));
        let waited = sums[Cause::Programs as usize];
        assert!(waited > 20 * own && waited < 21 * own, "{waited} of 21 x {own}");
    }
}

/// Writes and reads of the same few units: every write is programmed, each completes, and every read finds the newest version (the audit follows every unit).
#[test]
fn writes_to_one_unit_are_all_programmed() {
    for allocation in [Allocation::Dynamic, STATIC] {
        let mut spec = through(little());
        spec.ftl.allocation = allocation;
        let few = AddressSpec::HotCold(HotCold { hot_share: 0.001, hot_traffic: 1.0 });
        let flow = closed("f", 16, SyntheticSpec { addresses: few, ..mix(0.4) });
        let mut b = Bench::new(&spec, filled(&spec, 1.0), &[limited(flow, 5_000)], 1);
        b.run_out();
        b.finish();
        let written = b.host.window.counters.written_bytes / 4096;
        let drive = b.host.device.counters;
        assert_eq!((drive.cache_overwrites, b.host.device.ftl_counters().host_units), (0, written));
        assert!(drive.cache_read_hits > 100, "reads find data that is being programmed");
    }
}

/// Writes that wait for a free block are released by a trim of what they wrote.
#[test]
fn a_trimmed_write_is_not_waited_for() {
    for allocation in [Allocation::Dynamic, STATIC] {
        let mut spec = through(little());
        spec.ftl.allocation = allocation;
        let requests =
            SyntheticSpec { read_share: 0.0, write_share: 0.6, trim_share: 0.4, ..SyntheticSpec::default() };
        let state = preconditioned(&spec, 1.0, 1.0, 3);
        let mut b = Bench::new(&spec, state, &[limited(closed("f", 512, requests), 20_000)], 1);
        b.run_out();
        b.finish();
        let written = b.host.window.counters.written_bytes / 4096;
        let programmed = b.host.device.ftl_counters().host_units;
        assert!(programmed < written, "{programmed} of {written} units: some were trimmed before");
    }
}
