//! Retention: charge loss with time, temperature and wear.
//!
//! A cell programmed to `v` is at `v + shift(v) L + sqrt(growth(v) L) leak` after a time `t`, with `L = ln(1 + t / onset)`:
//! mean and variance are linear in the logarithm of time (Cai et al., Proc. IEEE 2017; Luo et al., SIGMETRICS 2018). `leak` is
//! constant per cell and cycle and has exponential tails. Temperature accelerates time (Arrhenius). Ageing must always start
//! from the voltages as programmed; it is not additive.

use crate::kernel::hash;
use crate::laplace::Laplace;
use crate::preset_values::PresetValues;
use crate::states::STATES;
use interpulse_settings::{keys, required};

/// Boltzmann's constant, in electron volts per kelvin.
const BOLTZMANN_EV: f64 = 8.617_333_262e-5;
/// 0 degrees Celsius in kelvin.
const FREEZING: f64 = 273.15;

keys! {
    /// Charge loss. Voltages are in steps.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Retention, pub fn read(s) {
        /// threshold voltages at which shift and growth are given, in steps
        pub at: [f32; STATES] = by_state(-800.0),
        /// steps per e-fold of time, at each of these voltages
        pub shift: [f32; STATES] = by_state(-100.0),
        /// square steps per e-fold of time, at each of these voltages
        pub growth: [f32; STATES] = by_state(0.0),
        /// onset of the logarithmic charge loss, in hours
        pub onset_hours: f64 = f64(required().within(1e-9..=1e6)),
        /// temperature of shift, growth and onset, in degrees Celsius
        pub reference_celsius: f64 = coarse(-40.0, 125.0),
        /// activation energy of the loss, in electron volts
        pub activation_ev: f64 = f64(required().within(0.0..=3.0)),
    } check {
        s.check(at.is_sorted_by(|a, b| a < b), "at", "eight rising voltages")?;
    }
}

/// Charge loss of a block relative to the reference block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leakiness {
    /// Factor on the shift.
    pub shift: f32,
    /// Factor on the growth of the variance.
    pub growth: f32,
}

/// A function of the threshold voltage, linear between points of a grid.
struct Curve {
    values: Vec<(f32, f32)>,
}

/// Lowest voltage, spacing and number of points of a [`Curve`].
const GRID: (f32, f32, usize) = (-400.0, 1.0, 1401);

impl Retention {
    /// Acceleration of charge loss at `celsius` relative to `reference` (Arrhenius).
    pub fn acceleration(&self, reference: f64, celsius: f64) -> f64 {
        let inverse = |c: f64| 1.0 / (BOLTZMANN_EV * (c + FREEZING));
        libm::exp(self.activation_ev * (inverse(reference) - inverse(celsius)))
    }

    /// The time at the reference temperature that is equivalent to `hours` at `celsius`. Equivalent times are additive.
    pub fn equivalent_hours(&self, hours: f64, celsius: f64) -> f64 {
        hours * self.acceleration(self.reference_celsius, celsius)
    }

    /// E-folds of loss after `hours` at the reference temperature.
    pub fn folds(&self, hours: f64) -> f64 {
        libm::log1p(hours / self.onset_hours)
    }

    /// Ages cells as programmed by `hours` at the reference temperature. `key` is that of the word line and its program.
    pub fn age(&self, vth: &mut [f32], key: u32, leakiness: Leakiness, hours: f64) {
        let folds = self.folds(hours) as f32;
        if folds <= 0.0 {
            return;
        }
        let curve = Curve::new(|v| {
            let at = |values: &[f32; STATES]| straight(&self.at, values, v);
            let growth = at(&self.growth).max(0.0) * leakiness.growth * folds;
            (at(&self.shift) * leakiness.shift * folds, libm::sqrtf(growth))
        });
        let laplace = Laplace::new();
        for (cell, v) in vth.iter_mut().enumerate() {
            let (shift, spread) = curve.of(*v);
            *v += shift + spread * laplace.of(hash(key, cell as u32));
        }
    }
}

impl Leakiness {
    /// Leakiness of the block on which shift and growth were measured.
    pub const REFERENCE: Leakiness = Leakiness { shift: 1.0, growth: 1.0 };

    /// Both factors multiplied by `factor`.
    pub fn times(self, factor: f32) -> Leakiness {
        Leakiness { shift: self.shift * factor, growth: self.growth * factor }
    }
}

impl Curve {
    fn new(of: impl Fn(f32) -> (f32, f32)) -> Curve {
        let (lowest, spacing, points) = GRID;
        Curve { values: (0..points).map(|k| of(lowest + spacing * k as f32)).collect() }
    }

    #[inline]
    fn of(&self, v: f32) -> (f32, f32) {
        let (lowest, spacing, points) = GRID;
        let x = ((v - lowest) * (1.0 / spacing)).clamp(0.0, (points - 1) as f32 - 0.001);
        let k = x as usize;
        let (low, high, weight) = (self.values[k], self.values[k + 1], x - k as f32);
        (low.0 + weight * (high.0 - low.0), low.1 + weight * (high.1 - low.1))
    }
}

/// Linear interpolation at `v`, and extrapolation beyond the outermost points.
fn straight(at: &[f32; STATES], values: &[f32; STATES], v: f32) -> f32 {
    let above = at.partition_point(|&x| x < v).clamp(1, STATES - 1);
    let (low, high) = (above - 1, above);
    values[low] + (values[high] - values[low]) * (v - at[low]) / (at[high] - at[low])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coefficients::Coefficients;

    fn of(preset: &str) -> Coefficients {
        Coefficients::preset(preset).expect("it is embedded")
    }

    /// Bake times equivalent to a year at 25 degrees, and accelerations printed elsewhere.
    #[test]
    fn heat_accelerates_as_jesd218_assumes() {
        let cai = of("a4-tlc").retention;
        for (celsius, hours) in [(60.0, 97.65), (80.0, 11.16), (100.0, 1.61), (120.0, 0.28)] {
            let ours = 8760.0 / cai.acceleration(25.0, celsius);
            assert!((ours / hours - 1.0).abs() < 0.02, "{celsius} degrees: {ours} hours, not {hours}");
        }
        for (from, to, factor) in
            [(25.0, 40.0, 7.8), (25.0, 55.0, 50.0), (40.0, 70.0, 35.0), (40.0, 120.0, 4002.0)]
        {
            assert!((cai.acceleration(from, to) / factor - 1.0).abs() < 0.02, "{from} to {to}");
        }
        assert_eq!(cai.equivalent_hours(5.0, cai.reference_celsius), 5.0);
    }

    #[test]
    fn early_loss_is_as_large_in_three_hours_as_until_eleven_days() {
        let early = of("a4-tlc-early").retention;
        let (first, both) = (early.folds(3.0), early.folds(264.0));
        assert!((both / first - 2.0).abs() < 0.01, "{first} {both}");
    }

    #[test]
    fn means_and_variances_are_linear_in_the_logarithm_of_time() {
        let retention = of("a4-tlc").retention;
        let n = 1 << 18;
        for hours in [1.0, 24.0, 8760.0] {
            let folds = retention.folds(hours);
            for state in [1, 4, 7] {
                let v = retention.at[state];
                let mut cells = vec![v; n];
                retention.age(&mut cells, 9, Leakiness::REFERENCE, hours);
                let moved: Vec<f64> = cells.iter().map(|&c| f64::from(c - v)).collect();
                let mean = moved.iter().sum::<f64>() / n as f64;
                let variance = moved.iter().map(|m| (m - mean) * (m - mean)).sum::<f64>() / n as f64;
                let expected = f64::from(retention.growth[state]) * folds;
                // Five standard errors, with the kurtosis of a Laplace distribution, and the rounding of the grid.
                let error = 5.0 * (expected / n as f64).sqrt() + 0.01 * folds;
                assert!((mean - f64::from(retention.shift[state]) * folds).abs() < error, "{state}: {mean}");
                assert!((variance / expected - 1.0).abs() < 5.0 * (5.0 / n as f64).sqrt(), "{variance}");
            }
        }
    }

    #[test]
    fn a_cell_keeps_its_leak_and_without_time_nothing_moves() {
        let retention = of("a4-tlc").retention;
        let made: Vec<f32> = (0..4096).map(|k| -150.0 + 0.15 * k as f32).collect();
        let at = |hours: f64, key: u32| {
            let mut cells = made.clone();
            retention.age(&mut cells, key, Leakiness::REFERENCE, hours);
            cells
        };
        assert_eq!(at(0.0, 1), made);
        assert_eq!(at(24.0, 1), at(24.0, 1));
        assert_ne!(at(24.0, 1), at(24.0, 2));
        // Cells that leak more than the mean of their state after a day also do after a year.
        let (day, year) = (at(24.0, 1), at(8760.0, 1));
        let off = |aged: &[f32], cell: usize, hours: f64| {
            let shift = straight(&retention.at, &retention.shift, made[cell]);
            aged[cell] - made[cell] - shift * retention.folds(hours) as f32
        };
        let same = (0..made.len()).filter(|&c| off(&day, c, 24.0) * off(&year, c, 8760.0) >= 0.0).count();
        assert!(same * 50 > made.len() * 49, "{same} of {}", made.len());
    }

    /// Equal loss at the published ages of 17, 14 and 10 days for increasing wear.
    #[test]
    fn worn_blocks_lose_charge_sooner() {
        let cells = of("a4-tlc");
        let loss = |cycles: f64, days: f64| {
            f64::from(cells.wear.leakiness(cycles).shift) * cells.retention.folds(24.0 * days)
        };
        let fresh = loss(0.0, 17.0);
        for (cycles, days) in [(200.0, 14.0), (500.0, 10.0)] {
            assert!(
                (loss(cycles, days) / fresh - 1.0).abs() < 0.01,
                "{cycles}: {}",
                loss(cycles, days) / fresh
            );
        }
        assert_eq!(cells.wear.leakiness(2000.0), Leakiness::REFERENCE);
    }
}
