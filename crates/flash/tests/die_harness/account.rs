//! Accounting tests: every nanosecond of a read has a cause, and every nanosecond of a die an activity.

use crate::common::*;
use crate::die_harness::power::{assert_power, assert_power_in_the_middle, distinct, least_budget};
use interpulse_engine::{Current, Duration, Streams};
use interpulse_flash::DieId;
use interpulse_flash::command::DieActivity;
use interpulse_flash::erase::{Aero, EraseMethod, MultiBlock, MultiBlockVerify};
use interpulse_flash::errors::{Ecc, ErrorSpec, Offsets, OnDie, Pipelined, Retry, SoftStage};
use interpulse_flash::ids::BlockId;
use interpulse_flash::nand::NandConfig;
use interpulse_flash::nand::channel::ChannelOrder;
use interpulse_flash::nand::flow_order::HostOrder;
use interpulse_flash::nand::power::PowerConfig;
use interpulse_flash::nand::queue::{GcReadRank, Policy};
use interpulse_flash::nand::txn::{Kind, Txn};
use interpulse_flash::parts::{CacheRegister, CommandBus, PartSpec};
use interpulse_flash::suspend::{
    Compensation, Eligibility, MultiPlane, Preemptors, Reload, ResumePolicy, Scheme, SuspendCosts,
    SuspendPolicy, Tiers,
};
use interpulse_flash::variation::LongOperations;
use interpulse_settings::Document;
use proptest::prelude::*;
use std::sync::Arc;

/// Accounts in the order host reads, programs, erases, garbage collection, stop, suspension, bus, sensing.
#[test]
fn the_causes_of_a_wait() {
    let (none, stops) = (config(), suspending(Scheme::LoopBoundary, &part()));
    let gc = Txn::new(Kind::GcProgram, DieId(0));
    let own = CMD + UNITS[1];
    // (configuration, what came before, read, its account)
    type Case<'a> = (&'static str, &'a NandConfig, Vec<(u64, Txn)>, u64, [u64; 8]);
    let cases: Vec<Case> = vec![
        ("alone", &none, vec![], 7, [0, 0, 0, 0, 0, 0, own, LSB]),
        ("behind a read", &none, vec![(0, read(0))], 1_000, [READ_DIE - 1_000, 0, 0, 0, 0, 0, own, LSB]),
        ("behind a program", &none, vec![(0, program(0))], 100_000, [0, 457_258, 0, 0, 0, 0, own, LSB]),
        ("behind a moving program", &none, vec![(0, gc)], 100_000, [0, 0, 0, 457_258, 0, 0, own, LSB]),
        ("behind an erase", &none, vec![(0, erase(0))], 1_000_000, [0, 0, 2_300_300, 0, 0, 0, own, LSB]),
        (
            "behind a program and an erase",
            &none,
            vec![(0, program(0)), (1, erase(0))],
            100_000,
            [0, 457_258, 3_300_300, 0, 0, 0, own, LSB],
        ),
        ("stops a program", &stops, vec![(0, program(0))], 100_000, [0, 0, 0, 0, 82_258, 20_000, own, LSB]),
        ("came in a load", &stops, vec![(0, program(0))], 100, [0, 57_158, 0, 0, 0, 20_000, own, LSB]),
        ("stops an erase", &stops, vec![(0, erase(0))], 500_000, [0, 0, 0, 0, 600_300, 40_000, own, LSB]),
        (
            "second in a suspension",
            &stops,
            vec![(0, program(0)), (100_000, read(0))],
            150_000,
            [READ_DIE, 0, 0, 0, 32_258, 20_000, own, LSB],
        ),
        (
            "came in the resume",
            &stops,
            vec![(0, program(0)), (100_000, read(0))],
            260_000,
            [0, 0, 0, 0, LOOP, 7_055 + 20_000, own, LSB],
        ),
    ];
    for (name, config, before, at, account) in cases {
        let mut bench = Bench::new(&part(), config.clone(), 1);
        for &(t, txn) in &before {
            bench.at(t, txn);
        }
        let done = bench.at(at, read(0)).run().of(before.len() as u32);
        assert_eq!(done.waits(), account, "{name}");
        assert_eq!(done.waited() + DECODE, done.time(), "{name}");
    }
}

/// Reads sensed together each wait for the longest sensing and, on the bus, for each other.
#[test]
fn the_account_of_reads_sensed_together() {
    let mut bench = Bench::new(&part(), NandConfig { multi_plane_reads: true, ..config() }, 1);
    bench.at(0, read(0)).at(1, read_of(0, 1, 0, 0, 1)).at(2, read_of(0, 2, 0, 2, 1)).run();
    let behind = |t| READ_DIE - t;
    assert_eq!(bench.of(1).waits(), [behind(1), 0, 0, 0, 0, 0, 600 + 4_497, MSB]);
    assert_eq!(bench.of(2).waits(), [behind(2), 0, 0, 0, 0, 0, 600 + 2 * 4_497, MSB]);
}

/// What the die did, in ns, for a program that is stopped once.
#[test]
fn the_uses_of_a_die() {
    let mut bench = Bench::new(&part(), suspending(Scheme::LoopBoundary, &part()), 1);
    bench.at(0, program(0)).at(100_000, read(0)).run();
    let uses = uses(&mut bench, 0);
    let of = |what: DieActivity| uses[what as usize];
    // The pulses ran on for 82258 after the read had asked; its command counts as sensing.
    assert_eq!(
        (of(DieActivity::BusProgram), of(DieActivity::StopProgram), of(DieActivity::PulseHost)),
        (57_258, 82_258, 417_742)
    );
    assert_eq!(
        (of(DieActivity::SenseHost), of(DieActivity::BusHost), of(DieActivity::Suspended)),
        (300 + LSB, 4_497, 30_000)
    );
    assert_eq!(of(DieActivity::Idle), 0);
}

/// The uses of a die up to the last event.
fn uses(bench: &mut Bench, die: usize) -> Vec<u64> {
    let now = bench.events.now();
    let usage = &mut bench.nand.dies_mut()[die].usage;
    usage.settle(now);
    usage.uses().to_vec()
}

/// One arrival: nanoseconds since the one before, kind, die, plane, page, units.
type Arrival = (u64, u32, u32, u32, u32, u32);

#[derive(Clone, Debug)]
struct Case {
    config: NandConfig,
    cache: CacheRegister,
    independent: bool,
    commands: CommandBus,
    dies: u32,
    urgent: bool,
    arrivals: Vec<Arrival>,
}

/// The scheme in row `k` with keys of its own drawn from what it declares; each of its durations is `time`.
fn drawn(k: usize, time: Duration, seed: u64) -> Scheme {
    let mut rng = Streams::new(seed).stream("test.scheme", 0);
    let keys = Document::empty().with_random_values(move |key| match key.noun {
        // What is divided is divided into a number of parts that a test can afford; neither is shorter than 1 us.
        "a duration" if matches!(key.path.as_str(), "slice-time" | "point-interval") => {
            Some(format!("\"{}ns\"", 1_000 + time.as_ns()))
        }
        "a duration" => Some(format!("\"{}ns\"", time.as_ns())),
        _ => key.random_value(&mut rng),
    });
    (Scheme::ROWS[k].read)(&mut keys.top()).expect("what is declared is legal")
}

fn a_policy() -> impl Strategy<Value = SuspendPolicy> {
    // Free, cheap and dear costs; times about a read, a loop, an operation.
    let cost = || prop_oneof![Just(0), 1u64..200, 10_000u64..60_000].prop_map(Duration::from_ns);
    let time = || prop_oneof![2 => Just(0), 1 => 1u64..300_000].prop_map(Duration::from_ns);
    let limit = || prop::option::weighted(0.3, (1u64..900_000).prop_map(Duration::from_ns));
    let scheme =
        (0..Scheme::ROWS.len(), time(), any::<u64>()).prop_map(|(k, time, seed)| drawn(k, time, seed));
    let resume = prop_oneof![
        2 => Just(ResumePolicy::Drained),
        1 => Just(ResumePolicy::Batch),
        1 => (1u64..200_000).prop_map(|ns| ResumePolicy::Timer(Duration::from_ns(ns))),
    ];
    let reload = prop_oneof![cost().prop_map(Reload::ShadowBuffer), Just(Reload::Bus)];
    let eligible = (prop::option::weighted(0.2, Just(vec![0, 2])), 0..MultiPlane::ALL.len())
        .prop_map(|(dies, k)| Eligibility { dies, multi_plane: MultiPlane::ALL[k].1, ..Eligibility::ALL });
    let preemptors = (prop::bool::weighted(0.9), any::<bool>(), any::<bool>())
        .prop_map(|(host_reads, gc_reads, host_writes)| Preemptors { host_reads, gc_reads, host_writes });
    let costs =
        (cost(), cost(), cost()).prop_map(|(entry, resume, reset)| SuspendCosts { entry, resume, reset });
    let limits = (prop::option::of(0u32..4), time(), 0u32..4, time(), limit(), limit());
    let rest = (time(), 0u32..50_000, prop::bool::weighted(0.2), prop::option::weighted(0.2, 0.01f64..1.0));
    (scheme, costs, limits, (resume, reload, eligible, preemptors), rest).prop_map(
        |(scheme, costs, limits, (resume, reload, eligible, preemptors), rest)| {
            let (max_suspends, min_remaining, min_loops_left, min_interval, max_suspended_time, timeout) =
                limits;
            let (resume_ramp, stress_ppm, tiered, fall) = rest;
            SuspendPolicy {
                scheme,
                costs,
                max_suspends,
                tiers: if tiered { Tiers::of(&[1, 2], &[min_remaining, min_interval]) } else { Tiers::NONE },
                min_interval,
                min_remaining,
                min_loops_left,
                max_suspended_time,
                timeout,
                eligible,
                preemptors,
                resume,
                resume_ramp,
                reload,
                stress_ppm,
                compensation: fall.map_or(Compensation::NONE, |per_e_fold| Compensation {
                    per_e_fold,
                    ..Compensation::NONE
                }),
            }
        },
    )
}

/// Rates at which decoding succeeds, may fail, and fails; every way of going on.
fn some_errors() -> impl Strategy<Value = Arc<ErrorSpec>> {
    let rates = || prop::collection::vec(prop::sample::select(vec![0.0, 5e-3, 1e-2, 0.5]), 3);
    let time = || prop_oneof![Just(0), 1u64..40_000].prop_map(Duration::from_ns);
    let longest = prop::option::of((80_000u64..200_000).prop_map(Duration::from_ns));
    let decode = (prop::sample::select(vec![0.0, 19.0]), longest);
    let soft = prop::collection::vec((1u32..4, 12u32..600, time()), 0..3);
    let wrong = || prop::sample::select(vec![0.0, 0.5, 1.0]);
    let offsets = prop::sample::select(vec![Offsets::Calibrated, Offsets::Next]);
    let on_die = (time(), wrong(), wrong(), 1u32..4, offsets).prop_map(
        |(prediction, missed, needless, most, offsets)| OnDie { prediction, missed, needless, most, offsets },
    );
    let retry = prop_oneof![
        Just(Retry::Regular),
        time().prop_map(|reset| Retry::Pipelined(Pipelined { reset })),
        on_die.prop_map(Retry::OnDie),
    ];
    let steps = (0u32..5, retry, 300_000u32..=1_000_000, any::<bool>());
    (rates(), rates(), decode, soft, steps).prop_map(|(lsb, msb, decode, soft, steps)| {
        let (max_retries, retry, retry_sensing_ppm, predict) = steps;
        let (latency_growth, max_latency) = decode;
        let spec = errors(&lsb, &msb, |spec| {
            let stage = |(sensings, capability, latency)| SoftStage { sensings, capability, latency };
            let soft = soft.into_iter().map(stage).collect();
            let ecc = std::mem::take(&mut spec.ecc);
            spec.ecc = Ecc {
                latency_growth,
                max_latency,
                max_retries,
                retry,
                retry_sensing_ppm,
                predict,
                soft,
                ..ecc
            };
        });
        spec.expect("errors were asked for")
    })
}

/// No use of the cache register, as often as not, or any.
fn some_cache() -> impl Strategy<Value = CacheRegister> {
    use interpulse_flash::parts::{CacheOnRead, CacheProgram};
    let which = prop::sample::select(vec![CacheProgram::Block, CacheProgram::Die, CacheProgram::Die]);
    let on_read = prop::sample::select(vec![CacheOnRead::Lost, CacheOnRead::Kept, CacheOnRead::Refused]);
    let transfer = prop_oneof![Just(0), 1u64..9_000].prop_map(Duration::from_ns);
    let program = prop_oneof![
        2 => Just(CacheRegister::NONE),
        3 => (which, 1u32..4, transfer, on_read).prop_map(|(program, pages, transfer, on_read)| {
            CacheRegister { program, pages, transfer, on_read, reads: false }
        }),
    ];
    let used = (program, any::<bool>()).prop_map(|(cache, reads)| CacheRegister { reads, ..cache });
    prop_oneof![1 => Just(CacheRegister::NONE), 1 => used]
}

fn a_case() -> impl Strategy<Value = Case> {
    // Gaps of nothing, of bus transfers, of reads, of pulses; three of five arrivals are host reads.
    let gap = prop_oneof![Just(0), 1u64..400, 1u64..60_000, 1u64..600_000];
    let arrival = (gap, 0u32..10, 0u32..3, 0u32..4, 0u32..24, 1u32..5);
    let policies = (a_policy(), a_policy(), any::<bool>());
    let rank = (0..GcReadRank::ALL.len()).prop_map(|k| GcReadRank::ALL[k].1);
    let long = (0..LongOperations::ALL.len()).prop_map(|k| LongOperations::ALL[k].1);
    let long = prop_oneof![3 => Just(LongOperations::Real), 1 => long];
    let aero = (any::<bool>(), any::<bool>()).prop_map(|(margin, often)| {
        EraseMethod::Aero(Aero { margin, mispredictions: if often { 0.5 } else { 0.0 } })
    });
    let method = prop_oneof![2 => Just(EraseMethod::Ispe), 1 => aero];
    let channel = (0..ChannelOrder::ALL.len()).prop_map(|k| ChannelOrder::ALL[k].1);
    let order = (any::<bool>(), any::<bool>(), rank, (long, method), channel);
    let errors = prop::option::weighted(0.4, some_errors());
    let nand = (policies, order, 0u64..80_000, 0u64..30_000, errors).prop_map(
        |(
            (program_suspend, erase_suspend, nesting),
            (fifo, multi_plane_reads, gc_reads, (long, erase_method), channel_order),
            latency,
            interval,
            errors,
        )| {
            NandConfig {
                policy: if fifo { Policy::Fifo } else { Policy::ReadPriority },
                gc_reads,
                long_operations: long,
                erase_method,
                // Blocks that are verified together, so that the time of an operation is that of one block.
                multi_block: match erase_method {
                    EraseMethod::Ispe if fifo => MultiBlock { blocks: 2, verify: MultiBlockVerify::Together },
                    _ => MultiBlock::ONE,
                },
                program_suspend,
                // An erase has no program voltage.
                erase_suspend: SuspendPolicy { compensation: Compensation::NONE, ..erase_suspend },
                nesting,
                multi_plane_reads,
                multi_plane_programs: false,
                channel_order,
                host_order: HostOrder::Arrival,
                power: PowerConfig::default(),
                super_layer: 0,
                ecc_latency: Duration::from_ns(latency),
                ecc_interval: Duration::from_ns(interval),
                errors,
            }
        },
    );
    // Windows of less than a phase up to more than an operation; budgets from the least that is legal up.
    let window = prop::option::weighted(0.7, 1_000u64..3_000_000);
    let budget = prop::option::weighted(0.5, prop_oneof![Just(0u64), 0u64..60_000]);
    let standby = prop_oneof![2 => Just(0), 1 => 1u64..500_000];
    let power = (window, budget, standby);
    let apart = (prop::bool::weighted(0.3), any::<bool>());
    let part = (some_cache(), prop::bool::weighted(0.3), apart);
    (nand, power, part, 1u32..4, any::<bool>(), prop::collection::vec(arrival, 1..150)).prop_map(
        |(mut config, (window, budget, standby), (cache, independent, apart), dies, urgent, arrivals)| {
            let (separate, merges) = apart;
            config.power = PowerConfig {
                standby_after: Duration::from_ns(standby),
                trace: window.map(Duration::from_ns),
                budget: budget.map(|more| Current(least_budget(dies).as_ua() + more)),
            };
            let cache = if independent { CacheRegister::NONE } else { cache };
            if independent {
                config.multi_plane_reads = false;
                (config.power.trace, config.power.budget) = (None, None);
            }
            config.multi_plane_programs = merges && cache.pages == 0;
            let mut commands = CommandBus::Shared;
            if separate && cache.pages == 0 {
                (commands, config.channel_order) = (CommandBus::Separate, ChannelOrder::CommandsFirst);
            }
            Case { config, cache, independent, commands, dies, urgent, arrivals }
        },
    )
}

fn bench_of(case: &Case) -> Bench {
    let part = PartSpec {
        cache: case.cache,
        independent_plane_reads: case.independent,
        command_bus: case.commands,
        ..distinct()
    };
    let mut bench = Bench::new(&part, case.config.clone(), case.dies);
    (0..case.dies).for_each(|die| bench.nand.set_gc_urgent(DieId(die), 0, case.urgent));
    // Word lines programmed in blocks 4 (host) and 5 (garbage collection) of each plane; of plane 0 alone where programs do
    // not join.
    let mut written = [[[0u32; 2]; 4]; 3];
    let mut now = 0;
    for &(gap, kind, die, plane, page, units) in &case.arrivals {
        now += gap;
        let die = die % case.dies;
        let mut addressed = |which: usize, kind: Kind| {
            let plane = if case.config.multi_plane_programs { plane } else { 0 };
            let next = &mut written[die as usize][plane as usize][which];
            *next += 1;
            let txn = Txn::new(kind, DieId(die));
            // A block has eight word lines; what comes after is without an address.
            let place = |t: &mut Txn| {
                (t.plane, t.block, t.page) = (plane as u8, BlockId(4 + which as u32), (*next - 1) * 3);
            };
            if *next <= 8 { but(txn, place) } else { txn }
        };
        let txn = match kind {
            0..=5 => read_of(die, plane, plane, page, units),
            6 => but(read_of(die, plane, plane, page, units), |t| t.kind = Kind::GcRead),
            7 => addressed(0, Kind::HostProgram),
            8 => addressed(1, Kind::GcProgram),
            _ => but(erase(die), |t| {
                (t.plane, t.planes, t.block) = ((plane / 2 * 2) as u8, 2, BlockId(6 + page % 2));
            }),
        };
        bench.at(now, txn);
    }
    bench
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Every transaction ends; reads account for all their time, dies for all of theirs; no
    /// pulse is lost or repeated, and no limit is passed. All energy has a category, and is the same summed
    /// by states and through time, and stays within the budget.
    #[test]
    fn everything_adds_up(case in a_case()) {
        let mut bench = bench_of(&case);
        bench.run();
        prop_assert_eq!(bench.done.len(), bench.submitted());
        prop_assert_eq!(bench.nand.pending(), 0);
        for done in &bench.done {
            if matches!(done.txn.kind, Kind::HostRead | Kind::GcRead) {
                prop_assert_eq!(done.waited(), done.txn.mark.0 - done.submitted, "{:?}", done);
                let entering = case.config.ecc_interval * u64::from(done.txn.units() - 1);
                prop_assert!(done.at >= done.txn.mark.0 + entering.as_ns() + done.txn.own);
                prop_assert_eq!(done.txn.own > 0, done.txn.is_retry());
                if !done.txn.is_retry() && case.config.errors.is_none() {
                    let decode = case.config.ecc_latency;
                    prop_assert!(done.at >= done.txn.mark.0 + (entering + decode).as_ns());
                }
            }
        }
        if let Some(reliability) = bench.nand.reliability() {
            let reads = |which: fn(&Txn) -> bool| bench.done.iter().filter(|d| which(&d.txn)).count() as u64;
            let e = reliability.counters;
            prop_assert_eq!(e.host_reads_retried + e.gc_reads_retried, reads(Txn::is_retry));
            let lost = e.uncorrectable_host_reads + e.uncorrectable_gc_reads;
            prop_assert_eq!(lost, reads(Txn::is_uncorrectable));
            prop_assert_eq!(reliability.by_attempts.iter().sum::<u64>(), e.reads);
            let further: u64 = reliability.by_attempts.iter().enumerate().map(|(k, &n)| k as u64 * n).sum();
            prop_assert_eq!(further, e.retry_steps + e.soft_decodes);
            prop_assert_eq!(e.on_die_sensings, e.avoided_transfers + e.on_die_needless);
        }
        let now = bench.events.now().0;
        let c = bench.nand.counters;
        let (mut pulses, mut stopped) = (0, 0);
        for die in 0..case.dies as usize {
            let uses = uses(&mut bench, die);
            prop_assert_eq!(uses.iter().sum::<u64>(), now);
            pulses += uses[DieActivity::PulseHost as usize] + uses[DieActivity::PulseGc as usize];
            stopped += uses[DieActivity::StopProgram as usize];
        }
        assert_power(&mut bench, &case.config.power, case.dies);
        let programs = c.host_programs + c.gc_programs;
        let trains = programs - c.multi_plane_programs;
        // What a part does between cache register and page buffer is on its array, and no pulse.
        let handed_over = case.cache.transfer.as_ns() * c.cached_programs;
        prop_assert_eq!(pulses + stopped, c.program_pulse_time + handed_over);
        prop_assert!(c.cached_pages_lost <= c.cached_pages);
        let applied = c.program_pulse_time + c.erase_pulse_time;
        let owed = c.program_owed_time + c.erase_owed_time;
        prop_assert_eq!(applied, owed + c.program_redone_time + c.erase_redone_time + c.ramp_time);
        if case.config.long_operations == LongOperations::Real {
            prop_assert_eq!(c.program_owed_time, trains * PULSES + c.compensated_loops * LOOP);
            match case.config.erase_method {
                EraseMethod::Ispe => {
                    prop_assert_eq!(c.erase_owed_time, (c.erases - c.multi_block_erases) * ERASE_PULSES);
                }
                // Between the shallow erase and whole loops with a mispredicted step.
                EraseMethod::Aero(_) => {
                    let step = ERASE_PULSES / 7;
                    prop_assert!(c.erase_owed_time >= c.erases * 2 * step);
                    prop_assert!(c.erase_owed_time <= c.erases * (ERASE_PULSES + step));
                }
            }
        }
        prop_assert_eq!(c.bus_time, bench.nand.channels()[0].busy_ns);
        prop_assert!(c.bus_time <= now);
        for (policy, suspends, operations) in [
            (&case.config.program_suspend, c.program_suspends, trains),
            (&case.config.erase_suspend, c.erase_suspends, c.erases),
        ] {
            let most = match policy.scheme {
                Scheme::None => Some(0),
                _ => policy.max_suspends,
            };
            prop_assert!(most.is_none_or(|most| suspends <= u64::from(most) * operations));
        }
        prop_assert_eq!(c.host_reads + c.gc_reads + programs + c.erases, bench.submitted() as u64);
    }

    /// The same arrivals give the same instants, also when the array is copied on the way.
    #[test]
    fn a_run_is_a_function_of_its_arrivals(case in a_case(), cut in 0u64..2_000_000) {
        let (mut a, mut b) = (bench_of(&case), bench_of(&case));
        a.run();
        b.run_until(cut);
        assert_power_in_the_middle(&mut b, cut);
        b.nand = b.nand.clone();
        b.run();
        prop_assert_eq!(a.ends(), b.ends());
    }
}
