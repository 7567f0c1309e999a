//! The coefficients of an erase; see [`crate::erasing`] for what they mean.

use crate::figure::Figures;
use crate::normal::Normal;
use interpulse_engine::random::mix;
use interpulse_settings::{keys, required};

/// The purpose of a block's key.
const BLOCK: u64 = 0x31;

keys! {
    /// Coefficients of the erase.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Ispe, pub fn read(s) {
        /// loops of an average block without wear
        pub loops: u32 = u32(required().within(1..=100)),
        /// how much deeper each loop drives the cells, in steps
        pub step: f32 = number(1.0, 500.0),
        /// depth gained for each e-fold of pulse time, in steps
        pub lambda: f32 = number(0.1, 200.0),
        /// erase verify level, in steps
        pub verify: f32 = number(-500.0, 200.0),
        /// cells that may stay above it
        pub fails_allowed: f32 = share(),
        /// loops more for a thousand P/E cycles
        pub loops_per_kilocycle: f32 = number(0.0, 50.0),
        /// thousands of P/E cycles before which wear adds no loop
        pub wear_from_kilocycles: f32 = number(0.0, 1000.0),
        /// standard deviation of that between blocks
        pub block_sd_kilocycles: f32 = number(0.0, 100.0),
        /// the erase ends with the first verify that passes, not with a count of loops
        pub ends_early: bool = bool(required()),
        /// loops after which an erase gives up
        pub max_loops: u32 = u32(required().within(1..=200)),
        /// stress of a ramp's time as a share of a pulse's
        pub ramp_stress: f32 = number(0.0, 10.0),
    }
}

impl Ispe {
    /// Loops that a block needs more than one without wear, after `cycles` cycles: not below zero, not whole.
    pub fn extra_loops(&self, block: u64, cycles: f64) -> f64 {
        let own = f64::from(self.block_sd_kilocycles) * Normal::new().at(block ^ mix(BLOCK));
        let kilocycles = cycles / 1e3 - f64::from(self.wear_from_kilocycles) + own;
        f64::from(self.loops_per_kilocycle) * kilocycles.max(0.0)
    }
}
