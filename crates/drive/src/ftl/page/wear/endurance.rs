//! Endurance of single super blocks, drawn from the seed of the run.

use crate::spec::{FaultSpec, WearOut};
use interpulse_engine::{Rng, Streams};
use std::f64::consts::TAU;

/// Distribution of the program/erase cycles that super blocks endure.
pub(crate) struct Endurance {
    rated: u32,
    spread: f64,
    of: WearOut,
    rng: Rng,
}

impl Endurance {
    pub(crate) fn new(faults: &FaultSpec, rated: u32, streams: &Streams) -> Endurance {
        let rng = streams.stream("ftl.endurance", 0);
        Endurance { rated, spread: faults.endurance_spread, of: faults.wear_out, rng }
    }

    /// Cycles that the next block endures, at least one.
    pub(crate) fn draw(&mut self) -> u32 {
        let mut rng = self.rng.clone();
        let cycles = self.draw_from(&mut rng);
        self.rng = rng;
        cycles
    }

    /// As [`Endurance::draw`], with random numbers of `rng`.
    pub(crate) fn draw_from(&self, rng: &mut Rng) -> u32 {
        let rated = f64::from(self.rated);
        let cycles = match self.of {
            WearOut::Never => return u32::MAX,
            WearOut::Equal => rated,
            WearOut::Normal => rated * (1.0 + self.spread * normal(rng)),
            WearOut::Lognormal => rated * libm::exp(self.spread * normal(rng)),
        };
        libm::round(cycles).max(1.0) as u32
    }
}

/// A normal variate (Box and Muller 1958).
pub(crate) fn normal(rng: &mut Rng) -> f64 {
    let (radius, angle) = (1.0 - rng.unit(), rng.unit());
    libm::sqrt(-2.0 * libm::log(radius)) * libm::cos(TAU * angle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(of: WearOut, spread: f64) -> Vec<f64> {
        let faults = FaultSpec { wear_out: of, endurance_spread: spread, ..FaultSpec::NONE };
        let mut endurance = Endurance::new(&faults, 3000, &Streams::new(7));
        (0..20_000).map(|_| f64::from(endurance.draw())).collect()
    }

    /// Within five standard errors of mean and deviation: 1e-6 or less by chance for all bounds together.
    fn mean_and_deviation(x: &[f64]) -> (f64, f64) {
        let n = x.len() as f64;
        let mean = x.iter().sum::<f64>() / n;
        (mean, (x.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n).sqrt())
    }

    #[test]
    fn blocks_endure_what_their_distribution_says() {
        assert!(drawn(WearOut::Never, 0.0).iter().all(|&e| e == f64::from(u32::MAX)));
        assert!(drawn(WearOut::Equal, 0.0).iter().all(|&e| e == 3000.0));
        let n = 20_000_f64.sqrt();
        let (mean, sd) = mean_and_deviation(&drawn(WearOut::Normal, 0.1));
        assert!((mean - 3000.0).abs() < 5.5 * 300.0 / n, "{mean}");
        assert!((sd - 300.0).abs() < 5.5 * 300.0 / (2.0_f64.sqrt() * n), "{sd}");
        let logs: Vec<f64> = drawn(WearOut::Lognormal, 0.2).into_iter().map(f64::ln).collect();
        let (mean, sd) = mean_and_deviation(&logs);
        assert!((mean - 3000_f64.ln()).abs() < 5.5 * 0.2 / n, "{mean}");
        assert!((sd - 0.2).abs() < 5.5 * 0.2 / (2.0_f64.sqrt() * n), "{sd}");
    }
}
