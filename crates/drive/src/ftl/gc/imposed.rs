//! `imposed`: no victims and no erases. Every host program is followed by extra programs so that the stated write
//! amplification results.

use super::{Blocks, VictimPolicy};
use interpulse_engine::Rng;
use interpulse_settings::{ConfigError, Section, required};

/// None.
pub struct Imposed;

/// Reads the write amplification to impose.
pub fn read_waf(s: &mut Section) -> Result<f64, ConfigError> {
    s.f64("imposed-waf", "write amplification to impose", required().within(1.0..=100.0))
}

impl VictimPolicy for Imposed {
    fn victim(&self, _: &Blocks, _: &mut Rng) -> Option<usize> {
        unreachable!("imposed write amplification has no victims")
    }
}
