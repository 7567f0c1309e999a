//! Tests of the suspension formulas: limits of simpler formulas, and elementary counts.

use interpulse_oracle::queueing::{Class, Die, StopDelay, suspends_between_pulses};
use interpulse_oracle::repeat::{active_time_per_pulse, interruptions_per_pulse, repeated};
use interpulse_oracle::suspension::*;

const FREE: Costs = Costs { entry: 0.0, resume: 0.0 };

/// Reads and programs per second, of 80 us and 2 ms, in microseconds.
fn die(reads: f64, programs: f64) -> Die {
    Die {
        reads: Class::fixed(reads * 1e-6, 80.0).unwrap(),
        programs: Class::fixed(programs * 1e-6, 2_000.0).unwrap(),
    }
}

#[track_caller]
fn same(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} is not {b}");
}

#[test]
fn limits_of_the_read_time() {
    // The last load exceeds the capacity of a die.
    for die in [die(2_000.0, 200.0), die(5_000.0, 100.0), die(300.0, 450.0), die(3_000.0, 900.0)] {
        same(stop_anywhere_read_time(&die, FREE).unwrap(), die.preemptive_read_time());
        for entry in [1.0, 70.0, 300.0] {
            let delay = StopDelay::fixed(entry).unwrap();
            let ours = stop_anywhere_read_time(&die, Costs { entry, resume: 0.0 }).unwrap();
            same(ours, die.stop_delay_read_time(delay));
        }
        for loops in [1, 2, 16] {
            let ours = loop_end(&die, loops, FREE, None).unwrap();
            let pulse = 2_000.0 / f64::from(loops);
            same(ours.read_time, die.phase_end_read_time(&vec![pulse; loops as usize]).unwrap());
            same(ours.suspends, suspends_between_pulses(die.reads.rate(), loops, pulse).unwrap());
        }
        // Without suspensions: read priority at any cost of suspensions.
        let priority = die.priority_read_wait() + 80.0;
        let dear = Costs { entry: 50.0, resume: 30.0 };
        same(loop_end(&die, 16, dear, Some(0)).unwrap().read_time, priority);
        same(loop_end(&die, 1, dear, None).unwrap().read_time, priority);
        same(ideal_capped_read_time(&die, 0).unwrap(), priority);
        same(ideal_capped_read_time(&die, 10_000).unwrap(), die.preemptive_read_time());
        // The read time decreases with the cap and increases with the cost.
        let capped: Vec<f64> = (0..8).map(|cap| ideal_capped_read_time(&die, cap).unwrap()).collect();
        assert!(capped.windows(2).all(|pair| pair[0] > pair[1]), "{capped:?}");
        assert!(
            loop_end(&die, 16, dear, None).unwrap().read_time
                > loop_end(&die, 16, FREE, None).unwrap().read_time
        );
    }
}

#[test]
fn suspensions_under_a_cap() {
    let l1 = 2_000e-6;
    // Four reads in a program: P(N > 0) = 1 - e^-4, and P(N > 1) = 1 - 5 e^-4.
    let (none, one) = (libm::exp(-4.0), 4.0 * libm::exp(-4.0));
    same(stop_anywhere_suspends_capped(l1, 2_000.0, 0.0, 1).unwrap(), 1.0 - none);
    same(stop_anywhere_suspends_capped(l1, 2_000.0, 0.0, 2).unwrap(), 2.0 - 2.0 * none - one);
    same(stop_anywhere_suspends_capped(l1, 2_000.0, 0.0, 200).unwrap(), 4.0);
    // In resumes of 100 us there are e^0.2 times as many.
    same(stop_anywhere_suspends_capped(l1, 2_000.0, 100.0, 400).unwrap(), 4.0 * libm::exp(0.2));
    assert_eq!(stop_anywhere_suspends_capped(l1, 2_000.0, 100.0, 0).unwrap(), 0.0);
    // Binomial: each of three loops but the last is followed by a stop with probability f.
    let f = 1.0 - libm::exp(-l1 * 2_000.0 / 4.0);
    let die = die(2_000.0, 200.0);
    same(loop_end(&die, 4, FREE, Some(1)).unwrap().suspends, 1.0 - (1.0 - f).powi(3));
    same(loop_end(&die, 4, FREE, Some(2)).unwrap().suspends, 3.0 * f - f.powi(3));
}

#[test]
fn repeating_under_a_cap() {
    let phases = [35.0, 90.0, 35.0, 90.0];
    for rate in [1e-4, 2e-3, 2e-2] {
        let free = repeated(rate, &phases, None).unwrap();
        let sum = |of: fn(f64, f64) -> Result<f64, interpulse_oracle::OutOfDomain>| {
            phases.iter().map(|&p| of(rate, p).unwrap()).sum::<f64>()
        };
        same(free.interruptions, sum(interruptions_per_pulse));
        same(free.active, sum(active_time_per_pulse));
        let never = repeated(rate, &phases, Some(0)).unwrap();
        assert_eq!((never.interruptions, never.active), (0.0, 250.0));
        let often = repeated(rate, &phases, Some(5_000)).unwrap();
        same(often.interruptions, free.interruptions);
        same(often.active, free.active);
        // At most once: the probability of any read.
        same(repeated(rate, &phases, Some(1)).unwrap().interruptions, 1.0 - libm::exp(-rate * 250.0));
    }
    assert_eq!(repeated(0.0, &phases, Some(3)).unwrap().active, 250.0);
    assert!(repeated(1.0, &[], None).is_err() && repeated(1.0, &[0.0], None).is_err());
}

#[test]
fn invalid_arguments_are_rejected() {
    let die = die(2_000.0, 200.0);
    assert!(stop_anywhere_read_time(&die, Costs { entry: -1.0, resume: 0.0 }).is_err());
    assert!(loop_end(&die, 0, FREE, None).is_err());
    let silent = Die { reads: Class::fixed(0.0, 80.0).unwrap(), ..die };
    assert!(loop_end(&silent, 4, FREE, None).is_err());
    assert!(stop_anywhere_suspends_capped(1.0, 701.0, 0.0, 3).is_err());
}
