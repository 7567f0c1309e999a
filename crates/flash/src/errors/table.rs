//! The error table: raw bit error rates by wear, retention, reprogramming, layer, page type and read attempt.

use crate::parts::{MAX_BITS, page_types};
use interpulse_settings::{ConfigError, Section, default, keys, required};

/// Smallest rate; lower rates count as this one and cause no errors.
pub const MIN_RBER: f64 = 1e-12;
/// Largest rate: that of random data.
pub const MAX_RBER: f64 = 0.5;
/// Most entries of a table.
pub const MAX_ENTRIES: usize = 1 << 20;

/// Conditions of a page read.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    /// Program/erase cycles of its block.
    pub cycles: f64,
    /// Hours of retention at the temperature of the table.
    pub hours: f64,
    /// Reprograms of its word line.
    pub reprograms: f64,
    /// Relative height of its layer in the stack, from 0 to 1.
    pub layer: f64,
    /// Index of the page type.
    pub page_type: usize,
    /// Attempt of the retry sequence; clamped to the last of the table.
    pub attempt: usize,
}

keys! {
    /// Raw bit error rates of a part. A rate is the geometric mean over pages, which vary by
    /// [`ErrorTable::spread_ln_sd`].
    #[derive(Clone, Debug, PartialEq)]
    pub struct ErrorTable, pub(super) fn keys(s) {
        /// description of the table
        pub title: String = string(None),
        /// source of the figures
        pub source: String = string(None),
        /// temperature of retention, degrees Celsius
        pub temperature_c: f64 = f64(required()),
        /// axis: program/erase cycles
        pub cycles: Vec<u32> = list_u32(None, required()),
        /// axis: retention in hours
        pub retention_h: Vec<f64> = list_f64(None, required()),
        /// axis: reprograms of the word line
        pub reprograms: Vec<u32> = list_u32(Some(&[0]), required()),
        /// axis: layer classes by relative height in the stack, 0 to 1
        // Counted from the layer programmed first.
        pub layer_fraction: Vec<f64> = list_f64(Some(&[0.5]), required()),
        /// axis: page types, least significant first
        // The lower page of an MLC-mode word line has the first type; its upper page has one rate under all others.
        pub page_types: Vec<String> = list_string(None),
        /// axis: default offsets, retry steps, calibrated offsets
        // A single attempt is both default and calibrated.
        pub attempts: Vec<String> = list_string(None),
        /// raw bit error rates; cycles slowest, then retention, reprograms, layer, page type, attempt
        pub rber: Vec<f64> = list_f64(None, required()),
        /// standard deviation of ln RBER between pages
        pub spread_ln_sd: f64 = f64(default(0.0)),
        /// Read disturb.
        pub disturb: Option<Disturb> => Disturb::read(s)?,
    }
}

/// Read disturb (Kim et al., FAST'19): adds `coefficient` x cycles^`cycles_exponent` x reads^`reads_exponent` to the rate of
/// every page of a block, with reads per page of the block since its erase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disturb {
    /// Added errors per bit after one cycle and one read of each page.
    pub coefficient: f64,
    /// Exponent of program/erase cycles.
    pub cycles_exponent: f64,
    /// Exponent of reads.
    pub reads_exponent: f64,
}

impl Disturb {
    fn read(s: &mut Section) -> Result<Option<Disturb>, ConfigError> {
        let rest = ["disturb-cycles-exponent", "disturb-reads-exponent"];
        if !s.has("disturb-coefficient") {
            for key in rest {
                s.refuse(key, "it requires a `disturb-coefficient`")?;
            }
            return Ok(None);
        }
        let mut number = |key, doc| s.f64(key, doc, required());
        let doc = "errors per bit after one cycle and one read of each page";
        Ok(Some(Disturb {
            coefficient: number("disturb-coefficient", doc)?,
            cycles_exponent: number(rest[0], "exponent of read disturb in program/erase cycles")?,
            reads_exponent: number(rest[1], "exponent of read disturb in reads")?,
        }))
    }
}

/// Error of an invalid table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableError {
    /// Invalid key.
    pub key: &'static str,
    /// Description of legal values.
    pub legal: String,
}

/// Interpolation between two points of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Interpolation {
    low: usize,
    high: usize,
    weight: f64,
}

/// Position of `x` on `axis`, clamped to its ends.
fn interpolate(axis: impl Iterator<Item = f64>, x: f64) -> Interpolation {
    let points: Vec<f64> = axis.collect();
    let above = points.iter().position(|&p| p >= x).unwrap_or(points.len() - 1);
    let low = if points[above] > x { above.saturating_sub(1) } else { above };
    let weight =
        if points[above] > points[low] { (x - points[low]) / (points[above] - points[low]) } else { 0.0 };
    Interpolation { low, high: above, weight: weight.clamp(0.0, 1.0) }
}

impl ErrorTable {
    /// An error-free table for a part with `types` page types.
    pub fn ideal(types: usize) -> ErrorTable {
        ErrorTable {
            title: "no errors".into(),
            source: "interpulse: every read succeeds".into(),
            temperature_c: 40.0,
            cycles: vec![0],
            retention_h: vec![1.0],
            reprograms: vec![0],
            layer_fraction: vec![0.5],
            page_types: page_types(types as u32).iter().map(|&t| t.into()).collect(),
            attempts: vec!["default".into()],
            rber: vec![0.0; types],
            spread_ln_sd: 0.0,
            disturb: None,
        }
    }

    /// Number of entries by the axes.
    pub fn entries(&self) -> usize {
        let sizes = [
            self.cycles.len(),
            self.retention_h.len(),
            self.reprograms.len(),
            self.layer_fraction.len(),
            self.page_types.len(),
            self.attempts.len(),
        ];
        sizes.into_iter().fold(1, usize::saturating_mul)
    }

    /// Index into [`ErrorTable::rber`] of a point of the axes: cycles slowest, attempts fastest.
    pub fn index(&self, [cycles, retention, reprograms, layer, page_type, attempt]: [usize; 6]) -> usize {
        let mut at = cycles;
        at = at * self.retention_h.len() + retention;
        at = at * self.reprograms.len() + reprograms;
        at = at * self.layer_fraction.len() + layer;
        at = at * self.page_types.len() + page_type;
        at * self.attempts.len() + attempt
    }

    /// The nearest layer class; of two, the lower.
    pub fn layer_class(&self, fraction: f64) -> usize {
        let away = |k: usize| (self.layer_fraction[k] - fraction).abs();
        (0..self.layer_fraction.len()).fold(0, |best, k| if away(k) < away(best) { k } else { best })
    }

    /// ln of the rate at a point of the table, at least ln [`MIN_RBER`]; reprograms are interpolated.
    pub fn ln_rber_at(
        &self,
        [cycles, retention, layer, page_type, attempt]: [usize; 5],
        reprograms: f64,
    ) -> f64 {
        let at = interpolate(self.reprograms.iter().map(|&r| f64::from(r)), reprograms);
        let ln = |k| {
            libm::log(self.rber[self.index([cycles, retention, k, layer, page_type, attempt])].max(MIN_RBER))
        };
        ln(at.low) * (1.0 - at.weight) + ln(at.high) * at.weight
    }

    /// The median rate of a page without disturb. Its logarithm is interpolated linearly in cycles, in the logarithm of
    /// retention and in reprograms, and clamped at the ends of the axes.
    pub fn rber(&self, of: &Conditions) -> f64 {
        let &Conditions { cycles, hours, reprograms, layer, page_type, attempt } = of;
        let c = interpolate(self.cycles.iter().map(|&c| f64::from(c)), cycles);
        let t = interpolate(self.retention_h.iter().map(|&t| libm::log(t)), libm::log(hours));
        let layer = self.layer_class(layer);
        let attempt = attempt.min(self.attempts.len() - 1);
        let ln = |c, t| self.ln_rber_at([c, t, layer, page_type, attempt], reprograms);
        let along = |c| ln(c, t.low) * (1.0 - t.weight) + ln(c, t.high) * t.weight;
        libm::exp(along(c.low) * (1.0 - c.weight) + along(c.high) * c.weight)
    }

    /// Validates the table.
    pub fn check(&self) -> Result<(), TableError> {
        let check = |holds, key, legal: &str| match holds {
            true => Ok(()),
            false => Err(TableError { key, legal: legal.to_string() }),
        };
        let temperatures = -55.0..=150.0;
        check(
            temperatures.contains(&self.temperature_c),
            "temperature-c",
            "degrees Celsius from -55 to 150",
        )?;
        let legal = "at least one number of cycles, each larger than the one before";
        check(rises(&self.cycles), "cycles", legal)?;
        let (hours, legal) =
            (&self.retention_h, "at least one time from 1e-9 to 1e7 hours, each larger than the one before");
        check(rises(hours) && hours.iter().all(|h| (1e-9..=1e7).contains(h)), "retention-h", legal)?;
        let legal = "at least one count, each larger than the one before";
        check(rises(&self.reprograms), "reprograms", legal)?;
        let (layers, legal) =
            (&self.layer_fraction, "1 to 256 places from 0 to 1, each larger than the one before");
        let inside = layers.len() <= 256 && layers.iter().all(|l| (0.0..=1.0).contains(l));
        check(rises(layers) && inside, "layer-fraction", legal)?;
        let distinct = |names: &[String]| {
            names.iter().enumerate().all(|(i, n)| !n.is_empty() && !names[..i].contains(n))
        };
        let types = self.page_types.len();
        let names = |bits: u32| format!("[\"{}\"]", page_types(bits).join("\", \""));
        let legal = (1..=MAX_BITS).map(names).collect::<Vec<_>>().join(", ");
        let legal = format!("the page types of cells of 1 to {MAX_BITS} bits: one of {legal}");
        let known = (1..=MAX_BITS as usize).contains(&types) && self.page_types == page_types(types as u32);
        check(known, "page-types", &legal)?;
        let legal = "1 to 64 different names: default offsets, retry steps, calibrated offsets";
        let named = (1..=64).contains(&self.attempts.len()) && distinct(&self.attempts);
        check(named, "attempts", legal)?;
        let entries = self.entries();
        if entries > MAX_ENTRIES || self.rber.len() != entries {
            let legal = format!(
                "{} cycles x {} retentions x {} reprograms x {} layers x {} page types x {} attempts = {entries} rates (of at \
                 most {MAX_ENTRIES}); there are {}",
                self.cycles.len(),
                hours.len(),
                self.reprograms.len(),
                layers.len(),
                self.page_types.len(),
                self.attempts.len(),
                self.rber.len()
            );
            return Err(TableError { key: "rber", legal });
        }
        if let Some(at) = self.rber.iter().position(|r| !(0.0..=MAX_RBER).contains(r)) {
            let legal = format!("rates from 0 to {MAX_RBER}; entry {} is {}", at + 1, self.rber[at]);
            return Err(TableError { key: "rber", legal });
        }
        let spread = (0.0..=3.0).contains(&self.spread_ln_sd);
        check(spread, "spread-ln-sd", "a standard deviation of ln RBER from 0 to 3")?;
        let Some(d) = &self.disturb else { return Ok(()) };
        let legal = "errors per bit greater than 0 and at most 0.5";
        check(d.coefficient > 0.0 && d.coefficient <= MAX_RBER, "disturb-coefficient", legal)?;
        let (exponents, legal) = (0.0..=4.0, "an exponent from 0 to 4");
        check(exponents.contains(&d.cycles_exponent), "disturb-cycles-exponent", legal)?;
        check(exponents.contains(&d.reads_exponent), "disturb-reads-exponent", legal)
    }
}

/// Whether an axis is non-empty and strictly increasing.
fn rises<T: PartialOrd>(axis: &[T]) -> bool {
    !axis.is_empty() && axis.is_sorted_by(|a, b| a < b)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two cycles, two retentions, two attempts.
    fn table() -> ErrorTable {
        ErrorTable {
            cycles: vec![0, 1000],
            retention_h: vec![1.0, 100.0],
            page_types: vec!["lsb".into()],
            attempts: vec!["default".into(), "calibrated".into()],
            rber: vec![1e-4, 1e-5, 1e-2, 1e-4, 1e-3, 1e-4, 1e-1, 1e-3],
            ..ErrorTable::ideal(1)
        }
    }

    #[test]
    fn the_logarithm_is_interpolated_linearly() {
        let t = table();
        assert_eq!(t.check(), Ok(()));
        let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-12, "{a} against {b}");
        let rate = |cycles, hours, layer, attempt| {
            t.rber(&Conditions { cycles, hours, reprograms: 0.0, layer, page_type: 0, attempt })
        };
        near(rate(0.0, 1.0, 0.5, 0), 1e-4);
        near(rate(1000.0, 100.0, 0.5, 1), 1e-3);
        // Halfway in log time and in cycles: 10^-2.5 is the mean of the four exponents -4, -2, -3, -1.
        near(rate(500.0, 10.0, 0.5, 0), libm::exp10(-2.5));
        // Clamped at the ends of the axes.
        near(rate(9e9, 1e6, 0.0, 9), 1e-3);
        near(rate(0.0, 1e-3, 1.0, 0), 1e-4);
    }

    #[test]
    fn invalid_tables_are_rejected_by_key() {
        let refused = |change: &dyn Fn(&mut ErrorTable)| {
            let mut t = table();
            change(&mut t);
            t.check().expect_err("an invalid table").key
        };
        assert_eq!(refused(&|t| t.cycles = vec![5, 5]), "cycles");
        assert_eq!(refused(&|t| t.retention_h = vec![0.0, 5.0]), "retention-h");
        assert_eq!(refused(&|t| t.reprograms.clear()), "reprograms");
        assert_eq!(refused(&|t| t.layer_fraction = vec![1.5]), "layer-fraction");
        assert_eq!(refused(&|t| t.page_types.clear()), "page-types");
        assert_eq!(refused(&|t| t.page_types = vec!["upper".into()]), "page-types");
        assert_eq!(refused(&|t| t.attempts = vec!["a".into(), "a".into()]), "attempts");
        assert_eq!(refused(&|t| t.rber.truncate(7)), "rber");
        assert_eq!(refused(&|t| t.rber[3] = f64::NAN), "rber");
        assert_eq!(refused(&|t| t.rber[3] = 0.51), "rber");
        assert_eq!(refused(&|t| t.spread_ln_sd = -1.0), "spread-ln-sd");
        assert_eq!(refused(&|t| t.temperature_c = f64::INFINITY), "temperature-c");
        let disturb = Disturb { coefficient: 0.0, cycles_exponent: 0.3, reads_exponent: 1.7 };
        assert_eq!(refused(&|t| t.disturb = Some(disturb)), "disturb-coefficient");
    }
}
