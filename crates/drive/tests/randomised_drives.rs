//! Is anything lost? Small drives with everything drawn at random - part, planes, striping, collection,
//! cache, queues, flows, suspension - run under full audit, and at the end every unit is read back.
//!
//! One seed gives one world; a failing test prints the world and its seed.

mod drive_common;

use drive_common::{Bench, Cells, errors, of_part, part, preconditioned};
use interpulse_drive::front::link::LinkSpec;
use interpulse_drive::front::queues::Arbitration;
use interpulse_drive::front::request::Request;
use interpulse_drive::ftl::gc::{GcPolicy, ThresholdBase};
use interpulse_drive::ftl::reprogram::{ReprogramSpec, WhenValid};
use interpulse_drive::ftl::stripe::Allocation;
use interpulse_drive::spec::{Acknowledge, DriveSpec};
use interpulse_engine::account::{CAUSES, Cause};
use interpulse_engine::{Bytes, Current, Device, Duration, Op, Rng, SimTime, Streams};
use interpulse_flash::errors::{ErrorSpec, InitialAges, SoftStage};
use interpulse_flash::nand::power::PowerConfig;
use interpulse_flash::nand::power::budget;
use interpulse_flash::nand::queue::{GcReadRank, Policy};
use interpulse_flash::suspend::{
    DeferClock, Eligibility, MultiPlane, Preemptors, Reload, ResumeWhen, Scheme, SuspendCosts, SuspendPolicy,
};
use interpulse_host::Sums;
use interpulse_workload::{AddressSpec, Arrivals, BlockSize, FlowSpec, SyntheticPacing, SyntheticSpec};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Requests of one world, before the read-back.
const REQUESTS: u64 = 10_000;
/// The read-back begins here; the other flows have ended by then.
const READ_BACK: SimTime = SimTime(3_600_000_000_000);

fn pick<T: Clone>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.below(of.len() as u64) as usize].clone()
}

fn suspension(rng: &mut Rng) -> SuspendPolicy {
    let costs = SuspendCosts {
        entry: Duration::from_us(pick(rng, &[0, 3, 20])),
        resume: Duration::from_us(pick(rng, &[0, 5, 40])),
        reset: Duration::from_us(pick(rng, &[0, 4])),
    };
    let us = Duration::from_us;
    let all_types = Eligibility::ALL.page_types;
    SuspendPolicy {
        max_suspends: pick(rng, &[None, Some(1), Some(5)]),
        min_interval: us(pick(rng, &[0, 0, 7, 300])),
        min_remaining: us(pick(rng, &[0, 60])),
        min_loops_left: pick(rng, &[0, 0, 2]),
        max_suspended_time: pick(rng, &[None, None, Some(us(500))]),
        timeout: pick(rng, &[None, None, Some(us(900))]),
        eligible: Eligibility {
            dies: pick(rng, &[None, None, Some(vec![0])]),
            max_cycles: pick(rng, &[None, None, Some(3)]),
            page_types: pick(rng, &[all_types, all_types, 1]),
            multi_plane: MultiPlane::ALL[rng.below(MultiPlane::ALL.len() as u64) as usize].1,
        },
        preemptors: Preemptors {
            host_reads: rng.below(8) > 0,
            gc_reads: rng.below(2) == 0,
            host_writes: rng.below(2) == 0,
        },
        resume: pick(rng, &[ResumeWhen::Drained, ResumeWhen::Batch, ResumeWhen::Timer(us(150))]),
        resume_ramp: us(pick(rng, &[0, 0, 9])),
        reload: pick(rng, &[Reload::ShadowBuffer(us(0)), Reload::ShadowBuffer(us(3)), Reload::Bus]),
        stress_ppm: pick(rng, &[0, 20_000]),
        defer_after: us(pick(rng, &[0, 400, 64_000])),
        defer_clock: DeferClock::ALL[rng.below(DeferClock::ALL.len() as u64) as usize].1,
        ..SuspendPolicy::unlimited(Scheme::ALL[rng.below(Scheme::ALL.len() as u64) as usize].1, costs)
    }
}

/// Bit errors, or none: retries of every kind, blocks that are rewritten for their age and for their reads.
fn some_errors(rng: &mut Rng, cells: Cells, imposed: bool) -> Option<Arc<ErrorSpec>> {
    let rates = pick(rng, &[None, None, Some([8e-3, 4e-3, 1e-3]), Some([0.5, 9e-3, 9e-3]), Some([1e-2; 3])])?;
    let bits = match cells {
        Cells::Slc => 1,
        Cells::MlcPages => 2,
        Cells::Tlc => 3,
    };
    let mut spec = errors(bits, &rates);
    spec.table.spread_ln_sd = pick(rng, &[0.0, 0.3]);
    spec.ecc.max_retries = pick(rng, &[0, 1, 4]);
    spec.ecc.pipelined = rng.below(2) == 0;
    spec.ecc.reset = Duration::from_us(pick(rng, &[0, 5]));
    spec.ecc.retry_sensing_ppm = pick(rng, &[1_000_000, 750_000]);
    spec.ecc.predict = rng.below(2) == 0;
    let stage = SoftStage { sensings: 2, capability: 120, latency: Duration::from_us(9) };
    spec.ecc.soft = pick(rng, &[vec![], vec![stage]]);
    if !imposed {
        // A part of the blocks is old from the start; until the read-back all become so.
        let old = Duration::from_ns(READ_BACK.as_ns() / 3);
        spec.initial_age = pick(rng, &[Duration::ZERO, old * 2]);
        spec.initial_ages = InitialAges::Uniform;
        spec.refresh_after = pick(rng, &[None, Some(old), Some(old)]);
        spec.reclaim_reads = pick(rng, &[None, Some(40), Some(1000)]);
    }
    Some(Arc::new(spec))
}

/// A drive; `None` if the values drawn do not make one.
fn draw_drive(rng: &mut Rng) -> Option<DriveSpec> {
    let planes = pick(rng, &[1, 2, 4]);
    let multi_plane = pick(rng, &[1, 2, 4]);
    if multi_plane > planes {
        return None;
    }
    let cells = pick(rng, &[Cells::Slc, Cells::MlcPages, Cells::Tlc]);
    let mut chips = part(cells, planes, pick(rng, &[12, 16, 24]), pick(rng, &[4, 8, 16]));
    chips.program_loops_sd = pick(rng, &[0.0, 0.7]);
    let mut spec = of_part(chips, pick(rng, &[1, 2]), pick(rng, &[1, 2]), pick(rng, &[1, 2]));
    let orders = Allocation::all();
    let dynamic = rng.below(2) == 0;
    spec.ftl.allocation = if dynamic { Allocation::Dynamic } else { pick(rng, &orders[1..]).1 };
    spec.ftl.gc = pick(
        rng,
        &[
            GcPolicy::Greedy,
            GcPolicy::Greedy,
            GcPolicy::DChoices { d: 3 },
            GcPolicy::Fifo,
            GcPolicy::CostBenefit,
            GcPolicy::Imposed,
        ],
    );
    spec.ftl.multi_plane = multi_plane;
    spec.ftl.over_provisioning = pick(rng, &[0.35, 0.45, 0.6, 1.0, 2.0]);
    spec.ftl.bad_block_reserve = pick(rng, &[0.0, 0.05]);
    spec.ftl.threshold_base = pick(rng, &[ThresholdBase::Blocks, ThresholdBase::Spare]);
    spec.ftl.gc_soft = pick(rng, &[0.02, 0.05, 0.15]);
    spec.ftl.gc_counts_pages = rng.below(3) == 0;
    spec.ftl.imposed_waf = pick(rng, &[1.0, 2.4]);
    spec.ftl.gc_depth = pick(rng, &[1, 2, 2, 16]);

    let unit = pick(rng, &[4, 4, 8, 16]) << 10;
    if !spec.part.page_size.get().is_multiple_of(unit) {
        return None;
    }
    spec.geometry = spec.geometry.mapped_in(unit);
    spec.ftl.wear_gap = pick(rng, &[None, None, Some(1), Some(4)]);
    let ms = Duration::from_ms;
    if spec.ftl.gc != GcPolicy::Imposed && rng.below(2) == 0 {
        spec.ftl.hot_within = pick(rng, &[vec![ms(300)], vec![ms(10), ms(100), ms(1000)]]);
        spec.ftl.stamp_units = rng.below(3) == 0;
        if cells == Cells::Tlc && rng.below(4) > 0 {
            let of = ReprogramSpec {
                super_layer: pick(rng, &[1, 2]),
                candidates: pick(rng, &[1, 2]),
                when_valid: pick(rng, &[WhenValid::Candidate, WhenValid::NextSuperLayer]),
            };
            spec.nand.super_layer = of.super_layer * spec.geometry.word_lines / spec.part.layers;
            spec.ftl.reprogram = Some(of);
        }
    }
    let program = u64::from(spec.layout().ok()?.units_per_program) * unit;
    let lanes = u64::from(spec.layout().ok()?.lanes);
    let levels = spec.ftl.hot_within.len() as u64 + 1;
    let least = program * levels * if dynamic { 2 } else { lanes };
    spec.cache.size = Bytes(pick(rng, &[least, least, 3 * least, 64 * least]));
    spec.cache.latency = Duration::from_ns(pick(rng, &[0, 700]));
    spec.cache.acknowledge = pick(rng, &[Acknowledge::WhenCached, Acknowledge::WhenProgrammed]);

    spec.cache.absorbs = rng.below(4) > 0;

    spec.nand.policy = pick(rng, &[Policy::Fifo, Policy::ReadPriority]);
    spec.nand.multi_plane_reads = rng.below(2) == 0;
    spec.nand.nesting = rng.below(2) == 0;
    spec.nand.gc_reads = GcReadRank::ALL[rng.below(GcReadRank::ALL.len() as u64) as usize].1;
    spec.nand.ecc_interval = Duration::from_ns(pick(rng, &[0, 800]));
    spec.nand.program_suspend = suspension(rng);
    spec.nand.erase_suspend = suspension(rng);

    spec.host.queue_weights = pick(rng, &[vec![1], vec![1, 1], vec![1, 3, 2]]);
    spec.host.queue_depth = pick(rng, &[1, 16, 1024]);
    spec.host.frame_buffer = pick(rng, &[1, 8, 1024]);
    spec.host.arbitration = pick(rng, &[Arbitration::RoundRobin, Arbitration::Weighted]);
    spec.host.link = LinkSpec {
        generation: pick(rng, &[1, 3, 5]),
        lanes: pick(rng, &[1, 4]),
        max_payload: pick(rng, &[128, 256]),
    };
    spec.host.firmware = Duration::from_us(pick(rng, &[0, 5, 20]));
    spec.host.command_timeout = Some(Duration::from_ms(2));
    if spec.ftl.gc != GcPolicy::Imposed || rng.below(2) == 0 {
        spec.nand.errors = some_errors(rng, cells, spec.ftl.gc == GcPolicy::Imposed);
    }
    let (p, g) = (&spec.part, &spec.geometry);
    let least = budget::least(&p.power, p.buffer_setup, p.read.len(), g.dies(), g.channels).as_ua();
    let budgets = [None, None, Some(Current(least)), Some(Current(least * 2))];
    spec.nand.power = PowerConfig {
        standby_after: Duration::from_us(pick(rng, &[0, 0, 30])),
        trace: pick(rng, &[None, Some(Duration::from_us(300))]),
        budget: pick(rng, &budgets),
    };
    spec.check().ok()?;
    Some(spec)
}

fn draw_flow(rng: &mut Rng, spec: &DriveSpec, name: &str, requests: u64) -> FlowSpec {
    let (read, write, trim) =
        pick(rng, &[(0.5, 0.5, 0.0), (0.0, 1.0, 0.0), (0.4, 0.5, 0.1), (0.9, 0.1, 0.0), (0.3, 0.4, 0.3)]);
    let kib = |k: f64| Bytes((k * 1024.0) as u64);
    let (block_size, alignment) = pick(
        rng,
        &[
            (BlockSize::Fixed(kib(4.0)), kib(4.0)),
            (BlockSize::Fixed(kib(0.5)), kib(0.5)),
            (BlockSize::Fixed(kib(6.0)), kib(2.0)),
            (
                BlockSize::Weighted(vec![
                    (kib(0.5), 1.0),
                    (kib(4.0), 4.0),
                    (kib(9.5), 2.0),
                    (kib(64.0), 0.3),
                ]),
                kib(0.5),
            ),
            (BlockSize::Weighted(vec![(kib(4.0), 5.0), (kib(256.0), 0.1)]), kib(4.0)),
        ],
    );
    let addresses = pick(
        rng,
        &[
            AddressSpec::Uniform,
            AddressSpec::Sequential,
            AddressSpec::HotCold { hot_share: 0.1, hot_traffic: 0.9 },
            AddressSpec::Zipf { exponent: 1.1 },
        ],
    );
    let depth = pick(rng, &[1, 4, 32, 128]);
    let rate_per_s = pick(rng, &[500.0, 3000.0]);
    let pacing = match rng.below(3) {
        0 => SyntheticPacing::Open { rate_per_s, arrivals: Arrivals::Poisson },
        _ => SyntheticPacing::Closed { depth },
    };
    let flush_every = pick(rng, &[None, Some(50), Some(1), Some(7)]);
    let synthetic = SyntheticSpec {
        pacing,
        read_share: read,
        write_share: write,
        trim_share: trim,
        flush_every,
        block_size,
        alignment,
        addresses,
        ..SyntheticSpec::default()
    };
    FlowSpec {
        limit: Some(requests),
        queue: rng.below(spec.host.queue_weights.len() as u64) as u32,
        ..FlowSpec::synthetic(name, synthetic)
    }
}

/// Reads the whole drive once, in order.
fn read_back(requests: u64) -> FlowSpec {
    let reader = SyntheticSpec {
        pacing: SyntheticPacing::Closed { depth: 8 },
        block_size: BlockSize::Fixed(Bytes::kib(64)),
        alignment: Bytes::kib(64),
        addresses: AddressSpec::Sequential,
        ..SyntheticSpec::default()
    };
    FlowSpec { start: READ_BACK, limit: Some(requests), ..FlowSpec::synthetic("read-back", reader) }
}

/// Sums of everything the drives counted, by name.
type Counted = BTreeMap<&'static str, u64>;

/// Draws and runs the world of `seed`; false if the values drawn do not make a drive.
fn world(seed: u64, counted: &mut Counted) -> bool {
    let mut rng = Streams::new(seed).stream("test.world", 0);
    let Some(spec) = draw_drive(&mut rng) else { return false };
    let imposed = spec.ftl.gc == GcPolicy::Imposed;
    let fill = if imposed { 1.0 } else { pick(&mut rng, &[0.0, 0.5, 1.0, 1.0]) };
    let overwrites = if imposed { 0.0 } else { pick(&mut rng, &[0.0, 1.0]) };
    let count = 1 + rng.below(3);
    let mut flows: Vec<FlowSpec> =
        (0..count).map(|k| draw_flow(&mut rng, &spec, &format!("f{k}"), REQUESTS / count)).collect();
    let units = u64::from(spec.ftl_config().unwrap().logical_units);
    let requests = units * spec.geometry.unit_bytes / (64 << 10);
    flows.push(read_back(requests));
    println!("world {seed}: fill {fill}, overwrites {overwrites}\n{spec:#?}\n{flows:#?}");

    let mut bench = Bench::new(&spec, preconditioned(&spec, fill, overwrites, seed), &flows, seed);
    bench.run_requests(REQUESTS / count * count);
    assert_eq!(bench.host.device.outstanding(), 0, "the flows have ended");
    assert!(bench.agenda.now() < READ_BACK, "the flows end before the read-back begins");
    bench.run_out();
    let report = bench.finish();
    let (now, part) = (bench.agenda.now(), spec.part.power.clone());
    let spent = bench.host.device.nand_mut().spent(now);
    assert_eq!(spent.die_time(), now.as_ns() * u64::from(spec.geometry.dies()));
    interpulse_study::power::audit_meter(bench.host.device.nand_mut(), &part, now).unwrap();
    let most = bench.host.device.nand_mut().meter().map(|meter| meter.read(now).most);
    if let (Some(most), Some(budget)) = (most, spec.nand.power.budget) {
        assert!(most <= budget, "{most} of a budget of {budget}");
    }
    assert_eq!(report.requests, REQUESTS / count * count + requests);
    assert_eq!(report.requests, bench.host.window.counters.requests);
    assert!(report.versions_checked >= units, "every unit has been read back");
    let latencies = bench.host.window.flows.iter().map(|f| f.count()).sum::<u64>();
    assert_eq!(latencies, report.requests, "every request has a latency");

    let window = &bench.host.window;
    let (mut reads, mut writes) = ((0, 0), (0, 0));
    for f in &window.flows {
        reads = (reads.0 + f.read.count(), reads.1 + f.read.sum_ns());
        writes = (writes.0 + f.write.count(), writes.1 + f.write.sum_ns());
    }
    let sums = [window.read_blame.total(), window.write_blame].map(|s| (s.requests, s.total_ns()));
    assert_eq!(sums, [reads, writes], "every nanosecond of latency has a cause");

    let (host, drive) = (bench.host.window.counters, bench.host.device.counters);
    let (ftl, nand) = (bench.host.device.tables().counters, bench.host.device.nand().counters);
    for (info, value) in host.iter().chain(drive.iter()).chain(ftl.iter()).chain(nand.iter()) {
        *counted.entry(info.name).or_default() += value;
    }
    true
}

/// Runs worlds of seeds `first`, `first + 1`, ... until `count` drives have been made.
fn worlds(first: u64, count: usize) {
    let mut counted = Counted::new();
    let made = (first..).filter(|&seed| world(seed, &mut counted)).take(count).count();
    assert_eq!(made, count);
    // The worlds together are no quieter than they claim to be.
    // Data that is being programmed is still in the drive's cache, which answers for it. What page buffers answer for is the
    // other page of a word line that is being reprogrammed.
    // Rare in small drives: reprogramming.rs asks for them.
    for name in ["candidates_given_up", "candidates_back"] {
        counted.remove(name);
    }
    for (name, value) in counted {
        assert!(value > 0, "nothing was counted as `{name}` in any world");
    }
}

// Two tests, so that two cores share them.

#[test]
fn nothing_is_lost_in_any_world() {
    worlds(1_000, 250);
}

#[test]
fn nothing_is_lost_in_any_other_world() {
    worlds(1_000_000, 250);
}

/// Requests of a world whose requests are followed one by one.
const FOLLOWED: u64 = 400;

/// Follows every request of a bench from outside, event by event: at any instant its parts sum to the time
/// that is accounted for, at its completion to its latency, and the drive's sums are those of the requests
/// seen here.
fn follow(bench: &mut Bench) -> u64 {
    let mut mine = [Sums::default(), Sums::default()];
    let mut seen: BTreeMap<u32, Request> = BTreeMap::new();
    while !bench.host.is_done() {
        let (completed, total) = (bench.host.device.completed(), recorded(bench));
        assert!(bench.step(bench.agenda.horizon()), "{}", bench.host.device.diagnosis(&bench.agenda));
        let now = bench.agenda.now();
        let live: BTreeMap<u32, Request> =
            bench.host.device.requests().iter().map(|(id, r)| (id, *r)).collect();
        if bench.host.device.completed() > completed {
            // A number may be taken again at once, by a later request.
            let gone = |(id, r): &(&u32, &Request)| live.get(id).is_none_or(|l| l.submitted > r.submitted);
            let gone: Vec<Request> = seen.iter().filter(gone).map(|(_, r)| *r).collect();
            assert_eq!(gone.len(), 1, "one event completes one request");
            let (request, latency) = (gone[0], now.as_ns() - gone[0].submitted.as_ns());
            let mut parts = request.account;
            // What was left is the way out.
            parts[Cause::Link as usize] += now.as_ns() - request.mark.as_ns();
            assert_eq!(parts.iter().sum::<u64>(), latency, "{request:?}");
            assert_eq!(recorded(bench) - total, u128::from(latency), "{request:?}");
            if let Some(sums) = match request.op {
                Op::Read => Some(&mut mine[0]),
                Op::Write => Some(&mut mine[1]),
                Op::Trim | Op::Flush => None,
            } {
                sums.requests += 1;
                (0..CAUSES).for_each(|c| sums.by_cause[c] += u128::from(parts[c]));
            }
        }
        for (id, r) in &live {
            let accounted: u64 = r.account.iter().sum();
            assert_eq!(accounted, r.mark.as_ns() - r.submitted.as_ns(), "request {id}: {r:?}");
        }
        seen = live;
    }
    assert_eq!([bench.host.window.read_blame.total(), bench.host.window.write_blame], mine);
    bench.host.device.completed()
}

/// Latencies recorded so far, summed.
fn recorded(bench: &Bench) -> u128 {
    let flows = bench.host.window.flows.iter();
    flows.map(|f| f.read.sum_ns() + f.write.sum_ns() + f.other.sum_ns()).sum()
}

/// One world for each pair of schemes, for programs and for erases.
#[test]
fn the_parts_of_every_request_sum_to_its_latency() {
    let (mut followed, mut suspends) = (0, (0, 0));
    let mut seeds = 2_000..;
    for &(_, program, ..) in Scheme::ALL {
        for &(_, erase, ..) in Scheme::ALL {
            let (mut rng, spec) = seeds
                .by_ref()
                .find_map(|seed| {
                    let mut rng = Streams::new(seed).stream("test.world", 0);
                    let mut spec = draw_drive(&mut rng)?;
                    spec.nand.program_suspend.scheme = program;
                    spec.nand.erase_suspend.scheme = erase;
                    spec.check().ok()?;
                    Some((rng, spec))
                })
                .unwrap();
            let flows: Vec<FlowSpec> =
                (0..2).map(|k| draw_flow(&mut rng, &spec, &format!("f{k}"), FOLLOWED / 2)).collect();
            println!("{spec:#?}\n{flows:#?}");
            let overwrites = if spec.ftl.gc == GcPolicy::Imposed { 0.0 } else { 0.5 };
            let mut bench = Bench::new(&spec, preconditioned(&spec, 1.0, overwrites, 1), &flows, 1);
            followed += follow(&mut bench);
            let counters = bench.host.device.nand().counters;
            suspends = (suspends.0 + counters.program_suspends, suspends.1 + counters.erase_suspends);
        }
    }
    assert_eq!(followed, FOLLOWED * (Scheme::ALL.len() * Scheme::ALL.len()) as u64);
    assert!(suspends.0 > 100 && suspends.1 > 10, "{suspends:?}");
}
