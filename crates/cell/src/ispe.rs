//! Coefficients of incremental step pulse erasing (ISPE), which [`crate::erase`] applies.

use crate::normal::Normal;
use crate::preset_values::PresetValues;
use interpulse_engine::random::mix;
use interpulse_settings::{keys, required};

/// Purpose of the key of a block.
const BLOCK: u64 = 0x31;

keys! {
    /// Coefficients of the erase.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Ispe, pub fn read(s) {
        /// erase loops of an average block without wear
        pub loops: u32 = u32(required().within(1..=100)),
        /// depth gained per loop, in steps
        pub step: f32 = number(1.0, 500.0),
        /// depth gained per e-fold of pulse time, in steps
        pub lambda: f32 = number(0.1, 200.0),
        /// erase verify level, in steps
        pub verify: f32 = number(-500.0, 200.0),
        /// share of cells that may stay above the erase verify level
        pub fails_allowed: f32 = share(),
        /// additional loops per thousand P/E cycles
        pub loops_per_kilocycle: f32 = number(0.0, 50.0),
        /// P/E cycles, in thousands, up to which wear adds no loop
        pub wear_from_kilocycles: f32 = number(0.0, 1000.0),
        /// standard deviation of that threshold between blocks
        pub block_sd_kilocycles: f32 = number(0.0, 100.0),
        /// the erase ends with the first passing verify instead of after a fixed number of loops
        pub ends_early: bool = bool(required()),
        /// loops after which an erase fails
        pub max_loops: u32 = u32(required().within(1..=200)),
        /// stress of ramp time relative to pulse time
        pub ramp_stress: f32 = number(0.0, 10.0),
    }
}

impl Ispe {
    /// Additional loops of a block after `cycles` cycles: not negative, fractional.
    pub fn extra_loops(&self, block: u64, cycles: f64) -> f64 {
        let own = f64::from(self.block_sd_kilocycles) * Normal::new().at(block ^ mix(BLOCK));
        let kilocycles = cycles / 1e3 - f64::from(self.wear_from_kilocycles) + own;
        f64::from(self.loops_per_kilocycle) * kilocycles.max(0.0)
    }
}
