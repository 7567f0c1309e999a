//! Does every registered suspension scheme keep the contract, and do the limits hold around any of them?

use interpulse_engine::{Duration, SimTime};
use interpulse_flash::die::usage::Use;
use interpulse_flash::die::{Die, LongKind, State};
use interpulse_flash::pulse::PulseTrain;
use interpulse_flash::suspend::{Progress, Scheme, SuspendCosts, SuspendPolicy, SuspendScheme};
use proptest::prelude::*;

/// A train, and a progress on it: anywhere, or about the end of a loop.
fn a_train_and_progress() -> impl Strategy<Value = (PulseTrain, Duration)> {
    let train = (1u32..40, 1u64..2_000_000, 0u64..200_000).prop_map(|(loops, pulse, verify)| PulseTrain {
        loops,
        pulse: Duration::from_ns(pulse),
        verify: Duration::from_ns(verify),
    });
    (train, 0.0f64..1.0, 0u64..3, any::<bool>()).prop_map(|(train, share, nudge, boundary)| {
        let (total, one) = (train.total().as_ns(), train.loop_time().as_ns());
        let anywhere = (share * total as f64) as u64;
        let at = if boundary { (anywhere / one * one + nudge).saturating_sub(1) } else { anywhere };
        (train, Duration::from_ns(at.min(total - 1)))
    })
}

fn costs() -> impl Strategy<Value = SuspendCosts> {
    (0u64..100_000, 0u64..100_000, 0u64..10_000).prop_map(|(entry, resume, reset)| SuspendCosts {
        entry: Duration::from_ns(entry),
        resume: Duration::from_ns(resume),
        reset: Duration::from_ns(reset),
    })
}

/// A die whose train has run for `elapsed` at the instant returned.
fn pulsing(train: PulseTrain, elapsed: Duration) -> (Die, SimTime) {
    let (mut die, start) = (Die::new(1, 1, 1), SimTime(1_000));
    die.begin_long(SimTime::ZERO, LongKind::HostProgram, train, None, (0, 1));
    die.go(SimTime::ZERO, State::LoadWait, Use::BusProgram, 0);
    die.go(SimTime::ZERO, State::Load, Use::BusProgram, 0);
    die.start_pulses(start, start);
    (die, start + elapsed)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn every_stop_is_one_the_die_accepts((train, elapsed) in a_train_and_progress(), costs in costs(), committed: bool) {
        for &(name, scheme, _) in Scheme::ALL {
            let policy = SuspendPolicy { scheme, max_suspends: None, min_remaining: Duration::ZERO, costs };
            let at = Progress { elapsed, committed };
            let Some(stop) = policy.stop(&train, at, 7) else { continue };
            prop_assert!(stop.after < train.total() - elapsed, "{}: {:?}", name, stop);
            prop_assert!(stop.keeps <= elapsed + stop.after, "{}: {:?}", name, stop);
            // A read that came during a resume must not keep the train from ever making progress.
            if committed && scheme.progresses() {
                prop_assert!(stop.after > Duration::ZERO, "{}: {:?}", name, stop);
            }
            let (mut die, now) = pulsing(train, elapsed);
            let halt = die.accept_stop(now, stop);
            prop_assert_eq!(halt, now + stop.after);
            prop_assert_eq!(die.halt(halt), stop.entry);
            prop_assert_eq!(die.resume_cost(), stop.resume);
        }
    }

    #[test]
    fn limits_hold_around_every_scheme(
        (train, elapsed) in a_train_and_progress(), costs in costs(), max in 0u32..4, so_far in 0u32..6, left in 0u64..5_000_000
    ) {
        let at = Progress { elapsed, committed: false };
        for &(name, scheme, _) in Scheme::ALL {
            let free = SuspendPolicy { scheme, max_suspends: None, min_remaining: Duration::ZERO, costs };
            let unlimited = free.stop(&train, at, so_far);
            let limited = SuspendPolicy { max_suspends: Some(max), ..free }.stop(&train, at, so_far);
            prop_assert_eq!(limited, unlimited.filter(|_| so_far < max), "{}", name);
            let min_remaining = Duration::from_ns(left);
            let limited = SuspendPolicy { min_remaining, ..free }.stop(&train, at, so_far);
            prop_assert_eq!(limited, unlimited.filter(|_| train.total() - elapsed >= min_remaining), "{}", name);
        }
    }
}

#[test]
fn names_are_distinct_and_documented() {
    for (k, &(name, scheme, doc)) in Scheme::ALL.iter().enumerate() {
        assert_eq!(scheme.name(), name);
        assert!(!doc.is_empty());
        assert!(Scheme::ALL[..k].iter().all(|&(other, ..)| other != name), "{name}");
    }
}

#[test]
fn none_never_stops_and_a_part_that_cannot_suspend_does_not() {
    let train = PulseTrain { loops: 4, pulse: Duration::from_us(35), verify: Duration::from_us(90) };
    let at = Progress { elapsed: Duration::from_us(1), committed: false };
    assert_eq!(Scheme::None.stop(&train, at, &SuspendCosts::default()), None);
    assert_eq!(SuspendPolicy::NEVER.stop(&train, at, 0), None);
}
