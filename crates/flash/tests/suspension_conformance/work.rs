//! Work conservation and monotone progress; `none` equals a part without suspension.

use crate::common::*;
use crate::suspension_conformance::watch::{arrivals, bench_of, each, of, record, resetting};
use interpulse_engine::Duration;
use interpulse_flash::nand::NandConfig;
use interpulse_flash::nand::txn::Kind;
use interpulse_flash::parts::TrainSpec;
use interpulse_flash::pulse::PulseTrain;
use interpulse_flash::suspend::{
    Eligibility, MultiPlane, Preemptors, Reload, ResumePolicy, Scheme, Stop, SuspendCosts, SuspendPolicy,
    SuspendScheme,
};

const SEEDS: u64 = 40;

/// Variations of the policy around a scheme.
fn wrapped(scheme: Scheme, k: u64) -> NandConfig {
    let mut config = of(scheme);
    config.nesting = k.is_multiple_of(2);
    each(&mut config, |policy| {
        policy.resume = match k % 3 {
            0 => ResumePolicy::Drained,
            1 => ResumePolicy::Batch,
            _ => ResumePolicy::Timer(Duration::from_us(70)),
        };
        policy.reload = if k % 4 < 2 { Reload::Bus } else { Reload::ShadowBuffer(Duration::from_us(9)) };
        policy.preemptors = Preemptors { host_reads: true, gc_reads: true, host_writes: k % 5 < 2 };
        policy.max_suspends = (k % 7 == 3).then_some(2);
        policy.min_interval = Duration::from_us(if k % 6 == 5 { 50 } else { 0 });
        policy.eligible.multi_plane = MultiPlane::ALL[(k % 3) as usize].1;
    });
    config
}

/// Stops of `scheme` on the trains of [`resetting`] at every microsecond of progress.
fn scheme_stops(scheme: Scheme) -> Vec<(Duration, PulseTrain, Stop)> {
    let part = resetting();
    let config = of(scheme);
    let kinds = [(part.program, config.program_suspend.costs), (part.erase, config.erase_suspend.costs)];
    let every = |(spec, costs): (TrainSpec, SuspendCosts)| {
        let train = train_of(&spec);
        let stop = move |us| {
            let elapsed = Duration::from_us(us);
            answer(scheme, &spec, &costs, elapsed).map(|stop| (elapsed + stop.after, train, stop))
        };
        (0..train.total().as_ns() / 1_000).filter_map(stop)
    };
    kinds.into_iter().flat_map(every).collect()
}

/// Applied pulses = nominal + repeated + ramps; each operation completes once; suspended time is accounted for.
#[test]
fn nothing_is_lost_and_work_is_conserved() {
    for (name, scheme, _) in Scheme::all() {
        let (mut stops, mut redone, mut ramps) = (0, 0, 0);
        for seed in 0..SEEDS {
            let config = wrapped(scheme, seed);
            let mut bench = bench_of(&config, &arrivals(seed, 60));
            bench.run();
            let what = format!("{name}, seed {seed}");
            assert_eq!((bench.done.len(), bench.nand.pending()), (bench.submitted(), 0), "{what}");
            let mut owners: Vec<u32> = bench.done.iter().map(|d| d.txn.owner().index).collect();
            owners.sort_unstable();
            owners.dedup();
            assert_eq!(owners.len(), bench.submitted(), "{what}: something completed twice");
            let c = bench.nand.counters;
            let of = |kind| bench.done.iter().filter(|d| d.txn.kind == kind).count() as u64;
            let programs = of(Kind::HostProgram) + of(Kind::GcProgram);
            assert_eq!(c.program_owed_time, programs * 500_000, "{what}");
            assert_eq!(c.erase_owed_time, of(Kind::Erase) * 3_300_000, "{what}");
            let applied = c.program_pulse_time + c.erase_pulse_time;
            let owed = c.program_owed_time + c.erase_owed_time;
            let again = c.program_redone_time + c.erase_redone_time;
            assert_eq!(applied, owed + again + c.ramp_time, "{what}");
            // Time without pulses of a suspended operation is accounted for as suspended.
            let suspended = c.program_suspended_time + c.erase_suspended_time;
            assert!(suspended >= c.entry_time + c.resume_time + c.reload_time, "{what}");
            stops += c.program_suspends + c.erase_suspends;
            redone += again;
            ramps += c.ramp_time;
        }
        let possible = scheme_stops(scheme);
        assert_eq!(stops > 0, !possible.is_empty(), "{name}: {stops} stops");
        let repeats = possible.iter().any(|(halt, _, stop)| stop.keeps < *halt);
        assert_eq!(redone > 0, repeats, "{name}: {redone} ns done again");
        let inside = possible.iter().any(|(_, train, stop)| train.is_inside_pulse(stop.keeps));
        assert_eq!(ramps > 0, inside && !scheme.has_free_resume(), "{name}: {ramps} ns of ramps");
    }
}

/// Progress never decreases between stops, and strictly increases for schemes that guarantee progress.
#[test]
fn progress_is_monotone() {
    for (name, scheme, _) in Scheme::all() {
        let (mut compared, mut seed) = (0, 0);
        // More runs for schemes that stop rarely.
        while seed < SEEDS || compared <= 50 && seed < 20 * SEEDS && scheme != Scheme::None {
            let mut config = of(scheme);
            let resume = if seed % 2 == 0 { ResumePolicy::Drained } else { ResumePolicy::Batch };
            each(&mut config, |policy| policy.resume = resume);
            let mut bench = bench_of(&config, &arrivals(seed, 80));
            let record = record(&mut bench, u64::MAX >> 8);
            for pair in record.progress.windows(2) {
                let ((op, before), (next, after)) = (pair[0], pair[1]);
                if op == next {
                    let grows = if scheme.guarantees_progress() { after > before } else { after >= before };
                    assert!(grows, "{name}, seed {seed}: {before} ns, then {after} ns");
                    compared += 1;
                }
            }
            seed += 1;
        }
        assert!(scheme == Scheme::None || compared > 50, "{name}: only {compared} pairs");
    }
}

/// Equal times and counters for any other configuration.
#[test]
fn none_is_a_part_without_suspension() {
    for seed in 0..SEEDS {
        let none = wrapped(Scheme::None, seed);
        let never = NandConfig {
            program_suspend: SuspendPolicy::NEVER,
            erase_suspend: SuspendPolicy::NEVER,
            nesting: false,
            ..none.clone()
        };
        // No scheme suspends with a cap of 0.
        let mut not_once = wrapped(Scheme::all()[seed as usize % Scheme::ROWS.len()].1, seed);
        each(&mut not_once, |policy| policy.max_suspends = Some(0));
        // Nor without eligible operations or preemptors.
        let mut no_die = wrapped(Scheme::Ideal, seed);
        each(&mut no_die, |policy| policy.eligible = Eligibility { dies: Some(vec![]), ..Eligibility::ALL });
        let mut nobody = wrapped(Scheme::Exact, seed);
        each(&mut nobody, |policy| {
            policy.preemptors = Preemptors { host_reads: false, gc_reads: false, host_writes: false };
        });
        let list = arrivals(seed, 80);
        let mut expected = bench_of(&never, &list);
        expected.run();
        for config in [none, not_once, no_die, nobody] {
            let mut bench = bench_of(&config, &list);
            bench.run();
            assert_eq!(bench.ends(), expected.ends(), "seed {seed}");
            let all = |b: &Bench| b.nand.counters.iter().map(|(_, value)| value).collect::<Vec<_>>();
            assert_eq!(all(&bench), all(&expected), "seed {seed}");
            for (ours, theirs) in bench.done.iter().zip(&expected.done) {
                assert_eq!((ours.waits(), ours.txn.own), (theirs.waits(), theirs.txn.own), "seed {seed}");
            }
        }
    }
}
