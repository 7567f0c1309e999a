//! Readers of preset values: voltages, shares, levels and values per state.

use crate::states::{BOUNDARIES, STATES};
use interpulse_settings::{ConfigError, Section, required};

type Read<T> = Result<T, ConfigError>;

/// Readers of preset values.
pub(crate) trait PresetValues {
    /// A voltage or share between two bounds.
    fn number(&mut self, key: &str, doc: &'static str, from: f64, to: f64) -> Read<f32>;

    /// As [`PresetValues::number`], in double precision.
    fn coarse(&mut self, key: &str, doc: &'static str, from: f64, to: f64) -> Read<f64> {
        self.number(key, doc, from, to).map(f64::from)
    }

    /// A fraction.
    fn share(&mut self, key: &str, doc: &'static str) -> Read<f32>;

    /// A level for each boundary between states.
    fn levels(&mut self, key: &str, doc: &'static str) -> Read<[f32; BOUNDARIES]>;

    /// A number of at least `least` for each state.
    fn by_state(&mut self, key: &str, doc: &'static str, least: f64) -> Read<[f32; STATES]>;
}

impl PresetValues for Section {
    fn number(&mut self, key: &str, doc: &'static str, from: f64, to: f64) -> Read<f32> {
        Ok(self.f64(key, doc, required().within(from..=to))? as f32)
    }

    fn share(&mut self, key: &str, doc: &'static str) -> Read<f32> {
        Ok(self.fraction(key, doc, required())? as f32)
    }

    fn levels(&mut self, key: &str, doc: &'static str) -> Read<[f32; BOUNDARIES]> {
        let list = self.list_f64(key, doc, None, required().within(-200.0..=800.0))?;
        let given: Option<[f64; BOUNDARIES]> = list.try_into().ok();
        match given {
            Some(levels) if levels.is_sorted_by(|a, b| a < b) => Ok(levels.map(|v| v as f32)),
            _ => Err(self.invalid(key, "seven rising levels, lowest first")),
        }
    }

    fn by_state(&mut self, key: &str, doc: &'static str, least: f64) -> Read<[f32; STATES]> {
        let list = self.list_f64(key, doc, None, required().within(least..=1000.0))?;
        let given: [f64; STATES] =
            list.try_into().map_err(|_| self.invalid(key, "a list of eight numbers, ER and P1 to P7"))?;
        Ok(given.map(|v| v as f32))
    }
}
