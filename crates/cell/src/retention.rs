//! Retention: charge that leaves (or reaches) a cell with time, heat and wear.
//!
//! A cell that was programmed to `v` lies at `v + shift(v) L + sqrt(growth(v) L) leak` after a time `t`, with
//! `L = ln(1 + t / onset)`: both mean and variance go with the logarithm of time (Cai et al., Proc. IEEE 2017; Luo et al.,
//! SIGMETRICS 2018), high states fall and low ones rise. `leak` is a cell's own in each cycle, so a cell followed through time
//! stays itself; its tails are exponential. `onset` decides how much is lost early. Heat makes time pass faster (Arrhenius).
//! Voltages are always computed from those as programmed: ageing twice is not ageing for the sum of both times.

use crate::coefficients::number;
use crate::kernel::hash;
use crate::laplace::Laplace;
use crate::states::STATES;
use interpulse_settings::{ConfigError, Section, required};

/// Boltzmann's constant, in electron volts per kelvin.
const BOLTZMANN_EV: f64 = 8.617_333_262e-5;
/// 0 degrees Celsius in kelvin.
const FREEZING: f64 = 273.15;

/// How cells lose charge. Voltages in steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Retention {
    /// Threshold voltages, rising, at which shift and growth are given; in between both go straight.
    pub at: [f32; STATES],
    /// Steps per e-fold of time.
    pub shift: [f32; STATES],
    /// Square steps per e-fold of time.
    pub growth: [f32; STATES],
    /// The time from which on the loss goes with the logarithm, in hours.
    pub onset_hours: f64,
    /// The temperature of shift, growth and onset, in degrees Celsius.
    pub reference_celsius: f64,
    /// Activation energy, in electron volts.
    pub activation_ev: f64,
}

/// How much faster than the reference block a block loses charge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leakiness {
    /// Factor on the shift.
    pub shift: f32,
    /// Factor on the growth of the variance.
    pub growth: f32,
}

/// A function of the threshold voltage, straight between points of a fine grid.
struct Curve {
    values: Vec<(f32, f32)>,
}

/// Lowest voltage, spacing and number of points of a [`Curve`].
const GRID: (f32, f32, usize) = (-400.0, 8.0, 176);

impl Retention {
    /// Reads the section `[retention]`.
    pub fn read(s: &mut Section) -> Result<Retention, ConfigError> {
        let at = eight(s, "at", "threshold voltages at which shift and growth are given, in steps", -800.0)?;
        if !at.is_sorted_by(|a, b| a < b) {
            return Err(s.invalid("at", "eight rising voltages"));
        }
        Ok(Retention {
            at,
            shift: eight(s, "shift", "steps per e-fold of time, at each of these voltages", -100.0)?,
            growth: eight(s, "growth", "square steps per e-fold of time, at each of these voltages", 0.0)?,
            onset_hours: s.f64(
                "onset-hours",
                "time from which on charge is lost with the logarithm of time, in hours",
                required().within(1e-9..=1e6),
            )?,
            reference_celsius: f64::from(number(
                s,
                "reference-celsius",
                "temperature of shift, growth and onset, in degrees Celsius",
                -40.0,
                125.0,
            )?),
            activation_ev: s.f64(
                "activation-ev",
                "activation energy of the loss, in electron volts",
                required().within(0.0..=3.0),
            )?,
        })
    }

    /// How much faster charge is lost at `celsius` than at `reference`: Arrhenius' law.
    pub fn acceleration(&self, reference: f64, celsius: f64) -> f64 {
        let inverse = |c: f64| 1.0 / (BOLTZMANN_EV * (c + FREEZING));
        libm::exp(self.activation_ev * (inverse(reference) - inverse(celsius)))
    }

    /// The hours at the reference temperature that do what `hours` at `celsius` do. Times at different temperatures add up.
    pub fn equivalent_hours(&self, hours: f64, celsius: f64) -> f64 {
        hours * self.acceleration(self.reference_celsius, celsius)
    }

    /// E-folds of loss after `hours` at the reference temperature.
    pub fn folds(&self, hours: f64) -> f64 {
        libm::log1p(hours / self.onset_hours)
    }

    /// Moves cells from where they were programmed to where they are `hours` (at the reference temperature) later. `key`
    /// belongs to the word line and its last program.
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
    /// That of the block that shift and growth were measured on.
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

/// Straight between the points about `v`, and on beyond the outermost two.
fn straight(at: &[f32; STATES], values: &[f32; STATES], v: f32) -> f32 {
    let above = at.partition_point(|&x| x < v).clamp(1, STATES - 1);
    let (low, high) = (above - 1, above);
    values[low] + (values[high] - values[low]) * (v - at[low]) / (at[high] - at[low])
}

fn eight(s: &mut Section, key: &str, doc: &'static str, least: f64) -> Result<[f32; STATES], ConfigError> {
    let list = s.list_f64(key, doc, None, required().within(least..=1000.0))?;
    let given: [f64; STATES] =
        list.try_into().map_err(|_| s.invalid(key, "a list of eight numbers, ER and P1 to P7"))?;
    Ok(given.map(|v| v as f32))
}
