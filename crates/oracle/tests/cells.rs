//! Tests of the error rates of normal states against hand-computed values.

use interpulse_oracle::cells::{State, optimal_threshold, optimal_thresholds, q, raw_bit_error_rate};

fn near(actual: f64, printed: f64, tolerance: f64) {
    assert!((actual - printed).abs() <= tolerance, "{actual} is not {printed}");
}

#[test]
fn the_tail_is_that_of_the_tables() {
    for (x, tail) in [(0.0, 0.5), (1.0, 0.158_655_3), (3.0, 1.349_898e-3), (6.0, 9.865_876e-10)] {
        near(q(x) / tail, 1.0, 1e-6);
        near(q(x) + q(-x), 1.0, 1e-15);
    }
}

#[test]
fn the_optimal_threshold_is_central_for_equal_widths_and_nearer_to_the_narrow_state_otherwise() {
    let state = |mean, sd| State { mean, sd };
    near(optimal_threshold(state(0.0, 2.0), state(12.0, 2.0)).unwrap(), 6.0, 1e-12);
    let threshold = optimal_threshold(state(0.0, 4.0), state(12.0, 1.0)).unwrap();
    assert!(threshold > 6.0);
    // A minimum: a step to either side causes more misreads.
    let both = [state(0.0, 4.0), state(12.0, 1.0)];
    let at = |t: f64| raw_bit_error_rate(&both, &[t]).unwrap();
    assert!(at(threshold) < at(threshold - 0.01) && at(threshold) < at(threshold + 0.01));
    assert!(optimal_threshold(state(12.0, 1.0), state(0.0, 1.0)).is_err());
    assert!(optimal_threshold(state(0.0, 1.0), state(0.1, 40.0)).is_err());
}

#[test]
fn eight_states_at_a_distance_of_six_sigma() {
    let states: Vec<State> = (0..8).map(|k| State { mean: 6.0 * f64::from(k), sd: 1.0 }).collect();
    let thresholds = optimal_thresholds(&states).unwrap();
    // 14 tails of Q(3), over 8 states and 3 bits.
    near(raw_bit_error_rate(&states, &thresholds).unwrap(), 14.0 * 1.349_898e-3 / 24.0, 1e-9);
    assert!(raw_bit_error_rate(&states, &thresholds[1..]).is_err());
    assert!(raw_bit_error_rate(&states[..7], &thresholds[..6]).is_err());
}
