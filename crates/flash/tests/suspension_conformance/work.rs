//! Nothing is lost, work is conserved, progress is monotone; and `none` is a part without suspension.

use crate::common::*;
use crate::suspension_conformance::watch::{arrivals, bench_of, each, of, record, resetting};
use interpulse_engine::Duration;
use interpulse_flash::nand::NandConfig;
use interpulse_flash::nand::txn::Kind;
use interpulse_flash::parts::TrainSpec;
use interpulse_flash::pulse::PulseTrain;
use interpulse_flash::suspend::{
    Eligibility, MultiPlane, Preemptors, Reload, ResumeWhen, Scheme, Stop, SuspendCosts, SuspendPolicy,
    SuspendScheme,
};

const SEEDS: u64 = 40;

/// Variations of what wraps a scheme, one after the other.
fn wrapped(scheme: Scheme, k: u64) -> NandConfig {
    let mut config = of(scheme);
    config.nesting = k.is_multiple_of(2);
    each(&mut config, |policy| {
        policy.resume = match k % 3 {
            0 => ResumeWhen::Drained,
            1 => ResumeWhen::Batch,
            _ => ResumeWhen::Timer(Duration::from_us(70)),
        };
        policy.reload = if k % 4 < 2 { Reload::Bus } else { Reload::ShadowBuffer(Duration::from_us(9)) };
        policy.preemptors = Preemptors { host_reads: true, gc_reads: true, host_writes: k % 5 < 2 };
        policy.max_suspends = (k % 7 == 3).then_some(2);
        policy.min_interval = Duration::from_us(if k % 6 == 5 { 50 } else { 0 });
        policy.eligible.multi_plane = MultiPlane::ALL[(k % 3) as usize].1;
    });
    config
}

/// Where the trains of [`resetting`] halt, and what `scheme` answers, wherever it is asked, to the microsecond.
fn answers(scheme: Scheme) -> Vec<(Duration, PulseTrain, Stop)> {
    let part = resetting();
    let config = of(scheme);
    let kinds = [(part.program, config.program_suspend.costs), (part.erase, config.erase_suspend.costs)];
    let every = |(spec, costs): (TrainSpec, SuspendCosts)| {
        let train = train_of(&spec);
        let ask = move |us| {
            let elapsed = Duration::from_us(us);
            answer(scheme, &spec, &costs, elapsed).map(|stop| (elapsed + stop.after, train, stop))
        };
        (0..train.total().as_ns() / 1_000).filter_map(ask)
    };
    kinds.into_iter().flat_map(every).collect()
}

/// Pulses applied = owed + done again + ramps; each operation completes once; what was suspended is accounted for.
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
            let mut owners: Vec<u32> = bench.done.iter().map(|d| d.txn.owner).collect();
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
            // Whatever is not applied pulses of a suspended operation is accounted for as suspended.
            let suspended = c.program_suspended_time + c.erase_suspended_time;
            assert!(suspended >= c.entry_time + c.resume_time + c.reload_time, "{what}");
            stops += c.program_suspends + c.erase_suspends;
            redone += again;
            ramps += c.ramp_time;
        }
        let answers = answers(scheme);
        assert_eq!(stops > 0, !answers.is_empty(), "{name}: {stops} stops");
        let repeats = answers.iter().any(|(halt, _, stop)| stop.keeps < *halt);
        assert_eq!(redone > 0, repeats, "{name}: {redone} ns done again");
        let inside = answers.iter().any(|(_, train, stop)| train.is_inside_pulse(stop.keeps));
        assert_eq!(ramps > 0, inside && !scheme.resumes_free(), "{name}: {ramps} ns of ramps");
    }
}

/// What a suspended operation has done is never less at its next stop; a scheme that promises progress has made some
/// between any two stops.
#[test]
fn progress_is_monotone() {
    for (name, scheme, _) in Scheme::all() {
        let (mut compared, mut seed) = (0, 0);
        // A scheme that stops seldom is asked more often.
        while seed < SEEDS || compared <= 50 && seed < 20 * SEEDS && scheme != Scheme::None {
            let mut config = of(scheme);
            let resume = if seed % 2 == 0 { ResumeWhen::Drained } else { ResumeWhen::Batch };
            each(&mut config, |policy| policy.resume = resume);
            let mut bench = bench_of(&config, &arrivals(seed, 80));
            let record = record(&mut bench, u64::MAX >> 8);
            for pair in record.progress.windows(2) {
                let ((op, before), (next, after)) = (pair[0], pair[1]);
                if op == next {
                    let grows = if scheme.progresses() { after > before } else { after >= before };
                    assert!(grows, "{name}, seed {seed}: {before} ns, then {after} ns");
                    compared += 1;
                }
            }
            seed += 1;
        }
        assert!(scheme == Scheme::None || compared > 50, "{name}: only {compared} pairs");
    }
}

/// The same instants and counters, whatever else is configured.
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
        // No scheme either suspends anything if it may not once.
        let mut not_once = wrapped(Scheme::all()[seed as usize % Scheme::ROWS.len()].1, seed);
        each(&mut not_once, |policy| policy.max_suspends = Some(0));
        // Nor if nothing is eligible, or nothing may preempt.
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
