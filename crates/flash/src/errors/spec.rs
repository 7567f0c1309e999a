//! Error specification: table, ECC, temperature, data age and refresh.

use super::ecc::Ecc;
use super::table::ErrorTable;
use interpulse_engine::Duration;
use interpulse_settings::{ConfigError, Section, choices, default, keys, optional};

/// Boltzmann's constant in eV per kelvin.
const BOLTZMANN_EV: f64 = 8.617_333_262e-5;
/// 0 degrees Celsius in kelvin.
const ZERO_CELSIUS_K: f64 = 273.15;

/// Largest data age: 20 years.
const OLDEST: Duration = Duration(20 * 365 * 86_400_000_000_000);

keys! {
    /// Parameters of the bit errors of an array.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ErrorSpec, pub fn read(s, error_table: &ErrorTable, code: &Ecc) {
        /// Raw bit error rates.
        pub table: ErrorTable => error_table.clone(),
        /// Error correction.
        pub ecc: Ecc => code.clone(),
        /// temperature of the device in degrees Celsius; by default that of the table
        pub temperature_c: f64 = f64(default(table.temperature_c).within(-55.0..=150.0)),
        /// activation energy of charge loss in eV (1.1: JESD218)
        pub activation_ev: f64 = ["activation-energy-ev"] f64(default(1.1).within(0.0..=3.0)),
        /// reprograms of every word line, at most as many as the table covers
        pub reprograms: f64 = f64(default(0.0).at_least(0.0)),
        /// age of the data on flash at the start of the run
        pub initial_age: Duration = duration(default(Duration::ZERO).within(Duration::ZERO..=OLDEST)),
        /// distribution of the initial ages over blocks
        pub initial_ages: InitialAges = choice(Some("equal"), InitialAges::ALL),
        /// Page reads of a block whose data has the initial age.
        pub initial_reads: u32 => read_reads(s, initial_ages)?,
        /// Time without power within the initial ages.
        pub initial_off: PowerOff => PowerOff::read(s, initial_ages)?,
        /// age of data that causes a background rewrite of its block; by default never
        pub refresh_after: Option<Duration> = optional_duration(optional().within(Duration::from_ms(1)..=OLDEST)),
        /// page reads of a block, counted from its erase, that cause a background rewrite; by default never
        pub reclaim_reads: Option<u32> = optional_u32(optional().at_least(1)),
    }
}

choices! {
    /// Distribution of the initial ages over blocks.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum InitialAges {
        /// all blocks have the initial age
        Equal = "equal",
        /// ages are uniformly distributed from zero to the initial age
        Uniform = "uniform",
        /// the age of a block grows with the blocks closed since; it is the initial age after as many as the drive has
        Closed = "closed",
    }
}

/// Time without power, which ages the data of all blocks that were closed before it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PowerOff {
    /// Its length.
    pub time: Duration,
    /// Blocks closed since, as a share of those of the drive.
    pub since: f64,
}

impl PowerOff {
    fn read(s: &mut Section, ages: InitialAges) -> Result<PowerOff, ConfigError> {
        let read = |s: &mut Section| {
            let doc = "time without power before the run, which adds to the age of data written before it";
            let time =
                s.duration("initial-off", doc, default(Duration::ZERO).within(Duration::ZERO..=OLDEST))?;
            let doc = "blocks closed since that time without power, as a share of those of the drive";
            Ok(PowerOff {
                time,
                since: s.fraction("initial-off-since", doc, default(0.0).within(0.0..=1.0))?,
            })
        };
        Ok(s.when(ages == InitialAges::Closed, "initial-ages = \"closed\"", read)?.unwrap_or_default())
    }
}

fn read_reads(s: &mut Section, ages: InitialAges) -> Result<u32, ConfigError> {
    let doc = "page reads of a block whose data has the initial age; others in proportion to their age";
    let read = |s: &mut Section| s.u32("initial-reads", doc, default(0).at_least(0));
    Ok(s.when(ages == InitialAges::Closed, "initial-ages = \"closed\"", read)?.unwrap_or(0))
}

impl ErrorSpec {
    /// Acceleration of charge loss relative to the temperature of the table (Arrhenius).
    pub fn acceleration(&self) -> f64 {
        let kelvin = |celsius: f64| celsius + ZERO_CELSIUS_K;
        let inverse = 1.0 / kelvin(self.table.temperature_c) - 1.0 / kelvin(self.temperature_c);
        libm::exp(self.activation_ev / BOLTZMANN_EV * inverse)
    }

    /// Age and reads of a block after which `since` of the `blocks` blocks were closed, with the rewrites of refresh and read
    /// reclaim.
    pub fn past_of_closed(&self, since: u64, blocks: u64) -> (Duration, u32) {
        let share = since as f64 / blocks as f64;
        let off = if share >= self.initial_off.since { self.initial_off.time } else { Duration::ZERO };
        let turns = [
            self.refresh_after.map(|of| of.as_ns() as f64 / self.initial_age.as_ns() as f64),
            self.reclaim_reads.map(|of| f64::from(of) / f64::from(self.initial_reads)),
        ];
        // A rewrite begins the age of its data anew.
        let share = match turns.into_iter().flatten().reduce(f64::min) {
            Some(turn) if share > turn => share % turn,
            _ => share,
        };
        let age = (share * self.initial_age.as_ns() as f64) as u64;
        (
            Duration::from_ns(age.saturating_add(off.as_ns())).min(OLDEST),
            (share * f64::from(self.initial_reads)) as u32,
        )
    }

    /// Equivalent retention of the initial age and the time without power at the temperature of the table, in hours.
    pub fn initial_retention_h(&self) -> f64 {
        (self.initial_age.as_ns() + self.initial_off.time.as_ns()) as f64 / 3.6e12 * self.acceleration()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errors::presets;

    /// Data an hour old.
    fn of(table: ErrorTable, temperature_c: f64) -> ErrorSpec {
        ErrorSpec {
            table,
            ecc: Ecc::default(),
            temperature_c,
            activation_ev: 1.1,
            reprograms: 0.0,
            initial_age: Duration::from_ns(3_600_000_000_000),
            initial_ages: InitialAges::Equal,
            initial_reads: 0,
            initial_off: PowerOff::default(),
            reclaim_reads: None,
            refresh_after: None,
        }
    }

    #[test]
    fn time_without_power_ages_the_data_written_before_it() {
        let mut spec = of(presets::table("cai-tlc").expect("it is built in"), 40.0);
        (spec.initial_ages, spec.initial_reads) = (InitialAges::Closed, 100);
        let minutes = |m: u64| Duration::from_ms(60_000 * m);
        assert_eq!(spec.past_of_closed(5, 10), (minutes(30), 50));
        spec.initial_off = PowerOff { time: minutes(600), since: 0.2 };
        // One of ten blocks was closed since, and so was read since.
        assert_eq!(spec.past_of_closed(1, 10), (minutes(6), 10));
        assert_eq!(spec.past_of_closed(5, 10), (minutes(630), 50));
        // Refresh rewrites while the drive has power, and finds older data at once when it has power again.
        spec.refresh_after = Some(minutes(15));
        assert_eq!(spec.past_of_closed(5, 10), (minutes(600), 0));
        assert!((spec.initial_retention_h() - 11.0).abs() < 1e-12);
    }

    /// JESD218 at 1.1 eV.
    #[test]
    fn arrhenius_by_the_factors_of_jesd218() {
        for (from, to, factor) in [(25.0, 40.0, 7.8), (25.0, 55.0, 50.0), (40.0, 70.0, 35.0)] {
            let mut table = presets::table("cai-tlc").expect("it is built in");
            table.temperature_c = from;
            let spec = of(table, to);
            let ours = spec.acceleration();
            assert!((ours / factor - 1.0).abs() < 0.02, "{from} to {to}: {ours} against {factor}");
            assert!((spec.initial_retention_h() / ours - 1.0).abs() < 1e-12, "an hour");
        }
    }
}
