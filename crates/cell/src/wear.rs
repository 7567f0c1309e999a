//! Wear: what program/erase cycles do to cells.
//!
//! Tunnelling leaves traps in the oxide. Trapped charge keeps the erased state from going all the way down, helps the next
//! program along, and lets charge leak away: shift and widening by retention grow as a power of the cycles (the classic
//! channel model of Pan, Dong and Zhang), of which a block that was never cycled behaves as if it had had some.

use crate::figure::number;
use crate::retention::Leakiness;
use interpulse_settings::{ConfigError, Section};

/// How cells wear.
#[derive(Clone, Debug, PartialEq)]
pub struct Wear {
    /// Rise of the erased state's mean per 1,000 cycles, in steps.
    pub erased_rise: f32,
    /// Growth of the erased state's variance per 1,000 cycles, in square steps.
    pub erased_growth: f32,
    /// By how much cells program faster per 1,000 cycles: steps by which they lie above the staircase.
    pub faster: f32,
    /// Cycles of the blocks that the coefficients of retention were measured on.
    pub reference_cycles: f32,
    /// Cycles that a block which was never cycled seems to have had.
    pub head_start: f32,
    /// Power of the cycles with which the shift by retention grows.
    pub shift_power: f32,
    /// Power of the cycles with which the variance by retention grows.
    pub growth_power: f32,
}

impl Wear {
    /// Reads the section `[wear]`.
    pub fn read(s: &mut Section) -> Result<Wear, ConfigError> {
        Ok(Wear {
            erased_rise: number(
                s,
                "erased-rise",
                "rise of the erased state per 1,000 cycles, in steps",
                0.0,
                200.0,
            )?,
            erased_growth: number(
                s,
                "erased-growth",
                "growth of the erased state's variance per 1,000 cycles, in square steps",
                0.0,
                1e4,
            )?,
            faster: number(
                s,
                "faster",
                "how much faster cells program per 1,000 cycles, in steps of the staircase",
                0.0,
                100.0,
            )?,
            reference_cycles: number(
                s,
                "reference-cycles",
                "cycles of the blocks that retention and disturb were measured on",
                1.0,
                1e6,
            )?,
            head_start: number(
                s,
                "head-start",
                "cycles that a block which was never cycled seems to have had",
                1.0,
                1e6,
            )?,
            shift_power: number(
                s,
                "shift-power",
                "power of the cycles with which retention shifts",
                0.0,
                3.0,
            )?,
            growth_power: number(
                s,
                "growth-power",
                "power of the cycles with which retention widens",
                0.0,
                3.0,
            )?,
        })
    }

    /// How fast a block of this many cycles loses charge.
    pub fn leakiness(&self, cycles: f64) -> Leakiness {
        let aged = f64::from(self.head_start);
        let ratio = (cycles + aged) / (f64::from(self.reference_cycles) + aged);
        let power = |p: f32| libm::pow(ratio, f64::from(p)) as f32;
        Leakiness { shift: power(self.shift_power), growth: power(self.growth_power) }
    }
}
