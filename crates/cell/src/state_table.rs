//! State table of Cai et al. (Proceedings of the IEEE 2017): threshold voltages of TLC cells by state against age and against
//! wear, and cells sampled from it.
//!
//! The table has five ages of blocks of 2,000 P/E cycles and three cycle counts one day after programming. Means and variances
//! are interpolated linearly in the logarithm of the age or in the cycle count. [`StateTable::log_fit`] is a logarithmic law of
//! the ageing; it deviates from single rows by up to 6 % of the distance between states and 2.5 % in width.

use crate::normal::Normal;
use crate::states::STATES;
use interpulse_engine::random::Rng;
use interpulse_settings::{ConfigError, Document, PresetKind, Section, required};

/// Name and text of the built-in preset.
const PRESET: (&str, &str) = ("cai-tlc", include_str!("presets/cai-tlc.toml"));

/// Mean and standard deviation of the threshold voltage of each state, in steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distributions {
    /// Means, lowest state first.
    pub mean: [f64; STATES],
    /// Standard deviations.
    pub sd: [f64; STATES],
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Time since programming, in days.
    pub days: f64,
    /// Program/erase cycles of the block.
    pub cycles: f64,
    /// Measured distributions.
    pub states: Distributions,
}

/// Rows of threshold voltages against age and against wear.
#[derive(Clone, Debug, PartialEq)]
pub struct StateTable {
    aging: Vec<Row>,
    cycling: Vec<Row>,
}

/// Logarithmic law of ageing: `mean = mean1 + slope ln t` and `variance = variance1 + growth ln t`, `t` in days.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LogFit {
    /// Mean after a day.
    pub mean1: [f64; STATES],
    /// Steps per e-fold of time.
    pub slope: [f64; STATES],
    /// Variance after a day, in square steps.
    pub variance1: [f64; STATES],
    /// Square steps per e-fold of time.
    pub growth: [f64; STATES],
}

/// Cells that follow the ageing rows of a table. Position within the state and leakage of a cell are permanent.
#[derive(Clone, Debug)]
pub struct TableCells {
    /// State of each cell, 0 (ER) to 7.
    pub states: Vec<u8>,
    /// Position in the distribution of the youngest row, in standard deviations.
    made: Vec<f32>,
    /// Deviation from the mean shift of the state, in standard deviations of the shift.
    leak: Vec<f32>,
}

impl StateTable {
    /// The table of Cai et al.
    pub fn cai() -> StateTable {
        let (name, text) = PRESET;
        let read = Document::preset(text, PresetKind::Cells, name).and_then(|document| {
            let table = StateTable::read(&document)?;
            document.finish().map(|()| table)
        });
        read.unwrap_or_else(|error| panic!("the embedded preset {name} is sound: {error}"))
    }

    /// Reads a table from the arrays `[[aging]]` and `[[cycling]]`.
    ///
    /// Fails on missing or malformed keys, on rows that do not rise in age or wear, and on states out of order.
    pub fn read(document: &Document) -> Result<StateTable, ConfigError> {
        let aging = rows(document, "aging", "days", |row| row.days)?;
        let cycling = rows(document, "cycling", "cycles", |row| row.cycles)?;
        Ok(StateTable { aging, cycling })
    }

    /// The rows against age, youngest first.
    pub fn aging(&self) -> &[Row] {
        &self.aging
    }

    /// The rows against wear, fewest cycles first.
    pub fn cycling(&self) -> &[Row] {
        &self.cycling
    }

    /// The states `days` after programming, at the cycle count of the ageing rows; `None` outside the measured ages.
    pub fn at_age(&self, days: f64) -> Option<Distributions> {
        between(&self.aging, days, |row| libm::log(row.days), libm::log(days))
    }

    /// The states after `cycles` program/erase cycles, at the age of the cycling rows; `None` outside the measured cycles.
    pub fn at_cycles(&self, cycles: f64) -> Option<Distributions> {
        between(&self.cycling, cycles, |row| row.cycles, cycles)
    }

    /// The least-squares lines through means and variances of the ageing rows in the logarithm of the age.
    pub fn log_fit(&self) -> LogFit {
        let line = |value: &dyn Fn(&Row) -> f64| {
            let n = self.aging.len() as f64;
            let x = |row: &Row| libm::log(row.days);
            let mean_x = self.aging.iter().map(x).sum::<f64>() / n;
            let mean_y = self.aging.iter().map(value).sum::<f64>() / n;
            let covariance: f64 = self.aging.iter().map(|r| (x(r) - mean_x) * (value(r) - mean_y)).sum();
            let spread: f64 = self.aging.iter().map(|r| (x(r) - mean_x) * (x(r) - mean_x)).sum();
            let slope = covariance / spread;
            (mean_y - slope * mean_x, slope)
        };
        let mut fit = LogFit::default();
        for s in 0..STATES {
            (fit.mean1[s], fit.slope[s]) = line(&|row| row.states.mean[s]);
            (fit.variance1[s], fit.growth[s]) = line(&|row| row.states.sd[s] * row.states.sd[s]);
        }
        fit
    }

    /// Cells of these states.
    ///
    /// Panics on a state that a TLC cell does not have.
    pub fn cells(&self, states: Vec<u8>, rng: &mut Rng) -> TableCells {
        assert!(states.iter().all(|&s| usize::from(s) < STATES), "states are 0 to 7");
        let normal = Normal::new();
        let mut draw = || normal.of(rng.next_u64() as u32);
        let (made, leak) = states.iter().map(|_| (draw(), draw())).unzip();
        TableCells { states, made, leak }
    }
}

impl LogFit {
    /// The states `days` after programming.
    pub fn at_age(&self, days: f64) -> Distributions {
        let x = libm::log(days);
        Distributions {
            mean: std::array::from_fn(|s| self.mean1[s] + self.slope[s] * x),
            sd: std::array::from_fn(|s| libm::sqrt(self.variance1[s] + self.growth[s] * x)),
        }
    }
}

impl TableCells {
    /// The threshold voltages `days` after programming; `None` outside the ages of the table.
    ///
    /// A cell is at `mean + sd1 made + sqrt(sd^2 - sd1^2) leak`, where `sd1` is the deviation of the youngest row.
    /// A state that becomes narrower (the erased one) has `mean + sd made`.
    pub fn voltages(&self, table: &StateTable, days: f64) -> Option<Vec<f32>> {
        let young = table.aging.first().expect("a table has rows").states;
        let now = table.at_age(days)?;
        let parts: [(f64, f64, f64); STATES] = std::array::from_fn(|s| {
            let kept = young.sd[s].min(now.sd[s]);
            (now.mean[s], kept, libm::sqrt(now.sd[s] * now.sd[s] - kept * kept))
        });
        let cells = self.states.iter().zip(&self.made).zip(&self.leak);
        let voltage = |((&state, &made), &leak): ((&u8, &f32), &f32)| {
            let (mean, kept, grown) = parts[usize::from(state)];
            (mean + kept * f64::from(made) + grown * f64::from(leak)) as f32
        };
        Some(cells.map(voltage).collect())
    }
}

/// Linear interpolation between rows at `value`, in the measure `x`.
fn between(rows: &[Row], value: f64, x: impl Fn(&Row) -> f64, at: f64) -> Option<Distributions> {
    if !value.is_finite() {
        return None;
    }
    let (first, last) = (rows.first()?, rows.last()?);
    if at < x(first) || at > x(last) {
        return None;
    }
    let above = rows.iter().position(|row| x(row) >= at)?;
    let (low, high) = (&rows[above.saturating_sub(1)], &rows[above]);
    let weight = if above == 0 { 0.0 } else { (at - x(low)) / (x(high) - x(low)) };
    let mix = |a: f64, b: f64| a + weight * (b - a);
    let (low, high) = (&low.states, &high.states);
    Some(Distributions {
        mean: std::array::from_fn(|s| mix(low.mean[s], high.mean[s])),
        sd: std::array::from_fn(|s| libm::sqrt(mix(low.sd[s] * low.sd[s], high.sd[s] * high.sd[s]))),
    })
}

/// Reads the rows of the array `name`, which must increase in `key`.
fn rows(document: &Document, name: &str, key: &str, x: fn(&Row) -> f64) -> Result<Vec<Row>, ConfigError> {
    let mut rows: Vec<Row> = Vec::new();
    for mut section in document.tables(name)? {
        let row = Row {
            days: section.f64("days", "time since programming, in days", required().positive())?,
            cycles: section.f64("cycles", "program/erase cycles of the block", required().at_least(0.0))?,
            states: states(&mut section)?,
        };
        section.finish()?;
        let rises = rows.last().is_none_or(|previous| x(previous) < x(&row));
        section.check(rises, key, "more than in the row before")?;
        rows.push(row);
    }
    document.top().check(rows.len() >= 2, name, format!("at least two rows [[{name}]]"))?;
    Ok(rows)
}

fn states(section: &mut Section) -> Result<Distributions, ConfigError> {
    let mean =
        section.list_f64("mean", "mean threshold voltage of ER, P1 .. P7, in steps", None, required())?;
    let sd = section.list_f64("sd", "its standard deviation", None, required().positive())?;
    let eight = "a list of 8 numbers, ER and P1 to P7";
    let mean: [f64; STATES] = mean.try_into().map_err(|_| section.invalid("mean", eight))?;
    let sd = sd.try_into().map_err(|_| section.invalid("sd", eight))?;
    section.check(mean.is_sorted_by(|a, b| a < b), "mean", "rising from state to state")?;
    Ok(Distributions { mean, sd })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_of_the_preset_has_a_source() {
        let document = Document::preset(PRESET.1, PresetKind::Cells, PRESET.0).unwrap();
        assert_eq!(document.uncited(), Vec::<String>::new());
        assert!(document.leaves().len() > 24);
    }

    #[test]
    fn rows_give_themselves_and_straight_lines_in_between() {
        let table = StateTable::cai();
        for row in table.aging() {
            let states = table.at_age(row.days).unwrap();
            for s in 0..STATES {
                assert!((states.mean[s] - row.states.mean[s]).abs() < 1e-9);
                assert!((states.sd[s] - row.states.sd[s]).abs() < 1e-9);
            }
        }
        let between = table.at_age(libm::sqrt(7.0)).unwrap();
        assert!((between.mean[7] - 446.5).abs() < 1e-9);
        assert!((between.sd[7] - libm::sqrt((9.1 * 9.1 + 10.6 * 10.6) / 2.0)).abs() < 1e-9);
        assert!((table.at_cycles(1000.0).unwrap().mean[0] + 101.35).abs() < 1e-9);
        for days in [0.99, 366.0, f64::NAN, -1.0, f64::INFINITY] {
            assert_eq!(table.at_age(days), None, "{days} days");
        }
        assert_eq!(table.at_cycles(3001.0), None);
    }

    #[test]
    fn the_log_fit_has_the_published_drift_of_each_state() {
        let fit = StateTable::cai().log_fit();
        // By hand, rounded: steps per e-fold, and square steps per e-fold of the programmed states.
        for (slope, by_hand) in fit.slope.iter().zip([3.94, 1.70, 1.04, 0.55, 0.06, -0.40, -0.78, -1.22]) {
            assert!((slope - by_hand).abs() < 0.01, "{slope} is not {by_hand}");
        }
        assert!(fit.growth[1..].iter().all(|b| (9.3..11.7).contains(b)), "{:?}", fit.growth);
        assert!(fit.growth[0] < 0.0);
    }

    #[test]
    fn bad_tables_are_refused_in_one_line() {
        let good = PRESET.1;
        for (from, to, expected) in [
            ("days = { value = 7,", "days = { value = 1,", "more than in the row before"),
            ("127.4, 191.6", "191.6, 127.4", "rising from state to state"),
            ("12.3, 12.4]", "12.3]", "8 numbers"),
            ("sd = { value = [48.2", "sd = { value = [0.0", "greater than 0"),
            ("[[cycling]]", "[[cycled]]", "at least two rows [[cycling]]"),
        ] {
            assert!(good.contains(from));
            let document = Document::from_toml(&good.replace(from, to), "bad.toml").unwrap();
            let error = StateTable::read(&document).unwrap_err().to_string();
            assert!(error.contains(expected) && !error.contains('\n'), "{error}");
        }
    }
}
