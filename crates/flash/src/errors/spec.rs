//! Everything that decides about the bit errors of an array.

use super::ecc::Ecc;
use super::table::ErrorTable;
use interpulse_engine::Duration;

/// Boltzmann's constant in eV per kelvin.
const BOLTZMANN_EV: f64 = 8.617_333_262e-5;
/// 0 degrees Celsius in kelvin.
const ZERO_CELSIUS_K: f64 = 273.15;

/// Everything that decides about the bit errors of an array.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorSpec {
    /// Raw bit error rates.
    pub table: ErrorTable,
    /// What corrects them.
    pub ecc: Ecc,
    /// Temperature of the device in degrees Celsius.
    pub temperature_c: f64,
    /// Activation energy of the loss of charge, in eV (1.1 eV is what JESD218 assumes).
    pub activation_ev: f64,
    /// How often every word line has been reprogrammed.
    pub reprograms: f64,
    /// Age of the data that a run finds on flash.
    pub initial_age: Duration,
    /// How old the blocks are within that.
    pub initial_ages: InitialAges,
    /// A block that has been read this often since its erase asks to be rewritten.
    pub reclaim_reads: Option<u32>,
    /// Blocks whose data is older than this are rewritten.
    pub refresh_after: Option<Duration>,
}

/// How the ages of the blocks that a run finds on flash are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialAges {
    /// All have the initial age.
    Equal,
    /// Evenly between nothing and the initial age, as on a drive that rewrites its blocks in turn.
    Uniform,
}

impl InitialAges {
    /// Name, value and one line of documentation of each.
    pub const ALL: &'static [(&'static str, InitialAges, &'static str)] = &[
        ("equal", InitialAges::Equal, "all blocks have the initial age"),
        ("uniform", InitialAges::Uniform, "ages of blocks spread evenly from nothing to the initial age"),
    ];
}

impl ErrorSpec {
    /// How many times faster charge is lost at the device's temperature than at the table's (Arrhenius).
    pub fn acceleration(&self) -> f64 {
        let kelvin = |celsius: f64| celsius + ZERO_CELSIUS_K;
        let inverse = 1.0 / kelvin(self.table.temperature_c) - 1.0 / kelvin(self.temperature_c);
        libm::exp(self.activation_ev / BOLTZMANN_EV * inverse)
    }

    /// Retention at the table's temperature that the initial age is worth, in hours.
    pub fn initial_retention_h(&self) -> f64 {
        self.initial_age.as_ns() as f64 / 3.6e12 * self.acceleration()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errors::presets;

    /// Facts that follow from 1.1 eV: 25 to 40 degrees 7.8, 25 to 55 degrees 50, 40 to 70 degrees 35.
    #[test]
    fn arrhenius_by_the_factors_of_jesd218() {
        for (from, to, factor) in [(25.0, 40.0, 7.8), (25.0, 55.0, 50.0), (40.0, 70.0, 35.0)] {
            let mut table = presets::table("cai-tlc").expect("it is built in");
            table.temperature_c = from;
            let spec = ErrorSpec {
                table,
                ecc: Ecc::default(),
                temperature_c: to,
                activation_ev: 1.1,
                reprograms: 0.0,
                initial_age: Duration::from_ns(3_600_000_000_000),
                initial_ages: InitialAges::Equal,
                reclaim_reads: None,
                refresh_after: None,
            };
            let ours = spec.acceleration();
            assert!((ours / factor - 1.0).abs() < 0.02, "{from} to {to}: {ours} against {factor}");
            assert!((spec.initial_retention_h() / ours - 1.0).abs() < 1e-12, "an hour");
        }
    }
}
