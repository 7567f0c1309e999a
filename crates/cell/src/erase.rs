//! An erase, pulse by pulse, on real cells.
//!
//! Charge leaves at a rate that grows exponentially with what is left of it (Fowler-Nordheim tunnelling, linearised around a
//! level): `dv/dt = -(lambda / T) exp((v - level) / lambda)`, T being the length of a whole pulse. Its solution is used as it
//! is, so a pulse that is cut into pieces does what the whole one does, and a pulse that is applied again drives the cells
//! deeper by `lambda` for each e-fold of time.

use crate::cells::{Cells, subkey};
use crate::coefficients::number;
use crate::kernel::hash;
use crate::normal::Normal;
use interpulse_engine::random::mix;
use interpulse_settings::{ConfigError, Section, required};

/// Purposes of keys.
const SPEED: u64 = 0x30;
const BLOCK: u64 = 0x31;

/// Coefficients of the erase.
#[derive(Clone, Debug, PartialEq)]
pub struct Ispe {
    /// Loops of an average block without wear.
    pub loops: u32,
    /// How much deeper each loop drives the cells than the one before, in steps.
    pub step: f32,
    /// Depth gained for each e-fold of pulse time, in steps.
    pub lambda: f32,
    /// No more than `fails_allowed` of the cells may lie above it when the erase ends, in steps.
    pub verify: f32,
    /// Share of the cells that may.
    pub fails_allowed: f32,
    /// Loops more for a thousand cycles.
    pub loops_per_kilocycle: f32,
    /// Cycles before which wear adds none, in thousands.
    pub wear_from_kilocycles: f32,
    /// Standard deviation of that between blocks, in thousands of cycles.
    pub block_sd_kilocycles: f32,
    /// The erase ends with the first verify that passes; otherwise it takes the loops of a block of its wear all the same.
    pub ends_early: bool,
    /// Loops after which the erase gives up.
    pub max_loops: u32,
    /// Stress of a ramp's time as a share of that of a pulse's time.
    pub ramp_stress: f32,
}

impl Ispe {
    /// Reads the section `[cell.erase]`.
    pub fn read(s: &mut Section) -> Result<Ispe, ConfigError> {
        Ok(Ispe {
            loops: s.u32("loops", "loops of an average block without wear", required().within(1..=100))?,
            step: number(s, "step", "how much deeper each loop drives the cells, in steps", 1.0, 500.0)?,
            lambda: number(s, "lambda", "depth gained for each e-fold of pulse time, in steps", 0.1, 200.0)?,
            verify: number(s, "verify", "erase verify level, in steps", -500.0, 200.0)?,
            fails_allowed: s.fraction("fails-allowed", "cells that may stay above it", required())? as f32,
            loops_per_kilocycle: number(
                s,
                "loops-per-kilocycle",
                "loops more for a thousand P/E cycles",
                0.0,
                50.0,
            )?,
            wear_from_kilocycles: number(
                s,
                "wear-from-kilocycles",
                "thousands of P/E cycles before which wear adds no loop",
                0.0,
                1000.0,
            )?,
            block_sd_kilocycles: number(
                s,
                "block-sd-kilocycles",
                "standard deviation of that between blocks",
                0.0,
                100.0,
            )?,
            ends_early: s.bool(
                "ends-early",
                "the erase ends with the first verify that passes, not with a count of loops",
                required(),
            )?,
            max_loops: s.u32(
                "max-loops",
                "loops after which an erase gives up",
                required().within(1..=200),
            )?,
            ramp_stress: number(
                s,
                "ramp-stress",
                "stress of a ramp's time as a share of a pulse's",
                0.0,
                10.0,
            )?,
        })
    }

    /// Loops that a block needs more than one without wear, after `cycles` cycles: not below zero, not whole.
    pub fn extra_loops(&self, block: u64, cycles: f64) -> f64 {
        let own = f64::from(self.block_sd_kilocycles) * Normal::new().at(block ^ mix(BLOCK));
        let kilocycles = cycles / 1e3 - f64::from(self.wear_from_kilocycles) + own;
        f64::from(self.loops_per_kilocycle) * kilocycles.max(0.0)
    }
}

/// An erase under way, on the word lines of one block.
pub struct Erase {
    /// Level of the first loop for an average cell.
    start: f32,
    /// How each cell differs from it; fixed for life.
    offsets: Vec<Vec<f32>>,
    /// Time under erase voltage so far, ramps in their share, in whole pulses.
    stress: f64,
    /// Loops before which the verify decides nothing.
    at_least: u32,
}

impl Erase {
    /// Begins to erase `lines`, the word lines of block `block`, to an erased state of mean `mean` and standard deviation `sd`
    /// (for a block without wear, not stopped), after `cycles` cycles.
    pub fn begin(of: &Ispe, lines: &[Cells], mean: f32, sd: f32, block: u64, cycles: f64) -> Erase {
        let normal = Normal::new();
        // The last loop that an average block needs leaves the cells at the erased state.
        let extra = of.extra_loops(block, cycles);
        let start = mean + of.step * (of.loops as f32 - 1.0 + extra as f32);
        let at_least = if of.ends_early { 0 } else { of.loops + libm::ceil(extra) as u32 };
        let offsets = lines
            .iter()
            .map(|cells| {
                let key = subkey(cells.key, SPEED);
                (0..cells.len() as u32).map(|c| sd * normal.of(hash(key, c))).collect()
            })
            .collect();
        Erase { start, offsets, stress: 0.0, at_least }
    }

    /// Applies the pulse of loop `number` (from 0) for `share` of its length.
    pub fn pulse(&mut self, of: &Ispe, lines: &mut [Cells], number: u32, share: f64) {
        let level = self.start - of.step * number as f32;
        for (cells, offsets) in lines.iter_mut().zip(&self.offsets) {
            for (v, offset) in cells.vth.iter_mut().zip(offsets) {
                *v = after(*v, level + offset, of.lambda, share as f32);
            }
        }
        self.stress += share;
    }

    /// The voltage rises to that of loop `number` again, for as long as `share` of a pulse: it hardly erases, but wears.
    pub fn ramp(&mut self, of: &Ispe, share: f64) {
        self.stress += f64::from(of.ramp_stress) * share;
    }

    /// Whether the verify of loop `number` ends the erase: the cells above the verify level are few enough.
    pub fn verify(&self, of: &Ispe, lines: &[Cells], number: u32) -> bool {
        if number + 1 < self.at_least {
            return false;
        }
        let cells: usize = lines.iter().map(Cells::len).sum();
        let above: usize = lines.iter().map(|l| l.vth.iter().filter(|v| **v > of.verify).count()).sum();
        above as f64 <= f64::from(of.fails_allowed) * cells as f64
    }

    /// Time under erase voltage so far, ramps in their share, in whole pulses.
    pub fn stress(&self) -> f64 {
        self.stress
    }
}

/// Where a cell at `v` is after `share` of a pulse of this level.
fn after(v: f32, level: f32, lambda: f32, share: f32) -> f32 {
    let over = (v - level) / lambda;
    // Far above the level the 1 is nothing, and the exponential more than a number holds.
    if over > 60.0 {
        return level - lambda * libm::logf(share);
    }
    v - lambda * libm::log1pf(share * libm::expf(over))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_pulse_do_what_the_whole_one_does() {
        for v in [450.0f32, 20.0, -80.0, -150.0] {
            let whole = after(v, -90.0, 12.0, 1.0);
            let pieces = (0..10).fold(v, |v, _| after(v, -90.0, 12.0, 0.1));
            assert!((whole - pieces).abs() < 0.01, "{v}: {whole} against {pieces}");
            assert!(whole <= v);
        }
        // Twice the time is ln 2 lambdas deeper, for a cell that came from far above.
        let twice = after(450.0, -90.0, 12.0, 2.0);
        assert!((twice - (-90.0 - 12.0 * 2.0f32.ln())).abs() < 0.01, "{twice}");
    }
}
