//! The coefficients of an erase; see [`crate::erasing`] for what they mean.

use crate::figure::number;
use crate::normal::Normal;
use interpulse_engine::random::mix;
use interpulse_settings::{ConfigError, Section, required};

/// The purpose of a block's key.
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
