//! Random legal values of keys, for randomised tests.

use crate::declaration::{Key, Need};
use interpulse_engine::Rng;

/// Factor around the default where a key has no smallest or largest value.
const SPREAD: f64 = 8.0;

impl Key {
    /// A random legal value of this key as TOML text; `None` to leave the key out, also where its range is unknown.
    ///
    /// Choices are equally likely; a number keeps its default half of the time and is log-uniform in its range otherwise.
    pub fn random_value(&self, rng: &mut Rng) -> Option<String> {
        if self.need == Need::Optional && rng.below(2) == 0 {
            return None;
        }
        if !self.choices.is_empty() {
            return self.random_choice(rng);
        }
        if self.noun == "true or false" {
            return Some((rng.below(2) == 0).to_string());
        }
        if matches!(self.need, Need::Default(_)) && rng.below(2) == 0 {
            return None;
        }
        let (low, high) = self.bounds()?;
        let drawn = low * libm::exp(rng.unit() * libm::log(high / low));
        let value = match (self.noun, self.unit) {
            ("a whole number", _) => format!("{}", drawn as u64),
            ("a transfer rate", _) => format!("\"{}T/s\"", drawn as u64),
            ("a number per second", unit) => format!("\"{drawn:.4}{unit}\""),
            (_, "") => format!("{drawn:.4}"),
            (_, unit) => format!("\"{}{unit}\"", drawn as u64),
        };
        Some(if self.list { format!("[{value}]") } else { value })
    }

    fn random_choice(&self, rng: &mut Rng) -> Option<String> {
        let names: Vec<&str> = self
            .choices
            .iter()
            .map(|(name, _)| name.as_str())
            .filter(|name| !name.ends_with(".toml"))
            .collect();
        if !self.list {
            return Some(format!("\"{}\"", names[rng.below(names.len() as u64) as usize]));
        }
        let some: Vec<_> = names.iter().filter(|_| rng.below(2) == 0).map(|n| format!("\"{n}\"")).collect();
        (!some.is_empty()).then(|| format!("[{}]", some.join(", ")))
    }

    /// The bounds of random values, above zero.
    fn bounds(&self) -> Option<(f64, f64)> {
        let usual = self.usual.filter(|usual| *usual > 0.0);
        let least = self.least.map(|least| least.max(self.smallest()));
        let low =
            least.or(usual.map(|usual| (usual / SPREAD).max(self.smallest()))).unwrap_or(self.smallest());
        let high = self.most.or(usual.map(|usual| usual * SPREAD)).filter(|most| *most > low)?;
        Some((low, high))
    }

    fn smallest(&self) -> f64 {
        if self.noun == "a fraction" || self.noun == "a number" { 1e-3 } else { 1.0 }
    }
}
