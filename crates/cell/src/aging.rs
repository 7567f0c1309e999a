//! What cycles and time do to a word line, as far as the reprogramming study needs it.

use crate::coefficients::number;
use crate::kernel::hash;
use crate::normal::Normal;
use interpulse_settings::{ConfigError, Section};

/// Wear and retention.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aging {
    /// Variance that a thousand P/E cycles add to what a sensing sees, in steps squared.
    pub noise_per_kilocycle: f32,
    /// By how much a thousand P/E cycles make cells faster to program, in steps: trapped charge.
    pub speed_per_kilocycle: f32,
    /// Time from which on loss of charge is seen, in hours.
    pub after_hours: f32,
    /// What a cell of P7 loses in each e-fold of time, in steps; others in proportion to their height above the erased state.
    pub loss: f32,
    /// Variance of the loss for each e-fold of time, in steps squared.
    pub loss_variance: f32,
}

impl Aging {
    /// Reads the section `[cell.aging]`.
    pub fn read(s: &mut Section) -> Result<Aging, ConfigError> {
        let noise = "variance that a thousand P/E cycles add to a sensing, in steps squared";
        let variance = "variance of the loss for each e-fold of time, in steps squared";
        Ok(Aging {
            noise_per_kilocycle: number(s, "noise-per-kilocycle", noise, 0.0, 1000.0)?,
            speed_per_kilocycle: number(
                s,
                "speed-per-kilocycle",
                "how much faster they make cells, in steps",
                0.0,
                100.0,
            )?,
            after_hours: number(s, "after-hours", "time from which on loss is seen, in hours", 1e-6, 1e6)?,
            loss: number(s, "loss", "loss of a cell of P7 in each e-fold of time, in steps", 0.0, 100.0)?,
            loss_variance: number(s, "loss-variance", variance, 0.0, 1000.0)?,
        })
    }

    /// E-folds of `hours`.
    pub fn e_folds(&self, hours: f64) -> f32 {
        libm::log1p(hours / f64::from(self.after_hours)) as f32
    }

    /// Lets cells lie for `hours`. `erased` and `top` are the levels at which a cell loses nothing and `loss`.
    pub fn retain(&self, vth: &mut [f32], hours: f64, erased: f32, top: f32, key: u32) {
        let (normal, e_folds) = (Normal::new(), self.e_folds(hours));
        let (loss, sd) = (self.loss * e_folds, libm::sqrtf(self.loss_variance * e_folds));
        for (cell, v) in vth.iter_mut().enumerate() {
            let height = ((*v - erased) / (top - erased)).max(0.0);
            *v -= loss * height + sd * normal.of(hash(key, cell as u32));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGING: Aging = Aging {
        noise_per_kilocycle: 4.0,
        speed_per_kilocycle: 0.0,
        after_hours: 1.0,
        loss: 2.0,
        loss_variance: 9.0,
    };

    #[test]
    fn loss_grows_with_the_logarithm_of_time_and_with_height() {
        let hours = std::f64::consts::E.powi(4) - 1.0;
        assert!((AGING.e_folds(hours) - 4.0).abs() < 1e-6);
        let still = Aging { loss_variance: 0.0, ..AGING };
        let mut vth = [400.0f32, 150.0, -100.0, -120.0];
        still.retain(&mut vth, hours, -100.0, 400.0, 1);
        assert_eq!(vth.map(libm::roundf), [392.0, 146.0, -100.0, -120.0]);
    }

    #[test]
    fn the_variance_grows_with_the_logarithm_of_time() {
        let n = 200_000;
        let mut vth = vec![400.0f32; n];
        AGING.retain(&mut vth, std::f64::consts::E.powi(4) - 1.0, -100.0, 400.0, 1);
        let mean = vth.iter().map(|&v| f64::from(v)).sum::<f64>() / n as f64;
        let variance = vth.iter().map(|&v| (f64::from(v) - mean).powi(2)).sum::<f64>() / n as f64;
        assert!((mean - 392.0).abs() < 5.0 * 6.0 / (n as f64).sqrt(), "{mean}");
        assert!((variance / 36.0 - 1.0).abs() < 5.0 * (2.0 / n as f64).sqrt(), "{variance}");
    }
}
