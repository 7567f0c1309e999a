//! Tests of ageing: error rates of programmed cells against time, wear and reads, compared with measurements.

use interpulse_cell::cells::Cells;
use interpulse_cell::cells::sensed;
use interpulse_cell::coefficients::Coefficients;
use interpulse_cell::histogram::{Histogram, Levels, whole};
use interpulse_cell::history::{History, aged};
use interpulse_cell::program::program;
use interpulse_cell::states::PageType;

/// Cells of a 16 KiB page.
const CELLS: usize = 1 << 17;

/// Freshly programmed word lines of a block after `cycles` cycles, with their data.
fn block(of: &Coefficients, cycles: f64, word_lines: u64) -> Vec<(Cells, Vec<u8>)> {
    let worn = of.worn(cycles);
    let made = (0..word_lines).map(|k| {
        let mut cells = Cells::erased(&worn, CELLS, 1000 + k, 0);
        let data = cells.random_data(0, 0..8);
        program(&worn, &mut cells, &data, 0);
        (cells, data)
    });
    made.collect()
}

fn after(of: &Coefficients, block: &[(Cells, Vec<u8>)], history: &History) -> Histogram {
    let mut histogram = Histogram::default();
    for (cells, data) in block {
        histogram.add(&sensed(of, &aged(of, cells, 0, history), 1), data);
    }
    histogram
}

/// Wrong bits per bit, all page types.
fn rate(histogram: &Histogram, levels: &Levels) -> f64 {
    let errors: u64 = PageType::ALL.iter().map(|&(_, page)| histogram.page_errors(levels, page)).sum();
    errors as f64 / (3 * histogram.cells()) as f64
}

/// Days, and the error rates of the normal tails of Cai's state table, at optimal thresholds and at those of day 1.
const CAI: [(f64, f64, f64); 5] = [
    (1.0, 3.86e-4, 3.86e-4),
    (7.0, 9.9e-4, 1.09e-3),
    (30.0, 1.49e-3, 1.75e-3),
    (90.0, 2.42e-3, 3.28e-3),
    (365.0, 3.77e-3, 6.18e-3),
];

#[test]
fn error_rates_of_programmed_cells_are_those_of_the_state_table_within_a_factor_of_two() {
    let of = Coefficients::preset("a4-tlc").unwrap();
    let made = block(&of, 2000.0, 8);
    let default = whole(&of.read.default);
    let mut frozen = default;
    for (days, optimal, at_frozen) in CAI {
        let histogram = after(&of, &made, &History { hours: 24.0 * days, ..History::fresh(&of, 2000.0) });
        let best = histogram.best_levels(&default);
        if days == 1.0 {
            frozen = best;
        }
        for (levels, expected) in [(&best, optimal), (&frozen, at_frozen)] {
            let ratio = rate(&histogram, levels) / expected;
            // Several thousand errors each: statistical deviations of a few percent.
            assert!((0.55..1.8).contains(&ratio), "{days} days: {ratio} times {expected}");
        }
    }
}

/// Means of every state a day after programming, against wear (Cai et al., Table 4) and at a year (Table 5).
#[test]
fn means_of_programmed_cells_are_those_of_the_state_table() {
    let of = Coefficients::preset("a4-tlc").unwrap();
    let rows: [(f64, f64, [f64; 8]); 4] = [
        (0.0, 1.0, [-110.0, 65.9, 127.4, 191.6, 254.9, 318.4, 384.8, 448.3]),
        (2000.0, 1.0, [-92.7, 66.6, 128.1, 191.9, 254.9, 318.3, 384.3, 448.1]),
        (3000.0, 1.0, [-84.1, 68.3, 128.2, 193.1, 255.7, 319.2, 385.4, 449.1]),
        (2000.0, 365.0, [-69.4, 76.6, 134.2, 195.2, 255.3, 316.0, 379.6, 440.8]),
    ];
    for (cycles, days, means) in rows {
        let made = block(&of, cycles, 1);
        let histogram = after(&of, &made, &History { hours: 24.0 * days, ..History::fresh(&of, cycles) });
        for (state, mean) in means.into_iter().enumerate() {
            let (_, ours, _) = histogram.moments(state as u8);
            // A twentieth of the distance between states.
            assert!(
                (ours - mean).abs() < 3.2,
                "{cycles} cycles, {days} days, state {state}: {ours}, not {mean}"
            );
        }
    }
}

/// Luo et al., 10,000 cycles: tenfold within 3 hours (measured from minutes on), and tenfold again until 11 days.
#[test]
fn early_loss_makes_the_error_rate_grow_tenfold_twice_until_eleven_days() {
    let of = Coefficients::preset("a4-tlc-early").unwrap();
    let made = block(&of, 10_000.0, 8);
    let default = whole(&of.read.default);
    let rates = [1.0 / 6.0, 3.0, 264.0].map(|hours| {
        let histogram = after(&of, &made, &History { hours, ..History::fresh(&of, 10_000.0) });
        rate(&histogram, &histogram.best_levels(&default))
    });
    for pair in rates.windows(2) {
        assert!((5.0..20.0).contains(&(pair[1] / pair[0])), "{rates:?}");
    }
}

#[test]
fn temperature_and_time_are_interchangeable() {
    let of = Coefficients::preset("a4-tlc").unwrap();
    let (cells, _) = &block(&of, 500.0, 1)[0];
    let cool = History { hours: 1000.0, celsius: 25.0, ..History::fresh(&of, 500.0) };
    let hot = History { hours: 1000.0 / of.retention.acceleration(25.0, 85.0), celsius: 85.0, ..cool };
    let (a, b) = (aged(&of, cells, 0, &cool), aged(&of, cells, 0, &hot));
    assert!(a.vth.iter().zip(&b.vth).all(|(x, y)| (x - y).abs() < 1e-3));
}

/// About 1e-9 per read of the block at 2,000 cycles (Cai et al., DSN 2015), from cells that rise out of ER.
#[test]
fn reads_add_errors_at_the_published_slope() {
    let of = Coefficients::preset("a4-tlc").unwrap();
    let made = block(&of, 2000.0, 6);
    let default = whole(&of.read.default);
    let day = History { hours: 24.0, ..History::fresh(&of, 2000.0) };
    let before = after(&of, &made, &day);
    let best = before.best_levels(&default);
    let slope =
        (rate(&after(&of, &made, &History { reads: 1e6, ..day }), &best) - rate(&before, &best)) / 1e6;
    assert!((0.5e-9..2e-9).contains(&slope), "{slope}");
    // Without reads nothing changes, and no read lowers a cell.
    let (cells, _) = &made[0];
    let quiet = aged(&of, cells, 0, &day);
    let read = aged(&of, cells, 0, &History { reads: 1e6, ..day });
    assert!(read.vth.iter().zip(&quiet.vth).all(|(a, b)| a >= b));
}

#[test]
fn ageing_copies_the_cells() {
    let of = Coefficients::preset("a4-tlc").unwrap();
    let (cells, _) = &block(&of, 0.0, 1)[0];
    let fresh = History::fresh(&of, 0.0);
    assert_eq!(aged(&of, cells, 0, &fresh).vth, cells.vth);
    let later = History { hours: 1e4, reads: 1e5, ..fresh };
    assert_eq!(aged(&of, cells, 0, &later).vth, aged(&of, cells, 0, &later).vth);
    assert_ne!(
        aged(&of, cells, 0, &later).vth,
        aged(&of, cells, 1, &later).vth,
        "another cycle leaks otherwise"
    );
}

#[test]
fn the_bottom_of_the_stack_has_more_errors_than_the_top() {
    let of = Coefficients::preset("a4-tlc").unwrap();
    let default = whole(&of.read.default);
    let rates = [-1.0, 0.0, 1.0].map(|height| {
        let there = of.in_layer(height);
        let made = block(&there, 1000.0, 2);
        let month = History { hours: 720.0, height, ..History::fresh(&of, 1000.0) };
        let histogram = after(&there, &made, &month);
        rate(&histogram, &histogram.best_levels(&default))
    });
    assert!(rates[0] > 1.05 * rates[1] && rates[1] > 1.05 * rates[2], "{rates:?}");
}
