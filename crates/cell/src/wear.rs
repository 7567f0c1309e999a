//! Wear: what program/erase cycles do to cells.
//!
//! Tunnelling leaves traps in the oxide. Trapped charge keeps the erased state from going all the way down, helps the next
//! program along, and lets charge leak away: shift and widening by retention grow as a power of the cycles (the classic
//! channel model of Pan, Dong and Zhang), of which a block that was never cycled behaves as if it had had some.

use crate::figure::Figures;
use crate::retention::Leakiness;
use interpulse_settings::keys;

keys! {
    /// How cells wear.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Wear, pub fn read(s) {
        /// rise of the erased state per 1,000 cycles, in steps
        pub erased_rise: f32 = number(0.0, 200.0),
        /// growth of the erased state's variance per 1,000 cycles, in square steps
        pub erased_growth: f32 = number(0.0, 1e4),
        /// how much faster cells program per 1,000 cycles, in steps of the staircase
        pub faster: f32 = number(0.0, 100.0),
        /// cycles of the blocks that retention and disturb were measured on
        pub reference_cycles: f32 = number(1.0, 1e6),
        /// cycles that a block which was never cycled seems to have had
        pub head_start: f32 = number(1.0, 1e6),
        /// power of the cycles with which retention shifts
        pub shift_power: f32 = number(0.0, 3.0),
        /// power of the cycles with which retention widens
        pub growth_power: f32 = number(0.0, 3.0),
    }
}

impl Wear {
    /// How fast a block of this many cycles loses charge.
    pub fn leakiness(&self, cycles: f64) -> Leakiness {
        let aged = f64::from(self.head_start);
        let ratio = (cycles + aged) / (f64::from(self.reference_cycles) + aged);
        let power = |p: f32| libm::pow(ratio, f64::from(p)) as f32;
        Leakiness { shift: power(self.shift_power), growth: power(self.growth_power) }
    }
}
