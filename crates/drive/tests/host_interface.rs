//! Does the host see what it would see? Little's law, shares of queues, the rate of the link, back-pressure
//! from flash, cache hits, what flush and trim mean, partial writes, and when flows stop.

use crate::drive_common::{Bench, Cells, closed, filled, little, mix, of_part, part, preconditioned};
use interpulse_drive::ftl::page::placement::stripe::{Allocation, Axis};
use interpulse_drive::host_interface::delays::DelaySpec;
use interpulse_drive::host_interface::link::{LinkSpec, Pcie};
use interpulse_drive::host_interface::queue_classes::{ClassSpec, QueueClass};
use interpulse_drive::host_interface::queues::Arbitration;
use interpulse_drive::spec::DriveSpec;
use interpulse_engine::{Bytes, Device, Duration, SimTime};
use interpulse_flash::geometry::UNIT_BYTES;
use interpulse_workload::{AddressSpec, Arrivals, BlockSize, FlowSpec, SyntheticPacing, SyntheticSpec};

const STATIC: Allocation = Allocation::Static([Axis::C, Axis::W, Axis::D, Axis::P]);

fn limited(flow: FlowSpec, requests: u64) -> FlowSpec {
    FlowSpec { limit: Some(requests), ..flow }
}

fn open(name: &str, rate_per_s: f64, synthetic: SyntheticSpec) -> FlowSpec {
    let pacing = SyntheticPacing::Open { rate_per_s, arrivals: Arrivals::Fixed };
    FlowSpec::synthetic(name, SyntheticSpec { pacing, ..synthetic })
}

fn ms(ms: u64) -> SimTime {
    SimTime(ms * 1_000_000)
}

fn trims() -> SyntheticSpec {
    SyntheticSpec { read_share: 0.0, trim_share: 1.0, ..SyntheticSpec::default() }
}

/// Bytes per second that the dies can program: every die without a pause, loads overlapping nothing.
fn program_rate(spec: &DriveSpec) -> f64 {
    let layout = spec.layout().unwrap();
    let train = spec.part.program.loop_time() * u64::from(spec.part.program.loops);
    let bytes = f64::from(layout.units_per_program) * UNIT_BYTES as f64;
    f64::from(spec.geometry.dies()) * bytes / (train.as_ns() as f64 / 1e9)
}

// ---- Little's law -------------------------------------------------------------------------------------

/// In a closed loop of depth Q exactly Q requests are outstanding at every instant, so the latencies of the
/// requests completed in a window T sum to Q T, up to what the requests open at its edges have spent outside:
/// at most Q times the longest latency.
#[test]
fn littles_law_holds_for_closed_loops_as_bookkeeping() {
    for (read_share, trim_share) in [(1.0, 0.0), (0.7, 0.0), (0.0, 0.0), (0.4, 0.2)] {
        for depth in [1u32, 3, 32, 256] {
            let spec = little();
            let requests =
                SyntheticSpec { trim_share, write_share: 1.0 - read_share - trim_share, ..mix(read_share) };
            let mut b =
                Bench::new(&spec, preconditioned(&spec, 1.0, 1.0, 2), &[closed("f", depth, requests)], 1);
            b.run_for(Duration::from_ms(50));
            b.host.begin_window();
            let window = Duration::from_ms(400);
            b.run_for(window);
            let all = b.host.window.flows[0].all();
            let q = u128::from(depth);
            let expected = q * u128::from(window.as_ns());
            // Nothing takes longer than the longest seen, or than what is still outstanding: drain to know it.
            let sum = all.sum_ns();
            b.finish();
            let longest = b.host.window.flows[0].all().max().unwrap();
            let edge = q * u128::from(longest.as_ns());
            assert!(
                sum.abs_diff(expected) <= edge,
                "depth {depth}, reads {read_share}: latencies sum to {sum} ns, {expected} +- {edge} expected"
            );
            assert!(edge * 2 < expected, "depth {depth}: the bound {edge} says something");
        }
    }
}

#[test]
fn a_queue_bounds_what_is_in_the_controller() {
    // Depth 64 in the host, but the queue pair holds 2: the rate is that of depth 2.
    let rate = |depth, queue_depth| {
        let mut spec = little();
        spec.host.queue_depth = queue_depth;
        let mut b = Bench::new(&spec, filled(&spec, 1.0), &[closed("f", depth, mix(1.0))], 1);
        b.run_for(Duration::from_ms(200));
        b.host.window.counters.requests as f64
    };
    assert!((rate(64, 2) / rate(2, 1024) - 1.0).abs() < 0.02);
    assert!(rate(64, 1024) > 1.8 * rate(2, 1024));
}

// ---- arbitration --------------------------------------------------------------------------------------

/// Completed requests of two saturating flows on two queues.
fn shares(arbitration: Arbitration, weights: Vec<u32>) -> [u64; 2] {
    let mut spec = little();
    spec.host.arbitration = arbitration;
    spec.host.queue_weights = weights;
    spec.host.frame_buffer = 4;
    let on = |queue, name| FlowSpec { queue, ..closed(name, 32, mix(1.0)) };
    let mut b = Bench::new(&spec, filled(&spec, 1.0), &[on(0, "a"), on(1, "b")], 1);
    b.run_requests(1000);
    b.host.begin_window();
    b.run_requests(12_000);
    let done = |f: usize| b.host.window.flows[f].count();
    [done(0), done(1)]
}

#[test]
fn saturated_queues_share_as_arbitration_says() {
    // Up to the commands in the controller at the edges of the window and one round of the weights.
    let near = |is: u64, expected: u64| is.abs_diff(expected) <= 8;
    let [a, b] = shares(Arbitration::RoundRobin, vec![1, 1]);
    assert!(near(a, 6000) && near(b, 6000), "round robin: {a} and {b}");
    let [a, b] = shares(Arbitration::RoundRobin, vec![3, 1]);
    assert!(near(a, 6000) && near(b, 6000), "round robin knows no weights: {a} and {b}");
    let [a, b] = shares(Arbitration::Weighted, vec![3, 1]);
    assert!(near(a, 9000) && near(b, 3000), "weighted 3:1: {a} and {b}");
    let [a, b] = shares(Arbitration::Weighted, vec![1, 5]);
    assert!(near(a, 2000) && near(b, 10_000), "weighted 1:5: {a} and {b}");
}

/// Completed requests of a saturating flow on a queue of each class.
fn shares_of_classes(classes: &[QueueClass], weights: [u32; 3], burst: u32) -> Vec<u64> {
    let mut spec = little();
    spec.host.arbitration = Arbitration::Classes;
    spec.host.queue_weights = vec![1; classes.len()];
    spec.host.classes = Some(ClassSpec {
        queue_classes: classes.to_vec(),
        class_weights: weights.to_vec(),
        arbitration_burst: burst,
    });
    spec.host.frame_buffer = 4;
    let names: Vec<String> = (0..classes.len()).map(|k| k.to_string()).collect();
    let on = |(queue, name): (u32, &String)| FlowSpec { queue, ..closed(name, 64, mix(1.0)) };
    let flows: Vec<FlowSpec> = (0..).zip(&names).map(on).collect();
    let mut b = Bench::new(&spec, filled(&spec, 1.0), &flows, 1);
    b.run_requests(1000);
    b.host.begin_window();
    b.run_requests(14_000);
    b.host.window.flows.iter().map(|flow| flow.count()).collect()
}

#[test]
fn saturated_classes_share_as_their_weights_say() {
    use QueueClass::{High, Low, Medium, Urgent};
    // Up to the commands in the controller at the edges of the window and one round.
    let near = |is: &[u64], expected: &[u64], edge: u64| {
        assert!(
            is.iter().zip(expected).all(|(a, b)| a.abs_diff(*b) <= edge),
            "{is:?}, expected {expected:?}"
        );
    };
    near(&shares_of_classes(&[High, Medium, Low], [8, 4, 2], 1), &[8000, 4000, 2000], 14);
    near(&shares_of_classes(&[Low, Low, High], [5, 1, 2], 1), &[2000, 2000, 10_000], 14);
    near(&shares_of_classes(&[Medium, Medium], [1, 1, 1], 16), &[7000, 7000], 40);
    // Every command of the urgent class is fetched before others: those have what it leaves, which is nothing.
    near(&shares_of_classes(&[Urgent, High, Low], [8, 4, 2], 1), &[14_000, 0, 0], 4);
}

#[test]
fn an_idle_queue_leaves_its_share_to_the_others() {
    let mut spec = little();
    spec.host.arbitration = Arbitration::Weighted;
    spec.host.queue_weights = vec![1, 9];
    spec.host.frame_buffer = 4;
    let flow = closed("a", 32, mix(1.0));
    let mut both = Bench::new(&spec, filled(&spec, 1.0), std::slice::from_ref(&flow), 1);
    both.run_to(ms(100));
    spec.host.queue_weights = vec![1];
    let mut alone = Bench::new(&spec, filled(&spec, 1.0), &[flow], 1);
    alone.run_to(ms(100));
    assert_eq!(both.host.device.completed(), alone.host.device.completed());
}

// ---- the link -----------------------------------------------------------------------------------------

#[test]
fn the_link_saturates_at_its_payload_rate() {
    for (generation, lanes) in [(1, 1), (3, 4), (5, 4)] {
        let mut spec = little();
        spec.host.link = LinkSpec::Pcie(Pcie { generation, lanes, max_payload: 256 });
        let reads = SyntheticSpec { block_size: BlockSize::Fixed(Bytes::kib(128)), ..mix(1.0) };
        // Nothing has been written: reads need no flash.
        let mut b = Bench::new(&spec, filled(&spec, 0.0), &[closed("f", 32, reads)], 1);
        b.run_for(Duration::from_ms(20));
        b.host.begin_window();
        b.run_for(Duration::from_ms(500));
        let rate = b.host.window.counters.read_bytes as f64 / 0.5;
        // A completion of 16 bytes goes with every 128 KiB; edges are at most 32 requests.
        let payload = spec.host.link.payload_rate() * 131_072.0 / 131_088.0;
        let edge = 32.0 * 131_072.0 / 0.5 / payload;
        assert!((rate / payload - 1.0).abs() < 0.002 + edge, "gen {generation}: {rate} of {payload} B/s");
        assert_eq!(b.host.device.nand().counters.host_reads, 0);
    }
}

#[test]
fn cores_of_the_firmware_bound_the_rate_of_commands_and_nothing_else() {
    for cores in [1, 3, 8] {
        let mut spec = little();
        spec.host.firmware = Duration::from_us(20);
        spec.host.firmware_cores = Some(cores);
        // Nothing has been written: reads need no flash, and what holds them up is firmware alone.
        let mut b = Bench::new(&spec, filled(&spec, 0.0), &[closed("f", 64, mix(1.0))], 1);
        b.run_for(Duration::from_ms(5));
        b.host.begin_window();
        b.run_for(Duration::from_ms(100));
        let (got, bound) = (b.host.window.counters.requests as f64, 0.1 / 20e-6 * f64::from(cores));
        assert!((got - bound).abs() <= f64::from(cores), "{cores} cores: {got} of {bound} reads");
    }
    // With as many cores as requests there may be, none waits.
    let completed = |cores| {
        let mut spec = little();
        spec.host.firmware_cores = cores;
        let mut b = Bench::new(&spec, filled(&spec, 1.0), &[closed("f", 16, mix(0.7))], 1);
        b.run_to(ms(50));
        b.host.device.completed()
    };
    assert_eq!(completed(Some(16)), completed(None));
}

#[test]
fn delays_of_commands_add_to_the_latency_and_a_delayed_command_is_overtaken() {
    let mut spec = little();
    let us = Duration::from_us;
    let mean = |spec: &DriveSpec, depth| {
        // Nothing has been written: reads need no flash, so their latency is link, firmware and delay.
        let mut b = Bench::new(spec, filled(spec, 0.0), &[closed("f", depth, mix(1.0))], 1);
        b.run_for(Duration::from_ms(5));
        b.host.begin_window();
        b.run_for(Duration::from_ms(400));
        let of = &b.host.window.counters;
        (0.4e9 * f64::from(depth) / of.requests as f64, of.requests as f64)
    };
    let (without, _) = mean(&spec, 1);
    spec.host.delays = Some(DelaySpec::of(&[0.9, 1.0], &[us(2), us(200)]));
    // 0.9 of 1 us and 0.1 of 101 us; the standard deviation of a delay is 33 us.
    let expected = 0.9 * 1_000.0 + 0.1 * 101_000.0;
    let (with, n) = mean(&spec, 1);
    assert!(
        (with - without - expected).abs() < 6.0 * 33_000.0 / n.sqrt(),
        "{} of {expected} ns",
        with - without
    );
    // Eight requests at a time have the same latency each: none waits for a delayed one.
    let (with, n) = mean(&spec, 8);
    assert!((with - without - expected).abs() < 6.0 * 33_000.0 / n.sqrt() + 300.0, "{} ns", with - without);
    // A single core is busy during a delay.
    spec.host.firmware_cores = Some(1);
    let (_, n) = mean(&spec, 8);
    let bound = 0.4e9 / (spec.host.firmware.as_ns() as f64 + expected);
    assert!((n / bound - 1.0).abs() < 6.0 * 33.0 / (16.0 * n.sqrt()), "{n} of {bound} reads");
}

// ---- back-pressure ------------------------------------------------------------------------------------

#[test]
fn writes_beyond_the_flash_rate_complete_at_the_rate_of_programs() {
    for allocation in [Allocation::Dynamic, STATIC] {
        for minimum in [false, true] {
            let mut spec = little();
            spec.ftl.allocation = allocation;
            spec.ftl.over_provisioning = 1.0;
            if minimum {
                let layout = spec.layout().unwrap();
                let lists = if allocation == Allocation::Dynamic { 2 } else { layout.lanes };
                spec.cache.size = Bytes(u64::from(layout.units_per_program * lists) * UNIT_BYTES);
                let mut smaller = spec.clone();
                smaller.cache.size = Bytes(spec.cache.size.get() - UNIT_BYTES);
                assert!(smaller.check().is_err(), "this is the smallest cache");
            }
            let flow = closed("f", 64, mix(0.0));
            let mut b = Bench::new(&spec, filled(&spec, 1.0), &[flow], 1);
            b.run_for(Duration::from_ms(1000));
            b.host.begin_window();
            let before = (b.host.device.ftl_counters(), b.host.device.counters);
            b.run_for(Duration::from_ms(2000));
            let w = b.host.device.counters.since(&before.1);
            assert!(w.cache_stalls > 1000, "the cache is full: {} stalls", w.cache_stalls);
            let ftl = b.host.device.ftl_counters().since(&before.0);
            // What completes is what is programmed or overwritten in the cache, up to a cache full.
            let accepted = b.host.window.counters.written_bytes / UNIT_BYTES - w.cache_overwrites;
            let cache = spec.cache.size.get() / UNIT_BYTES;
            let apart = accepted.abs_diff(ftl.host_units);
            assert!(apart <= cache + 64, "{accepted} units accepted, {} programmed", ftl.host_units);
            // Dies are busy: programs run at no less than 60 % of what they could with nothing else to do
            // (loads, collection's reads and erases take the rest), unless the cache feeds only few of them.
            let units = ftl.host_units + ftl.gc_units;
            let rate = units as f64 * UNIT_BYTES as f64 / 2.0;
            let most = program_rate(&spec);
            let least = if minimum { 0.35 } else { 0.6 };
            assert!(rate < most && rate > least * most, "{allocation:?}, {minimum}: {rate} of {most} B/s");
            b.finish();
        }
    }
}

/// One request larger than the whole cache, and a cache overwritten in flight all the time.
#[test]
fn a_write_larger_than_the_cache_goes_through_in_parts() {
    for allocation in [Allocation::Dynamic, STATIC] {
        let mut spec = of_part(part(Cells::Tlc, 1, 24, 4), 2, 1, 1);
        spec.ftl.allocation = allocation;
        spec.cache.size = Bytes(6 * UNIT_BYTES);
        let large = SyntheticSpec {
            block_size: BlockSize::Fixed(Bytes::kib(256)),
            alignment: Bytes(512),
            ..mix(0.0)
        };
        let hot = SyntheticSpec { to: 0.01, ..mix(0.2) };
        let flows = [limited(closed("large", 2, large), 300), limited(closed("hot", 8, hot), 3000)];
        let mut b = Bench::new(&spec, filled(&spec, 1.0), &flows, 1);
        b.run_out();
        assert_eq!(b.finish().requests, 3300);
    }
}

// ---- the cache ----------------------------------------------------------------------------------------

#[test]
fn what_is_in_the_cache_is_read_from_it() {
    let spec = little();
    let few = SyntheticSpec { addresses: AddressSpec::Sequential, to: 0.001, ..mix(0.0) };
    let units = (f64::from(spec.ftl_config().unwrap().logical_units) * 0.001) as u64;
    // Less than one program, so it stays in the cache.
    assert!((1..6).contains(&units), "{units} units");
    let write = limited(closed("write", 1, few.clone()), units);
    let reads = SyntheticSpec { read_share: 1.0, write_share: 0.0, ..few };
    let read = FlowSpec { start: ms(10), ..limited(closed("read", 1, reads), 1000) };
    let mut b = Bench::new(&spec, filled(&spec, 1.0), &[write, read], 1);
    b.run_out();
    assert_eq!(b.host.device.counters.cache_read_hits, 1000);
    assert_eq!(b.host.device.nand().counters.host_reads, 0);
    assert_eq!(b.host.device.nand().counters.host_programs, 0);
    // Submission, firmware, DRAM, the data on the link - and no flash.
    let h = &b.host.window.flows[1].read;
    assert!(h.max().unwrap() < Duration::from_us(10), "{}", h.max().unwrap());
    b.finish();
}

// ---- flush --------------------------------------------------------------------------------------------

/// A flush that follows `units` written units.
fn flush_after(spec: &DriveSpec, units: u64) -> Bench {
    let writes = SyntheticSpec { addresses: AddressSpec::Sequential, flush_every: Some(units), ..mix(0.0) };
    Bench::new(spec, filled(spec, 1.0), &[limited(closed("f", 1, writes), units + 1)], 1)
}

#[test]
fn a_flush_completes_when_all_before_it_is_programmed_and_not_before() {
    for allocation in [Allocation::Dynamic, STATIC] {
        let mut spec = little();
        spec.ftl.allocation = allocation;
        let program = spec.part.program.loop_time() * u64::from(spec.part.program.loops);
        for units in [1, 2, 6, 7, 40] {
            let mut b = flush_after(&spec, units);
            while b.host.device.completed() <= units {
                let programmed = b.host.device.ftl_counters().host_units;
                if b.host.device.completed() == units && programmed < units {
                    assert_eq!(b.host.device.outstanding(), 1, "the flush waits");
                }
                assert!(b.step(b.events.horizon()), "{}", b.host.device.diagnosis(&b.events));
            }
            assert_eq!(
                b.host.device.ftl_counters().host_units,
                units,
                "all is programmed when the flush completes"
            );
            let flush = b.host.window.flows[0].other.max().unwrap();
            assert!(flush > program, "{flush} holds a program of {program}");
            let rounds = units.div_ceil(6).div_ceil(4).max(units / 6);
            let bound = program * (rounds + 2) + Duration::from_ms(1);
            assert!(flush < bound, "{units} units: the flush took {flush}, over {bound}");
            b.finish();
        }
    }
}

#[test]
fn a_flush_with_nothing_to_write_completes_at_once() {
    let spec = little();
    let mut flushes = mix(0.0);
    flushes.flush_every = Some(1);
    flushes.to = 0.01;
    // One write and its flush; another flow's flushes follow reads of nothing dirty: write, flush, write, flush.
    let mut b = Bench::new(&spec, filled(&spec, 1.0), &[limited(closed("f", 1, flushes), 2)], 1);
    b.run_out();
    let programs = b.host.device.nand().counters.host_programs;
    assert_eq!(programs, 1);
    // Two flushes of the same epoch: the second waits for no more than the first.
    let twice = SyntheticSpec { flush_every: Some(1), to: 0.01, ..mix(0.0) };
    let flows: Vec<FlowSpec> =
        (0..2).map(|k| limited(closed(&format!("f{k}"), 1, twice.clone()), 2)).collect();
    let mut b = Bench::new(&spec, filled(&spec, 1.0), &flows, 1);
    b.run_out();
    assert!(b.host.device.nand().counters.host_programs <= 2);
    b.finish();
}

/// What is trimmed before it is programmed holds up no flush and no write.
#[test]
fn data_trimmed_in_the_cache_holds_up_neither_flush_nor_write() {
    for allocation in [Allocation::Dynamic, STATIC] {
        let mut spec = little();
        spec.ftl.allocation = allocation;
        let layout = spec.layout().unwrap();
        spec.cache.size = Bytes(u64::from(2 * layout.units_per_program * layout.lanes) * UNIT_BYTES);
        // Three units written, then trimmed, over and over: less than a program is dirty at any time.
        let three = |read, write, trim| SyntheticSpec {
            read_share: read,
            write_share: write,
            trim_share: trim,
            block_size: BlockSize::Fixed(Bytes::kib(12)),
            to: 0.001,
            alignment: Bytes::kib(4),
            ..SyntheticSpec::default()
        };
        let mut flows = Vec::new();
        for k in 0..100 {
            let write = limited(closed("write", 1, three(0.0, 1.0, 0.0)), 1);
            let trim = limited(
                closed(
                    "trim",
                    1,
                    SyntheticSpec {
                        to: 1.0,
                        block_size: BlockSize::Fixed(Bytes::mib(1)),
                        addresses: AddressSpec::Sequential,
                        ..three(0.0, 0.0, 1.0)
                    },
                ),
                1,
            );
            flows.push(FlowSpec { start: SimTime(100_000 * k), ..write });
            flows.push(FlowSpec { start: SimTime(100_000 * k + 50_000), ..trim });
        }
        let flushed = SyntheticSpec { flush_every: Some(1), from: 0.5, ..mix(0.0) };
        flows.push(FlowSpec { start: ms(20), ..limited(closed("flush", 1, flushed), 2) });
        let mut b = Bench::new(&spec, filled(&spec, 1.0), &flows, 1);
        b.run_out();
        assert_eq!(b.host.device.counters.cache_stalls, 0);
        assert_eq!(b.host.device.ftl_counters().host_units, 1, "only the last unit is worth a program");
        b.finish();
    }
}

// ---- trim ---------------------------------------------------------------------------------------------

#[test]
fn trimmed_space_reads_fast_and_costs_collection_nothing() {
    let spec = little();
    // The upper half is trimmed, then the lower half overwritten at random, and the upper half read.
    let half = SyntheticSpec { from: 0.5, addresses: AddressSpec::Sequential, ..trims() };
    let half = SyntheticSpec { block_size: BlockSize::Fixed(Bytes::kib(64)), ..half };
    let units = u64::from(spec.ftl_config().unwrap().logical_units);
    let trim = limited(closed("trim", 4, half), units.div_ceil(2 * 16));
    let write = FlowSpec {
        start: ms(50),
        stop: Some(ms(3000)),
        ..closed("write", 32, SyntheticSpec { to: 0.5, ..mix(0.0) })
    };
    let read = FlowSpec {
        start: ms(50),
        stop: Some(ms(3000)),
        ..closed("read", 1, SyntheticSpec { from: 0.51, ..mix(1.0) })
    };
    let amplification = |flows: &[FlowSpec]| {
        let mut b = Bench::new(&spec, preconditioned(&spec, 1.0, 2.0, 5), flows, 1);
        b.run_to(ms(1500));
        let (before, trimmed) = (b.host.device.ftl_counters(), b.host.device.counters.trimmed_units);
        b.run_out();
        let f = b.host.device.ftl_counters().since(&before);
        let mean = b.host.window.flows[1].read.mean_ns().unwrap();
        let flash_reads = b.host.device.nand().counters.host_reads;
        b.finish();
        ((f.host_units + f.gc_units) as f64 / f.host_units as f64, trimmed, mean, flash_reads)
    };
    let nothing = limited(closed("nothing", 1, mix(1.0)), 1);
    let (kept, none, slow, many) = amplification(&[nothing, read.clone(), write.clone()]);
    let (freed, trimmed, fast, few) = amplification(&[trim, read, write]);
    assert_eq!((none, trimmed), (0, units / 2));
    assert!(many > 1000 && few == 0, "{many} flash reads with the data kept, {few} without");
    // What is left is firmware, and the queue of write data on the link.
    let sensing = spec.part.read[0].as_ns() as f64;
    assert!(
        slow > sensing && fast < sensing / 2.0,
        "reads take {slow} ns with the data kept, {fast} without"
    );
    assert!(kept > 1.2 && freed < 1.05, "write amplification {kept} with the data kept, {freed} without");
}

// ---- partial writes -----------------------------------------------------------------------------------

#[test]
fn a_write_of_part_of_a_unit_reads_the_rest() {
    let spec = little();
    let run = |bytes: u64, alignment: u64| {
        let partial = SyntheticSpec {
            block_size: BlockSize::Fixed(Bytes(bytes)),
            alignment: Bytes(alignment),
            ..mix(0.0)
        };
        let mut b = Bench::new(&spec, filled(&spec, 1.0), &[limited(closed("f", 1, partial), 50)], 1);
        b.run_out();
        let reads = b.host.device.counters.read_modify_writes;
        let mean = b.host.window.flows[0].write.mean_ns().unwrap();
        b.finish();
        (reads, mean)
    };
    let (none, whole) = run(4096, 4096);
    assert_eq!(none, 0);
    // A few hit a unit that is still in the cache.
    let (one, part) = run(512, 512);
    assert!((45..=50).contains(&one), "{one} reads for 50 writes of 512 B");
    assert!(part > whole + 0.9 * spec.part.read[0].as_ns() as f64, "{part} against {whole} ns");
    // 4.5 KiB at multiples of 4.5 KiB: both ends may be covered in part.
    let (two, _) = run(4608, 4608);
    assert!(two > 50 && two <= 100, "{two} reads for 50 writes of 4.5 KiB");
    // Nothing was ever written: nothing to read.
    let partial =
        SyntheticSpec { block_size: BlockSize::Fixed(Bytes(512)), alignment: Bytes(512), ..mix(0.0) };
    let mut b = Bench::new(&spec, filled(&spec, 0.0), &[limited(closed("f", 1, partial), 50)], 1);
    b.run_out();
    assert_eq!(b.host.device.counters.read_modify_writes, 0);
}

// ---- flows --------------------------------------------------------------------------------------------

#[test]
fn a_closed_flow_stops_at_its_stop() {
    let spec = little();
    let flow = FlowSpec { start: ms(5), stop: Some(ms(20)), ..closed("f", 16, mix(1.0)) };
    let mut b = Bench::new(&spec, filled(&spec, 1.0), &[flow], 1);
    b.run_to(SimTime(ms(5).as_ns() - 1));
    assert_eq!((b.host.device.completed(), b.host.device.outstanding()), (0, 0));
    b.run_to(SimTime(ms(20).as_ns() - 1));
    assert_eq!(b.host.device.outstanding(), 16);
    let before = b.host.device.completed();
    b.run_out();
    assert!(b.host.device.completed() - before <= 16, "only what was outstanding completes after the stop");
    assert!(b.events.now() < ms(21));
    b.finish();
}

#[test]
fn open_flows_keep_their_rate_whatever_the_drive_does() {
    let spec = little();
    // 1,000/s of each; a closed loop of writes keeps the dies busy beside them.
    let flows =
        [open("steady", 1000.0, mix(1.0)), open("writes", 1000.0, mix(0.0)), closed("load", 16, mix(0.0))];
    let mut b = Bench::new(&spec, filled(&spec, 1.0), &flows, 1);
    b.run_to(ms(1000));
    b.finish();
    for f in 0..2 {
        let done = b.host.window.flows[f].count();
        assert!(done.abs_diff(1000) <= 1, "flow {f} made {done} requests in a second at 1000/s");
    }
    // Faster than the drive: requests queue in the host, none is dropped.
    let flows = [limited(open("flood", 1e6, mix(1.0)), 5000)];
    let mut b = Bench::new(&spec, filled(&spec, 1.0), &flows, 1);
    b.run_to(ms(6));
    assert!(b.host.device.outstanding() > 4000);
    b.run_out();
    assert_eq!(b.finish().requests, 5000);
}

#[test]
fn flows_have_their_own_statistics() {
    let spec = little();
    let reads = limited(closed("reads", 4, SyntheticSpec { to: 0.5, ..mix(1.0) }), 700);
    let writes =
        limited(closed("writes", 2, SyntheticSpec { from: 0.5, flush_every: Some(10), ..mix(0.0) }), 330);
    let mut b = Bench::new(&spec, filled(&spec, 1.0), &[reads, writes], 1);
    b.run_out();
    assert_eq!(b.host.flow_names().collect::<Vec<_>>(), ["reads", "writes"]);
    let counts = |f: usize| {
        let l = &b.host.window.flows[f];
        [l.read.count(), l.write.count(), l.other.count()]
    };
    assert_eq!(counts(0), [700, 0, 0]);
    assert_eq!(counts(1), [0, 300, 30]);
    let c = b.host.window.counters;
    assert_eq!((c.read_bytes, c.written_bytes, c.requests), (700 * 4096, 300 * 4096, 1030));
    b.finish();
}

/// A write of a part of a unit merges with what the unit has; with nothing, it reads nothing, even where reads do.
#[test]
fn writes_of_parts_of_units_without_data_read_nothing() {
    use interpulse_drive::spec::UnmappedReads;
    let parts = SyntheticSpec { block_size: BlockSize::Fixed(Bytes(512)), alignment: Bytes(512), ..mix(0.0) };
    for unmapped_reads in [UnmappedReads::Zeroes, UnmappedReads::Flash] {
        let run = |fill| {
            let mut spec = little();
            spec.ftl.unmapped_reads = unmapped_reads;
            let flow = limited(closed("f", 1, parts.clone()), 100);
            let mut b = Bench::new(&spec, filled(&spec, fill), &[flow], 1);
            b.run_out();
            b.finish();
            (b.host.device.nand().counters.host_reads, b.host.device.counters.read_modify_writes)
        };
        let (reads, merged) = run(1.0);
        assert!(reads > 50 && merged == reads, "{reads}, {merged}");
        // What was written in this run is merged, and few units are written twice.
        let (reads, merged) = run(0.0);
        assert!(reads < 20 && merged == reads, "{reads}, {merged}");
    }
}

/// Reads of what was never written, or trimmed, take a page read if asked to; neighbours of a page share one.
#[test]
fn reads_of_units_without_data_go_to_flash_on_request() {
    use interpulse_drive::spec::UnmappedReads;
    let in_order = |units: u64| SyntheticSpec {
        addresses: AddressSpec::Sequential,
        block_size: BlockSize::Fixed(Bytes(units * UNIT_BYTES)),
        alignment: Bytes(units * UNIT_BYTES),
        ..mix(1.0)
    };
    for units in [1, 2, 6] {
        let run = |fill, unmapped_reads| {
            let mut spec = little();
            spec.ftl.unmapped_reads = unmapped_reads;
            let mut b =
                Bench::new(&spec, filled(&spec, fill), &[limited(closed("f", 1, in_order(units)), 300)], 1);
            b.run_out();
            b.finish();
            let of = b.host.window.flows[0].read.clone();
            let (nand, drive) = (b.host.device.nand().counters.host_reads, b.host.device.counters);
            ((of.min(), of.max()), nand, drive.unmapped_reads)
        };
        let (zeroes, none, unmapped) = run(0.0, UnmappedReads::Zeroes);
        assert_eq!((none, unmapped), (0, 300 * units));
        let (flash, reads, unmapped) = run(0.0, UnmappedReads::Flash);
        // Pages of two units: three of them in six units, of dies that work at once.
        assert_eq!((reads, unmapped), (300 * units.div_ceil(2), 300 * units));
        assert!(flash.0.unwrap() > zeroes.1.unwrap() + Duration::from_us(40), "{flash:?}, {zeroes:?}");
        if units < 3 {
            // A page read of the same units that were written.
            assert_eq!((flash, reads), {
                let (of, reads, _) = run(1.0, UnmappedReads::Flash);
                (of, reads)
            });
        }
    }
    let mut spec = little();
    spec.ftl.unmapped_reads = UnmappedReads::Flash;
    spec.nand.errors = Some(std::sync::Arc::new(crate::drive_common::errors(3, &[1e-4])));
    let why = spec.check().unwrap_err().message;
    assert!(why.contains("no error rate"), "{why}");
}
