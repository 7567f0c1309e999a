//! Tests of the queueing formulas: hand-computed values, limits, and an independent event simulation of one die.

use interpulse_engine::{Rng, Streams};
use interpulse_oracle::queueing::*;
use interpulse_oracle::stats;

/// Microseconds throughout: 2000 reads/s of 80 us, 200 programs/s of 2 ms.
fn die() -> Die {
    Die { reads: Class::fixed(2000e-6, 80.0).unwrap(), programs: Class::fixed(200e-6, 2000.0).unwrap() }
}

fn close(actual: f64, printed: f64, digits: i32) {
    assert!((actual - printed).abs() <= 0.5001 * 10f64.powi(-digits), "{actual} is not {printed}");
}

#[test]
fn the_worked_case() {
    let die = die();
    close(die.fifo_wait() + 80.0, 1003.6, 1);
    close(die.priority_read_wait() + 80.0, 563.8, 1);
    close(die.preemptive_read_time(), 87.62, 2);
    close(die.preemptive_program_time(), 3480.0, -1);
    close(die.stop_delay_read_time(StopDelay::fixed(70.0).unwrap()), 123.3, 1);
    close(die.stop_delay_read_time(StopDelay::rest_of_phase(&[50.0]).unwrap()), 99.9, 1);
    close(die.phase_end_read_time(&[50.0; 40]).unwrap(), 99.52, 2);
    close(die.suspends_per_program(), 4.00, 2);
    close(suspends_between_pulses(2000e-6, 40, 50.0).unwrap(), 3.71, 2);
}

#[test]
fn the_deterministic_queue() {
    for (load, wait, digits) in [(0.1, 0.0556, 4), (0.5, 0.5, 9), (0.9, 4.5, 9)] {
        close(md1_wait_in_services(load).unwrap(), wait, digits);
    }
    assert_eq!(md1_wait_in_services(1.0).unwrap(), f64::INFINITY);
    let die = Die { reads: Class::fixed(0.5, 1.0).unwrap(), programs: Class::fixed(0.0, 1.0).unwrap() };
    close(die.fifo_wait(), 0.5, 12);
}

#[test]
fn the_rest_of_a_phase() {
    // Pulse 20 us, verify 8 us (SLC) and 24 us (MLC).
    close(StopDelay::rest_of_phase(&[20.0, 8.0]).unwrap().mean(), 8.29, 2);
    close(StopDelay::rest_of_phase(&[20.0, 24.0]).unwrap().mean(), 11.09, 2);
    close(StopDelay::rest_of_phase(&[28.0]).unwrap().mean(), 14.0, 9);
    assert!(StopDelay::rest_of_phase(&[]).is_err());
    assert!(StopDelay::rest_of_phase(&[1.0, 0.0]).is_err());
}

#[test]
fn formulas_agree_in_their_limits() {
    let die = die();
    let free = StopDelay::fixed(0.0).unwrap();
    assert_eq!(die.stop_delay_read_time(free), die.preemptive_read_time());
    // Infinitely short phases are preemption at no cost.
    assert!(die.phase_end_read_time(&[1e-3]).unwrap() - die.preemptive_read_time() < 1e-3);
    // A single phase is non-preemptive priority.
    let whole = die.phase_end_read_time(&[2000.0]).unwrap();
    assert!((whole - die.priority_read_wait() - 80.0).abs() < 1e-9, "{whole}");
}

#[test]
fn overload_is_an_infinite_wait_and_never_nan() {
    let full = Die { programs: Class::fixed(600e-6, 2000.0).unwrap(), ..die() };
    assert_eq!(full.fifo_wait(), f64::INFINITY);
    assert_eq!(full.priority_program_wait(), f64::INFINITY);
    assert_eq!(full.preemptive_program_time(), f64::INFINITY);
    assert_eq!(full.preemptive_read_time(), die().preemptive_read_time());
    // Programs use all time beside reads: a residual of (l1 s1^2 + (1 - r1) s2) / 2.
    close(full.priority_read_wait(), (2000e-6 * 6400.0 + 0.84 * 2000.0) / 2.0 / 0.84, 9);
    assert!((full.phase_end_read_time(&[2000.0]).unwrap() - full.priority_read_wait() - 80.0).abs() < 1e-9);
    assert!(full.stop_delay_read_time(StopDelay::fixed(70.0).unwrap()).is_finite());
    for rate in [12_500e-6, 20_000e-6] {
        let drowned = Die { reads: Class::fixed(rate, 80.0).unwrap(), ..full };
        for wait in [drowned.priority_read_wait(), drowned.phase_end_read_time(&[50.0]).unwrap()] {
            assert_eq!(wait, f64::INFINITY);
        }
    }
}

#[test]
fn invalid_classes_are_rejected() {
    assert_eq!(
        Class::fixed(-1.0, 1.0).unwrap_err().to_string(),
        "rate is -1, but must be finite and not negative"
    );
    assert!(Class::fixed(1.0, 0.0).is_err());
    assert!(Class::new(1.0, 2.0, 3.9).is_err());
    assert!(StopDelay::new(2.0, 3.9).is_err());
    assert!(suspends_between_pulses(1.0, 0, 1.0).is_err());
}

/// Reaction of a program to a read.
#[derive(Clone, Copy)]
enum Stop {
    /// Runs to its end, behind all earlier arrivals (true) or behind reads (false).
    Never { fifo: bool },
    /// Stops at once and keeps the die for a delay without progress.
    Delay(f64),
    /// Runs to the end of its 50 us pulse.
    PulseEnd,
}

/// Mean read time, mean program time and suspensions per program of one run of `programs` programs.
fn simulate(stop: Stop, rng: &mut Rng, programs: usize) -> [f64; 3] {
    let die = die();
    let gap = |rng: &mut Rng, mean: f64| -mean * (1.0 - rng.unit()).ln();
    let (mut next_read, mut next_program) = (gap(rng, 500.0), gap(rng, 5000.0));
    let (mut reads, mut waiting) = (std::collections::VecDeque::new(), std::collections::VecDeque::new());
    let (mut read_sum, mut read_count, mut program_sum, mut done, mut suspends) = (0.0, 0.0, 0.0, 0, 0.0);
    let (mut now, mut remaining) = (0.0, 2000.0);
    // Advances the clock to `until` and queues arrivals.
    macro_rules! run_to {
        ($until:expr) => {{
            now = $until;
            while next_read <= now {
                reads.push_back(next_read);
                next_read += gap(rng, 500.0);
            }
            while next_program <= now {
                waiting.push_back(next_program);
                next_program += gap(rng, 5000.0);
            }
        }};
    }
    while done < programs {
        let older =
            |r: &f64| waiting.front().is_none_or(|p| r < p) || !matches!(stop, Stop::Never { fifo: true });
        if reads.front().is_some_and(older) {
            let arrived = reads.pop_front().unwrap();
            run_to!(now + 80.0);
            read_sum += now - arrived;
            read_count += 1.0;
        } else if waiting.is_empty() {
            run_to!(next_read.min(next_program));
        } else {
            let end: f64 = now + remaining;
            let stopped = match stop {
                Stop::Never { .. } => end,
                _ if next_read >= end => end,
                Stop::Delay(_) => next_read,
                Stop::PulseEnd => end - ((end - next_read) / 50.0).floor() * 50.0,
            };
            // Rounding may leave a pulse of length zero at the end.
            remaining = if end - stopped > 1e-6 { end - stopped } else { 0.0 };
            run_to!(stopped);
            if remaining > 0.0 {
                suspends += 1.0;
                if let Stop::Delay(delay) = stop {
                    run_to!(now + delay);
                }
            } else {
                program_sum += now - waiting.pop_front().unwrap();
                remaining = 2000.0;
                done += 1;
            }
        }
    }
    let programs = programs as f64;
    assert!((die.reads.load() - 0.16).abs() < 1e-12);
    [read_sum / read_count, program_sum / programs, suspends / programs]
}

#[test]
fn an_event_simulation_agrees() {
    let die = die();
    let delayed = die.stop_delay_read_time(StopDelay::fixed(70.0).unwrap());
    let pulses = die.phase_end_read_time(&[50.0; 40]).unwrap();
    let between = suspends_between_pulses(2000e-6, 40, 50.0).unwrap();
    let program = die.preemptive_program_time();
    let cases = [
        (Stop::Never { fifo: true }, [Some(die.fifo_wait() + 80.0), Some(die.fifo_wait() + 2000.0), None]),
        (
            Stop::Never { fifo: false },
            [Some(die.priority_read_wait() + 80.0), Some(die.priority_program_wait() + 2000.0), None],
        ),
        (
            Stop::Delay(0.0),
            [Some(die.preemptive_read_time()), Some(program), Some(die.suspends_per_program())],
        ),
        (Stop::Delay(70.0), [Some(delayed), None, Some(die.suspends_per_program())]),
        (Stop::PulseEnd, [Some(pulses), None, Some(between)]),
    ];
    let streams = Streams::new(2024);
    for (i, (stop, expected)) in cases.into_iter().enumerate() {
        let runs: Vec<[f64; 3]> = (0..20)
            .map(|seed| simulate(stop, &mut streams.stream("die", 100 * i as u64 + seed), 20_000))
            .collect();
        for (k, expected) in expected.into_iter().enumerate() {
            let Some(expected) = expected else { continue };
            let samples: Vec<f64> = runs.iter().map(|run| run[k]).collect();
            let interval = stats::confidence_interval(&samples, 1e-3, 12).unwrap();
            assert!(interval.contains(expected), "case {i}, value {k}: {expected} not in {interval:?}");
        }
    }
}
