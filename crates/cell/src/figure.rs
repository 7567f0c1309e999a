//! A figure of a preset.

use interpulse_settings::{ConfigError, Section, required};

/// Reads a voltage or a share between two bounds.
pub fn number(s: &mut Section, key: &str, doc: &'static str, from: f64, to: f64) -> Result<f32, ConfigError> {
    Ok(s.f64(key, doc, required().within(from..=to))? as f32)
}
