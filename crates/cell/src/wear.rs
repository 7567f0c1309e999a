//! Wear: effects of program/erase cycles on cells.
//!
//! Traps in the oxide raise the erased state, speed up programs and let charge leak: shift and widening by retention grow as a
//! power of the cycles (Pan, Dong and Zhang), with equivalent cycles for a fresh block.

use crate::preset_values::PresetValues;
use crate::retention::Leakiness;
use interpulse_settings::keys;

keys! {
    /// Wear.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Wear, pub fn read(s) {
        /// rise of the erased state per 1,000 cycles, in steps
        pub erased_rise: f32 = number(0.0, 200.0),
        /// growth of the variance of the erased state per 1,000 cycles, in square steps
        pub erased_growth: f32 = number(0.0, 1e4),
        /// increase of program speed per 1,000 cycles, in steps of the staircase
        pub faster: f32 = number(0.0, 100.0),
        /// cycles of the blocks on which retention and disturb were measured
        pub reference_cycles: f32 = number(1.0, 1e6),
        /// equivalent cycles of a fresh block
        pub head_start: f32 = number(1.0, 1e6),
        /// exponent of the growth of the retention shift with cycles
        pub shift_power: f32 = number(0.0, 3.0),
        /// exponent of the growth of the retention widening with cycles
        pub growth_power: f32 = number(0.0, 3.0),
    }
}

impl Wear {
    /// Leakiness of a block after `cycles` cycles.
    pub fn leakiness(&self, cycles: f64) -> Leakiness {
        let aged = f64::from(self.head_start);
        let ratio = (cycles + aged) / (f64::from(self.reference_cycles) + aged);
        let power = |p: f32| libm::pow(ratio, f64::from(p)) as f32;
        Leakiness { shift: power(self.shift_power), growth: power(self.growth_power) }
    }
}
