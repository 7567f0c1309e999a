//! Tests of cells sampled from the state table: means, widths and error rates at every age.

use interpulse_cell::state_table::{Distributions, StateTable, TableCells};
use interpulse_cell::states::STATES;
use interpulse_engine::random::Streams;
use interpulse_oracle::cells::{State, optimal_thresholds, raw_bit_error_rate};
use interpulse_oracle::stats;

/// Age in days, and the raw bit error rates of the normal tails of the table, at optimal thresholds and at those of day 1.
const AGES: [(f64, f64, f64); 5] = [
    (1.0, 3.86e-4, 3.86e-4),
    (7.0, 9.9e-4, 1.09e-3),
    (30.0, 1.49e-3, 1.75e-3),
    (90.0, 2.42e-3, 3.28e-3),
    (365.0, 3.77e-3, 6.18e-3),
];
const CELLS: usize = 1 << 21;

fn states(d: &Distributions) -> Vec<State> {
    (0..STATES).map(|s| State { mean: d.mean[s], sd: d.sd[s] }).collect()
}

fn sample(table: &StateTable, cells: usize, seed: u64) -> TableCells {
    let mut rng = Streams::new(seed).stream("state-table", 0);
    let data = (0..cells).map(|_| rng.below(STATES as u64) as u8).collect();
    table.cells(data, &mut rng)
}

/// Wrong bits per bit under a reflected Gray code.
fn error_rate(cells: &TableCells, voltages: &[f32], thresholds: &[f64]) -> f64 {
    let gray = |s: usize| s ^ (s >> 1);
    let wrong: u32 = cells
        .states
        .iter()
        .zip(voltages)
        .map(|(&state, &v)| {
            let read = thresholds.partition_point(|&t| t <= f64::from(v));
            (gray(usize::from(state)) ^ gray(read)).count_ones()
        })
        .sum();
    f64::from(wrong) / (3 * voltages.len()) as f64
}

fn of_state(cells: &TableCells, voltages: &[f32], state: usize) -> Vec<f64> {
    let both = cells.states.iter().zip(voltages);
    both.filter(|(s, _)| usize::from(**s) == state).map(|(_, &v)| f64::from(v)).collect()
}

#[test]
fn the_oracle_has_the_error_rates_of_the_table() {
    let table = StateTable::cai();
    let frozen = optimal_thresholds(&states(&table.at_age(1.0).unwrap())).unwrap();
    for (t, printed) in frozen.iter().zip([35.5, 97.4, 160.5, 223.6, 286.9, 350.6, 416.8]) {
        assert!((t - printed).abs() < 0.06, "{t} is not {printed}");
    }
    for (days, optimal, at_frozen) in AGES {
        let now = states(&table.at_age(days).unwrap());
        let best = raw_bit_error_rate(&now, &optimal_thresholds(&now).unwrap()).unwrap();
        let old = raw_bit_error_rate(&now, &frozen).unwrap();
        assert!((best / optimal - 1.0).abs() < 0.005, "{days} days: {best} is not {optimal}");
        assert!((old / at_frozen - 1.0).abs() < 0.005, "{days} days: {old} is not {at_frozen}");
    }
    let fresh = states(&table.at_cycles(0.0).unwrap());
    let rate = raw_bit_error_rate(&fresh, &optimal_thresholds(&fresh).unwrap()).unwrap();
    assert!((rate / 1.51e-4 - 1.0).abs() < 0.005, "{rate}");
}

#[test]
fn means_widths_and_shapes_are_those_of_the_rows() {
    let table = StateTable::cai();
    let cells = sample(&table, CELLS, 1);
    for (days, ..) in AGES {
        let (voltages, row) = (cells.voltages(&table, days).unwrap(), table.at_age(days).unwrap());
        for s in 0..STATES {
            let sample = of_state(&cells, &voltages, s);
            let spacing = (row.mean[7] - row.mean[1]) / 6.0;
            let mean = stats::mean(&sample).unwrap();
            let sd = stats::variance(&sample).unwrap().sqrt();
            assert!((mean - row.mean[s]).abs() < 0.05 * spacing, "{days} days, state {s}: mean {mean}");
            assert!((sd / row.sd[s] - 1.0).abs() < 0.02, "{days} days, state {s}: width {sd}");
            let q = |x: f64| 1.0 - interpulse_oracle::cells::q((x - row.mean[s]) / row.sd[s]);
            let distance = stats::ks_statistic(&sample, q).unwrap();
            assert!(
                distance < stats::ks_critical(sample.len(), 1e-7, 40).unwrap(),
                "{days}, {s}: {distance}"
            );
        }
    }
}

#[test]
fn error_rates_are_those_of_the_oracle_at_optimal_and_at_frozen_thresholds() {
    let table = StateTable::cai();
    let cells = sample(&table, CELLS, 2);
    let frozen = optimal_thresholds(&states(&table.at_age(1.0).unwrap())).unwrap();
    for (days, optimal, at_frozen) in AGES {
        let voltages = cells.voltages(&table, days).unwrap();
        let best = optimal_thresholds(&states(&table.at_age(days).unwrap())).unwrap();
        for (thresholds, expected) in [(&best, optimal), (&frozen, at_frozen)] {
            let rate = error_rate(&cells, &voltages, thresholds);
            let bound = stats::proportion_interval(expected, 3 * CELLS as u64, 1e-7, 10).unwrap();
            // The reference rates are rounded to half a percent.
            assert!((rate - expected).abs() < bound.half_width() + 0.005 * expected, "{days}: {rate}");
            assert!((rate / expected - 1.0).abs() < 0.25, "{days} days: {rate} is not {expected}");
        }
    }
}

#[test]
fn the_voltage_after_a_week_predicts_the_voltage_after_a_year() {
    let table = StateTable::cai();
    let cells = sample(&table, 1 << 16, 3);
    let (week, year) = (cells.voltages(&table, 7.0).unwrap(), cells.voltages(&table, 365.0).unwrap());
    assert_eq!(week, cells.voltages(&table, 7.0).unwrap());
    let (then, now) = (table.at_age(7.0).unwrap(), table.at_age(365.0).unwrap());
    let day = table.at_age(1.0).unwrap();
    for s in 0..STATES {
        let (a, b) = (of_state(&cells, &week, s), of_state(&cells, &year, s));
        let product: Vec<f64> =
            a.iter().zip(&b).map(|(x, y)| (x - then.mean[s]) * (y - now.mean[s])).collect();
        let correlation = stats::mean(&product).unwrap() / (then.sd[s] * now.sd[s]);
        let kept = |sd: f64| sd.min(day.sd[s]);
        let grown = |sd: f64| (sd * sd - kept(sd) * kept(sd)).sqrt();
        let expected = (kept(then.sd[s]) * kept(now.sd[s]) + grown(then.sd[s]) * grown(now.sd[s]))
            / (then.sd[s] * now.sd[s]);
        let bound = stats::normal_bound(1e-7, 8).unwrap() * 2f64.sqrt() / (a.len() as f64).sqrt();
        assert!((correlation - expected).abs() < bound, "state {s}: {correlation}, not {expected}");
        assert!(expected > 0.9);
    }
}
