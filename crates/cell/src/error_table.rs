//! The error table that drives read, filled by the cell model: raw bit error rates against wear, retention, layer, page type
//! and read attempt.
//!
//! It is measured piece by piece: one [`Condition`] (wear and layer) after the other, then put together. Read attempts are
//! the default levels, retry steps as vendors make them (the levels that are best on average for a block of the reference
//! wear at some ages, whatever block is read), and levels calibrated for each word line.

use crate::cells::Cells;
use crate::coefficients::Coefficients;
use crate::error_counts::filled;
use crate::histogram::{Histogram, Levels, whole};
use crate::history::{History, aged};
use crate::program::program;
use crate::reading::sensed;
use crate::states::PageType;
use interpulse_engine::random::mix;
use interpulse_flash::errors::{Disturb, ErrorTable};
use serde::Deserialize;

/// Names of the page types in a table, least significant first.
pub const PAGE_TYPES: [&str; 3] = ["lsb", "csb", "msb"];
/// Word lines whose mean thresholds make a retry step.
const RETRY_SAMPLE: u32 = 4;

/// What a table is measured on.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Selects the word lines.
    #[serde(skip)]
    pub seed: u64,
    /// Axis: retention in hours, ascending.
    pub hours: Vec<f64>,
    /// Temperature in that time, in degrees Celsius.
    pub celsius: f64,
    /// Ages in hours, at that temperature, for which the retry steps are best.
    pub retry_hours: Vec<f64>,
    /// Word lines of every condition.
    pub word_lines: u32,
    /// Cells of a word line.
    pub cells: u32,
}

/// The blocks of a piece.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// Program/erase cycles.
    pub cycles: f64,
    /// Place in the stack, from 0 (bottom, programmed first) to 1.
    pub layer_fraction: f64,
}

/// Bit errors of every page: by retention, page type and attempt, those of each word line.
pub type Errors = Vec<Vec<Vec<Vec<u64>>>>;

/// What reads of a block add to its error rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Added {
    /// Program/erase cycles, above 0.
    pub cycles: f64,
    /// Reads of the block for each of its pages.
    pub reads_per_page: f64,
    /// Errors per bit more than without.
    pub rber: f64,
}

impl Plan {
    /// Names of the read attempts, in their order.
    pub fn attempts(&self) -> Vec<String> {
        let steps = self.retry_hours.iter().map(|h| format!("as of {h} h"));
        std::iter::once("default".to_string()).chain(steps).chain(["calibrated".to_string()]).collect()
    }

    /// The levels of each retry step: the mean of the best ones of a few word lines of the reference wear.
    fn retry_levels(&self, of: &Coefficients) -> Vec<Levels> {
        let cycles = f64::from(of.wear.reference_cycles);
        let worn = of.worn(cycles);
        let default = whole(&of.read.default);
        let mut sums = vec![[0.0f32; 7]; self.retry_hours.len()];
        for k in 0..RETRY_SAMPLE {
            let (cells, data) = self.programmed(&worn, u64::from(k) | 1 << 33);
            for (sum, &hours) in sums.iter_mut().zip(&self.retry_hours) {
                let history = History { hours, celsius: self.celsius, ..History::fresh(of, cycles) };
                let seen = sensed(of, &aged(of, &cells, 0, &history), 1);
                let best = Histogram::of(&seen, &data).best_levels(&default);
                sum.iter_mut().zip(best).for_each(|(sum, level)| *sum += level as f32 / RETRY_SAMPLE as f32);
            }
        }
        sums.iter().map(whole).collect()
    }

    fn programmed(&self, of: &Coefficients, number: u64) -> (Cells, Vec<u8>) {
        let mut cells = Cells::erased(of, self.cells as usize, mix(self.seed ^ mix(number | 1 << 44)), 0);
        let data = cells.random_data(0, 0..8);
        program(of, &mut cells, &data, 0);
        (cells, data)
    }

    /// Bit errors of every page of the condition.
    pub fn measure(&self, of: &Coefficients, condition: Condition) -> Errors {
        let height = 2.0 * condition.layer_fraction - 1.0;
        let there = of.worn(condition.cycles).in_layer(height);
        let fixed: Vec<Levels> =
            std::iter::once(whole(&of.read.default)).chain(self.retry_levels(of)).collect();
        let mut errors: Errors = vec![vec![vec![Vec::new(); fixed.len() + 1]; 3]; self.hours.len()];
        for k in 0..self.word_lines {
            let (cells, data) = self.programmed(&there, u64::from(k));
            for (errors, &hours) in errors.iter_mut().zip(&self.hours) {
                let fresh = History::fresh(of, condition.cycles);
                let history = History { hours, celsius: self.celsius, height, ..fresh };
                let seen = sensed(of, &aged(of, &cells, 0, &history), 1);
                let histogram = Histogram::of(&seen, &data);
                let best = histogram.best_levels(&fixed[0]);
                for (errors, (_, page)) in errors.iter_mut().zip(PageType::ALL) {
                    for (errors, levels) in errors.iter_mut().zip(fixed.iter().chain([&best])) {
                        errors.push(histogram.page_errors(levels, page));
                    }
                }
            }
        }
        errors
    }

    /// Puts pieces together: `errors` by cycles, then by layer. `source` says what was measured.
    ///
    /// Panics if the pieces do not fill the axes.
    pub fn table(
        &self,
        title: &str,
        source: &str,
        cycles: &[u32],
        layer_fraction: &[f64],
        errors: &[Errors],
        added: &[Added],
    ) -> ErrorTable {
        assert_eq!(errors.len(), cycles.len() * layer_fraction.len(), "pieces for all cycles and layers");
        let axes = ErrorTable {
            title: title.to_string(),
            source: source.to_string(),
            temperature_c: self.celsius,
            cycles: cycles.to_vec(),
            retention_h: self.hours.clone(),
            reprograms: vec![0],
            layer_fraction: layer_fraction.to_vec(),
            page_types: PAGE_TYPES.map(str::to_string).to_vec(),
            attempts: self.attempts(),
            rber: Vec::new(),
            spread_ln_sd: 0.0,
            disturb: fit_disturb(added),
        };
        let mut counts = Vec::with_capacity(axes.entries());
        for of_cycles in errors.chunks(layer_fraction.len()) {
            for t in 0..self.hours.len() {
                counts.extend(of_cycles.iter().flat_map(|piece| piece[t].iter().flatten().cloned()));
            }
        }
        filled(axes, self.cells, &counts)
    }
}

/// The power law of cycles and reads that fits `added` best in the logarithm; none where reads add nothing to fit.
pub fn fit_disturb(added: &[Added]) -> Option<Disturb> {
    let points: Vec<[f64; 3]> = added
        .iter()
        .filter(|a| a.rber > 0.0 && a.cycles > 0.0 && a.reads_per_page > 0.0)
        .map(|a| [libm::log(a.cycles), libm::log(a.reads_per_page), libm::log(a.rber)])
        .collect();
    let n = points.len() as f64;
    let mean: [f64; 3] = std::array::from_fn(|k| points.iter().map(|p| p[k]).sum::<f64>() / n);
    let moment =
        |a: usize, b: usize| -> f64 { points.iter().map(|p| (p[a] - mean[a]) * (p[b] - mean[b])).sum() };
    // The normal equations of two slopes.
    let determinant = moment(0, 0) * moment(1, 1) - moment(0, 1) * moment(0, 1);
    if points.len() < 3 || determinant <= 1e-9 {
        return None;
    }
    let cycles = (moment(0, 2) * moment(1, 1) - moment(1, 2) * moment(0, 1)) / determinant;
    let reads = (moment(1, 2) * moment(0, 0) - moment(0, 2) * moment(0, 1)) / determinant;
    let coefficient = libm::exp(mean[2] - cycles * mean[0] - reads * mean[1]);
    Some(Disturb {
        coefficient,
        cycles_exponent: cycles.clamp(0.0, 4.0),
        reads_exponent: reads.clamp(0.0, 4.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpulse_flash::errors::Conditions;

    fn plan() -> Plan {
        Plan {
            seed: 1,
            hours: vec![24.0, 8760.0],
            celsius: 25.0,
            retry_hours: vec![720.0, 8760.0],
            word_lines: 3,
            cells: 1 << 15,
        }
    }

    #[test]
    fn a_filled_table_is_one_that_drives_read_and_grows_with_age_and_wear() {
        let of = Coefficients::preset("a4-tlc").expect("it is embedded");
        let (plan, cycles, layers) = (plan(), [0, 3000], [0.1, 0.9]);
        let pieces: Vec<Errors> = cycles
            .iter()
            .flat_map(|&c| layers.map(|layer_fraction| Condition { cycles: f64::from(c), layer_fraction }))
            .map(|condition| plan.measure(&of, condition))
            .collect();
        let table = plan.table("cells", "a test", &cycles, &layers, &pieces, &[]);
        assert_eq!(table.check(), Ok(()));
        assert_eq!(table.attempts, ["default", "as of 720 h", "as of 8760 h", "calibrated"]);
        let again = ErrorTable::from_toml(&table.to_toml(), "again").expect("it reads itself");
        assert_eq!(again, table);
        let rate = |cycles, hours, attempt| {
            (0..3)
                .map(|page| {
                    table.rber(&Conditions {
                        cycles,
                        hours,
                        reprograms: 0.0,
                        layer: 0.1,
                        page_type: page,
                        attempt,
                    })
                })
                .sum::<f64>()
        };
        assert!(rate(3000.0, 8760.0, 0) > 2.0 * rate(3000.0, 24.0, 0));
        assert!(rate(3000.0, 8760.0, 0) > 2.0 * rate(0.0, 8760.0, 0));
        // The step made for that age beats the default, and calibration beats both.
        assert!(rate(3000.0, 8760.0, 2) < 0.9 * rate(3000.0, 8760.0, 0));
        assert!(rate(3000.0, 8760.0, 3) <= rate(3000.0, 8760.0, 2));
        assert!(table.rber.iter().all(|&r| r > 0.0));
    }

    #[test]
    fn the_power_law_of_read_disturb_is_found_again() {
        let law = |cycles: f64, reads: f64| 3e-9 * libm::pow(cycles, 1.3) * libm::pow(reads, 0.8);
        let grid = [500.0, 1000.0, 3000.0].into_iter().flat_map(|c| [1e2, 1e3, 1e4].map(|r| (c, r)));
        let added: Vec<Added> =
            grid.map(|(c, r)| Added { cycles: c, reads_per_page: r, rber: law(c, r) }).collect();
        let found = fit_disturb(&added).expect("nine points");
        assert!((found.coefficient / 3e-9 - 1.0).abs() < 1e-6);
        assert!((found.cycles_exponent - 1.3).abs() < 1e-9 && (found.reads_exponent - 0.8).abs() < 1e-9);
        assert_eq!(fit_disturb(&added[..2]), None);
        assert_eq!(fit_disturb(&added[..3]), None, "one cycle count says nothing of cycles");
    }
}
