//! Error table measured on the cell model: raw bit error rates by wear, retention, layer, page type and read attempt.
//!
//! Each [`Condition`] (wear and layer) is measured separately. The read attempts are the default levels, retry steps (the mean
//! optimal levels of a block of the reference wear at given ages) and levels calibrated per word line.

use crate::cells::Cells;
use crate::cells::sensed;
use crate::coefficients::Coefficients;
use crate::error_counts::filled;
use crate::histogram::{Histogram, Levels, whole};
use crate::history::{History, aged};
use crate::program::program;
use crate::states::PageType;
use interpulse_engine::random::mix;
use interpulse_flash::errors::{Disturb, ErrorTable};
use serde::Deserialize;

/// Names of the page types in a table, least significant first.
pub const PAGE_TYPES: [&str; 3] = ["lsb", "csb", "msb"];
/// Word lines averaged for the levels of a retry step.
const RETRY_SAMPLE: u32 = 4;

/// Parameters of the measurement of a table.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Random seed of the word lines.
    #[serde(skip)]
    pub seed: u64,
    /// Axis: retention in hours, ascending.
    pub hours: Vec<f64>,
    /// Temperature of the retention, in degrees Celsius.
    pub celsius: f64,
    /// Ages for which the retry steps are optimal, in hours at that temperature.
    pub retry_hours: Vec<f64>,
    /// Word lines per condition.
    pub word_lines: u32,
    /// Cells of a word line.
    pub cells: u32,
}

/// Condition of the blocks of one measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// Program/erase cycles.
    pub cycles: f64,
    /// Relative height in the stack, from 0 (bottom, programmed first) to 1.
    pub layer_fraction: f64,
}

/// Bit errors by retention, page type, attempt and word line.
pub type Errors = Vec<Vec<Vec<Vec<u64>>>>;

/// Increase of the error rate by read disturb.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Added {
    /// Program/erase cycles, positive.
    pub cycles: f64,
    /// Reads of the block per page.
    pub reads_per_page: f64,
    /// Additional errors per bit.
    pub rber: f64,
}

impl Plan {
    /// Names of the read attempts in order.
    pub fn attempts(&self) -> Vec<String> {
        let steps = self.retry_hours.iter().map(|h| format!("as of {h} h"));
        std::iter::once("default".to_string()).chain(steps).chain(["calibrated".to_string()]).collect()
    }

    /// The levels of each retry step: mean optimal levels of a few word lines of the reference wear.
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

    /// Measures the bit errors of all pages of a condition.
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

    /// Assembles the table from `errors`, ordered by cycles, then by layer. Panics if `errors` do not match the axes.
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

/// Least-squares power law of cycles and reads in the logarithm; `None` with too few points.
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
    // Normal equations of two slopes.
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
    fn a_measured_table_is_valid_and_its_rates_grow_with_age_and_wear() {
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
            let at = Conditions { cycles, hours, reprograms: 0.0, layer: 0.1, page_type: 0, attempt };
            (0..3).map(|page_type| table.rber(&Conditions { page_type, ..at })).sum::<f64>()
        };
        assert!(rate(3000.0, 8760.0, 0) > 2.0 * rate(3000.0, 24.0, 0));
        assert!(rate(3000.0, 8760.0, 0) > 2.0 * rate(0.0, 8760.0, 0));
        // The retry step of that age has fewer errors than the default, and calibration the fewest.
        assert!(rate(3000.0, 8760.0, 2) < 0.9 * rate(3000.0, 8760.0, 0));
        assert!(rate(3000.0, 8760.0, 3) <= rate(3000.0, 8760.0, 2));
        assert!(table.rber.iter().all(|&r| r > 0.0));
    }

    #[test]
    fn the_fit_recovers_the_power_law_of_read_disturb() {
        let law = |cycles: f64, reads: f64| 3e-9 * libm::pow(cycles, 1.3) * libm::pow(reads, 0.8);
        let grid = [500.0, 1000.0, 3000.0].into_iter().flat_map(|c| [1e2, 1e3, 1e4].map(|r| (c, r)));
        let added: Vec<Added> =
            grid.map(|(c, r)| Added { cycles: c, reads_per_page: r, rber: law(c, r) }).collect();
        let found = fit_disturb(&added).expect("nine points");
        assert!((found.coefficient / 3e-9 - 1.0).abs() < 1e-6);
        assert!((found.cycles_exponent - 1.3).abs() < 1e-9 && (found.reads_exponent - 0.8).abs() < 1e-9);
        assert_eq!(fit_disturb(&added[..2]), None);
        assert_eq!(fit_disturb(&added[..3]), None, "one cycle count determines no exponent");
    }
}
