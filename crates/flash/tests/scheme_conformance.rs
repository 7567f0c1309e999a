//! Conformance tests of the suspension schemes: the contract of every registered scheme, and the limits around it.

use interpulse_engine::{Duration, SimTime};
use interpulse_flash::command::{DieActivity, Kind};
use interpulse_flash::die::{Die, State};
use interpulse_flash::geometry::Planes;
use interpulse_flash::ids::BlockId;
use interpulse_flash::pulse::PulseTrain;
use interpulse_flash::suspend::{
    Decision, LongOpStatus, Scheme, SuspendCosts, SuspendPolicy, SuspendScheme, Tiers,
};
use interpulse_settings::Document;
use proptest::prelude::*;
use std::path::Path;

const PLANE: Planes = Planes { first: 0, count: 1 };

/// A train and a progress on it: anywhere, or near the end of a loop.
fn a_train_and_progress() -> impl Strategy<Value = (PulseTrain, Duration)> {
    let train = (1u32..40, 1u64..2_000_000, 0u64..200_000).prop_map(|(loops, pulse, verify)| {
        PulseTrain::even(
            loops,
            Duration::from_ns(pulse),
            Duration::from_ns(verify / 7),
            Duration::from_ns(verify),
        )
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

/// A die and the time at which its train has run for `elapsed`.
fn pulsing(train: PulseTrain, elapsed: Duration) -> (Die, SimTime) {
    let (mut die, start) = (Die::new(1, 1, 1, 1), SimTime(1_000));
    die.begin_long(SimTime::ZERO, Kind::HostProgram, train, None, PLANE);
    die.go(SimTime::ZERO, State::LoadWait, DieActivity::BusProgram, BlockId(0));
    die.go(SimTime::ZERO, State::Load, DieActivity::BusProgram, BlockId(0));
    die.start_pulses(start, start, Duration::ZERO);
    (die, start + elapsed)
}

/// A train at progress `elapsed` with `suspends` earlier suspensions, the last one a second ago.
fn status(train: &PulseTrain, elapsed: Duration, committed: bool, suspends: u32) -> LongOpStatus<'_> {
    LongOpStatus {
        train,
        elapsed,
        committed,
        planes: 1,
        suspends,
        first_suspend: SimTime(1_000),
        resumed: SimTime(2_000),
        suspended: Duration::from_ns(500),
        now: SimTime(1_000_002_000),
        oldest_write: None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn every_stop_is_one_the_die_accepts((train, elapsed) in a_train_and_progress(), costs in costs(), committed: bool) {
        for (name, scheme, _) in Scheme::all() {
            let policy = SuspendPolicy::unlimited(scheme, costs);
            let Decision::Stop(stop) = policy.decide(&status(&train, elapsed, committed, 7)) else { continue };
            prop_assert!(stop.after < train.total() - elapsed, "{}: {:?}", name, stop);
            prop_assert!(stop.keeps <= elapsed + stop.after, "{}: {:?}", name, stop);
            // Reads during resumes must not starve the train.
            if committed && scheme.guarantees_progress() {
                prop_assert!(stop.after > Duration::ZERO, "{}: {:?}", name, stop);
            }
            let (mut die, now) = pulsing(train, elapsed);
            let halt = die.accept_stop(now, stop);
            prop_assert_eq!(halt, now + stop.after);
            prop_assert_eq!(die.halt(halt, 0, 0), stop.entry);
            prop_assert_eq!(die.resume_cost(), stop.resume);
        }
    }

    #[test]
    fn limits_hold_around_every_scheme(
        (train, elapsed) in a_train_and_progress(), costs in costs(), max in 0u32..4, so_far in 0u32..6,
        left in 0u64..5_000_000, loops in 0u32..40,
    ) {
        let at = status(&train, elapsed, false, so_far);
        let remaining = train.total() - elapsed;
        for (name, scheme, _) in Scheme::all() {
            let free = SuspendPolicy::unlimited(scheme, costs);
            let unlimited = free.decide(&at);
            let unless = |refused: bool| if refused { Decision::Refused } else { unlimited };
            let limited = SuspendPolicy { max_suspends: Some(max), ..free.clone() };
            prop_assert_eq!(limited.decide(&at), unless(so_far >= max), "{}", name);
            let limited = SuspendPolicy { min_remaining: Duration::from_ns(left), ..free.clone() };
            prop_assert_eq!(limited.decide(&at), unless(remaining < Duration::from_ns(left)), "{}", name);
            let limited = SuspendPolicy { min_loops_left: loops, ..free.clone() };
            let begun = remaining.as_ns().div_ceil(train.loop_time().as_ns());
            prop_assert_eq!(limited.decide(&at), unless(begun < u64::from(loops)), "{}", name);
            // Suspended for 500 ns in total, first a second and 1000 ns ago, resumed a second ago. A suspension that would
            // end before its entry is complete is refused.
            let ends_by = |used: fn(Duration) -> Duration, most: Duration| match unlimited {
                Decision::Stop(stop) => used(stop.after) + stop.entry >= most,
                _ => false,
            };
            let most = Duration::from_ns(left % 1000);
            let limited = SuspendPolicy { max_suspended_time: Some(most), ..free.clone() };
            let spent = |_| Duration::from_ns(500);
            let over = so_far > 0 && most <= Duration::from_ns(500) || ends_by(spent, most);
            prop_assert_eq!(limited.decide(&at), unless(over), "{}", name);
            let most = Duration::from_ns(1_000_000_001 + left % 2000);
            let limited = SuspendPolicy { timeout: Some(most), ..free.clone() };
            let age: fn(Duration) -> Duration =
                if so_far > 0 { |after| Duration::from_ns(1_000_001_000) + after } else { |_| Duration::ZERO };
            let over = so_far > 0 && most <= Duration::from_ns(1_000_001_000) || ends_by(age, most);
            prop_assert_eq!(limited.decide(&at), unless(over), "{}", name);
            let min_interval = Duration::from_ns(999_999_000 + left % 2000);
            let limited = SuspendPolicy { min_interval, ..free.clone() };
            let later = SimTime(2_000) + min_interval;
            let expected =
                if so_far > 0 && later > at.now { Decision::NotBefore(later) } else { unlimited };
            prop_assert_eq!(limited.decide(&at), expected, "{}", name);
        }
    }
}

#[test]
fn every_scheme_has_its_file_and_is_chosen_by_its_name() {
    for (k, (name, scheme, doc)) in Scheme::all().into_iter().enumerate() {
        assert_eq!(scheme.name(), name);
        assert!(!doc.is_empty() && Scheme::ROWS[..k].iter().all(|other| other.name != name), "{name}");
        let file = format!("src/suspend/{}.rs", name.replace('-', "_"));
        assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(&file).is_file(), "{file}");
        let chosen = Document::set("scheme", name).unwrap();
        assert_eq!(Scheme::read(&mut chosen.top()).unwrap(), scheme);
    }
}

#[test]
fn none_never_stops_and_a_part_that_cannot_suspend_does_not() {
    let train = PulseTrain::even(4, Duration::from_us(35), Duration::ZERO, Duration::from_us(90));
    let at = status(&train, Duration::from_us(1), false, 0);
    for never in [SuspendPolicy::NEVER, SuspendPolicy::unlimited(Scheme::None, SuspendCosts::default())] {
        assert_eq!(never.decide(&at), Decision::RunsToEnd);
        assert!(!never.can_suspend());
    }
}

/// Tiers of two suspensions with 100 us between them, then one with 300 us: five in all are not reached. The read comes a second
/// after the last resume at 2 us, so times of more than a second put it off.
#[test]
fn tiers_bound_number_and_progress_of_suspensions() {
    let train = PulseTrain::even(4, Duration::from_us(35), Duration::ZERO, Duration::from_us(90));
    let (short, long) = (Duration::from_us(100), Duration::from_ms(1_500));
    let tiers = Tiers::of(&[2, 1], &[short, long]);
    for (name, scheme, _) in Scheme::all() {
        let free = SuspendPolicy::unlimited(scheme, SuspendCosts::default());
        let tiered = SuspendPolicy { tiers: tiers.clone(), ..free.clone() };
        let at = |suspends| status(&train, Duration::from_us(10), false, suspends);
        for suspends in [0, 1] {
            assert_eq!(tiered.decide(&at(suspends)), free.decide(&at(suspends)), "{name}");
        }
        assert_eq!(tiered.decide(&at(2)), Decision::NotBefore(SimTime(2_000) + long), "{name}");
        for suspends in [3, 4] {
            assert_eq!(tiered.decide(&at(suspends)), Decision::Refused, "{name}");
        }
    }
}

#[test]
fn tiers_need_a_time_for_each_budget() {
    let read = |text| {
        let document = Document::from_toml(text, "test.toml").unwrap();
        SuspendPolicy::read(&mut document.top(), SuspendCosts::default(), 1)
    };
    let policy =
        read("scheme = 'immediate'\ntier-suspends = [2, 1]\ntier-intervals = ['100us', '300us']\n").unwrap();
    let times = [Duration::from_us(100), Duration::from_us(300)];
    assert_eq!(policy.tiers, Tiers::of(&[2, 1], &times));
    let error = read("tier-suspends = [2, 1]\ntier-intervals = ['100us']\n").unwrap_err().to_string();
    assert!(error.contains("as many times as tier-suspends has budgets: 2"), "{error}");
}
